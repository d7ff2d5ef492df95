#ifndef HALCYON_VIDEO_INTERNAL_H
#define HALCYON_VIDEO_INTERNAL_H

#if !__has_include(<gst/gst.h>)
#error HalcyonVideo needs the package trait Video, .package(..., traits: ["Video"]), and libgstreamer1.0-dev in Debian
#endif
#include <gst/gst.h>
#include <pthread.h>
#include <stdatomic.h>

#include "halcyon_video.h"

typedef enum video_part { VIDEO_PART_CONTAINER, VIDEO_PART_PARSER, VIDEO_PART_DECODER } video_part;

/// Returns a new element that takes the data; NULL if none of those that may be used is installed.
GstElement *video_make_part(video_part part, GstCaps *caps);

/// Reads the size from the beginning of a coded frame. Returns false for a codec that is not known here, and for a frame without a
/// size of its own.
bool video_coded_size(const char *decoder, const uint8_t *bytes, size_t count, int64_t *width, int64_t *height);

struct halcyon_video {
    const halcyon_video_request *request;
    GstElement *pipeline;
    GstBus *bus;
    /// The pads of the converter and of the end.
    GstPad *decoded, *shown;

    /// Held while elements are added, of which none is once the pipeline ends.
    pthread_mutex_t build_lock;
    bool is_ending;
    /// NULL until it is chosen; the pipeline holds it.
    GstElement *container;
    /// Held during a call of `admit`: one at a time.
    pthread_mutex_t admit_lock;
    /// Guards everything below that is not of one thread.
    pthread_mutex_t lock;
    bool is_refused, has_container, has_stream;
    /// Whether the container may know where its key frames are.
    bool has_index, is_matroska;
    /// Whether the container has found its duration to be longer.
    bool has_grown;
    /// The type of the file, or of a picture in it, for which there is no element.
    char unknown[128];

    /// Whether frames are held back until the exact one is known. Changed only while no frame is on its way.
    bool is_exact;
    int64_t target;
    /// In nanoseconds; 0 if it is unknown.
    int64_t duration;
    /// Touched by the streaming thread alone: the last frame before the target, and whether a frame was let through since the last flush.
    GstBuffer *held;
    bool has_passed;
    GstSegment segment;

    /// The frame that has arrived at the end.
    GstBuffer *buffer;
    GstCaps *caps;
    int64_t buffer_time;
    int orientation;
    int pixel_width, pixel_height;

    /// In microseconds.
    int64_t start;
    _Atomic int64_t admit_start, admit_total;
};

/// Asks `admit`. After a refusal no data passes any more.
bool video_admit(halcyon_video *video, int64_t width, int64_t height);
bool video_is_refused(halcyon_video *video);

/// Connects the choice of elements, and the checks of what they are given.
void video_watch_decoding(halcyon_video *video, GstElement *typefind);
/// Connects the choice of the frame.
void video_watch_frames(halcyon_video *video);
/// Lets go of the frame that has arrived.
void video_forget_frame(halcyon_video *video);

/// Wakes the thread that waits for the frame.
void video_wake(halcyon_video *video);

#endif
