#!/usr/bin/env python3
"""Feed for the search index: every funding as a document with its texts in both languages."""
import json
import os
import signal
import sys
import time
from email.utils import parsedate_to_datetime
from urllib.parse import urljoin, urlsplit

import requests


class Node(requests.Session):
    """A session that knows how to log in and to be patient."""

    def __init__(self, seconds=17):
        super().__init__()
        self.deadline = time.monotonic() + seconds
        self.headers["Accept"] = "application/json"
        self.home = os.environ["RIN_FUNDINGS_URL"]

    def request(self, method, url, **kw):
        kw.update(allow_redirects=False)
        for n in range(5):
            nap = 0.4 * 2 ** n
            try:
                r = super().request(method, url, timeout=max(1, min(7, self.deadline - time.monotonic())), **kw)
                if r.ok:
                    r.json()
                if r.status_code != 429 and r.status_code < 500:
                    return r
                what = r.status_code
                nap = max(nap, self.told(r))
            except requests.RequestException as e:
                what = type(e).__name__
            if n == 4 or time.monotonic() + nap > self.deadline:
                sys.exit(f"feed: {what} from {urlsplit(url).path}")
            time.sleep(nap)

    def told(self, r):
        v = r.headers.get("Retry-After", "")
        if v.isdigit():
            return int(v) + 0.1
        try:
            return parsedate_to_datetime(v).timestamp() - time.time() + 0.1
        except (TypeError, ValueError):
            return 0

    def login(self):
        self.headers.pop("Authorization", None)
        r = self.post(os.environ["RIN_TOKEN_URL"], data={
            "grant_type": "client_credentials",
            "client_id": os.environ["RIN_CLIENT_ID"],
            "client_secret": os.environ["RIN_CLIENT_SECRET"]})
        if r.status_code != 200:
            sys.exit(f"feed: login failed with {r.status_code}")
        self.headers["Authorization"] = "Bearer " + r.json()["access_token"]

    def page(self, params):
        if "Authorization" not in self.headers:
            self.login()
        r = self.get(self.home, params=params)
        if r.status_code == 401:
            self.login()
            r = self.get(self.home, params=params)
        if r.status_code != 200:
            sys.exit(f"feed: {r.status_code} for the list")
        nxt = r.links.get("next")
        if not nxt:
            return r.json(), None
        target = urlsplit(urljoin(r.url, nxt["url"]))
        if target[:2] != urlsplit(self.home)[:2]:
            sys.exit("feed: next link to another server")
        return r.json(), dict(p.split("=", 1) for p in target.query.split("&"))


def document(f):
    return {"id": f["id"], "kind": f["type"],
            **{f"title_{t['lang']}": t["text"] for t in f["name"]},
            **{f"text_{t['lang']}": t["text"] for t in f.get("description", [])}}


def main():
    signal.signal(signal.SIGALRM, lambda *_: sys.exit("feed: out of time"))
    signal.alarm(20)
    node, docs = Node(), {}
    params = {"page[page]": "0", "page[size]": "50"}
    while params:
        rows, params = node.page(params)
        docs.update((f["id"], document(f)) for f in rows)
    print(len(docs), "documents,", sum(len(json.dumps(d)) for d in docs.values()), "bytes")


main()
