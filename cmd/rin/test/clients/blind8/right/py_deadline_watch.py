#!/usr/bin/env python3
"""Deadline watcher: looks a few times for running calls whose stage ends soon, and warns once for each."""
import datetime as dt
import os
import re
import sys
import time
from email.utils import parsedate_to_datetime
from urllib.parse import quote_plus, urljoin, urlsplit

import requests
from requests.auth import HTTPBasicAuth

LOOKS = int(os.environ.get("WATCH_LOOKS", "2"))
EVERY = float(os.environ.get("WATCH_EVERY", "2"))
DAYS = int(os.environ.get("WATCH_DAYS", "30"))


class WatchError(RuntimeError):
    pass


def place(url):
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)


class Client:
    ATTEMPTS = 4

    def __init__(self, env):
        self.env = env
        self.http = requests.Session()
        self.http.headers.update({"Accept": "application/json", "User-Agent": "deadline-watch/1.2"})
        self.bearer, self.old_at = None, 0
        self.cache = {}

    def close(self):
        self.http.close()

    @staticmethod
    def retry_after(response):
        value = response.headers.get("Retry-After")
        if value is None:
            return None
        if re.match(r"^\s*\d+\s*$", value):
            return int(value)
        try:
            until = parsedate_to_datetime(value)
            since = response.headers.get("Date")
            since = parsedate_to_datetime(since) if since else dt.datetime.now(dt.timezone.utc)
            return max((until - since).total_seconds(), 0)
        except (TypeError, ValueError):
            return None

    def deliver(self, method, url, **kw):
        faults, stops, hops = 0, 0, 0
        while True:
            try:
                r = self.http.request(method, url, timeout=20, allow_redirects=False, **kw)
                if r.status_code == 200:
                    r.document = r.json()
                    return r
                reason = f"{r.status_code} from {url}"
            except (requests.exceptions.RequestException, ValueError) as e:
                r, reason = None, f"{url}: {e.__class__.__name__}"
            code = r.status_code if r is not None else 0
            asked = self.retry_after(r) if code in (429, 503) else None
            if asked is not None:
                stops += 1
                if stops > 5 or asked > 900:
                    raise WatchError(f"{reason}, and it asks to wait {asked} s")
                time.sleep(asked + 0.1)
            elif code in (301, 302, 307, 308):
                hops += 1
                goal = urljoin(url, r.headers.get("Location", ""))
                if place(goal) != place(url) or hops > 3:
                    raise WatchError(f"{reason}: refusing to go to {goal}")
                url = goal
            elif code in (0, 429) or code >= 500:
                faults += 1
                if faults >= self.ATTEMPTS:
                    raise WatchError(reason)
                time.sleep(0.7 * faults ** 1.5)
            else:
                return r

    def login(self):
        auth = HTTPBasicAuth(quote_plus(self.env["RIN_CLIENT_ID"]), quote_plus(self.env["RIN_CLIENT_SECRET"]))
        r = self.deliver("POST", self.env["RIN_TOKEN_URL"], auth=auth, data={"grant_type": "client_credentials"})
        if r.status_code != 200 or not r.document.get("access_token"):
            raise WatchError(f"the authorization server refuses: {r.status_code} {r.text[:120]}")
        self.bearer = r.document["access_token"]
        lasts = r.document.get("expires_in")
        self.old_at = time.monotonic() + float(lasts) * 0.9 if lasts else float("inf")

    def get(self, url):
        kept = self.cache.get(url)
        for last in (False, True):
            if not self.bearer or time.monotonic() > self.old_at:
                self.login()
            headers = {"Authorization": f"Bearer {self.bearer}"}
            if kept:
                headers["If-None-Match"] = kept[0]
            r = self.deliver("GET", url, headers=headers)
            if r.status_code == 401 and not last:
                self.login()
                continue
            break
        if r.status_code == 304 and kept:
            return kept[1:]
        if r.status_code != 200:
            raise WatchError(f"{r.status_code} from {url}: {r.headers.get('WWW-Authenticate', r.text[:120])}")
        if not isinstance(r.document, list):
            raise WatchError(f"{url} is not a list")
        following = r.links.get("next", {}).get("url")
        result = r.document, "Link" in r.headers, urljoin(r.url, following) if following else None
        if r.headers.get("ETag") and r.document:
            self.cache[url] = (r.headers["ETag"],) + result
        return result

    def running(self):
        base, size = self.env["RIN_FUNDINGS_URL"], 30
        address = lambda skip: f"{base}?runningCalls=true&page%5Bpage%5D={skip}&page%5Bsize%5D={size}"
        url, calls, asked, skip, echoes = address(0), {}, set(), 0, 0
        while url:
            if url in asked or len(asked) == 150:
                raise WatchError("the pages run in a circle")
            asked.add(url)
            records, linked, nxt = self.get(url)
            count = len(calls)
            for record in records:
                calls[record["id"]] = record
            echoes = echoes + 1 if records and len(calls) == count else 0
            if echoes == 3:
                raise WatchError("the pages say the same again and again")
            skip += len(records)
            if not linked and records:
                nxt = address(skip)
            if nxt and place(nxt) != place(base):
                raise WatchError(f"next page at a strange host: {nxt}")
            url = nxt
        return calls


def ends(call):
    for stage in call.get("callStages") or []:
        try:
            yield dt.datetime.fromisoformat(stage["callStageEnd"].replace("Z", "+00:00"))
        except (KeyError, ValueError, AttributeError):
            continue


def main():
    client, warned = Client(os.environ), set()
    try:
        for look in range(LOOKS):
            if look:
                time.sleep(EVERY)
            now = dt.datetime.now(dt.timezone.utc)
            for key, call in sorted(client.running().items()):
                for end in ends(call):
                    if now <= end <= now + dt.timedelta(days=DAYS) and (key, end) not in warned:
                        warned.add((key, end))
                        print(f"{end:%Y-%m-%d %H:%M}  {key}  {call['name'][0]['text']}")
    finally:
        client.close()


if __name__ == "__main__":
    try:
        main()
    except WatchError as e:
        print(f"deadline-watch: {e}", file=sys.stderr)
        sys.exit(2)
