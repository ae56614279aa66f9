#!/usr/bin/env python3
"""Watches the running calls for a while and tells what changed."""
import email.utils
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

TOKEN_URL = os.environ["RIN_TOKEN_URL"]
LIST_URL = os.environ["RIN_FUNDINGS_URL"]
LIMIT = 75.0
TRIES = 5
BEGAN = time.monotonic()


class Failed(Exception):
    pass


class Outage(Failed):
    wait = 0.0


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args):
        return None


OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}), NoRedirect)


def left():
    return LIMIT - (time.monotonic() - BEGAN)


def pause(seconds):
    if seconds >= left():
        raise Failed("a pause of %.0f s is longer than the time left" % seconds)
    time.sleep(seconds)


def asked_pause(value):
    """Retry-After: seconds or a date; None if absent or unreadable."""
    if not value:
        return None
    if value.strip().isdigit():
        return float(value) + 0.05
    try:
        until = email.utils.parsedate_to_datetime(value)
        return max(0.0, until.timestamp() - time.time()) + 0.1
    except (TypeError, ValueError):
        return None


def backoff(attempt):
    return 0.5 * 2 ** attempt + random.uniform(0, 0.25)


def origin(url):
    return urllib.parse.urlsplit(url)[:2]


def exchange(request):
    timeout = max(1.0, min(10.0, left()))
    try:
        with OPENER.open(request, timeout=timeout) as answer:
            return answer.status, answer.headers, answer.read(), answer.url
    except urllib.error.HTTPError as answer:
        with answer:
            return answer.code, answer.headers, answer.read(), request.full_url


class Node:
    def __init__(self):
        self.token = None
        self.token_end = 0.0

    def bearer(self):
        if self.token and time.monotonic() < self.token_end:
            return self.token
        form = urllib.parse.urlencode({
            "grant_type": "client_credentials",
            "client_id": os.environ["RIN_CLIENT_ID"],
            "client_secret": os.environ["RIN_CLIENT_SECRET"],
        }).encode()
        for attempt in range(TRIES):
            wait = None
            try:
                status, headers, body, _ = exchange(urllib.request.Request(
                    TOKEN_URL, data=form, headers={"Accept": "application/json"}))
                if status == 200:
                    answer = json.loads(body)
                    life = float(answer.get("expires_in") or 60)
                    self.token = answer["access_token"]
                    self.token_end = time.monotonic() + life - min(30.0, life / 5)
                    return self.token
                problem = "status %d" % status
                if status not in (408, 429) and status < 500:
                    raise Failed("the token endpoint refuses: " + problem)
                wait = asked_pause(headers.get("Retry-After"))
            except (OSError, http.client.HTTPException, ValueError, KeyError) as error:
                problem = type(error).__name__
            if attempt + 1 < TRIES:
                pause(backoff(attempt) if wait is None else wait)
        raise Failed("no token: " + problem)

    def get(self, url, etag=None):
        attempt, renewed, hops = 0, False, 0
        while left() > 0:
            wait = None
            try:
                request = urllib.request.Request(url, headers={"Accept": "application/json"})
                if origin(url) == origin(LIST_URL):
                    request.add_header("Authorization", "Bearer " + self.bearer())
                if etag:
                    request.add_header("If-None-Match", etag)
                status, headers, body, at = exchange(request)
                if status == 200:
                    return status, headers, json.loads(body), at
                if status == 304 and etag:
                    return status, headers, None, at
                problem = "status %d" % status
                if status in (301, 302, 303, 307, 308) and headers.get("Location"):
                    hops += 1
                    if hops > 5:
                        raise Failed("too many redirects")
                    url = urllib.parse.urljoin(url, headers["Location"])
                    continue
                if status == 401 and request.has_header("Authorization") and not renewed:
                    renewed, self.token = True, None
                    continue
                if status not in (408, 429) and status < 500:
                    raise Failed("%s for %s" % (problem, urllib.parse.urlsplit(url).path))
                wait = asked_pause(headers.get("Retry-After"))
            except (OSError, http.client.HTTPException, ValueError) as error:
                problem = type(error).__name__
            attempt += 1
            if attempt >= TRIES:
                outage = Outage("given up after %d tries: %s" % (attempt, problem))
                outage.wait = wait or 0.0
                raise outage
            pause(backoff(attempt - 1) if wait is None else wait)
        raise Failed("out of time")


def next_link(headers, base):
    for value in headers.get_all("Link") or []:
        for target, params in re.findall(r"<([^>]*)>([^<]*)", value):
            if re.search(r';\s*rel="?(?:[^"]*\s)?next\b', params, re.I):
                return urllib.parse.urljoin(base, target)
    return None


def main():
    node = Node()
    query = urllib.parse.urlencode({"fundingType": "CALL", "runningCalls": "true"})
    etag, known, behind = None, None, None
    for look in range(4):
        if look:
            pause(max(2.5, behind or 0))
        try:
            status, headers, document, at = node.get(LIST_URL + "?" + query, etag=etag)
            more = next_link(headers, at) if status == 200 else None
            single, pages = more is None, 300
            while more and pages:
                pages -= 1
                _, after, page, at = node.get(more)
                document, more = document + page, next_link(after, at)
        except Outage as error:
            print("look %d: %s" % (look + 1, error), file=sys.stderr)
            behind = error.wait
            continue
        behind = None
        if status == 304:
            print("look %d: unchanged" % (look + 1), file=sys.stderr)
            continue
        calls = {call["id"]: json.dumps(call, sort_keys=True) for call in document}
        if known is not None:
            for key in sorted(calls.keys() | known.keys()):
                if calls.get(key) != known.get(key):
                    print("gone" if key not in calls else "new" if key not in known else "changed", key)
        known, etag = calls, headers.get("ETag") if single else None
    if known is None or behind is not None:
        raise Failed("the last look failed; what is known may be old")
    print("%d running calls" % len(known))


if __name__ == "__main__":
    try:
        main()
    except Failed as error:
        print("watch:", error, file=sys.stderr)
        sys.exit(1)
