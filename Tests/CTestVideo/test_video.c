#include "test_video.h"

#include <gst/gst.h>

bool test_video_run(const char *pipeline, char *text) {
    GError *error = NULL;
    gst_segtrap_set_enabled(FALSE);
    if (!gst_init_check(NULL, NULL, &error)) {
        g_strlcpy(text, error->message, 256);
        g_clear_error(&error);
        return false;
    }
    GstElement *element = gst_parse_launch(pipeline, &error);
    if (error != NULL || element == NULL) {
        g_strlcpy(text, error != NULL ? error->message : "no pipeline", 256);
        g_clear_error(&error);
        gst_clear_object(&element);
        return false;
    }
    GstBus *bus = gst_element_get_bus(element);
    gst_element_set_state(element, GST_STATE_PLAYING);
    GstMessage *message = gst_bus_timed_pop_filtered(bus, 60 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
    bool has_ended = message != NULL && GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;
    if (message == NULL) {
        g_strlcpy(text, "it takes too long", 256);
    } else if (!has_ended) {
        gst_message_parse_error(message, &error, NULL);
        g_strlcpy(text, error->message, 256);
        g_clear_error(&error);
    }
    if (message != NULL) gst_message_unref(message);
    gst_element_set_state(element, GST_STATE_NULL);
    gst_object_unref(bus);
    gst_object_unref(element);
    return has_ended;
}
