"""Export for a search index: the fundings of every type, read side by side with asyncio."""
import asyncio
import email.utils
import json
import os
import random
import sys
import tempfile
import time
from urllib.parse import urljoin, urlsplit

import httpx

ENV = os.environ
TYPES = ["PROGRAMME", "CALL", "ONGOING_CALL", "RESEARCH_CONTRACT", "AWARD", "GRANT", "SCHOLARSHIP"]
TRIES = 6
END = time.monotonic() + 90


class Failed(Exception):
    pass


def pause_asked(r):
    value = r.headers.get("retry-after", "").strip()
    if value.isdigit():
        return float(value)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time()) + 1
    except (TypeError, ValueError):
        return None


class Export:
    def __init__(self, client):
        self.client = client
        self.slots = asyncio.Semaphore(4)
        self.token, self.until, self.quiet = None, 0.0, 0.0
        self.records = {}

    async def attempt(self, method, url, **kw):
        why = ""
        for n in range(TRIES):
            backoff = 0.5 * 2 ** n + random.random() / 4
            try:
                async with self.slots:
                    while (left := self.quiet - time.monotonic()) > 0:
                        if time.monotonic() + left > END:
                            raise Failed("too long a pause")
                        await asyncio.sleep(left)
                    if time.monotonic() > END:
                        raise Failed("out of time " + why)
                    r = await self.client.request(method, url, **kw)
                if r.status_code == 200:
                    return r, r.json()
                if r.status_code not in (429, 500, 502, 503, 504):
                    return r, None
                why, pause = "status %d" % r.status_code, pause_asked(r)
                self.quiet = max(self.quiet, time.monotonic() + (backoff if pause is None else pause))
            except (httpx.TransportError, httpx.DecodingError, json.JSONDecodeError) as e:
                why = type(e).__name__
                await asyncio.sleep(backoff)
        raise Failed("given up: " + why)

    async def renew(self):
        r, data = await self.attempt("POST", ENV["RIN_TOKEN_URL"], data={
            "grant_type": "client_credentials",
            "client_id": ENV["RIN_CLIENT_ID"],
            "client_secret": ENV["RIN_CLIENT_SECRET"],
        })
        if data is None:
            raise Failed("no token: status %d" % r.status_code)
        self.token = data["access_token"]
        self.until = time.monotonic() + 0.8 * (data.get("expires_in") or 60)

    async def get(self, url):
        home, renewed = urlsplit(url)[:2], False
        for _ in range(6):
            if self.token is None or time.monotonic() > self.until:
                await self.renew()
            r, data = await self.attempt("GET", url, headers={"Authorization": "Bearer " + self.token})
            if r.is_redirect:
                url = urljoin(url, r.headers["location"])
                if urlsplit(url)[:2] != home:
                    raise Failed("redirect to another host")
            elif r.status_code == 401 and not renewed:
                renewed = True
                await self.renew()
            elif data is None:
                raise Failed("status %d" % r.status_code)
            else:
                link = r.links.get("next")
                return data, urljoin(url, link["url"]) if link else None
        raise Failed("too many redirects")

    async def read(self, kind):
        url = ENV["RIN_FUNDINGS_URL"] + "?fundingType=%s&page%%5Bsize%%5D=40" % kind
        seen, number = set(), 0
        while url:
            if url in seen or urlsplit(url)[:2] != urlsplit(ENV["RIN_FUNDINGS_URL"])[:2]:
                raise Failed("the next link cannot be followed")
            seen.add(url)
            data, url = await self.get(url)
            for f in data:
                self.records[f["id"]] = {"id": f["id"], "type": f["type"], "name": f.get("name")}
            number += len(data)
        return kind, number


async def run():
    async with httpx.AsyncClient(timeout=20) as client:
        export = Export(client)
        for kind, number in await asyncio.gather(*(export.read(kind) for kind in TYPES)):
            print("%-14s%5d" % (kind, number))
    return export.records


def main():
    records = asyncio.run(run())
    path = os.path.join(tempfile.mkdtemp(prefix="index-"), "index.json")
    with open(path, "w", encoding="utf-8") as out:
        json.dump(sorted(records.values(), key=lambda f: f["id"]), out, ensure_ascii=False)
    print("%d fundings for the index" % len(records))


try:
    main()
except (Failed, KeyError, OSError) as e:
    sys.exit("export failed: %s" % e)
