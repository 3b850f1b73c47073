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
