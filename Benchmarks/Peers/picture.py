"""A picture as each library holds it once it has decoded it: four channels of eight bits."""

import cv2
import numpy as np
import pyvips
from PIL import Image


class Picture:
    """The same pixels for all: straight alpha, as the libraries' own decoders give it."""

    def __init__(self, premultiplied_bgra, target):
        height, width, _ = premultiplied_bgra.shape
        self.size = width, height
        # The size that the picture is resized to.
        self.target = target
        self.is_opaque = bool((premultiplied_bgra[..., 3] == 255).all())
        # Memory of its own for each: Pillow would only refer to the array.
        self.pillow_premultiplied = Image.frombuffer(
            "RGBa", self.size, premultiplied_bgra.tobytes(), "raw", "BGRa", 0, 1).copy()
        self.pillow = self.pillow_premultiplied.convert("RGBA")
        rgba = np.asarray(self.pillow)
        self.opencv = cv2.cvtColor(rgba, cv2.COLOR_RGBA2BGRA)
        self.vips = pyvips.Image.new_from_memory(rgba.tobytes(), width, height, 4, "uchar") \
            .copy(interpretation="srgb").copy_memory()

    @classmethod
    def read(cls, path, size, target):
        pixels = np.fromfile(path, np.uint8)
        return cls(pixels.reshape(size[1], size[0], 4), target)

    @classmethod
    def draw(cls, size, target):
        """Shading, texture at every scale and grain; the same at every run."""
        width, height = size
        random = np.random.default_rng(3)
        total = np.full((height, width, 3), 128, np.float32)
        for octave in range(10):
            cells = 2 ** octave
            noise = random.standard_normal((3 * cells + 1, 4 * cells + 1, 3), np.float32)
            total += cv2.resize(noise, size, interpolation=cv2.INTER_CUBIC) * (18 if octave < 7 else 7)
        total += random.standard_normal(total.shape, np.float32) * 2
        pixels = np.full((height, width, 4), 255, np.uint8)
        pixels[..., :3] = np.clip(np.rint(total), 0, 255)
        return cls(pixels, target)


def premultiplied_bgra(result):
    """A result of any of the libraries as an array in Halcyon's layout."""
    if isinstance(result, pyvips.Image):
        rgba = np.ndarray((result.height, result.width, 4), np.uint8, result.write_to_memory())
        result = Image.fromarray(rgba)
    elif isinstance(result, np.ndarray):
        result = Image.fromarray(cv2.cvtColor(result, cv2.COLOR_BGRA2RGBA))
    if result.mode != "RGBa":
        result = result.convert("RGBa")
    return np.frombuffer(result.tobytes("raw", "BGRa"), np.uint8).reshape(result.height, result.width, 4)
