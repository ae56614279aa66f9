"""Copies all fundings into a JSON lines file, with up to three pages on their way at once.

The addresses of the pages of a window are worked out beforehand; what counts is
the chain of next links. Where it leaves the expected path, the copy goes on there.
"""
import asyncio
import email.utils
import json
import os
import random
import re
import sys
import tempfile
import time
from urllib.parse import parse_qs, urljoin, urlsplit

import httpx

ENV = os.environ
SIZE, WIDTH, TRIES = 30, 3, 6
END = time.monotonic() + 90


class Failed(Exception):
    pass


def asked_pause(r):
    value = r.headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d+", value):
        return float(value)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time()) + 1
    except (TypeError, ValueError):
        return None


class Api:
    def __init__(self, client):
        self.client, self.lock = client, asyncio.Lock()
        self.token, self.until, self.quiet = None, 0.0, 0.0

    async def attempt(self, make):
        why = "nothing"
        for n in range(TRIES):
            while (left := self.quiet - time.monotonic()) > 0:
                if time.monotonic() + left > END:
                    raise Failed("the pause asked for is too long")
                await asyncio.sleep(left)
            if time.monotonic() > END:
                break
            backoff = 0.5 * 2 ** n + random.random() / 4
            try:
                r = await make()
                if r.status_code == 200:
                    return r, r.json()
                if r.status_code not in (429, 500, 502, 503, 504):
                    return r, None
                why, pause = str(r.status_code), asked_pause(r)
                until = time.monotonic() + (backoff if pause is None else pause)
                self.quiet = max(self.quiet, until)
            except (httpx.TransportError, httpx.DecodingError, json.JSONDecodeError) as e:
                why = type(e).__name__
                await asyncio.sleep(backoff)
        raise Failed("given up after " + why)

    async def bearer(self, refused=None):
        async with self.lock:
            if self.token in (None, refused) or time.monotonic() > self.until:
                form = {"grant_type": "client_credentials", "client_id": ENV["RIN_CLIENT_ID"],
                        "client_secret": ENV["RIN_CLIENT_SECRET"]}
                r, data = await self.attempt(lambda: self.client.post(ENV["RIN_TOKEN_URL"], data=form))
                if data is None:
                    raise Failed("token endpoint answers %d" % r.status_code)
                self.token = data["access_token"]
                self.until = time.monotonic() + 0.8 * (data.get("expires_in") or 60)
            return self.token

    async def get(self, url):
        home, refused = urlsplit(url)[:2], None
        for hop in range(6):
            token = await self.bearer(refused)
            head = {"Authorization": "Bearer " + token}
            r, data = await self.attempt(lambda: self.client.get(url, headers=head))
            if r.is_redirect:
                url = urljoin(url, r.headers["location"])
                if urlsplit(url)[:2] != home:
                    raise Failed("redirect to another host")
            elif r.status_code == 401 and refused is None:
                refused = token
            elif data is None:
                raise Failed("status %d" % r.status_code)
            else:
                link = r.links.get("next")
                return data, urljoin(url, link["url"]) if link else None
        raise Failed("too many redirects or refusals")


def skip_of(url):
    return int(parse_qs(urlsplit(url).query)["page[page]"][0])


async def copy(out):
    async with httpx.AsyncClient(timeout=20) as client:
        api, seen, skip, width, requests = Api(client), set(), 0, 1, 0
        base = ENV["RIN_FUNDINGS_URL"] + "?page%5Bpage%5D={}&page%5Bsize%5D=" + str(SIZE)
        while skip is not None:
            spots = [skip + k * SIZE for k in range(width)]
            pages = await asyncio.gather(*(api.get(base.format(s)) for s in spots))
            for spot, (records, following) in zip(spots, pages):
                if spot != skip:
                    break
                for f in records:
                    if f["id"] not in seen:
                        seen.add(f["id"])
                        out.write(json.dumps(f, ensure_ascii=False) + "\n")
                before, skip = skip, skip_of(following) if following else None
                if skip is None:
                    break
                if skip <= before:
                    raise Failed("the next link does not lead on")
            requests += 1
            width = WIDTH
            if requests > 400:
                raise Failed("no end of pages")
        return len(seen)


def main():
    path = os.path.join(tempfile.mkdtemp(prefix="copy-"), "fundings.jsonl")
    with open(path + ".part", "w", encoding="utf-8") as out:
        number = asyncio.run(copy(out))
    os.rename(path + ".part", path)
    print("%d fundings copied" % number)


try:
    main()
except (Failed, KeyError, ValueError, OSError) as e:
    sys.exit("copy failed: %s" % e)
