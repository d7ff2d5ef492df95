"""Load: wrk for throughput, and requests that arrive at a rate whatever the answers take."""
import asyncio
import json
import pathlib
import re
import subprocess
import time
import urllib.request

from .servers import RUN

_HERE = pathlib.Path(__file__).parent


def _list(paths):
    file = RUN / "paths.txt"
    file.write_text("\n".join(paths) + "\n")
    return file


def _wrk(script, port, paths, connections, seconds):
    command = [
        "wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "60s", "-s", _HERE / script,
        f"http://127.0.0.1:{port}", "--", _list(paths)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.search(r"^RESULT (.*)$", text, re.M)
    if not found:
        raise RuntimeError(f"wrk said: {text}")
    result = json.loads(found[1])
    result["rate"] = result["requests"] / result["seconds"]
    return result


def each_once(port, paths, connections=8):
    """Asks for each path once, with a connection of its own."""
    result = _wrk("each-once.lua", port, paths, connections, 240)
    if result["statuses"] != {"200": len(paths)}:
        raise RuntimeError(f"not all pictures came: {result}")
    return result


def over_and_over(port, paths, seconds, connections=32):
    result = _wrk("over-and-over.lua", port, paths, connections, seconds)
    if result["errors"] or result["refused"]:
        raise RuntimeError(f"not all answers came: {result}")
    return result


def get(port, path, fields=None):
    """Returns the status, fields and body of an answer."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers=fields or {})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()


async def ask(port, path, timeout=60):
    """Asks with a connection of its own. Returns the status and the body; status 0 if the connection or the answer broke."""
    writer = None
    try:
        async with asyncio.timeout(timeout):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(f"GET {path} HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\r\n".encode())
            head = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"content-length: *(\d+)", head, re.I)
            body = await (reader.readexactly(int(length[1])) if length else reader.read())
            return int(head.split(b" ", 2)[1]), body
    except (OSError, asyncio.IncompleteReadError, TimeoutError, ValueError, IndexError):
        return 0, b""
    finally:
        if writer:
            writer.close()


async def _timed(port, path):
    began = time.monotonic()
    status, _ = await ask(port, path)
    return status, time.monotonic() - began


async def at_rate(port, paths, rate):
    """Asks for each path once, `rate` times a second. Returns the statuses with the seconds that they took."""
    began, tasks = time.monotonic(), []
    for index, path in enumerate(paths):
        await asyncio.sleep(max(0, began + index / rate - time.monotonic()))
        tasks.append(asyncio.create_task(_timed(port, path)))
    return await asyncio.gather(*tasks)


async def in_turn(port, paths, connections):
    """Asks for each path once, the next one after an answer. Returns the statuses with the seconds, and the answers a second."""
    pending, answers, began = iter(paths), [], time.monotonic()

    async def client():
        for path in pending:
            answers.append(await _timed(port, path))

    await asyncio.gather(*(client() for _ in range(connections)))
    return answers, len(answers) / (time.monotonic() - began)


async def at_once(ports, paths, connections, check):
    """Asks for all paths in their order over some connections, at the ports in turn. `check` sees each answer."""
    pending = iter(enumerate(paths))

    async def client():
        for index, path in pending:
            check(path, *await ask(ports[index % len(ports)], path))

    began = time.monotonic()
    await asyncio.gather(*(client() for _ in range(connections)))
    return time.monotonic() - began


def quantile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else None
