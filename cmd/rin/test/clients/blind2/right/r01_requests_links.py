#!/usr/bin/env python3
"""Harvests all fundings with requests; follows the Link header, rel=next."""
import os, random, signal, sys, time
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from urllib.parse import quote_plus, urljoin, urlsplit
import requests

END = time.monotonic() + 16
TRIES = 5
signal.signal(signal.SIGALRM, lambda *_: os._exit(1))
signal.alarm(19)


class GiveUp(Exception):
    pass


def pause(seconds):
    if time.monotonic() + seconds > END:
        raise GiveUp(f"would have to wait {seconds:.1f} s, no time left")
    time.sleep(seconds)


def delay(n, response=None):
    value = response.headers.get("Retry-After") if response is not None else None
    if value:
        if value.strip().isdigit():
            return int(value) + 0.05
        try:
            return max(0, (parsedate_to_datetime(value) - datetime.now(timezone.utc)).total_seconds()) + 1
        except (ValueError, TypeError):
            pass
    return 0.5 * 2 ** n + random.uniform(0, 0.3)


TRANSIENT = {429, 500, 502, 503, 504}
BROKEN = (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError,
          requests.exceptions.ContentDecodingError)
session = requests.Session()
session.headers.update({"User-Agent": "harvest/1.0 (ris@example.org)"})


class Token:
    value, until = None, 0

    def get(self):
        if self.value and time.monotonic() < self.until:
            return self.value
        auth = (quote_plus(os.environ["RIN_CLIENT_ID"]), quote_plus(os.environ["RIN_CLIENT_SECRET"]))
        for n in range(TRIES):
            try:
                r = session.post(os.environ["RIN_TOKEN_URL"], data={"grant_type": "client_credentials"},
                                 auth=auth, headers={"Accept": "application/json"}, timeout=(3, 8),
                                 allow_redirects=False)
            except BROKEN:
                pause(delay(n))
                continue
            if r.status_code in TRANSIENT:
                pause(delay(n, r))
                continue
            if r.status_code != 200:
                raise GiveUp(f"token endpoint: {r.status_code}")
            try:
                body = r.json()
                value, kind = body["access_token"], body["token_type"]
            except (ValueError, KeyError, TypeError):
                pause(delay(n))
                continue
            if kind.lower() != "bearer":
                raise GiveUp(f"token type {kind}")
            life = float(body.get("expires_in") or 3600)
            self.value, self.until = value, time.monotonic() + life - min(10, life * 0.1)
            return value
        raise GiveUp("no token")

    def drop(self):
        self.value = None


token = Token()


def get(url, params=None):
    renewed = False
    for n in range(TRIES):
        try:
            r = session.get(url, params=params, timeout=(3, 8), allow_redirects=False,
                            headers={"Authorization": "Bearer " + token.get(), "Accept": "application/json"})
        except BROKEN:
            pause(delay(n))
            continue
        if r.status_code == 401 and not renewed:
            token.drop()
            renewed = True
            continue
        if r.status_code in TRANSIENT:
            pause(delay(n, r))
            continue
        if r.status_code != 200:
            raise GiveUp(f"{url}: {r.status_code}")
        try:
            if "json" not in r.headers.get("Content-Type", ""):
                raise ValueError("not JSON")
            return r, r.json()
        except ValueError:
            pause(delay(n))
    raise GiveUp(f"{url}: too many tries")


def same_origin(a, b):
    return urlsplit(a)[:2] == urlsplit(b)[:2]


def main():
    start = os.environ["RIN_FUNDINGS_URL"]
    url, params, seen, records = start, {"page[page]": 0, "page[size]": 50}, set(), {}
    while url:
        r, page = get(url, params)
        if not isinstance(page, list):
            raise GiveUp("the list is no list")
        for record in page:
            records[record["id"]] = record
        url, params = r.links.get("next", {}).get("url"), None
        if url:
            url = urljoin(r.url, url)
            if not same_origin(url, start) or url in seen:
                raise GiveUp(f"odd next link {url}")
            seen.add(url)
    print(len(records), "fundings")


try:
    main()
except GiveUp as e:
    sys.exit(f"harvest failed: {e}")
