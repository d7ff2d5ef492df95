// The choice of the frame: a probe in front of the converter, so that only the frame that is wanted is converted.
#include <string.h>

#include "video_internal.h"

void video_forget_frame(halcyon_video *video) {
    gst_clear_buffer(&video->buffer);
    gst_clear_caps(&video->caps);
}

/// Returns the time of a frame in the video; that of its segment for a frame without one.
static int64_t time_of(const halcyon_video *video, GstBuffer *buffer) {
    int64_t time = GST_BUFFER_PTS_IS_VALID(buffer) ? (int64_t)GST_BUFFER_PTS(buffer) : (int64_t)video->segment.start;
    if (video->segment.format != GST_FORMAT_TIME) return time;
    return time - (int64_t)video->segment.start + (int64_t)video->segment.time;
}

static int orientation_of(const GstTagList *tags) {
    char *text = NULL;
    if (!gst_tag_list_get_string(tags, GST_TAG_IMAGE_ORIENTATION, &text)) return 0;
    static const struct {
        const char *name;
        int value;
    } names[] = {
        {"rotate-0", 1},      {"rotate-90", 6},      {"rotate-180", 3},      {"rotate-270", 8},
        {"flip-rotate-0", 2}, {"flip-rotate-90", 5}, {"flip-rotate-180", 4}, {"flip-rotate-270", 7},
    };
    int value = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(text, names[i].name) == 0) value = names[i].value;
    }
    g_free(text);
    return value;
}

static GstPadProbeReturn on_caps(halcyon_video *video, GstCaps *caps) {
    const GstStructure *structure = gst_caps_get_structure(caps, 0);
    int width = 0, height = 0;
    gst_structure_get_int(structure, "width", &width);
    gst_structure_get_int(structure, "height", &height);
    pthread_mutex_lock(&video->lock);
    video->pixel_width = video->pixel_height = 1;
    gst_structure_get_fraction(structure, "pixel-aspect-ratio", &video->pixel_width, &video->pixel_height);
    pthread_mutex_unlock(&video->lock);
    return video_admit(video, width, height) ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP;
}

static GstPadProbeReturn on_event(halcyon_video *video, GstPad *pad, GstEvent *event) {
    switch (GST_EVENT_TYPE(event)) {
    case GST_EVENT_CAPS: {
        GstCaps *caps;
        gst_event_parse_caps(event, &caps);
        return on_caps(video, caps);
    }
    case GST_EVENT_SEGMENT:
        pthread_mutex_lock(&video->lock);
        gst_event_copy_segment(event, &video->segment);
        pthread_mutex_unlock(&video->lock);
        break;
    case GST_EVENT_TAG: {
        GstTagList *tags;
        gst_event_parse_tag(event, &tags);
        int orientation = orientation_of(tags);
        pthread_mutex_lock(&video->lock);
        if (orientation != 0) video->orientation = orientation;
        pthread_mutex_unlock(&video->lock);
        break;
    }
    case GST_EVENT_FLUSH_STOP:
        pthread_mutex_lock(&video->lock);
        gst_clear_buffer(&video->held);
        video->has_passed = false;
        video_forget_frame(video);
        pthread_mutex_unlock(&video->lock);
        break;
    case GST_EVENT_EOS: {
        pthread_mutex_lock(&video->lock);
        GstBuffer *last = g_steal_pointer(&video->held);
        if (last != NULL) {
            // The probe is called again, for this frame.
            video->has_passed = true;
            video->buffer_time = time_of(video, last);
        }
        pthread_mutex_unlock(&video->lock);
        if (last != NULL) gst_pad_chain(pad, last);
        break;
    }
    default: break;
    }
    return GST_PAD_PROBE_OK;
}

/// Lets a frame go on to the converter. In the search for an exact one, the frame before the first that is too late.
static GstPadProbeReturn on_frame(halcyon_video *video, GstPadProbeInfo *info) {
    if (video->has_passed) return GST_PAD_PROBE_OK;
    GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER(info);
    int64_t time = time_of(video, buffer);
    if (video->is_exact && time <= video->target) {
        gst_buffer_replace(&video->held, buffer);
        return GST_PAD_PROBE_DROP;
    }
    video->has_passed = true;
    if (video->held != NULL) {
        time = time_of(video, video->held);
        GST_PAD_PROBE_INFO_DATA(info) = g_steal_pointer(&video->held);
        gst_buffer_unref(buffer);
    }
    video->buffer_time = time;
    return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn on_decoded(GstPad *pad, GstPadProbeInfo *info, gpointer context) {
    halcyon_video *video = context;
    if ((info->type & GST_PAD_PROBE_TYPE_BUFFER) == 0) return on_event(video, pad, GST_PAD_PROBE_INFO_EVENT(info));
    if (video_is_refused(video)) return GST_PAD_PROBE_DROP;
    pthread_mutex_lock(&video->lock);
    GstPadProbeReturn result = on_frame(video, info);
    pthread_mutex_unlock(&video->lock);
    return result;
}

/// Keeps the first frame that arrives at the end.
static GstPadProbeReturn on_shown(GstPad *pad, GstPadProbeInfo *info, gpointer context) {
    halcyon_video *video = context;
    pthread_mutex_lock(&video->lock);
    if (video->buffer == NULL) {
        video->buffer = gst_buffer_ref(GST_PAD_PROBE_INFO_BUFFER(info));
        gst_clear_caps(&video->caps);
        video->caps = gst_pad_get_current_caps(pad);
    }
    pthread_mutex_unlock(&video->lock);
    return GST_PAD_PROBE_OK;
}

void video_watch_frames(halcyon_video *video) {
    gst_pad_add_probe(
        video->decoded,
        GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM | GST_PAD_PROBE_TYPE_EVENT_FLUSH, on_decoded,
        video, NULL);
    gst_pad_add_probe(video->shown, GST_PAD_PROBE_TYPE_BUFFER, on_shown, video, NULL);
}
