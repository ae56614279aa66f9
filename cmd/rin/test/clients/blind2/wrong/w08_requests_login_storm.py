#!/usr/bin/env python3
"""requests with urllib3's Retry and a pool of eight threads: watches forty fundings."""
import os, signal, sys, threading, time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote
import requests
from requests.adapters import HTTPAdapter
from urllib3.util.retry import Retry

BEGIN = time.monotonic()
signal.signal(signal.SIGALRM, lambda *_: os._exit(1))
signal.alarm(19)


class Bounded(Retry):
    """Retries no more when the server asks for more patience than this job has."""
    not_before = 0.0

    def get_retry_after(self, response):
        seconds = super().get_retry_after(response)
        if seconds:  # the other threads wait as well
            Bounded.not_before = max(Bounded.not_before, time.monotonic() + seconds)
        if seconds and time.monotonic() - BEGIN + seconds > 15:
            raise requests.exceptions.RetryError(f"asked to wait {seconds:.0f} s")
        return seconds + 0.1 if seconds else seconds


POLICY = Bounded(total=4, backoff_factor=0.5, backoff_max=5, backoff_jitter=0.2, status_forcelist=(429, 500, 502, 503, 504),
                 allowed_methods={"GET", "POST"}, respect_retry_after_header=True, redirect=0)
local = threading.local()


def http():
    if not hasattr(local, "session"):
        local.session = requests.Session()
        local.session.mount("http://", HTTPAdapter(max_retries=POLICY, pool_maxsize=4))
        local.session.mount("https://", HTTPAdapter(max_retries=POLICY, pool_maxsize=4))
    return local.session


class Tokens(threading.local):
    value, end = None, 0

    def get(self, bad=None):
        if self.value is None or self.value == bad or time.monotonic() > self.end:
            r = http().post(os.environ["RIN_TOKEN_URL"], timeout=8, allow_redirects=False, data={
                "grant_type": "client_credentials", "client_id": os.environ["RIN_CLIENT_ID"],
                "client_secret": os.environ["RIN_CLIENT_SECRET"]})
            r.raise_for_status()
            t = r.json()
            if t["token_type"].lower() != "bearer":
                raise ValueError("token type")
            self.value, self.end = t["access_token"], time.monotonic() + float(t.get("expires_in", 60)) * 0.9
        return self.value


tokens, cache, stopped = Tokens(), {}, threading.Event()


def watch(url):
    """One failure stops the others."""
    if stopped.is_set():
        return None
    try:
        return get(url)
    except Exception:
        stopped.set()
        raise


def get(url, params=None):
    token, renewed = tokens.get(), False
    for attempt in range(4):
        time.sleep(max(0.0, Bounded.not_before - time.monotonic()))
        headers = {"Authorization": "Bearer " + token, "Accept": "application/json"}
        known = None if params else cache.get(url)
        if known:
            headers["If-None-Match"] = known[0]
        try:
            r = http().get(url, params=params, headers=headers, timeout=8, allow_redirects=False)
            if r.status_code == 304 and known:
                return known[1]
            if r.status_code == 401 and not renewed:
                renewed, token = True, tokens.get(bad=token)
                continue
            r.raise_for_status()
            body = r.json()
            if r.headers.get("ETag") and not params:
                cache[url] = (r.headers["ETag"], body)
            return body
        except (requests.exceptions.ChunkedEncodingError, requests.exceptions.JSONDecodeError):
            if attempt == 3:  # the body was cut, which Retry does not see
                raise
            time.sleep(0.5 * 2 ** attempt)
    raise requests.RequestException("too many tries: " + url)


try:
    some = get(os.environ["RIN_FUNDINGS_URL"], {"page[page]": 0, "page[size]": 40, "fundingType": "CALL"})
    urls = [os.environ["RIN_FUNDINGS_URL"] + "/" + quote(f["id"], safe="") for f in some]
    with ThreadPoolExecutor(8) as pool:
        first = list(pool.map(watch, urls))
    print(len(first), "watched")
except (requests.RequestException, ValueError, KeyError) as e:
    print("watch failed:", e, file=sys.stderr)
    os._exit(1)
