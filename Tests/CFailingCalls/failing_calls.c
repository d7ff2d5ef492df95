#define _GNU_SOURCE
#include "CFailingCalls.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST_RANGES = 64 };

/// Where the code of a counted library lies.
typedef struct {
    uintptr_t start, end;
} code_range;

static code_range ranges[MOST_RANGES];
static int range_count;
// Read only while calls are armed.
static const char *wanted;
static _Atomic int armed = -1;
static _Atomic long calls, first_failing, failing_count;

static int is_wanted(const char *path) {
    // The program itself has no name.
    if (path == NULL || path[0] == 0) return 1;
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    for (const char *word = wanted; *word != 0;) {
        size_t length = strcspn(word, " ");
        if (length > 0 && strncmp(name, word, length) == 0) return 1;
        word += length + strspn(word + length, " ");
    }
    return 0;
}

static int add_ranges(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size, (void)context;
    if (!is_wanted(info->dlpi_name)) return 0;
    for (int i = 0; i < info->dlpi_phnum && range_count < MOST_RANGES; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || (part->p_flags & PF_X) == 0) continue;
        uintptr_t start = info->dlpi_addr + part->p_vaddr;
        ranges[range_count++] = (code_range){start, start + part->p_memsz};
    }
    return 0;
}

void failing_calls_arm(failing_kind kind, const char *prefixes, long first, long count) {
    failing_calls_disarm();
    range_count = 0;
    wanted = prefixes;
    dl_iterate_phdr(add_ranges, NULL);
    atomic_store(&calls, 0);
    atomic_store(&first_failing, first);
    atomic_store(&failing_count, count);
    atomic_store(&armed, (int)kind);
}

long failing_calls_disarm(void) {
    atomic_store(&armed, -1);
    return atomic_load(&calls);
}

static int fails(failing_kind kind, const void *caller) {
    if (atomic_load_explicit(&armed, memory_order_acquire) != (int)kind) return 0;
    uintptr_t place = (uintptr_t)caller;
    for (int i = 0; i < range_count; i++) {
        if (place < ranges[i].start || place >= ranges[i].end) continue;
        long number = atomic_fetch_add(&calls, 1) + 1;
        long first = atomic_load(&first_failing);
        return first > 0 && number >= first && number - first < atomic_load(&failing_count);
    }
    return 0;
}

#define CALLER __builtin_return_address(0)
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

// glibc's own, which need no look-up: that allocates by itself.
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size) {
    if (fails(FAILING_ALLOCATION, CALLER)) return errno = ENOMEM, NULL;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    if (fails(FAILING_ALLOCATION, CALLER)) return errno = ENOMEM, NULL;
    return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size) {
    if (size > 0 && fails(FAILING_ALLOCATION, CALLER)) return errno = ENOMEM, NULL;
    return __libc_realloc(memory, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
    if (fails(FAILING_ALLOCATION, CALLER)) return ENOMEM;
    void *found = __libc_memalign(alignment, size);
    if (found == NULL) return ENOMEM;
    *memory = found;
    return 0;
}

void *aligned_alloc(size_t alignment, size_t size) {
    if (fails(FAILING_ALLOCATION, CALLER)) return errno = ENOMEM, NULL;
    return __libc_memalign(alignment, size);
}

void *mmap(void *place, size_t length, int protection, int flags, int file, off_t offset) {
    if (fails(FAILING_MAP, CALLER)) return errno = ENOMEM, MAP_FAILED;
    return NEXT(mmap)(place, length, protection, flags, file, offset);
}

static int mode_of(int flags, va_list rest) {
    return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, int) : 0;
}

// Each has a name for large files as well, which is what is called where files may be large.
#define DEFINE_OPEN(name) \
    int name(const char *path, int flags, ...) { \
        va_list rest; \
        va_start(rest, flags); \
        int mode = mode_of(flags, rest); \
        va_end(rest); \
        if (fails(FAILING_OPEN, CALLER)) return errno = EMFILE, -1; \
        return NEXT(name)(path, flags, mode); \
    }
#define DEFINE_OPENAT(name) \
    int name(int folder, const char *path, int flags, ...) { \
        va_list rest; \
        va_start(rest, flags); \
        int mode = mode_of(flags, rest); \
        va_end(rest); \
        if (fails(FAILING_OPEN, CALLER)) return errno = EMFILE, -1; \
        return NEXT(name)(folder, path, flags, mode); \
    }
DEFINE_OPEN(open)
DEFINE_OPEN(open64)
DEFINE_OPENAT(openat)
DEFINE_OPENAT(openat64)

FILE *fopen(const char *path, const char *mode) {
    if (fails(FAILING_OPEN, CALLER)) return errno = EMFILE, NULL;
    return NEXT(fopen)(path, mode);
}

FILE *fopen64(const char *path, const char *mode) {
    if (fails(FAILING_OPEN, CALLER)) return errno = EMFILE, NULL;
    return NEXT(fopen64)(path, mode);
}

int socket(int domain, int type, int protocol) {
    if (fails(FAILING_SOCKET, CALLER)) return errno = EMFILE, -1;
    return NEXT(socket)(domain, type, protocol);
}

int socketpair(int domain, int type, int protocol, int ends[2]) {
    if (fails(FAILING_PIPE, CALLER)) return errno = EMFILE, -1;
    return NEXT(socketpair)(domain, type, protocol, ends);
}

int pipe(int ends[2]) {
    if (fails(FAILING_PIPE, CALLER)) return errno = EMFILE, -1;
    return NEXT(pipe)(ends);
}

int pipe2(int ends[2], int flags) {
    if (fails(FAILING_PIPE, CALLER)) return errno = EMFILE, -1;
    return NEXT(pipe2)(ends, flags);
}

int eventfd(unsigned int value, int flags) {
    if (fails(FAILING_PIPE, CALLER)) return errno = EMFILE, -1;
    return NEXT(eventfd)(value, flags);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
    if (fails(FAILING_THREAD, CALLER)) return EAGAIN;
    return NEXT(pthread_create)(thread, attributes, body, argument);
}
