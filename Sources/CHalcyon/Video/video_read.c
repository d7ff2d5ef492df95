// The reading of one frame: a pipeline that pauses at the first picture, and seeks.
#include <stdlib.h>
#include <string.h>

#include "video_internal.h"

enum { TEXT_SIZE = 256, LOOK_MS = 20 };

// MARK: The library

static char init_failure[TEXT_SIZE];

/// The first call takes as long as GStreamer needs to look through its plugins, up to seconds where nothing has been kept of an
/// earlier look.
static gpointer initialize(gpointer unused) {
    (void)unused;
    // The program's own handlers of signals stay.
    gst_segtrap_set_enabled(FALSE);
    GError *error = NULL;
    if (gst_init_check(NULL, NULL, &error)) return GINT_TO_POINTER(1);
    g_strlcpy(init_failure, error != NULL ? error->message : "it does not start", sizeof init_failure);
    g_clear_error(&error);
    return GINT_TO_POINTER(0);
}

static bool is_available(void) {
    static GOnce once = G_ONCE_INIT;
    return GPOINTER_TO_INT(g_once(&once, initialize, NULL)) == 1;
}

// MARK: The pipeline

void video_wake(halcyon_video *video) {
    gst_element_post_message(
        video->pipeline, gst_message_new_application(GST_OBJECT(video->pipeline), gst_structure_new_empty("look")));
}

/// Returns a new element of the pipeline; NULL if its plugin is not installed.
static GstElement *add(halcyon_video *video, const char *factory, char *text) {
    GstElement *element = gst_element_factory_make(factory, NULL);
    if (element == NULL) {
        g_snprintf(text, TEXT_SIZE, "GStreamer has no element %s", factory);
        return NULL;
    }
    gst_bin_add(GST_BIN(video->pipeline), element);
    return element;
}

static bool build(halcyon_video *video, char *text) {
    video->pipeline = gst_pipeline_new(NULL);
    video->bus = gst_pipeline_get_bus(GST_PIPELINE(video->pipeline));
    GstElement *source = add(video, "filesrc", text);
    GstElement *type = add(video, "typefind", text);
    GstElement *convert = add(video, "videoconvert", text);
    GstElement *filter = add(video, "capsfilter", text);
    GstElement *sink = add(video, "fakesink", text);
    if (source == NULL || type == NULL || convert == NULL || filter == NULL || sink == NULL) return false;

    // The file that is open, whatever has come in the place of its name. `fdsrc` cannot be read at any place, as demuxers of
    // files do.
    char path[32];
    g_snprintf(path, sizeof path, "/proc/self/fd/%d", video->request->descriptor);
    g_object_set(source, "location", path, NULL);
    GstCaps *caps = gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING, "BGRA", NULL);
    g_object_set(filter, "caps", caps, NULL);
    gst_caps_unref(caps);
    g_object_set(sink, "enable-last-sample", FALSE, NULL);
    video->decoded = gst_element_get_static_pad(convert, "sink");
    video->shown = gst_element_get_static_pad(sink, "sink");
    video_watch_decoding(video, type);
    video_watch_frames(video);
    if (gst_element_link(source, type) && gst_element_link_many(convert, filter, sink, NULL)) return true;
    g_strlcpy(text, "its elements cannot be linked", TEXT_SIZE);
    return false;
}

/// Ends all threads of the pipeline. The frame that has arrived stays.
static void tear_down(halcyon_video *video) {
    if (video->pipeline == NULL) return;
    pthread_mutex_lock(&video->build_lock);
    video->is_ending = true;
    if (video->container != NULL) gst_element_set_locked_state(video->container, FALSE);
    video->container = NULL;
    pthread_mutex_unlock(&video->build_lock);
    gst_element_set_state(video->pipeline, GST_STATE_NULL);
    gst_clear_object(&video->decoded);
    gst_clear_object(&video->shown);
    gst_clear_object(&video->bus);
    gst_clear_object(&video->pipeline);
    gst_clear_buffer(&video->held);
}

// MARK: Waiting

static halcyon_video_status failure(halcyon_video *video, GstMessage *message, char *text) {
    pthread_mutex_lock(&video->lock);
    bool is_refused = video->is_refused, has_container = video->has_container, has_stream = video->has_stream;
    char unknown[sizeof video->unknown];
    memcpy(unknown, video->unknown, sizeof unknown);
    pthread_mutex_unlock(&video->lock);
    if (is_refused) return HALCYON_VIDEO_REFUSED;
    g_strlcpy(text, unknown, TEXT_SIZE);
    if (!has_container) return HALCYON_VIDEO_NOT_VIDEO;
    if (!has_stream && unknown[0] != 0) return HALCYON_VIDEO_NO_DECODER;
    if (message == NULL) return HALCYON_VIDEO_NO_STREAM;
    GError *error = NULL;
    gst_message_parse_error(message, &error, NULL);
    g_strlcpy(text, error != NULL ? error->message : "GStreamer gives no reason", TEXT_SIZE);
    g_clear_error(&error);
    return HALCYON_VIDEO_DAMAGED;
}

/// Returns the microseconds until the limit of the time; negative beyond it.
static int64_t time_left(halcyon_video *video) {
    int64_t now = g_get_monotonic_time(), admit_start = atomic_load(&video->admit_start);
    int64_t end = admit_start != 0 ? admit_start : now;
    return video->request->time_limit / 1000 - (end - video->start - atomic_load(&video->admit_total));
}

/// Waits until a frame has arrived, or the end without one.
static halcyon_video_status wait_for_frame(halcyon_video *video, char *text) {
    while (true) {
        if (video->request->is_cancelled(video->request->context)) return HALCYON_VIDEO_CANCELLED;
        if (time_left(video) <= 0) return HALCYON_VIDEO_TIMED_OUT;
        GstMessage *message = gst_bus_timed_pop_filtered(
            video->bus, LOOK_MS * GST_MSECOND,
            GST_MESSAGE_ERROR | GST_MESSAGE_ASYNC_DONE | GST_MESSAGE_APPLICATION | GST_MESSAGE_DURATION_CHANGED);
        if (message == NULL) continue;
        GstMessageType type = GST_MESSAGE_TYPE(message);
        halcyon_video_status status = HALCYON_VIDEO_OK;
        if (type == GST_MESSAGE_DURATION_CHANGED) {
            video->has_grown = true;
        } else if (type == GST_MESSAGE_ERROR) {
            status = failure(video, message, text);
        } else if (type == GST_MESSAGE_APPLICATION) {
            pthread_mutex_lock(&video->lock);
            bool may_go_on = video->has_stream && !video->is_refused;
            pthread_mutex_unlock(&video->lock);
            if (!may_go_on) status = failure(video, NULL, text);
        }
        gst_message_unref(message);
        if (status == HALCYON_VIDEO_OK && type != GST_MESSAGE_ASYNC_DONE) continue;
        // The frame that has arrived is this thread's from now on, until it seeks.
        pthread_mutex_lock(&video->lock);
        pthread_mutex_unlock(&video->lock);
        return status;
    }
}

/// Begins to read, from the beginning of the file, with a new pipeline.
static halcyon_video_status start(halcyon_video *video, bool is_exact, char *text) {
    tear_down(video);
    video_forget_frame(video);
    pthread_mutex_lock(&video->lock);
    video->is_exact = is_exact;
    video->has_passed = video->has_stream = video->has_container = false;
    video->has_index = true;
    video->unknown[0] = 0;
    gst_segment_init(&video->segment, GST_FORMAT_UNDEFINED);
    pthread_mutex_unlock(&video->lock);
    pthread_mutex_lock(&video->build_lock);
    video->is_ending = false;
    bool is_built = build(video, text);
    pthread_mutex_unlock(&video->build_lock);
    if (!is_built) return HALCYON_VIDEO_UNAVAILABLE;
    if (gst_element_set_state(video->pipeline, GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE) {
        GstMessage *message = gst_bus_pop_filtered(video->bus, GST_MESSAGE_ERROR);
        halcyon_video_status status = failure(video, message, text);
        if (message != NULL) gst_message_unref(message);
        return status;
    }
    return wait_for_frame(video, text);
}

/// Seeks to a key frame. Without a frame behind it, `buffer` is NULL afterwards.
static halcyon_video_status seek(halcyon_video *video, GstSeekFlags snap, bool is_exact, char *text) {
    pthread_mutex_lock(&video->lock);
    video->is_exact = is_exact;
    pthread_mutex_unlock(&video->lock);
    GstSeekFlags flags = GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_KEY_UNIT | snap;
    // Nothing is found beyond the end. A duration may be wrong, so the target itself stays as it is.
    bool is_beyond = video->duration > 0 && video->target >= video->duration;
    int64_t place = is_beyond ? video->duration - 1 : video->target;
    if (!gst_element_seek_simple(video->pipeline, GST_FORMAT_TIME, flags, place)) {
        video_forget_frame(video);
        return HALCYON_VIDEO_OK;
    }
    return wait_for_frame(video, text);
}

// MARK: The choice

/// Reads on from the beginning: where a file has no index, or nothing was found by it.
static halcyon_video_status read_through(halcyon_video *video, char *text) {
    halcyon_video_status status = start(video, true, text);
    if (status != HALCYON_VIDEO_OK || video->buffer != NULL) return status;
    g_strlcpy(text, "it has no frame", TEXT_SIZE);
    return HALCYON_VIDEO_DAMAGED;
}

/// Chooses the nearer one of the key frames before and after the time.
static halcyon_video_status read_closest(halcyon_video *video, char *text) {
    halcyon_video_status status = seek(video, GST_SEEK_FLAG_SNAP_BEFORE, false, text);
    if (status != HALCYON_VIDEO_OK || video->buffer == NULL || video->buffer_time >= video->target) return status;
    GstBuffer *before = g_steal_pointer(&video->buffer);
    GstCaps *caps = g_steal_pointer(&video->caps);
    int64_t time = video->buffer_time;
    status = seek(video, GST_SEEK_FLAG_SNAP_AFTER, false, text);
    bool has_ended = status == HALCYON_VIDEO_OK || status == HALCYON_VIDEO_DAMAGED;
    bool is_nearer = status == HALCYON_VIDEO_OK && video->buffer != NULL && video->buffer_time > time &&
                     video->buffer_time - video->target < video->target - time;
    if (!is_nearer && has_ended) {
        status = HALCYON_VIDEO_OK;
        // The pipeline ends first, as its threads know this buffer.
        tear_down(video);
        video_forget_frame(video);
        video->buffer = g_steal_pointer(&before);
        video->caps = g_steal_pointer(&caps);
        video->buffer_time = time;
    }
    gst_clear_buffer(&before);
    gst_clear_caps(&caps);
    return status;
}

static halcyon_video_status choose(halcyon_video *video, char *text) {
    const halcyon_video_request *request = video->request;
    halcyon_video_status status = start(video, false, text);
    if (status != HALCYON_VIDEO_OK) return status;

    gint64 duration = 0;
    bool has_duration = gst_element_query_duration(video->pipeline, GST_FORMAT_TIME, &duration) && duration > 0;
    video->duration = has_duration ? duration : 0;
    video->target = request->time;
    if (request->fraction >= 0) {
        // A recording that does not declare its duration is as long as what was read of it, says its container.
        has_duration = has_duration && !(video->is_matroska && video->has_grown);
        if (request->fraction > 0 && !has_duration) return HALCYON_VIDEO_NO_DURATION;
        video->target = (int64_t)(request->fraction * (double)video->duration);
    }
    if (video->buffer != NULL && video->target <= video->buffer_time) return HALCYON_VIDEO_OK;
    if (video->buffer == NULL) return read_through(video, text);

    switch (video->has_index ? request->choice : HALCYON_VIDEO_EXACT) {
    case HALCYON_VIDEO_EXACT: status = seek(video, GST_SEEK_FLAG_SNAP_BEFORE, true, text); break;
    case HALCYON_VIDEO_PREVIOUS: status = seek(video, GST_SEEK_FLAG_SNAP_BEFORE, false, text); break;
    case HALCYON_VIDEO_CLOSEST: status = read_closest(video, text); break;
    case HALCYON_VIDEO_NEXT:
        status = seek(video, GST_SEEK_FLAG_SNAP_AFTER, false, text);
        // After an error, nothing more comes of this pipeline.
        if (status == HALCYON_VIDEO_OK && video->buffer == NULL) {
            status = seek(video, GST_SEEK_FLAG_SNAP_BEFORE, false, text);
        }
        break;
    }
    // An index may be wrong as well.
    bool has_missed = status == HALCYON_VIDEO_DAMAGED || (status == HALCYON_VIDEO_OK && video->buffer == NULL);
    return has_missed ? read_through(video, text) : status;
}

/// Fills in what is known of the frame that has arrived.
static halcyon_video_status describe(halcyon_video *video, halcyon_video_frame *frame, char *text) {
    int width = 0, height = 0;
    if (video->caps != NULL) {
        const GstStructure *structure = gst_caps_get_structure(video->caps, 0);
        gst_structure_get_int(structure, "width", &width);
        gst_structure_get_int(structure, "height", &height);
    }
    size_t size = (size_t)width * (size_t)height * 4;
    if (width < 1 || height < 1 || gst_buffer_get_size(video->buffer) != size) {
        g_strlcpy(text, "its pixels have no size", TEXT_SIZE);
        return HALCYON_VIDEO_DAMAGED;
    }
    bool has_ratio = video->pixel_width > 0 && video->pixel_height > 0;
    *frame = (halcyon_video_frame){
        .width = width,
        .height = height,
        .pixel_width = has_ratio ? video->pixel_width : 1,
        .pixel_height = has_ratio ? video->pixel_height : 1,
        .orientation = video->orientation,
        .time = video->buffer_time,
    };
    return HALCYON_VIDEO_OK;
}

halcyon_video *halcyon_video_read(
    const halcyon_video_request *request, halcyon_video_frame *frame, halcyon_video_status *status, char *text) {
    text[0] = 0;
    halcyon_video *video = calloc(1, sizeof *video);
    if (video == NULL) return NULL;
    video->request = request;
    video->orientation = video->pixel_width = video->pixel_height = 1;
    pthread_mutex_init(&video->lock, NULL);
    pthread_mutex_init(&video->admit_lock, NULL);
    // Elements may add pads while they are started.
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&video->build_lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
    if (!is_available()) {
        g_strlcpy(text, init_failure, TEXT_SIZE);
        *status = HALCYON_VIDEO_UNAVAILABLE;
        return video;
    }
    video->start = g_get_monotonic_time();
    *status = choose(video, text);
    tear_down(video);
    if (*status == HALCYON_VIDEO_OK) *status = describe(video, frame, text);
    return video;
}

/// Multiplies the colours of a row with its alpha.
static void premultiply(uint8_t *pixels, size_t count) {
    for (uint8_t *pixel = pixels; pixel < pixels + count * 4; pixel += 4) {
        unsigned alpha = pixel[3];
        for (int i = 0; i < 3; i++) pixel[i] = (uint8_t)((pixel[i] * alpha + 127) / 255);
    }
}

bool halcyon_video_copy(halcyon_video *video, uint8_t *pixels, bool *is_opaque) {
    GstMapInfo map;
    if (video->buffer == NULL || !gst_buffer_map(video->buffer, &map, GST_MAP_READ)) return false;
    memcpy(pixels, map.data, map.size);
    gst_buffer_unmap(video->buffer, &map);
    uint8_t alphas = 0xFF;
    for (size_t i = 3; i < map.size; i += 4) alphas &= pixels[i];
    *is_opaque = alphas == 0xFF;
    if (!*is_opaque) premultiply(pixels, map.size / 4);
    return true;
}

void halcyon_video_close(halcyon_video *video) {
    if (video == NULL) return;
    tear_down(video);
    video_forget_frame(video);
    pthread_mutex_destroy(&video->lock);
    pthread_mutex_destroy(&video->build_lock);
    pthread_mutex_destroy(&video->admit_lock);
    free(video);
}
