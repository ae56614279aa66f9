#!/usr/bin/env python3
"""Tree of programmes and their calls; the pages are fetched side by side.
Bearer tokens as a requests auth class."""
import collections
import concurrent.futures
import os
import signal
import sys
import threading
import time
from email.utils import parsedate_to_datetime

import requests
from requests.auth import AuthBase

TIME = time.monotonic() + 17
STEP, MOST = 50, 500          # there are never more than a few hundred
quiet = threading.Lock()      # held while the node wants to be left alone


class TreeError(Exception):
    pass


class ClientCredentials(AuthBase):
    def __init__(self, token_url, client_id, client_secret):
        self.token_url, self.id, self.secret = token_url, client_id, client_secret
        self.lock, self.token, self.until = threading.Lock(), None, 0

    def __call__(self, request):
        with self.lock:
            if self.token is None or time.monotonic() > self.until:
                self.fetch()
            request.headers["Authorization"] = f"Bearer {self.token}"
        return request

    def fetch(self):
        r = patient(lambda t: requests.post(self.token_url, timeout=t, allow_redirects=False, data={
            "grant_type": "client_credentials", "client_id": self.id, "client_secret": self.secret}))
        if r.status_code != 200:
            raise TreeError(f"token: {r.status_code}")
        answer = r.json()
        self.token = answer["access_token"]
        self.until = time.monotonic() + 0.9 * answer.get("expires_in", 3600)

    def refused(self, request):
        with self.lock:
            if request.headers["Authorization"] == f"Bearer {self.token}":
                self.token = None


def asked(r):
    v = r.headers.get("Retry-After", "")
    try:
        return float(v) if v.isdigit() else parsedate_to_datetime(v).timestamp() - time.time()
    except (TypeError, ValueError):
        return None


def patient(send):
    for n in range(5):
        pause = 0.4 * 2 ** n
        with quiet:
            pass
        try:
            r = send(max(1, min(7, TIME - time.monotonic())))
            if r.status_code == 200:
                r.json()
            if r.status_code != 429 and r.status_code < 500:
                return r
            why, told = f"status {r.status_code}", asked(r)
            if told is not None and n < 4 and time.monotonic() + max(pause, told) < TIME:
                with quiet:
                    time.sleep(max(pause, told + 0.1))
                continue
        except requests.RequestException as e:
            why = type(e).__name__
        if n == 4 or time.monotonic() + pause > TIME:
            raise TreeError(why)
        time.sleep(pause)


def page(s, kind, offset):
    for last in (False, False, True):
        r = patient(lambda t: s.get(os.environ["RIN_FUNDINGS_URL"], timeout=t, allow_redirects=False, params={
            "fundingType": kind, "page[page]": offset, "page[size]": STEP}))
        if r.status_code != 401 or last:
            break
        s.auth.refused(r.request)
    if r.status_code != 200:
        raise TreeError(f"list: status {r.status_code}")
    return r.json()


def listing(s, kind):
    with concurrent.futures.ThreadPoolExecutor(5) as pool:
        for rows in pool.map(lambda o: page(s, kind, o), range(0, MOST, STEP)):
            yield from rows


def late(*_):
    print("tree: out of time", file=sys.stderr)
    os._exit(1)


def main():
    signal.signal(signal.SIGALRM, late)
    signal.alarm(20)
    s = requests.Session()
    s.auth = ClientCredentials(os.environ["RIN_TOKEN_URL"], os.environ["RIN_CLIENT_ID"],
                               os.environ["RIN_CLIENT_SECRET"])
    try:
        programmes = {p["id"]: p for p in listing(s, "PROGRAMME")}
        calls = {c["id"]: c for c in listing(s, "CALL")}
    except (TreeError, KeyError, TypeError) as e:
        sys.exit(f"tree: {type(e).__name__}: {e}")
    below = collections.defaultdict(list)
    for c in calls.values():
        below[(c.get("partOf") or {}).get("id")].append(c["id"])
    for i, p in programmes.items():
        print(i, p["name"][0]["text"], f"({len(below[i])} calls)")
    print(len(programmes), "programmes,", len(calls), "calls,", len(below[None]), "of no programme")


main()
