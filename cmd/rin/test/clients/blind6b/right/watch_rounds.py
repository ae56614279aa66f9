"""Watch the whole list for three rounds, with conditional requests (httpx).

An ETag is kept only together with the records it belongs to, so a broken
answer can never be confirmed by a later 304.
"""
import asyncio
import hashlib
import json
import os
import sys
import time
from email.utils import parsedate_to_datetime

import httpx

ROUNDS, INTERVAL = 3, 4.0
LIMIT = time.monotonic() + 52


class Stop(Exception):
    """This run cannot do its job."""


class Watcher:
    def __init__(self, client):
        self.client, self.token, self.token_until = client, None, 0.0
        self.etag, self.known = None, None  # always replaced together

    async def sleep(self, seconds, why):
        if time.monotonic() + seconds > LIMIT:
            raise Stop(f"{why}, and no time left to wait {seconds:.0f} s")
        print(f"  {why}: again in {seconds:.1f} s", file=sys.stderr)
        await asyncio.sleep(seconds)

    @staticmethod
    def retry_after(response, fallback):
        raw = response.headers.get("retry-after", "").strip()
        if raw.isdigit():
            return max(float(raw), fallback)
        if raw:
            try:
                gap = parsedate_to_datetime(raw) - parsedate_to_datetime(response.headers["date"])
                return max(gap.total_seconds(), fallback)
            except (KeyError, TypeError, ValueError):
                return max(15.0, fallback)
        return fallback

    async def send(self, build):
        """Send until the answer is final: 200 with whole JSON, 304, or 4xx."""
        for attempt in range(5):
            fallback = 0.6 * 2 ** attempt
            try:
                request = await build()
                response = await self.client.send(request)
                for _ in range(3):
                    if response.status_code not in (307, 308):
                        break
                    target = request.url.join(response.headers.get("location", ""))
                    if (target.scheme, target.host, target.port) != (request.url.scheme, request.url.host, request.url.port):
                        raise Stop(f"redirected to {target.host}, where the token must not go")
                    again = dict(request.headers)
                    again.pop("host", None)
                    request = self.client.build_request(request.method, target, headers=again, content=request.content)
                    response = await self.client.send(request)
                if response.status_code == 200:
                    return response, json.loads(response.content)
                if response.status_code < 500 and response.status_code != 429:
                    return response, None
                why, wait = f"status {response.status_code}", self.retry_after(response, fallback)
            except (httpx.TransportError, ValueError) as err:
                why, wait = f"broken answer ({type(err).__name__})", fallback
            if attempt < 4:
                await self.sleep(wait, why)
        raise Stop(f"gave up after 5 attempts, last: {why}")

    async def login(self):
        form = {"grant_type": "client_credentials", "client_id": os.environ["RIN_CLIENT_ID"],
                "client_secret": os.environ["RIN_CLIENT_SECRET"]}

        async def build():
            return self.client.build_request("POST", os.environ["RIN_TOKEN_URL"], data=form)
        response, body = await self.send(build)
        if body is None:
            raise Stop(f"no token: {response.status_code}")
        self.token = body["access_token"]
        self.token_until = time.monotonic() + float(body.get("expires_in", 60)) - 20

    async def read_list(self):
        async def build():
            if self.token is None or time.monotonic() > self.token_until:
                await self.login()
            headers = {"Authorization": f"Bearer {self.token}", "Accept": "application/json"}
            if self.etag:
                headers["If-None-Match"] = self.etag
            return self.client.build_request("GET", os.environ["RIN_FUNDINGS_URL"], headers=headers)
        response, body = await self.send(build)
        if response.status_code == 401:
            self.token = None
            response, body = await self.send(build)
        if body == []:  # an index that is being rebuilt, perhaps: once more, later
            await self.sleep(5.0, "the list is empty")
            response, body = await self.send(build)
        if response.status_code == 304 and self.known is not None:
            return None
        if response.status_code != 200:
            raise Stop(f"{response.status_code} {response.headers.get('www-authenticate', '')}")
        if not isinstance(body, list) or "next" in response.links:
            raise Stop("the answer is not the whole list")
        if not body:
            raise Stop("the list is suddenly empty; nothing is deleted because of one answer")
        fresh = {r["id"]: hashlib.sha256(json.dumps(r, sort_keys=True).encode()).digest() for r in body}
        return response.headers.get("etag"), fresh

    async def run(self):
        for number in range(1, ROUNDS + 1):
            result = await self.read_list()
            if result is None:
                print(f"round {number}: unchanged, {len(self.known)} records")
            else:
                etag, fresh = result
                old = self.known or {}
                changed = sum(1 for k in fresh if k in old and old[k] != fresh[k])
                print(f"round {number}: {len(fresh)} records, +{len(fresh.keys() - old.keys())} "
                      f"-{len(old.keys() - fresh.keys())} ~{changed}")
                self.etag, self.known = etag, fresh
            if number < ROUNDS:
                await asyncio.sleep(INTERVAL)


async def main():
    async with httpx.AsyncClient(timeout=12, follow_redirects=False, trust_env=False) as client:
        await Watcher(client).run()

try:
    asyncio.run(main())
except (Stop, KeyError) as err:
    sys.exit(f"watch failed: {err}")
