"""Reads pages in parallel with aiohttp: four at a time, wave after wave, until a page has no next."""
import asyncio
import email.utils
import os
import sys
import time

import aiohttp

SIZE, WIDTH = 25, 4


class Node:
    def __init__(self, session):
        self.session = session
        self.token = None
        self.lock = asyncio.Lock()
        self.not_before = 0.0

    async def renew(self, refused):
        async with self.lock:
            if self.token is not None and self.token != refused:
                return self.token
            form = {"grant_type": "client_credentials",
                    "client_id": os.environ["RIN_CLIENT_ID"],
                    "client_secret": os.environ["RIN_CLIENT_SECRET"]}
            status, _, body = await self.send("POST", os.environ["RIN_TOKEN_URL"], data=form)
            if status != 200:
                raise RuntimeError(f"token endpoint answered {status}")
            self.token = body["access_token"]
            return self.token

    async def send(self, method, url, **options):
        for attempt in range(7):
            pause = self.not_before - time.monotonic()
            while pause > 0:
                await asyncio.sleep(pause)
                pause = self.not_before - time.monotonic()
            try:
                async with self.session.request(method, url, **options) as response:
                    if response.status == 429 or response.status >= 500:
                        wait = retry_after(response.headers.get("Retry-After"))
                        if wait is None:
                            wait = 0.5 * 2 ** attempt
                        self.not_before = max(self.not_before, time.monotonic() + wait)
                        continue
                    if response.status == 401:
                        return 401, response.headers, None
                    response.raise_for_status()
                    return response.status, response.headers, await response.json()
            except (aiohttp.ClientPayloadError, aiohttp.ClientConnectionError, asyncio.TimeoutError):
                await asyncio.sleep(0.5 * 2 ** attempt)
        raise RuntimeError(f"{url} failed seven times")

    async def get(self, url, **options):
        """Returns the page and whether there is another."""
        token = self.token or await self.renew(None)
        for _ in range(2):
            status, headers, body = await self.send(
                "GET", url, headers={"Authorization": "Bearer " + token}, **options)
            if status != 401:
                return body, 'rel="next"' in headers.get("Link", "")
            token = await self.renew(token)
        raise RuntimeError("the node refuses fresh tokens")


def retry_after(value):
    if value is None:
        return None
    if value.strip().isdigit():
        return int(value)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None


async def main():
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=20)) as session:
        node = Node(session)
        records, skip, done = [], 0, False
        while not done:
            wave = [node.get(os.environ["RIN_FUNDINGS_URL"],
                             params={"page[page]": str(skip + i * SIZE), "page[size]": str(SIZE)})
                    for i in range(WIDTH)]
            for page, more in await asyncio.gather(*wave):
                done = done or not more
                records += page
            skip += WIDTH * SIZE
        print(len({r["id"] for r in records}), "fundings")


try:
    asyncio.run(main())
except Exception as error:
    sys.exit(f"harvest failed: {error!r}")
