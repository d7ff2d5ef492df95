#define _GNU_SOURCE
#include "halcyon_worker.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)
#define BOX_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define BOX_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

// MARK: - System calls

/// The calls that a decode needs, whatever their arguments.
static const int allowed[] = {
    __NR_read, __NR_write, __NR_close, __NR_recvmsg, __NR_sendmsg, __NR_lseek, __NR_munmap, __NR_mremap, __NR_madvise, __NR_brk,
    __NR_futex, __NR_set_robust_list, __NR_rseq, __NR_exit, __NR_exit_group, __NR_rt_sigprocmask, __NR_rt_sigreturn,
    __NR_sigaltstack, __NR_restart_syscall, __NR_sched_yield, __NR_sched_getaffinity, __NR_getrandom, __NR_clock_gettime,
    __NR_clock_getres, __NR_clock_nanosleep, __NR_nanosleep, __NR_gettimeofday, __NR_getpid, __NR_gettid, __NR_membarrier,
    __NR_mincore, __NR_getrusage,
};

/// The calls by which libraries ask for what they can do without: they get an error in the place of an end.
static const struct {
    int call, error;
} refused[] = {
    {__NR_clone3, ENOSYS},  // The C library falls back to clone, whose flags can be seen.
    {__NR_ioctl, ENOTTY},
    {__NR_sched_setaffinity, EPERM},
    {__NR_sched_setscheduler, EPERM},
    {__NR_sched_getscheduler, EPERM},
    {__NR_sched_getparam, EPERM},
    {__NR_setpriority, EPERM},
    {__NR_getcpu, ENOSYS},
    {__NR_uname, EPERM},
    {__NR_sysinfo, EPERM},
    {__NR_fstat, EPERM},
    {__NR_newfstatat, EPERM},
    {__NR_statx, EPERM},
    {__NR_getpeername, ENOTSOCK},  // GLib asks whether its warnings go to the journal.
};

/// The calls that a drawing with text needs to find and read its fonts. Landlock says which files may be opened.
static const int reading[] = {
    __NR_fstat, __NR_newfstatat, __NR_statx, __NR_faccessat, __NR_faccessat2, __NR_getdents64, __NR_readlinkat, __NR_fstatfs,
    __NR_statfs, __NR_getcwd, __NR_pread64, __NR_getuid, __NR_geteuid, __NR_getgid, __NR_getegid, __NR_fadvise64, __NR_uname,
#if defined(__x86_64__)
    __NR_access, __NR_readlink, __NR_stat, __NR_lstat,
#endif
};

#define BOX_LENGTH 320

typedef struct {
    struct sock_filter code[BOX_LENGTH];
    unsigned short length;
} program;

static void put(program *program, struct sock_filter instruction) {
    // A program that is too long is refused before it is loaded.
    if (program->length < BOX_LENGTH) program->code[program->length] = instruction;
    program->length++;
}

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
/// The lower half of an argument. All of those that are looked at are numbers of 32 bits for the kernel.
#define LOAD_ARGUMENT(index) LOAD(args[index])
#define RETURN(action) BPF_STMT(BPF_RET | BPF_K, action)
#define SKIP_UNLESS_EQUAL(value, count) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value), 0, count)
#define SKIP_IF_ANY(bits, count) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (uint32_t)(bits), count, 0)
#define SKIP_UNLESS_ANY(bits, count) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (uint32_t)(bits), 0, count)

static void put_return(program *program, int call, uint32_t action) {
    put(program, (struct sock_filter)SKIP_UNLESS_EQUAL(call, 1));
    put(program, (struct sock_filter)RETURN(action));
}

/// Allows a call without these bits in an argument, and does something else for one with them.
static void put_without_else(program *program, int call, int argument, uint32_t bits, uint32_t action) {
    put(program, (struct sock_filter)SKIP_UNLESS_EQUAL(call, 4));
    put(program, (struct sock_filter)LOAD_ARGUMENT(argument));
    put(program, (struct sock_filter)SKIP_IF_ANY(bits, 1));
    put(program, (struct sock_filter)RETURN(SECCOMP_RET_ALLOW));
    put(program, (struct sock_filter)RETURN(action));
}

/// Allows a call without these bits in an argument, and ends the process for one with them.
static void put_without(program *program, int call, int argument, uint32_t bits) {
    put_without_else(program, call, argument, bits, SECCOMP_RET_KILL_PROCESS);
}

/// Allows a call with this value of an argument, and ends the process for another one.
static void put_with(program *program, int call, int argument, uint32_t value) {
    put(program, (struct sock_filter)SKIP_UNLESS_EQUAL(call, 4));
    put(program, (struct sock_filter)LOAD_ARGUMENT(argument));
    put(program, (struct sock_filter)SKIP_UNLESS_EQUAL(value, 1));
    put(program, (struct sock_filter)RETURN(SECCOMP_RET_ALLOW));
    put(program, (struct sock_filter)RETURN(SECCOMP_RET_KILL_PROCESS));
}

static void put_files(program *program) {
    for (size_t index = 0; index < sizeof reading / sizeof reading[0]; index++) {
        put_return(program, reading[index], SECCOMP_RET_ALLOW);
    }
    // Fontconfig tries to write its caches, and does without.
    uint32_t writing = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND | (O_TMPFILE & ~O_DIRECTORY);
    put_without_else(program, __NR_openat, 2, writing, SECCOMP_RET_ERRNO | EACCES);
#if defined(__x86_64__)
    put_without_else(program, __NR_open, 1, writing, SECCOMP_RET_ERRNO | EACCES);
#endif
    // FreeType marks what it has opened: F_GETFD, F_SETFD and F_GETFL are 1 to 3, and only these have no bit beyond.
    put_without_else(program, __NR_fcntl, 1, ~3u, SECCOMP_RET_ERRNO | EPERM);
}

static int close_calls(bool reads_files) {
#ifndef BOX_ARCHITECTURE
    errno = ENOSYS;
    return -1;
#else
    program program = {.length = 0};
    put(&program, (struct sock_filter)LOAD(arch));
    put(&program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, BOX_ARCHITECTURE, 1, 0));
    put(&program, (struct sock_filter)RETURN(SECCOMP_RET_KILL_PROCESS));
    put(&program, (struct sock_filter)LOAD(nr));
    for (size_t index = 0; index < sizeof allowed / sizeof allowed[0]; index++) {
        put_return(&program, allowed[index], SECCOMP_RET_ALLOW);
    }
    if (reads_files) put_files(&program);
    for (size_t index = 0; index < sizeof refused / sizeof refused[0]; index++) {
        put_return(&program, refused[index].call, SECCOMP_RET_ERRNO | (uint32_t)refused[index].error);
    }
    put_without(&program, __NR_mmap, 2, PROT_EXEC);
    put_without(&program, __NR_mprotect, 2, PROT_EXEC);
    put_with(&program, __NR_tgkill, 0, (uint32_t)getpid());
    put_with(&program, __NR_prctl, 0, PR_SET_NAME);
    // A thread shares everything with this process, this list included; a process of its own would not.
    put(&program, (struct sock_filter)SKIP_UNLESS_EQUAL(__NR_clone, 3));
    put(&program, (struct sock_filter)LOAD_ARGUMENT(0));
    put(&program, (struct sock_filter)SKIP_UNLESS_ANY(CLONE_THREAD, 1));
    put(&program, (struct sock_filter)RETURN(SECCOMP_RET_ALLOW));
    put(&program, (struct sock_filter)RETURN(SECCOMP_RET_KILL_PROCESS));
    if (program.length > BOX_LENGTH) {
        errno = E2BIG;
        return -1;
    }
    struct sock_fprog filter = {.len = program.length, .filter = program.code};
    // For all threads that a library may have started, or for none.
    long result = syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter);
    if (result > 0) errno = EAGAIN;
    return result == 0 ? 0 : -1;
#endif
}

// MARK: - Files

// The structures and numbers of Landlock up to its version 6, which the system's headers may be too old for.
#define LANDLOCK_CREATE 444
#define LANDLOCK_ADD 445
#define LANDLOCK_RESTRICT 446
#define LANDLOCK_VERSION 1u
#define LANDLOCK_PATH 1
#define LANDLOCK_READ ((1ull << 2) | (1ull << 3))
#define LANDLOCK_READ_FILE (1ull << 2)

typedef struct {
    uint64_t files, network, scopes;
} landlock_rules;

typedef struct {
    uint64_t access;
    int32_t parent;
} __attribute__((packed)) landlock_path;

/// All rights that a version of Landlock knows.
static landlock_rules all_rules(long version) {
    static const uint64_t files[] = {(1ull << 13) - 1, (1ull << 14) - 1, (1ull << 15) - 1, (1ull << 15) - 1, (1ull << 16) - 1};
    return (landlock_rules){
        .files = files[version > 5 ? 4 : version - 1], .network = version >= 4 ? 3 : 0, .scopes = version >= 6 ? 3 : 0};
}

static int allow_reading(int rules, const char *path) {
    int file = open(path, O_PATH | O_CLOEXEC);
    // A folder of fonts that is not there needs no right.
    if (file < 0) return 0;
    struct stat facts;
    bool is_folder = fstat(file, &facts) == 0 && S_ISDIR(facts.st_mode);
    landlock_path right = {.access = is_folder ? LANDLOCK_READ : LANDLOCK_READ_FILE, .parent = file};
    long result = syscall(LANDLOCK_ADD, rules, LANDLOCK_PATH, &right, 0);
    close(file);
    return (int)result;
}

static int close_paths(const char *const *readable, bool uses_landlock) {
    long version = uses_landlock ? syscall(LANDLOCK_CREATE, NULL, 0, LANDLOCK_VERSION) : -1;
    if (version < 1) {
        if (!uses_landlock) errno = ENOSYS;
        // Without files to read, no call opens any.
        return readable == NULL ? 0 : -1;
    }
    landlock_rules all = all_rules(version);
    // A kernel refuses a structure that is longer than its own with anything in the rest, and takes a shorter one.
    size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
    int rules = (int)syscall(LANDLOCK_CREATE, &all, size, 0);
    if (rules < 0) return -1;
    int result = 0;
    for (const char *const *path = readable; result == 0 && path != NULL && *path != NULL; path++) {
        result = allow_reading(rules, *path);
    }
    if (result == 0) result = (int)syscall(LANDLOCK_RESTRICT, rules, 0);
    int error = errno;
    close(rules);
    errno = error;
    return result;
}

// MARK: - The box

void halcyon_box_close_files(int last) {
    if (syscall(__NR_close_range, (unsigned)last + 1, ~0u, 0) == 0) return;
    struct rlimit limit;
    int most = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 65536 ? (int)limit.rlim_cur : 65536;
    for (int file = last + 1; file < most; file++) close(file);
}

/// The processor time after which the kernel ends the process, whatever it does: that of a worker that is never replaced, and of one
/// whose program has ended without it.
#define BOX_PROCESSOR_SECONDS 3600

/// The time that one trial may take.
#define BOX_TRIAL_SECONDS 4
#define BOX_TRIAL_PROCESSOR_SECONDS 2

/// The status of a trial that went well, which is none that work would end the process with.
#define BOX_TRIAL_PASSED 93

static int thread_count(void) {
    DIR *folder = opendir("/proc/self/task");
    if (folder == NULL) return 0;
    int count = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

bool halcyon_box_is_alone(void) {
    for (int turn = 0; turn < 200; turn++) {
        if (thread_count() <= 1) return true;
        usleep(1000);
    }
    return false;
}

static int limit(int kind, rlim_t value) {
    struct rlimit limit = {.rlim_cur = value, .rlim_max = value};
    return setrlimit((__rlimit_resource_t)kind, &limit);
}

bool halcyon_box_try(bool (*work)(const void *), const void *user) {
    // The end of a child that is ignored cannot be waited for.
    signal(SIGCHLD, SIG_DFL);
    pid_t copy = fork();
    if (copy < 0) return true;
    if (copy == 0) {
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        signal(SIGALRM, SIG_DFL);
        // The wait is longer than the work may be: a machine may be busy, or its disk cold.
        alarm(BOX_TRIAL_SECONDS);
        // A sanitizer has threads of its own.
        int threads = thread_count();
        bool is_fit = limit(RLIMIT_CORE, 0) == 0 && limit(RLIMIT_CPU, BOX_TRIAL_PROCESSOR_SECONDS) == 0 && work(user)
            && thread_count() <= threads;
        // No destructor runs.
        _exit(is_fit ? BOX_TRIAL_PASSED : 1);
    }
    int status = -1;
    while (waitpid(copy, &status, 0) < 0) {
        if (errno != EINTR) return false;
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == BOX_TRIAL_PASSED;
}

/// Gives up what the superuser may do beyond others.
static int drop_capabilities(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};
    return (int)syscall(__NR_capset, &header, none);
}

void halcyon_box_reset_faults(void) {
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT, SIGQUIT, SIGSYS};
    for (size_t index = 0; index < sizeof faults / sizeof faults[0]; index++) signal(faults[index], SIG_DFL);
}

void halcyon_box_limit_heap(void) { mallopt(M_ARENA_MAX, 1); }

halcyon_box_result halcyon_box_close(const char *const *readable, bool uses_landlock) {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 || drop_capabilities() != 0) {
        return HALCYON_BOX_PRIVILEGES;
    }
    if (limit(RLIMIT_CORE, 0) != 0 || limit(RLIMIT_FSIZE, 0) != 0 || limit(RLIMIT_NOFILE, 64) != 0 ||
        limit(RLIMIT_CPU, BOX_PROCESSOR_SECONDS) != 0) {
        return HALCYON_BOX_LIMITS;
    }
    if (close_paths(readable, uses_landlock) != 0) return HALCYON_BOX_LANDLOCK;
    if (close_calls(readable != NULL) != 0) return HALCYON_BOX_SECCOMP;
    return HALCYON_BOX_CLOSED;
}
