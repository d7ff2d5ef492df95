#ifndef CFLOORS_BODY_H
#define CFLOORS_BODY_H

#include <stddef.h>
#include <stdint.h>

/// A body as it comes, in memory that one body after the other uses.
typedef struct {
    uint8_t *bytes;
    size_t count;
    size_t capacity;
} body;

/// For CURLOPT_WRITEFUNCTION, with a `body` as CURLOPT_WRITEDATA.
size_t body_receive(char *bytes, size_t size, size_t count, void *context);

#endif
