"""Nightly export of all fundings of a node to a CSV file."""
import csv
import email.utils
import os
import random
import sys
import tempfile
import time
from urllib.parse import urljoin, urlsplit

import requests

ENV = os.environ
DEADLINE = time.monotonic() + 90
TRANSIENT = {429, 500, 502, 503, 504}
ATTEMPTS = 6


class Failed(Exception):
    pass


def origin(url):
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port


def retry_after(response):
    value = response.headers.get("Retry-After", "").strip()
    if value.isdigit():
        return float(value)
    try:
        moment = email.utils.parsedate_to_datetime(value)
        return max(0.0, moment.timestamp() - time.time()) + 1
    except (TypeError, ValueError):
        return None


class Node:
    def __init__(self):
        self.http = requests.Session()
        self.token = None
        self.renew_at = 0.0

    def send(self, method, url, **kw):
        """One request, repeated on transient trouble; redirects only within the origin."""
        hops = 0
        attempt = 0
        while True:
            wait = None
            try:
                r = self.http.request(method, url, timeout=(5, 20), allow_redirects=False, **kw)
                if r.status_code in (301, 302, 307, 308) and "Location" in r.headers:
                    target = urljoin(url, r.headers["Location"])
                    hops += 1
                    if hops > 5 or origin(target) != origin(url):
                        raise Failed("redirect that is not followed: " + target.split("?")[0])
                    url = target
                    continue
                if r.status_code == 200:
                    return r, r.json()
                if r.status_code not in TRANSIENT:
                    return r, None
                wait = retry_after(r)
                trouble = "status %d" % r.status_code
            except (requests.RequestException, ValueError) as e:
                trouble = type(e).__name__
            attempt += 1
            if attempt >= ATTEMPTS:
                raise Failed("%s from %s" % (trouble, url.split("?")[0]))
            if wait is None:
                wait = 0.5 * 2 ** (attempt - 1) + random.uniform(0, 0.3)
            if time.monotonic() + wait > DEADLINE:
                raise Failed("out of time after " + trouble)
            time.sleep(wait)

    def authorize(self):
        r, data = self.send("POST", ENV["RIN_TOKEN_URL"], data={
            "grant_type": "client_credentials",
            "client_id": ENV["RIN_CLIENT_ID"],
            "client_secret": ENV["RIN_CLIENT_SECRET"],
        })
        if not data or not data.get("access_token"):
            raise Failed("no token, status %d" % r.status_code)
        self.token = data["access_token"]
        life = float(data.get("expires_in") or 60)
        self.renew_at = time.monotonic() + life - min(30, life / 5)

    def get(self, url):
        renewed = False
        while True:
            if self.token is None or time.monotonic() >= self.renew_at:
                self.authorize()
            r, data = self.send("GET", url, headers={"Authorization": "Bearer " + self.token})
            if r.status_code == 401 and not renewed:
                renewed, self.token = True, None
                continue
            if data is None:
                raise Failed("status %d from %s" % (r.status_code, url.split("?")[0]))
            return r, data


def text(values, lang="en"):
    by_lang = {v.get("lang"): v.get("text", "") for v in values or []}
    return by_lang.get(lang) or next(iter(by_lang.values()), "")


def main():
    node = Node()
    start = url = ENV["RIN_FUNDINGS_URL"] + "?page%5Bpage%5D=0&page%5Bsize%5D=40"
    rows, seen = {}, set()
    while url:
        if url in seen or origin(url) != origin(start):
            raise Failed("next link cannot be followed")
        seen.add(url)
        r, data = node.get(url)
        for f in data:
            rows[f["id"]] = [f["id"], f.get("type", ""), f.get("acronym", ""), text(f.get("name"))]
        link = r.links.get("next")
        url = urljoin(r.url, link["url"]) if link else None
    folder = tempfile.mkdtemp(prefix="fundings-")
    part = os.path.join(folder, "fundings.csv.part")
    with open(part, "w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerow(["id", "type", "acronym", "name"])
        writer.writerows(rows.values())
    os.replace(part, part[:-5])
    print("%d fundings exported" % len(rows))


if __name__ == "__main__":
    try:
        main()
    except (Failed, KeyError, OSError) as e:
        print("export failed: %s" % e, file=sys.stderr)
        sys.exit(1)
