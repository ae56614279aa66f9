"""Weekly harvest into SQLite (httpx): follows the links of the list to its end.

The table is filled in one transaction: after an error it is as it was before.
"""
import os
import sqlite3
import sys
import time
from email.utils import parsedate_to_datetime

import httpx

SIZE, ATTEMPTS = 48, 5
STOP = time.monotonic() + 52


class HarvestError(Exception):
    pass


def wait_for(answer, fallback):
    value = answer.headers.get("retry-after", "").strip()
    if value.isdigit():
        return float(value)
    try:
        span = parsedate_to_datetime(value) - parsedate_to_datetime(answer.headers["date"])
        return max(span.total_seconds(), 1.0)
    except (ValueError, TypeError, KeyError):
        return fallback


def origin(url):
    return url.scheme, url.host, url.port


class Harvester:
    def __init__(self):
        self.http = httpx.Client(timeout=12, trust_env=False, headers={"Accept": "application/json"})

    def send(self, method, url, **more):
        why = ""
        for attempt in range(ATTEMPTS):
            pause = 1.0 * 2 ** attempt
            try:
                answer = self.http.request(method, url, **more)
                if answer.status_code != 429 and answer.status_code < 500:
                    if answer.status_code == 200:
                        answer.json()  # complete?
                    return answer
                why, pause = f"status {answer.status_code}", wait_for(answer, pause)
            except (httpx.TransportError, ValueError) as exc:
                why = type(exc).__name__
            if attempt + 1 == ATTEMPTS or time.monotonic() + pause > STOP:
                break
            print(f"{why}: again in {pause:g} s", file=sys.stderr)
            time.sleep(pause)
        raise HarvestError(f"given up: {why}")

    def login(self):
        self.http.headers.pop("Authorization", None)
        answer = self.send("POST", os.environ["RIN_TOKEN_URL"], data={
            "grant_type": "client_credentials",
            "client_id": os.environ["RIN_CLIENT_ID"],
            "client_secret": os.environ["RIN_CLIENT_SECRET"]})
        if answer.status_code != 200:
            raise HarvestError(f"no token: status {answer.status_code}")
        self.http.headers["Authorization"] = "Bearer " + answer.json()["access_token"]

    def get(self, url):
        renewed, hops = False, 0
        while True:
            answer = self.send("GET", url)
            if answer.status_code == 401 and not renewed:
                self.login()
                renewed = True
            elif answer.has_redirect_location and hops < 3:
                if origin(answer.next_request.url) != origin(answer.url):
                    raise HarvestError(f"redirected to {answer.next_request.url.host}, not followed")
                url, hops = answer.next_request.url, hops + 1
            elif answer.status_code != 200:
                raise HarvestError(f"status {answer.status_code}: {answer.text[:200]}")
            else:
                return answer

    def pages(self, url):
        while True:
            answer = self.get(url)
            if not answer.json() and "next" in answer.links:  # perhaps the index is being built
                time.sleep(2)
                answer = self.get(url)
            yield answer.json()
            if "next" not in answer.links:
                return
            url = answer.url.join(answer.links["next"]["url"])


def main():
    harvester = Harvester()
    harvester.login()
    first = httpx.URL(os.environ["RIN_FUNDINGS_URL"], params={"page[page]": 0, "page[size]": SIZE})
    with sqlite3.connect(os.environ.get("HARVEST_DB", ":memory:")) as db:
        db.execute("CREATE TABLE IF NOT EXISTS funding (id TEXT PRIMARY KEY, type TEXT, acronym TEXT)")
        db.execute("DELETE FROM funding")
        for page in harvester.pages(first):
            db.executemany("INSERT OR REPLACE INTO funding VALUES (?, ?, ?)",
                           [(r["id"], r["type"], r.get("acronym")) for r in page])
        number = db.execute("SELECT count(*) FROM funding").fetchone()[0]
        if not number:
            raise HarvestError("the node lists nothing; the table stays as it was")
    print(f"{number} fundings in the table")


if __name__ == "__main__":
    try:
        main()
    except (HarvestError, KeyError) as exc:
        sys.exit(f"harvest: {exc}")
