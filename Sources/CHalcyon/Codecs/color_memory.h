#pragma once

#include <lcms2.h>
#include <stdbool.h>
#include <stddef.h>

/// The limits on the memory that lcms2 takes for a conversion, and what becomes of it where there is none.
typedef struct {
    /// Whether an allocation of lcms2 failed for want of memory. lcms2 returns NULL both for that and for a profile
    /// that it cannot read, and the two must not be confused: without its conversion an image would be shown in wrong
    /// colours.
    bool is_short;
    /// Whether lcms2 requested more than the limit.
    bool is_over;
} halcyon_color_memory_state;

/// Starts the accounting of a conversion. lcms2 holds the profile and up to three copies of a table, in words where
/// the profile has bytes: seven times the profile. It allocates a table by its declared size before it reads it: a
/// profile of 2 KB can declare 500 MB.
///
/// Returns false if there is no memory for the reserve.
bool halcyon_color_memory_begin(size_t profile_size);

/// Returns the state of the conversion that this thread creates.
halcyon_color_memory_state halcyon_color_memory_now(void);

/// Notes that memory was missing elsewhere.
void halcyon_color_memory_lacks(void);

/// Ends the accounting, once lcms2 has freed all blocks of the reserve.
void halcyon_color_memory_end(void);

/// Creates a context. The context itself is not allocated by the memory handler yet.
cmsContext halcyon_color_context(void);
