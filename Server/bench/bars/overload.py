"""Overload: pictures that arrive at twice the rate that saturates the server, with its defaults.

The median service time is that of answers under the saturating load, 4 connections that ask one after the other. The load is a
lasting one: the first seconds, in which the server takes it for a burst and lets requests wait, are reported apart.
"""
import asyncio
import os

from . import load, pictures, report
from .servers import Halcyon, origin

SECONDS = int(os.environ.get("BENCH_SECONDS", 5)) * 3
#: The server's `queue.burstTime`, and the time in which what waits by then is answered.
BURST = 5 + 5


def run():
    source = origin(pictures.ensure())
    server = Halcyon("overload", cache_memory_bytes=0, cache_folder="").start()
    counter = iter(range(1_000_000))

    def paths(count):
        """Pictures of 12 megapixels, under addresses of their own, so that no request is another's."""
        return [server.path(source, f"{pictures.name(2 * (number % 50), 'jpeg')}%3F{next(counter)}")
                for number in range(count)]

    saturated, rate = asyncio.run(load.in_turn(server.port, paths(300), 4))
    times = [seconds for status, seconds in saturated if status == 200]
    median = load.quantile(times, 0.5)
    answers = asyncio.run(load.at_rate(server.port, paths(int(2 * rate * (BURST + SECONDS))), 2 * rate))
    burst = int(2 * rate * BURST)
    _note("burst", answers[:burst], rate, median)
    served, refused, other = _note("lasting", answers[burst:], rate, median)
    report.row("overload", f"p99 of answers beside their median of {median * 1000:.3g} ms at saturation",
               load.quantile(served, 0.99) / median, 2, least=False, unit=" x")
    if refused:
        report.row("overload", f"p99 of {len(refused)} refusals beside it", load.quantile(refused, 0.99) / median, 1,
                   least=False, unit=" x")
    report.row("overload", "answers that are neither", other, 0, least=False)
    report.row("overload", "pictures a second, beside those at saturation", len(served) / SECONDS / rate, None, unit=" x")
    for running in [server, source]:
        running.stop()


def _note(phase, answers, rate, median):
    served = [seconds for status, seconds in answers if status == 200]
    refused = [seconds for status, seconds in answers if status == 503]
    other = len(answers) - len(served) - len(refused)
    report.note(
        "overload", phase=phase, saturated=rate, service=median, rate=2 * rate, served=len(served), refused=len(refused),
        other=other, median=load.quantile(served, 0.5), p99=load.quantile(served, 0.99),
        refusals_median=load.quantile(refused, 0.5), refusals_p99=load.quantile(refused, 0.99))
    return served, refused, other
