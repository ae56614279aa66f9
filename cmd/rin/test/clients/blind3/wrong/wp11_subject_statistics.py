#!/usr/bin/env python3
"""Statistics of research fields (OEFOS codes) over all fundings, weighted by fraction."""
import collections
import json
import logging
import os
import signal
import sys
import time
from email.utils import mktime_tz, parsedate_tz
from urllib.parse import urljoin, urlsplit

import requests

logging.basicConfig(format="%(levelname)s %(message)s", level=logging.WARNING)
log = logging.getLogger("stat")
BY = time.monotonic() + 17
http = requests.Session()
http.headers["Accept"] = "application/json"


def wait_time(headers, n):
    mine = 0.4 * 2 ** n
    v = headers.get("Retry-After")
    if v is None:
        return mine
    if v.isdigit():
        return max(mine, int(v) + 0.1)
    p = parsedate_tz(v)
    return max(mine, mktime_tz(p) - time.time() + 0.1) if p else mine


def attempt(method, url, **kw):
    for n in range(5):
        pause = wait_time({}, n)
        try:
            r = http.request(method, url, timeout=max(1, min(7, BY - time.monotonic())),
                             allow_redirects=False, stream=True, **kw)
            if r.status_code not in (429, 500, 502, 503, 504):
                return r
            r.close()
            why, pause = f"HTTP {r.status_code}", wait_time(r.headers, n)
        except (requests.ConnectionError, requests.Timeout) as e:
            why = type(e).__name__
        if n == 4 or time.monotonic() + pause > BY:
            break
        time.sleep(pause)
    log.error("%s: %s, given up", urlsplit(url).path, why)
    sys.exit(1)


def sign_in():
    for n in range(3):
        r = attempt("POST", os.environ["RIN_TOKEN_URL"], data={
            "grant_type": "client_credentials",
            "client_id": os.environ["RIN_CLIENT_ID"],
            "client_secret": os.environ["RIN_CLIENT_SECRET"]})
        if r.status_code != 200:
            log.error("sign-in: HTTP %s", r.status_code)
            sys.exit(1)
        try:
            http.headers["Authorization"] = "Bearer " + r.json()["access_token"]
            return
        except (requests.RequestException, KeyError):
            time.sleep(0.4 * 2 ** n)
    log.error("sign-in: no token in the answer")
    sys.exit(1)


def read(url):
    r = attempt("GET", url)
    if r.status_code == 401:
        r.close()
        del http.headers["Authorization"]
        sign_in()
        r = attempt("GET", url)
    if r.status_code != 200:
        log.error("list: HTTP %s", r.status_code)
        sys.exit(1)
    try:
        rows = json.loads(r.content)
    except (ValueError, requests.RequestException) as e:
        log.warning("page not readable (%s), skipped: %s", type(e).__name__, urlsplit(url).query)
        rows = []
    link = r.links.get("next")
    return rows, urljoin(url, link["url"]) if link else None


def main():
    signal.signal(signal.SIGALRM, lambda *_: sys.exit("stat: out of time"))
    signal.alarm(20)
    sign_in()
    home = os.environ["RIN_FUNDINGS_URL"]
    fundings, url = {}, home + "?page%5Bpage%5D=0&page%5Bsize%5D=45"
    while url:
        rows, url = read(url)
        fundings.update((f["id"], f) for f in rows)
        if url and urlsplit(url)[:2] != urlsplit(home)[:2]:
            log.error("next link leads to another server")
            sys.exit(1)
    weight = collections.Counter()
    for f in fundings.values():
        for s in f.get("subjects", []):
            weight[s.get("value", "")[:3]] += s.get("fraction", 0)
    for code, w in weight.most_common(12):
        print(f"{code}  {w:8.2f}")
    print(f"{len(fundings)} fundings")


main()
