/// The disk itself, for its two halves: what tests call, and what SQLite calls.
#pragma once

#include <sqlite3.h>

#include "names.h"

typedef struct handle handle;

/// When operations of a kind fail.
typedef struct {
    int64_t after;
    int64_t count;
} fault;

struct sim_disk {
    sqlite3_vfs vfs;
    /// SQLite's ordinary file system.
    sqlite3_vfs *base;
    name_table names;
    /// Files that databases have open.
    handle *handles;
    generator random;
    sim_disk_counts counts;
    fault faults[SIM_DISK_KINDS];
    int64_t capacity;
    /// Operations until the disk stops; negative for never.
    int64_t until_stop;
    bool is_stopped;
    void (*sync_hook)(void *context);
    void *sync_context;
};

/// What becomes of an operation.
typedef enum {
    DISK_WORKS,
    /// The disk stops during it.
    DISK_STOPS,
    /// It does nothing and fails.
    DISK_FAILS
} disk_fate;

/// Decides the fate of an operation that changes something. `kind` is what faults are looked up for; SIM_DISK_KINDS for
/// none.
disk_fate disk_begin_change(sim_disk *disk, sim_disk_kind kind);

/// Whether an operation that only looks fails.
bool disk_refuses(sim_disk *disk, sim_disk_kind kind);

/// Sets what SQLite calls.
void disk_fill_vfs(sim_disk *disk, const char *name);

/// The file that programs see at `path`, taken up as durable where it was not known; NULL where there is none.
image *disk_know(sim_disk *disk, const char *path);

/// Takes the files away from the databases that have them open.
void disk_detach_handles(sim_disk *disk);
