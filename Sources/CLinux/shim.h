// Linux interfaces that the Glibc overlay does not export.
#pragma once
#include <linux/magic.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <unistd.h>

// The kernel's struct ucred and accept4, which glibc declares for _GNU_SOURCE only; defining that here would give
// fd_set another shape than the Glibc module's.
struct kleos_ucred {
    pid_t pid;
    uid_t uid;
    gid_t gid;
};
// SO_PEERPIDFD of kernel 6.5, newer than the headers of Debian 12.
static const int kleos_so_peerpidfd = 77;

static inline int kleos_accept4(int listener, int flags) {
    return (int)syscall(SYS_accept4, listener, (void *)0, (void *)0, flags);
}

// A descriptor that becomes readable when the process ends.
static inline int kleos_pidfd_open(pid_t process) {
    return (int)syscall(SYS_pidfd_open, process, 0);
}

// glibc declares these for its own default feature set only, which the Glibc module does not have; and spawn.h here would
// take types like mode_t away from the Glibc module.
extern int kleos_addclosefrom(void *, int) __asm__("posix_spawn_file_actions_addclosefrom_np");
static inline int kleos_spawn_close_from(void *actions, int first) {
    return kleos_addclosefrom(actions, first);
}
extern int kleos_addchdir(void *, const char *) __asm__("posix_spawn_file_actions_addchdir_np");
static inline int kleos_spawn_in_folder(void *actions, const char *path) {
    return kleos_addchdir(actions, path);
}

// Makes this process the parent of those of its descendants whose parents end.
static inline int kleos_adopt_orphans(void) {
    return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

// Gives the heap's free pages back to the system; declared in malloc.h, which the Glibc module lacks.
extern int malloc_trim(size_t);
static inline void kleos_trim_heap(void) {
    malloc_trim(0);
}

// Limits the arenas among which threads are spread; M_ARENA_MAX of malloc.h.
extern int mallopt(int, int);
static inline void kleos_limit_arenas(int count) {
    mallopt(-8, count);
}
