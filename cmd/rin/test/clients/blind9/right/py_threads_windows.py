#!/usr/bin/env python3
"""Whole list with three threads over windows of the offset. A window is full, or the list ends in it.

Links are only used to see that an empty page is not the end."""
import email.utils
import json
import os
import re
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urljoin, urlsplit

import urllib3

WINDOW, THREADS = 50, 3
ENV = os.environ
BASE = ENV["RIN_FUNDINGS_URL"]
http = urllib3.PoolManager(maxsize=THREADS, retries=False, timeout=20)


class Bad(Exception):
    pass


class Gate:
    """All threads pause together and share the token."""

    def __init__(self):
        self.lock = threading.Lock()
        self.open_at = 0.0
        self.login_lock = threading.Lock()
        self._token = None

    def close_for(self, s):
        with self.lock:
            self.open_at = max(self.open_at, time.monotonic() + s)

    def wait(self):
        while (d := self.open_at - time.monotonic()) > 0:
            time.sleep(d + 0.01)

    def token(self, refused=None):
        with self.login_lock:
            if self._token is None or self._token == refused:
                r = send("POST", ENV["RIN_TOKEN_URL"], encode_multipart=False, fields={
                    "grant_type": "client_credentials", "client_id": ENV["RIN_CLIENT_ID"],
                    "client_secret": ENV["RIN_CLIENT_SECRET"]})
                if r.status != 200:
                    raise Bad(f"no token: {r.status}")
                self._token = json.loads(r.data)["access_token"]
            return self._token


gate = Gate()
broken = threading.Event()


def send(method, url, **kw):
    for attempt in range(7):
        gate.wait()
        if broken.is_set():
            raise Bad("another thread has failed")
        r = http.request(method, url, redirect=False, **kw)
        if r.status not in (429, 503):
            return r
        v = r.headers.get("Retry-After", "").strip()
        t = email.utils.parsedate_tz(v)
        gate.close_for(max(1, int(v)) if v.isdigit() else
                       max(1, email.utils.mktime_tz(t) - time.time()) if t else 1.5 * 2 ** attempt)
    return r


def get(url):
    token = gate.token()
    for hop in range(5):
        if urlsplit(url)[:2] != urlsplit(BASE)[:2]:
            raise Bad(f"will not send the token to {urlsplit(url).netloc}")
        r = send("GET", url, headers={"Authorization": f"Bearer {token}"})
        if r.status == 401:
            token = gate.token(refused=token)
            r = send("GET", url, headers={"Authorization": f"Bearer {token}"})
        if r.status in (301, 302, 307, 308):
            url = urljoin(url, r.headers.get("Location", ""))
            continue
        if r.status != 200:
            raise Bad(f"{r.status} at {url}")
        page = json.loads(r.data)
        if not isinstance(page, list):
            raise Bad(f"no list at {url}")
        return r, page, url
    raise Bad("redirects without an end")


def window(start):
    """Records of the window, and whether the list ends in it."""
    found, jumps = [], 0
    url = f"{BASE}?page[page]={start}&page[size]={WINDOW}"
    try:
        while True:
            r, page, at = get(url)
            found += page
            if page and len(found) >= WINDOW:
                return found, False
            m = re.search(r'(?i)<([^>]+)>[^<]*?;\s*rel\s*=\s*"?(?:[^"<]*\s)?next\b', r.headers.get("Link", ""))
            if page:  # short: the rest of the window
                if not m and "Link" in r.headers:
                    return found, True
                url = f"{BASE}?page[page]={start + len(found)}&page[size]={WINDOW - len(found)}"
            elif m:   # empty, and yet not the end
                jumps += 1
                if jumps > 20:
                    raise Bad("empty pages without an end")
                url = urljoin(at, m[1])
            else:
                return found, True
    except BaseException:
        broken.set()
        raise


def main():
    records, start, end = {}, 0, False
    with ThreadPoolExecutor(THREADS) as pool:
        while not end:
            jobs = [pool.submit(window, start + i * WINDOW) for i in range(THREADS)]
            start += THREADS * WINDOW
            for job in jobs:
                found, last = job.result()
                end = end or last
                records.update((f["id"], f) for f in found)
            if start > 100000:
                raise Bad("no end in sight")
    types = {}
    for f in records.values():
        types[f["type"]] = types.get(f["type"], 0) + 1
    print(len(records), json.dumps(types, sort_keys=True))


if __name__ == "__main__":
    try:
        main()
    except (Bad, urllib3.exceptions.HTTPError, ValueError, KeyError, TypeError) as e:
        print("failed:", e, file=sys.stderr)
        os._exit(1)
