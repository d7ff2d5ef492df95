#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
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

long bench_access_files(const char *const *paths, size_t count) {
    long found = 0;
    for (size_t i = 0; i < count; i++) found += faccessat(AT_FDCWD, paths[i], F_OK, 0) == 0;
    return found;
}

static bool replace_file(const char *path, const char *temporary, const void *bytes, size_t size) {
    int file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file == -1) return false;
    bool is_whole = write(file, bytes, size) == (ssize_t)size;
    close(file);
    return is_whole && rename(temporary, path) == 0;
}

bool bench_replace_files(const char *const *paths, const char *const *temporaries, size_t count, const void *bytes,
                         size_t size) {
    for (size_t i = 0; i < count; i++) {
        if (!replace_file(paths[i], temporaries[i], bytes, size)) return false;
    }
    return true;
}

void bench_sync_folder(const char *path) {
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder == -1) return;
    syncfs(folder);
    close(folder);
}

static long size_of_folder(const char *path) {
    DIR *folder = opendir(path);
    if (folder == NULL) return 0;
    long sum = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        struct stat status;
        if (fstatat(dirfd(folder), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
        if (S_ISREG(status.st_mode)) sum += status.st_size;
    }
    closedir(folder);
    return sum;
}

long bench_size_of_folders(const char *const *paths, size_t count) {
    long sum = 0;
    for (size_t i = 0; i < count; i++) sum += size_of_folder(paths[i]);
    return sum;
}

bool bench_unlink_files(const char *const *paths, size_t count) {
    bool is_all = true;
    for (size_t i = 0; i < count; i++) is_all = unlink(paths[i]) == 0 && is_all;
    return is_all;
}
