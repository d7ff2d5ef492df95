"""Soak: mixed load, of which a twentieth is hostile, in a group of 512 MiB."""
import asyncio
import collections
import io
import os
import pathlib
import random
import statistics
import time

from PIL import Image

from . import load, pictures, report
from .hostile import Origin
from .servers import Halcyon, origin

MINUTES = float(os.environ.get("SOAK_MINUTES", 60))
LIMIT = 512 << 20
HOSTILE = 0.05


class Group:
    """A control group with a limit of memory; without one where none can be made."""

    def __init__(self):
        first = pathlib.Path("/sys/fs/cgroup/memory/halcyon-bench")
        second = pathlib.Path("/sys/fs/cgroup/halcyon-bench")
        self.folder, self.kind = None, "none: the memory is only watched"
        for folder, limit, kind in [(first, "memory.limit_in_bytes", "cgroup v1"), (second, "memory.max", "cgroup v2")]:
            try:
                folder.mkdir(exist_ok=True)
                (folder / limit).write_text(str(LIMIT))
                self.folder, self.kind = folder, kind
                return
            except OSError:
                continue

    @property
    def wrap(self):
        return ["sh", "-c", f'echo $$ > {self.folder}/cgroup.procs && exec "$@"', "sh"] if self.folder else []

    def kills(self):
        """The processes that the kernel has ended for their memory."""
        for name in ["memory.oom_control", "memory.events"]:
            try:
                lines = dict(line.split() for line in (self.folder / name).read_text().splitlines())
                return int(lines.get("oom_kill", 0))
            except (OSError, TypeError):
                continue
        return 0

    def remove(self):
        if self.folder:
            try:
                self.folder.rmdir()
            except OSError:
                pass


class Load:
    """Clients that ask at random, and what they got."""

    def __init__(self, server, source, hostile):
        self.server, self.source, self.hostile = server, source, hostile
        self.bad = hostile.names()
        self.statuses, self.hostile_statuses = collections.Counter(), collections.Counter()
        self.wrong, self.random = 0, random.Random(29)

    def path(self):
        """A path, and whether it is a hostile one."""
        one = self.random
        if one.random() < HOSTILE:
            tail = f"plain/http://{self.hostile.HOST}:{self.hostile.port}{one.choice(self.bad)}?{one.randrange(10 ** 9)}"
            return f"/_/rs:fit:{one.randrange(64, 512)}:512/{tail}", True
        if one.random() < 0.5:
            return self.server.path(self.source, pictures.name(one.randrange(12), "jpeg")), False
        if one.random() < 0.7:
            width = one.randrange(32, 800)
            return self.server.path(self.source, f"small/{one.randrange(500):03}.jpg", width, 600), False
        kind = one.choice(list(pictures.FORMATS))
        form = one.choice(["webp", "png", "jpg", "avif"])
        name = pictures.name(one.randrange(pictures.COUNT), kind)
        return self.server.path(self.source, name, one.randrange(64, 320), 320) + f"@{form}", False

    async def client(self, until):
        while time.monotonic() < until:
            path, is_hostile = self.path()
            status, body = await load.ask(self.server.port, path)
            (self.hostile_statuses if is_hostile else self.statuses)[status] += 1
            if not is_hostile and status == 200 and self.random.random() < 0.02 and "avif" not in path:
                try:
                    Image.open(io.BytesIO(body)).load()
                except (OSError, SyntaxError):
                    self.wrong += 1


async def _watch(server, until):
    """The memory each second."""
    samples = []
    while time.monotonic() < until and server.is_alive:
        samples.append(server.resident_bytes())
        await asyncio.sleep(1)
    return samples


async def _load(clients, server, seconds):
    until = time.monotonic() + seconds
    watch = asyncio.create_task(_watch(server, until))
    await asyncio.gather(*(clients.client(until) for _ in range(8)))
    return await watch


def run():
    source = origin(pictures.ensure())
    good = [(pictures.FOLDER / pictures.name(2 * index + 1, "jpeg")).read_bytes() for index in range(4)]
    group = Group()
    hostile = Origin(good).begin()
    server = Halcyon("soak", wrap=group.wrap, source_timeout=10, cache_disk_bytes=1 << 30).fresh()
    clients = Load(server, source, hostile)
    samples = asyncio.run(_load(clients, server, MINUTES * 60))
    quarter = max(1, len(samples) // 4)
    quarters = [statistics.mean(samples[index * quarter:(index + 1) * quarter]) for index in range(4)]
    lost = sum(count for status, count in (clients.statuses + clients.hostile_statuses).items() if status in (0, 500))
    report.note(
        "soak", minutes=MINUTES, group=group.kind, statuses=dict(clients.statuses),
        hostile=dict(clients.hostile_statuses), quarters=[round(value / 2 ** 20, 1) for value in quarters],
        most=max(samples) / 2 ** 20, kills=group.kills(), metrics={
            name: value for name, value in server.metrics().items() if "worker" in name or "refusals" in name}
        if server.is_alive else None)
    report.row("soak", "restarts", 0 if server.is_alive else 1, 0, least=False)
    report.row("soak", f"processes that the kernel ended ({group.kind})", group.kills(), 0, least=False)
    report.row("soak", "memory of the last quarter beside the second", quarters[3] / quarters[1], 1.1, least=False, unit=" x")
    report.row("soak", "answers that are lost, or 500", lost, 0, least=False)
    good = sum(clients.statuses.values())
    report.row("soak", "answers to the others that are pictures", clients.statuses[200] / max(1, good), 0.99)
    report.row("soak", "pictures that cannot be read", clients.wrong, 0, least=False)
    for running in [server, source]:
        running.stop()
    group.remove()
