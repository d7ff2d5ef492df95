"""A fleet: four processes behind nginx with one Redis, where one fetches and makes what all answer."""
import asyncio
import collections
import hashlib
import random

from . import load, pictures, report
from .servers import RUN, Halcyon, nginx, origin, redis

COUNT, PICTURES = 4, 500
SIZES = [(64 + 24 * step, 48 + 18 * step) for step in range(10)]


class Fleet:
    """The processes, and nginx before them, which asks the next one where the first cannot answer."""

    def __init__(self, name, **settings):
        self.servers = [Halcyon(f"{name}-{number}", **settings) for number in range(COUNT)]
        places = " ".join(f"server 127.0.0.1:{server.port} max_fails=0;" for server in self.servers)
        self.front = nginx(f"{name}-front", f"""upstream fleet {{ {places} keepalive 32; }}
server {{ listen 127.0.0.1:%PORT% backlog=1024;
    location / {{
        proxy_pass http://fleet; proxy_http_version 1.1; proxy_set_header Connection "";
        proxy_next_upstream error timeout invalid_header; proxy_buffers 16 64k; proxy_buffer_size 64k; proxy_busy_buffers_size 128k;
    }} }}""")

    def start(self):
        for server in self.servers:
            server.fresh()
        self.front.start()
        return self

    def stop(self):
        for server in [self.front, *self.servers]:
            server.stop()

    def complaints(self):
        """The last lines of nginx's log that tell of answers without a picture."""
        lines = (RUN / self.front.name / "error.log").read_text(errors="replace").splitlines()
        return [line[20:400] for line in lines if "connect() failed" not in line][-5:]

    def sum(self, beginning):
        """The sum of all series whose names begin so, over all processes."""
        return sum(value for server in self.servers for name, value in server.metrics().items() if name.startswith(beginning))


def jobs(count=PICTURES):
    """The pairs of pictures and sizes."""
    return [(index, size) for index in range(count) for size in SIZES]


def path(server, source, job):
    index, (width, height) = job
    return server.path(source, f"small/{index:03}.jpg", width, height)


def digest(body):
    return hashlib.sha256(body).hexdigest()


class Check:
    """The answers, beside the bytes that one process makes alone."""

    def __init__(self):
        self.expected, self.statuses, self.wrong = {}, collections.Counter(), 0
        #: The first answers that are no pictures.
        self.failures = []

    def learn(self, wanted, source):
        """Makes all answers by one process without a cache that others see."""
        alone = Halcyon("alone", queue_waiting=1000).fresh()
        paths = [path(alone, source, job) for job in wanted]
        seconds = asyncio.run(load.at_once([alone.port], paths, 8, self._learn))
        alone.stop()
        return seconds

    def _learn(self, path, status, body):
        if status != 200:
            raise RuntimeError(f"the process alone answers {path} with {status}")
        self.expected[path] = digest(body)

    def __call__(self, path, status, body):
        self.statuses[status] += 1
        if status != 200 and len(self.failures) < 10:
            self.failures.append((status, body[:300].decode(errors="replace")))
        if status == 200 and self.expected.get(path) != digest(body):
            self.wrong += 1


def run():
    pictures.ensure()
    check, wanted = Check(), jobs()
    first = origin(pictures.FOLDER, "origin-alone")
    alone = check.learn(wanted, first)
    store = redis().start()
    fleet = Fleet("fleet", cache_redis=f"redis://127.0.0.1:{store.port}").start()
    # The same origin's name is in the URLs; its log begins anew.
    log = RUN / "origin.access"
    first.stop()
    source = origin(pictures.FOLDER, log=True)
    requests = [path(fleet.servers[0], source, job) for job in wanted] * 2
    check.expected = {
        url.replace(f":{first.port}/", f":{source.port}/"): value for url, value in check.expected.items()}
    random.Random(27).shuffle(requests)
    seconds = asyncio.run(load.at_once([fleet.front.port], requests, 16, check))
    encodes = fleet.sum(ENCODES)
    fetches = len(log.read_text().splitlines())
    report.note(
        "fleet", requests=len(requests), seconds=seconds, alone=alone, statuses=dict(check.statuses), encodes=encodes,
        fetches=fetches, claims={name: fleet.sum(f"halcyon_server_redis_{name}") for name in [
            "hits", "misses", "unanswered", "stores", "failed_stores", "failures", "claims_granted", "claims_stored", "claims_alone"]})
    report.row("fleet", "requests without an answer", len(requests) - check.statuses[200], 0, least=False)
    report.row("fleet", "wrong bytes", check.wrong, 0, least=False)
    report.row("fleet", f"fetches at the origin of {PICTURES} pictures", fetches, PICTURES, least=False)
    report.row("fleet", "encodings that are made, to those that there are", encodes / len(wanted), 1.01, least=False)
    for server in [fleet, source, store]:
        server.stop()


#: The series that counts encodings.
ENCODES = "halcyon_encode_duration_seconds_count"
