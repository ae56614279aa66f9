#!/usr/bin/env python3
"""How many calls are open in each province? One filtered list per province."""
import os
import signal
import sys
import time
from email.utils import parsedate_to_datetime
from urllib.parse import urljoin, urlsplit

import requests

PROVINCES = ["VIENNA", "LOWER_AUSTRIA", "UPPER_AUSTRIA", "SALZBURG", "TYROL", "STYRIA"]
BACKOFF = (0.3, 0.5, 0.9, 1.6)
end = time.monotonic() + 17


def die(why):
    sys.exit(f"overview: {why}")


def wait_asked(resp):
    v = resp.headers.get("Retry-After", "1")
    try:
        return float(v)
    except ValueError:
        try:
            return max(0.0, parsedate_to_datetime(v).timestamp() - time.time())
        except (TypeError, ValueError):
            return 1.0


def with_retries(do):
    last = "?"
    for n in range(len(BACKOFF) + 1):
        wait = BACKOFF[n] if n < len(BACKOFF) else None
        try:
            resp = do(max(1, min(7, end - time.monotonic())))
            if resp.status_code == 200:
                resp.json()
                return resp
            if resp.status_code == 429:              # throttled: do as told
                if wait is not None:
                    wait = max(wait, wait_asked(resp) + 0.1)
            elif resp.status_code < 500:
                return resp
            last = f"HTTP {resp.status_code}"        # 5xx: their problem, try again soon
        except requests.RequestException as e:
            last = type(e).__name__
        if wait is None or time.monotonic() + wait > end:
            break
        time.sleep(wait)
    die(last)


def login(s):
    r = with_retries(lambda t: s.post(os.environ["RIN_TOKEN_URL"], timeout=t, allow_redirects=False, data=dict(
        grant_type="client_credentials",
        client_id=os.environ["RIN_CLIENT_ID"],
        client_secret=os.environ["RIN_CLIENT_SECRET"])))
    if r.status_code != 200:
        die(f"login: HTTP {r.status_code}")
    s.headers["Authorization"] = "Bearer " + r.json()["access_token"]


def fetch(s, url, **params):
    r = with_retries(lambda t: s.get(url, params=params, timeout=t, allow_redirects=False))
    if r.status_code == 401:
        del s.headers["Authorization"]
        login(s)
        r = with_retries(lambda t: s.get(url, params=params, timeout=t, allow_redirects=False))
    if r.status_code != 200:
        die(f"HTTP {r.status_code}")
    return r


def open_calls(s, province):
    home = os.environ["RIN_FUNDINGS_URL"]
    got = set()
    r = fetch(s, home, runningCalls="true", region=province, **{"page[page]": 0, "page[size]": 100})
    while True:
        got |= {c["id"] for c in r.json()}
        if "next" not in r.links:
            return got
        url = urljoin(r.url, r.links["next"]["url"])
        if urlsplit(url)[:2] != urlsplit(home)[:2]:
            die("the next page is elsewhere")
        r = fetch(s, url)


def main():
    signal.signal(signal.SIGALRM, lambda *_: die("out of time"))
    signal.alarm(20)
    with requests.Session() as s:
        s.headers["Accept"] = "application/json"
        login(s)
        for p in PROVINCES:
            print(f"{p:15} {len(open_calls(s, p)):4}")


main()
