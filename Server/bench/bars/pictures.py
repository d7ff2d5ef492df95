"""The pictures of the bars: 100 of 12 and 3 megapixels, each as JPEG, PNG and WebP, from a seed.

They are photograph-like: parts of the demo's pictures, enlarged, with detail on all scales and the noise of a sensor.
"""
import json
import multiprocessing
import pathlib

import numpy
from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parents[3]
WORK = ROOT / ".build" / "server-bench"
FOLDER = WORK / "pictures"
COUNT = 100
FORMATS = {"jpeg": "jpg", "png": "png", "webp": "webp"}
SIZES = [(4000, 3000), (2000, 1500)]
#: Changes with what is drawn: pictures of another version are drawn again.
VERSION = 1

_BASES = [
    "autumn-leaves.jpg", "coral.jpg", "kingfisher.jpg", "marble.jpg", "misty-mountains.jpg", "night-skyline.jpg",
    "stained-glass.jpg", "aurora-progressive.jpg", "dunes-progressive.jpg", "sunflower.png", "soap-bubbles.png",
    "zen-garden.png", "moon-over-sea.webp", "jellyfish.webp",
]


def name(index, kind):
    return f"{kind}/{index:03}.{FORMATS[kind]}"


def size(index):
    """Every other picture is a large one, and every fifth stands upright."""
    width, height = SIZES[index % 2]
    return (height, width) if index % 5 == 0 else (width, height)


def _noise(random, width, height, cell):
    """Noise with details of about `cell` pixels."""
    small = random.standard_normal((max(2, height // cell), max(2, width // cell)), dtype=numpy.float32)
    if cell == 1:
        return small
    return numpy.asarray(Image.fromarray(small).resize((width, height), Image.Resampling.BICUBIC))


def draw(index, wanted=None):
    """Returns a picture, of the size that its number has unless another one is wanted."""
    random = numpy.random.default_rng([27, index])
    width, height = wanted or size(index)
    base = Image.open(ROOT / "demo" / "gallery" / _BASES[index % len(_BASES)]).convert("RGB")
    share = random.uniform(0.6, 1)
    part = (int(base.width * share), int(base.height * share))
    left, top = random.integers(0, base.width - part[0] + 1), random.integers(0, base.height - part[1] + 1)
    base = base.crop((left, top, left + part[0], top + part[1]))
    if random.random() < 0.5:
        base = base.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    pixels = numpy.asarray(base.resize((width, height), Image.Resampling.BICUBIC), dtype=numpy.float32)
    detail = sum(_noise(random, width, height, cell) * strength for cell, strength in [(32, 5), (8, 4), (3, 3), (1, 1.5)])
    pixels = pixels + detail[:, :, None]
    return Image.fromarray(numpy.clip(pixels, 0, 255).astype(numpy.uint8))


def save(image, path, kind):
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    if kind == "jpeg":
        image.save(part, "JPEG", quality=90, subsampling="4:2:0")
    elif kind == "png":
        image.save(part, "PNG", compress_level=6)
    else:
        image.save(part, "WEBP", quality=90, method=2)
    part.rename(path)


def _make(index):
    image = draw(index)
    for kind in FORMATS:
        save(image, FOLDER / name(index, kind), kind)


def _make_small(index):
    save(draw(index, (800, 600)), FOLDER / f"small/{index:03}.jpg", "jpeg")


def _version():
    return {"version": VERSION, "count": COUNT, "sizes": SIZES}


def ensure():
    """Draws the pictures unless they are there, and returns their folder."""
    mark = FOLDER / "version.json"
    if mark.exists() and json.loads(mark.read_text()) == json.loads(json.dumps(_version())):
        return FOLDER
    print("Drawing 300 pictures, which takes some minutes ...", flush=True)
    with multiprocessing.Pool() as pool:
        pool.map(_make, range(COUNT), chunksize=1)
        # Those of the fleet, whose bar counts requests.
        pool.map(_make_small, range(500), chunksize=10)
    mark.write_text(json.dumps(_version()))
    return FOLDER
