"""An origin of hostile pictures: the fixtures', cut and lying ones, and servers that are slow, endless or lead in circles."""
import asyncio
import json
import random
import threading

from . import pictures

_FIXTURES = pictures.ROOT / "Tests" / "Fixtures"
_END = b"\r\nConnection: close\r\n\r\n"


def _files():
    """The bytes of the fixtures that are hostile, with their names."""
    found = {}
    for entry in json.loads((_FIXTURES / "bombs" / "index.json").read_text()):
        if "file" in entry:
            found[entry["name"]] = (_FIXTURES / entry["file"]).read_bytes()
        else:
            found[entry["name"]] = b"".join(bytes.fromhex(part) * count for part, count in entry["recipe"])
    for folder in ["hostile", "bad"]:
        for path in sorted((_FIXTURES / folder).iterdir()):
            found[path.name] = path.read_bytes()
    return found


class Origin(threading.Thread):
    """Listens at an address of the loopback of its own, so that it is a host of its own."""

    HOST = "127.0.0.2"

    def __init__(self, good):
        super().__init__(daemon=True)
        self.files, self.good = _files(), good
        self.port, self._ready = 0, threading.Event()

    def begin(self):
        self.start()
        self._ready.wait(10)
        return self

    def names(self):
        """The paths of all that is hostile."""
        return [f"/file/{name}" for name in self.files] + [
            f"/{kind}/{number}" for kind in ["cut", "flipped", "lying", "slow", "endless", "circle", "shorter", "empty"]
            for number in range(12)]

    def run(self):
        asyncio.run(self._serve())

    async def _serve(self):
        server = await asyncio.start_server(self._answer, self.HOST, 0, backlog=256)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await server.serve_forever()

    async def _answer(self, reader, writer):
        try:
            line = await reader.readuntil(b"\r\n\r\n")
            _, kind, rest = line.split(b" ")[1].decode().split("?")[0].split("/", 2)
            await getattr(self, f"_{kind}")(writer, rest)
            await writer.drain()
        except (OSError, ValueError, asyncio.IncompleteReadError, AttributeError, KeyError):
            pass
        finally:
            writer.close()

    def _whole(self, writer, body, media="image/jpeg", length=None):
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {media}\r\nContent-Length: {len(body) if length is None else length}"
        writer.write(head.encode() + _END + body)

    def _picture(self, rest):
        return self.good[int(rest) % len(self.good)]

    async def _file(self, writer, rest):
        self._whole(writer, self.files[rest], "application/octet-stream")

    async def _cut(self, writer, rest):
        body = self._picture(rest)
        self._whole(writer, body[:random.randrange(1, len(body))])

    async def _flipped(self, writer, rest):
        body = bytearray(self._picture(rest))
        for _ in range(50):
            body[random.randrange(len(body))] ^= 1 << random.randrange(8)
        self._whole(writer, bytes(body))

    async def _lying(self, writer, rest):
        body = [b"<html>not a picture</html>" * 100, random.randbytes(100_000), self._picture(rest)][int(rest) % 3]
        self._whole(writer, body, ["image/png", "image/webp", "text/html"][int(rest) % 3])

    async def _shorter(self, writer, rest):
        body = self._picture(rest)
        self._whole(writer, body[:len(body) // 2], length=len(body))

    async def _empty(self, writer, rest):
        self._whole(writer, b"")

    async def _circle(self, writer, rest):
        writer.write(f"HTTP/1.1 302 Found\r\nLocation: /circle/{int(rest) + 1}\r\nContent-Length: 0".encode() + _END)

    async def _slow(self, writer, rest):
        body = self._picture(rest)
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\nContent-Length: {len(body)}".encode() + _END)
        for byte in body[:120]:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(0.5)

    async def _endless(self, writer, rest):
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: image/jpeg" + _END + self._picture(rest))
        while True:
            writer.write(bytes(64 << 10))
            await writer.drain()
