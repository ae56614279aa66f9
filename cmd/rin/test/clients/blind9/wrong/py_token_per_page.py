#!/usr/bin/env python3
"""Exports the list page by page. headers() is called for each request."""
import email.utils
import json
import os
import sys
import time
from urllib.parse import urljoin, urlsplit

import requests

BASE = os.environ["RIN_FUNDINGS_URL"]


def patient(call):
    for i in range(7):
        r = call()
        if r.status_code not in (429, 503) or i == 6:
            return r
        v = r.headers.get("Retry-After", "")
        t = email.utils.parsedate_tz(v)
        time.sleep(int(v) + 0.05 if v.isdigit() else max(1, email.utils.mktime_tz(t) - time.time()) if t else 2 ** i)


def headers():
    r = patient(lambda: requests.post(os.environ["RIN_TOKEN_URL"], timeout=20, allow_redirects=False, data={
        "grant_type": "client_credentials",
        "client_id": os.environ["RIN_CLIENT_ID"],
        "client_secret": os.environ["RIN_CLIENT_SECRET"]}))
    r.raise_for_status()
    return {"Authorization": "Bearer " + r.json()["access_token"]}


def get(url):
    if urlsplit(url)[:2] != urlsplit(BASE)[:2]:
        sys.exit(f"will not go to {url}")
    h = headers()
    r = patient(lambda: requests.get(url, headers=h, timeout=20))
    if r.status_code == 401:
        h = headers()
        r = patient(lambda: requests.get(url, headers=h, timeout=20))
    r.raise_for_status()
    return r


def main():
    url, read, seen, asked = BASE + "?page[page]=0&page[size]=15", 0, {}, set()
    while url:
        if url in asked:
            sys.exit("loop")
        asked.add(url)
        r = get(url)
        page = r.json()
        seen.update((f["id"], f) for f in page)
        read += len(page)
        if "next" in r.links:
            url = urljoin(r.url, r.links["next"]["url"])
        elif page and "Link" not in r.headers:
            url = f"{BASE}?page[page]={read}&page[size]=15"
        else:
            url = None
    for f in seen.values():
        print(json.dumps(f))


try:
    main()
except (requests.RequestException, ValueError, TypeError, KeyError) as e:
    sys.exit(f"failed: {e}")
