"""The servers of the bars: each is a process of its own on the loopback, ended with the run."""
import atexit
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

from .pictures import WORK

#: Processes of each server: one for each processor.
PROCESSES = os.cpu_count()
QUALITY = 80
RUN = pathlib.Path(tempfile.mkdtemp(prefix="halcyon-bench-"))
# Workers of nginx are nobody's.
RUN.chmod(0o755)
_running = []


@atexit.register
def _end():
    for server in list(_running):
        server.stop()
    shutil.rmtree(RUN, ignore_errors=True)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A process that listens at a port."""

    def __init__(self, name, command, port, environment=None, wrap=()):
        self.name, self.command, self.port = name, [*wrap, *map(str, command)], port
        self.environment = {**os.environ, **(environment or {})}
        self.process = None
        self.starts = 0

    def start(self, ready=None):
        self.starts += 1
        log = open(RUN / f"{self.name}.log", "ab")
        self.process = subprocess.Popen(
            self.command, stdout=log, stderr=log, env=self.environment, start_new_session=True)
        if self not in _running:
            _running.append(self)
        self.wait(ready)
        return self

    def wait(self, ready=None):
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                break
            try:
                if ready:
                    urllib.request.urlopen(f"http://127.0.0.1:{self.port}{ready}", timeout=5).read()
                else:
                    socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.05)
        sys.exit(f"{self.name} did not start: see {RUN / self.name}.log\n{self.tail()}")

    def tail(self):
        try:
            return (RUN / f"{self.name}.log").read_text(errors="replace")[-2000:]
        except OSError:
            return ""

    @property
    def is_alive(self):
        return self.process is not None and self.process.poll() is None

    def kill(self):
        """Ends the process without a warning, and those that it has started."""
        self._signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        if self in _running:
            _running.remove(self)
        if not self.is_alive:
            return
        self._signal(signal.SIGTERM)
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.kill()

    def _signal(self, number):
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            pass

    def processes(self):
        """The identifiers of the process and of all that it has started."""
        found, open_ones = [], [self.process.pid]
        while open_ones:
            pid = open_ones.pop()
            found.append(pid)
            try:
                for task in os.listdir(f"/proc/{pid}/task"):
                    open_ones += map(int, pathlib.Path(f"/proc/{pid}/task/{task}/children").read_text().split())
            except OSError:
                continue
        return found

    def cpu_seconds(self):
        """The time of processors that all processes have taken, with the ended ones that were waited for."""
        ticks = 0
        for pid in self.processes():
            try:
                fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
                ticks += sum(map(int, fields[11:15]))
            except OSError:
                continue
        return ticks / os.sysconf("SC_CLK_TCK")

    def resident_bytes(self):
        """The memory of all processes in RAM, shared pages by their share."""
        total = 0
        for pid in self.processes():
            try:
                for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                    if line.startswith("Pss:"):
                        total += int(line.split()[1]) << 10
            except OSError:
                continue
        return total


def nginx(name, body, *, modules=(), workers=PROCESSES):
    """nginx with the content of its `http` block, in which %PORT% is its port."""
    port = free_port()
    folder = RUN / name
    folder.mkdir(exist_ok=True)
    temporary = "".join(
        f"{kind}_temp_path {folder}/{kind};\n" for kind in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"])
    loads = "".join(f"load_module /usr/lib/nginx/modules/{module};\n" for module in modules)
    (folder / "nginx.conf").write_text(f"""{loads}daemon off;
user root;
worker_processes {workers};
worker_rlimit_nofile 8192;
pid {folder}/pid;
error_log {folder}/error.log error;
events {{ worker_connections 2048; }}
http {{
types {{ image/jpeg jpg; image/png png; image/webp webp; }}
access_log off;
sendfile on;
tcp_nopush on;
keepalive_timeout 60;
keepalive_requests 1000000;
{temporary}{body.replace('%PORT%', str(port))}
}}
""")
    return Server(name, ["nginx", "-p", folder, "-c", folder / "nginx.conf"], port)


def origin(folder, name="origin", log=False):
    """The server of the pictures, which all peers fetch from."""
    lines = f"access_log {RUN / name}.access;" if log else ""
    return nginx(name, f"""server {{ listen 127.0.0.1:%PORT% backlog=1024; root {folder}; {lines}
    location / {{ add_header Cache-Control "public, max-age=600"; }} }}""").start()


class Halcyon(Server):
    """Halcyon Server with its defaults, but for an origin on the loopback and logs of warnings."""

    def __init__(self, name="halcyon", wrap=(), **settings):
        port, self.reports = free_port(), free_port()
        self.cache = RUN / f"{name}-cache"
        environment = {
            "HALCYON_HTTP_PORT": port, "HALCYON_METRICS_PORT": self.reports,
            "HALCYON_SOURCE_ALLOW_PRIVATE_ADDRESSES": "true", "HALCYON_LOG_LEVEL": "warning",
            "HALCYON_CACHE_FOLDER": self.cache,
            **{f"HALCYON_{key.upper()}": value for key, value in settings.items()},
        }
        super().__init__(
            name, [os.environ["BENCH_PROGRAM"]], port, {key: str(value) for key, value in environment.items()}, wrap)

    def start(self, ready="/ready"):
        return super().start(ready)

    def fresh(self):
        """Starts it with an empty cache."""
        self.stop()
        shutil.rmtree(self.cache, ignore_errors=True)
        return self.start()

    def path(self, origin, name, width=512, height=512):
        return f"/_/rs:fit:{width}:{height}/q:{QUALITY}/plain/http://127.0.0.1:{origin.port}/{name}"

    def metrics(self):
        """The values of all series by their names, with labels."""
        text = urllib.request.urlopen(f"http://127.0.0.1:{self.reports}/metrics", timeout=20).read().decode()
        lines = [line.rsplit(" ", 1) for line in text.splitlines() if line and not line.startswith("#")]
        return {name: float(value) for name, value in lines}


class Thumbor(Server):
    """thumbor with a process for each processor and no storage: each picture is fetched and made."""

    def __init__(self, name="thumbor"):
        port = free_port()
        configuration = RUN / "thumbor.conf"
        configuration.write_text(f"""QUALITY = {QUALITY}
WEBP_QUALITY = {QUALITY}
STORAGE = 'thumbor.storages.no_storage'
ALLOW_UNSAFE_URL = True
HTTP_LOADER_MAX_CLIENTS = 64
MAX_PIXELS = 75000000
""")
        program = WORK / "peers" / "bin" / "thumbor"
        super().__init__(
            name, [program, "-i", "127.0.0.1", "-p", port, "-c", configuration, "-l", "error", "--processes", PROCESSES],
            port)

    def start(self, ready="/healthcheck"):
        return super().start(ready)

    def fresh(self):
        self.stop()
        return self.start()

    def path(self, origin, name, width=512, height=512):
        return f"/unsafe/fit-in/{width}x{height}/http://127.0.0.1:{origin.port}/{name}"


class ImageFilter:
    """nginx with image_filter, which makes a picture in the process that has its connection."""

    def __init__(self, origin):
        self.server = nginx("image-filter", f"""server {{ listen 127.0.0.1:%PORT% backlog=1024;
    location / {{
        image_filter_buffer 64M; image_filter_jpeg_quality {QUALITY}; image_filter_webp_quality {QUALITY};
        image_filter resize 512 512;
        proxy_pass http://127.0.0.1:{origin.port}; proxy_buffers 16 256k; proxy_buffer_size 256k; proxy_busy_buffers_size 512k;
    }} }}""", modules=["ngx_http_image_filter_module.so"])
        self.name = self.server.name

    def fresh(self):
        self.server.stop()
        return self.server.start()

    def stop(self):
        self.server.stop()

    port = property(lambda self: self.server.port)

    def cpu_seconds(self):
        return self.server.cpu_seconds()

    def path(self, origin, name, width=512, height=512):
        return f"/{name}"


def redis(name="redis", port=None):
    """Redis without a disk and with a bound of its memory."""
    port = port or free_port()
    return Server(name, [
        "redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--maxmemory", "1gb",
        "--maxmemory-policy", "allkeys-lru", "--dir", RUN], port)
