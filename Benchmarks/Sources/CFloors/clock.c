#include "floors.h"

#include <malloc.h>
#include <time.h>

static int64_t nanoseconds(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int64_t bench_wall_time(void) {
    return nanoseconds(CLOCK_MONOTONIC);
}

int64_t bench_cpu_time(void) {
    return nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
}

void bench_trim_heap(void) {
    malloc_trim(0);
}
