#!/usr/bin/env python3
"""Report on a node: name, contact and its funding calls by type."""
import email.utils
import os
import random
import sys
import threading
import time
import urllib.parse

import requests

TOKEN_URL = os.environ["RIN_TOKEN_URL"]
LIST_URL = os.environ["RIN_FUNDINGS_URL"]
LIMIT = 75.0
TRIES = 5
BEGAN = time.monotonic()


class Failed(Exception):
    pass


def left():
    return LIMIT - (time.monotonic() - BEGAN)


def asked_pause(value):
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


def sleep(seconds):
    if seconds >= left():
        raise Failed("a pause of %.0f s is longer than the time left" % seconds)
    time.sleep(max(0.0, seconds))


def origin(url):
    return urllib.parse.urlsplit(url)[:2]


class NoNetrc(requests.auth.AuthBase):
    def __call__(self, request):
        return request


def new_session():
    session = requests.Session()
    session.trust_env = False
    session.auth = NoNetrc()
    session.headers["Accept"] = "application/json"
    return session


class Node:
    def __init__(self):
        self.lock = threading.Lock()
        self.token, self.token_end = None, 0.0
        self.local = threading.local()

    def session(self):
        if not hasattr(self.local, "session"):
            self.local.session = new_session()
        return self.local.session

    def bearer(self, refused=None):
        """The token; a new one if it ends soon or is the one that was refused."""
        with self.lock:
            if self.token and self.token != refused and time.monotonic() < self.token_end:
                return self.token
            for attempt in range(TRIES):
                wait = None
                try:
                    answer = requests.post(TOKEN_URL, timeout=10, allow_redirects=False, auth=NoNetrc(), data={
                        "grant_type": "client_credentials",
                        "client_id": os.environ["RIN_CLIENT_ID"],
                        "client_secret": os.environ["RIN_CLIENT_SECRET"]})
                    if answer.status_code == 200:
                        document = answer.json()
                        life = float(document.get("expires_in") or 60)
                        self.token = document["access_token"]
                        self.token_end = time.monotonic() + life - min(30.0, life / 5)
                        return self.token
                    problem = "status %d" % answer.status_code
                    if answer.status_code not in (408, 429) and answer.status_code < 500:
                        raise Failed("the token endpoint refuses: " + problem)
                    wait = asked_pause(answer.headers.get("Retry-After"))
                except (requests.RequestException, ValueError, KeyError) as error:
                    problem = type(error).__name__
                if attempt + 1 < TRIES:
                    sleep(backoff(attempt) if wait is None else wait)
            raise Failed("no token: " + problem)

    def get(self, url, params=None):
        attempt, refused, hops = 0, None, 0
        while left() > 0:
            wait = None
            try:
                session = self.session()
                if origin(url) == origin(LIST_URL):
                    session.headers["Authorization"] = "Bearer " + self.bearer(refused)
                answer = session.get(url, params=params, timeout=10, allow_redirects=False)
                status = answer.status_code
                if status == 200:
                    return answer.json(), answer
                problem = "status %d" % status
                if status in (301, 302, 303, 307, 308) and answer.headers.get("Location"):
                    hops += 1
                    if hops > 5:
                        raise Failed("too many redirects")
                    url, params = urllib.parse.urljoin(answer.url, answer.headers["Location"]), None
                    continue
                if status == 401 and refused is None and self.token:
                    refused = self.token
                    continue
                if status not in (408, 429) and status < 500:
                    raise Failed("%s for %s" % (problem, urllib.parse.urlsplit(url).path))
                wait = asked_pause(answer.headers.get("Retry-After"))
            except (requests.RequestException, ValueError) as error:
                problem = type(error).__name__
            attempt += 1
            if attempt >= TRIES:
                raise Failed("given up after %d tries: %s" % (attempt, problem))
            sleep(backoff(attempt - 1) if wait is None else wait)
        raise Failed("out of time")

    def records(self, url, params):
        seen = set()
        while url:
            if url in seen:
                raise Failed("the pages go round in a circle")
            seen.add(url)
            page, answer = self.get(url, params)
            yield from page
            after = answer.links.get("next")
            url, params = (urllib.parse.urljoin(answer.url, after["url"]) if after else None), None


def entry_of(node):
    document, _ = node.get(os.environ["RIN_REGISTRY_URL"])
    for member in document["member"]:
        if member["id"] == os.environ["RIN_NODE_ID"]:
            return member
    raise Failed("the registry has no such node")


def main():
    node = Node()
    counts = {}
    for record in {record["id"]: record for record in node.records(LIST_URL, {"page[size]": 100})}.values():
        counts[record.get("type")] = counts.get(record.get("type"), 0) + 1
    entry = entry_of(node)
    print("%s (%s), %s" % (entry["name"], entry["acronym"], entry["contact"]))
    for kind in sorted(counts):
        print("%-12s %5d" % (kind, counts[kind]))


if __name__ == "__main__":
    try:
        main()
    except Failed as error:
        print("report:", error, file=sys.stderr)
        sys.exit(1)
