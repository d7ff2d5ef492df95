"""Cold: each picture once, beside thumbor and nginx's image_filter; and what happens under twice the load that saturates."""
import asyncio
import io
import os
import statistics

from PIL import Image

from . import load, pictures, report
from .servers import Halcyon, ImageFilter, Thumbor, origin

ROUNDS = int(os.environ.get("BENCH_ROUNDS", 3))
#: By format, the least throughput in that of thumbor; and in that of image_filter.
THUMBOR = {"jpeg": 1.6, "png": 2.2, "webp": 1.7}
FILTER = 1.2


def _check(peer, source):
    """Checks that a peer's answers are pictures of the right format and size."""
    for kind in pictures.FORMATS:
        for index in range(4):
            _, _, body = load.get(peer.port, peer.path(source, pictures.name(index, kind)))
            image = Image.open(io.BytesIO(body))
            image.load()
            width, height = pictures.size(index)
            wanted = (512 * width // max(width, height), 512 * height // max(width, height))
            if image.format != kind.upper() or max(abs(image.width - wanted[0]), abs(image.height - wanted[1])) > 1:
                raise RuntimeError(f"{peer.name} made {image.format} of {image.size} from {kind} {index}")
            if index == 0:
                report.note("cold", peer=peer.name, kind=kind, bytes=len(body), size=image.size)


def throughput():
    source = origin(pictures.ensure())
    peers = [Halcyon(), Thumbor(), ImageFilter(source)]
    for peer in peers:
        peer.fresh()
        _check(peer, source)
    for kind in os.environ.get("BENCH_FORMATS", " ".join(pictures.FORMATS)).split():
        rates = {peer.name: [] for peer in peers}
        for _ in range(ROUNDS):
            for peer in peers:
                peer.fresh()
                # What starts with the first picture has started.
                for index in range(2):
                    load.get(peer.port, peer.path(source, f"small/{index:03}.jpg"))
                before = peer.cpu_seconds()
                result = load.each_once(
                    peer.port, [peer.path(source, pictures.name(index, kind)) for index in range(pictures.COUNT)])
                result["cpu"] = (peer.cpu_seconds() - before) / pictures.COUNT
                rates[peer.name].append(result["rate"])
                report.note("cold", peer=peer.name, kind=kind, **result)
                peer.stop()
        ours, thumbor, image_filter = (statistics.median(rates[peer.name]) for peer in peers)
        report.row("cold", f"{kind}: pictures a second", ours, None)
        report.row("cold", f"{kind}: beside thumbor's {thumbor:.3g}", ours / thumbor, THUMBOR[kind], unit=" x")
        report.row("cold", f"{kind}: beside image_filter's {image_filter:.3g}", ours / image_filter, FILTER, unit=" x")
    source.stop()
