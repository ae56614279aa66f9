"""Watches the running calls of a node for a short while and reports changes.

Every round reads all pages; pages that did not change cost a 304 only.
"""
import email.utils
import gzip
import hashlib
import http.client
import json
import os
import random
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

ENV = os.environ
ROUNDS, PAUSE = 3, 2.0
DEADLINE = time.monotonic() + 100
TRANSIENT = (429, 500, 502, 503, 504)


class Failed(Exception):
    pass


class SameOrigin(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, req, fp, code, msg, headers, newurl):
        a, b = urllib.parse.urlsplit(req.full_url), urllib.parse.urlsplit(newurl)
        if (a.scheme, a.netloc) != (b.scheme, b.netloc):
            raise Failed("redirect to another place")
        if req.get_method() == "POST":
            raise Failed("the token endpoint redirects")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


OPENER = urllib.request.build_opener(SameOrigin)


def pause_of(headers):
    value = (headers.get("Retry-After") or "").strip()
    if value.isdigit():
        return int(value)
    try:
        return max(0, email.utils.parsedate_to_datetime(value).timestamp() - time.time()) + 1
    except (TypeError, ValueError):
        return None


def call(url, headers=None, form=None):
    """Returns status, headers, decoded JSON and final address."""
    body = urllib.parse.urlencode(form).encode() if form else None
    for attempt in range(6):
        wait = None
        try:
            req = urllib.request.Request(url, body, dict(headers or {}))
            req.add_header("Accept-Encoding", "gzip")
            with OPENER.open(req, timeout=20) as r:
                raw = r.read()
                if r.headers.get("Content-Encoding") == "gzip":
                    raw = gzip.decompress(raw)
                return r.status, r.headers, json.loads(raw), r.geturl()
        except urllib.error.HTTPError as e:
            e.read()
            if e.code not in TRANSIENT:
                return e.code, e.headers, None, url
            wait, why = pause_of(e.headers), "status %d" % e.code
        except (OSError, EOFError, http.client.HTTPException, ValueError) as e:
            why = type(e).__name__
        if wait is None:
            wait = min(8, 0.6 * 2 ** attempt) * random.uniform(0.9, 1.2)
        if attempt == 5 or time.monotonic() + wait > DEADLINE:
            break
        time.sleep(wait)
    raise Failed("gave up: " + why)


class Token:
    value, until = None, 0

    @classmethod
    def get(cls):
        if cls.value is None or time.monotonic() > cls.until:
            status, _, data, _ = call(ENV["RIN_TOKEN_URL"], form={
                "grant_type": "client_credentials", "client_id": ENV["RIN_CLIENT_ID"],
                "client_secret": ENV["RIN_CLIENT_SECRET"]})
            if status != 200 or "access_token" not in data:
                raise Failed("no token: %s" % status)
            life = data.get("expires_in") or 60
            cls.value, cls.until = data["access_token"], time.monotonic() + life * 0.8
        return cls.value


CACHE = {}


def page(url):
    """The records of a page and the address of the next one."""
    for last in (False, True):
        headers = {"Authorization": "Bearer " + Token.get()}
        if url in CACHE:
            headers["If-None-Match"] = CACHE[url][0]
        status, head, data, final = call(url, headers)
        if status == 304 and url in CACHE:
            return CACHE[url][1:]
        if status == 401 and not last:
            Token.value = None
            continue
        if status != 200:
            raise Failed("status %d" % status)
        found = re.search(r'<([^>]*)>\s*;[^,<]*\brel="?next\b', ", ".join(head.get_all("Link") or []))
        following = urllib.parse.urljoin(final, found.group(1)) if found else None
        marks = {f["id"]: hashlib.sha256(json.dumps(f, sort_keys=True).encode()).hexdigest() for f in data}
        if head.get("ETag"):
            CACHE[url] = (head["ETag"], marks, following)
        return marks, following


def everything():
    first = url = ENV["RIN_FUNDINGS_URL"] + "?runningCalls=true&page%5Bsize%5D=60"
    here = urllib.parse.urlsplit(first)[:2]
    marks, seen = {}, set()
    while url:
        if url in seen or urllib.parse.urlsplit(url)[:2] != here:
            raise Failed("strange next link")
        seen.add(url)
        part, url = page(url)
        marks.update(part)
    return marks


def main():
    known = everything()
    print("%d running calls" % len(known))
    for _ in range(ROUNDS - 1):
        time.sleep(PAUSE)
        now = everything()
        for key in sorted(set(known) | set(now)):
            if known.get(key) != now.get(key):
                print("changed", key)
        known = now
    print("watched %d calls" % len(known))


try:
    main()
except (Failed, KeyError) as e:
    sys.exit("watch failed: %s" % e)
