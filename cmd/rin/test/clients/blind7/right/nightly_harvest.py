"""Nightly harvest of all funding calls of a node into one JSON Lines file.

Follows the Link headers page by page with one session, keeps one record of
each id, and replaces the output file only when the whole list has been read.
"""
import email.utils
import json
import logging
import os
import sys
import tempfile
import time
from urllib.parse import urljoin, urlsplit

import requests

log = logging.getLogger("harvest")
DEADLINE = time.monotonic() + 52
ATTEMPTS = 5
PAGE = 60


class HarvestError(Exception):
    pass


def origin(url):
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port


def sleep(seconds, why):
    if time.monotonic() + seconds > DEADLINE:
        raise HarvestError(f"no time left to wait {seconds:.0f} s: {why}")
    log.info("waiting %.1f s: %s", seconds, why)
    time.sleep(seconds)


def retry_after(answer):
    """The seconds the server asks for, or None. Knows both forms."""
    value = answer.headers.get("Retry-After", "").strip()
    if value.isdigit():
        return float(value)
    when = email.utils.parsedate_tz(value) if value else None
    if when is None:
        return None
    here = email.utils.parsedate_tz(answer.headers.get("Date", ""))
    now = email.utils.mktime_tz(here) if here else time.time()
    return max(1.0, email.utils.mktime_tz(when) - now)


class Node:
    def __init__(self):
        self.http = requests.Session()
        self.http.trust_env = False
        self.token = None

    def ask(self, method, url, **more):
        """One answer that is not a passing trouble; or HarvestError."""
        trouble = "?"
        for attempt in range(ATTEMPTS):
            wanted = None
            try:
                answer = self.http.request(method, url, timeout=(5, 15), allow_redirects=False, **more)
                if answer.status_code < 500 and answer.status_code != 429:
                    if answer.ok and not answer.is_redirect:
                        answer.json()  # complete?
                    return answer
                wanted = retry_after(answer)
                trouble = f"{answer.status_code} {answer.reason}"
            except (requests.ConnectionError, requests.Timeout,
                    requests.exceptions.ChunkedEncodingError) as exc:
                trouble = type(exc).__name__
            except ValueError:
                trouble = "the answer is no complete JSON"
            if attempt + 1 < ATTEMPTS:
                sleep(wanted if wanted is not None else 2 ** attempt, trouble)
        raise HarvestError(f"{urlsplit(url).path}: {trouble}, {ATTEMPTS} times")

    def login(self):
        answer = self.ask("POST", os.environ["RIN_TOKEN_URL"], data={
            "grant_type": "client_credentials",
            "client_id": os.environ["RIN_CLIENT_ID"],
            "client_secret": os.environ["RIN_CLIENT_SECRET"]})
        if answer.status_code != 200:
            raise HarvestError(f"token endpoint answers {answer.status_code}")
        self.token = answer.json()["access_token"]

    def get(self, url):
        home, renewed, hops = origin(url), False, 0
        while True:
            if self.token is None:
                self.login()
            answer = self.ask("GET", url, headers={"Authorization": "Bearer " + self.token,
                                                   "Accept": "application/json"})
            if answer.status_code == 401 and not renewed:
                self.token, renewed = None, True
                continue
            if answer.is_redirect and hops < 3:
                url, hops = urljoin(url, answer.headers["Location"]), hops + 1
                if origin(url) != home:
                    raise HarvestError(f"redirected to another origin, {urlsplit(url).netloc}")
                continue
            if answer.status_code != 200:
                raise HarvestError(f"{answer.status_code}: {answer.text[:300]}")
            return answer


def main():
    node, records, seen = Node(), {}, set()
    start = os.environ["RIN_FUNDINGS_URL"]
    url = requests.Request("GET", start, params={"page[page]": 0, "page[size]": PAGE}).prepare().url
    while url:
        if url in seen:
            raise HarvestError("the links of the list run in a circle")
        seen.add(url)
        answer = node.get(url)
        page = answer.json()
        if page == [] and "next" in answer.links:
            sleep(2, "an empty page in the middle; perhaps an index is being built")
            answer = node.get(url)
            page = answer.json()
        if not isinstance(page, list):
            raise HarvestError("the list is no array")
        for record in page:
            if records.setdefault(record["id"], record) is not record:
                log.warning("record %s came twice, kept once", record["id"])
        link = answer.links.get("next", {}).get("url")
        log.info("%d records, %d in all", len(page), len(records))
        url = urljoin(answer.url, link) if link else None
        if url and origin(url) != origin(start):
            raise HarvestError("the next link leaves the node; not followed")
    folder = os.environ.get("HARVEST_DIR") or tempfile.mkdtemp(prefix="harvest-")
    target = os.path.join(folder, "fundings.jsonl")
    with open(target + ".part", "w", encoding="utf-8") as out:
        for record in records.values():
            out.write(json.dumps(record, ensure_ascii=False) + "\n")
    os.replace(target + ".part", target)
    print(f"harvested {len(records)} fundings")


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    try:
        main()
    except (HarvestError, KeyError) as exc:
        sys.exit(f"harvest failed: {exc}")
