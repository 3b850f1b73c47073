#include <sys/stat.h>

#include "disk.h"
#include "memory.h"

/// A file that SQLite has open; the ordinary file system's part lies behind it.
struct handle {
    sqlite3_file head;
    sim_disk *disk;
    /// NULL where the file is temporary, or was open at a cut.
    image *file;
    bool is_temporary;
    /// As SQLite's own file system does it: the first sync of a log or journal also syncs its folder.
    bool syncs_folder;
    /// The file's path; SQLite keeps it as long as the file is open.
    const char *path;
    handle *next;
    handle **link;
};

static handle *handle_of(sqlite3_file *file) { return (handle *)file; }

static sqlite3_file *base_of(sqlite3_file *file) { return (sqlite3_file *)((char *)file + sizeof(handle)); }

/// Whether the handle is that of a database from before a cut.
static bool is_detached(const handle *opened) { return opened->file == NULL && !opened->is_temporary; }

static void detach(handle *opened) {
    *opened->link = opened->next;
    if (opened->next != NULL) opened->next->link = opened->link;
    image *file = opened->file;
    opened->file = NULL;
    file->handles--;
    names_release(file);
}

void disk_detach_handles(sim_disk *disk) {
    while (disk->handles != NULL) detach(disk->handles);
}

image *disk_know(sim_disk *disk, const char *path) {
    struct stat status;
    image *known = names_find(&disk->names, path);
    if (stat(path, &status) != 0) {
        if (known != NULL) names_forget(&disk->names, path);
        return NULL;
    }
    if (known != NULL && known->device == status.st_dev && known->inode == status.st_ino) return known;
    image *file = image_create();
    if (!image_load(file, path)) {
        image_destroy(file);
        return NULL;
    }
    image_identify(file, path);
    names_adopt(&disk->names, path, file);
    return file;
}

static int close_file(sqlite3_file *file) {
    handle *opened = handle_of(file);
    if (opened->file != NULL) detach(opened);
    return base_of(file)->pMethods->xClose(base_of(file));
}

static int read_file(sqlite3_file *file, void *bytes, int length, sqlite3_int64 offset) {
    handle *opened = handle_of(file);
    opened->disk->counts.reads++;
    if (is_detached(opened) || disk_refuses(opened->disk, SIM_DISK_READ)) return SQLITE_IOERR_READ;
    return base_of(file)->pMethods->xRead(base_of(file), bytes, length, offset);
}

/// Writes to the real file and notes it down.
static int pass_write(sqlite3_file *file, const void *bytes, int length, sqlite3_int64 offset) {
    if (length == 0) return SQLITE_OK;
    int code = base_of(file)->pMethods->xWrite(base_of(file), bytes, length, offset);
    if (code == SQLITE_OK) image_note_write(handle_of(file)->file, offset, bytes, length);
    return code;
}

static int write_file(sqlite3_file *file, const void *bytes, int length, sqlite3_int64 offset) {
    handle *opened = handle_of(file);
    sim_disk *disk = opened->disk;
    if (is_detached(opened)) return SQLITE_IOERR_WRITE;
    disk->counts.writes++;
    switch (disk_begin_change(disk, SIM_DISK_WRITE)) {
    case DISK_FAILS: return SQLITE_IOERR_WRITE;
    case DISK_STOPS:
        if (!opened->is_temporary) {
            pass_write(file, bytes, (int)generator_below(&disk->random, length + 1), offset);
        }
        return SQLITE_IOERR_WRITE;
    case DISK_WORKS: break;
    }
    if (opened->is_temporary) return base_of(file)->pMethods->xWrite(base_of(file), bytes, length, offset);
    int64_t growth = offset + length - opened->file->live_size;
    if (disk->capacity < 0 || growth <= 0) return pass_write(file, bytes, length, offset);
    int64_t room = disk->capacity - names_total_bytes(&disk->names);
    if (growth <= room) return pass_write(file, bytes, length, offset);
    disk->counts.failures++;
    int64_t fitting = length - growth + (room > 0 ? room : 0);
    int code = fitting > 0 ? pass_write(file, bytes, (int)fitting, offset) : SQLITE_OK;
    return code == SQLITE_OK ? SQLITE_FULL : code;
}

static int truncate_file(sqlite3_file *file, sqlite3_int64 size) {
    handle *opened = handle_of(file);
    sim_disk *disk = opened->disk;
    if (is_detached(opened)) return SQLITE_IOERR_TRUNCATE;
    disk->counts.truncates++;
    disk_fate fate = disk_begin_change(disk, SIM_DISK_TRUNCATE);
    if (fate == DISK_FAILS) return SQLITE_IOERR_TRUNCATE;
    if (fate == DISK_STOPS && generator_chance(&disk->random, 1, 2)) return SQLITE_IOERR_TRUNCATE;
    int code = base_of(file)->pMethods->xTruncate(base_of(file), size);
    if (code == SQLITE_OK && opened->file != NULL) image_note_truncate(opened->file, size);
    return fate == DISK_WORKS ? code : SQLITE_IOERR_TRUNCATE;
}

static void make_durable(handle *opened) {
    sim_disk *disk = opened->disk;
    image_sync(opened->file);
    names_sync_creation(&disk->names, opened->file);
    if (opened->syncs_folder) names_sync_folder_of(&disk->names, opened->path);
    opened->syncs_folder = false;
}

static int sync_file(sqlite3_file *file, int flags) {
    (void)flags;
    handle *opened = handle_of(file);
    sim_disk *disk = opened->disk;
    if (is_detached(opened)) return SQLITE_IOERR_FSYNC;
    if (opened->is_temporary) return SQLITE_OK;
    disk->counts.syncs++;
    if (disk->sync_hook != NULL) disk->sync_hook(disk->sync_context);
    bool was_stopped = disk->is_stopped;
    switch (disk_begin_change(disk, SIM_DISK_SYNC)) {
    case DISK_FAILS:
        if (!was_stopped) image_lose(opened->file, &disk->random, &disk->counts);
        return SQLITE_IOERR_FSYNC;
    case DISK_STOPS:
        if (generator_chance(&disk->random, 1, 2)) make_durable(opened);
        return SQLITE_IOERR_FSYNC;
    case DISK_WORKS: make_durable(opened);
    }
    return SQLITE_OK;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
    handle *opened = handle_of(file);
    if (is_detached(opened) || disk_refuses(opened->disk, SIM_DISK_KINDS)) return SQLITE_IOERR_FSTAT;
    return base_of(file)->pMethods->xFileSize(base_of(file), size);
}

static int lock(sqlite3_file *file, int level) { return base_of(file)->pMethods->xLock(base_of(file), level); }

static int unlock(sqlite3_file *file, int level) { return base_of(file)->pMethods->xUnlock(base_of(file), level); }

static int is_reserved(sqlite3_file *file, int *result) {
    return base_of(file)->pMethods->xCheckReservedLock(base_of(file), result);
}

static int control(sqlite3_file *file, int operation, void *argument) {
    // Hints about sizes would change the real file behind the disk's back.
    if (operation == SQLITE_FCNTL_SIZE_HINT || operation == SQLITE_FCNTL_CHUNK_SIZE) return SQLITE_NOTFOUND;
    return base_of(file)->pMethods->xFileControl(base_of(file), operation, argument);
}

static int sector_size(sqlite3_file *file) { return base_of(file)->pMethods->xSectorSize(base_of(file)); }

static int characteristics(sqlite3_file *file) {
    // Nothing is promised but that a write leaves its neighbours alone.
    return base_of(file)->pMethods->xDeviceCharacteristics(base_of(file)) & SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = write_file,
    .xTruncate = truncate_file,
    .xSync = sync_file,
    .xFileSize = file_size,
    .xLock = lock,
    .xUnlock = unlock,
    .xCheckReservedLock = is_reserved,
    .xFileControl = control,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = characteristics,
};

static sim_disk *disk_of(sqlite3_vfs *vfs) { return vfs->pAppData; }

static void attach(handle *opened, image *file, int flags) {
    sim_disk *disk = opened->disk;
    opened->file = file;
    file->handles++;
    bool is_log = (flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL)) != 0;
    opened->syncs_folder = is_log && (flags & SQLITE_OPEN_CREATE) != 0;
    opened->next = disk->handles;
    opened->link = &disk->handles;
    if (opened->next != NULL) opened->next->link = &opened->next;
    disk->handles = opened;
}

static int open_file(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *out_flags) {
    sim_disk *disk = disk_of(vfs);
    handle *opened = handle_of(file);
    memset(opened, 0, sizeof(handle));
    if (disk_refuses(disk, SIM_DISK_OPEN)) return disk->is_stopped ? SQLITE_IOERR : SQLITE_CANTOPEN;
    opened->disk = disk;
    opened->path = path;
    opened->is_temporary = path == NULL || (flags & SQLITE_OPEN_DELETEONCLOSE) != 0;
    image *known = opened->is_temporary ? NULL : disk_know(disk, path);
    int code = disk->base->xOpen(disk->base, path, base_of(file), flags, out_flags);
    // Where SQLite's own file system gives methods, it wants to be closed even after a failure.
    if (base_of(file)->pMethods != NULL) file->pMethods = &methods;
    if (code != SQLITE_OK || opened->is_temporary) {
        opened->is_temporary = true;
        return code;
    }
    if (known == NULL) {
        known = image_create();
        image_identify(known, path);
        names_create(&disk->names, path, known);
    }
    attach(opened, known, flags);
    return SQLITE_OK;
}

static int delete_file(sqlite3_vfs *vfs, const char *path, int syncs_folder) {
    sim_disk *disk = disk_of(vfs);
    disk->counts.deletes++;
    disk_fate fate = disk_begin_change(disk, SIM_DISK_DELETE);
    if (fate == DISK_FAILS) return SQLITE_IOERR_DELETE;
    if (fate == DISK_STOPS && generator_chance(&disk->random, 1, 2)) return SQLITE_IOERR_DELETE;
    disk_know(disk, path);
    int code = disk->base->xDelete(disk->base, path, 0);
    if (code == SQLITE_OK) names_delete(&disk->names, path);
    if (fate == DISK_STOPS) return SQLITE_IOERR_DELETE;
    if (code == SQLITE_OK && syncs_folder) names_sync_folder_of(&disk->names, path);
    return code;
}

static int access_file(sqlite3_vfs *vfs, const char *path, int flags, int *result) {
    sim_disk *disk = disk_of(vfs);
    if (disk_refuses(disk, SIM_DISK_KINDS)) return SQLITE_IOERR_ACCESS;
    return disk->base->xAccess(disk->base, path, flags, result);
}

static int full_path(sqlite3_vfs *vfs, const char *path, int room, char *result) {
    return disk_of(vfs)->base->xFullPathname(disk_of(vfs)->base, path, room, result);
}

static int randomness(sqlite3_vfs *vfs, int room, char *bytes) {
    return disk_of(vfs)->base->xRandomness(disk_of(vfs)->base, room, bytes);
}

static int sleep_microseconds(sqlite3_vfs *vfs, int microseconds) {
    return disk_of(vfs)->base->xSleep(disk_of(vfs)->base, microseconds);
}

static int current_time(sqlite3_vfs *vfs, double *days) {
    return disk_of(vfs)->base->xCurrentTime(disk_of(vfs)->base, days);
}

static int last_error(sqlite3_vfs *vfs, int room, char *text) {
    return disk_of(vfs)->base->xGetLastError(disk_of(vfs)->base, room, text);
}

void disk_fill_vfs(sim_disk *disk, const char *name) {
    disk->vfs = (sqlite3_vfs){
        .iVersion = 1,
        .szOsFile = (int)sizeof(handle) + disk->base->szOsFile,
        .mxPathname = disk->base->mxPathname,
        .zName = name,
        .pAppData = disk,
        .xOpen = open_file,
        .xDelete = delete_file,
        .xAccess = access_file,
        .xFullPathname = full_path,
        .xRandomness = randomness,
        .xSleep = sleep_microseconds,
        .xCurrentTime = current_time,
        .xGetLastError = last_error,
    };
}
