"""Numbers of fundings by type and target group, all views at a time, with filters."""
import asyncio
import os
import random
import sys
import time
from email.utils import parsedate_to_datetime

import aiohttp
from yarl import URL

TYPES = ["PROGRAMME", "CALL", "ONGOING_CALL", "RESEARCH_CONTRACT", "AWARD", "GRANT",
         "SCHOLARSHIP"]
SIZE = 60
TRIES = 4


class NodeError(Exception):
    pass


class Reader:
    def __init__(self, session, token):
        self.session = session
        self.token = token
        self.login = asyncio.Lock()
        self.places = asyncio.Semaphore(2)
        self.not_before = 0.0
        self.unproven = 0

    async def renew(self, refused):
        async with self.login:
            if self.token == refused:
                self.unproven += 1
                if self.unproven > 1:
                    raise NodeError("a new token is refused, too")
                self.token = await fetch_token(self.session)

    async def gate(self):
        while (rest := self.not_before - time.monotonic()) > 0:
            await asyncio.sleep(rest)

    def hold(self, headers, attempt):
        """Nobody asks before Retry-After, or a growing pause, is over."""
        pause = 0.5 * 2 ** attempt + random.random() / 4
        value = headers.get("Retry-After", "")
        if value.isdigit():
            pause = max(pause, float(value))
        elif value:
            try:
                asked = parsedate_to_datetime(value) - parsedate_to_datetime(headers["Date"])
                pause = max(pause, asked.total_seconds() + 0.5)
            except (KeyError, TypeError, ValueError):
                pass
        self.not_before = max(self.not_before, time.monotonic() + pause)

    async def page(self, url):
        renewed = 0
        for attempt in range(TRIES):
            headers = {}
            async with self.places:
                await self.gate()
                token = self.token
                try:
                    async with self.session.get(
                            url, allow_redirects=False,
                            headers={"Authorization": f"Bearer {token}"}) as answer:
                        headers, status = answer.headers, answer.status
                        if status == 200:
                            self.unproven = 0
                            rows = await answer.json()
                            following = answer.links.get("next", {}).get("url")
                            if rows or not following or attempt:
                                return rows, following and join(url, following)
                            why = "an empty page before the end"
                        elif status == 401 and renewed < 3:
                            renewed += 1
                            await self.renew(token)
                            continue
                        elif status in (307, 308):
                            url = join(url, headers["Location"])
                            continue
                        elif status == 429 or status >= 500:
                            why = str(status)
                        else:
                            raise NodeError(f"{status}: {(await answer.text())[:200]}")
                except (aiohttp.ClientError, ValueError, asyncio.TimeoutError) as error:
                    why = repr(error)
                print(f"{url.query_string}: {why}", file=sys.stderr)
                self.hold(headers, attempt)
        raise NodeError(f"{url}: {TRIES} times without success")

    async def view(self, kind):
        rows, url = {}, URL(os.environ["RIN_FUNDINGS_URL"]).with_query(
            {"fundingType": kind, "page[page]": "0", "page[size]": str(SIZE)})
        while url:
            page, url = await self.page(url)
            rows.update((row["id"], row) for row in page)
        groups = {}
        for row in rows.values():
            for group in row.get("targetGroups", []):
                groups[group] = groups.get(group, 0) + 1
        return kind, len(rows), groups


def join(here, target):
    there = here.join(URL(target))
    if there.origin() != here.origin():
        raise NodeError(f"not followed with a token: {there}")
    return there


async def fetch_token(session):
    form = {"grant_type": "client_credentials",
            "client_id": os.environ["RIN_CLIENT_ID"],
            "client_secret": os.environ["RIN_CLIENT_SECRET"]}
    async with session.post(os.environ["RIN_TOKEN_URL"], data=form,
                            allow_redirects=False) as answer:
        if answer.status != 200:
            raise NodeError(f"token endpoint answers {answer.status}")
        return (await answer.json())["access_token"]


async def main():
    limit = aiohttp.ClientTimeout(total=12)
    async with aiohttp.ClientSession(timeout=limit) as session, asyncio.timeout(52):
        reader = Reader(session, await fetch_token(session))
        results = await asyncio.gather(*map(reader.view, TYPES), return_exceptions=True)
    views = [view for view in results if not isinstance(view, Exception)]
    for kind, number, groups in views:
        most = ", ".join(sorted(groups, key=groups.get, reverse=True)[:3])
        print(f"{kind:18} {number:4}  {most}")
    print(f"{sum(view[1] for view in views)} fundings", file=sys.stderr)


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except (NodeError, aiohttp.ClientError, TimeoutError, KeyError) as problem:
        print(f"no dashboard: {problem}", file=sys.stderr)
        sys.exit(1)
