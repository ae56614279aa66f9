"""Report for research support: which fundings are open to which target group. Four workers."""
import concurrent.futures
import email.utils
import os
import random
import sys
import threading
import time
from urllib.parse import urljoin, urlsplit

import requests

ENV = os.environ
GROUPS = ["UNIVERSITY", "UNIVERSITY_OF_APPLIED_SCIENCES", "PRIVATE_UNIVERSITY", "RESEARCH_INSTITUTE",
          "COMPANY", "PRIVATE_NON_PROFIT", "INDEPENDENT_RESEARCHER", "GOVERNMENT"]
WORKERS = 4
END = time.monotonic() + 90


class Failed(Exception):
    pass


def retry_after(r):
    value = r.headers.get("Retry-After", "").strip()
    if value.isdigit():
        return float(value)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time()) + 1
    except (TypeError, ValueError):
        return None


class Tokens:
    """One token for all workers; renewed by whoever needs it first."""

    def __init__(self):
        self.lock = threading.Lock()
        self.value, self.until = None, 0.0

    def get(self, http, refused=None):
        with self.lock:
            if self.value in (None, refused) or time.monotonic() > self.until:
                r, data = send(http, "POST", ENV["RIN_TOKEN_URL"], data={
                    "grant_type": "client_credentials",
                    "client_id": ENV["RIN_CLIENT_ID"],
                    "client_secret": ENV["RIN_CLIENT_SECRET"]})
                if data is None:
                    raise Failed("no token: status %d" % r.status_code)
                self.value = data["access_token"]
                self.until = time.monotonic() + 0.8 * (data.get("expires_in") or 60)
            return self.value


TOKENS = Tokens()
STOP = threading.Event()


def send(http, method, url, **kw):
    why, home = "", urlsplit(url)[:2]
    for attempt in range(6):
        pause = None
        if STOP.is_set():
            break
        try:
            r = http.request(method, url, timeout=20, allow_redirects=False, **kw)
            hops = 0
            while r.is_redirect and method == "GET":
                url, hops = urljoin(url, r.headers["Location"]), hops + 1
                if hops > 5 or urlsplit(url)[:2] != home:
                    raise Failed("redirect that is not followed")
                kw.pop("params", None)
                r = http.request(method, url, timeout=20, allow_redirects=False, **kw)
            if r.status_code == 200:
                return r, r.json()
            if r.status_code not in (429, 500, 502, 503, 504):
                return r, None
            why, pause = "status %d" % r.status_code, retry_after(r)
        except (requests.RequestException, ValueError) as e:
            why = type(e).__name__
        if pause is None:
            pause = 0.5 * 2 ** attempt + random.uniform(0, 0.4)
        if attempt == 5 or time.monotonic() + pause > END:
            break
        time.sleep(pause)
    raise Failed("given up: " + why)


def get(http, url, params):
    token = TOKENS.get(http)
    r, data = send(http, "GET", url, params=params, headers={"Authorization": "Bearer " + token})
    if r.status_code == 401:
        token = TOKENS.get(http, refused=token)
        r, data = send(http, "GET", url, params=params, headers={"Authorization": "Bearer " + token})
    if data is None:
        raise Failed("status %d" % r.status_code)
    return r, data


def collect(group):
    ids, seen = [], set()
    url, params = ENV["RIN_FUNDINGS_URL"], {"targetGroup": group, "runningCalls": "true", "page[size]": 25}
    with requests.Session() as http:
        while url:
            r, data = get(http, url, params)
            ids += [f["id"] for f in data]
            link = r.links.get("next")
            url, params = (urljoin(r.url, link["url"]) if link else None), None
            if url and (url in seen or urlsplit(url)[:2] != urlsplit(ENV["RIN_FUNDINGS_URL"])[:2]):
                raise Failed("the next link cannot be followed")
            seen.add(url)
    return group, len(set(ids))


def guarded(group):
    try:
        return collect(group)
    except Exception:
        STOP.set()  # the report is wanted whole
        raise


def main():
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        for group, number in pool.map(guarded, GROUPS):
            print("%-32s%5d" % (group, number))
    print("report complete")


try:
    main()
except (Failed, KeyError) as e:
    sys.exit("no report: %s" % e)
