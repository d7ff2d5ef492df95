#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "floors.h"

static ssize_t read_file(const char *path) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file == -1) return -1;
    struct stat status;
    ssize_t count = -1;
    if (fstat(file, &status) == 0) {
        void *bytes = malloc((size_t)status.st_size);
        if (bytes != NULL) count = read(file, bytes, (size_t)status.st_size);
        free(bytes);
        if (count != status.st_size) count = -1;
    }
    close(file);
    return count;
}

long bench_read_files(const char *const *paths, size_t count) {
    long sum = 0;
    for (size_t i = 0; i < count; i++) {
        ssize_t read = read_file(paths[i]);
        if (read < 0) return -1;
        sum += read;
    }
    return sum;
}

bool bench_send_file(int socket, int file, size_t size) {
    off_t offset = 0;
    while ((size_t)offset < size) {
        if (sendfile(socket, file, &offset, size - (size_t)offset) <= 0) return false;
    }
    return true;
}
