#!/usr/bin/env python3
"""Cron job with state. Each run revalidates the pages it has (If-None-Match) and
reports what is new, changed or gone. The state holds pages, entity tags and links,
never a token. Called without --state-dir it shows two runs with a passing state.

    rp03_cron_state.py [--state-dir DIR] [--runs N]
"""
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
session.headers.update({"User-Agent": "funding-cron/2", "Accept": "application/json"})
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


def one_run(state_file):
    old = json.loads(state_file.read_text()) if state_file.exists() else {}
    pages, url, hops = {}, os.environ["RIN_FUNDINGS_URL"] + "?page%5Bpage%5D=0&page%5Bsize%5D=100", 0
    while url:
        if url in pages:
            raise Stop("pages go round in a circle")
        known = old.get(url)
        r = fetch(url, known and known["etag"])
        if r.is_redirect and hops < 3:
            url, hops = within(urljoin(url, r.headers["Location"])), hops + 1
            continue
        if r.status_code == 304 and known:
            pages[url] = known
        elif r.status_code == 200 and isinstance(r.json(), list):
            follow = r.links.get("next", {}).get("url")
            pages[url] = {"etag": r.headers.get("ETag"), "records": r.json(),
                          "next": within(urljoin(url, follow)) if follow else None}
        else:
            raise Stop(f"list: HTTP {r.status_code}")
        url = pages[url]["next"]
    before = {f["id"]: f for p in old.values() for f in p["records"]}
    now = {f["id"]: f for p in pages.values() for f in p["records"]}
    new = now.keys() - before.keys()
    gone = before.keys() - now.keys()
    changed = {i for i in now.keys() & before.keys() if now[i] != before[i]}
    tmp = state_file.with_suffix(".new")
    tmp.write_text(json.dumps(pages))
    tmp.replace(state_file)
    print(f"{len(now)} records, {len(new)} new, {len(changed)} changed, {len(gone)} gone")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--state-dir")
    p.add_argument("--runs", type=int, default=2)
    a = p.parse_args()
    signal.signal(signal.SIGALRM, lambda *_: sys.exit("cron: out of time"))
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
            sys.exit(f"cron: {type(e).__name__}: {e}" if not isinstance(e, KeyError) else "cron: a member is missing")


if __name__ == "__main__":
    main()
