#!/usr/bin/env python3
"""Nightly import into the research portal: checks the access by the info resource, then
reads all fundings. Tokens come from a provider that renews them well before they expire."""
import dataclasses
import json
import os
import signal
import sys
import time
from email.utils import parsedate_to_datetime
from urllib.parse import urljoin, urlsplit

import requests

RENEW_BEFORE = 300      # seconds before expiry


class ImportFailed(Exception):
    pass


class Transport:
    def __init__(self, seconds):
        self.s, self.end = requests.Session(), time.monotonic() + seconds
        self.s.headers.update({"Accept": "application/json", "User-Agent": "portal-import/0.9"})

    def send(self, method, url, **kw):
        kw.setdefault("allow_redirects", False)
        error = None
        for n in range(5):
            pause = 0.35 * 2 ** n
            try:
                r = self.s.request(method, url, timeout=max(1, min(7, self.end - time.monotonic())), **kw)
                if r.status_code == 200:
                    r.json()
                if r.status_code not in (429, 500, 502, 503, 504):
                    return r
                error = f"{urlsplit(url).path} answers {r.status_code}"
                pause = max(pause, self.told(r.headers.get("Retry-After")))
            except requests.RequestException as e:
                error = f"{urlsplit(url).path}: {type(e).__name__}"
            if n == 4 or time.monotonic() + pause > self.end:
                break
            time.sleep(pause)
        raise ImportFailed(error)

    @staticmethod
    def told(v):
        if v is None:
            return 0
        if v.isdigit():
            return int(v) + 0.1
        try:
            return parsedate_to_datetime(v).timestamp() - time.time() + 0.1
        except (TypeError, ValueError):
            return 0


@dataclasses.dataclass
class TokenProvider:
    transport: Transport
    url: str
    client_id: str
    client_secret: str = dataclasses.field(repr=False)
    value: str | None = dataclasses.field(default=None, repr=False)
    expires_at: float = 0.0

    def get(self):
        if self.value is None or time.time() > self.expires_at - RENEW_BEFORE:
            r = self.transport.send("POST", self.url, data={
                "grant_type": "client_credentials",
                "client_id": self.client_id, "client_secret": self.client_secret})
            if r.status_code != 200:
                raise ImportFailed(f"token endpoint answers {r.status_code}")
            body = r.json()
            self.value = body["access_token"]
            self.expires_at = time.time() + float(body.get("expires_in", 3600))
        return self.value

    def invalidate(self):
        self.value = None


class Portal:
    def __init__(self, transport, tokens):
        self.transport, self.tokens = transport, tokens

    def get(self, url, **kw):
        for last in (False, True):
            r = self.transport.send("GET", url, headers={"Authorization": f"Bearer {self.tokens.get()}"}, **kw)
            if r.status_code != 401 or last:
                break
            self.tokens.invalidate()
        if r.status_code != 200:
            raise ImportFailed(f"{urlsplit(url).path} answers {r.status_code}")
        return r

    def check(self):
        self.get(os.environ["RIN_INFO_URL"])

    def fundings(self):
        home = os.environ["RIN_FUNDINGS_URL"]
        r = self.get(home, params={"page[size]": 25, "page[page]": 0})
        while True:
            yield from r.json()
            n = r.links.get("next")
            if not n:
                return
            url = urljoin(r.url, n["url"])
            if urlsplit(url)[:2] != urlsplit(home)[:2]:
                raise ImportFailed("the next page is on another server")
            r = self.get(url)


def run():
    t = Transport(17)
    p = Portal(t, TokenProvider(t, os.environ["RIN_TOKEN_URL"], os.environ["RIN_CLIENT_ID"],
                                os.environ["RIN_CLIENT_SECRET"]))
    p.check()
    rows = {f["id"]: json.dumps(f, sort_keys=True) for f in p.fundings()}
    print(f"imported {len(rows)} fundings")


if __name__ == "__main__":
    signal.signal(signal.SIGALRM, lambda *_: sys.exit("import: out of time"))
    signal.alarm(20)
    try:
        run()
    except (ImportFailed, KeyError, TypeError) as e:
        sys.exit(f"import failed: {type(e).__name__} {e}")
