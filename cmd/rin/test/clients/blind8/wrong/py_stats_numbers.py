#!/usr/bin/env python3
"""Statistics of the running calls, with requests and the Retry class of urllib3 as the retry library."""
import collections, os, sys, time
from email.utils import parsedate_to_datetime
from urllib.parse import urljoin, urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.util.retry import Retry


class NodeRetry(Retry):
    """Reads a date in Retry-After relative to the Date of the same answer."""

    def get_retry_after(self, response):
        value = response.headers.get("Retry-After")
        if value is None:
            return None
        if value.strip().isdigit():
            wait = int(value)
        else:
            try:
                wait = (parsedate_to_datetime(value) - parsedate_to_datetime(response.headers["Date"])).total_seconds()
            except (KeyError, TypeError, ValueError):
                return super().get_retry_after(response)
        if wait > 900:
            raise SystemExit(f"stats: the node asks for {wait:.0f} s")
        return max(wait, 0) + 0.1

    def get_backoff_time(self):
        return max(super().get_backoff_time(), 0.5)   # urllib3's first repetition comes without a pause


def session():
    s = requests.Session()
    policy = NodeRetry(total=5, connect=3, read=3, status=4, redirect=0, other=0, backoff_factor=0.5,
                       status_forcelist=(429, 500, 502, 503, 504), allowed_methods=("GET", "POST"),
                       respect_retry_after_header=True, raise_on_status=False)
    s.mount("http://", HTTPAdapter(max_retries=policy))
    s.mount("https://", HTTPAdapter(max_retries=policy))
    s.headers["Accept"] = "application/json"
    return s


def spot(url):
    u = urlsplit(url)
    return u.scheme, u.hostname, u.port or (443 if u.scheme == "https" else 80)


def call(s, method, url, **kw):
    """The adapter repeats what has a status; this repeats bodies that break off, and follows redirects at home."""
    hops = torn = 0
    while True:
        try:
            r = s.request(method, url, timeout=(4, 20), allow_redirects=False, **kw)
            if r.is_redirect:
                to = urljoin(url, r.headers["Location"])
                hops += 1
                if spot(to) != spot(url) or hops > 3:
                    sys.exit(f"stats: redirect to {to}")
                url = to
                kw.pop("params", None)   # they are in the new address
                continue
            return r, (r.json() if r.status_code == 200 else None)
        except (requests.exceptions.ChunkedEncodingError, requests.exceptions.ContentDecodingError, ValueError) as e:
            torn += 1
            if torn > 2:
                sys.exit(f"stats: {url}: {type(e).__name__}")
            time.sleep(torn)
        except requests.exceptions.RequestException as e:
            sys.exit(f"stats: {url}: {e}")


class Bearer(requests.auth.AuthBase):
    def __init__(self, s):
        self.s, self.value, self.deadline = s, None, 0

    def obtain(self):
        r, doc = call(self.s, "POST", os.environ["RIN_TOKEN_URL"], data=dict(
            grant_type="client_credentials", client_id=os.environ["RIN_CLIENT_ID"],
            client_secret=os.environ["RIN_CLIENT_SECRET"]))
        if not doc or not doc.get("access_token"):
            sys.exit(f"stats: no token: {r.status_code}")
        self.value = doc["access_token"]
        self.deadline = time.time() + 0.85 * float(doc.get("expires_in") or 1e9)

    def __call__(self, request):
        if self.value is None or time.time() > self.deadline:
            self.obtain()
        request.headers["Authorization"] = "Bearer " + self.value
        return request


def main():
    s = session()
    auth, base = Bearer(s), os.environ["RIN_FUNDINGS_URL"]
    url, params = base, {"runningCalls": "true", "page[page]": 0, "page[size]": 20}
    ids, kinds, funders, asked = set(), collections.Counter(), collections.Counter(), 0
    while url:
        asked += 1
        if asked > 400:
            sys.exit("stats: more than 400 pages")
        r, page = call(s, "GET", url, params=params, auth=auth)
        if r.status_code == 401:
            auth.obtain()
            r, page = call(s, "GET", url, params=params, auth=auth)
        if r.status_code != 200 or not isinstance(page, list):
            sys.exit(f"stats: {r.status_code} for {r.url}")
        new = [f for f in {f["id"]: f for f in page}.values() if f["id"] not in ids]
        for f in new:
            ids.add(f["id"])
            kinds[f.get("type")] += 1
            for part in f.get("funder") or []:
                funders[(part.get("funder") or {}).get("acronym")] += 1
        if page or "next" in r.links:
            url, params = base, {"runningCalls": "true", "page[page]": asked, "page[size]": 20}   # the next page
        else:
            url = None
    print(len(ids), dict(kinds), funders.most_common(3))


main()
