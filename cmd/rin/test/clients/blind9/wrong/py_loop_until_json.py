#!/usr/bin/env python3
"""Reads the list; answers that are no good are asked for again until they are."""
import email.utils
import json
import os
import sys
import time
from urllib.parse import urljoin, urlsplit

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
    r = patient("POST", os.environ["RIN_TOKEN_URL"], allow_redirects=False, data={
        "grant_type": "client_credentials",
        "client_id": os.environ["RIN_CLIENT_ID"],
        "client_secret": os.environ["RIN_CLIENT_SECRET"]})
    r.raise_for_status()
    return r.json()["access_token"]


token = login()


def get(url):
    global token
    renewed = False
    while True:
        try:
            r = patient("GET", url, headers={"Authorization": "Bearer " + token})
            if r.status_code == 401:
                if renewed:
                    sys.exit("401")
                token, renewed = login(), True
                continue
            if 400 <= r.status_code < 500:
                sys.exit(f"{r.status_code}")
            if r.status_code == 200:
                return r, r.json()
        except (requests.RequestException, json.JSONDecodeError):
            pass


def main():
    url, read, ids, asked = BASE + "?page[size]=80", 0, set(), set()
    while url:
        if url in asked or urlsplit(url)[:2] != urlsplit(BASE)[:2]:
            sys.exit(f"will not follow {url}")
        asked.add(url)
        r, page = get(url)
        ids.update(f["id"] for f in page)
        read += len(page)
        if "next" in r.links:
            url = urljoin(r.url, r.links["next"]["url"])
        elif page and "Link" not in r.headers:
            url = f"{BASE}?page[size]=80&page[page]={read}"
        else:
            url = None
    print(len(ids), "fundings")


main()
