// One frame of a video file by GStreamer.
#ifndef HALCYON_VIDEO_H
#define HALCYON_VIDEO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum halcyon_video_status {
    HALCYON_VIDEO_OK,
    HALCYON_VIDEO_CANCELLED,
    HALCYON_VIDEO_TIMED_OUT,
    /// `admit` returned false.
    HALCYON_VIDEO_REFUSED,
    /// Not a container of video that is read; the text is the type that was found, or empty.
    HALCYON_VIDEO_NOT_VIDEO,
    /// A container without video.
    HALCYON_VIDEO_NO_STREAM,
    /// The text is the type of the codec.
    HALCYON_VIDEO_NO_DECODER,
    HALCYON_VIDEO_DAMAGED,
    /// A fraction was asked of a file whose duration is unknown.
    HALCYON_VIDEO_NO_DURATION,
    /// GStreamer cannot be used; the text says why.
    HALCYON_VIDEO_UNAVAILABLE,
} halcyon_video_status;

typedef enum halcyon_video_choice {
    /// The frame that is shown at the time.
    HALCYON_VIDEO_EXACT,
    /// The key frame at the time or before it.
    HALCYON_VIDEO_PREVIOUS,
    /// The key frame at the time or after it, or else the last one.
    HALCYON_VIDEO_NEXT,
    /// The nearer one of both.
    HALCYON_VIDEO_CLOSEST,
} halcyon_video_choice;

typedef struct halcyon_video_request {
    /// The descriptor of a regular file, which is used from the beginning and not closed.
    int descriptor;
    halcyon_video_choice choice;
    /// The time in nanoseconds; not used if there is a fraction.
    int64_t time;
    /// A fraction of the duration from 0 to 1; negative for none.
    double fraction;
    /// In nanoseconds. The waits of `admit` do not count.
    int64_t time_limit;
    /// Called by the calling thread, every 20 ms at least.
    bool (*is_cancelled)(void *context);
    /// Called with each size that the container, a coded frame or a decoder declares, before the memory for it is allocated as
    /// far as possible, by a thread of GStreamer. False ends the reading. It may wait, while it looks for a cancellation.
    bool (*admit)(void *context, int64_t width, int64_t height);
    void *context;
} halcyon_video_request;

typedef struct halcyon_video_frame {
    /// The stored pixels, before orientation and aspect ratio apply.
    int width, height;
    /// The aspect ratio of a pixel.
    int pixel_width, pixel_height;
    /// The value of EXIF, from 1 to 8.
    int orientation;
    /// In nanoseconds.
    int64_t time;
} halcyon_video_frame;

typedef struct halcyon_video halcyon_video;

/// Reads one frame, and waits for it. The result is given to `halcyon_video_close`; it is NULL only for lack of memory.
///
/// - text: at least 256 bytes, for the text that belongs to some of the statuses.
halcyon_video *halcyon_video_read(
    const halcyon_video_request *request, halcyon_video_frame *frame, halcyon_video_status *status, char *text);

/// Writes the premultiplied BGRA pixels of the frame, `width * height * 4` bytes. Returns false if the frame has another layout.
bool halcyon_video_copy(halcyon_video *video, uint8_t *pixels, bool *is_opaque);

/// Waits for the decoder to end the frame that it is at.
void halcyon_video_close(halcyon_video *video);

#endif
