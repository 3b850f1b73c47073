/// One file of the disk, whatever its names: what of it is durable, and what has been done to it since.
#pragma once

#include "generator.h"
#include "simulated_disk.h"

/// Growing bytes.
typedef struct {
    unsigned char *bytes;
    int64_t size;
    int64_t room;
} buffer;

/// A write or a truncation that was not synced yet.
typedef struct {
    bool is_truncate;
    /// Where a write begins; the size that a truncation leaves.
    int64_t offset;
    int64_t length;
    /// Where a write's bytes are in the image's arena.
    int64_t data;
} change;

typedef struct image image;
struct image {
    buffer durable;
    change *changes;
    int64_t change_count;
    int64_t change_room;
    /// The bytes of the writes in `changes`.
    buffer arena;
    /// Size of the real file.
    int64_t live_size;
    /// Identifies the real file, to see whether another took its place.
    uint64_t device;
    uint64_t inode;
    /// Databases that have the file open.
    int64_t handles;
    /// Creates, renames and deletes that are not durable and concern it.
    int64_t name_changes;
    /// Its names, live and durable.
    int64_t names;
};

image *image_create(void);
void image_destroy(image *file);

/// Takes the content of the real file at `path` as durable. Returns false where it cannot be read.
bool image_load(image *file, const char *path);

/// Writes the durable content to a new real file at `path`. Returns false where that fails.
bool image_store(image *file, const char *path);

/// Notes down a write that the real file has.
void image_note_write(image *file, int64_t offset, const void *bytes, int64_t length);

/// Notes down a truncation that the real file has.
void image_note_truncate(image *file, int64_t size);

/// Makes everything durable.
void image_sync(image *file);

/// Makes a random part of the changes durable and forgets the rest.
void image_lose(image *file, generator *random, sim_disk_counts *counts);

/// Notes down which real file is at `path`.
void image_identify(image *file, const char *path);
