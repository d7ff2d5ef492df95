#define _GNU_SOURCE
#include "halcyon_worker.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

int halcyon_memory_create(size_t size) {
    int file = memfd_create("halcyon", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0) return -1;
    if (ftruncate(file, (off_t)size) == 0 && fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0) return file;
    int error = errno;
    close(file);
    errno = error;
    return -1;
}

int halcyon_memory_copy(const void *bytes, size_t size) {
    int file = memfd_create("halcyon", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0) return -1;
    const char *next = bytes;
    size_t rest = size;
    while (rest > 0) {
        ssize_t count = write(file, next, rest);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        next += count;
        rest -= (size_t)count;
    }
    if (rest == 0 && fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) == 0) return file;
    int error = errno;
    close(file);
    errno = error;
    return -1;
}

void halcyon_control_write(long *word, long value) { __atomic_store_n(word, value, __ATOMIC_RELEASE); }

long halcyon_control_read(const long *word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }
