"""Availability probe with a registry: does the node still answer where the registry says?

Takes a token, looks the node up in the registry, reads its info and the
running calls of one province, and prints a line for the status page.
"""
import email.utils
import os
import random
import sys
import time
from urllib.parse import urljoin, urlsplit

import requests

ENV = os.environ
TRANSIENT = (429, 500, 502, 503, 504)
END = time.monotonic() + 80


class Failed(Exception):
    pass


class Bearer(requests.Session):
    """A session that signs itself in, and once more when the node refuses the token."""

    def __init__(self):
        super().__init__()
        self.headers["Accept"] = "application/json"
        self.until = 0.0

    def pause(self, r, attempt):
        value = r.headers.get("Retry-After", "").strip() if r is not None else ""
        if value.isdigit():
            return float(value)
        try:
            return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time()) + 1
        except (TypeError, ValueError):
            return 0.5 * 2 ** attempt + random.uniform(0, 0.3)

    def repeat(self, method, url, **kw):
        home = urlsplit(url)[:2]
        hops = 0
        attempt = 0
        while True:
            r = None
            try:
                r = self.request(method, url, timeout=15, allow_redirects=False, **kw)
                if r.is_redirect and method == "GET":
                    url, hops = urljoin(url, r.headers["Location"]), hops + 1
                    if hops > 5 or urlsplit(url)[:2] != home:
                        raise Failed("redirect that is not followed")
                    kw.pop("params", None)
                    continue
                if r.status_code == 200:
                    return r, r.json()
                if r.status_code not in TRANSIENT:
                    return r, None
                why = "status %d" % r.status_code
            except (requests.RequestException, ValueError) as e:
                why = type(e).__name__
            pause = self.pause(r, attempt)
            attempt += 1
            if attempt == 6 or time.monotonic() + pause > END:
                raise Failed("%s: %s" % (urlsplit(url).path, why))
            time.sleep(pause)

    def sign_in(self):
        self.headers.pop("Authorization", None)
        r, data = self.repeat("POST", ENV["RIN_TOKEN_URL"], data={
            "grant_type": "client_credentials",
            "client_id": ENV["RIN_CLIENT_ID"],
            "client_secret": ENV["RIN_CLIENT_SECRET"]})
        if data is None:
            raise Failed("no token: status %d" % r.status_code)
        self.headers["Authorization"] = "Bearer " + data["access_token"]
        self.until = time.monotonic() + 0.8 * (data.get("expires_in") or 60)

    def read(self, url, params=None):
        if time.monotonic() > self.until:
            self.sign_in()
        r, data = self.repeat("GET", url, params=params)
        if r.status_code == 401:
            self.sign_in()
            r, data = self.repeat("GET", url, params=params)
        if data is None:
            raise Failed("%s: status %d" % (urlsplit(url).path, r.status_code))
        return r, data


def main():
    with Bearer() as node:
        node.sign_in()
        _, registry = node.read(ENV["RIN_REGISTRY_URL"])
        member = next((m for m in registry["member"] if m["id"] == ENV["RIN_NODE_ID"]), None)
        if member is None or urlsplit(member["info"])[:2] != urlsplit(ENV["RIN_INFO_URL"])[:2]:
            raise Failed("the registry does not list the node as known")
        _, info = node.read(member["info"])
        urls = [e["url"] for e in info["endpoints"].get("funding", []) if e["name"] == "FUNDINGS"]
        if not urls or urlsplit(urljoin(member["info"], urls[0]))[:2] != urlsplit(ENV["RIN_INFO_URL"])[:2]:
            raise Failed("the info names no usable funding endpoint")
        url, params = urljoin(member["info"], urls[0]), {
            "runningCalls": "true", "region": "STYRIA", "page[size]": 40}
        ids, seen = set(), set()
        while url:
            r, data = node.read(url, params)
            ids.update(f["id"] for f in data)
            link = r.links.get("next")
            url, params = urljoin(r.url, link["url"]) if link else None, None
            if url and (url in seen or urlsplit(url)[:2] != urlsplit(ENV["RIN_INFO_URL"])[:2]):
                raise Failed("the next link cannot be followed")
            seen.add(url)
    print("%s up, %d running calls for Styria" % (member["acronym"], len(ids)))


try:
    main()
except (Failed, KeyError) as e:
    print("down: %s" % e)
    sys.exit(1)
