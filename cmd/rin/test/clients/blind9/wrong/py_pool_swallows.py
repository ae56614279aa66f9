#!/usr/bin/env python3
"""Reads the records of seven types with a thread pool and stores what the threads find."""
import email.utils
import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urljoin, urlsplit

import requests

BASE = os.environ["RIN_FUNDINGS_URL"]
TYPES = ["PROGRAMME", "CALL", "ONGOING_CALL", "RESEARCH_CONTRACT", "AWARD", "GRANT", "SCHOLARSHIP"]
store = {}
rest_until = 0.0
token = None
login_lock = threading.Lock()


def patient(method, url, **kw):
    global rest_until
    for i in range(7):
        while (d := rest_until - time.monotonic()) > 0:
            time.sleep(d)
        r = requests.request(method, url, timeout=20, **kw)
        if r.status_code not in (429, 503) or i == 6:
            return r
        v = r.headers.get("Retry-After", "")
        t = email.utils.parsedate_tz(v)
        w = int(v) + 0.05 if v.isdigit() else max(1, email.utils.mktime_tz(t) - time.time()) if t else 2 ** i
        rest_until = max(rest_until, time.monotonic() + w)


def get_token(refused=None):
    global token
    with login_lock:
        if token == refused:
            r = patient("POST", os.environ["RIN_TOKEN_URL"], allow_redirects=False, data={
                "grant_type": "client_credentials",
                "client_id": os.environ["RIN_CLIENT_ID"],
                "client_secret": os.environ["RIN_CLIENT_SECRET"]})
            r.raise_for_status()
            token = r.json()["access_token"]
        return token


def get(url):
    if urlsplit(url)[:2] != urlsplit(BASE)[:2]:
        raise RuntimeError(f"other host: {url}")
    mine = get_token()
    r = patient("GET", url, headers={"Authorization": "Bearer " + mine})
    if r.status_code == 401:
        mine = get_token(refused=mine)
        r = patient("GET", url, headers={"Authorization": "Bearer " + mine})
    r.raise_for_status()
    return r


def read_type(kind):
    first = f"{BASE}?fundingType={kind}&page[size]=50"
    url, read, asked = first, 0, set()
    while url:
        if url in asked:
            raise RuntimeError("loop")
        asked.add(url)
        r = get(url)
        page = r.json()
        for f in page:
            store[f["id"]] = f
        read += len(page)
        if "next" in r.links:
            url = urljoin(r.url, r.links["next"]["url"])
        elif page and "Link" not in r.headers:
            url = f"{first}&page[page]={read}"
        else:
            url = None


try:
    get_token()
except requests.RequestException as e:
    sys.exit(f"no token: {e}")
with ThreadPoolExecutor(3) as pool:
    for t in TYPES:
        pool.submit(read_type, t)
print(len(store), "fundings stored")
