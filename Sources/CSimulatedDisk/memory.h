/// Memory that is there or the process ends: a test cannot go on without it.
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/// Makes room for `count` items of `size` bytes in the array at `items`, of which `*room` are there.
static inline void *memory_reserve(void *items, int64_t *room, int64_t count, size_t size) {
    if (count <= *room) return items;
    int64_t wanted = *room < 16 ? 16 : *room;
    while (wanted < count) wanted *= 2;
    void *moved = realloc(items, (size_t)wanted * size);
    if (moved == NULL) abort();
    *room = wanted;
    return moved;
}

/// A zeroed item of `size` bytes.
static inline void *memory_zeroed(size_t size) {
    void *item = calloc(1, size);
    if (item == NULL) abort();
    return item;
}

static inline char *memory_text(const char *text) {
    char *copy = strdup(text);
    if (copy == NULL) abort();
    return copy;
}
