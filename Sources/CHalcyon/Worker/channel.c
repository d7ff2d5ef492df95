#define _GNU_SOURCE
#include "halcyon_worker.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/// The room for messages that are under way: more than the longest one.
#define CHANNEL_BYTES (128 << 10)

typedef union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int) * HALCYON_CHANNEL_FILES)];
} control;

int halcyon_channel_create(int ends[2]) {
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return -1;
    int size = CHANNEL_BYTES;
    // The kernel's default is larger than this as a rule; where it is smaller, this asks for what is needed.
    for (int end = 0; end < 2; end++) (void)setsockopt(ends[end], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    return 0;
}

int halcyon_channel_send(int channel, const void *bytes, size_t size, const int *files, int count) {
    if (count < 0 || count > HALCYON_CHANNEL_FILES) {
        errno = EINVAL;
        return -1;
    }
    control space;
    struct iovec part = {.iov_base = (void *)bytes, .iov_len = size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (count > 0) {
        memset(&space, 0, sizeof space);
        message.msg_control = space.bytes;
        message.msg_controllen = CMSG_SPACE(sizeof(int) * (size_t)count);
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int) * (size_t)count);
        memcpy(CMSG_DATA(header), files, sizeof(int) * (size_t)count);
    }
    ssize_t sent;
    do sent = sendmsg(channel, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)size ? 0 : -1;
}

ssize_t halcyon_channel_receive(int channel, void *bytes, size_t size, int *files, int *count) {
    control space;
    struct iovec part = {.iov_base = bytes, .iov_len = size};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = space.bytes, .msg_controllen = sizeof space.bytes};
    *count = 0;
    ssize_t received;
    do received = recvmsg(channel, &message, MSG_CMSG_CLOEXEC);
    while (received < 0 && errno == EINTR);
    if (received < 0) return -1;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header != NULL; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        size_t found = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t index = 0; index < found; index++) {
            int file;
            memcpy(&file, CMSG_DATA(header) + index * sizeof(int), sizeof file);
            if (*count < HALCYON_CHANNEL_FILES) {
                files[(*count)++] = file;
            } else {
                close(file);
            }
        }
    }
    if (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) {
        for (int index = 0; index < *count; index++) close(files[index]);
        *count = 0;
        errno = EMSGSIZE;
        return -1;
    }
    return received;
}

int halcyon_channel_wait(int channel, int milliseconds) {
    struct pollfd entry = {.fd = channel, .events = POLLIN};
    int found;
    do found = poll(&entry, 1, milliseconds);
    while (found < 0 && errno == EINTR);
    return found;
}

int halcyon_process_limit(pid_t process, uint64_t address_space, uint64_t processor_seconds) {
    if (address_space > 0) {
        struct rlimit limit;
        if (prlimit(process, RLIMIT_AS, NULL, &limit) != 0) return -1;
        limit.rlim_cur = address_space < limit.rlim_max ? address_space : limit.rlim_max;
        if (prlimit(process, RLIMIT_AS, &limit, NULL) != 0) return -1;
    }
    if (processor_seconds == 0) return 0;
    struct rlimit time;
    if (prlimit(process, RLIMIT_CPU, NULL, &time) != 0) return -1;
    time.rlim_cur = processor_seconds < time.rlim_max ? processor_seconds : time.rlim_max;
    return prlimit(process, RLIMIT_CPU, &time, NULL);
}

int halcyon_process_open(pid_t process) { return (int)syscall(__NR_pidfd_open, process, 0); }

bool halcyon_process_runs(int file) {
    struct pollfd entry = {.fd = file, .events = POLLIN};
    return file < 0 || poll(&entry, 1, 0) == 0;
}

int halcyon_process_end(pid_t process, int file, int *status) {
    if (file < 0) {
        kill(process, SIGKILL);
    } else {
        (void)syscall(__NR_pidfd_send_signal, file, SIGKILL, NULL, 0);
    }
    siginfo_t info;
    int result;
    // The descriptor is of the child itself, and its number is kept for as long as nobody has waited for it.
    do result = file < 0 ? waitid(P_PID, (id_t)process, &info, WEXITED) : waitid((idtype_t)3, (id_t)file, &info, WEXITED);
    while (result < 0 && errno == EINTR);
    if (result < 0) return -1;
    *status = info.si_code == CLD_EXITED ? info.si_status : -info.si_status;
    return 0;
}

int64_t halcyon_process_time(pid_t process) {
    clockid_t clock;
    struct timespec time;
    if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0) return -1;
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

uint64_t halcyon_address_space(void) {
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL) return 0;
    unsigned long pages = 0;
    int found = fscanf(file, "%lu", &pages);
    fclose(file);
    return found == 1 ? (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}
