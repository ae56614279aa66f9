#!/usr/bin/env python3
"""Show the first N calls of a type on the terminal: one small page, not the whole list.

    rp06_show_first.py [-n 10] [-t CALL] [-l en]
"""
import argparse
import os
import signal
import sys
import time
from urllib.parse import urljoin, urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.util.retry import Retry

MOST = 10          # the longest pause that is waited for


class Patience(Retry):
    """urllib3's own repeats: pauses, Retry-After, an upper bound."""

    def get_retry_after(self, response):
        secs = super().get_retry_after(response)
        if secs is not None and secs > MOST:
            sys.exit(f"show_first: the node asks for {secs:.0f} s of patience; try later")
        return None if secs is None else max(0.4, secs + 0.1)

    def get_backoff_time(self):
        return max(0.4, super().get_backoff_time())      # urllib3 repeats the first time at once


def make_session():
    s = requests.Session()
    s.mount("http://", HTTPAdapter(max_retries=Patience(
        total=3, backoff_factor=0.4, backoff_max=3, backoff_jitter=0.1,
        status_forcelist=(429, 500, 502, 503, 504), allowed_methods={"GET", "POST"},
        redirect=0, raise_on_status=False)))
    s.mount("https://", s.adapters["http://"])
    s.headers["Accept"] = "application/json"
    return s


def whole(send):
    """The adapter repeats requests without an answer; this one repeats cut answers."""
    for n in range(3):
        try:
            r = send()
            if r.status_code == 200:
                r.json()
            return r
        except (requests.exceptions.ChunkedEncodingError, requests.exceptions.ContentDecodingError,
                requests.exceptions.JSONDecodeError, requests.exceptions.ConnectionError) as e:
            # a refused connection was repeated by the adapter already
            if n == 2 or isinstance(e, requests.exceptions.RetryError) or "Max retries" in str(e):
                raise
            time.sleep(0.5 * 2 ** n)


def token(s):
    r = whole(lambda: s.post(os.environ["RIN_TOKEN_URL"], timeout=4, allow_redirects=False, data={
        "grant_type": "client_credentials",
        "client_id": os.environ["RIN_CLIENT_ID"],
        "client_secret": os.environ["RIN_CLIENT_SECRET"]}))
    if r.status_code != 200:
        sys.exit(f"show_first: no token, HTTP {r.status_code}")
    return r.json()["access_token"]


def page(s, url, params):
    for attempt in range(2):
        if "Authorization" not in s.headers:
            s.headers["Authorization"] = "Bearer " + token(s)
        r = whole(lambda: s.get(url, params=params, timeout=4, allow_redirects=False))
        for _ in range(3):
            if not r.is_redirect:
                break
            r = whole(lambda: s.get(here(urljoin(r.url, r.headers["Location"])), timeout=4,
                                    allow_redirects=False))
        if r.status_code != 401:
            break
        del s.headers["Authorization"]
    if r.status_code != 200:
        sys.exit(f"show_first: HTTP {r.status_code}")
    return r


def here(url):
    if urlsplit(url)[:2] != urlsplit(os.environ["RIN_FUNDINGS_URL"])[:2]:
        sys.exit("show_first: the node sends us elsewhere; not followed")
    return url


def main():
    p = argparse.ArgumentParser()
    p.add_argument("-n", type=int, default=10)
    p.add_argument("-t", default="CALL")
    p.add_argument("-l", default="en")
    a = p.parse_args()
    signal.signal(signal.SIGALRM, lambda *_: sys.exit("show_first: out of time"))
    signal.alarm(20)
    s = make_session()
    shown, seen, been = [], set(), set()
    url, params = os.environ["RIN_FUNDINGS_URL"], {"fundingType": a.t, "page[page]": 0, "page[size]": a.n}
    try:
        while url and len(shown) < a.n:       # a short page may have a next one
            r = page(s, url, params)
            for f in r.json():
                if f["id"] not in seen:
                    seen.add(f["id"])
                    shown.append(f)
            been.add(r.url)
            link = r.links.get("next")
            url, params = (here(urljoin(r.url, link["url"])) if link else None), None
            if url in been:
                sys.exit("show_first: next links in a circle")
    except requests.RequestException as e:
        sys.exit(f"show_first: {type(e).__name__}")
    except (KeyError, TypeError):
        sys.exit("show_first: an answer has not the documented form")
    for f in shown[:a.n]:
        text = {t["lang"]: t["text"] for t in f["name"]}
        print(f["id"], text.get(a.l) or next(iter(text.values()), ""), sep="\t")


if __name__ == "__main__":
    main()
