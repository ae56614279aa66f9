#!/usr/bin/env python3
"""The ten running calls that a university sees first, with details, over one kept connection.

Finds the node in the registry and its addresses in the info resource. Asks on
purpose for ten calls, not for the whole list; goes on only if a page is short.
"""
import email.utils
import http.client
import json
import os
import random
import re
import sys
import time
from urllib.parse import quote, urlencode, urljoin, urlsplit

LIMIT = 75.0
BEGAN = time.monotonic()
TOP = 10


class Failed(Exception):
    def __init__(self, text, status=None):
        super().__init__(text)
        self.status = status


def pause(seconds):
    if seconds >= LIMIT - (time.monotonic() - BEGAN):
        raise Failed("no time left for a pause of %.0f s" % seconds)
    time.sleep(seconds)


def asked_pause(value):
    if value and value.strip().isdigit():
        return int(value) + 0.05
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time()) + 0.1
    except (TypeError, ValueError, AttributeError):
        return None


class Wire:
    """One connection for each origin, opened again if the other side closed it."""

    def __init__(self):
        self.open = {}
        self.after = None

    def send(self, method, url, body=None, headers=None):
        parts = urlsplit(url)
        key = (parts.scheme, parts.netloc)
        if key not in self.open:
            kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
            self.open[key] = kind(parts.netloc, timeout=10)
        try:
            target = (parts.path or "/") + ("?" + parts.query if parts.query else "")
            self.open[key].request(method, target, body, headers or {})
            answer = self.open[key].getresponse()
            return answer.status, answer.headers, answer.read()
        except (OSError, http.client.HTTPException):
            self.open.pop(key).close()
            raise

    def document(self, headers, data, url):
        links = re.findall(r"<([^>]*)>([^<]*)", ", ".join(headers.get_all("Link") or []))
        self.after = next((urljoin(url, to) for to, how in links if re.search(r'rel="?next\b', how)), None)
        return json.loads(data)

    def ask(self, method, url, body=None, headers=None, refresh=None, stay=True):
        """A JSON document; repeats what may be repeated."""
        headers = dict(headers or {}, Accept="application/json")
        home, tries, hops = urlsplit(url)[:2], 0, 0
        while True:
            wait, problem = None, None
            try:
                if refresh and urlsplit(url)[:2] == home:
                    headers["Authorization"] = "Bearer " + refresh()
                else:
                    headers.pop("Authorization", None)
                status, got, data = self.send(method, url, body, headers)
                if status == 200:
                    return self.document(got, data, url)
                problem = "status %d" % status
                if status in (301, 302, 303, 307, 308) and "Location" in got and not stay and hops < 5:
                    hops, url = hops + 1, urljoin(url, got["Location"])
                    continue
                if status == 401 and "Authorization" in headers:
                    headers["Authorization"] = "Bearer " + refresh(again=True)
                    status, got, data = self.send(method, url, body, headers)
                    if status == 200:
                        return self.document(got, data, url)
                    problem = "status %d with a new token" % status
                if status not in (408, 429) and status < 500:
                    raise Failed(problem + " for " + urlsplit(url).path, status)
                wait = asked_pause(got.get("Retry-After"))
            except (OSError, http.client.HTTPException, ValueError) as error:
                problem = type(error).__name__
            tries += 1
            if tries == 5:
                raise Failed("given up: " + problem)
            pause(0.5 * 2 ** (tries - 1) + random.random() / 4 if wait is None else wait)


class Keys:
    def __init__(self, wire, token_url):
        self.wire, self.token_url, self.token, self.end = wire, token_url, None, 0.0

    def __call__(self, again=False):
        if again or not self.token or time.monotonic() > self.end:
            form = urlencode({"grant_type": "client_credentials", "client_id": os.environ["RIN_CLIENT_ID"],
                              "client_secret": os.environ["RIN_CLIENT_SECRET"]})
            answer = self.wire.ask("POST", self.token_url, form,
                                   {"Content-Type": "application/x-www-form-urlencoded"})
            life = float(answer.get("expires_in") or 60)
            self.token, self.end = answer["access_token"], time.monotonic() + life - min(30, life / 5)
        return self.token


def main():
    wire = Wire()
    registry = wire.ask("GET", os.environ["RIN_REGISTRY_URL"], stay=False)
    entry = next((m for m in registry["member"] if m["id"] == os.environ["RIN_NODE_ID"]), None)
    if entry is None:
        raise Failed("the registry has no such node")
    keys = Keys(wire, entry["oauth2"])
    info = wire.ask("GET", entry["info"], refresh=keys, stay=False)
    address = {e["name"]: e["url"] for e in info["endpoints"]["funding"] if e["majorVersion"] == 3}
    query = urlencode({"runningCalls": "true", "targetGroup": "UNIVERSITY", "page[size]": TOP})
    page, where = [], address["FUNDINGS"] + "?" + query
    for _ in range(TOP):
        page += wire.ask("GET", where, refresh=keys, stay=False)
        where = wire.after
        if where is None or len(page) >= TOP:
            break
    shown = 0
    for call in page[:TOP]:
        one = address["FUNDING"].replace("{id}", quote(call["id"], safe=""))
        try:
            call = wire.ask("GET", one, refresh=keys, stay=False)
        except Failed as error:
            if error.status != 404:
                raise
            print(call["id"], "is gone", file=sys.stderr)
            continue
        ends = [s.get("callStageEnd") for s in call.get("callStages") or [] if s.get("callStageEnd")]
        print("%s\t%s\t%s" % (call["id"], min(ends) if ends else "open", call.get("acronym") or ""))
        shown += 1
    if page and not shown:
        raise Failed("the node has no details for any of the calls in its list")


if __name__ == "__main__":
    try:
        main()
    except (Failed, KeyError) as error:
        print("deadlines:", error, file=sys.stderr)
        sys.exit(1)
