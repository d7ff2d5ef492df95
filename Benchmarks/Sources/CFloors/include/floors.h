// The cost of each task in a plain C program: the floors that Halcyon is measured against.
#ifndef HALCYON_BENCH_FLOORS_H
#define HALCYON_BENCH_FLOORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Four bytes a pixel, blue first. `release` with `bench_free_bitmap`.
typedef struct {
    uint8_t *pixels;
    int width;
    int height;
    size_t capacity;
} bench_bitmap;

/// Takes memory for a bitmap in the way Halcyon does (huge pages where it is large), so that a ratio compares decoders
/// and not allocators. False without memory.
bool bench_make_bitmap(bench_bitmap *bitmap, int width, int height);
void bench_free_bitmap(bench_bitmap *bitmap);

/// open, fstat, malloc, read, close, free for each file. Returns the bytes read, -1 when one could not be.
long bench_read_files(const char *const *paths, size_t count);
/// faccessat for each file. Returns how many there are.
long bench_access_files(const char *const *paths, size_t count);
/// open, write, close, rename for each file, from its temporary name to the one that is there already.
bool bench_replace_files(const char *const *paths, const char *const *temporaries, size_t count, const void *bytes,
                         size_t size);
/// Returns once everything on a folder's file system is on the disk.
void bench_sync_folder(const char *path);
/// readdir and fstatat. Returns the length of all files in these folders together.
long bench_size_of_folders(const char *const *paths, size_t count);
/// unlink for each file.
bool bench_unlink_files(const char *const *paths, size_t count);

/// libjpeg-turbo to BGRX at so many eighths.
bool bench_decode_jpeg(const uint8_t *data, size_t size, int eighths, bench_bitmap *bitmap);
/// libpng's simplified interface to straight BGRA.
bool bench_decode_png(const uint8_t *data, size_t size, bench_bitmap *bitmap);
/// libwebp's one-call decoder to BGRA.
bool bench_decode_webp(const uint8_t *data, size_t size, bench_bitmap *bitmap);
/// libwebp to BGRA at one `fraction`th of each side, by its own scaler.
bool bench_decode_webp_scaled(const uint8_t *data, size_t size, int fraction, bench_bitmap *bitmap);
/// giflib: the first frame, row by row through its palette to BGRA. For a frame that is not interlaced and fills its
/// canvas.
bool bench_decode_gif(const uint8_t *data, size_t size, bench_bitmap *bitmap);
/// libavif on one thread, converted to straight BGRA.
bool bench_decode_avif(const uint8_t *data, size_t size, bench_bitmap *bitmap);

/// libpng to straight RGBA of 16 bits a channel in the machine's order: a bitmap of twice the width.
bool bench_decode_deep_png(const uint8_t *data, size_t size, bench_bitmap *bitmap);
/// libavif on one thread, converted to the same.
bool bench_decode_deep_avif(const uint8_t *data, size_t size, bench_bitmap *bitmap);

/// libjxl on one thread, to straight RGBA.
bool bench_decode_jxl(const uint8_t *data, size_t size, bench_bitmap *bitmap);

/// The work of a thumbnail program in C, see `bench_fetch_thumbnails`.
typedef struct {
    /// `http://127.0.0.1:port/`; the files are called `0.jpg`, `1.jpg` and so on.
    const char *base_url;
    int count;
    int threads;
    int eighths;
    /// Where the bodies are written to; NULL keeps nothing.
    const char *folder;
} bench_fetch;

/// Downloads all images and decodes them, each thread with a curl handle of its own, and keeps all thumbnails until the
/// last is there. Returns how many came out at the wanted size.
int bench_fetch_thumbnails(const bench_fetch *job, int width, int height);

/// Downloads with libcurl's multi interface on one thread, see `bench_request_all`.
typedef struct {
    /// `http://127.0.0.1:port/`; the files are called `0.jpg`, `1.jpg` and so on.
    const char *base_url;
    int files;
    int count;
    int at_once;
    /// The length of each body, in bytes.
    size_t size;
} bench_requests;

/// Downloads into memory, and drops each body once it is whole. Returns how many came out at their size.
int bench_request_all(const bench_requests *job);

/// Nanoseconds of a clock that never goes back.
int64_t bench_wall_time(void);
/// Nanoseconds of processor time that all threads of the process have used.
int64_t bench_cpu_time(void);
/// Gives freed heap back to the system, so that resident memory shows what is in use.
void bench_trim_heap(void);

/// The last core that the calling thread may run on.
int bench_last_core(void);
/// Keeps the calling thread on one core, until `bench_unpin_thread`.
bool bench_pin_thread(int core);
void bench_unpin_thread(void);

/// Sends `size` bytes of a file from its start to a socket.
bool bench_send_file(int socket, int file, size_t size);

/// A program that runs beside this one.
typedef struct {
    int process;
    /// Ends when this process does, however it does.
    int input;
    int output;
} bench_child;

/// Starts a program with its standard input and output in pipes. `arguments` begin with its path and end with NULL.
bool bench_start(const char *const *arguments, bench_child *child);
/// Ends it, waits for its end and closes the pipes.
void bench_stop(const bench_child *child);

/// The versions of the C libraries that this was built with, in words.
const char *bench_library_versions(void);

#endif
