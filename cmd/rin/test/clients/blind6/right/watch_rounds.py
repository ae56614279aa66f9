"""Watches the list in rounds. A round has no retries: the next round is the retry."""
import os
import sys
import time
from email.utils import parsedate_to_datetime

import httpx

ROUNDS = 4          # good rounds that are wanted
MOST = 7            # rounds at most
PAUSE = 1.5         # between two rounds
END = time.monotonic() + 52


class RoundFailed(Exception):
    def __init__(self, why, wait=0.0, final=False):
        super().__init__(why)
        self.wait, self.final = wait, final


def asked_wait(response):
    value = response.headers.get("retry-after", "").strip()
    if value.isdigit():
        return float(value)
    try:
        base = parsedate_to_datetime(response.headers["date"])
        return max(0.0, (parsedate_to_datetime(value) - base).total_seconds()) + 0.5
    except (KeyError, TypeError, ValueError):
        return 0.0


class Watcher:
    def __init__(self, client):
        self.client = client
        self.token = None
        self.pages = {}   # url -> (etag, records, next url), only of complete answers
        self.known = {}

    def fetch_token(self):
        answer = self.client.post(
            os.environ["RIN_TOKEN_URL"],
            auth=(os.environ["RIN_CLIENT_ID"], os.environ["RIN_CLIENT_SECRET"]),
            data={"grant_type": "client_credentials"})
        if answer.status_code != 200:
            raise RoundFailed(f"token: {answer.status_code}", asked_wait(answer))
        self.token = answer.json()["access_token"]

    def get(self, url):
        for fresh in (False, True):
            if self.token is None:
                self.fetch_token()
            headers = {"Authorization": f"Bearer {self.token}"}
            if url in self.pages:
                headers["If-None-Match"] = self.pages[url][0]
            answer = self.client.get(url, headers=headers)
            if answer.status_code != 401:
                return answer
            self.token = None
        raise RoundFailed("401 with a new token: " +
                          answer.headers.get("www-authenticate", ""), final=True)

    def page(self, url):
        answer = self.get(url)
        if answer.status_code == 304 and url in self.pages:
            return self.pages[url][1:]
        if answer.status_code in (307, 308):
            raise RoundFailed(f"redirected to {answer.headers.get('location')}", final=True)
        if answer.status_code != 200:
            final = answer.status_code < 500 and answer.status_code != 429
            raise RoundFailed(f"answer {answer.status_code}", asked_wait(answer), final)
        records = answer.json()
        if not isinstance(records, list):
            raise RoundFailed("not a list")
        target = answer.links.get("next", {}).get("url")
        following = httpx.URL(url).join(target) if target else None
        if following and (following.scheme, following.netloc) != (
                httpx.URL(url).scheme, httpx.URL(url).netloc):
            raise RoundFailed(f"next page on another host: {following}", final=True)
        if not records and following:
            raise RoundFailed("an empty page before the end")
        if "etag" in answer.headers:
            self.pages[url] = (answer.headers["etag"], records, following)
        return records, following

    def round(self):
        now = {}
        url = httpx.URL(os.environ["RIN_FUNDINGS_URL"],
                        params={"page[page]": 0, "page[size]": 100})
        while url:
            records, url = self.page(url)
            now.update((record["id"], record) for record in records)
        new = now.keys() - self.known.keys()
        gone = self.known.keys() - now.keys()
        changed = [i for i in now if i in self.known and now[i] != self.known[i]]
        self.known = now
        print(f"{len(now)} fundings, {len(new)} new, {len(gone)} gone, {len(changed)} changed")


def main():
    good, last_failed, pause = 0, True, PAUSE
    with httpx.Client(timeout=8, trust_env=False, follow_redirects=False) as client:
        watcher = Watcher(client)
        for number in range(MOST):
            wait = pause
            try:
                watcher.round()
                good, last_failed, pause = good + 1, False, PAUSE
                wait = pause
            except (httpx.HTTPError, ValueError, KeyError, TypeError, RoundFailed) as error:
                last_failed = True
                print(f"round {number + 1} failed: {error!r}", file=sys.stderr)
                if getattr(error, "final", False):
                    return 1
                pause = min(pause * 1.6, 8)
                wait = max(pause, getattr(error, "wait", 0))
            if good == ROUNDS or number + 1 == MOST or time.monotonic() + wait > END:
                break
            time.sleep(wait)
    return 0 if good == ROUNDS and not last_failed else 1


if __name__ == "__main__":
    sys.exit(main())
