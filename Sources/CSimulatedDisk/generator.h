/// The disk's random choices: splitmix64.
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    uint64_t state;
} generator;

static inline uint64_t generator_next(generator *random) {
    uint64_t mixed = random->state += 0x9E3779B97F4A7C15u;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
    return mixed ^ (mixed >> 31);
}

/// A number from 0 to `limit` - 1; `limit` is at least 1.
static inline int64_t generator_below(generator *random, int64_t limit) {
    return (int64_t)(generator_next(random) % (uint64_t)limit);
}

/// True in `part` of `whole` cases.
static inline bool generator_chance(generator *random, int64_t part, int64_t whole) {
    return generator_below(random, whole) < part;
}
