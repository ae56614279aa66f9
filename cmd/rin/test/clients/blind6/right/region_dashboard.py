"""Dashboard: running calls by province, and the national ones, with filters; two at a time."""
import asyncio
import os
import sys
import time
from email.utils import parsedate_to_datetime

import aiohttp
from yarl import URL

REGIONS = ["VIENNA", "BURGENLAND", "LOWER_AUSTRIA", "CARINTHIA", "UPPER_AUSTRIA",
           "SALZBURG", "STYRIA", "TYROL", "VORARLBERG"]
VIEWS = {region: {"region": region, "runningCalls": "true"} for region in REGIONS}
VIEWS["national"] = {"applicantsScope": "NATIONAL", "runningCalls": "true"}
SIZE = 40
TRIES = 6


class NodeError(Exception):
    pass


class Dashboard:
    def __init__(self, session):
        self.session = session
        self.places = asyncio.Semaphore(2)
        self.login = asyncio.Lock()
        self.not_before = 0.0
        self.token = None
        self.unproven = 0  # new tokens in a row of which none was good

    async def bearer(self, refused):
        async with self.login:  # one login for all views
            if self.token is None or self.token == refused:
                self.unproven += refused is not None
                if self.unproven > 1:
                    raise NodeError("a new token is refused, too")
                form = {"grant_type": "client_credentials",
                        "client_id": os.environ["RIN_CLIENT_ID"],
                        "client_secret": os.environ["RIN_CLIENT_SECRET"]}
                async with self.session.post(os.environ["RIN_TOKEN_URL"], data=form,
                                             allow_redirects=False) as answer:
                    if answer.status != 200:
                        raise NodeError(f"token endpoint answers {answer.status}")
                    self.token = (await answer.json())["access_token"]
            return self.token

    async def gate(self):
        """Nobody asks while the node wants a pause."""
        while (rest := self.not_before - time.monotonic()) > 0:
            await asyncio.sleep(rest)

    @staticmethod
    def pause(headers, attempt):
        value, own = headers.get("Retry-After", ""), 0.4 * 2 ** attempt
        if value.isdigit():
            return max(float(value), own)
        try:
            return max(own, 0.5 + (parsedate_to_datetime(value)
                                   - parsedate_to_datetime(headers["Date"])).total_seconds())
        except (KeyError, TypeError, ValueError):
            return own

    async def page(self, url):
        refused, renewed = None, 0
        for attempt in range(TRIES):
            why, headers = "", {}
            async with self.places:
                await self.gate()
                token = await self.bearer(refused)
                try:
                    async with self.session.get(
                            url, allow_redirects=False,
                            headers={"Authorization": f"Bearer {token}"}) as answer:
                        headers, status = answer.headers, answer.status
                        if status == 200:
                            self.unproven = 0
                            rows = await answer.json()
                            following = answer.links.get("next", {}).get("url")
                            if rows or not following or attempt > 2:
                                return rows, following
                            why = "an empty page before the end"
                        elif status == 401 and renewed < 3:
                            refused, renewed = token, renewed + 1
                            continue
                        elif status in (307, 308):
                            url = self.same_host(url, url.join(URL(headers["Location"])))
                            continue
                        elif status == 429 or status >= 500:
                            why = f"{status}"
                        else:
                            raise NodeError(f"{status}: {(await answer.text())[:200]}")
                except (aiohttp.ClientError, ValueError, asyncio.TimeoutError) as error:
                    why = repr(error)
                print(f"{url.query_string}: {why}", file=sys.stderr)
                until = time.monotonic() + self.pause(headers, attempt)
                self.not_before = max(self.not_before, until)
        raise NodeError(f"{url}: {why}, {TRIES} times")

    @staticmethod
    def same_host(here, there):
        if here.origin() != there.origin():
            raise NodeError(f"not followed with a token: {there}")
        return there

    async def view(self, filters):
        ids = set()
        query = {**filters, "page[page]": "0", "page[size]": str(SIZE)}
        url = URL(os.environ["RIN_FUNDINGS_URL"]).with_query(query)
        while url:
            rows, following = await self.page(url)
            ids.update(row["id"] for row in rows)
            url = self.same_host(url, URL(following)) if following else None
        return len(ids)


async def main():
    limit = aiohttp.ClientTimeout(total=12)
    async with aiohttp.ClientSession(timeout=limit) as session:
        board = Dashboard(session)
        async with asyncio.timeout(52), asyncio.TaskGroup() as group:
            tasks = {name: group.create_task(board.view(f)) for name, f in VIEWS.items()}
    for name, task in tasks.items():
        print(f"{name:15} {task.result():4}")


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except* (NodeError, aiohttp.ClientError, TimeoutError, KeyError, ValueError) as problems:
        print("no dashboard:", *problems.exceptions, sep="\n  ", file=sys.stderr)
        sys.exit(1)
