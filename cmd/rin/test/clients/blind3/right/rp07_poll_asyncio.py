#!/usr/bin/env python3
"""Watch two lists (running calls of Styria, scholarships) for changes, a few rounds.
asyncio over urllib in threads. Finds the node by the registry and the info resource and
checks that both name the servers that were configured. Rounds revalidate by entity tag."""
import asyncio
import email.utils
import http.client
import json
import os
import signal
import sys
import time
import urllib.error
import urllib.request
from urllib.parse import urlencode, urljoin, urlsplit

ROUNDS, EVERY, TRIES = 3, 1.0, 5
DEADLINE = time.monotonic() + 17
WATCHED = {"styria": {"runningCalls": "true", "region": "STYRIA"},
           "scholarships": {"fundingType": "SCHOLARSHIP"}}


class Failed(Exception):
    pass


class Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, req, fp, code, msg, headers, newurl):
        return None


opener = urllib.request.build_opener(Stay)


def blocking(url, headers, data):
    req = urllib.request.Request(url, data=data, headers=headers)
    try:
        with opener.open(req, timeout=max(1, min(7, DEADLINE - time.monotonic()))) as r:
            return r.status, r.headers, json.loads(r.read())
    except urllib.error.HTTPError as e:
        with e:
            return e.code, e.headers, None


def delay(headers):
    value = (headers["Retry-After"] or "").strip()
    if value.isdigit():
        return float(value) + 0.05
    parsed = email.utils.parsedate_tz(value) if value else None
    return email.utils.mktime_tz(parsed) - time.time() + 0.05 if parsed else 0


class Client:
    def __init__(self):
        self.token, self.lock = None, asyncio.Lock()
        self.not_before = 0.0        # for all tasks, after a Retry-After

    async def send(self, url, headers=None, data=None):
        for n in range(TRIES):
            while (rest := self.not_before - time.monotonic()) > 0:
                if self.not_before > DEADLINE:
                    raise Failed("asked to wait longer than we can")
                await asyncio.sleep(rest)
            pause = 0.4 * 2 ** n
            try:
                status, head, body = await asyncio.to_thread(
                    blocking, url, {"Accept": "application/json", **(headers or {})}, data)
                if status != 429 and status < 500:
                    return status, head, body
                why = f"status {status}"
                if (d := delay(head)) > 0:
                    self.not_before = max(self.not_before, time.monotonic() + max(d, pause))
                    pause = 0
            except (OSError, http.client.HTTPException, ValueError) as e:
                why = type(e).__name__
            if n + 1 == TRIES or time.monotonic() + pause > DEADLINE:
                break
            await asyncio.sleep(pause)
        raise Failed(f"{urlsplit(url).path}: {why}")

    async def bearer(self, refused=None):
        async with self.lock:
            if self.token is None or self.token == refused:
                form = {"grant_type": "client_credentials",
                        "client_id": os.environ["RIN_CLIENT_ID"],
                        "client_secret": os.environ["RIN_CLIENT_SECRET"]}
                status, _, body = await self.send(self.token_url, {
                    "Content-Type": "application/x-www-form-urlencoded"}, urlencode(form).encode())
                if status != 200:
                    raise Failed(f"no token: status {status}")
                self.token = body["access_token"]
            return self.token

    async def get(self, url, etag=None):
        extra = {"If-None-Match": etag} if etag else {}
        refused = None
        for _ in range(2):
            t = await self.bearer(refused)
            status, head, body = await self.send(url, {"Authorization": "Bearer " + t, **extra})
            if status != 401:
                break
            refused = t
        return status, head, body

    async def discover(self):
        me = os.environ.get("RIN_NODE_ID", "XA")
        status, _, registry = await self.send(os.environ["RIN_REGISTRY_URL"])
        if status != 200:
            raise Failed(f"registry: status {status}")
        entry = next((m for m in registry["member"] if m["id"] == me), None)
        if entry is None:
            raise Failed(f"the registry has no node {me}")
        self.token_url = same(entry["oauth2"], os.environ["RIN_TOKEN_URL"])
        status, _, info = await self.get(same(entry["info"], os.environ["RIN_INFO_URL"]))
        if status != 200:
            raise Failed(f"info: status {status}")
        for family in info["endpoints"].values():
            for e in family:
                if e["name"] == "FUNDINGS" and e["majorVersion"] == 3:
                    return same(e["url"], os.environ["RIN_FUNDINGS_URL"])
        raise Failed("the node offers no list of fundings, version 3")


def same(url, known):
    if urlsplit(url)[:2] != urlsplit(known)[:2]:
        raise Failed("an address leads to an unknown server; nothing sent there")
    return url


def next_url(base, value):
    import re
    for target, params in re.findall(r'<([^>]*)>([^<]*)', value or ""):
        if re.search(r';\s*rel\s*=\s*(?:next\b|"(?:[^"]*\s)?next(?:\s[^"]*)?")', params, re.I):
            return same(urljoin(base, target), base)


async def read(client, url, cache):
    """All pages of one list; cache: url -> (etag, records, next)."""
    found, been = {}, set()
    while url:
        if url in been:
            raise Failed("next links in a circle")
        been.add(url)
        had = cache.get(url)
        status, head, body = await client.get(url, had and had[0])
        if status in (301, 302, 303, 307, 308) and head["Location"] and len(been) < 50:
            url = same(urljoin(url, head["Location"]), url)
            continue
        if status == 200:
            cache[url] = (head["ETag"], {f["id"]: f for f in body},
                          next_url(url, ", ".join(head.get_all("Link") or [])))
        elif not (status == 304 and had):
            raise Failed(f"list: status {status}")
        found.update(cache[url][1])
        url = cache[url][2]
    return found


async def watch(client, name, url):
    cache, last = {}, None
    for n in range(ROUNDS):
        if n:
            await asyncio.sleep(EVERY)
        now = await read(client, url, cache)
        if last is None:
            print(f"{name}: {len(now)} at first")
        elif now != last:
            print(f"{name}: +{sorted(now.keys() - last.keys())} -{sorted(last.keys() - now.keys())}")
        last = now


async def run():
    client = Client()
    home = await client.discover()
    await asyncio.gather(*(watch(client, n, home + "?" + urlencode(q)) for n, q in WATCHED.items()))


def late(*_):
    print("poll: out of time", file=sys.stderr)
    os._exit(1)


if __name__ == "__main__":
    signal.signal(signal.SIGALRM, late)
    signal.alarm(20)
    try:
        asyncio.run(run())
    except Failed as e:
        print("poll:", e, file=sys.stderr)
        os._exit(1)                     # threads may still wait for an answer
    except (KeyError, TypeError, AttributeError) as e:
        print("poll: an answer has not the documented form:", type(e).__name__, file=sys.stderr)
        os._exit(1)
