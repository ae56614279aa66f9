#!/usr/bin/env python3
"""aiohttp: three workers share the pages of the list; one token, one pause for all."""
import asyncio, json, os, random, signal, sys, time
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
import aiohttp

WORKERS, SIZE, TRIES = 3, 30, 5
LAST = time.monotonic() + 16
signal.signal(signal.SIGALRM, lambda *_: os._exit(1))
signal.alarm(19)


class Abort(Exception):
    pass


def backoff(n, headers=None):
    v = (headers or {}).get("Retry-After", "").strip()
    if v.isdigit():
        return float(v) + 0.1
    if v:
        try:
            return max(0.0, (parsedate_to_datetime(v) - datetime.now(timezone.utc)).total_seconds()) + 1
        except (ValueError, TypeError):
            pass
    return 0.4 * 2 ** n + random.random() * 0.4


class Harvest:
    def __init__(self, http):
        self.http, self.not_before = http, 0.0
        self.token, self.token_end, self.token_lock = None, 0.0, asyncio.Lock()
        self.offset, self.done, self.records = 0, False, {}

    def rest(self, seconds):
        self.not_before = max(self.not_before, time.monotonic() + seconds)
        if self.not_before > LAST:
            raise Abort("no time to wait that long")

    async def ready(self):
        while (d := self.not_before - time.monotonic()) > 0:
            await asyncio.sleep(d)

    async def bearer(self, bad=None):
        async with self.token_lock:
            if self.token and self.token != bad and time.monotonic() < self.token_end:
                return self.token
            auth = aiohttp.BasicAuth(os.environ["RIN_CLIENT_ID"], os.environ["RIN_CLIENT_SECRET"])
            for n in range(TRIES):
                await self.ready()
                try:
                    async with self.http.post(os.environ["RIN_TOKEN_URL"], auth=auth, allow_redirects=False,
                                              data={"grant_type": "client_credentials"}) as r:
                        raw = await r.read()
                        if r.status == 429 or r.status >= 500:
                            self.rest(backoff(n, r.headers))
                            continue
                        if r.status != 200:
                            raise Abort(f"token endpoint {r.status}")
                        t = json.loads(raw)
                        if str(t["token_type"]).lower() != "bearer":
                            raise Abort("unknown token type")
                        self.token = t["access_token"]
                        self.token_end = time.monotonic() + int(t.get("expires_in", 300)) * 0.9
                        return self.token
                except (aiohttp.ClientError, asyncio.TimeoutError, ValueError, KeyError):
                    self.rest(backoff(n))
            raise Abort("no token")

    async def page(self, offset):
        again = None
        for n in range(TRIES):
            token = await self.bearer(again)
            await self.ready()
            try:
                async with self.http.get(os.environ["RIN_FUNDINGS_URL"], allow_redirects=False,
                                         params={"page[page]": offset, "page[size]": SIZE},
                                         headers={"Authorization": f"Bearer {token}", "Accept": "application/json"}) as r:
                    raw = await r.read()
                    if r.status == 401 and again is None:
                        again = token
                        continue
                    if r.status == 429 or r.status >= 500:
                        self.rest(backoff(n, r.headers))
                        continue
                    if r.status != 200:
                        raise Abort(f"list {r.status}")
                    page = json.loads(raw)
                    if not isinstance(page, list):
                        raise ValueError
                    return page
            except (aiohttp.ClientError, asyncio.TimeoutError, ValueError):
                self.rest(backoff(n))
        raise Abort(f"page at {offset} failed {TRIES} times")

    async def work(self):
        while not self.done:
            offset, self.offset = self.offset, self.offset + SIZE
            page = await self.page(offset)
            self.records.update((f["id"], f) for f in page)
            if len(page) < SIZE:
                self.done = True


async def main():
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=9)) as http:
        h = Harvest(http)
        tasks = [asyncio.create_task(h.work()) for _ in range(WORKERS)]
        try:
            await asyncio.gather(*tasks)
        except Abort:
            for t in tasks:
                t.cancel()
            raise
        print(len(h.records), "fundings")


try:
    asyncio.run(main())
except Abort as e:
    sys.exit(str(e))
