"""Harvests all fundings with three readers at a time, by offsets of its own."""
import json
import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from email.utils import parsedate_to_datetime
from urllib.parse import urljoin, urlsplit

import requests

SIZE = 60
READERS = 3
TRIES = 5
DEADLINE = time.monotonic() + 50


class Failed(Exception):
    pass


def pause_of(response, attempt):
    """Seconds to wait: Retry-After in both forms, else a growing pause."""
    value = response.headers.get("Retry-After", "") if response is not None else ""
    own = min(0.5 * 2 ** attempt, 8)
    if value.strip().isdigit():
        return max(int(value), 0.1)
    try:
        until = parsedate_to_datetime(value)
        now = parsedate_to_datetime(response.headers["Date"])
        return max((until - now).total_seconds() + 0.5, own)
    except (KeyError, TypeError, ValueError, AttributeError):
        return own


class Node:
    def __init__(self):
        self.session = requests.Session()
        self.session.trust_env = False
        self.lock = threading.Lock()
        self.token = None
        self.unproven = 0  # new tokens in a row of which none was good
        self.not_before = 0.0

    def wait(self):
        """All readers wait together when the node asked one of them to."""
        while (rest := self.not_before - time.monotonic()) > 0:
            if time.monotonic() + rest > DEADLINE:
                raise Failed("the node asks for more time than there is")
            time.sleep(rest)

    def hold(self, seconds):
        with self.lock:
            self.not_before = max(self.not_before, time.monotonic() + seconds)

    def bearer(self, refused=None):
        with self.lock:
            if self.token is None or self.token == refused:
                self.unproven += refused is not None
                if self.unproven > 1:
                    raise Failed("a new token is refused, too")
                self.token = self.new_token()
            return self.token

    def new_token(self):
        for attempt in range(TRIES):
            answer = self.session.post(
                os.environ["RIN_TOKEN_URL"], timeout=15, allow_redirects=False,
                data={"grant_type": "client_credentials",
                      "client_id": os.environ["RIN_CLIENT_ID"],
                      "client_secret": os.environ["RIN_CLIENT_SECRET"]})
            if answer.status_code == 200:
                return answer.json()["access_token"]
            if answer.status_code not in (429, 500, 502, 503, 504):
                break
            time.sleep(pause_of(answer, attempt))
        raise Failed(f"no token: {answer.status_code}")

    def page(self, offset):
        """Returns the records from offset on, and whether there are more."""
        url = os.environ["RIN_FUNDINGS_URL"]
        params = {"page[page]": offset, "page[size]": SIZE}
        refused, renewed, empty, why = None, 0, False, ""
        for attempt in range(TRIES):
            self.wait()
            token, answer = self.bearer(refused), None
            try:
                answer = self.session.get(
                    url, params=params, timeout=15, allow_redirects=False,
                    headers={"Authorization": "Bearer " + token})
                if answer.status_code == 200:
                    self.unproven = 0
                    records, more = answer.json(), "next" in answer.links
                    if records or not more or empty:
                        return records, more
                    empty, why = True, "empty, with a next page"
                elif answer.status_code == 401 and renewed < 3:
                    refused, renewed, why = token, renewed + 1, "401"
                    continue
                elif answer.status_code in (307, 308):
                    target = urljoin(answer.url, answer.headers.get("Location", ""))
                    if urlsplit(target)[:2] != urlsplit(url)[:2]:
                        raise Failed(f"moved to another host: {target}")
                    url, params = target, None
                    continue
                elif answer.status_code in (429, 500, 502, 503, 504):
                    why = str(answer.status_code)
                else:
                    raise Failed(f"{answer.status_code}: {answer.text[:200]}")
            except (requests.RequestException, ValueError) as error:
                why = type(error).__name__
            print(f"offset {offset}: {why}", file=sys.stderr)
            self.hold(pause_of(answer, attempt))
        raise Failed(f"offset {offset}: given up after {TRIES} tries: {why}")


def main():
    node, found, offset, more = Node(), {}, 0, True
    with ThreadPoolExecutor(READERS) as pool:
        readers = 1  # the first page alone: a new host is greeted once
        while more:
            wave = [offset + i * SIZE for i in range(readers)]
            for records, more in list(pool.map(node.page, wave)):
                found.update((record["id"], record) for record in records)
            offset, readers = wave[-1] + SIZE, READERS
    json.dump([found[key] for key in sorted(found)], sys.stdout)
    print(f"{len(found)} fundings", file=sys.stderr)


if __name__ == "__main__":
    try:
        main()
    except (Failed, requests.RequestException, ValueError, KeyError) as problem:
        print(f"incomplete: {problem}", file=sys.stderr)
        sys.exit(1)
