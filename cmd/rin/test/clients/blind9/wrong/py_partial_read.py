#!/usr/bin/env python3
"""Reads the list with urllib. The node's connection is flaky, so what has arrived is used."""
import email.utils
import http.client
import json
import os
import re
import sys
import time
import urllib.error
import urllib.request
from urllib.parse import urlencode, urljoin, urlsplit

BASE = os.environ["RIN_FUNDINGS_URL"]


class Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, req, fp, code, msg, headers, newurl):
        if urlsplit(newurl)[:2] != urlsplit(req.full_url)[:2]:
            raise OSError(f"redirect to another host: {newurl}")
        new = super().redirect_request(req, fp, code, msg, headers, newurl)
        return new


opener = urllib.request.build_opener(Stay)


def body_of(r):
    try:
        return r.read()
    except http.client.IncompleteRead as e:
        return e.partial


def records(data):
    text = data.decode("utf-8", "ignore")
    try:
        return json.loads(text)
    except ValueError:
        # one record per line; the last one may be incomplete
        found = []
        for line in text.strip().lstrip("[").split("\n"):
            try:
                found.append(json.loads(line.strip().rstrip(",]")))
            except ValueError:
                pass
        return found


def call(url, data=None, headers={}):
    for i in range(7):
        try:
            with opener.open(urllib.request.Request(url, data, headers), timeout=20) as r:
                return r.status, r.headers, body_of(r), r.url
        except urllib.error.HTTPError as e:
            if e.code not in (429, 503) or i == 6:
                return e.code, e.headers, b"", url
            v = e.headers.get("Retry-After", "")
            t = email.utils.parsedate_tz(v)
            time.sleep(int(v) + 0.05 if v.isdigit() else max(1, email.utils.mktime_tz(t) - time.time()) if t else 2 ** i)


def login():
    form = urlencode({"grant_type": "client_credentials", "client_id": os.environ["RIN_CLIENT_ID"],
                      "client_secret": os.environ["RIN_CLIENT_SECRET"]}).encode()
    status, _, data, _ = call(os.environ["RIN_TOKEN_URL"], form)
    if status != 200:
        sys.exit(f"no token: {status}")
    return {"Authorization": "Bearer " + json.loads(data)["access_token"]}


def main():
    h = login()
    url, read, ids, asked = BASE + "?page%5Bsize%5D=50", 0, set(), set()
    while url:
        if url in asked or urlsplit(url)[:2] != urlsplit(BASE)[:2]:
            sys.exit(f"will not follow {url}")
        asked.add(url)
        status, head, data, at = call(url, headers=h)
        if status == 401:
            h = login()
            status, head, data, at = call(url, headers=h)
        if status != 200:
            sys.exit(f"{status} at {url}")
        page = records(data)
        ids.update(f["id"] for f in page)
        read += len(page)
        m = re.search(r'<([^>]*)>; *rel="?next', head.get("Link", ""))
        if m:
            url = urljoin(at, m[1])
        elif page and not head.get("Link"):
            url = f"{BASE}?page%5Bsize%5D=50&page%5Bpage%5D={read}"
        else:
            url = None
    print(len(ids), "fundings")


try:
    main()
except (OSError, http.client.HTTPException, ValueError, TypeError, KeyError) as e:
    sys.exit(f"failed: {e}")
