#define _GNU_SOURCE
#include "halcyon_system.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <openssl/crypto.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

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

int halcyon_open_cached(const char *path, int flags) {
#ifdef SYS_openat2
    // As in linux/openat2.h, whose headers may be older than the kernel.
    struct {
        uint64_t flags, mode, resolve;
    } how = {.flags = (uint64_t)(flags | O_NOATIME), .resolve = 0x20 /* RESOLVE_CACHED */};
    return (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
#else
    (void)path, (void)flags;
    errno = ENOSYS;
    return -1;
#endif
}

ssize_t halcyon_read_cached(int file, void *buffer, size_t size, off_t offset) {
    struct iovec whole = {.iov_base = buffer, .iov_len = size};
    return preadv2(file, &whole, 1, offset, RWF_NOWAIT);
}

int halcyon_open_nameless(const char *folder) {
    // O_EXCL: the file cannot be given a name later either.
    return open(folder, O_TMPFILE | O_EXCL | O_RDWR | O_APPEND | O_CLOEXEC, 0600);
}

static void (*_Atomic end)(void);

static void at_end(void) {
    void (*function)(void) = atomic_load(&end);
    if (function) function();
}

// Handlers run in the reverse order of their registration, so this one is registered before main.
__attribute__((constructor)) static void prepare_end(void) {
    // Otherwise libcrypto frees its locks at the place of its first use among the handlers, and a thread that
    // computes a hash or reads from a connection at that moment crashes the program.
    OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
    atexit(at_end);
}

void halcyon_at_end(void (*function)(void)) { atomic_store(&end, function); }

// The signals that were noted, a bit each; the semaphore counts them.
static _Atomic uint64_t noted;
static sem_t count;

__attribute__((constructor)) static void prepare_signals(void) { sem_init(&count, 0, 0); }

static void note(int number) {
    int error = errno;
    atomic_fetch_or(&noted, UINT64_C(1) << (number - 1));
    sem_post(&count);
    errno = error;
}

int halcyon_note_signal(int number) {
    struct sigaction former, action = {.sa_handler = note, .sa_flags = SA_RESTART};
    if (number < 1 || number > 64) {
        errno = EINVAL;
        return -1;
    }
    if (sigaction(number, NULL, &former) != 0) return -1;
    // An ignored signal stays ignored, as under `nohup` or in the background of a shell.
    return former.sa_handler == SIG_IGN ? 0 : sigaction(number, &action, NULL);
}

int halcyon_next_signal(void) {
    for (;;) {
        uint64_t signals = atomic_load(&noted);
        if (signals) {
            int number = __builtin_ctzll(signals) + 1;
            atomic_fetch_and(&noted, ~(UINT64_C(1) << (number - 1)));
            return number;
        }
        sem_wait(&count);
    }
}

void halcyon_raise_default(int number) {
    sigset_t set;
    signal(number, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, number);
    // Raised on this thread, which does not block it: no other thread's mask can delay the signal.
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    raise(number);
}

void halcyon_trim_heap(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

const char *halcyon_secure_variable(const char *name) { return secure_getenv(name); }
