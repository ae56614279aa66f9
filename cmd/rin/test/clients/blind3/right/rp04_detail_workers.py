#!/usr/bin/env python3
"""Details of the awards and grants, read by four workers.

The workers share one token (renewed once for all) and one gate: what one of them is
told by Retry-After holds for all.
"""
import concurrent.futures as cf
import os
import signal
import sys
import threading
import time
from email.utils import parsedate_to_datetime
from urllib.parse import quote, urljoin, urlsplit

import requests

END = time.monotonic() + 17
HOME = os.environ["RIN_FUNDINGS_URL"]
WORKERS = 4


class GiveUp(Exception):
    pass


class Gate:
    """Closed until a time; nobody sends before."""
    def __init__(self):
        self._lock, self._open_at = threading.Lock(), 0.0

    def close(self, secs):
        with self._lock:
            self._open_at = max(self._open_at, time.monotonic() + secs)

    def wait(self):
        while not ABORT.is_set():
            with self._lock:
                rest = self._open_at - time.monotonic()
            if rest <= 0:
                return
            if time.monotonic() + rest > END:
                raise GiveUp("the node asks for more patience than there is time")
            ABORT.wait(rest)
        raise GiveUp("aborted")


class Tokens:
    def __init__(self):
        self._lock, self._value, self._until = threading.Lock(), None, 0.0

    def current(self):
        with self._lock:
            if self._value is None or time.monotonic() >= self._until:
                self._fetch()
            return self._value

    def refused(self, value):
        with self._lock:
            if self._value == value:
                self._value = None

    def _fetch(self):
        r = exchange("POST", os.environ["RIN_TOKEN_URL"], data={
            "grant_type": "client_credentials",
            "client_id": os.environ["RIN_CLIENT_ID"],
            "client_secret": os.environ["RIN_CLIENT_SECRET"]})
        if r.status_code != 200:
            raise GiveUp(f"token: status {r.status_code}")
        answer = r.json()
        self._value = answer["access_token"]
        self._until = time.monotonic() + 0.85 * float(answer.get("expires_in", 600))


ABORT = threading.Event()
GATE, TOKENS, LOCAL = Gate(), Tokens(), threading.local()


def http():
    if not hasattr(LOCAL, "session"):
        LOCAL.session = requests.Session()
        LOCAL.session.headers["Accept"] = "application/json"
    return LOCAL.session


def asked(r):
    v = r.headers.get("Retry-After", "")
    if v.strip().isdigit():
        return float(v)
    try:
        return parsedate_to_datetime(v).timestamp() - time.time()
    except (TypeError, ValueError):
        return 0.0


def exchange(method, url, **kw):
    for n in range(5):
        GATE.wait()
        pause = 0.4 * 2 ** n
        try:
            r = http().request(method, url, timeout=max(1, min(7, END - time.monotonic())),
                               allow_redirects=False, **kw)
            if r.status_code == 200:
                r.json()
            if r.status_code not in (429, 500, 502, 503, 504):
                return r
            why = r.status_code
            if r.status_code in (429, 503):
                GATE.close(max(pause, asked(r) + 0.05))
                pause = 0
        except requests.RequestException as e:
            why = type(e).__name__
        if n == 4 or time.monotonic() + pause > END:
            break
        if ABORT.wait(pause):
            break
    raise GiveUp(f"{urlsplit(url).path}: {why}, {n + 1} attempts")


def get(url, params=None):
    for _ in range(3):        # another worker's token may expire in between
        t = TOKENS.current()
        r = exchange("GET", url, params=params, headers={"Authorization": "Bearer " + t})
        hops = 0
        while r.is_redirect and hops < 3:
            url, hops = urljoin(r.url, r.headers["Location"]), hops + 1
            check(url)
            params = None
            r = exchange("GET", url, headers={"Authorization": "Bearer " + t})
        if r.status_code != 401:
            return r
        TOKENS.refused(t)
    return r


def check(url):
    if urlsplit(url)[:2] != urlsplit(HOME)[:2]:
        raise GiveUp("a link leads to another server")


def ids(kind):
    url, params, seen = HOME, {"fundingType": kind, "page[size]": 50}, set()
    while url:
        r = get(url, params)
        if r.status_code != 200:
            raise GiveUp(f"list: status {r.status_code}")
        for f in r.json():
            yield f["id"]
        seen.add(r.url)
        nxt = r.links.get("next")
        url, params = (urljoin(r.url, nxt["url"]) if nxt else None), None
        if url:
            check(url)
            if url in seen:
                raise GiveUp("circle of next links")


def detail(fid):
    r = get(HOME + "/" + quote(fid, safe=""))
    if r.status_code == 404:
        return fid, None              # gone since it was listed
    if r.status_code != 200:
        raise GiveUp(f"{fid}: status {r.status_code}")
    return fid, r.json()


def main():
    def late(*_):
        print("detail_workers: out of time", file=sys.stderr)
        os._exit(1)
    signal.signal(signal.SIGALRM, late)
    signal.alarm(20)
    try:
        wanted = list(dict.fromkeys([*ids("AWARD"), *ids("GRANT")]))
        with cf.ThreadPoolExecutor(WORKERS) as pool:
            jobs = [pool.submit(detail, i) for i in wanted]
            try:
                for j in cf.as_completed(jobs):
                    fid, f = j.result()
                    print(fid, "gone" if f is None else f["name"][0]["text"])
            except BaseException:
                ABORT.set()
                for j in jobs:
                    j.cancel()
                raise
    except (GiveUp, requests.RequestException, KeyError, TypeError, IndexError) as e:
        print("detail_workers failed:", e, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
