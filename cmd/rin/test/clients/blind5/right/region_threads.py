"""Counts the funding calls that applicants of each province may use, three workers."""
import concurrent.futures
import email.utils
import os
import sys
import threading
import time
from urllib.parse import urljoin, urlsplit

import requests

ENV = os.environ
REGIONS = ["VIENNA", "BURGENLAND", "LOWER_AUSTRIA", "CARINTHIA", "UPPER_AUSTRIA",
           "SALZBURG", "STYRIA", "TYROL", "VORARLBERG"]
END = time.monotonic() + 100


class Failed(Exception):
    pass


class Gate:
    """A pause that the node asked one worker for holds for all of them."""

    def __init__(self):
        self.lock = threading.Lock()
        self.open_at = 0.0

    def close(self, seconds):
        with self.lock:
            self.open_at = max(self.open_at, time.monotonic() + seconds)

    def wait(self):
        while True:
            with self.lock:
                left = self.open_at - time.monotonic()
            if left <= 0:
                return
            if time.monotonic() + left > END:
                raise Failed("the node asks for too long a pause")
            time.sleep(left)


GATE = Gate()
LOCAL = threading.local()
STOP = threading.Event()


def session():
    if not hasattr(LOCAL, "s"):
        LOCAL.s = requests.Session()
    return LOCAL.s


def asked(r):
    value = r.headers.get("Retry-After", "")
    if value.strip().isdigit():
        return float(value)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time()) + 1
    except (TypeError, ValueError):
        return None


def request(method, url, **kw):
    why = ""
    for attempt in range(6):
        GATE.wait()
        if STOP.is_set() or time.monotonic() > END:
            why = why or "stopped"
            break
        backoff = 0.5 * 2 ** attempt
        try:
            r = session().request(method, url, timeout=20, **kw)
            if r.status_code not in (429, 500, 502, 503, 504):
                return r, (r.json() if r.status_code == 200 else None)
            why = "status %d" % r.status_code
            pause = asked(r)
            GATE.close(backoff if pause is None else pause)
        except (requests.RequestException, ValueError) as e:
            why = type(e).__name__
            GATE.close(backoff)
    raise Failed("%s, given up" % why)


class Tokens:
    def __init__(self):
        self.lock = threading.Lock()
        self.value, self.until = None, 0.0

    def get(self, refused=None):
        with self.lock:
            if self.value in (None, refused) or time.monotonic() > self.until:
                r, data = request("POST", ENV["RIN_TOKEN_URL"], allow_redirects=False, data={
                    "grant_type": "client_credentials",
                    "client_id": ENV["RIN_CLIENT_ID"],
                    "client_secret": ENV["RIN_CLIENT_SECRET"]})
                if data is None:
                    raise Failed("token endpoint: status %d" % r.status_code)
                life = data.get("expires_in") or 60
                self.value, self.until = data["access_token"], time.monotonic() + 0.8 * life
            return self.value


TOKENS = Tokens()


def get(url, params=None):
    token = TOKENS.get()
    r, data = request("GET", url, params=params, headers={"Authorization": "Bearer " + token})
    if r.status_code == 401:
        token = TOKENS.get(refused=token)
        r, data = request("GET", url, params=params, headers={"Authorization": "Bearer " + token})
    if data is None:
        raise Failed("status %d" % r.status_code)
    if urlsplit(r.url)[:2] != urlsplit(ENV["RIN_FUNDINGS_URL"])[:2]:
        raise Failed("the answer came from another host")
    return r, data


def count(region):
    url, params, ids, seen = ENV["RIN_FUNDINGS_URL"], {"region": region, "page[size]": 60}, set(), set()
    while url:
        r, data = get(url, params)
        ids.update(f["id"] for f in data)
        link = r.links.get("next")
        url, params = (urljoin(r.url, link["url"]) if link else None), None
        if url in seen or url and urlsplit(url)[:2] != urlsplit(ENV["RIN_FUNDINGS_URL"])[:2]:
            raise Failed("next link cannot be followed")
        seen.add(url)
    return region, len(ids)


def guarded(region):
    try:
        return count(region)
    except Exception:
        STOP.set()  # what one worker could not get makes the whole table useless
        raise


def main():
    pool = concurrent.futures.ThreadPoolExecutor(3)
    jobs = [pool.submit(guarded, region) for region in REGIONS]
    try:
        for job in jobs:
            print("%-16s%5d" % job.result())
    finally:
        pool.shutdown(cancel_futures=True)
    print("%d provinces" % len(jobs))


try:
    main()
except (Failed, KeyError) as e:
    sys.exit("count failed: %s" % e)
