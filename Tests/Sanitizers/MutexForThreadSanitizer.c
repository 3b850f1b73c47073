// Preloaded by script/sanitize thread. Swift's Mutex takes its slow paths in libswiftSynchronization, which is not
// built for ThreadSanitizer: a lock that two threads want at once would look like no lock at all. These stand before
// the library's functions and tell the sanitizer what they do, with the calls that it has for locks of one's own.

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define SWIFT __attribute__((swiftcall))
#define CONTEXT __attribute__((swift_context))

// Absent in programs without the sanitizer, which inherit the preloading.
extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

static void *real(const char *name) {
    void *function = dlsym(RTLD_NEXT, name);
    if (function == NULL) {
        fprintf(stderr, "MutexForThreadSanitizer: this Swift has no %s; adapt it to the new Mutex\n", name);
        abort();
    }
    return function;
}

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

SWIFT void lock_slow(unsigned thread, CONTEXT void *handle) __asm__(LOCK);
SWIFT _Bool try_slow(CONTEXT void *handle) __asm__(TRY);
SWIFT void unlock_slow(CONTEXT void *handle) __asm__(UNLOCK);

SWIFT void lock_slow(unsigned thread, CONTEXT void *handle) {
    static SWIFT void (*volatile function)(unsigned, CONTEXT void *);
    if (!function) function = real(LOCK);
    function(thread, handle);
    if (__tsan_acquire) __tsan_acquire(handle);
}

SWIFT _Bool try_slow(CONTEXT void *handle) {
    static SWIFT _Bool (*volatile function)(CONTEXT void *);
    if (!function) function = real(TRY);
    _Bool locked = function(handle);
    if (locked && __tsan_acquire) __tsan_acquire(handle);
    return locked;
}

SWIFT void unlock_slow(CONTEXT void *handle) {
    static SWIFT void (*volatile function)(CONTEXT void *);
    if (!function) function = real(UNLOCK);
    if (__tsan_release) __tsan_release(handle);
    function(handle);
}
