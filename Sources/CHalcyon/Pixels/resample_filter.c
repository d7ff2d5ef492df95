// The weights of the filters.
#include "resample_sink.h"

#include <math.h>
#include <stdlib.h>

static double sinc(double x) {
    if (x == 0) return 1;
    x *= M_PI;
    return sin(x) / x;
}

static double weigh(halcyon_filter filter, double x) {
    x = fabs(x);
    switch (filter) {
    case HALCYON_FILTER_LANCZOS: return x < 3 ? sinc(x) * sinc(x / 3) : 0;
    case HALCYON_FILTER_BILINEAR: return x < 1 ? 1 - x : 0;
    default: return x < 0.5 ? 1 : 0;
    }
}

// Returns the overlap of a source pixel with the span that a result pixel covers: exact area averaging.
static double overlap(int pixel, double from, double to) {
    double left = fmax(from, pixel), right = fmin(to, pixel + 1.0);
    return right > left ? right - left : 0;
}

void halcyon_free_kernel(kernel *k) {
    free(k->items);
    free(k->weights);
    *k = (kernel){0};
}

bool halcyon_make_kernel(kernel *k, int source, double from, double length, int result,
                         halcyon_filter filter) {
    double scale = length / result;
    // A reduction widens the filter so that every source pixel counts; an enlargement does not narrow it.
    double stretch = fmax(scale, 1);
    double support = filter == HALCYON_FILTER_LANCZOS ? 3 * stretch : stretch;
    int most = (int)ceil(support * 2) + 2;
    if (most > source) most = source;
    k->items = calloc((size_t)result, sizeof *k->items);
    k->weights = calloc((size_t)result * (size_t)most, sizeof *k->weights);
    k->longest = 1;
    if (!k->items || !k->weights) {
        halcyon_free_kernel(k);
        return false;
    }
    for (int i = 0; i < result; i++) {
        double centre = from + (i + 0.5) * scale;
        float *weights = k->weights + (size_t)i * (size_t)most;
        int first, last;
        if (filter == HALCYON_FILTER_NEAREST) {
            first = last = (int)floor(centre);
        } else if (filter == HALCYON_FILTER_AREA) {
            first = (int)floor(centre - stretch / 2);
            last = (int)ceil(centre + stretch / 2) - 1;
        } else {
            first = (int)ceil(centre - support - 0.5);
            last = (int)floor(centre + support - 0.5);
        }
        if (first < 0) first = 0;
        if (last > source - 1) last = source - 1;
        if (first > source - 1) first = source - 1;
        if (last < first) last = first;
        if (last - first + 1 > most) last = first + most - 1;
        double sum = 0;
        for (int j = first; j <= last; j++) {
            double w = filter == HALCYON_FILTER_NEAREST ? 1
                       : filter == HALCYON_FILTER_AREA
                           ? overlap(j, centre - stretch / 2, centre + stretch / 2)
                           : weigh(filter, (j + 0.5 - centre) / stretch);
            weights[j - first] = (float)w;
            sum += w;
        }
        if (sum == 0) {
            weights[0] = 1;
            sum = 1;
        }
        for (int j = 0; j <= last - first; j++) weights[j] = (float)(weights[j] / sum);
        k->items[i] = (taps){first, last - first + 1, weights};
        if (k->items[i].count > k->longest) k->longest = k->items[i].count;
    }
    return true;
}
