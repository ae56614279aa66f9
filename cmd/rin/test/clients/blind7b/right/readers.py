"""Three concurrent readers share one list of funding calls (aiohttp), window by window.

The first page tells how the node counts (its next link: by records or by pages); the readers then
take the windows after it. They share one token and one pause: when the node asks for patience,
all wait, and the windows after those are read by one alone. Ends with 0 if the list was read completely.
"""
import asyncio
import os
import re
import sys
import time
from collections import Counter
from email.utils import parsedate_to_datetime
from urllib.parse import parse_qs, urljoin, urlsplit

import aiohttp

SIZE, READERS, ATTEMPTS, BUDGET = 30, 3, 5, 50.0

class Stop(Exception):
    """Trouble that repeating does not mend."""

def asked_pause(headers):
    value = headers.get("Retry-After", "").strip()
    if value.isdigit():
        return float(value)
    try:
        until = parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return None
    served = parsedate_to_datetime(headers["Date"]).timestamp() if "Date" in headers else time.time()
    return max(0.0, until.timestamp() - served)

class Node:
    def __init__(self, session):
        env = os.environ
        self.token_url, self.list_url = env["RIN_TOKEN_URL"], env["RIN_FUNDINGS_URL"]
        self.form = {"grant_type": "client_credentials", "client_id": env["RIN_CLIENT_ID"],
                     "client_secret": env["RIN_CLIENT_SECRET"]}
        self.session, self.end = session, time.monotonic() + BUDGET
        self.token, self.token_lock = None, asyncio.Lock()
        self.not_before, self.readers = 0.0, READERS

    async def pause(self, attempt, why, headers=None):
        if attempt >= ATTEMPTS:
            raise Stop(f"{why}, {attempt} times")
        asked = asked_pause(headers) if headers is not None else None
        wait = asked if asked is not None else 0.5 * 2 ** (attempt - 1)
        if time.monotonic() + wait > self.end:
            raise Stop(f"{why}, and a pause of {wait:.0f} s is too long")
        print(f"readers: {why}; pausing {wait:.1f} s", file=sys.stderr)
        if headers is not None:
            self.not_before = max(self.not_before, time.monotonic() + wait)
            self.readers = 1
        else:
            await asyncio.sleep(wait)

    async def send(self, method, url, **kwargs):
        while (wait := self.not_before - time.monotonic()) > 0:
            await asyncio.sleep(wait)
        left = self.end - time.monotonic()
        timeout = aiohttp.ClientTimeout(total=max(0.1, min(15, left)))
        async with self.session.request(method, url, allow_redirects=False, timeout=timeout, **kwargs) as answer:
            await answer.read()
            return answer

    async def new_token(self, refused):
        async with self.token_lock:
            attempt = 0
            while self.token == refused:    # else another reader has fetched one meanwhile
                attempt += 1
                headers = None
                try:
                    answer = await self.send("POST", self.token_url, data=self.form, headers={"Accept": "application/json"})
                    if answer.status == 200:
                        self.token = str((await answer.json(content_type=None))["access_token"])
                        return
                    why = f"token endpoint: {answer.status}"
                    if answer.status != 429 and answer.status < 500:
                        raise Stop(why)
                    headers = answer.headers
                except (aiohttp.ClientError, asyncio.TimeoutError, ValueError, KeyError, TypeError) as e:
                    why = f"token endpoint: {type(e).__name__}"
                await self.pause(attempt, why, headers)

    async def page(self, position):
        """The records of a window and the address of the next one."""
        url, params = self.list_url, {"page[page]": str(position), "page[size]": str(SIZE)}
        attempt, renewed, hops, empties = 1, False, 0, 0
        while True:
            if self.token is None:
                await self.new_token(None)
            used, headers = self.token, None
            try:
                answer = await self.send("GET", url, params=params, headers={
                    "Authorization": f"Bearer {used}", "Accept": "application/json"})
                why = f"status {answer.status}"
                if answer.status == 200:
                    items = await answer.json(content_type=None)
                    if not isinstance(items, list):
                        raise ValueError("no array")
                    link = re.search(r'<([^>]*)>\s*;\s*rel="?next', answer.headers.get("Link", ""))
                    following = urljoin(str(answer.url), link[1]) if link else None
                    if items or not following or empties == 2:
                        return items, following
                    empties, why = empties + 1, "an empty page that has a next one"
                elif answer.status == 401 and not renewed:
                    renewed = True
                    await self.new_token(used)
                    continue
                elif answer.status in (301, 302, 307, 308):
                    target, hops = urljoin(str(answer.url), answer.headers.get("Location", "")), hops + 1
                    if urlsplit(target)[:2] != urlsplit(self.list_url)[:2] or hops > 3:
                        raise Stop(f"redirected to {target}, where the token must not go")
                    url = target.split("?")[0]
                    continue
                elif answer.status == 429 or answer.status >= 500:
                    headers = answer.headers if asked_pause(answer.headers) is not None else None
                else:
                    raise Stop(f"{why}: {answer.headers.get('WWW-Authenticate', '')} {(await answer.text())[:150]}")
            except (aiohttp.ClientError, asyncio.TimeoutError, ValueError) as e:
                why = f"{type(e).__name__} {e}"
            await self.pause(attempt, why, headers)
            attempt += 1

async def main():
    async with aiohttp.ClientSession() as session:
        node, found = Node(session), {}
        items, following = await node.page(0)
        found.update((item["id"], item) for item in items)
        position, step = 0, int(parse_qs(urlsplit(following).query)["page[page]"][0]) if following else 1
        if step < 1:
            raise Stop("the next page is the first one")
        while following:                    # a wave of as many windows as there are readers
            width = node.readers
            async with asyncio.TaskGroup() as group:
                wave = [group.create_task(node.page(position + step * (n + 1))) for n in range(width)]
            position += step * width
            for task in wave:
                items, following = task.result()
                found.update((item["id"], item) for item in items)
                if not following:
                    break
        print(f"{len(found)} fundings:", dict(Counter(item["type"] for item in found.values())))

if __name__ == "__main__":
    try:
        asyncio.run(main())
    except* (Stop, KeyError, ValueError) as trouble:
        sys.exit(f"readers: the list is incomplete: {trouble.exceptions[0]}")
