"""Overload: pictures that arrive at twice the rate that saturates the server.

The median service time is that of answers under the saturating load, 4 connections that ask one after the other. With its defaults
the server lets requests wait for ten seconds, which suits bursts; the bar is that of a server whose queues are short.
"""
import asyncio
import os

from . import load, pictures, report
from .servers import Halcyon, origin

SECONDS = int(os.environ.get("BENCH_SECONDS", 5)) * 3
SHORT = {"queue_waiting": 1, "queue_transfers": 8, "queue_pixels": 26_000_000}


def run():
    source = origin(pictures.ensure())
    for name, settings in {"defaults": {}, "short queues": SHORT}.items():
        server = Halcyon("overload", cache_memory_bytes=0, cache_folder="", **settings).start()
        counter = iter(range(1_000_000))

        def paths(count):
            """Pictures of 12 megapixels, under addresses of their own, so that no request is another's."""
            return [server.path(source, f"{pictures.name(2 * (number % 50), 'jpeg')}%3F{next(counter)}")
                    for number in range(count)]

        saturated, rate = asyncio.run(load.in_turn(server.port, paths(300), 4))
        times = [seconds for status, seconds in saturated if status == 200]
        median = load.quantile(times, 0.5)
        answers = asyncio.run(load.at_rate(server.port, paths(int(2 * rate * SECONDS)), 2 * rate))
        served = [seconds for status, seconds in answers if status == 200]
        refused = [seconds for status, seconds in answers if status == 503]
        other = len(answers) - len(served) - len(refused)
        report.note(
            "overload", settings=settings, saturated=rate, service=median, rate=2 * rate, served=len(served),
            refused=len(refused), other=other, median=load.quantile(served, 0.5), p99=load.quantile(served, 0.99),
            refusals_median=load.quantile(refused, 0.5), refusals_p99=load.quantile(refused, 0.99))
        has_bar = settings == SHORT
        report.row("overload", f"{name}: p99 of answers beside their median of {median * 1000:.3g} ms at saturation",
                   load.quantile(served, 0.99) / median, 2 if has_bar else None, least=False, unit=" x")
        if refused:
            report.row("overload", f"{name}: p99 of {len(refused)} refusals beside it", load.quantile(refused, 0.99) / median,
                       1 if has_bar else None, least=False, unit=" x")
        report.row("overload", f"{name}: answers that are neither", other, 0, least=False)
        server.stop()
    source.stop()
