// The elements that may be used. GStreamer has others for the same content, and for playlists, network streams, subtitles and
// drawings: those open other files and connections.
#include <string.h>

#include "video_internal.h"

static const char *const containers[] = {
    "matroskademux", "qtdemux", "avidemux", "oggdemux", "flvdemux", "tsdemux", "mpegpsdemux", "asfdemux", NULL,
};

static const char *const parsers[] = {
    "h264parse", "h265parse", "av1parse", "vp9parse", "mpegvideoparse", "mpeg4videoparse", "h263parse", "vc1parse",
    "jpegparse", NULL,
};

/// Decoders that compute on the processor, those of a codec's own library first: drivers are not for files of unknown origin.
static const char *const decoders[] = {
    "vp8dec", "vp9dec", "theoradec", "jpegdec", "av1dec", "dav1ddec", "openh264dec", "libde265dec", "avdec_av1",
    "avdec_cinepak", "avdec_dnxhd", "avdec_flv", "avdec_h263", "avdec_h263p", "avdec_h264", "avdec_h265", "avdec_mjpeg",
    "avdec_mpeg2video", "avdec_mpeg4", "avdec_mpegvideo", "avdec_msmpeg4", "avdec_msmpeg4v1", "avdec_msmpeg4v2",
    "avdec_prores", "avdec_svq1", "avdec_svq3", "avdec_theora", "avdec_vc1", "avdec_vp6", "avdec_vp6f", "avdec_vp8",
    "avdec_vp9", "avdec_wmv1", "avdec_wmv2", "avdec_wmv3", NULL,
};

GstElement *video_make_part(video_part part, GstCaps *caps) {
    const char *const *names = part == VIDEO_PART_CONTAINER ? containers : part == VIDEO_PART_PARSER ? parsers : decoders;
    for (; *names != NULL; names++) {
        GstElementFactory *factory = gst_element_factory_find(*names);
        if (factory == NULL) continue;
        // Those below are not to be chosen by their type, says GStreamer.
        bool fits = gst_plugin_feature_get_rank(GST_PLUGIN_FEATURE(factory)) >= GST_RANK_MARGINAL &&
                    gst_element_factory_can_sink_any_caps(factory, caps);
        GstElement *element = fits ? gst_element_factory_create(factory, NULL) : NULL;
        gst_object_unref(factory);
        if (element != NULL) return element;
    }
    return NULL;
}

// MARK: Sizes of coded frames

/// A reader of bits, from the highest of each byte on; zeros behind the end.
typedef struct bits {
    const uint8_t *bytes;
    size_t count, position;
} bits;

static uint32_t take(bits *bits, int count) {
    uint32_t value = 0;
    for (int i = 0; i < count; i++, bits->position++) {
        size_t byte = bits->position / 8;
        uint32_t bit = byte < bits->count ? bits->bytes[byte] >> (7 - bits->position % 8) & 1 : 0;
        value = value << 1 | bit;
    }
    return value;
}

static bool vp8_size(const uint8_t *bytes, size_t count, int64_t *width, int64_t *height) {
    // The lowest bit is set where a frame depends on others.
    if (count < 10 || (bytes[0] & 1) != 0) return false;
    *width = (bytes[6] | bytes[7] << 8) & 0x3FFF;
    *height = (bytes[8] | bytes[9] << 8) & 0x3FFF;
    return true;
}

static bool vp9_size(const uint8_t *bytes, size_t count, int64_t *width, int64_t *height) {
    bits in = {bytes, count, 0};
    take(&in, 2);
    uint32_t profile = take(&in, 1);
    profile |= take(&in, 1) << 1;
    if (profile == 3) take(&in, 1);
    bool shows_existing = take(&in, 1) != 0;
    bool depends = take(&in, 1) != 0;
    if (shows_existing || depends) return false;
    take(&in, 2);
    // The mark of a key frame.
    if (take(&in, 24) != 0x498342) return false;
    if (profile >= 2) take(&in, 1);
    bool is_rgb = take(&in, 3) == 7;
    if (is_rgb) {
        if ((profile & 1) != 0) take(&in, 1);
    } else {
        take(&in, (profile & 1) != 0 ? 4 : 1);
    }
    *width = (int64_t)take(&in, 16) + 1;
    *height = (int64_t)take(&in, 16) + 1;
    return true;
}

static bool jpeg_size(const uint8_t *bytes, size_t count, int64_t *width, int64_t *height) {
    size_t at = 2;
    while (at + 9 < count) {
        if (bytes[at] != 0xFF) {
            at += 1;
            continue;
        }
        uint8_t marker = bytes[at + 1];
        bool is_frame = marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
        if (is_frame) {
            *height = bytes[at + 5] << 8 | bytes[at + 6];
            *width = bytes[at + 7] << 8 | bytes[at + 8];
            return true;
        }
        // Markers without a length, and fill bytes.
        if (marker == 0xFF) {
            at += 1;
        } else if (marker <= 0x01 || (marker >= 0xD0 && marker <= 0xD9)) {
            at += 2;
        } else {
            at += 2 + (size_t)(bytes[at + 2] << 8 | bytes[at + 3]);
        }
    }
    return false;
}

bool video_coded_size(const char *decoder, const uint8_t *bytes, size_t count, int64_t *width, int64_t *height) {
    if (strcmp(decoder, "vp8dec") == 0 || strcmp(decoder, "avdec_vp8") == 0) return vp8_size(bytes, count, width, height);
    if (strcmp(decoder, "vp9dec") == 0 || strcmp(decoder, "avdec_vp9") == 0) return vp9_size(bytes, count, width, height);
    if (strcmp(decoder, "jpegdec") == 0 || strcmp(decoder, "avdec_mjpeg") == 0) {
        return jpeg_size(bytes, count, width, height);
    }
    return false;
}
