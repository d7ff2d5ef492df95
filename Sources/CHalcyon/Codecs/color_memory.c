#include "color_memory.h"

#include <lcms2_plugin.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/// The memory accounting of the conversion that this thread creates.
static _Thread_local struct {
    /// The bytes that lcms2 holds.
    size_t held;
    /// The bytes that lcms2 may hold.
    size_t limit;
    halcyon_color_memory_state state;
    /// Memory for the rest of a conversion that is abandoned: lcms2 crashes if small allocations fail.
    uint8_t *reserve;
    /// The bytes of the reserve that were handed out.
    size_t reserve_used;
} memory;

/// The limit in bytes besides the part that depends on the profile's length: curves of 4,096 steps, and a table of 23
/// steps for each of four inks.
static const size_t least_limit = 4 << 20;

/// Several times the memory that a conversion needs besides its tables. The system provides pages only for the part
/// that is used.
static const size_t reserve_size = 1 << 20;

/// The size of a block of the reserve is stored before the block, in as many bytes as keep the block aligned.
enum { RESERVE_HEADER = 16 };

bool halcyon_color_memory_begin(size_t profile_size) {
    memory.held = 0;
    memory.limit = least_limit + profile_size * 8;
    memory.state.is_over = false;
    memory.reserve_used = 0;
    memory.reserve = malloc(reserve_size);
    memory.state.is_short = memory.reserve == NULL;
    return !memory.state.is_short;
}

void halcyon_color_memory_end(void) {
    free(memory.reserve);
    memory.reserve = NULL;
}

static bool is_of_reserve(const void *block) {
    uintptr_t place = (uintptr_t)block, start = (uintptr_t)memory.reserve;
    return memory.reserve != NULL && place >= start && place < start + reserve_size;
}

/// Allocates a block from the reserve; NULL if it is used up. Objects that use such a block are discarded.
static void *allocate_from_reserve(size_t size) {
    size_t whole = RESERVE_HEADER + ((size + RESERVE_HEADER - 1) & ~(size_t)(RESERVE_HEADER - 1));
    if (memory.reserve == NULL || whole > reserve_size - memory.reserve_used) return NULL;
    uint8_t *header = memory.reserve + memory.reserve_used;
    memory.reserve_used += whole;
    memcpy(header, &size, sizeof size);
    return header + RESERVE_HEADER;
}

static size_t size_of(void *block) {
    if (!is_of_reserve(block)) return malloc_usable_size(block);
    size_t size;
    memcpy(&size, (uint8_t *)block - RESERVE_HEADER, sizeof size);
    return size;
}

static void *allocate(cmsContext context, cmsUInt32Number size) {
    (void)context;
    if (memory.held > memory.limit || size > memory.limit - memory.held) {
        memory.state.is_over = true;
        return allocate_from_reserve(size);
    }
    void *block = malloc(size > 0 ? size : 1);
    if (block == NULL) {
        memory.state.is_short = true;
        return allocate_from_reserve(size);
    }
    memory.held += malloc_usable_size(block);
    return block;
}

static void release(cmsContext context, void *block) {
    (void)context;
    if (block == NULL || is_of_reserve(block)) return;
    size_t size = malloc_usable_size(block);
    memory.held -= size < memory.held ? size : memory.held;
    free(block);
}

static void *reallocate(cmsContext context, void *block, cmsUInt32Number size) {
    void *other = allocate(context, size);
    if (other == NULL || block == NULL) return other;
    size_t former = size_of(block);
    memcpy(other, block, former < size ? former : size);
    release(context, block);
    return other;
}

static void *make_no_mutex(cmsContext context) {
    static char none;
    (void)context;
    return &none;
}

static void destroy_no_mutex(cmsContext context, void *mutex) { (void)context, (void)mutex; }

static cmsBool lock_no_mutex(cmsContext context, void *mutex) {
    (void)context, (void)mutex;
    return TRUE;
}

static void unlock_no_mutex(cmsContext context, void *mutex) { (void)context, (void)mutex; }

/// A plug-in without mutexes: a single thread creates a conversion, and its profiles are closed before others see it.
/// lcms2's own mutexes crash if there is no memory for them.
static cmsPluginMutex mutex_handler = {
    .base = {cmsPluginMagicNumber, 2000, cmsPluginMutexSig, NULL},
    .CreateMutexPtr = make_no_mutex,
    .DestroyMutexPtr = destroy_no_mutex,
    .LockMutexPtr = lock_no_mutex,
    .UnlockMutexPtr = unlock_no_mutex,
};

static cmsPluginMemHandler memory_handler = {
    .base = {cmsPluginMagicNumber, 2000, cmsPluginMemHandlerSig, &mutex_handler.base},
    .MallocPtr = allocate,
    .FreePtr = release,
    .ReallocPtr = reallocate,
};

halcyon_color_memory_state halcyon_color_memory_now(void) { return memory.state; }

void halcyon_color_memory_lacks(void) { memory.state.is_short = true; }

cmsContext halcyon_color_context(void) {
    cmsContext context = cmsCreateContext(&memory_handler, NULL);
    if (context == NULL) memory.state.is_short = true;
    return context;
}
