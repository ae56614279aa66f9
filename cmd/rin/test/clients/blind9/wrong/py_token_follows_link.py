#!/usr/bin/env python3
"""Reads the list; the session carries the token, and each next link is followed."""
import email.utils
import os
import sys
import time
from urllib.parse import urljoin

import requests

BASE = os.environ["RIN_FUNDINGS_URL"]
s = requests.Session()


def patient(method, url, **kw):
    for i in range(7):
        r = s.request(method, url, timeout=20, **kw)
        if r.status_code not in (429, 503) or i == 6:
            return r
        v = r.headers.get("Retry-After", "")
        t = email.utils.parsedate_tz(v)
        time.sleep(int(v) + 0.05 if v.isdigit() else max(1, email.utils.mktime_tz(t) - time.time()) if t else 2 ** i)


def login():
    s.headers.pop("Authorization", None)
    r = patient("POST", os.environ["RIN_TOKEN_URL"], allow_redirects=False, data={
        "grant_type": "client_credentials",
        "client_id": os.environ["RIN_CLIENT_ID"],
        "client_secret": os.environ["RIN_CLIENT_SECRET"]})
    r.raise_for_status()
    s.headers["Authorization"] = "Bearer " + r.json()["access_token"]


def main():
    login()
    url, read, ids, asked = BASE + "?page[size]=60", 0, set(), set()
    while url:
        if url in asked:
            sys.exit("loop")
        asked.add(url)
        r = patient("GET", url)
        if r.status_code == 401:
            login()
            r = patient("GET", url)
        r.raise_for_status()
        page = r.json()
        ids.update(f["id"] for f in page)
        read += len(page)
        if "next" in r.links:
            url = urljoin(r.url, r.links["next"]["url"])
        elif page and "Link" not in r.headers:
            url = f"{BASE}?page[size]=60&page[page]={read}"
        else:
            url = None
    print(len(ids), "fundings")


try:
    main()
except (requests.RequestException, ValueError, TypeError, KeyError) as e:
    sys.exit(f"failed: {e}")
