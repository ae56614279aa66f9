"""Monthly statistics of the fundings by type, with a few concurrent requests.

Pages are read in bundles of three (aiohttp). Each page is repeated after
passing troubles; Retry-After holds back the whole program.
"""
import asyncio
import collections
import email.utils
import os
import sys
import time

import aiohttp
from yarl import URL

SIZE, BUNDLE, ATTEMPTS = 45, 3, 4


class ReportError(Exception):
    pass


def pause_of(answer, attempt):
    value = answer.headers.get("Retry-After", "").strip() if answer is not None else ""
    if value.isdigit():
        return int(value)
    if value:
        try:
            then = email.utils.parsedate_to_datetime(value)
            now = email.utils.parsedate_to_datetime(answer.headers["Date"])
            return max(1.0, (then - now).total_seconds())
        except (KeyError, ValueError, TypeError):
            pass
    return 1.0 * 2 ** attempt


class Statistics:
    def __init__(self, http):
        self.http = http
        self.list = URL(os.environ["RIN_FUNDINGS_URL"])
        self.token, self.lock = None, asyncio.Lock()
        self.quiet_until = 0.0

    async def send(self, method, url, **more):
        """(status, headers, parsed body) of an answer that is no passing trouble."""
        trouble = ""
        for attempt in range(ATTEMPTS):
            answer = None
            while (rest := self.quiet_until - time.monotonic()) > 0:
                await asyncio.sleep(rest)
            try:
                async with self.http.request(method, url, allow_redirects=False, **more) as answer:
                    if answer.status != 429 and answer.status < 500:
                        body = await answer.json() if answer.status == 200 else await answer.text()
                        return answer.status, answer.headers, body
                    trouble = f"status {answer.status}"
            except (aiohttp.ClientError, asyncio.TimeoutError, ValueError) as exc:
                trouble = type(exc).__name__
            print(f"{url.path}: {trouble}", file=sys.stderr)
            self.quiet_until = max(self.quiet_until, time.monotonic() + pause_of(answer, attempt))
        raise ReportError(f"{url.path}: {trouble}, {ATTEMPTS} times")

    async def login(self):
        status, _, body = await self.send("POST", URL(os.environ["RIN_TOKEN_URL"]), data={
            "grant_type": "client_credentials", "client_id": os.environ["RIN_CLIENT_ID"],
            "client_secret": os.environ["RIN_CLIENT_SECRET"]})
        if status != 200:
            raise ReportError(f"no token: {status}")
        self.token = body["access_token"]

    async def get(self, url):
        used = self.token
        status, headers, body = await self.send("GET", url, headers={"Authorization": f"Bearer {used}"})
        if status == 401:
            async with self.lock:  # nobody else uses the new token before this request
                if self.token == used:
                    await self.login()
                status, headers, body = await self.send(
                    "GET", url, headers={"Authorization": f"Bearer {self.token}"})
        if status in (301, 302, 307, 308):
            target = url.join(URL(headers["Location"]))
            if target.origin() != self.list.origin() or target.path.strip("/") != self.list.path.strip("/"):
                raise ReportError(f"redirected to {target.origin()}, not followed")
            self.list = target.with_query(None)
            return await self.get(target)
        if status != 200:
            raise ReportError(f"{status}: {body[:200]}")
        return headers, body

    async def page(self, offset):
        for pause in (0, 2):  # an empty page before the end is read a second time
            await asyncio.sleep(pause)
            headers, body = await self.get(self.list.with_query({"page[page]": offset, "page[size]": SIZE}))
            more = 'rel="next"' in headers.get("Link", "")
            if body or not more:
                break
        return body, more


async def main():
    kinds = {}
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=12)) as http, asyncio.timeout(55):
        statistics = Statistics(http)
        await statistics.login()
        page, more = await statistics.page(0)
        kinds.update((record["id"], record["type"]) for record in page)
        offset = SIZE
        while more:
            pages = await asyncio.gather(
                *(statistics.page(offset + SIZE * i) for i in range(BUNDLE)), return_exceptions=True)
            offset += SIZE * BUNDLE
            for result in pages:
                if isinstance(result, tuple):
                    page, more = result
                    kinds.update((record["id"], record["type"]) for record in page)
    if not kinds:
        raise ReportError("no fundings at all")
    for kind, number in collections.Counter(kinds.values()).most_common():
        print(f"{kind:20} {number:5}")
    print(f"{'all':20} {len(kinds):5}")


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except (ReportError, TimeoutError, KeyError) as exc:
        sys.exit(f"report failed: {exc or type(exc).__name__}")
