#define _GNU_SOURCE
#include "halcyon_system.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <openssl/crypto.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
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

static void (*_Atomic end)(void);

static void at_end(void) {
    void (*function)(void) = atomic_load(&end);
    if (function) function();
}

// Handlers run in the reverse order of their registration, so this one is registered before main.
__attribute__((constructor)) static void prepare_end(void) {
    // Else libcrypto frees its locks at the first use's place among the handlers, and a thread that makes a hash or reads
    // from a connection in that moment ends the program by a signal.
    OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
    atexit(at_end);
}

void halcyon_at_end(void (*function)(void)) { atomic_store(&end, function); }

void halcyon_trim_heap(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}
