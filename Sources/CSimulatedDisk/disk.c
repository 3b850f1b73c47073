#include "disk.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "memory.h"

static void set_defaults(sim_disk *disk, uint64_t seed) {
    disk->random = (generator){.state = seed};
    disk->counts = (sim_disk_counts){0};
    disk->capacity = -1;
    disk->until_stop = -1;
    disk->is_stopped = false;
    memset(disk->faults, 0, sizeof(disk->faults));
}

sim_disk *sim_disk_create(const char *name, uint64_t seed) {
    if (sqlite3_initialize() != SQLITE_OK || sqlite3_vfs_find(name) != NULL) return NULL;
    sqlite3_vfs *base = sqlite3_vfs_find(NULL);
    if (base == NULL) return NULL;
    sim_disk *disk = memory_zeroed(sizeof(sim_disk));
    disk->base = base;
    set_defaults(disk, seed);
    disk_fill_vfs(disk, memory_text(name));
    if (sqlite3_vfs_register(&disk->vfs, 0) == SQLITE_OK) return disk;
    free((char *)disk->vfs.zName);
    free(disk);
    return NULL;
}

void sim_disk_destroy(sim_disk *disk) {
    sqlite3_vfs_unregister(&disk->vfs);
    disk_detach_handles(disk);
    names_clear(&disk->names);
    free((char *)disk->vfs.zName);
    free(disk);
}

void sim_disk_reset(sim_disk *disk, uint64_t seed) {
    disk_detach_handles(disk);
    names_clear(&disk->names);
    set_defaults(disk, seed);
}

/// Decides what survives of each file.
static void lose_changes(sim_disk *disk, const name_list *list) {
    for (int64_t index = 0; index < list->count; index++) {
        image_lose(list->items[index].file, &disk->random, &disk->counts);
    }
}

void sim_disk_cut(sim_disk *disk) {
    disk->counts.cuts++;
    disk_detach_handles(disk);
    // A file that is decided about has no changes left, so that its second name changes nothing.
    lose_changes(disk, &disk->names.live);
    lose_changes(disk, &disk->names.durable);
    for (int64_t index = 0; index < disk->names.change_count; index++) {
        image_lose(disk->names.changes[index].file, &disk->random, &disk->counts);
    }
    names_lose(&disk->names, &disk->random);
    disk->until_stop = -1;
    disk->is_stopped = false;
}

void sim_disk_stop_after(sim_disk *disk, int64_t operations) { disk->until_stop = operations; }

bool sim_disk_is_stopped(const sim_disk *disk) { return disk->is_stopped; }

void sim_disk_restart(sim_disk *disk) {
    disk_detach_handles(disk);
    disk->until_stop = -1;
    disk->is_stopped = false;
}

void sim_disk_set_capacity(sim_disk *disk, int64_t bytes) { disk->capacity = bytes; }

void sim_disk_fail(sim_disk *disk, sim_disk_kind kind, int64_t after, int64_t count) {
    disk->faults[kind] = (fault){.after = after, .count = count};
}

sim_disk_counts sim_disk_get_counts(const sim_disk *disk) { return disk->counts; }

void sim_disk_on_sync(sim_disk *disk, void (*hook)(void *context), void *context) {
    disk->sync_hook = hook;
    disk->sync_context = context;
}

bool disk_refuses(sim_disk *disk, sim_disk_kind kind) {
    bool fails = disk->is_stopped;
    if (!fails && kind != SIM_DISK_KINDS && disk->faults[kind].count != 0) {
        fault *next = &disk->faults[kind];
        if (next->after > 0) {
            next->after--;
        } else {
            if (next->count > 0) next->count--;
            fails = true;
        }
    }
    if (fails) disk->counts.failures++;
    return fails;
}

disk_fate disk_begin_change(sim_disk *disk, sim_disk_kind kind) {
    if (disk_refuses(disk, kind)) return DISK_FAILS;
    if (disk->until_stop < 0) return DISK_WORKS;
    if (disk->until_stop-- > 0) return DISK_WORKS;
    disk->is_stopped = true;
    disk->counts.failures++;
    return DISK_STOPS;
}

/// Whether an operation on names is carried out, and whether it then succeeds for its caller.
static bool is_carried_out(sim_disk *disk, sim_disk_kind kind, bool *succeeds) {
    disk_fate fate = disk_begin_change(disk, kind);
    *succeeds = fate == DISK_WORKS;
    return fate == DISK_WORKS || (fate == DISK_STOPS && generator_chance(&disk->random, 1, 2));
}

static int answer(bool succeeds) {
    if (succeeds) return 0;
    errno = EIO;
    return -1;
}

int sim_disk_rename(sim_disk *disk, const char *from, const char *to) {
    // A missing file is told as such; nothing is done to the disk then.
    if (access(from, F_OK) != 0) return -1;
    disk->counts.renames++;
    bool succeeds;
    if (!is_carried_out(disk, SIM_DISK_KINDS, &succeeds)) return answer(false);
    disk_know(disk, from);
    disk_know(disk, to);
    if (rename(from, to) != 0) return -1;
    names_rename(&disk->names, from, to);
    return answer(succeeds);
}

int sim_disk_unlink(sim_disk *disk, const char *path) {
    if (access(path, F_OK) != 0) return -1;
    disk->counts.deletes++;
    bool succeeds;
    if (!is_carried_out(disk, SIM_DISK_DELETE, &succeeds)) return answer(false);
    disk_know(disk, path);
    if (unlink(path) != 0) return -1;
    names_delete(&disk->names, path);
    return answer(succeeds);
}

int sim_disk_sync_folder(sim_disk *disk, const char *path) {
    disk->counts.syncs++;
    bool succeeds;
    if (is_carried_out(disk, SIM_DISK_SYNC, &succeeds)) names_sync_folder(&disk->names, path);
    return answer(succeeds);
}
