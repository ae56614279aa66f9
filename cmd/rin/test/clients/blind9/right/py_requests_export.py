#!/usr/bin/env python3
"""Export all fundings as JSON lines: requests.Session with a Retry adapter."""
import json
import os
import sys
from urllib.parse import urljoin, urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.util.retry import Retry

SIZE = 75


class GentleRetry(Retry):
    # urllib3 repeats at once the first time when there is no Retry-After
    def get_backoff_time(self):
        return max(1.0, super().get_backoff_time())


def origin(url):
    p = urlsplit(url)
    return p.scheme, p.hostname, p.port


class Node:
    def __init__(self, env):
        self.env = env
        self.base = env["RIN_FUNDINGS_URL"]
        self.s = requests.Session()
        self.s.trust_env = False
        retry = GentleRetry(total=7, connect=2, read=0, status=6, redirect=5, backoff_factor=1,
                            status_forcelist=[429, 503], allowed_methods=None, raise_on_status=False)
        self.s.mount("http://", HTTPAdapter(max_retries=retry))
        self.s.mount("https://", HTTPAdapter(max_retries=retry))
        self.token = None

    def login(self):
        r = self.s.post(self.env["RIN_TOKEN_URL"], timeout=20, allow_redirects=False, data={
            "grant_type": "client_credentials",
            "client_id": self.env["RIN_CLIENT_ID"],
            "client_secret": self.env["RIN_CLIENT_SECRET"]})
        if r.status_code != 200:
            raise SystemExit(f"token endpoint answers {r.status_code}")
        self.token = r.json()["access_token"]

    def get(self, url):
        if origin(url) != origin(self.base):
            raise SystemExit(f"link leads to another host, not followed: {url}")
        for attempt in range(2):
            if not self.token:
                self.login()
            r = self.s.get(url, timeout=20, headers={"Authorization": "Bearer " + self.token,
                                                     "Accept": "application/json"})
            if r.status_code == 401 and attempt == 0 and origin(r.url) == origin(self.base):
                self.token = None
                continue
            if r.status_code != 200:
                raise SystemExit(f"{r.status_code} for {r.url}")
            page = r.json()
            if not isinstance(page, list):
                raise SystemExit(f"no list at {r.url}")
            return r, page

    def fundings(self):
        url = f"{self.base}?page[page]=0&page[size]={SIZE}"
        read, asked = 0, set()
        while url:
            if url in asked:
                raise SystemExit("links go in a circle")
            asked.add(url)
            r, page = self.get(url)
            yield from page
            read += len(page)
            if "next" in r.links:
                url = urljoin(r.url, r.links["next"]["url"])
            elif page and "Link" not in r.headers:
                url = f"{self.base}?page[page]={read}&page[size]={SIZE}"
            else:
                url = None


def main():
    seen = set()
    for f in Node(os.environ).fundings():
        if f["id"] not in seen:
            seen.add(f["id"])
            print(json.dumps(f, ensure_ascii=False))
    print(f"{len(seen)} fundings", file=sys.stderr)


if __name__ == "__main__":
    try:
        main()
    except (requests.RequestException, ValueError, KeyError) as e:
        sys.exit(f"failed: {e}")
