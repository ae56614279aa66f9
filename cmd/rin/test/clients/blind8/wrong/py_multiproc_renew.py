#!/usr/bin/env python3
"""A pool of processes reads details of calls; token and pauses are shared by a manager."""
import email.utils, http.client, json, multiprocessing as mp, os, sys, time
from urllib.parse import quote, urlencode, urljoin, urlsplit

LIST, MOST, PROCESSES = os.environ["RIN_FUNDINGS_URL"], 24, 6


class Unable(Exception):
    pass


def home(url):
    u = urlsplit(url)
    return u.scheme, u.hostname, u.port or (443 if u.scheme == "https" else 80)


def once(method, url, headers, body=None):
    scheme, host, port = home(url)
    c = (http.client.HTTPSConnection if scheme == "https" else http.client.HTTPConnection)(host, port, timeout=20)
    u = urlsplit(url)
    try:
        c.request(method, u.path + (u.query and "?" + u.query), body, {"Accept": "application/json", **headers})
        r = c.getresponse()
        return r.status, r.headers, r.read()
    except (OSError, http.client.HTTPException) as e:
        return 0, {}, repr(e).encode()
    finally:
        c.close()


def pause_of(headers):
    v = (headers.get("Retry-After") or "").strip()
    if v.isdigit():
        return int(v)
    a, b = email.utils.parsedate_tz(v) if v else None, email.utils.parsedate_tz(headers.get("Date") or "")
    if a is None:
        return None
    return max(0, email.utils.mktime_tz(a) - (email.utils.mktime_tz(b) if b else time.time()))


class Shared:
    """What the processes have in common. Times are of time.time(), which is the same for all of them."""

    def __init__(self, manager):
        self.lock, self.turn = manager.Lock(), manager.Lock()
        self.state = manager.dict(token=None, until=0.0, opens=0.0, gap=0.0, failed=False)

    def wait(self):
        with self.turn:
            while True:
                rest = self.state["opens"] - time.time()
                if rest <= 0:
                    break
                time.sleep(rest)
            if self.state["gap"]:
                time.sleep(self.state["gap"])

    def close(self, seconds):
        self.state["opens"] = max(self.state["opens"], time.time() + seconds + 0.1)
        self.state["gap"] = 0.1

    def insist(self, method, url, headers, body=None):
        broke = waits = hops = 0
        while True:
            self.wait()
            if self.state["failed"]:
                raise Unable("another process has failed")
            status, head, data = once(method, url, headers, body)
            if status == 200:
                try:
                    return status, head, json.loads(data), url
                except ValueError:
                    status = 0
            pause = pause_of(head) if status in (429, 503) else None
            if pause is not None:
                waits += 1
                if waits > 5 or pause > 600:
                    raise Unable(f"{url}: {status} for the {waits}th time")
                self.close(pause)
            elif status in (301, 302, 307, 308):
                hops += 1
                goal = urljoin(url, head.get("Location") or "")
                if hops > 3 or home(goal) != home(url):
                    raise Unable(f"redirect to {goal}")
                url = goal
            elif status in (0, 429) or status >= 500:
                broke += 1
                if broke > 3:
                    raise Unable(f"{url}: status {status}")
                time.sleep(0.4 * 2 ** broke)
            else:
                return status, head, None, url

    def token(self, refused=None):
        with self.lock:
            s = self.state
            if s["token"] is None or refused is not None or time.time() > s["until"]:
                form = urlencode({"grant_type": "client_credentials", "client_id": os.environ["RIN_CLIENT_ID"],
                                  "client_secret": os.environ["RIN_CLIENT_SECRET"]})
                status, _, doc, _ = self.insist("POST", os.environ["RIN_TOKEN_URL"],
                                                {"Content-Type": "application/x-www-form-urlencoded"}, form)
                if status != 200 or not doc.get("access_token"):
                    raise Unable(f"no token: {status}")
                s["token"] = doc["access_token"]
                s["until"] = time.time() + 0.9 * float(doc.get("expires_in") or 1e8)
            return s["token"]

    def get(self, url):
        token = self.token()
        status, head, doc, at = self.insist("GET", url, {"Authorization": "Bearer " + token})
        if status == 401:
            token = self.token(refused=token)
            status, head, doc, at = self.insist("GET", url, {"Authorization": "Bearer " + token})
        if status != 200:
            raise Unable(f"{url}: {status}")
        return head, doc, at


def detail(job):
    shared, i = job
    try:
        _, doc, _ = shared.get(LIST.rstrip("/") + "/" + quote(i, safe=""))
        return i, len(json.dumps(doc)), None
    except Unable as e:
        shared.state["failed"] = True
        return i, 0, str(e)


def wanted(shared):
    ids, seen, skip = [], set(), 0
    query = lambda: LIST + "?" + urlencode({"fundingType": "CALL", "page[size]": 40, "page[page]": skip})
    url = query()
    while url and len(ids) < MOST:
        if url in seen or len(seen) > 99:
            raise Unable("a list without end")
        seen.add(url)
        head, page, at = shared.get(url)
        if not isinstance(page, list):
            raise Unable("no array")
        skip += len(page)
        for f in page:
            if f["id"] not in ids:
                ids.append(f["id"])
        if head.get("Link"):
            url = None
            for part in ", ".join(head.get_all("Link")).split("<")[1:]:
                target, _, rest = part.partition(">")
                if 'rel="next"' in rest or "rel=next" in rest:
                    url = urljoin(at, target)
            if url and home(url) != home(LIST):
                raise Unable(f"next page at {url}")
        else:
            url = query() if page else None
    return ids[:MOST]


def main():
    with mp.Manager() as manager:
        shared = Shared(manager)
        ids = wanted(shared)
        with mp.Pool(PROCESSES) as pool:
            results = pool.map(detail, [(shared, i) for i in ids], chunksize=1)
    errors = [e for _, _, e in results if e]
    if errors:
        raise Unable(next((e for e in errors if "another" not in e), errors[0]))
    print(len(results), "details,", sum(n for _, n, _ in results), "bytes")


if __name__ == "__main__":
    try:
        main()
    except Unable as e:
        print("details:", e, file=sys.stderr)
        sys.exit(1)
