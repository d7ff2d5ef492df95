#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <pthread.h>
#include <string.h>

#include "CTestResolver.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int is_held;
static int waiting;

void test_resolver_hold(void) {
    pthread_mutex_lock(&mutex);
    is_held = 1;
    pthread_mutex_unlock(&mutex);
}

void test_resolver_release(void) {
    pthread_mutex_lock(&mutex);
    is_held = 0;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

int test_resolver_waiting(void) {
    pthread_mutex_lock(&mutex);
    int count = waiting;
    pthread_mutex_unlock(&mutex);
    return count;
}

static int wait_for_release(void) {
    pthread_mutex_lock(&mutex);
    waiting++;
    while (is_held) pthread_cond_wait(&changed, &mutex);
    waiting--;
    pthread_mutex_unlock(&mutex);
    return EAI_NONAME;
}

/// In the place of the C library's, for the libraries of the program that this is linked into: a name server that does
/// not answer cannot be had otherwise on a machine without one.
int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **result) {
    if (name != NULL && strcmp(name, TEST_RESOLVER_HELD_NAME) == 0) return wait_for_release();
    int (*next)(const char *, const char *, const struct addrinfo *, struct addrinfo **) =
        dlsym(RTLD_NEXT, "getaddrinfo");
    return next == NULL ? EAI_SYSTEM : next(name, service, hints, result);
}
