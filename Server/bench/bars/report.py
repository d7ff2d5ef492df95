"""The results: a table for people, and a JSON line each for programs."""
import json
import pathlib
import time

from .pictures import WORK

_FILE = WORK / "results" / time.strftime("%Y-%m-%dT%H%M%S.jsonl")


def note(bar, **facts):
    """Writes a fact that has no bar."""
    _FILE.parent.mkdir(parents=True, exist_ok=True)
    line = json.dumps({"bar": bar, **facts})
    with open(_FILE, "a") as file:
        file.write(line + "\n")
    print(line, flush=True)


_rows = []


def row(bar, what, value, wanted, *, least=True, unit=""):
    """Adds a row to the table: a value beside the least or the most that is wanted; None where nothing is."""
    passes = None if wanted is None else (value >= wanted if least else value <= wanted)
    note(bar, what=what, value=round(value, 4), wanted=wanted, unit=unit, passes=passes)
    _rows.append((bar, what, f"{value:.3g}{unit}", "" if wanted is None else f"{'≥' if least else '≤'} {wanted:g}{unit}",
                  {None: "", True: "yes", False: "NO"}[passes]))
    return passes


def table():
    """Prints the table. Returns whether all bars are met."""
    heads = ("bar", "", "measured", "wanted", "met")
    widths = [max(len(line[column]) for line in [heads, *_rows]) for column in range(5)]
    for line in [heads, tuple("-" * width for width in widths), *_rows]:
        print("| " + " | ".join(text.ljust(width) for text, width in zip(line, widths)) + " |")
    print(f"\nLines: {pathlib.Path(_FILE)}")
    return all(line[4] != "NO" for line in _rows)
