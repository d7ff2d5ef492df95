#include "body.h"

#include <stdlib.h>
#include <string.h>

size_t body_receive(char *bytes, size_t size, size_t count, void *context) {
    body *to = context;
    size_t length = size * count;
    if (to->count + length > to->capacity) {
        size_t capacity = (to->count + length) * 2;
        uint8_t *longer = realloc(to->bytes, capacity);
        if (longer == NULL) return 0;
        to->bytes = longer;
        to->capacity = capacity;
    }
    memcpy(to->bytes + to->count, bytes, length);
    to->count += length;
    return length;
}
