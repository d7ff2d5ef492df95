"""How near each idiom's result comes to the exact one, which is computed in floating point here."""

import math

import numpy as np
from PIL import Image

from idioms import DEGREES, MATRIX, RADIUS
from picture import premultiplied_bgra

# Pixels at each edge that do not count where libraries differ in what they take to lie outside.
MARGIN = 4


def planes(picture):
    """The picture as floating point, blue first; the comparison is of opaque pictures."""
    return picture.opencv.astype(np.float32)


def resized(picture):
    pixels = planes(picture)
    return np.stack([
        np.asarray(Image.fromarray(pixels[..., channel]).resize(picture.target, Image.Resampling.LANCZOS))
        for channel in range(4)
    ], axis=-1)


def blurred(picture, sigma):
    """By the Gaussian itself, to five standard deviations."""
    reach = 5 * sigma
    weights = np.exp(-np.arange(-reach, reach + 1) ** 2 / (2 * sigma * sigma))
    weights /= weights.sum()
    result = planes(picture)
    for axis in (0, 1):
        padding = [(0, 0)] * 3
        padding[axis] = reach, reach
        padded = np.pad(result, padding, mode="edge")
        length = result.shape[axis]
        result = sum(
            weight * padded.take(range(start, start + length), axis=axis) for start, weight in enumerate(weights))
    return result


def mixed(picture):
    pixels = planes(picture)
    red, green, blue = (pixels[..., channel] for channel in (2, 1, 0))
    rows = [row[0] * red + row[1] * green + row[2] * blue + row[3] for row in MATRIX]
    return np.stack([*rows[::-1], pixels[..., 3]], axis=-1)


def rounded(picture):
    """Every pixel at an edge by 32x32 samples."""
    coverage = np.ones(picture.size[::-1], np.float32)
    places = (np.arange(RADIUS * 32) + 0.5) / 32 - RADIUS
    inside = (places ** 2 + places[:, None] ** 2 <= RADIUS ** 2).astype(np.float32)
    corner = inside.reshape(RADIUS, 32, RADIUS, 32).mean(axis=(1, 3))
    coverage[:RADIUS, :RADIUS] = corner
    coverage[:RADIUS, -RADIUS:] = corner[:, ::-1]
    coverage[-RADIUS:, :RADIUS] = corner[::-1]
    coverage[-RADIUS:, -RADIUS:] = corner[::-1, ::-1]
    return planes(picture) * coverage[..., None]


def rotated(picture, size, shift, part=(slice(None), slice(None))):
    """Part of it bilinear, the centre on the centre of a canvas of `size` pixels, moved by `shift`; clear outside."""
    (width, height), angle = picture.size, math.radians(DEGREES)
    x = np.arange(size[0])[part[1]] - (size[0] - 1) / 2 + shift[0]
    y = (np.arange(size[1])[part[0]] - (size[1] - 1) / 2 + shift[1])[:, None]
    # One pixel around it is transparent.
    from_x = np.clip(x * math.cos(angle) + y * math.sin(angle) + (width - 1) / 2, -1, width) + 1
    from_y = np.clip(y * math.cos(angle) - x * math.sin(angle) + (height - 1) / 2, -1, height) + 1
    pixels = np.pad(planes(picture), ((1, 2), (1, 2), (0, 0)))
    left, top = from_x.astype(int), from_y.astype(int)
    across, down = (from_x - left)[..., None], (from_y - top)[..., None]
    upper = pixels[top, left] * (1 - across) + pixels[top, left + 1] * across
    lower = pixels[top + 1, left] * (1 - across) + pixels[top + 1, left + 1] * across
    return upper * (1 - down) + lower * down


def psnr(pixels, reference):
    error = np.mean((pixels.astype(np.float64) - np.clip(reference, 0, 255)) ** 2)
    return 99.0 if error == 0 else float(10 * np.log10(255 ** 2 / error))


def interior(pixels, margin):
    return pixels[margin:-margin, margin:-margin]


def rotation_likeness(picture, pixels):
    """Of the best place: where the centre comes to lie in a canvas of whole pixels is each library's own choice."""
    size = pixels.shape[1], pixels.shape[0]
    patch = (slice(size[1] // 2, size[1] // 2 + 160), slice(size[0] // 2, size[0] // 2 + 160))
    centre = 0.0, 0.0
    for step in (0.5, 0.25, 0.125, 0.0625, 0.03125):
        places = [(centre[0] + x * step, centre[1] + y * step) for x in (-2, -1, 0, 1, 2) for y in (-2, -1, 0, 1, 2)]
        centre = max(places, key=lambda place: psnr(pixels[patch], rotated(picture, size, place, patch)))
    reference = rotated(picture, size, centre)
    middle = (slice(size[1] // 4, -size[1] // 4), slice(size[0] // 4, -size[0] // 4))
    return psnr(pixels[middle], reference[middle]), psnr(pixels, reference), centre


EXACT = {
    "resize": resized,
    "blur5": lambda picture: blurred(picture, 5),
    "blur20": lambda picture: blurred(picture, 20),
    "matrix": mixed,
    "round": rounded,
}


def check(selection, operations):
    """Prints the size of every result, and the likeness for the small picture."""
    print("| operation | picture | idiom | size | dB | |")
    print("| --- | --- | --- | --- | ---: | --- |")
    for name, picture, chosen in selection:
        for operation in chosen:
            results = {idiom.name: premultiplied_bgra(idiom.run(picture)) for idiom in operations[operation]}
            reference = None
            if picture.size[0] < 2000 and operation != "rotate":
                reference = EXACT[operation](picture)
            for idiom, pixels in results.items():
                size = "%dx%d" % (pixels.shape[1], pixels.shape[0])
                figures = described(operation, picture, pixels, reference)
                print(f"| {operation} | {name} | {idiom} | {size} | {figures} |")


def described(operation, picture, pixels, reference):
    """The likeness, and in words what else is known of it."""
    if operation == "rotate" and picture.size[0] < 2000:
        inside, whole, place = rotation_likeness(picture, pixels)
        return "%.1f | with edges: %.1f dB; centre moved by %.3f, %.3f" % (inside, whole, *place)
    if reference is None:
        return " | "
    whole = psnr(pixels, reference)
    if operation == "round":
        corner = slice(0, RADIUS), slice(0, RADIUS)
        return "%.1f | in a corner: %.1f dB" % (whole, psnr(pixels[corner], reference[corner]))
    return "%.1f | with edges: %.1f dB" % (psnr(interior(pixels, MARGIN), interior(reference, MARGIN)), whole)
