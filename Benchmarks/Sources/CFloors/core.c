#define _GNU_SOURCE
#include <sched.h>

#include "floors.h"

/// Where the thread could run before it was pinned.
static _Thread_local cpu_set_t before;

int bench_last_core(void) {
    cpu_set_t cores;
    if (sched_getaffinity(0, sizeof cores, &cores) != 0) return 0;
    for (int core = CPU_SETSIZE - 1; core > 0; core--) {
        if (CPU_ISSET(core, &cores)) return core;
    }
    return 0;
}

bool bench_pin_thread(int core) {
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(core, &only);
    return sched_getaffinity(0, sizeof before, &before) == 0 && sched_setaffinity(0, sizeof only, &only) == 0;
}

void bench_unpin_thread(void) {
    sched_setaffinity(0, sizeof before, &before);
}
