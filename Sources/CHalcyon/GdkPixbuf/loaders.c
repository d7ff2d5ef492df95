#define _GNU_SOURCE
#include "halcyon_gdk_pixbuf.h"

#include <dlfcn.h>
#include <halcyon_worker.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "../Codecs/codecs_internal.h"
#include "gdk_pixbuf_calls.h"

struct halcyon_loader {
    loader_functions functions;
};

// MARK: - Libraries

static const char *const gdk_pixbuf_names[] = {
    "gdk_pixbuf_get_width", "gdk_pixbuf_get_height", "gdk_pixbuf_get_n_channels", "gdk_pixbuf_get_bits_per_sample",
    "gdk_pixbuf_get_rowstride", "gdk_pixbuf_read_pixels", "g_object_ref", "g_object_unref", "g_error_free",
    "g_log_set_writer_func",
};

static gdk_pixbuf_functions gdk;

static int log_nothing(int level, const void *fields, size_t count, void *user) {
    (void)level, (void)fields, (void)count, (void)user;
    return 1;
}

const char *halcyon_loaders_prepare(void) {
    void *library = dlopen("libgdk_pixbuf-2.0.so.0", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return NULL;
    void *functions[sizeof gdk_pixbuf_names / sizeof gdk_pixbuf_names[0]];
    _Static_assert(sizeof functions == sizeof gdk, "a name for each function");
    for (size_t index = 0; index < sizeof functions / sizeof functions[0]; index++) {
        // Also finds those of the libraries that it depends on.
        functions[index] = dlsym(library, gdk_pixbuf_names[index]);
        if (functions[index] == NULL) return NULL;
    }
    memcpy(&gdk, functions, sizeof gdk);
    // GLib asks the standard error for its other end, which is no call of a decode.
    gdk.set_log(log_nothing, NULL, NULL);
    // Zeros in memory that is allocated, in place of what was there: loaders leave pixels out that a file does not have.
    mallopt(M_PERTURB, 0xFF);
    Dl_info place;
    return dladdr(functions[0], &place) != 0 ? place.dli_fname : NULL;
}

static halcyon_loader *open_loader(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void (*fill)(loader_functions *) = NULL;
    if (library != NULL) *(void **)&fill = dlsym(library, "fill_vtable");
    halcyon_loader *loader = fill != NULL ? calloc(1, sizeof *loader) : NULL;
    if (loader == NULL) return NULL;
    fill(&loader->functions);
    const loader_functions *functions = &loader->functions;
    bool has_steps =
        functions->begin_load != NULL && functions->load_increment != NULL && functions->stop_load != NULL;
    if (functions->load != NULL || has_steps) return loader;
    free(loader);
    return NULL;
}

static bool can_open(const void *path) { return open_loader(path) != NULL; }

halcyon_loader *halcyon_loader_open(const char *path) {
    return halcyon_box_try(can_open, path) ? open_loader(path) : NULL;
}

// MARK: - The file, read as a stream

typedef struct {
    const uint8_t *data;
    size_t size, position;
    halcyon_codec_call *call;
} source_t;

static ssize_t read_source(void *cookie, char *buffer, size_t count) {
    source_t *source = cookie;
    if (halcyon_is_cancelled(source->call)) return -1;
    size_t rest = source->size - source->position;
    if (count > rest) count = rest;
    memcpy(buffer, source->data + source->position, count);
    source->position += count;
    return (ssize_t)count;
}

static int seek_source(void *cookie, off64_t *offset, int origin) {
    source_t *source = cookie;
    off64_t start = origin == SEEK_SET ? 0 : (off64_t)(origin == SEEK_CUR ? source->position : source->size);
    if (*offset < -start || *offset > (off64_t)source->size - start) return -1;
    *offset += start;
    source->position = (size_t)*offset;
    return 0;
}

static loaded_pixbuf *load_at_once(const loader_functions *functions, source_t *source, glib_error **error) {
    FILE *file = fopencookie(source, "r", (cookie_io_functions_t){.read = read_source, .seek = seek_source});
    if (file == NULL) return NULL;
    loaded_pixbuf *pixbuf = functions->load(file, error);
    fclose(file);
    return pixbuf;
}

// MARK: - The file, piece by piece

#define PIECE 65536
/// The loader of TGA decodes the last run only if something follows it.
#define BYTES_BEHIND 256

typedef struct {
    int width, height;
    bool has_other_size;
    loaded_pixbuf *pixbuf;
} steps_t;

/// Zero sides make a loader give up.
static void check_size(int *width, int *height, void *user) {
    steps_t *steps = user;
    if (*width == steps->width && *height == steps->height) return;
    steps->has_other_size = true;
    *width = *height = 0;
}

static void keep_pixbuf(loaded_pixbuf *pixbuf, void *animation, void *user) {
    (void)animation;
    steps_t *steps = user;
    // The first frame counts.
    if (steps->pixbuf == NULL && pixbuf != NULL) steps->pixbuf = gdk.keep(pixbuf);
}

static void ignore_update(loaded_pixbuf *pixbuf, int x, int y, int width, int height, void *user) {
    (void)pixbuf, (void)x, (void)y, (void)width, (void)height, (void)user;
}

static loaded_pixbuf *load_in_steps(const loader_functions *functions, source_t *source, steps_t *steps,
                                    glib_error **error) {
    static const uint8_t zeros[BYTES_BEHIND];
    void *context = functions->begin_load(check_size, keep_pixbuf, ignore_update, steps, error);
    if (context == NULL) return NULL;
    bool goes_on = true;
    while (goes_on && source->position < source->size && !halcyon_is_cancelled(source->call)) {
        size_t rest = source->size - source->position, count = rest < PIECE ? rest : PIECE;
        goes_on = functions->load_increment(context, source->data + source->position, (unsigned)count, error) != 0;
        source->position += count;
    }
    if (goes_on) goes_on = functions->load_increment(context, zeros, sizeof zeros, error) != 0;
    // Called after a failure too: it frees the context. It may not report over the first error.
    glib_error *last = NULL;
    goes_on = functions->stop_load(context, *error == NULL ? error : &last) != 0 && goes_on;
    if (last != NULL) gdk.free_error(last);
    if (goes_on && !steps->has_other_size) return steps->pixbuf;
    if (steps->pixbuf != NULL) gdk.drop(steps->pixbuf);
    return NULL;
}

// MARK: - The pixels

static halcyon_codec_status copy_pixels(const loaded_pixbuf *pixbuf, bool has_alpha, halcyon_codec_bitmap bitmap,
                                        halcyon_codec_call *call) {
    int channels = gdk.channels(pixbuf);
    if (gdk.width(pixbuf) != bitmap.width || gdk.height(pixbuf) != bitmap.height || gdk.bits(pixbuf) != 8 ||
        (channels != 3 && channels != 4)) {
        halcyon_set_message(call, "the loader made another image than its header says");
        return HALCYON_CODEC_DAMAGED;
    }
    const uint8_t *pixels = gdk.pixels(pixbuf);
    size_t width = (size_t)bitmap.width, row_bytes = (size_t)gdk.row_bytes(pixbuf);
    for (size_t y = 0; y < (size_t)bitmap.height; y++) {
        const uint8_t *from = pixels + y * row_bytes;
        uint8_t *row = bitmap.pixels + y * width * 4;
        for (size_t x = 0; x < width; x++, from += channels) {
            uint8_t bgra[4] = {from[2], from[1], from[0], channels == 4 ? from[3] : 255};
            memcpy(row + 4 * x, bgra, 4);
        }
        if (!has_alpha) {
            halcyon_make_opaque(row, width);
        } else if (channels == 4) {
            halcyon_premultiply(row, width);
        }
    }
    return HALCYON_CODEC_OK;
}

halcyon_codec_status halcyon_loader_decode(const halcyon_loader *loader, const uint8_t *data, size_t size, bool has_alpha,
                                           halcyon_codec_bitmap bitmap, halcyon_codec_call *call) {
    source_t source = {.data = data, .size = size, .call = call};
    steps_t steps = {.width = bitmap.width, .height = bitmap.height};
    glib_error *error = NULL;
    loaded_pixbuf *pixbuf = loader->functions.load != NULL
                                ? load_at_once(&loader->functions, &source, &error)
                                : load_in_steps(&loader->functions, &source, &steps, &error);
    halcyon_codec_status status = HALCYON_CODEC_DAMAGED;
    if (halcyon_is_cancelled(call)) {
        status = HALCYON_CODEC_CANCELLED;
    } else if (pixbuf != NULL) {
        status = copy_pixels(pixbuf, has_alpha, bitmap, call);
    } else {
        halcyon_set_message(call, steps.has_other_size ? "the loader reads another size from its header"
                                  : error != NULL      ? error->message
                                                       : "the loader made no image");
    }
    if (error != NULL) gdk.free_error(error);
    if (pixbuf != NULL) gdk.drop(pixbuf);
    return status;
}
