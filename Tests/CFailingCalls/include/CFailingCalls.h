#ifndef C_FAILING_CALLS_H
#define C_FAILING_CALLS_H

#include <stddef.h>

/// Calls of the C library that can be made to fail in the program that this is linked into.
typedef enum {
    FAILING_ALLOCATION,
    FAILING_MAP,
    FAILING_OPEN,
    FAILING_SOCKET,
    FAILING_PIPE,
    FAILING_THREAD,
} failing_kind;

/// Counts the calls of a kind that come from the program itself or from a library whose file's name begins with one of
/// the prefixes, separated by spaces, and fails those from the `first`th on, `count` of them; none where `first` is 0.
///
/// Swift's runtime ends the process without memory, by design, and so must not be among them.
void failing_calls_arm(failing_kind kind, const char *prefixes, long first, long count);

/// Lets all calls through again.
///
/// Returns how many calls were counted.
long failing_calls_disarm(void);

#endif
