#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "floors.h"

extern char **environ;

bool bench_start(const char *const *arguments, bench_child *child) {
    int input[2];
    int output[2];
    if (pipe2(input, O_CLOEXEC) != 0) return false;
    if (pipe2(output, O_CLOEXEC) != 0) {
        close(input[0]);
        close(input[1]);
        return false;
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input[0], 0);
    posix_spawn_file_actions_adddup2(&actions, output[1], 1);
    // The calling thread may be one of libdispatch's, which block all signals; a child that inherits that cannot be
    // told to stop.
    posix_spawnattr_t attributes;
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    pid_t process = 0;
    int status = posix_spawn(&process, arguments[0], &actions, &attributes, (char *const *)arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    close(input[0]);
    close(output[1]);
    *child = (bench_child){.process = process, .input = input[1], .output = output[0]};
    if (status == 0) return true;
    close(input[1]);
    close(output[0]);
    return false;
}

void bench_stop(const bench_child *child) {
    kill(child->process, SIGTERM);
    waitpid(child->process, NULL, 0);
    close(child->input);
    close(child->output);
}
