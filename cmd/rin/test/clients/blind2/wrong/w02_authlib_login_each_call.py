#!/usr/bin/env python3
"""authlib on httpx, asynchronous: the running calls, then details of a dozen of them, four at a time."""
import asyncio, os, random, signal, sys, time
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from urllib.parse import quote
import httpx
from authlib.integrations.httpx_client import AsyncOAuth2Client

T0 = time.monotonic()
signal.signal(signal.SIGALRM, lambda *_: os._exit(1))
signal.alarm(19)
LIST = os.environ["RIN_FUNDINGS_URL"]


class Failed(Exception):
    pass


def seconds_to_wait(attempt, headers):
    ra = headers.get("retry-after", "")
    if ra.isdigit():
        return int(ra) + 0.1
    if ra:
        try:
            return max(0, (parsedate_to_datetime(ra) - datetime.now(timezone.utc)).total_seconds()) + 1
        except (TypeError, ValueError):
            pass
    return 0.5 * 2 ** attempt * random.uniform(1, 1.4)


class Node:
    def __init__(self):
        self.http = AsyncOAuth2Client(os.environ["RIN_CLIENT_ID"], os.environ["RIN_CLIENT_SECRET"],
                                      token_endpoint=os.environ["RIN_TOKEN_URL"], grant_type="client_credentials",
                                      token_endpoint_auth_method="client_secret_post", timeout=8, leeway=2)
        self.http.register_compliance_hook("access_token_response", self.check)
        self.lock = asyncio.Lock()
        self.free_at = 0.0  # nobody asks before this time

    @staticmethod
    def check(r):
        r.raise_for_status()
        return r

    async def hold(self, wait):
        self.free_at = max(self.free_at, time.monotonic() + wait)
        if self.free_at - T0 > 16:
            raise Failed("the node wants us to wait longer than we can")

    async def gate(self):
        while (rest := self.free_at - time.monotonic()) > 0:
            await asyncio.sleep(rest)

    async def login(self):
        async with self.lock:
            for attempt in range(4):
                await self.gate()
                try:
                    token = await self.http.fetch_token()
                    if token.get("access_token") and token.get("token_type", "").lower() == "bearer":
                        return
                    await self.hold(seconds_to_wait(attempt, {}))
                except httpx.HTTPStatusError as e:
                    if e.response.status_code != 429 and e.response.status_code < 500:
                        raise Failed(f"token: {e.response.status_code}")
                    await self.hold(seconds_to_wait(attempt, e.response.headers))
                except (httpx.TransportError, ValueError):
                    await self.hold(seconds_to_wait(attempt, {}))
            raise Failed("no token")

    async def get(self, url, params=None):
        renewed = False
        for attempt in range(5):
            await self.gate()
            await self.login()
            try:
                r = await self.http.get(url, params=params, headers={"Accept": "application/json"})
                if r.status_code == 200:
                    return r.json()
            except (httpx.TransportError, httpx.DecodingError, ValueError):
                await self.hold(seconds_to_wait(attempt, {}))
                continue
            if r.status_code == 401 and not renewed:
                renewed = True
                continue
            elif r.status_code == 429 or r.status_code >= 500:
                await self.hold(seconds_to_wait(attempt, r.headers))
            elif r.status_code == 404:
                return None
            else:
                raise Failed(f"{r.status_code} {url}")
        raise Failed(f"too many tries: {url}")


async def main():
    node = Node()
    calls, offset = {}, 0
    while True:
        page = await node.get(LIST, {"runningCalls": "true", "page[page]": offset, "page[size]": 25})
        if not isinstance(page, list):
            raise Failed("no list")
        calls.update((c["id"], c) for c in page)
        if len(page) < 25:
            break
        offset += 25
    limit = asyncio.Semaphore(4)

    async def detail(i):
        async with limit:
            return await node.get(f"{LIST}/{quote(i, safe='')}")

    tasks = [asyncio.create_task(detail(i)) for i in list(calls)[:12]]
    try:
        details = await asyncio.gather(*tasks)
    except BaseException:
        for t in tasks:
            t.cancel()
        raise
    await node.http.aclose()
    print(len(calls), "running calls,", sum(d is not None for d in details), "details")


try:
    asyncio.run(main())
except Failed as e:
    sys.exit(f"error: {e}")
