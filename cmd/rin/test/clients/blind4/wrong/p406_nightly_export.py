#!/usr/bin/env python3
"""Nightly export of the programmes with their funders."""
import email.utils
import os
import random
import sys
import threading
import time
import urllib.parse

import requests
from requests.adapters import HTTPAdapter
from urllib3.util.retry import Retry

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


class Again(Retry):
    def get_retry_after(self, response):
        seconds = super().get_retry_after(response)
        if seconds and seconds >= left():
            raise Failed("a pause of %.0f s is longer than the time left" % seconds)
        return seconds


def new_session():
    session = requests.Session()
    session.trust_env = False
    session.auth = NoNetrc()
    session.headers["Accept"] = "application/json"
    again = Again(total=4, backoff_factor=0.3, status_forcelist=(429, 500, 502, 503, 504),
                  allowed_methods=("GET", "HEAD"), respect_retry_after_header=True, raise_on_status=False)
    for scheme in ("http://", "https://"):
        session.mount(scheme, HTTPAdapter(max_retries=again))
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
                headers = {}
                if origin(url) == origin(LIST_URL):
                    headers["Authorization"] = "Bearer " + self.bearer(refused)
                answer = self.session().get(url, params=params, headers=headers,
                                            timeout=10, allow_redirects=False)
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
                if status == 401 and refused is None and headers:
                    refused = headers["Authorization"][7:]
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


def main():
    node = Node()
    programmes = {}
    for record in node.records(LIST_URL, {"fundingType": "PROGRAMME", "page[size]": 8}):
        programmes[record["id"]] = record
    for key in sorted(programmes):
        funders = [part["funder"]["id"] for part in programmes[key].get("funder") or []]
        print("%s\t%s" % (key, ",".join(funders)))


if __name__ == "__main__":
    try:
        main()
    except Failed as error:
        print("export:", error, file=sys.stderr)
        sys.exit(1)
