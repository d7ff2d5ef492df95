"""Asks a server as clients in Python do: with URLs of the packages imgproxy and libthumbor, by requests.

    clients.py SERVER KEY SALT THUMBOR_KEY SOURCE

KEY and SALT are hexadecimal. Prints an answer as a JSON line each: the name, the status, the media type, and the size of the picture as
its own bytes tell it.
"""
import base64
import hashlib
import hmac
import json
import struct
import sys

import imgproxy
import requests
from libthumbor import CryptoURL

server, key, salt, thumbor_key, source = sys.argv[1:]


def size(data):
    """The width and the height in the header of a PNG, a JPEG or a WebP; none of anything else."""
    if data[:8] == b"\x89PNG\r\n\x1a\n":
        return list(struct.unpack(">II", data[16:24]))
    if data[:4] == b"RIFF" and data[12:16] == b"VP8 ":
        width, height = struct.unpack("<HH", data[26:30])
        return [width & 0x3FFF, height & 0x3FFF]
    if data[:4] == b"RIFF" and data[12:16] == b"VP8X":
        return [1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")]
    if data[:2] == b"\xff\xd8":
        place = 2
        while place + 9 < len(data):
            marker, length = struct.unpack(">xBH", data[place : place + 4])
            if marker in (0xC0, 0xC1, 0xC2):
                height, width = struct.unpack(">HH", data[place + 5 : place + 9])
                return [width, height]
            place += 2 + length
    return None


def ask(name, path, **fields):
    answer = requests.get(path if "://" in path[:8] else server + path, headers=fields, timeout=60)
    kind = answer.headers.get("Content-Type")
    print(json.dumps({"name": name, "status": answer.status_code, "type": kind, "size": size(answer.content)}))
    return answer


def signed(path):
    """The signature that imgproxy's documentation describes: HMAC-SHA256 of salt and path, URL-safe base64 without padding."""
    digest = hmac.new(bytes.fromhex(key), bytes.fromhex(salt) + path.encode(), hashlib.sha256).digest()
    return "/" + base64.urlsafe_b64encode(digest).rstrip(b"=").decode() + path


encoded = base64.urlsafe_b64encode(source.encode()).rstrip(b"=").decode()
ask("imgproxy by hand, encoded", signed(f"/rs:fill:120:80/{encoded}.png"))
ask("imgproxy by hand, plain", signed(f"/rs:fill:64:64/g:no/plain/{source}@jpg"))
ask("imgproxy by hand, chosen", signed(f"/rs:force:50:60/{encoded}"), Accept="image/webp,*/*")
ask("imgproxy by hand, another path", signed("/rs:fill:1:1/" + encoded).replace("rs:fill:1:1", "rs:fill:2:2"))

make = imgproxy.ImgProxy.factory(proxy_host=server, key=key, salt=salt)
ask("imgproxy of PyPI", str(make(source, width=90, height=70, resizing_type="fill", extension="png")))

crypto = CryptoURL(key=thumbor_key)
ask("libthumbor", crypto.generate(width=110, height=70, image_url=source, filters=["format(png)"]))
ask("libthumbor, fit-in", crypto.generate(width=60, height=600, fit_in=True, image_url=source, filters=["format(jpeg)"]))
ask("libthumbor, another key", CryptoURL(key="wrong").generate(width=10, height=10, image_url=source))

first = ask("requests", signed(f"/rs:fill:40:40/plain/{source}@png"))
again = ask("requests, known", signed(f"/rs:fill:40:40/plain/{source}@png"), **{"If-None-Match": first.headers["ETag"]})
