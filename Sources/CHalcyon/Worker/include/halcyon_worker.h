// The system calls between a program and its decode workers, and the box that a worker locks itself into.
#ifndef HALCYON_WORKER_H
#define HALCYON_WORKER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/// The most descriptors that one message carries.
#define HALCYON_CHANNEL_FILES 4

// MARK: - Memory that two processes share

/// Creates memory of a fixed size, of zeros, that both sides may write. Returns its descriptor, or -1 and sets errno.
int halcyon_memory_create(size_t size);

/// Creates memory with these bytes, which nobody can change any more. Returns its descriptor, or -1 and sets errno.
int halcyon_memory_copy(const void *bytes, size_t size);

/// Writes and reads the word of a page that both sides have.
void halcyon_control_write(long *word, long value);
long halcyon_control_read(const long *word);

// MARK: - Messages

/// Creates the two ends of a channel that keeps messages apart. Both are closed by an exec. Returns 0, or -1 and sets errno.
int halcyon_channel_create(int ends[2]);

/// Sends a message with descriptors. It never raises SIGPIPE, and never waits: a side that does not read has only itself to blame.
/// Returns 0, or -1 and sets errno.
int halcyon_channel_send(int channel, const void *bytes, size_t size, const int *files, int count);

/// Receives a message. `files` has room for HALCYON_CHANNEL_FILES descriptors, and `count` returns how many came; any more are
/// closed. Returns the length, 0 at the end of the channel, or -1 and sets errno: EMSGSIZE for a message that is too long.
ssize_t halcyon_channel_receive(int channel, void *bytes, size_t size, int *files, int *count);

/// Waits until a message or the end of the channel is there. Returns 1, 0 once the milliseconds have passed, or -1.
int halcyon_channel_wait(int channel, int milliseconds);

// MARK: - Another process

/// Limits a process: its address space in bytes, and the processor time in seconds from its start; 0 leaves either. Returns 0, or
/// -1 and sets errno.
int halcyon_process_limit(pid_t process, uint64_t address_space, uint64_t processor_seconds);

/// Returns a descriptor of a process, or -1 on a kernel before 5.3.
int halcyon_process_open(pid_t process);

/// Whether the process of a descriptor has not ended; true for the descriptor -1.
bool halcyon_process_runs(int file);

/// Ends a child and waits for it. `status` returns its exit status, or minus the signal that ended it. Returns 0, or -1 if somebody
/// else has waited for it.
int halcyon_process_end(pid_t process, int file, int *status);

/// The processor time that a process has taken, in nanoseconds; -1 if it has ended.
int64_t halcyon_process_time(pid_t process);

/// The address space of the calling process in bytes; 0 if the system does not tell.
uint64_t halcyon_address_space(void);

// MARK: - The box

/// The step at which the box could not be closed.
typedef enum {
    HALCYON_BOX_CLOSED = 0,
    HALCYON_BOX_PRIVILEGES,
    HALCYON_BOX_LIMITS,
    HALCYON_BOX_LANDLOCK,
    HALCYON_BOX_SECCOMP,
} halcyon_box_result;

/// Closes all descriptors but the standard ones and those up to `last`.
void halcyon_box_close_files(int last);

/// Whether the calling thread is the only one of its process, or the system does not tell. It waits a moment for threads that have
/// been joined and are still on their way out.
bool halcyon_box_is_alone(void);

/// Does work in a copy of this process, which has no other thread. Whether it succeeds there within four seconds, two of
/// them the processor's, starts no thread and ends well. True if there can be no copy.
bool halcyon_box_try(bool (*work)(const void *), const void *user);

/// Takes all rights from the calling process, for good: no other program, process, file, network or descriptor, and no memory that
/// can be run. All threads that there are must be this one. On a failure, errno says why.
///
/// - readable: NULL, or a list that ends with NULL of files and folders that may be read. It needs Landlock.
/// - uses_landlock: whether Landlock is used where the kernel has it; without, the list of system calls holds alone.
halcyon_box_result halcyon_box_close(const char *const *readable, bool uses_landlock);

/// Gives the signals of faults their own effect, in the place of a handler that the runtime of a language has set: a report of the
/// fault would need calls that the box does not have.
void halcyon_box_reset_faults(void);

/// Keeps the heap in one arena: each further one reserves 64 MiB of address space.
void halcyon_box_limit_heap(void);

#endif
