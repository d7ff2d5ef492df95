#!/usr/bin/env python3
"""Measures what Halcyon's processors do as Pillow, libvips and OpenCV do it, on one core and one thread.

    processing.py [--runs N] [--filter NAME] [--core N] [--check]    a table; --check: how near each comes to the exact
    processing.py --serve --core N                                   asked by halcyon-bench, see `serve`
"""

import argparse
import gc
import json
import os
import statistics
import sys
import time

# Read by the libraries as they are loaded.
os.environ.update(VIPS_CONCURRENCY="1", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

PICTURES = {"12 Mpx": ((4000, 3000), (640, 480)), "1024x768": ((1024, 768), (256, 192))}


def parsed():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=7, help="turns that every idiom takes (7)")
    parser.add_argument("--filter", default="", help="part of an operation and its picture, as `round, 12 Mpx`")
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)), help="where all runs (the last core)")
    parser.add_argument("--check", action="store_true", help="the likeness to an exact result instead of times")
    parser.add_argument("--serve", action="store_true", help="answer questions on standard input")
    return parser.parse_args()


def versions():
    vips = ".".join(str(pyvips.version(part)) for part in range(3))
    return f"Pillow {PIL.__version__}, libvips {vips}, OpenCV {cv2.__version__}, numpy {np.__version__}"


def timed(idiom, picture, repeats):
    """Nanoseconds of the clock on the wall and of the whole process, for all repeats together."""
    cpu, wall = time.process_time_ns(), time.perf_counter_ns()
    for _ in range(repeats):
        idiom.run(picture)
    return time.perf_counter_ns() - wall, time.process_time_ns() - cpu


def named(operation, name):
    return next(idiom for idiom in OPERATIONS[operation] if idiom.name == name)


def described(idiom):
    return {"name": idiom.name, "note": idiom.note, "isAlike": idiom.is_alike}


def serve():
    """Answers one line with one line; the fields are divided by tabs.

        idioms                                  JSON: the versions, and of every operation its idioms
        load   PICTURE FILE SIDES               reads premultiplied BGRA; width, height, and those to resize it to
        time   PICTURE OPERATION IDIOM REPEATS  nanoseconds: wall, processor
        write  PICTURE OPERATION IDIOM FILE     writes the result as premultiplied BGRA; its width and height
    """
    pictures = {}
    for line in sys.stdin:
        word, *fields = line.rstrip("\n").split("\t")
        if word == "idioms":
            answer = json.dumps({"versions": versions(), "operations": {
                operation: [described(idiom) for idiom in idioms] for operation, idioms in OPERATIONS.items()}})
        elif word == "load":
            name, path, *sides = fields
            width, height, to_width, to_height = map(int, sides)
            pictures[name] = Picture.read(path, (width, height), (to_width, to_height))
            answer = "loaded"
        elif word == "time":
            picture, operation, name, repeats = fields
            answer = "%d\t%d" % timed(named(operation, name), pictures[picture], int(repeats))
        elif word == "write":
            picture, operation, name, path = fields
            pixels = premultiplied_bgra(named(operation, name).run(pictures[picture]))
            pixels.tofile(path)
            answer = "%d\t%d" % (pixels.shape[1], pixels.shape[0])
        else:
            sys.exit(f"processing.py: {word}?")
        print(answer, flush=True)


def selected(options):
    for name, (size, target) in PICTURES.items():
        operations = [operation for operation in OPERATIONS if options.filter in f"{operation}, {name}"]
        if operations:
            yield name, Picture.draw(size, target), operations


def measure(options):
    """Every round runs everything once, so that whatever else the machine does meets all alike."""
    print("| operation | picture | idiom | same work | wall ms | median | CPU ms |")
    print("| --- | --- | --- | --- | ---: | ---: | ---: |")
    for name, picture, operations in selected(options):
        idioms = [(operation, idiom) for operation in operations for idiom in OPERATIONS[operation]]
        repeats = 1 if picture.size[0] > 2000 else 8
        times = {(operation, idiom.name): [] for operation, idiom in idioms}
        for turn in range(options.runs + 1):
            for operation, idiom in idioms if turn % 2 else idioms[::-1]:
                sample = timed(idiom, picture, repeats)
                # The first warms up.
                if turn:
                    times[operation, idiom.name].append([part / 1e6 / repeats for part in sample])
        for operation, idiom in idioms:
            walls, cpus = zip(*times[operation, idiom.name])
            print(f"| {operation} | {name} | {idiom.name} | {'yes' if idiom.is_alike else 'no'} "
                  f"| {min(walls):.2f} | {statistics.median(walls):.2f} | {min(cpus):.2f} |")


def main():
    gc.disable()
    cv2.setNumThreads(1)
    # Otherwise the second run of an operation on the same picture would be an answer from memory.
    pyvips.cache_set_max(0)
    if OPTIONS.serve:
        return serve()
    print(versions(), "\n")
    if OPTIONS.check:
        import likeness
        return likeness.check(selected(OPTIONS), OPERATIONS)
    return measure(OPTIONS)


if __name__ == "__main__":
    OPTIONS = parsed()
    # Before the libraries start threads.
    os.sched_setaffinity(0, {OPTIONS.core})
    import cv2
    import numpy as np
    import PIL
    import pyvips

    from idioms import OPERATIONS
    from picture import Picture, premultiplied_bgra
    main()
