#!/usr/bin/env python3
"""Whole harvest of a node's fundings, page by page, into one JSON Lines file."""
import email.utils
import json
import os
import random
import signal
import sys
import tempfile
import time
from urllib.parse import urljoin, urlsplit

import requests
from requests.utils import parse_header_links

BUDGET = 17.0          # seconds for the whole run
ATTEMPTS = 5
STARTED = time.monotonic()


class Trouble(Exception):
    """Nothing more to be done; the run has failed."""


def left():
    return BUDGET - (time.monotonic() - STARTED)


def origin(url):
    u = urlsplit(url)
    return u.scheme, u.hostname, u.port or (443 if u.scheme == "https" else 80)


def retry_after(value):
    if not value:
        return None
    value = value.strip()
    if value.isdigit():
        return float(value)
    try:
        at = email.utils.parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return None
    return max(0.0, at.timestamp() - time.time())


class Node:
    def __init__(self, env):
        self.token_url = env["RIN_TOKEN_URL"]
        self.list_url = env["RIN_FUNDINGS_URL"]
        self.client = (env["RIN_CLIENT_ID"], env["RIN_CLIENT_SECRET"])
        self.http = requests.Session()
        self.http.headers["User-Agent"] = "muster-harvest/1.4"
        self.http.headers["Accept"] = "application/json"
        self._token, self._until = None, 0.0

    def _exchange(self, method, url, **kw):
        """One request; passing trouble is repeated after a pause."""
        for attempt in range(1, ATTEMPTS + 1):
            pause = 0.3 * 2 ** attempt * random.uniform(1, 1.25)
            try:
                r = self.http.request(method, url, allow_redirects=False,
                                      timeout=(4, max(1, min(9, left()))), **kw)
                if r.status_code not in (408, 429, 500, 502, 503, 504):
                    return r, (r.json() if r.status_code == 200 else None)
                why = f"status {r.status_code}"
                asked = retry_after(r.headers.get("Retry-After"))
                if asked is not None:
                    pause = max(pause, asked + 0.1)
            except (requests.ConnectionError, requests.Timeout,
                    requests.exceptions.ChunkedEncodingError,
                    requests.exceptions.ContentDecodingError,
                    requests.exceptions.JSONDecodeError) as e:
                why = type(e).__name__
            if attempt == ATTEMPTS or pause > left():
                break
            print(f"{urlsplit(url).path}: {why}, again in {pause:.1f} s", file=sys.stderr)
            time.sleep(pause)
        raise Trouble(f"{urlsplit(url).path}: {why}, given up after {attempt} attempts")

    def token(self):
        if self._token is None or time.monotonic() >= self._until:
            r, body = self._exchange("POST", self.token_url, data={
                "grant_type": "client_credentials",
                "client_id": self.client[0], "client_secret": self.client[1]})
            if r.status_code != 200:
                raise Trouble(f"no token: status {r.status_code}")
            if not isinstance(body, dict) or not isinstance(body.get("access_token"), str) \
                    or str(body.get("token_type", "bearer")).lower() != "bearer":
                raise Trouble("no token: the answer has no bearer token")
            self._token = body["access_token"]
            life = body.get("expires_in")
            self._until = time.monotonic() + life * 0.9 if isinstance(life, (int, float)) \
                else float("inf")
        return self._token

    def get(self, url, params=None):
        renewed, hops = False, 0
        while True:
            r, body = self._exchange("GET", url, params=params, headers={
                "Authorization": "Bearer " + self.token()})
            if r.status_code == 401 and not renewed:
                renewed, self._token = True, None
                continue
            if r.status_code in (301, 302, 303, 307, 308) and "Location" in r.headers and hops < 4:
                url, params, hops = urljoin(r.url, r.headers["Location"]), None, hops + 1
                if origin(url) != origin(self.list_url):
                    raise Trouble("redirected to another origin; not followed")
                continue
            if r.status_code != 200:
                raise Trouble(f"{urlsplit(url).path}: status {r.status_code}")
            return r, body

    def fundings(self):
        url, params, seen = self.list_url, {"page[page]": 0, "page[size]": 100}, set()
        while url:
            r, page = self.get(url, params)
            if not isinstance(page, list):
                raise Trouble("the list is not an array")
            yield from page
            seen.add(r.url)
            url, params = None, None
            for link in parse_header_links(r.headers.get("Link", "")):
                if "next" in link.get("rel", "").lower().split():
                    url = urljoin(r.url, link["url"])
                    break
            if url and origin(url) != origin(self.list_url):
                raise Trouble("the next page is on another origin; not followed")
            if url in seen:
                raise Trouble("the next links run in a circle")


def main():
    signal.signal(signal.SIGALRM, lambda *_: sys.exit("harvest: out of time"))
    signal.alarm(20)
    records = {}
    try:
        for record in Node(os.environ).fundings():
            records[record["id"]] = record
    except (Trouble, requests.RequestException, KeyError, TypeError) as e:
        print(f"harvest failed: {e}", file=sys.stderr)
        return 1
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as out:
        for record in records.values():
            out.write(json.dumps(record, ensure_ascii=False) + "\n")
        out.flush()
        print(f"{len(records)} fundings, {os.path.getsize(out.name)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
