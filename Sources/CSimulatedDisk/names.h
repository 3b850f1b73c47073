/// The names of a disk's files: those that programs see, those that are durable, and what was done since.
#pragma once

#include "image.h"

/// A file's name.
typedef struct {
    char *path;
    image *file;
} name;

/// Names in no order.
typedef struct {
    name *items;
    int64_t count;
    int64_t room;
} name_list;

/// A change of a name that is not durable.
typedef struct {
    enum { NAME_CREATE, NAME_RENAME, NAME_DELETE } kind;
    /// The name that is made, given up or taken away.
    char *path;
    /// The new name of a rename, else NULL.
    char *target;
    image *file;
} name_change;

/// All names of a disk.
typedef struct {
    name_list live;
    name_list durable;
    name_change *changes;
    int64_t change_count;
    int64_t change_room;
} name_table;

/// The file that programs see at `path`, or NULL.
image *names_find(const name_table *names, const char *path);

/// Takes up a file that is durable at `path`, in place of what was known there.
void names_adopt(name_table *names, const char *path, image *file);

/// Forgets what was known at `path`: the real file is gone.
void names_forget(name_table *names, const char *path);

/// Notes down that the real file at `path` was made.
void names_create(name_table *names, const char *path, image *file);

/// Notes down that a real file was renamed.
void names_rename(name_table *names, const char *from, const char *to);

/// Notes down that a real file was removed.
void names_delete(name_table *names, const char *path);

/// Makes all changes in `folder` durable.
void names_sync_folder(name_table *names, const char *folder);

/// Makes all changes in the folder of `path` durable.
void names_sync_folder_of(name_table *names, const char *path);

/// Makes the creation of `file` durable, with what made room for its name.
void names_sync_creation(name_table *names, const image *file);

/// Makes a random part of the changes durable, forgets the rest, and gives the real files the durable names and
/// contents.
void names_lose(name_table *names, generator *random);

/// Sum of the sizes of all files that programs see, in bytes.
int64_t names_total_bytes(const name_table *names);

/// Frees `file` if it has no name, no change of a name and no database that has it open.
void names_release(image *file);

/// Forgets everything.
void names_clear(name_table *names);
