// Wrappers of functions that glibc offers only with _GNU_SOURCE, which Swift's Glibc module does not define.
#ifndef HALCYON_SYSTEM_H
#define HALCYON_SYSTEM_H

#include <stddef.h>
#include <sys/types.h>

/// Names the calling thread, cut to the 15 bytes that the kernel keeps.
void halcyon_name_thread(const char *name);

/// The number of processors that the calling thread may run on, at least 1.
int halcyon_affinity_count(void);

/// Returns the number of the processor that the calling thread currently runs on, or -1. This is the C library's own
/// function: with restartable sequences it reads one word that the kernel keeps up to date.
int sched_getcpu(void);

/// Opens a file without updating its time of last access (O_NOATIME), which only its owner may; for others it opens
/// the file normally. Returns -1 and sets errno as open does.
int halcyon_open_unnoticed(const char *path, int flags);

/// Does the same if the kernel has the path in memory, and never waits for a disk. Returns -1 and sets errno as open does,
/// EAGAIN if the path is not in memory, ENOSYS if the kernel cannot tell (before 5.12).
int halcyon_open_cached(const char *path, int flags);

/// Reads the bytes at an offset that the kernel has in memory, and never waits for a disk. Returns their number, which may be
/// less than `size`, or -1 and sets errno, EAGAIN if it has none of them, EOPNOTSUPP if the file system cannot tell.
ssize_t halcyon_read_cached(int file, void *buffer, size_t size, off_t offset);

/// Opens a file in a folder that has no name and never gets one, for reading and appending. Returns -1 and sets errno
/// as open does, EOPNOTSUPP or EISDIR if the file system does not support such files.
int halcyon_open_nameless(const char *folder);

/// Registers a function for the end of the program: it is called after all handlers that the program has registered
/// itself, and before the destructors of the libraries that it was started with. The last call counts.
void halcyon_at_end(void (*function)(void));

/// Notes a signal from now on, in place of the action that the program has set for it; an ignored signal stays
/// ignored. Returns 0, or -1 and sets errno if the signal cannot be caught.
int halcyon_note_signal(int number);

/// Waits for a noted signal, and returns its number. Only one thread may wait.
int halcyon_next_signal(void);

/// Performs the default action of a signal on the calling thread, which ends the program for most signals.
void halcyon_raise_default(int number);

/// Gives the free pages of the heap back to the system.
void halcyon_trim_heap(void);

/// Returns the value of a variable of the environment; NULL if it is not set, or if the program has rights that its user does not
/// have.
const char *halcyon_secure_variable(const char *name);

#endif
