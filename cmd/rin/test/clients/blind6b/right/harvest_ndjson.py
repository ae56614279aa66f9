"""Harvest every funding call of one node into an NDJSON file (requests).

Follows rel="next", keeps one record per id, and only renames the temporary
file into place when the list has been read to its end.
"""
import json
import os
import sys
import tempfile
import time
from email.utils import parsedate_to_datetime
from urllib.parse import urljoin, urlsplit

import requests

DEADLINE = time.monotonic() + 50
ATTEMPTS = 5
PAGE_SIZE = 60
TRANSIENT = {429, 500, 502, 503, 504}


class Failed(Exception):
    pass


def origin(url):
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}[parts.scheme]


def wanted_pause(response, attempt):
    """Seconds to wait: Retry-After in both forms, else a growing pause."""
    own = 0.5 * 2 ** attempt
    value = response.headers.get("Retry-After") if response is not None else None
    if not value:
        return own
    if value.strip().isdigit():
        return max(int(value), own)
    try:
        until = parsedate_to_datetime(value)
        now = parsedate_to_datetime(response.headers["Date"])
        return max((until - now).total_seconds(), own)
    except (KeyError, TypeError, ValueError):
        return max(10.0, own)


def pause(seconds, why):
    if time.monotonic() + seconds > DEADLINE:
        raise Failed(f"{why}; the node asks for {seconds:.0f} s, which is longer than this run may take")
    print(f"{why}; waiting {seconds:.1f} s", file=sys.stderr)
    time.sleep(seconds)


class Node:
    def __init__(self):
        self.http = requests.Session()
        self.http.trust_env = False  # no .netrc may replace our header
        self.token = None

    def fetch_token(self):
        form = {
            "grant_type": "client_credentials",
            "client_id": os.environ["RIN_CLIENT_ID"],
            "client_secret": os.environ["RIN_CLIENT_SECRET"],
        }
        answer = self.call("POST", os.environ["RIN_TOKEN_URL"], data=form)
        self.token = answer.json()["access_token"]

    def call(self, method, url, authorized=False, **more):
        renewed, hops, attempt = False, 0, 0
        while True:
            headers = {"Accept": "application/json"}
            if authorized:
                if self.token is None:
                    self.fetch_token()
                headers["Authorization"] = "Bearer " + self.token
            response = None
            try:
                response = self.http.request(method, url, headers=headers, timeout=12,
                                             allow_redirects=False, **more)
                if response.status_code == 200:
                    if "json" not in response.headers.get("Content-Type", ""):
                        raise ValueError("the answer is not JSON")
                    response.json()
                    return response
                why = f"{method} answered {response.status_code}"
            except (requests.RequestException, ValueError) as err:
                why = f"{method} failed: {type(err).__name__}"
            if response is not None and response.status_code in (307, 308) and hops < 3:
                target = urljoin(url, response.headers.get("Location", ""))
                if origin(target) != origin(url):
                    raise Failed(f"redirected to another host, {urlsplit(target).netloc}: not followed")
                url, hops = target, hops + 1
                continue
            if response is not None and response.status_code == 401 and authorized and not renewed:
                renewed, self.token = True, None
                continue
            broken = response is None or response.status_code in TRANSIENT or response.status_code == 200
            attempt += 1
            if not broken or attempt >= ATTEMPTS:
                detail = "" if response is None else response.headers.get("WWW-Authenticate", response.text[:200])
                raise Failed(f"{why} {detail}")
            pause(wanted_pause(response, attempt - 1), why)


def main():
    node, start = Node(), os.environ["RIN_FUNDINGS_URL"]
    url, seen, pages = f"{start}?page%5Bsize%5D={PAGE_SIZE}", {}, set()
    while url:
        if url in pages:
            raise Failed("the links of the list run in a circle")
        pages.add(url)
        answer = node.call("GET", url, authorized=True)
        records = answer.json()
        if not isinstance(records, list):
            raise Failed("a page is not an array")
        for record in records:
            seen[record["id"]] = record
        following = answer.links.get("next", {}).get("url")
        url = urljoin(answer.url, following) if following else None
        if url and origin(url) != origin(start):
            raise Failed(f"the next page is on another host, {urlsplit(url).netloc}: token not sent there")
    if not seen:
        raise Failed("the list is empty; the old export stays")
    with tempfile.TemporaryDirectory() as folder:
        part, final = os.path.join(folder, "calls.part"), os.path.join(folder, "calls.ndjson")
        with open(part, "w", encoding="utf-8") as out:
            for key in sorted(seen):
                out.write(json.dumps(seen[key], ensure_ascii=False) + "\n")
        os.replace(part, final)
        print(f"{len(seen)} records, {len(pages)} pages, {os.path.getsize(final)} bytes")


if __name__ == "__main__":
    try:
        main()
    except (Failed, KeyError, ValueError) as err:
        sys.exit(f"harvest incomplete: {err}")
