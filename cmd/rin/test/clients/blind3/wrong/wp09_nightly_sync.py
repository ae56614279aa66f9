#!/usr/bin/env python3
"""Nightly synchronisation with a state file; reads the list only if it has changed.
Called without --state-dir it shows two runs with a passing state."""
import argparse
import hashlib
import json
import os
import pathlib
import signal
import sys
import tempfile
import time
from email.utils import parsedate_to_datetime
from urllib.parse import urljoin, urlsplit

import requests

LIMIT = time.monotonic() + 17
session = requests.Session()
session.headers.update({"User-Agent": "nightly-sync/1.1", "Accept": "application/json"})
access = {"token": None, "until": 0}


class Stop(RuntimeError):
    pass


def seconds(header):
    if header is None:
        return 0
    try:
        return max(0, int(header))
    except ValueError:
        pass
    try:
        return max(0, parsedate_to_datetime(header).timestamp() - time.time())
    except (TypeError, ValueError):
        return 0


def patiently(send):
    delay = 0.5
    for n in range(5):
        wait = delay
        try:
            r = send(max(1, min(8, LIMIT - time.monotonic())))
            if r.status_code == 200:
                r.json()                       # a cut body is trouble of the line, too
            if r.status_code < 500 and r.status_code != 429:
                return r
            reason, wait = f"HTTP {r.status_code}", max(delay, seconds(r.headers.get("Retry-After")) + 0.1)
        except requests.RequestException as e:
            reason = type(e).__name__
        if n == 4 or time.monotonic() + wait > LIMIT:
            raise Stop(f"no good answer: {reason}")
        time.sleep(wait)
        delay *= 2


def token(renew=False):
    if renew or not access["token"] or time.monotonic() > access["until"]:
        r = patiently(lambda t: session.post(os.environ["RIN_TOKEN_URL"], timeout=t, allow_redirects=False, data={
            "grant_type": "client_credentials",
            "client_id": os.environ["RIN_CLIENT_ID"],
            "client_secret": os.environ["RIN_CLIENT_SECRET"]}))
        if r.status_code != 200:
            raise Stop(f"token endpoint: HTTP {r.status_code}")
        body = r.json()
        access["token"] = body["access_token"]
        access["until"] = time.monotonic() + 0.9 * float(body.get("expires_in") or 3600)
    return access["token"]


def within(url):
    if urlsplit(url)[:2] != urlsplit(os.environ["RIN_FUNDINGS_URL"])[:2]:
        raise Stop("a link leads to another server")
    return url


def fetch(url, etag):
    def send(timeout):
        h = {"Authorization": f"Bearer {token()}"}
        if etag:
            h["If-None-Match"] = etag
        return session.get(url, headers=h, timeout=timeout, allow_redirects=False)
    r = patiently(send)
    if r.status_code == 401:
        token(renew=True)
        r = patiently(send)
    return r


def read_list(old):
    """-> the new state, or the old one if the list has not changed."""
    url = os.environ["RIN_FUNDINGS_URL"] + "?page%5Bpage%5D=0&page%5Bsize%5D=75"
    state, seen, hops = {"etag": None, "records": {}}, set(), 0
    while url:
        if url in seen:
            raise Stop("pages go round in a circle")
        seen.add(url)
        first = len(seen) == 1
        r = fetch(url, old.get("etag") if first else None)
        if r.is_redirect and hops < 3:
            url, hops = within(urljoin(url, r.headers["Location"])), hops + 1
            seen.clear()
            continue
        if r.status_code == 304 and first:
            return old
        if r.status_code != 200 or not isinstance(r.json(), list):
            raise Stop(f"list: HTTP {r.status_code}")
        if first:
            state["etag"] = r.headers.get("ETag")
        state["records"].update((f["id"], f) for f in r.json())
        follow = r.links.get("next", {}).get("url")
        url = within(urljoin(url, follow)) if follow else None
    return state


def one_run(state_file):
    old = json.loads(state_file.read_text()) if state_file.exists() else {}
    new = read_list(old)
    if new is old:
        print("not modified")
        return
    had, has = old.get("records", {}), new["records"]
    tmp = state_file.with_suffix(".new")
    tmp.write_text(json.dumps(new))
    tmp.replace(state_file)
    print(f"{len(has)} records, {len(has.keys() - had.keys())} new, {len(had.keys() - has.keys())} gone, "
          f"{sum(1 for i in has.keys() & had.keys() if has[i] != had[i])} changed")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--state-dir")
    p.add_argument("--runs", type=int, default=2)
    a = p.parse_args()
    signal.signal(signal.SIGALRM, lambda *_: sys.exit("sync: out of time"))
    signal.alarm(20)
    name = hashlib.sha256((os.environ["RIN_FUNDINGS_URL"] + os.environ["RIN_CLIENT_ID"]).encode()).hexdigest()[:16]
    with tempfile.TemporaryDirectory() as passing:
        f = pathlib.Path(a.state_dir or passing) / f"{name}.json"
        try:
            for n in range(1 if a.state_dir else a.runs):
                if n:
                    time.sleep(1)
                one_run(f)
        except (Stop, requests.RequestException, KeyError, TypeError, ValueError) as e:
            sys.exit(f"sync: {type(e).__name__}: {e}" if not isinstance(e, KeyError) else "sync: a member is missing")


if __name__ == "__main__":
    main()
