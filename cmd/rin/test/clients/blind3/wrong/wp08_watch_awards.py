#!/usr/bin/env python3
"""Watches awards, grants and scholarships for changes: three looks, a second apart."""
import json
import os
import signal
import sys
import time
import urllib.error
import urllib.request
from email.utils import parsedate_to_datetime
from http.client import HTTPException
from types import SimpleNamespace
from urllib.parse import urlencode, urljoin, urlsplit

KINDS = ("AWARD", "GRANT", "SCHOLARSHIP")
end = time.monotonic() + 17
home = os.environ["RIN_FUNDINGS_URL"]
token = None


class NoFollow(urllib.request.HTTPRedirectHandler):
    redirect_request = lambda *a, **k: None


urllib.request.install_opener(urllib.request.build_opener(NoFollow))


def http(url, headers=(), data=None):
    for n in range(5):
        pause = 0.4 * 2 ** n
        try:
            with urllib.request.urlopen(urllib.request.Request(url, data, dict(headers)),
                                        timeout=max(1, min(7, end - time.monotonic()))) as r:
                return SimpleNamespace(code=200, headers=r.headers, json=json.loads(r.read()))
        except urllib.error.HTTPError as e:
            e.close()
            if e.code != 429 and e.code < 500:
                return SimpleNamespace(code=e.code, headers=e.headers, json=None)
            problem, v = f"HTTP {e.code}", e.headers["Retry-After"] or ""
            if v.isdigit():
                pause = max(pause, int(v) + 0.1)
            elif v:
                try:
                    pause = max(pause, parsedate_to_datetime(v).timestamp() - time.time() + 0.1)
                except (TypeError, ValueError):
                    pass
        except (OSError, HTTPException, ValueError) as e:
            problem = type(e).__name__
        if n == 4 or time.monotonic() + pause > end:
            sys.exit(f"watch: {urlsplit(url).path}: {problem}")
        time.sleep(pause)


def authorize():
    global token
    r = http(os.environ["RIN_TOKEN_URL"], {"Content-Type": "application/x-www-form-urlencoded"},
             urlencode({"grant_type": "client_credentials", "client_id": os.environ["RIN_CLIENT_ID"],
                        "client_secret": os.environ["RIN_CLIENT_SECRET"]}).encode())
    if r.code != 200:
        sys.exit(f"watch: no token ({r.code})")
    token = r.json["access_token"]


def get(url, tag):
    if token is None:
        authorize()
    for again in (True, False):
        h = {"Authorization": "Bearer " + token, "Accept": "application/json"}
        if tag:
            h["If-None-Match"] = tag
        r = http(url, h)
        if r.code == 401 and again:
            authorize()
            continue
        return r


class Page:
    """One page of a list as it was seen last."""
    def __init__(self):
        self.etag, self.rows, self.follow = None, {}, None

    def look(self, url):
        r = get(url, self.etag)
        if r.code == 304:
            return
        if r.code != 200:
            sys.exit(f"watch: HTTP {r.code}")
        self.etag = (r.headers["ETag"] or "").removeprefix("W/").strip('"')
        self.rows = {f["id"]: f for f in r.json}
        self.follow = None
        for part in (r.headers["Link"] or "").split(", <"):
            if 'rel="next"' in part:
                self.follow = urljoin(url, part.lstrip("<").split(">")[0])
                if urlsplit(self.follow)[:2] != urlsplit(home)[:2]:
                    sys.exit("watch: next page elsewhere")


def look(pages, kind):
    rows, url = {}, home + "?" + urlencode({"fundingType": kind, "page[size]": 50})
    while url:
        p = pages.setdefault(url, Page())
        p.look(url)
        rows.update(p.rows)
        url = p.follow
    return rows


def main():
    signal.signal(signal.SIGALRM, lambda *_: sys.exit("watch: out of time"))
    signal.alarm(20)
    pages, last = {}, {}
    for n in range(3):
        if n:
            time.sleep(0.8)
        for kind in KINDS:
            now = look(pages, kind)
            if n == 0:
                print(kind, len(now))
            elif now != last[kind]:
                print(kind, "changed:", sorted(i for i in now.keys() | last[kind].keys()
                                              if now.get(i) != last[kind].get(i)))
            last[kind] = now


main()
