// The choice of elements for a file, and the checks of sizes in front of each decoder and behind it.
#include <string.h>

#include "video_internal.h"

bool video_is_refused(halcyon_video *video) {
    pthread_mutex_lock(&video->lock);
    bool is_refused = video->is_refused;
    pthread_mutex_unlock(&video->lock);
    return is_refused;
}

bool video_admit(halcyon_video *video, int64_t width, int64_t height) {
    if (video_is_refused(video)) return false;
    pthread_mutex_lock(&video->admit_lock);
    atomic_store(&video->admit_start, g_get_monotonic_time());
    bool is_admitted = video->request->admit(video->request->context, width, height);
    int64_t waited = g_get_monotonic_time() - atomic_load(&video->admit_start);
    atomic_fetch_add(&video->admit_total, waited);
    atomic_store(&video->admit_start, 0);
    pthread_mutex_unlock(&video->admit_lock);
    if (is_admitted) return true;
    pthread_mutex_lock(&video->lock);
    video->is_refused = true;
    pthread_mutex_unlock(&video->lock);
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

// MARK: The choice of elements

static void set_unknown(halcyon_video *video, const char *name) {
    pthread_mutex_lock(&video->lock);
    g_strlcpy(video->unknown, name, sizeof video->unknown);
    pthread_mutex_unlock(&video->lock);
}

/// Returns the type of a picture whatever way its data is cut and framed, which a parser changes.
static GstCaps *unframed(GstCaps *caps) {
    GstCaps *copy = gst_caps_copy(caps);
    for (guint i = 0; i < gst_caps_get_size(copy); i++) {
        gst_structure_remove_fields(gst_caps_get_structure(copy, i), "stream-format", "alignment", "parsed", NULL);
    }
    return copy;
}

static void watch_coded(halcyon_video *video, GstElement *decoder) {
    GstPad *pad = gst_element_get_static_pad(decoder, "sink");
    GstPadProbeType kinds = GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM;
    gst_pad_add_probe(pad, kinds, on_coded, video, NULL);
    gst_object_unref(pad);
}

/// Connects a picture with the converter, by a decoder and perhaps a parser. Returns false if there is none.
static bool connect_coded(halcyon_video *video, GstPad *pad, GstCaps *caps) {
    GstElement *parser = video_make_part(VIDEO_PART_PARSER, caps);
    GstCaps *type = parser != NULL ? unframed(caps) : gst_caps_ref(caps);
    GstElement *decoder = video_make_part(VIDEO_PART_DECODER, type);
    gst_caps_unref(type);
    if (decoder == NULL) {
        if (parser != NULL) gst_object_unref(gst_object_ref_sink(parser));
        return false;
    }
    watch_coded(video, decoder);
    gst_bin_add(GST_BIN(video->pipeline), decoder);
    if (parser != NULL) gst_bin_add(GST_BIN(video->pipeline), parser);
    GstElement *first = parser != NULL ? parser : decoder;
    GstPad *source = gst_element_get_static_pad(decoder, "src"), *sink = gst_element_get_static_pad(first, "sink");
    bool is_linked = gst_pad_link(source, video->decoded) == GST_PAD_LINK_OK;
    if (parser != NULL) is_linked = is_linked && gst_element_link(parser, decoder);
    gst_element_sync_state_with_parent(decoder);
    if (parser != NULL) gst_element_sync_state_with_parent(parser);
    is_linked = is_linked && gst_pad_link(pad, sink) == GST_PAD_LINK_OK;
    gst_object_unref(source);
    gst_object_unref(sink);
    return is_linked;
}

/// Takes the first picture for which there is a decoder. Sound and text are connected to nothing.
static void on_pad_added(GstElement *container, GstPad *pad, gpointer context) {
    (void)container;
    halcyon_video *video = context;
    GstCaps *caps = gst_pad_get_current_caps(pad);
    if (caps == NULL) caps = gst_pad_query_caps(pad, NULL);
    const char *name = type_name(caps);
    bool is_picture = g_str_has_prefix(name, "video/") || g_str_has_prefix(name, "image/");
    if (is_picture && !gst_pad_is_linked(video->decoded) && admit_caps(video, caps)) {
        pthread_mutex_lock(&video->build_lock);
        bool is_linked = false;
        if (video->is_ending) {
            // Nothing is added any more.
        } else if (strcmp(name, "video/x-raw") == 0) {
            is_linked = gst_pad_link(pad, video->decoded) == GST_PAD_LINK_OK;
        } else {
            is_linked = connect_coded(video, pad, caps);
        }
        pthread_mutex_unlock(&video->build_lock);
        set_unknown(video, is_linked ? "" : name);
        pthread_mutex_lock(&video->lock);
        video->has_stream = is_linked;
        pthread_mutex_unlock(&video->lock);
    }
    gst_caps_unref(caps);
}

static void on_no_more_pads(GstElement *container, gpointer context) {
    (void)container;
    video_wake(context);
}

/// Answers that the file is read from its beginning on, with seeks, and not at any place.
static GstPadProbeReturn on_scheduling(GstPad *pad, GstPadProbeInfo *info, gpointer context) {
    (void)pad, (void)context;
    GstQuery *query = GST_PAD_PROBE_INFO_QUERY(info);
    if (GST_QUERY_TYPE(query) != GST_QUERY_SCHEDULING) return GST_PAD_PROBE_OK;
    gst_query_set_scheduling(query, GST_SCHEDULING_FLAG_SEEKABLE, 1, -1, 0);
    gst_query_add_scheduling_mode(query, GST_PAD_MODE_PUSH);
    return GST_PAD_PROBE_HANDLED;
}

/// Keeps Matroska's demuxer from searching a damaged file without an index in the thread that seeks, which may never end.
static void refuse_searches(GstElement *container) {
    GstPad *pad = gst_element_get_static_pad(container, "sink");
    GstPadProbeType kinds = GST_PAD_PROBE_TYPE_QUERY_UPSTREAM | GST_PAD_PROBE_TYPE_PUSH;
    gst_pad_add_probe(pad, kinds, on_scheduling, NULL, NULL);
    gst_object_unref(pad);
}

static void on_have_type(GstElement *typefind, guint probability, GstCaps *caps, gpointer context) {
    (void)probability;
    halcyon_video *video = context;
    pthread_mutex_lock(&video->build_lock);
    GstElement *container = video->is_ending ? NULL : video_make_part(VIDEO_PART_CONTAINER, caps);
    if (container != NULL) {
        pthread_mutex_lock(&video->lock);
        video->has_container = true;
        // Ogg finds places by bisection, often between its key frames.
        video->has_index = !g_str_has_suffix(type_name(caps), "/ogg");
        video->is_matroska =
            g_str_has_suffix(type_name(caps), "/x-matroska") || g_str_has_suffix(type_name(caps), "/webm");
        bool is_matroska = video->is_matroska;
        pthread_mutex_unlock(&video->lock);
        if (is_matroska) refuse_searches(container);
        g_signal_connect(container, "pad-added", G_CALLBACK(on_pad_added), video);
        g_signal_connect(container, "no-more-pads", G_CALLBACK(on_no_more_pads), video);
        // Started here alone: a container that is started waits for this call to end, if another thread starts it.
        gst_element_set_locked_state(container, TRUE);
        gst_bin_add(GST_BIN(video->pipeline), container);
        video->container = container;
        gst_element_link_pads(typefind, "src", container, "sink");
        gst_element_set_state(container, GST_STATE_PAUSED);
    } else {
        set_unknown(video, type_name(caps));
        video_wake(video);
    }
    pthread_mutex_unlock(&video->build_lock);
}

void video_watch_decoding(halcyon_video *video, GstElement *typefind) {
    g_signal_connect(typefind, "have-type", G_CALLBACK(on_have_type), video);
}
