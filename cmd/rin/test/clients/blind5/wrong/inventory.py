"""Monthly inventory: how many fundings of each type a node offers, with their ids as a file."""
import collections
import email.utils
import http.client
import json
import os
import random
import re
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

ENV = os.environ
PAGE_SIZE = 50
DEADLINE = time.monotonic() + 90
TRANSIENT = (429, 500, 502, 503, 504)


class Failed(Exception):
    pass


class SameOrigin(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, req, fp, code, msg, headers, newurl):
        a, b = urllib.parse.urlsplit(req.full_url), urllib.parse.urlsplit(newurl)
        if (a.scheme, a.netloc) != (b.scheme, b.netloc) or req.get_method() == "POST":
            raise Failed("redirect that is not followed")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


OPENER = urllib.request.build_opener(SameOrigin)


def requested_pause(headers):
    value = (headers.get("Retry-After") or "").strip()
    if value.isdigit():
        return int(value)
    try:
        return max(0, email.utils.parsedate_to_datetime(value).timestamp() - time.time()) + 1
    except (TypeError, ValueError):
        return None


def call(url, headers, form=None):
    body = urllib.parse.urlencode(form).encode() if form else None
    for attempt in range(6):
        pause = None
        try:
            with OPENER.open(urllib.request.Request(url, body, headers), timeout=20) as r:
                return r.status, json.loads(r.read()), r
        except urllib.error.HTTPError as e:
            e.read()
            if e.code not in TRANSIENT:
                return e.code, None, e
            why, pause = "status %d" % e.code, requested_pause(e.headers)
        except (OSError, http.client.HTTPException, ValueError) as e:
            why = type(e).__name__
        if pause is None:
            pause = min(10, 0.5 * 2 ** attempt) + random.uniform(0, 0.3)
        if attempt == 5 or time.monotonic() + pause > DEADLINE:
            break
        time.sleep(pause)
    raise Failed(why)


class Harvest:
    def __init__(self):
        self.token, self.until = None, 0.0

    def login(self):
        status, data, _ = call(ENV["RIN_TOKEN_URL"], {"Accept": "application/json"}, {
            "grant_type": "client_credentials",
            "client_id": ENV["RIN_CLIENT_ID"],
            "client_secret": ENV["RIN_CLIENT_SECRET"]})
        if status != 200:
            raise Failed("no token, status %d" % status)
        self.token = data["access_token"]
        self.until = time.monotonic() + 0.8 * (data.get("expires_in") or 60)

    def page(self, url):
        for second in (False, True):
            if self.token is None or time.monotonic() > self.until:
                self.login()
            status, data, r = call(url, {"Authorization": "Bearer " + self.token})
            if status == 401 and not second:
                self.token = None
                continue
            if status != 200:
                raise Failed("status %d" % status)
            link = re.search(r'<([^>]*)>\s*;\s*rel="?next"?', ", ".join(r.headers.get_all("Link") or []))
            return data, urllib.parse.urljoin(r.geturl(), link.group(1)) if link else None

    def records(self):
        url = ENV["RIN_FUNDINGS_URL"] + "?" + urllib.parse.urlencode({"page[page]": 1, "page[size]": PAGE_SIZE})
        home, seen = urllib.parse.urlsplit(url)[:2], set()
        while url:
            if url in seen or urllib.parse.urlsplit(url)[:2] != home:
                raise Failed("the next link cannot be followed")
            seen.add(url)
            data, url = self.page(url)
            yield from data


def main():
    types = {f["id"]: f["type"] for f in Harvest().records()}
    folder = tempfile.mkdtemp(prefix="inventory-")
    with open(os.path.join(folder, "ids.txt"), "w") as out:
        out.writelines(key + "\n" for key in sorted(types))
    for kind, number in sorted(collections.Counter(types.values()).items()):
        print("%-18s%5d" % (kind, number))
    print("%-18s%5d" % ("all", len(types)))


try:
    main()
except (Failed, KeyError, OSError) as e:
    sys.exit("inventory failed: %s" % e)
