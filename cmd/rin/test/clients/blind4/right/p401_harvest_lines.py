#!/usr/bin/env python3
"""Harvest of all funding calls of a node, one JSON object a line."""
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

    def get(self, url):
        attempt, renewed, hops = 0, False, 0
        while left() > 0:
            wait = None
            try:
                request = urllib.request.Request(url, headers={"Accept": "application/json"})
                if origin(url) == origin(LIST_URL):
                    request.add_header("Authorization", "Bearer " + self.bearer())
                status, headers, body, at = exchange(request)
                if status == 200:
                    return status, headers, json.loads(body), at
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
                raise Failed("given up after %d tries: %s" % (attempt, problem))
            pause(backoff(attempt - 1) if wait is None else wait)
        raise Failed("out of time")


def next_link(headers, base):
    for value in headers.get_all("Link") or []:
        for target, params in re.findall(r"<([^>]*)>([^<]*)", value):
            if re.search(r';\s*rel="?(?:[^"]*\s)?next\b', params, re.I):
                return urllib.parse.urljoin(base, target)
    return None


def records(node, url):
    seen = set()
    while url:
        if url in seen:
            raise Failed("the pages go round in a circle")
        seen.add(url)
        _, headers, page, at = node.get(url)
        if not isinstance(page, list):
            raise Failed("a page is not a list")
        yield from page
        url = next_link(headers, at)


def main():
    first = LIST_URL + "?" + urllib.parse.urlencode({"page[size]": 60})
    harvest = {}
    for record in records(Node(), first):
        harvest[record["id"]] = record
    for key in sorted(harvest):
        print(json.dumps(harvest[key], ensure_ascii=False, separators=(",", ":")))
    print("%d records" % len(harvest), file=sys.stderr)


if __name__ == "__main__":
    try:
        main()
    except Failed as error:
        print("harvest:", error, file=sys.stderr)
        sys.exit(1)
