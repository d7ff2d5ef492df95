"""How the users of Pillow, libvips and OpenCV do what Halcyon's processors do.

An idiom takes a picture to a result that is there in memory. `is_alike` says whether it does the same work as Halcyon;
what does less, and is quicker for it, is listed beside the others but is nothing to be compared with.
"""

import dataclasses
import math
import typing

import cv2
import numpy as np
import pyvips
from PIL import Image, ImageChops, ImageDraw, ImageFilter

DEGREES = 30
RADIUS = 40
# Rows for red, green and blue: what they take of red, green and blue, and what is added. A sepia with an offset.
MATRIX = ((0.393, 0.769, 0.189, 6), (0.349, 0.686, 0.168, 3), (0.272, 0.534, 0.131, -4))


@dataclasses.dataclass(frozen=True)
class Idiom:
    name: str
    run: typing.Callable
    note: str
    is_alike: bool = True


# Resizing

def pillow_resize(picture):
    return picture.pillow.resize(picture.target, Image.Resampling.LANCZOS)


def pillow_resize_premultiplied(picture):
    return picture.pillow_premultiplied.resize(picture.target, Image.Resampling.LANCZOS)


def pillow_resize_gap(picture):
    return picture.pillow_premultiplied.resize(picture.target, Image.Resampling.LANCZOS, reducing_gap=2.0)


def vips_resize(picture, **options):
    (width, height), (to_width, to_height) = picture.size, picture.target
    return picture.vips.resize(
        to_width / width, vscale=to_height / height, kernel="lanczos3", **options).copy_memory()


def vips_thumbnail(picture):
    width, height = picture.target
    return picture.vips.thumbnail_image(width, height=height, size="force").copy_memory()


def opencv_resize(interpolation):
    return lambda picture: cv2.resize(picture.opencv, picture.target, interpolation=interpolation)


# Blurring

def pillow_blur(sigma):
    return lambda picture: picture.pillow.filter(ImageFilter.GaussianBlur(sigma))


def vips_blur(sigma, **options):
    return lambda picture: picture.vips.gaussblur(sigma, **options).copy_memory()


def opencv_blur(sigma, hint):
    return lambda picture: cv2.GaussianBlur(
        picture.opencv, (0, 0), sigma, borderType=cv2.BORDER_REPLICATE, hint=hint)


def opencv_boxes(sigma):
    """Three boxes with the Gaussian's variance, as near as odd sides come."""
    ideal = math.sqrt(12 * sigma * sigma / 3 + 1)
    low = int(ideal) - (int(ideal) % 2 == 0)
    count = round((12 * sigma * sigma - 3 * low * low - 12 * low - 9) / (-4 * low - 4))
    sides = [low if number < count else low + 2 for number in range(3)]

    def run(picture):
        result = picture.opencv
        for side in sides:
            result = cv2.blur(result, (side, side), borderType=cv2.BORDER_REPLICATE)
        return result
    return run


def opencv_reduced(sigma, factor):
    """On a picture that is so many times smaller, which must not show: both scalings blur too, and that is left out."""
    rest = math.sqrt(sigma * sigma - (factor * factor - 1) / 12 - factor * factor / 6) / factor

    def run(picture):
        width, height = picture.size
        small = cv2.resize(picture.opencv, (width // factor, height // factor), interpolation=cv2.INTER_AREA)
        small = cv2.GaussianBlur(small, (0, 0), rest, borderType=cv2.BORDER_REPLICATE)
        return cv2.resize(small, picture.size, interpolation=cv2.INTER_LINEAR)
    return run


def blurs(sigma, factor):
    return [
        Idiom("pillow", pillow_blur(sigma), f"filter(GaussianBlur({sigma})), three extended boxes"),
        Idiom("vips", vips_blur(sigma), f"gaussblur({sigma}), integers, mask cut at a fifth of its peak"),
        Idiom("vips min_ampl", vips_blur(sigma, min_ampl=0.01), "gaussblur with min_ampl=0.01, a mask cut at 3 sigma"),
        Idiom("vips boxes", vips_blur(sigma, precision="approximate"), "gaussblur with precision=approximate"),
        Idiom("opencv", opencv_blur(sigma, cv2.ALGO_HINT_ACCURATE), f"GaussianBlur, sigma {sigma}, cut at 3 sigma"),
        Idiom("opencv hint", opencv_blur(sigma, cv2.ALGO_HINT_APPROX), "GaussianBlur with ALGO_HINT_APPROX"),
        Idiom("opencv boxes", opencv_boxes(sigma), "blur three times, boxes of the same variance"),
        Idiom("opencv reduced", opencv_reduced(sigma, factor),
              f"resize to 1/{factor}, GaussianBlur there, resize back", is_alike=False),
    ]


# Rotating, clockwise

def pillow_rotate(picture):
    return picture.pillow.rotate(-DEGREES, Image.Resampling.BILINEAR, expand=True)


def pillow_rotate_premultiplied(picture):
    return picture.pillow_premultiplied.rotate(-DEGREES, Image.Resampling.BILINEAR, expand=True)


def vips_rotate(picture):
    return picture.vips.rotate(DEGREES).copy_memory()


def opencv_rotate(hint):
    def run(picture):
        width, height = picture.size
        sine, cosine = math.sin(math.radians(DEGREES)), math.cos(math.radians(DEGREES))
        grown = math.ceil(width * cosine + height * sine), math.ceil(width * sine + height * cosine)
        turn = cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), -DEGREES, 1)
        turn[:, 2] += (grown[0] - width) / 2, (grown[1] - height) / 2
        return cv2.warpAffine(picture.opencv, turn, grown, flags=cv2.INTER_LINEAR, hint=hint)
    return run


# Mixing colours

def pillow_matrix(picture):
    result = picture.pillow.convert("RGB").convert("RGB", sum(MATRIX, ()))
    result.putalpha(picture.pillow.getchannel("A"))
    return result


def vips_matrix(picture):
    weights = [list(row[:3]) for row in MATRIX]
    colours = picture.vips.extract_band(0, n=3).recomb(weights) + [row[3] for row in MATRIX]
    return colours.cast("uchar").bandjoin(picture.vips[3]).copy_memory()


def vips_matrix_4x4(picture):
    weights = [[*row[:3], row[3] / 255] for row in MATRIX] + [[0, 0, 0, 1]]
    return picture.vips.recomb(weights).cast("uchar").copy_memory()


def opencv_rows():
    """The matrix for blue, green and red."""
    return [[row[2], row[1], row[0], row[3]] for row in MATRIX[::-1]]


def opencv_matrix(picture):
    rows = [[*row[:3], 0, row[3]] for row in opencv_rows()] + [[0, 0, 0, 1, 0]]
    return cv2.transform(picture.opencv, np.array(rows, np.float32))


def opencv_matrix_3x4(picture):
    colours = cv2.transform(cv2.cvtColor(picture.opencv, cv2.COLOR_BGRA2BGR), np.array(opencv_rows(), np.float32))
    result = cv2.cvtColor(colours, cv2.COLOR_BGR2BGRA)
    if not picture.is_opaque:
        cv2.mixChannels([picture.opencv], [result], [3, 3])
    return result


# Rounding corners

def pillow_circle(radius):
    """A disc with smooth edges, drawn at four times its size: its quarters are the corners."""
    disc = Image.new("L", (radius * 8, radius * 8), 0)
    ImageDraw.Draw(disc).ellipse((0, 0, radius * 8 - 1, radius * 8 - 1), fill=255)
    return disc.resize((radius * 2, radius * 2), Image.Resampling.BOX)


def pillow_round(picture):
    width, height = picture.size
    disc = pillow_circle(RADIUS)
    mask = Image.new("L", picture.size, 255)
    for x, left in ((0, 0), (RADIUS, width - RADIUS)):
        for y, top in ((0, 0), (RADIUS, height - RADIUS)):
            mask.paste(disc.crop((x, y, x + RADIUS, y + RADIUS)), (left, top))
    if not picture.is_opaque:
        mask = ImageChops.multiply(mask, picture.pillow.getchannel("A"))
    result = picture.pillow.copy()
    result.putalpha(mask)
    return result


def vips_round(picture):
    width, height = picture.size
    svg = f'<svg width="{width}" height="{height}"><rect width="{width}" height="{height}" rx="{RADIUS}"/></svg>'
    mask = pyvips.Image.svgload_buffer(svg.encode())[3]
    if not picture.is_opaque:
        mask = (mask * picture.vips[3] / 255).cast("uchar")
    return picture.vips.extract_band(0, n=3).bandjoin(mask).copy_memory()


def opencv_circle(radius):
    disc = np.zeros((radius * 8, radius * 8), np.uint8)
    cv2.circle(disc, (radius * 8 - 1, radius * 8 - 1), radius * 8 - 1, 255, cv2.FILLED, shift=1)
    return cv2.resize(disc, (radius * 2, radius * 2), interpolation=cv2.INTER_AREA)


def opencv_corners(width, height):
    """Where the four corners lie in the picture, and where in the disc."""
    for x, left in ((0, 0), (RADIUS, width - RADIUS)):
        for y, top in ((0, 0), (RADIUS, height - RADIUS)):
            yield (slice(top, top + RADIUS), slice(left, left + RADIUS)), (slice(y, y + RADIUS), slice(x, x + RADIUS))


def opencv_round(picture):
    disc = opencv_circle(RADIUS)
    mask = np.full(picture.opencv.shape[:2], 255, np.uint8)
    for corner, quarter in opencv_corners(*picture.size):
        mask[corner] = disc[quarter]
    result = picture.opencv.copy()
    cv2.insertChannel(cv2.multiply(cv2.extractChannel(picture.opencv, 3), mask, scale=1 / 255), result, 3)
    return result


def opencv_round_corners(picture):
    disc = opencv_circle(RADIUS)
    result = picture.opencv.copy()
    for corner, quarter in opencv_corners(*picture.size):
        result[corner][..., 3] = cv2.multiply(result[corner][..., 3], disc[quarter], scale=1 / 255)
    return result


OPERATIONS = {
    "resize": [
        Idiom("pillow", pillow_resize, "RGBA: resize(LANCZOS), which premultiplies and divides again"),
        Idiom("pillow RGBa", pillow_resize_premultiplied, "premultiplied already: resize(LANCZOS)"),
        Idiom("pillow gap", pillow_resize_gap, "RGBa: resize(LANCZOS, reducing_gap=2), averages to twice that first",
              is_alike=False),
        Idiom("vips", vips_resize, "resize(kernel=lanczos3), gap 2: averages to twice that first", is_alike=False),
        Idiom("vips gap 0", lambda picture: vips_resize(picture, gap=0), "resize(kernel=lanczos3, gap=0)"),
        Idiom("vips thumbnail", vips_thumbnail, "thumbnail_image: premultiplies, divides, averages first",
              is_alike=False),
        Idiom("opencv area", opencv_resize(cv2.INTER_AREA), "resize(INTER_AREA), an average", is_alike=False),
        Idiom("opencv lanczos4", opencv_resize(cv2.INTER_LANCZOS4), "resize(INTER_LANCZOS4), not antialiased",
              is_alike=False),
    ],
    "blur5": blurs(5, factor=4),
    "blur20": blurs(20, factor=8),
    "rotate": [
        Idiom("pillow", pillow_rotate, "RGBA: rotate(BILINEAR, expand=True), which premultiplies and divides again"),
        Idiom("pillow RGBa", pillow_rotate_premultiplied, "premultiplied already: rotate(BILINEAR, expand=True)"),
        Idiom("vips", vips_rotate, "rotate, bilinear"),
        Idiom("opencv", opencv_rotate(cv2.ALGO_HINT_ACCURATE), "warpAffine(INTER_LINEAR)"),
        Idiom("opencv hint", opencv_rotate(cv2.ALGO_HINT_APPROX), "warpAffine with ALGO_HINT_APPROX"),
    ],
    "matrix": [
        Idiom("pillow", pillow_matrix, "convert(RGB, matrix), then putalpha"),
        Idiom("vips", vips_matrix, "recomb of three bands, offsets added, the alpha band joined"),
        Idiom("vips 4x4", vips_matrix_4x4, "recomb of four bands, offsets in the alpha column"),
        Idiom("opencv", opencv_matrix, "transform of four channels by 4x5"),
        Idiom("opencv 3x4", opencv_matrix_3x4, "cvtColor to BGR, transform by 3x4, cvtColor to BGRA"),
    ],
    "round": [
        Idiom("pillow", pillow_round, "a mask with corners drawn four times as large; copy, putalpha"),
        Idiom("vips", vips_round, "a mask from SVG, joined to the three bands"),
        Idiom("opencv", opencv_round, "a mask of the whole picture, multiplied into the alpha of a copy"),
        Idiom("opencv corners", opencv_round_corners, "a copy, the four corners of its alpha multiplied"),
    ],
}
