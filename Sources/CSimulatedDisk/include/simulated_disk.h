/// A disk that loses what was not synced: an SQLite file system (VFS) for tests of power cuts and of failing disks.
///
/// It lies over SQLite's ordinary file system. The real files play the page cache: every read and write goes to them at
/// once. Beside them the disk remembers what of each file has been synced and, in order, what has been done since. At a
/// power cut some random part of the latter reaches the disk, and the real files are rewritten to what the disk holds.
///
/// A disk belongs to one thread at a time; several disks are independent of each other. All of a disk's choices come
/// from its seed. Files that others changed or put there, seen when SQLite opens them, count as synced. There is no
/// shared memory, so a database in WAL mode needs `locking_mode = EXCLUSIVE`. Out of memory, it aborts.
#pragma once

#include <stdbool.h>
#include <stdint.h>

/// A simulated disk.
typedef struct sim_disk sim_disk;

/// What can be made to fail.
typedef enum {
    /// SQLITE_IOERR_READ.
    SIM_DISK_READ,
    /// SQLITE_IOERR_WRITE; nothing is written.
    SIM_DISK_WRITE,
    /// SQLITE_IOERR_FSYNC. Some of what was not synced reaches the disk; the rest never does, whatever later syncs say,
    /// although reads go on to show it: so Linux treats what it could not write.
    SIM_DISK_SYNC,
    /// SQLITE_IOERR_TRUNCATE.
    SIM_DISK_TRUNCATE,
    /// SQLITE_CANTOPEN.
    SIM_DISK_OPEN,
    /// SQLITE_IOERR_DELETE.
    SIM_DISK_DELETE,
    /// How many kinds there are.
    SIM_DISK_KINDS
} sim_disk_kind;

/// What a disk did since its last reset.
typedef struct {
    int64_t reads;
    int64_t writes;
    int64_t syncs;
    int64_t truncates;
    int64_t deletes;
    int64_t renames;
    int64_t cuts;
    /// Unsynced writes of which nothing reached the disk at a cut.
    int64_t dropped_writes;
    /// Unsynced writes of which a part reached the disk at a cut.
    int64_t torn_writes;
    /// Operations that were refused: stopped, made to fail, or the disk full.
    int64_t failures;
} sim_disk_counts;

/// Makes a disk and registers it with SQLite as the file system `name`, which must be free. NULL where SQLite refuses.
sim_disk *sim_disk_create(const char *name, uint64_t seed);

/// Unregisters a disk and frees it; no database may be open on it.
void sim_disk_destroy(sim_disk *disk);

/// Forgets all files, faults and counts, and begins again from `seed`. The real files stay; no database may be open.
void sim_disk_reset(sim_disk *disk, uint64_t seed);

/// Cuts the power. Of what each file was not yet synced with, nothing, a beginning, any part or all survives; writes
/// tear at sectors of 512 bytes; where a file grew without its data, zeros or rubbish stand. The real files are rewritten
/// to that, and all of it counts as synced. Databases that are open get errors only, and are closed by their owners. A
/// stopped disk works again afterwards; faults stay.
void sim_disk_cut(sim_disk *disk);

/// Lets `operations` more writes, syncs, truncates, deletes and renames through; during the next one the disk stops: it
/// takes effect, in part or not at all, and it and everything after fails with SQLITE_IOERR. Negative: never.
void sim_disk_stop_after(sim_disk *disk, int64_t operations);

/// Whether the disk has stopped.
bool sim_disk_is_stopped(const sim_disk *disk);

/// Lets a stopped disk work again with the files as they are, as after a crash of the process: nothing unsynced is lost.
/// Databases from before get errors only; they hold their locks until they are closed.
void sim_disk_restart(sim_disk *disk);

/// Limits the size of all files together, in bytes; a write beyond it ends short with SQLITE_FULL. Negative: no limit.
void sim_disk_set_capacity(sim_disk *disk, int64_t bytes);

/// Lets `after` more operations of `kind` succeed and the `count` following ones fail (negative: all of them). Replaces
/// what was asked for that kind before; a count of 0 ends it.
void sim_disk_fail(sim_disk *disk, sim_disk_kind kind, int64_t after, int64_t count);

/// Renames a file as rename(2) does; not synced before its folder or, where it took another's name, that other.
int sim_disk_rename(sim_disk *disk, const char *from, const char *to);

/// Removes a file as unlink(2) does; not synced before its folder.
int sim_disk_unlink(sim_disk *disk, const char *path);

/// Makes the names in a folder durable, as fsync(2) of the folder does.
int sim_disk_sync_folder(sim_disk *disk, const char *path);

/// What the disk did since its last reset.
sim_disk_counts sim_disk_get_counts(const sim_disk *disk);

/// Sets what is called at the beginning of each sync of a file, for slow disks; NULL for nothing.
void sim_disk_on_sync(sim_disk *disk, void (*hook)(void *context), void *context);
