#include "image.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory.h"

/// What a disk writes at once or not at all, in bytes.
static const int64_t sector_bytes = 512;

/// Beyond so many unsynced bytes a file is written back unasked, as a kernel does too.
static const int64_t writeback_bytes = 32 << 20;

image *image_create(void) { return memory_zeroed(sizeof(image)); }

void image_destroy(image *file) {
    free(file->durable.bytes);
    free(file->changes);
    free(file->arena.bytes);
    free(file);
}

static void reserve(buffer *target, int64_t size) {
    target->bytes = memory_reserve(target->bytes, &target->room, size, 1);
}

static void resize(buffer *target, int64_t size) {
    reserve(target, size);
    if (size > target->size) memset(target->bytes + target->size, 0, (size_t)(size - target->size));
    target->size = size;
}

static void forget_changes(image *file) {
    file->change_count = 0;
    file->arena.size = 0;
}

bool image_load(image *file, const char *path) {
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return false;
    struct stat status;
    bool is_read = fstat(descriptor, &status) == 0;
    if (is_read) resize(&file->durable, status.st_size);
    for (int64_t done = 0; is_read && done < file->durable.size;) {
        ssize_t count = pread(descriptor, file->durable.bytes + done, (size_t)(file->durable.size - done), done);
        is_read = count > 0;
        done += count;
    }
    close(descriptor);
    file->live_size = file->durable.size;
    forget_changes(file);
    return is_read;
}

bool image_store(image *file, const char *path) {
    struct stat status;
    mode_t mode = stat(path, &status) == 0 ? status.st_mode & 07777 : 0600;
    // A new file in place of the old one, so that locks of databases from before the cut do not hold it.
    unlink(path);
    int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor < 0) return false;
    bool is_written = true;
    for (int64_t done = 0; is_written && done < file->durable.size;) {
        ssize_t count = pwrite(descriptor, file->durable.bytes + done, (size_t)(file->durable.size - done), done);
        is_written = count > 0;
        done += count;
    }
    close(descriptor);
    file->live_size = file->durable.size;
    image_identify(file, path);
    return is_written;
}

void image_identify(image *file, const char *path) {
    struct stat status;
    if (stat(path, &status) != 0) return;
    file->device = status.st_dev;
    file->inode = status.st_ino;
}

static change *add_change(image *file) {
    file->changes =
        memory_reserve(file->changes, &file->change_room, file->change_count + 1, sizeof(change));
    return &file->changes[file->change_count++];
}

void image_note_write(image *file, int64_t offset, const void *bytes, int64_t length) {
    if (file->arena.size + length > writeback_bytes) image_sync(file);
    reserve(&file->arena, file->arena.size + length);
    memcpy(file->arena.bytes + file->arena.size, bytes, (size_t)length);
    *add_change(file) = (change){.offset = offset, .length = length, .data = file->arena.size};
    file->arena.size += length;
    if (offset + length > file->live_size) file->live_size = offset + length;
}

void image_note_truncate(image *file, int64_t size) {
    *add_change(file) = (change){.is_truncate = true, .offset = size};
    file->live_size = size;
}

static void apply(image *file, const change *next) {
    if (next->is_truncate) {
        resize(&file->durable, next->offset);
        return;
    }
    if (next->offset + next->length > file->durable.size) resize(&file->durable, next->offset + next->length);
    memcpy(file->durable.bytes + next->offset, file->arena.bytes + next->data, (size_t)next->length);
}

void image_sync(image *file) {
    for (int64_t index = 0; index < file->change_count; index++) apply(file, &file->changes[index]);
    forget_changes(file);
}

/// Lets the file grow to `size` without its data: zeros, rubbish, or what another part of the file once held.
static void grow_blindly(image *file, int64_t size, generator *random) {
    int64_t start = file->durable.size;
    if (size <= start) return;
    resize(&file->durable, size);
    unsigned char *bytes = file->durable.bytes;
    switch (generator_below(random, 3)) {
    case 0: break;
    case 1:
        for (int64_t index = start; index < size; index++) bytes[index] = (unsigned char)generator_next(random);
        break;
    default:
        if (start == 0) break;
        int64_t source = generator_below(random, start) / sector_bytes * sector_bytes;
        for (int64_t index = start; index < size; index++) bytes[index] = bytes[source + (index - start) % (start - source)];
    }
}

/// Makes some sectors of a write durable. Returns how many of them.
static int64_t tear(image *file, const change *write, generator *random) {
    int64_t end = write->offset + write->length;
    int64_t first = write->offset / sector_bytes;
    int64_t count = (end + sector_bytes - 1) / sector_bytes - first;
    int64_t style = generator_below(random, 3);
    int64_t border = generator_below(random, count + 1);
    if (generator_chance(random, 1, 2)) grow_blindly(file, end, random);
    int64_t kept = 0;
    for (int64_t index = 0; index < count; index++) {
        bool is_kept = style == 0 ? index < border : style == 1 ? index >= border : generator_chance(random, 1, 2);
        if (!is_kept) continue;
        int64_t from = (first + index) * sector_bytes;
        int64_t to = from + sector_bytes;
        if (from < write->offset) from = write->offset;
        if (to > end) to = end;
        grow_blindly(file, to, random);
        memcpy(file->durable.bytes + from, file->arena.bytes + write->data + (from - write->offset), (size_t)(to - from));
        kept++;
    }
    return kept == count ? -1 : kept;
}

static void tear_counted(image *file, const change *next, generator *random, sim_disk_counts *counts) {
    if (next->is_truncate || next->length == 0) {
        if (generator_chance(random, 1, 2)) apply(file, next);
        return;
    }
    int64_t kept = tear(file, next, random);
    if (kept == 0) counts->dropped_writes++;
    if (kept > 0) counts->torn_writes++;
}

static void drop(image *file, const change *next, generator *random, sim_disk_counts *counts) {
    if (next->is_truncate) return;
    counts->dropped_writes++;
    if (generator_chance(random, 1, 4)) grow_blindly(file, next->offset + next->length, random);
}

static void lose_end(image *file, generator *random, sim_disk_counts *counts) {
    int64_t border = generator_below(random, file->change_count);
    for (int64_t index = 0; index < file->change_count; index++) {
        const change *next = &file->changes[index];
        if (index < border) apply(file, next);
        if (index == border) tear_counted(file, next, random, counts);
        if (index > border) drop(file, next, random, counts);
    }
}

static void lose_any(image *file, generator *random, sim_disk_counts *counts) {
    int64_t eighths = 1 + generator_below(random, 7);
    for (int64_t index = 0; index < file->change_count; index++) {
        const change *next = &file->changes[index];
        if (!generator_chance(random, eighths, 8)) {
            drop(file, next, random, counts);
        } else if (generator_chance(random, 1, 4)) {
            tear_counted(file, next, random, counts);
        } else {
            apply(file, next);
        }
    }
}

void image_lose(image *file, generator *random, sim_disk_counts *counts) {
    if (file->change_count == 0) return;
    switch (generator_below(random, 8)) {
    case 0:
        for (int64_t index = 0; index < file->change_count; index++) {
            if (!file->changes[index].is_truncate) counts->dropped_writes++;
        }
        break;
    case 1: image_sync(file); break;
    case 2:
    case 3:
    case 4: lose_end(file, random, counts); break;
    default: lose_any(file, random, counts);
    }
    forget_changes(file);
}
