// The choice of elements for a file, and the checks of sizes in front of each decoder and behind it.
#ifdef HALCYON_VIDEO
#include <string.h>

#include "video_internal.h"

/// The answers to the signal `autoplug-select`; GStreamer has no header for them.
enum { SELECT_TRY = 0, SELECT_SKIP = 2 };

bool video_is_refused(halcyon_video *video) {
    g_mutex_lock(&video->lock);
    bool is_refused = video->is_refused;
    g_mutex_unlock(&video->lock);
    return is_refused;
}

bool video_admit(halcyon_video *video, int64_t width, int64_t height) {
    if (video_is_refused(video)) return false;
    g_mutex_lock(&video->admit_lock);
    atomic_store(&video->admit_start, g_get_monotonic_time());
    bool is_admitted = video->request->admit(video->request->context, width, height);
    int64_t waited = g_get_monotonic_time() - atomic_load(&video->admit_start);
    atomic_fetch_add(&video->admit_total, waited);
    atomic_store(&video->admit_start, 0);
    g_mutex_unlock(&video->admit_lock);
    if (is_admitted) return true;
    g_mutex_lock(&video->lock);
    video->is_refused = true;
    g_mutex_unlock(&video->lock);
    video_wake(video);
    return false;
}

static bool admit_caps(halcyon_video *video, GstCaps *caps) {
    if (caps == NULL || gst_caps_is_empty(caps) || gst_caps_is_any(caps)) return true;
    const GstStructure *structure = gst_caps_get_structure(caps, 0);
    int width, height;
    if (!gst_structure_get_int(structure, "width", &width)) return true;
    if (!gst_structure_get_int(structure, "height", &height)) return true;
    return video_admit(video, width, height);
}

static const char *type_name(GstCaps *caps) {
    if (caps == NULL || gst_caps_is_empty(caps) || gst_caps_is_any(caps)) return "";
    return gst_structure_get_name(gst_caps_get_structure(caps, 0));
}

static int on_select(GstElement *bin, GstPad *pad, GstCaps *caps, GstElementFactory *factory, gpointer context) {
    (void)bin, (void)pad;
    halcyon_video *video = context;
    g_mutex_lock(&video->lock);
    bool has_container = video->has_container;
    bool is_allowed = false;
    switch (video_part_of(factory)) {
    case VIDEO_PART_NONE: break;
    // A container within a container is not a video.
    case VIDEO_PART_CONTAINER:
        is_allowed = !has_container;
        video->has_container = true;
        // Ogg finds places by bisection, often between its key frames.
        video->has_index = strcmp(GST_OBJECT_NAME(factory), "oggdemux") != 0;
        break;
    // A picture on its own is not a video either.
    case VIDEO_PART_PARSER:
    case VIDEO_PART_DECODER: is_allowed = has_container; break;
    }
    g_mutex_unlock(&video->lock);
    return is_allowed && admit_caps(video, caps) ? SELECT_TRY : SELECT_SKIP;
}

/// Sound and text are left as they are, so that nothing decodes them.
static gboolean on_continue(GstElement *bin, GstPad *pad, GstCaps *caps, gpointer context) {
    (void)bin, (void)pad;
    halcyon_video *video = context;
    g_mutex_lock(&video->lock);
    bool has_container = video->has_container;
    g_mutex_unlock(&video->lock);
    // The file itself may be named after its sound.
    if (!has_container) return TRUE;
    static const char *const others[] = {"audio/", "text/", "subpicture/", "closedcaption/", "meta/"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (g_str_has_prefix(type_name(caps), others[i])) return FALSE;
    }
    return TRUE;
}

static void on_unknown_type(GstElement *bin, GstPad *pad, GstCaps *caps, gpointer context) {
    (void)bin, (void)pad;
    halcyon_video *video = context;
    const char *name = type_name(caps);
    g_mutex_lock(&video->lock);
    // The type of a picture counts more than others.
    if (video->unknown[0] == 0 || g_str_has_prefix(name, "video/")) {
        g_strlcpy(video->unknown, name, sizeof video->unknown);
    }
    g_mutex_unlock(&video->lock);
}

static void on_pad_added(GstElement *bin, GstPad *pad, gpointer context) {
    (void)bin;
    halcyon_video *video = context;
    GstCaps *caps = gst_pad_get_current_caps(pad);
    if (caps == NULL) caps = gst_pad_query_caps(pad, NULL);
    // The first of several pictures is the one that is shown.
    if (g_str_has_prefix(type_name(caps), "video/x-raw") && !gst_pad_is_linked(video->decoded)) {
        bool is_linked = gst_pad_link(pad, video->decoded) == GST_PAD_LINK_OK;
        g_mutex_lock(&video->lock);
        video->has_stream = is_linked;
        g_mutex_unlock(&video->lock);
    }
    gst_caps_unref(caps);
}

static void on_no_more_pads(GstElement *bin, gpointer context) {
    (void)bin;
    video_wake(context);
}

/// Looks at all that a decoder is given.
static GstPadProbeReturn on_coded(GstPad *pad, GstPadProbeInfo *info, gpointer context) {
    halcyon_video *video = context;
    if ((info->type & GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM) != 0) {
        GstEvent *event = GST_PAD_PROBE_INFO_EVENT(info);
        if (GST_EVENT_TYPE(event) == GST_EVENT_CAPS) {
            GstCaps *caps;
            gst_event_parse_caps(event, &caps);
            admit_caps(video, caps);
        }
        return GST_PAD_PROBE_OK;
    }
    GstElement *decoder = gst_pad_get_parent_element(pad);
    GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER(info);
    GstMapInfo map;
    int64_t width, height;
    bool is_admitted = !video_is_refused(video);
    if (is_admitted && decoder != NULL && gst_buffer_map(buffer, &map, GST_MAP_READ)) {
        GstElementFactory *factory = gst_element_get_factory(decoder);
        if (factory != NULL && video_coded_size(GST_OBJECT_NAME(factory), map.data, map.size, &width, &height)) {
            is_admitted = video_admit(video, width, height);
        }
        gst_buffer_unmap(buffer, &map);
    }
    if (decoder != NULL) gst_object_unref(decoder);
    return is_admitted ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP;
}

static void on_element_added(GstBin *bin, GstElement *element, gpointer context) {
    (void)bin;
    GstElementFactory *factory = gst_element_get_factory(element);
    if (factory == NULL || video_part_of(factory) != VIDEO_PART_DECODER) return;
    GstPad *pad = gst_element_get_static_pad(element, "sink");
    if (pad == NULL) return;
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, on_coded, context, NULL);
    gst_object_unref(pad);
}

void video_watch_decoding(halcyon_video *video, GstElement *decodebin) {
    g_signal_connect(decodebin, "autoplug-select", G_CALLBACK(on_select), video);
    g_signal_connect(decodebin, "autoplug-continue", G_CALLBACK(on_continue), video);
    g_signal_connect(decodebin, "unknown-type", G_CALLBACK(on_unknown_type), video);
    g_signal_connect(decodebin, "pad-added", G_CALLBACK(on_pad_added), video);
    g_signal_connect(decodebin, "no-more-pads", G_CALLBACK(on_no_more_pads), video);
    g_signal_connect(decodebin, "element-added", G_CALLBACK(on_element_added), video);
}
#endif
