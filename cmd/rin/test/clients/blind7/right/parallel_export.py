"""CSV export with three concurrent readers, for a report that is in a hurry.

The first page is read alone. Then three workers take offsets from a counter
until a page comes without a link to the next. When the node asks for a pause,
all workers pause, and afterwards they go on one at a time.
"""
import asyncio
import csv
import email.utils
import io
import os
import sys
import time

import aiohttp
from yarl import URL

SIZE, WORKERS, ATTEMPTS = 40, 3, 5


class ExportError(Exception):
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


class Reader:
    def __init__(self, http):
        self.http = http
        self.list = URL(os.environ["RIN_FUNDINGS_URL"])
        self.token, self.token_lock = None, asyncio.Lock()
        self.slots = asyncio.Semaphore(WORKERS)
        self.shrunk = False
        self.quiet_until = 0.0
        self.records, self.end, self.next_offset = {}, None, SIZE

    async def shrink(self, pause):
        self.quiet_until = max(self.quiet_until, time.monotonic() + pause)
        if not self.shrunk:
            self.shrunk = True
            self.held = [asyncio.create_task(self.slots.acquire()) for _ in range(WORKERS - 1)]

    async def send(self, method, url, **more):
        """(status, headers, parsed body) of an answer that is no passing trouble."""
        trouble = ""
        for attempt in range(ATTEMPTS):
            answer = None
            async with self.slots:
                while (rest := self.quiet_until - time.monotonic()) > 0:
                    await asyncio.sleep(rest)
                try:
                    async with self.http.request(method, url, allow_redirects=False, **more) as answer:
                        if answer.status != 429 and answer.status < 500:
                            body = await answer.json() if answer.status == 200 else await answer.text()
                            return answer.status, answer.headers, body
                        trouble = f"status {answer.status}"
                except (aiohttp.ClientError, asyncio.TimeoutError, ValueError) as exc:
                    trouble = f"{type(exc).__name__}"
                print(f"{url.path}: {trouble}", file=sys.stderr)
                await self.shrink(pause_of(answer, attempt))
        raise ExportError(f"{trouble}, {ATTEMPTS} times")

    async def login(self):
        status, _, body = await self.send("POST", URL(os.environ["RIN_TOKEN_URL"]), data={
            "grant_type": "client_credentials", "client_id": os.environ["RIN_CLIENT_ID"],
            "client_secret": os.environ["RIN_CLIENT_SECRET"]})
        if status != 200:
            raise ExportError(f"no token: {status}")
        self.token = body["access_token"]

    async def attempt(self, url):
        return await self.send("GET", url, headers={"Authorization": f"Bearer {self.token}"})

    async def get(self, url):
        async with self.token_lock:
            if self.token is None:
                await self.login()
            used = self.token
        status, headers, body = await self.attempt(url)
        if status == 401:
            async with self.token_lock:  # nobody else uses the new token before this request
                if self.token != used:
                    status, headers, body = await self.attempt(url)
                if status == 401:
                    await self.login()
                    status, headers, body = await self.attempt(url)
        if status in (301, 302, 307, 308):
            target = url.join(URL(headers["Location"]))
            if target.origin() != self.list.origin() or target.path.strip("/") != self.list.path.strip("/"):
                raise ExportError(f"redirected to {target.origin()}, not followed")
            self.list = target.with_query(None)
            return await self.get(target)
        if status != 200:
            raise ExportError(f"{status}: {body[:200]}")
        return headers, body

    async def page(self, offset):
        for pause in (0, 2):  # an empty page before the end is read a second time
            await asyncio.sleep(pause)
            headers, body = await self.get(self.list.with_query({"page[page]": offset, "page[size]": SIZE}))
            if body or 'rel="next"' not in headers.get("Link", ""):
                break
        for record in body:
            self.records[record["id"]] = record
        if 'rel="next"' not in headers.get("Link", ""):
            self.end = offset if self.end is None else min(self.end, offset)

    async def worker(self):
        while self.end is None:
            offset, self.next_offset = self.next_offset, self.next_offset + SIZE
            await self.page(offset)


async def main():
    timeout = aiohttp.ClientTimeout(total=12)
    async with aiohttp.ClientSession(timeout=timeout) as http, asyncio.timeout(55):
        reader = Reader(http)
        await reader.page(0)
        async with asyncio.TaskGroup() as group:
            for _ in range(WORKERS):
                group.create_task(reader.worker())
    if not reader.records:
        raise ExportError("an empty list is not plausible")
    out = io.StringIO()
    rows = csv.writer(out)
    for key, record in sorted(reader.records.items()):
        rows.writerow([key, record.get("type"), record.get("acronym"), record.get("legalType")])
    print(f"{len(reader.records)} rows, {len(out.getvalue())} characters of CSV")


if __name__ == "__main__":
    failure = None
    try:
        asyncio.run(main())
    except* (ExportError, TimeoutError, KeyError) as group:
        failure = "; ".join(str(exc) or type(exc).__name__ for exc in group.exceptions)
    if failure:
        sys.exit(f"export failed: {failure}")
