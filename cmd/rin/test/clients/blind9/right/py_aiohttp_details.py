#!/usr/bin/env python3
"""Detail pages of the running calls in Styria: asyncio workers, one shared token, one shared brake."""
import asyncio
import email.utils
import os
import sys
import time

import aiohttp
from yarl import URL

WORKERS, WANTED = 4, 24


class Failed(Exception):
    pass


class Api:
    def __init__(self, session):
        self.s = session
        self.base = URL(os.environ["RIN_FUNDINGS_URL"])
        self.token = None
        self.login_lock = asyncio.Lock()
        self.not_before = 0.0

    async def login(self, used):
        async with self.login_lock:
            if self.token != used:  # another worker was faster
                return
            self.token = None
            form = {"grant_type": "client_credentials", "client_id": os.environ["RIN_CLIENT_ID"],
                    "client_secret": os.environ["RIN_CLIENT_SECRET"]}
            status, _, doc = await self.send("POST", URL(os.environ["RIN_TOKEN_URL"]), data=form,
                                             allow_redirects=False)
            if status != 200:
                raise Failed(f"token endpoint: {status}")
            self.token = doc["access_token"]

    @staticmethod
    def seconds(headers, attempt):
        v = headers.get("Retry-After", "")
        if v.isdigit():
            return max(1.0, float(v))
        try:
            when = email.utils.parsedate_to_datetime(v)
            return max(1.0, when.timestamp() - time.time())
        except (TypeError, ValueError):
            return min(8.0, 1.5 * 2 ** attempt)

    async def send(self, method, url, **kw):
        for attempt in range(6):
            while (d := self.not_before - time.monotonic()) > 0:
                await asyncio.sleep(d)
            async with self.s.request(method, url, **kw) as r:
                if r.status in (429, 503):
                    stop = time.monotonic() + self.seconds(r.headers, attempt) + 0.05
                    self.not_before = max(self.not_before, stop)
                    await r.read()
                    continue
                if r.status != 200:
                    return r.status, r, None
                return r.status, r, await r.json(content_type=None)
        raise Failed(f"still {r.status} after {attempt + 1} tries: {url}")

    async def get(self, url):
        for attempt in range(2):
            used = self.token
            if used is None:
                await self.login(None)
                used = self.token
            status, r, doc = await self.send("GET", url, headers={"Authorization": f"Bearer {used}"})
            if status == 401 and attempt == 0 and r.url.origin() == self.base.origin():
                await self.login(used)
                continue
            if status != 200:
                raise Failed(f"{status}: {r.url}")
            return r, doc

    async def ids(self, **query):
        url, asked, read = self.base.with_query(query | {"page[size]": "20"}), set(), 0
        while True:
            if url.origin() != self.base.origin():
                raise Failed(f"next page is on another host: {url}")
            if str(url) in asked:
                raise Failed("loop")
            asked.add(str(url))
            r, page = await self.get(url)
            if not isinstance(page, list):
                raise Failed("no list")
            for f in page:
                yield f["id"]
            read += len(page)
            if "next" in r.links:
                url = URL(r.links["next"]["url"])
            elif page and "Link" not in r.headers:
                url = self.base.with_query(query | {"page[size]": "20", "page[page]": str(read)})
            else:
                return


async def main():
    timeout = aiohttp.ClientTimeout(total=20)
    async with aiohttp.ClientSession(timeout=timeout) as s:
        api = Api(s)
        wanted = []
        async for i in api.ids(runningCalls="true", region="STYRIA"):
            if i not in wanted:
                wanted.append(i)
            if len(wanted) == WANTED:
                break
        queue = asyncio.Queue()
        for i in wanted:
            queue.put_nowait(i)
        result = {}

        async def worker():
            while not queue.empty():
                i = queue.get_nowait()
                _, doc = await api.get(api.base / i)
                if not isinstance(doc, dict) or doc.get("id") != i:
                    raise Failed(f"no record {i}")
                result[i] = doc

        async with asyncio.TaskGroup() as g:
            for _ in range(WORKERS):
                g.create_task(worker())
        for i in wanted:
            end = max((st["callStageEnd"] for st in result[i].get("callStages", [])), default="open")
            print(i, end, result[i]["name"][0]["text"], sep=" | ")


try:
    asyncio.run(main())
except* (Failed, aiohttp.ClientError, asyncio.TimeoutError, ValueError, KeyError, TypeError) as eg:
    sys.exit("failed: " + repr(eg.exceptions[0]))
