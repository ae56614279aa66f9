"""Keeps a mirror of a node's fundings: one full pass, then a cheap second pass with ETags."""
import email.utils
import json
import os
import random
import sys
import tempfile
import time
from urllib.parse import urljoin, urlsplit

import requests

ENV = os.environ
TRANSIENT = {429, 500, 502, 503, 504}
END = time.monotonic() + 90


class Failed(Exception):
    pass


def pause_wanted(response):
    value = response.headers.get("Retry-After", "").strip()
    if value.isdigit():
        return float(value)
    try:
        when = email.utils.parsedate_to_datetime(value).timestamp()
        return max(0.0, when - time.time()) + 1
    except (TypeError, ValueError):
        return None


class Mirror:
    def __init__(self):
        self.http = requests.Session()
        self.token, self.until = None, 0.0
        self.etags = {}     # address -> validator
        self.following = {}  # address -> address of the next page
        self.pages = {}     # address -> records

    def backoff(self, attempt, response, why):
        pause = pause_wanted(response) if response is not None else None
        if pause is None:
            pause = 0.5 * 2 ** attempt + random.uniform(0, 0.3)
        if attempt >= 5 or time.monotonic() + pause > END:
            raise Failed(why)
        time.sleep(pause)

    def login(self):
        for attempt in range(6):
            r = None
            try:
                r = self.http.post(ENV["RIN_TOKEN_URL"], timeout=15, allow_redirects=False, data={
                    "grant_type": "client_credentials",
                    "client_id": ENV["RIN_CLIENT_ID"],
                    "client_secret": ENV["RIN_CLIENT_SECRET"]})
                if r.status_code == 200:
                    data = r.json()
                    self.token = data["access_token"]
                    self.until = time.monotonic() + 0.8 * (data.get("expires_in") or 60)
                    return
                why = "token endpoint: status %d" % r.status_code
                if r.status_code not in TRANSIENT:
                    raise Failed(why)
            except (requests.RequestException, ValueError) as e:
                why = "token endpoint: " + type(e).__name__
            self.backoff(attempt, r, why)

    def fetch(self, key):
        """Brings one page up to date."""
        attempt, renewed, hops, url = 0, False, 0, key
        while True:
            if self.token is None or time.monotonic() > self.until:
                self.login()
            headers = {"Authorization": "Bearer " + self.token}
            if key in self.etags:
                headers["If-None-Match"] = self.etags[key]
            r = None
            try:
                with self.http.get(url, headers=headers, timeout=20, stream=True, allow_redirects=False) as r:
                    if r.is_redirect:
                        url, hops = urljoin(url, r.headers["Location"]), hops + 1
                        if hops > 5 or urlsplit(url)[:2] != urlsplit(key)[:2]:
                            raise Failed("redirect that is not followed")
                        continue
                    if r.status_code == 304:
                        return
                    if r.status_code == 401 and not renewed:
                        renewed, self.token = True, None
                        continue
                    if r.status_code == 200:
                        link = r.links.get("next")
                        self.following[key] = urljoin(url, link["url"]) if link else None
                        if "ETag" in r.headers:
                            self.etags[key] = r.headers["ETag"]
                        self.pages[key] = json.loads(r.content)
                        return
                    why = "status %d" % r.status_code
                    if r.status_code not in TRANSIENT:
                        raise Failed(why)
            except (requests.RequestException, ValueError) as e:
                why = type(e).__name__
            self.backoff(attempt, r, why)
            attempt += 1

    def refresh(self):
        key, path = ENV["RIN_FUNDINGS_URL"] + "?page%5Bpage%5D=0&page%5Bsize%5D=60", []
        while key:
            if key in path or urlsplit(key)[:2] != urlsplit(ENV["RIN_FUNDINGS_URL"])[:2]:
                raise Failed("the next link does not lead on")
            path.append(key)
            self.fetch(key)
            key = self.following[key]
        return {f["id"]: f for page in path for f in self.pages.get(page, [])}


def main():
    mirror = Mirror()
    mirror.refresh()
    time.sleep(3)
    records = mirror.refresh()
    target = os.path.join(tempfile.mkdtemp(prefix="mirror-"), "fundings.json")
    with open(target, "w", encoding="utf-8") as out:
        json.dump(list(records.values()), out, ensure_ascii=False)
    print("mirror holds %d fundings" % len(records))


try:
    main()
except (Failed, KeyError, OSError) as e:
    sys.exit("mirror not refreshed: %s" % e)
