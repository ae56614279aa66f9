#!/usr/bin/env python3
"""Report: fundings per funder, from the whole list in small pages."""
import collections
import functools
import os
import signal
import sys
import time
from email.utils import parsedate_to_datetime
from urllib.parse import urljoin, urlsplit

import requests

ENV = os.environ
T_END = time.monotonic() + 17


@functools.lru_cache(maxsize=None)
def session():
    s = requests.Session()
    s.headers["Accept"] = "application/json"
    return s


def retry(times=5, first=0.4):
    """Repeat a function that answers a response, unless the response is final."""
    def deco(f):
        @functools.wraps(f)
        def wrapper(*a, **k):
            problem = None
            for n in range(times):
                pause = first * 2 ** n
                try:
                    r = f(*a, **k)
                    if r.status_code == 200:
                        r.json()
                        return r
                    problem = f"HTTP {r.status_code}"
                    if r.status_code not in (401, 429, 500, 502, 503, 504):
                        sys.exit(f"report: {problem}")
                    v = r.headers.get("Retry-After")
                    if v and v.isdigit():
                        pause = max(pause, int(v) + 0.1)
                    elif v:
                        try:
                            pause = max(pause, parsedate_to_datetime(v).timestamp() - time.time() + 0.1)
                        except (TypeError, ValueError):
                            pass
                except requests.RequestException as e:
                    problem = type(e).__name__
                if n + 1 == times or time.monotonic() + pause > T_END:
                    break
                time.sleep(pause)
            sys.exit(f"report: {problem}, given up")
        return wrapper
    return deco


@retry()
def token_response():
    return session().post(ENV["RIN_TOKEN_URL"], timeout=6, allow_redirects=False, data={
        "grant_type": "client_credentials", "client_id": ENV["RIN_CLIENT_ID"],
        "client_secret": ENV["RIN_CLIENT_SECRET"]})


@functools.lru_cache(maxsize=1)
def token():
    return token_response().json()["access_token"]


@retry()
def get(url, **params):
    return session().get(url, params=params, timeout=6, allow_redirects=False,
                         headers={"Authorization": f"Bearer {token()}"})


def all_fundings():
    r = get(ENV["RIN_FUNDINGS_URL"], **{"page[page]": 0, "page[size]": 30})
    while r is not None:
        yield from r.json()
        follow = r.links.get("next", {}).get("url")
        if follow:
            follow = urljoin(r.url, follow)
            if urlsplit(follow)[:2] != urlsplit(ENV["RIN_FUNDINGS_URL"])[:2]:
                sys.exit("report: next link to another server")
        r = get(follow) if follow else None


if __name__ == "__main__":
    signal.signal(signal.SIGALRM, lambda *_: sys.exit("report: out of time"))
    signal.alarm(20)
    per, ids = collections.Counter(), set()
    for f in all_fundings():
        if f["id"] in ids:
            continue
        ids.add(f["id"])
        for o in f.get("funder", []):
            per[o.get("funder", {}).get("id", "?")] += 1
    for who, n in per.most_common():
        print(f"{n:5}  {who}")
    print(len(ids), "fundings")
