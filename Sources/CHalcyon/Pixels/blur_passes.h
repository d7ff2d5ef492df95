// The passes of a blur. `blur.c` includes this file once for each kind of processor, with `FOR` to name its
// functions, `TARGET` to compile them, and `HIGH` for the upper 16 bits of products.

// MARK: Across

TARGET static inline void FOR(pass_across)(const half16 *in, half16 *out, long count, box b) {
    long span = 2 * b.reach;
    const half16 part = (half16){0} + b.part, inverse = (half16){0} + b.inverse;
    half16 sum = (half16){0} + b.half;
    for (long i = 1; i < span; i++) sum += in[i];
    for (long i = 0; i < count; i++) {
        half16 last = in[i + span];
        half16 all = sum + HIGH(in[i] + last, part);
        out[i] = HIGH(all, inverse);
        sum += last - in[i + 1];
    }
}

TARGET static inline void FOR(widen_rows)(const uint8_t *const rows[4], half16 *samples, long width, int bits) {
    for (long x = 0; x < width; x++) {
        byte16 bytes;
        for (int i = 0; i < 4; i++) memcpy((uint8_t *)&bytes + 4 * i, rows[i] + x * 4, 4);
        samples[x] = __builtin_convertvector(bytes, half16) << bits;
    }
}

TARGET static inline void FOR(narrow_rows)(const half16 *samples, uint8_t *const rows[4], long width, int bits) {
    const half16 half = (half16){0} + (uint16_t)((1 << bits) >> 1);
    for (long x = 0; x < width; x++) {
        byte16 bytes = __builtin_convertvector((samples[x] + half) >> bits, byte16);
        for (int i = 0; i < 4; i++) memcpy(rows[i] + x * 4, (uint8_t *)&bytes + 4 * i, 4);
    }
}

TARGET static void FOR(across)(const uint8_t *const from[4], uint8_t *const to[4], long width, half16 *samples, half16 *others,
                        const boxes *b) {
    long reach = b->pass[0].reach, pad = 3 * reach;
    int bits = b->pass[0].bits;
    FOR(widen_rows)(from, samples + pad, width, bits);
    for (long x = 0; x < pad; x++) {
        samples[x] = samples[pad];
        samples[pad + width + x] = samples[pad + width - 1];
    }
    FOR(pass_across)(samples, others, width + 4 * reach, b->pass[0]);
    FOR(pass_across)(others, samples, width + 2 * reach, b->pass[1]);
    FOR(pass_across)(samples, others, width, b->pass[2]);
    FOR(narrow_rows)(others, to, width, bits);
}

// MARK: Down

// Returns the slot of the next row.
TARGET static inline half16 *FOR(slot)(const stage *s, long lanes, long reach) {
    return s->rows + (s->taken % (2 * reach + 1)) * lanes;
}

// Consumes the row in the slot. Returns whether a row of the result is complete.
TARGET static inline bool FOR(pass_down)(stage *s, half16 *out, long lanes, box b) {
    long span = 2 * b.reach, rows = span + 1, j = s->taken++;
    const half16 *last = s->rows + (j % rows) * lanes;
    if (j < span) {
        // The first row is at the edge of the box already.
        for (long i = 0; i < lanes; i++) s->sums[i] = j == 0 ? (half16){0} + b.half : s->sums[i] + last[i];
        return false;
    }
    const half16 *first = s->rows + ((j - span) % rows) * lanes, *leaving = s->rows + ((j - span + 1) % rows) * lanes;
    const half16 part = (half16){0} + b.part, inverse = (half16){0} + b.inverse;
    for (long i = 0; i < lanes; i++) {
        half16 sum = s->sums[i];
        half16 all = sum + HIGH(first[i] + last[i], part);
        out[i] = HIGH(all, inverse);
        s->sums[i] = sum + last[i] - leaving[i];
    }
    return true;
}

TARGET static inline void FOR(widen)(const uint8_t *in, half16 *row, long width, int bits) {
    long whole = width / 4;
    for (long x = 0; x < whole; x++) {
        byte16 bytes;
        memcpy(&bytes, in + x * 16, 16);
        row[x] = __builtin_convertvector(bytes, half16) << bits;
    }
    if (width & 3) {
        byte16 bytes = {0};
        memcpy(&bytes, in + whole * 16, (size_t)(width & 3) * 4);
        row[whole] = __builtin_convertvector(bytes, half16) << bits;
    }
}

TARGET static inline void FOR(narrow)(const half16 *row, uint8_t *out, long width, int bits) {
    const half16 half = (half16){0} + (uint16_t)((1 << bits) >> 1);
    long whole = width / 4;
    for (long x = 0; x < whole; x++) {
        byte16 bytes = __builtin_convertvector((row[x] + half) >> bits, byte16);
        memcpy(out + x * 16, &bytes, 16);
    }
    if (width & 3) {
        byte16 bytes = __builtin_convertvector((row[whole] + half) >> bits, byte16);
        memcpy(out + whole * 16, &bytes, (size_t)(width & 3) * 4);
    }
}

// Works in place: each row is read before a row of the result is written over it.
TARGET static void FOR(down)(uint8_t *pixels, long stride, long width, long height, strip s, const boxes *b) {
    long reach = b->pass[0].reach, lanes = (width + 3) / 4, done = 0;
    int bits = b->pass[0].bits;
    half16 *sums = s.memory + 3 * s.ring, *outgoing = sums + 3 * lanes;
    stage stages[3];
    for (int i = 0; i < 3; i++) stages[i] = (stage){s.memory + (size_t)i * s.ring, sums + i * lanes, 0};
    // The last row is read before it is overwritten, and is repeated beyond the edge.
    half16 *edge = outgoing + lanes;
    FOR(widen)(pixels + (height - 1) * stride, edge, width, bits);
    for (long y = -3 * reach; done < height; y++) {
        // The distance between rows is too large for the processor to prefetch them itself.
        if (y + 24 < height) {
            const uint8_t *ahead = pixels + (y + 24 < 0 ? 0 : y + 24) * stride;
            for (long x = 0; x < width * 4; x += 64) __builtin_prefetch(ahead + x, 1);
        }
        half16 *incoming = FOR(slot)(&stages[0], lanes, reach);
        if (y < height) {
            FOR(widen)(pixels + (y < 0 ? 0 : y) * stride, incoming, width, bits);
        } else {
            memcpy(incoming, edge, (size_t)lanes * sizeof *edge);
        }
        if (!FOR(pass_down)(&stages[0], FOR(slot)(&stages[1], lanes, reach), lanes, b->pass[0])) continue;
        if (!FOR(pass_down)(&stages[1], FOR(slot)(&stages[2], lanes, reach), lanes, b->pass[1])) continue;
        if (!FOR(pass_down)(&stages[2], outgoing, lanes, b->pass[2])) continue;
        FOR(narrow)(outgoing, pixels + done++ * stride, width, bits);
    }
}

#undef FOR
#undef TARGET
#undef HIGH
