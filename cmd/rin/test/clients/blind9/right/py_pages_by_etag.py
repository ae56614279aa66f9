#!/usr/bin/env python3
"""Incremental mirror: the first round reads all pages, later rounds ask each page with its ETag.

A page that has not changed (304) is kept with its next link. Done as a daemon does it, three rounds."""
import email.utils
import os
import sys
import time
from urllib.parse import urljoin, urlsplit

import requests

ENV = os.environ
BASE = ENV["RIN_FUNDINGS_URL"]
START = BASE + "?page%5Bsize%5D=90"


class Broken(Exception):
    pass


class Mirror:
    def __init__(self):
        self.s = requests.Session()
        self.s.trust_env = False
        self.token, self.until = None, 0
        self.pages = {}  # url -> (etag, records, next url)

    def wait(self, r, n):
        v = r.headers.get("Retry-After", "")
        t = email.utils.parsedate_tz(v)
        if v.strip().isdigit():
            time.sleep(max(1, int(v)) + 0.03)
        elif t:
            time.sleep(max(1, email.utils.mktime_tz(t) - time.time()))
        else:
            time.sleep(2 * (n + 1))

    def login(self):
        for n in range(6):
            r = self.s.post(ENV["RIN_TOKEN_URL"], allow_redirects=False, timeout=20, data=dict(
                grant_type="client_credentials", client_id=ENV["RIN_CLIENT_ID"], client_secret=ENV["RIN_CLIENT_SECRET"]))
            if r.status_code not in (429, 503) or n == 5:
                break
            self.wait(r, n)
        if r.status_code != 200:
            raise Broken(f"token: {r.status_code}")
        j = r.json()
        self.token = j["access_token"]
        life = float(j.get("expires_in") or 300)
        self.until = time.monotonic() + life - min(20, life / 10)

    def get(self, url, etag):
        renewed = False
        for n in range(8):
            if not self.token or time.monotonic() > self.until:
                self.login()
            h = {"Authorization": "Bearer " + self.token}
            if etag:
                h["If-None-Match"] = etag
            r = self.s.get(url, headers=h, timeout=20)
            if r.status_code in (429, 503) and n < 7:
                self.wait(r, n)
            elif r.status_code == 401 and not renewed and urlsplit(r.url)[:2] == urlsplit(BASE)[:2]:
                renewed, self.token = True, None
            else:
                return r
        return r

    def round(self):
        url, fresh, records, read = START, {}, {}, 0
        changed = 0
        while url:
            if urlsplit(url)[:2] != urlsplit(BASE)[:2]:
                raise Broken(f"foreign link {url}")
            if url in fresh:
                raise Broken("circle")
            old = self.pages.get(url)
            r = self.get(url, old[0] if old else None)
            if r.status_code == 304 and old:
                fresh[url] = old
            elif r.status_code == 200:
                page = r.json()
                if not isinstance(page, list):
                    raise Broken("no list")
                nxt = None
                if "next" in r.links:
                    nxt = urljoin(r.url, r.links["next"]["url"])
                elif page and "Link" not in r.headers:
                    nxt = f"{START}&page%5Bpage%5D={read + len(page)}"
                fresh[url] = (r.headers.get("ETag"), page, nxt)
                changed += 1
            else:
                raise Broken(f"{r.status_code} at {r.url}")
            _, page, nxt = fresh[url]
            records.update((f["id"], f) for f in page)
            read += len(page)
            url = nxt
        self.pages = fresh  # only complete rounds count
        return changed, len(records)


def main():
    m = Mirror()
    for i in range(3):
        if i:
            time.sleep(1)
        changed, n = m.round()
        print(f"round {i + 1}: {changed} pages read, {n} fundings", flush=True)


try:
    main()
except (Broken, requests.RequestException, ValueError, KeyError, TypeError) as e:
    sys.exit(f"mirror broken: {e}")
