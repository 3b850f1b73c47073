#pragma once
#include <sqlite3.h>

// SQLITE_TRANSIENT is a cast macro, which Swift does not import.
static inline sqlite3_destructor_type kleos_sqlite_transient(void) { return SQLITE_TRANSIENT; }

// sqlite3_db_config is variadic, which Swift does not call.
static inline int kleos_sqlite_keep_wal_on_close(sqlite3 *database) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

// sqlite3_config is variadic too. Memory statistics cost a mutex at each allocation; only before the first connection.
static inline int kleos_sqlite_omit_statistics(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

// Writes the log (WAL or journal) that an open database has over itself and syncs it. A reader of the cache cannot see
// whether an earlier sync failed; Linux then keeps what it could not write as if it were written, and only a new write
// brings it to the disk.
static inline int kleos_sqlite_rewrite_log(sqlite3 *database) {
    sqlite3_file *file = 0;
    if (sqlite3_file_control(database, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file) != SQLITE_OK) return SQLITE_OK;
    if (file == 0 || file->pMethods == 0) return SQLITE_OK;
    sqlite3_int64 size = 0;
    int code = file->pMethods->xFileSize(file, &size);
    if (code != SQLITE_OK || size == 0) return code;
    char piece[8192];
    for (sqlite3_int64 offset = 0; code == SQLITE_OK && offset < size;) {
        int length = size - offset < (sqlite3_int64)sizeof(piece) ? (int)(size - offset) : (int)sizeof(piece);
        code = file->pMethods->xRead(file, piece, length, offset);
        if (code == SQLITE_OK) code = file->pMethods->xWrite(file, piece, length, offset);
        offset += length;
    }
    return code == SQLITE_OK ? file->pMethods->xSync(file, SQLITE_SYNC_NORMAL) : code;
}
