#include "names.h"

#include <unistd.h>

#include "memory.h"

void names_release(image *file) {
    if (file->names == 0 && file->name_changes == 0 && file->handles == 0) image_destroy(file);
}

static int64_t find(const name_list *list, const char *path) {
    for (int64_t index = 0; index < list->count; index++) {
        if (strcmp(list->items[index].path, path) == 0) return index;
    }
    return -1;
}

static void remove_name(name_list *list, const char *path) {
    int64_t index = find(list, path);
    if (index < 0) return;
    name removed = list->items[index];
    list->items[index] = list->items[--list->count];
    free(removed.path);
    removed.file->names--;
    names_release(removed.file);
}

static void set_name(name_list *list, const char *path, image *file) {
    // Counted first: it may be the last name of the file that is removed.
    file->names++;
    remove_name(list, path);
    list->items = memory_reserve(list->items, &list->room, list->count + 1, sizeof(name));
    list->items[list->count++] = (name){.path = memory_text(path), .file = file};
}

static image *lookup(const name_list *list, const char *path) {
    int64_t index = find(list, path);
    return index < 0 ? NULL : list->items[index].file;
}

image *names_find(const name_table *names, const char *path) { return lookup(&names->live, path); }

void names_adopt(name_table *names, const char *path, image *file) {
    set_name(&names->live, path, file);
    set_name(&names->durable, path, file);
}

void names_forget(name_table *names, const char *path) {
    remove_name(&names->live, path);
    remove_name(&names->durable, path);
}

static void note(name_table *names, int kind, const char *path, const char *target, image *file) {
    names->changes =
        memory_reserve(names->changes, &names->change_room, names->change_count + 1, sizeof(name_change));
    names->changes[names->change_count++] = (name_change){
        .kind = kind, .path = memory_text(path), .target = target == NULL ? NULL : memory_text(target), .file = file};
    file->name_changes++;
}

void names_create(name_table *names, const char *path, image *file) {
    set_name(&names->live, path, file);
    note(names, NAME_CREATE, path, NULL, file);
}

void names_rename(name_table *names, const char *from, const char *to) {
    image *file = names_find(names, from);
    if (file == NULL || strcmp(from, to) == 0) return;
    note(names, NAME_RENAME, from, to, file);
    set_name(&names->live, to, file);
    remove_name(&names->live, from);
}

void names_delete(name_table *names, const char *path) {
    image *file = names_find(names, path);
    if (file == NULL) return;
    note(names, NAME_DELETE, path, NULL, file);
    remove_name(&names->live, path);
}

/// Makes a change durable where what it builds on is.
static void apply(name_table *names, const name_change *change) {
    name_list *durable = &names->durable;
    switch (change->kind) {
    case NAME_CREATE: set_name(durable, change->path, change->file); break;
    case NAME_RENAME:
        if (lookup(durable, change->path) != change->file) break;
        set_name(durable, change->target, change->file);
        remove_name(durable, change->path);
        break;
    case NAME_DELETE:
        if (lookup(durable, change->path) == change->file) remove_name(durable, change->path);
        break;
    }
}

static void end(name_change change) {
    free(change.path);
    free(change.target);
    change.file->name_changes--;
    names_release(change.file);
}

/// Makes durable what `is_chosen` holds for, in order; the others remain.
static void sync_chosen(
    name_table *names, bool (*is_chosen)(const name_change *change, const void *context), const void *context) {
    int64_t kept = 0;
    for (int64_t index = 0; index < names->change_count; index++) {
        name_change change = names->changes[index];
        if (is_chosen(&names->changes[index], context)) {
            apply(names, &change);
            end(change);
        } else {
            names->changes[kept++] = change;
        }
    }
    names->change_count = kept;
}

static bool is_in(const char *path, const char *folder, size_t length) {
    return path != NULL && strncmp(path, folder, length) == 0 && path[length] == '/'
        && strchr(path + length + 1, '/') == NULL;
}

static bool touches_folder(const name_change *change, const void *folder) {
    size_t length = strlen(folder);
    return is_in(change->path, folder, length) || is_in(change->target, folder, length);
}

void names_sync_folder(name_table *names, const char *folder) { sync_chosen(names, touches_folder, folder); }

void names_sync_folder_of(name_table *names, const char *path) {
    if (names->change_count == 0) return;
    char *folder = memory_text(path);
    char *slash = strrchr(folder, '/');
    if (slash != NULL) *slash = 0;
    names_sync_folder(names, folder);
    free(folder);
}

/// A creation, and the name that it takes.
typedef struct {
    const name_change *creation;
    const char *path;
} creation_context;

static bool makes_room(const name_change *change, const void *context) {
    const creation_context *wanted = context;
    if (change > wanted->creation) return false;
    return strcmp(change->path, wanted->path) == 0
        || (change->target != NULL && strcmp(change->target, wanted->path) == 0);
}

void names_sync_creation(name_table *names, const image *file) {
    if (file->name_changes == 0) return;
    for (int64_t index = 0; index < names->change_count; index++) {
        const name_change *change = &names->changes[index];
        if (change->kind != NAME_CREATE || change->file != file) continue;
        char *path = memory_text(change->path);
        creation_context context = {.creation = change, .path = path};
        sync_chosen(names, makes_room, &context);
        free(path);
        return;
    }
}

/// Makes a random part of the changes durable.
static void settle_changes(name_table *names, generator *random) {
    int64_t count = names->change_count;
    int64_t style = generator_below(random, 4);
    int64_t border = style == 0 ? 0 : style == 1 ? count : generator_below(random, count + 1);
    for (int64_t index = 0; index < count; index++) {
        name_change change = names->changes[index];
        if (style == 3 ? generator_chance(random, 1, 2) : index < border) apply(names, &change);
        end(change);
    }
    names->change_count = 0;
}

void names_lose(name_table *names, generator *random) {
    settle_changes(names, random);
    for (int64_t index = names->live.count - 1; index >= 0; index--) {
        name current = names->live.items[index];
        if (lookup(&names->durable, current.path) == current.file) continue;
        unlink(current.path);
        remove_name(&names->live, current.path);
    }
    for (int64_t index = 0; index < names->durable.count; index++) {
        name kept = names->durable.items[index];
        if (!image_store(kept.file, kept.path)) abort();
        if (lookup(&names->live, kept.path) != kept.file) set_name(&names->live, kept.path, kept.file);
    }
}

int64_t names_total_bytes(const name_table *names) {
    int64_t total = 0;
    for (int64_t index = 0; index < names->live.count; index++) total += names->live.items[index].file->live_size;
    return total;
}

static void clear_list(name_list *list) {
    while (list->count > 0) remove_name(list, list->items[list->count - 1].path);
    free(list->items);
    *list = (name_list){0};
}

void names_clear(name_table *names) {
    for (int64_t index = 0; index < names->change_count; index++) end(names->changes[index]);
    free(names->changes);
    names->changes = NULL;
    names->change_count = names->change_room = 0;
    clear_list(&names->live);
    clear_list(&names->durable);
}
