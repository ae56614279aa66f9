#!/usr/bin/env python3
"""Threads harvest the funding types that an office handles, one type each, behind one gate and one token."""
import concurrent.futures, email.utils, json, os, sys, threading, time
import urllib.parse, urllib.request, urllib.error, http.client

TYPES = ["CALL", "ONGOING_CALL", "PROGRAMME", "AWARD", "GRANT", "SCHOLARSHIP"]
LIST = os.environ["RIN_FUNDINGS_URL"]


class GiveUp(Exception):
    pass


class Quiet(urllib.request.HTTPRedirectHandler):
    redirect_request = lambda self, *a: None


opener = urllib.request.build_opener(Quiet)
failed = threading.Event()


class Gate:
    """Nobody sends before the moment that the node has named; afterwards one after the other."""

    def __init__(self):
        self.lock, self.opens, self.spacing = threading.Lock(), 0.0, 0.0

    def pass_(self):
        while True:
            with self.lock:
                now = time.monotonic()
                if now >= self.opens:
                    if self.spacing:
                        self.opens = now + self.spacing
                    return
                rest = self.opens - now
            time.sleep(rest)

    def close(self, seconds):
        with self.lock:
            self.opens = max(self.opens, time.monotonic() + seconds + 0.1)
            self.spacing = 0.15


gate = Gate()


def netloc(url):
    s = urllib.parse.urlsplit(url)
    return s.scheme, s.hostname, s.port or (443 if s.scheme == "https" else 80)


def told(headers):
    value = (headers.get("Retry-After") or "").strip()
    if value.isdigit():
        return int(value)
    then = email.utils.parsedate_tz(value) if value else None
    if then is None:
        return None
    base = email.utils.parsedate_tz(headers.get("Date") or "")
    return max(0, email.utils.mktime_tz(then) - (email.utils.mktime_tz(base) if base else time.time()))


def send(url, headers, body=None):
    """(status, headers, bytes) of one request; status 0 if it broke."""
    gate.pass_()
    try:
        with opener.open(urllib.request.Request(url, data=body, headers=headers), timeout=20) as r:
            return r.status, r.headers, r.read()
    except urllib.error.HTTPError as e:
        with e:
            return e.code, e.headers, b""
    except (OSError, http.client.HTTPException) as e:
        return 0, {}, str(e).encode()


def insist(url, headers, body=None):
    errors = waits = hops = 0
    while True:
        if failed.is_set():
            raise GiveUp("another worker has failed")
        status, head, data = send(url, headers(), body)
        if status == 200:
            try:
                return status, head, json.loads(data), url
            except ValueError:
                status = 0
        wait = told(head) if status in (429, 503) else None
        if wait is not None:
            waits += 1
            if waits > 6 or wait > 600:
                raise GiveUp(f"{url}: {status} once more")
            gate.close(wait)
        elif status in (301, 302, 307, 308):
            hops += 1
            goal = urllib.parse.urljoin(url, head.get("Location") or "")
            if hops > 3 or netloc(goal) != netloc(url):
                raise GiveUp(f"{url}: redirect to {goal}")
            url = goal
        elif status == 0 or status == 429 or status >= 500:
            errors += 1
            if errors > 15:
                raise GiveUp(f"{url}: status {status}")
        else:
            return status, head, None, url


class Purse:
    """The token of all threads."""

    def __init__(self):
        self.lock, self.token, self.soon = threading.Lock(), None, 0.0

    def _fetch(self):
        form = urllib.parse.urlencode({"grant_type": "client_credentials", "client_id": os.environ["RIN_CLIENT_ID"],
                                       "client_secret": os.environ["RIN_CLIENT_SECRET"]}).encode()
        status, _, doc, _ = insist(os.environ["RIN_TOKEN_URL"], lambda: {"Accept": "application/json"}, form)
        if status != 200 or "access_token" not in doc:
            raise GiveUp(f"no token: {status}")
        self.token = doc["access_token"]
        self.soon = time.monotonic() + float(doc.get("expires_in") or 1e9) * 0.9

    def get(self):
        with self.lock:
            if self.token is None or time.monotonic() >= self.soon:
                self._fetch()
            return self.token

    def replace(self, refused):
        with self.lock:
            if self.token == refused:
                self._fetch()


purse = Purse()


def read(url):
    used = []

    def headers():
        used.append(purse.get())
        return {"Authorization": "Bearer " + used[-1], "Accept": "application/json"}

    status, head, doc, at = insist(url, headers)
    if status == 401:
        purse.replace(used[-1])
        status, head, doc, at = insist(url, headers)
    if status != 200 or not isinstance(doc, list):
        raise GiveUp(f"{url}: status {status} {head.get('WWW-Authenticate') or ''}")
    return doc, head, at


def next_link(head):
    for value in head.get_all("Link") or []:
        for piece in value.split(", <"):
            target, _, params = piece.lstrip("<").partition(">")
            if "next" in params.replace('"', "").replace(" ", "").lower().partition("rel=")[2].split(";")[0]:
                return target
    return None


def harvest(kind):
    q = lambda skip: LIST + "?" + urllib.parse.urlencode({"fundingType": kind, "page[size]": 25, "page[page]": skip})
    url, found, skip, seen, dull = q(0), {}, 0, set(), 0
    while url:
        if url in seen or len(seen) > 150:
            raise GiveUp(f"{kind}: the list has no end")
        seen.add(url)
        doc, head, at = read(url)
        old = len(found)
        found.update((d["id"], d) for d in doc)
        dull = dull + 1 if doc and len(found) == old else 0
        if dull > 2:
            raise GiveUp(f"{kind}: nothing new on three pages")
        skip += len(doc)
        if head.get("Link"):
            url = next_link(head)
            url = url and urllib.parse.urljoin(at, url)
            if url and netloc(url) != netloc(LIST):
                raise GiveUp(f"{kind}: next page on another host: {url}")
        else:
            url = q(skip) if doc else None
    return found


def worker(kind):
    try:
        return kind, harvest(kind)
    except BaseException:
        failed.set()
        raise


def main():
    total = {}
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        jobs = [pool.submit(worker, TYPES[0])]  # alone, until token and addresses have proved good
        concurrent.futures.wait(jobs)
        jobs += [pool.submit(worker, t) for t in TYPES[1:]]
    errors = [j.exception() for j in jobs if j.exception()]
    if errors:
        errors.sort(key=lambda e: "another worker" in str(e))
        raise errors[0]
    for j in jobs:
        kind, found = j.result()
        total.update(found)
        print(f"{kind:14}{len(found):5}")
    print(f"{'all':14}{len(total):5}")


try:
    main()
except GiveUp as e:
    print("offices:", e, file=sys.stderr)
    sys.exit(1)
