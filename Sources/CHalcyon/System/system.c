#define _GNU_SOURCE
#include "halcyon_system.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

void halcyon_name_thread(const char *name) {
    char cut[16];
    strncpy(cut, name, sizeof cut - 1);
    cut[sizeof cut - 1] = '\0';
    pthread_setname_np(pthread_self(), cut);
}

int halcyon_affinity_count(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    int count = CPU_COUNT(&set);
    return count > 0 ? count : 1;
}

int halcyon_open_unnoticed(const char *path, int flags) {
    int file = open(path, flags | O_NOATIME);
    return file == -1 && errno == EPERM ? open(path, flags) : file;
}

int halcyon_open_nameless(const char *folder) {
    // O_EXCL: no name can be given to it later either.
    return open(folder, O_TMPFILE | O_EXCL | O_RDWR | O_APPEND | O_CLOEXEC, 0600);
}

void halcyon_trim_heap(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}
