"""Overload: pictures that arrive at twice the rate that saturates the server."""
import asyncio
import os

from . import load, pictures, report
from .servers import Halcyon, origin

SECONDS = int(os.environ.get("BENCH_SECONDS", 5)) * 3


def run():
    source = origin(pictures.ensure())
    for name, settings in {"": {}, ", queue.waiting=2": {"queue_waiting": 2}}.items():
        server = Halcyon("overload", cache_memory_bytes=0, cache_folder="", **settings)
        # Each request has a size of its own, so that none of them is another's picture.
        sizes = iter(range(10_000))

        def paths(count):
            return [server.path(source, pictures.name(2 * (next(sizes) % 50), "jpeg"), 512 - 1 * (number % 64))
                    for number in range(count)]

        server.start()
        saturated = load.each_once(server.port, paths(200), connections=4)
        # One after the other.
        alone = [seconds for path in paths(40) for _, seconds in asyncio.run(load.at_rate(server.port, [path], 1))]
        answers = asyncio.run(load.at_rate(server.port, paths(int(2 * saturated["rate"] * SECONDS)), 2 * saturated["rate"]))
        served = [seconds for status, seconds in answers if status == 200]
        refused = [seconds for status, seconds in answers if status == 503]
        report.note(
            "overload", settings=settings, saturated=saturated, rate=2 * saturated["rate"], served=len(served),
            refused=len(refused), other=len(answers) - len(served) - len(refused), median=load.quantile(served, 0.5),
            p99=load.quantile(served, 0.99), refusals_median=load.quantile(refused, 0.5),
            refusals_p99=load.quantile(refused, 0.99))
        median = load.quantile(alone, 0.5)
        report.row("overload", f"p99{name} beside the median service time {median * 1000:.3g} ms",
                   load.quantile(served, 0.99) / median, 2 if settings else None, least=False, unit=" x")
        report.row("overload", f"p99 of refusals{name} beside it", load.quantile(refused, 0.99) / median,
                   1 if settings else None, least=False, unit=" x")
        report.row("overload", f"served a second{name} beside saturation", len(served) / SECONDS / saturated["rate"],
                   0.8 if settings else None, unit=" x")
        report.row("overload", f"answers that are neither{name}", len(answers) - len(served) - len(refused), 0, least=False)
        server.stop()
    source.stop()
