"""Deadlines of all calls that run, read page by page (aiohttp)."""
import asyncio
import json
import os
import sys
import time
from email.utils import parsedate_to_datetime

import aiohttp
from yarl import URL

END = time.monotonic() + 40
SIZE = 30


class Failed(Exception):
    pass


def left():
    return END - time.monotonic()


class Reader:
    def __init__(self, session):
        self.session = session
        self.token = None

    @staticmethod
    def delay(headers, attempt):
        own = 0.6 * 2 ** attempt
        asked = (headers or {}).get("Retry-After", "")
        if asked.isdigit():
            return max(own, int(asked))
        if asked:
            try:
                gap = parsedate_to_datetime(asked) - parsedate_to_datetime(headers["Date"])
                return max(own, gap.total_seconds())
            except (KeyError, TypeError, ValueError):
                return max(own, 10)
        return own

    async def exchange(self, method, url, **options):
        """Repeats an exchange while the node is in trouble."""
        attempt = hops = 0
        while True:
            headers = None
            try:
                async with self.session.request(method, url, allow_redirects=False, **options) as answer:
                    headers = answer.headers
                    content = await answer.read()
                    if answer.status == 200:
                        return 200, answer, json.loads(content)
                    if answer.status in (307, 308):
                        target = url.join(URL(headers.get("Location", ""), encoded=True))
                        if target.origin() != url.origin() or hops == 3:
                            raise Failed(f"redirected to {target.host}, not followed")
                        url, hops = target, hops + 1
                        continue
                    if answer.status < 500 and answer.status != 429:
                        return answer.status, answer, None
                    why = f"status {answer.status}"
            except (aiohttp.ClientError, asyncio.TimeoutError, ValueError) as err:
                why = f"broken answer, {type(err).__name__}"
            wait = self.delay(headers, attempt)
            attempt += 1
            if attempt == 5 or wait > left():
                raise Failed(f"gave up after {attempt} attempts: {why}")
            print(f"{why}; waiting {wait:.1f} s", file=sys.stderr)
            await asyncio.sleep(wait)

    async def login(self):
        form = {"grant_type": "client_credentials",
                "client_id": os.environ["RIN_CLIENT_ID"],
                "client_secret": os.environ["RIN_CLIENT_SECRET"]}
        status, _, data = await self.exchange("POST", URL(os.environ["RIN_TOKEN_URL"]), data=form)
        if data is None:
            raise Failed(f"token endpoint answered {status}")
        self.token = data["access_token"]

    async def page(self, url):
        # A token may be withdrawn at any time: whoever gets a 401 signs in again.
        while left() > 0:
            if self.token is None:
                await self.login()
            headers = {"Authorization": f"Bearer {self.token}", "Accept": "application/json"}
            status, answer, data = await self.exchange("GET", url, headers=headers)
            if status == 200:
                if not isinstance(data, list):
                    raise Failed("the page is not an array")
                return answer, data
            if status != 401:
                raise Failed(f"status {status}")
            print("token refused, signing in again", file=sys.stderr)
            self.token = None
            await asyncio.sleep(0.1)
        raise Failed("out of time")

    async def running(self):
        start = URL(os.environ["RIN_FUNDINGS_URL"])
        url = start.with_query({"runningCalls": "true", "page[size]": SIZE})
        calls, visited = {}, set()
        while url is not None:
            if url in visited:
                raise Failed("the links run in a circle")
            visited.add(url)
            answer, records = await self.page(url)
            for record in records:
                calls[record["id"]] = record
            following = answer.links.get("next", {}).get("url")
            if following is not None and following.origin() != start.origin():
                raise Failed(f"next page on {following.host}: not asked")
            url = following
        return calls


async def main():
    timeout = aiohttp.ClientTimeout(total=12)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        calls = await Reader(session).running()
    ends = []
    for key, call in calls.items():
        stages = [stage.get("callStageEnd") for stage in call.get("callStages", [])]
        ends.append((min(filter(None, stages), default="open"), key))
    for end, key in sorted(ends)[:10]:
        print(end[:10], key)
    print(len(calls), "running calls")

try:
    asyncio.run(main())
except (Failed, KeyError) as err:
    sys.exit(f"incomplete: {err}")
