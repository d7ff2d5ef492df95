"""Warm: answers that are made already, from memory, the disk and Redis, beside nginx that serves the same bytes as files."""
import os
import shutil
import statistics

from . import load, pictures, report
from .cold import ROUNDS
from .servers import RUN, Halcyon, nginx, origin, redis

SECONDS = int(os.environ.get("BENCH_SECONDS", 5))
#: The least throughput in that of nginx.
WANTED = {"memory": 0.5, "disk": 0.3, "redis": 0.2}


def run():
    source = origin(pictures.ensure())
    store = redis().start()
    address = f"redis://127.0.0.1:{store.port}"
    peers = {
        "memory": Halcyon("memory"),
        # What has no level before it is read from the disk, or Redis, each time.
        "disk": Halcyon("disk", cache_memory_bytes=0),
        "redis": Halcyon("redis-only", cache_memory_bytes=0, cache_folder="", cache_redis=address, cache_redis_timeout=5),
    }
    files = RUN / "files"
    static = nginx("files", f"server {{ listen 127.0.0.1:%PORT% backlog=1024; root {files}; }}").start()
    for kind in os.environ.get("BENCH_FORMATS", " ".join(pictures.FORMATS)).split():
        names = [pictures.name(index, kind) for index in range(pictures.COUNT)]
        for level, server in peers.items():
            if not server.is_alive:
                server.fresh()
            for name in names:
                status, _, body = load.get(server.port, server.path(source, name))
                assert status == 200, (level, status, body)
                path = files / name
                path.parent.mkdir(parents=True, exist_ok=True)
                if level == "memory":
                    path.write_bytes(body)
                elif path.read_bytes() != body:
                    raise RuntimeError(f"{level} has other bytes for {name}")
        rates = {level: [] for level in ["files", *peers]}
        for _ in range(ROUNDS):
            for level, server in {"files": static, **peers}.items():
                paths = [f"/{name}" if level == "files" else server.path(source, name) for name in names]
                before = server.cpu_seconds()
                result = load.over_and_over(server.port, paths, SECONDS)
                result["cpu"] = (server.cpu_seconds() - before) / result["requests"]
                rates[level].append(result["rate"])
                report.note("warm", level=level, kind=kind, **result)
        floor = statistics.median(rates["files"])
        for level, wanted in WANTED.items():
            ours = statistics.median(rates[level])
            report.row("warm", f"{kind} from {level}: {ours:.5g}/s beside files at {floor:.5g}/s", ours / floor, wanted, unit=" x")
    for server in [*peers.values(), static, store, source]:
        server.stop()
    shutil.rmtree(files)
