#!/usr/bin/env python3
"""Reads the programmes in detail with a queue and six threads."""
import http.client
import json
import os
import queue
import signal
import sys
import threading
import time
from email.utils import parsedate_to_datetime
from urllib.parse import quote, urlencode, urljoin, urlsplit

THREADS = 6
END = time.monotonic() + 17
HOME = os.environ["RIN_FUNDINGS_URL"]


class Broken(Exception):
    pass


class Auth:
    lock, token = threading.Lock(), None

    @classmethod
    def get(cls, conn, refused=None):
        with cls.lock:
            if cls.token is None or cls.token == refused:
                status, _, body = conn.send("POST", os.environ["RIN_TOKEN_URL"], urlencode({
                    "grant_type": "client_credentials",
                    "client_id": os.environ["RIN_CLIENT_ID"],
                    "client_secret": os.environ["RIN_CLIENT_SECRET"]}),
                    {"Content-Type": "application/x-www-form-urlencoded"})
                if status != 200:
                    raise Broken(f"token: {status}")
                cls.token = body["access_token"]
            return cls.token


class Conn:
    """A connection of one thread."""

    def __init__(self):
        self.c, self.to = None, None

    def once(self, method, url, body, headers):
        u = urlsplit(url)
        if self.c is None or self.to != u[:2]:
            self.close()
            make = http.client.HTTPSConnection if u.scheme == "https" else http.client.HTTPConnection
            self.c, self.to = make(u.netloc, timeout=6), u[:2]
        self.c.request(method, u.path + ("?" + u.query if u.query else ""), body, headers)
        r = self.c.getresponse()
        data = r.read()
        return r.status, r.headers, json.loads(data) if r.status == 200 else None

    def close(self):
        if self.c:
            self.c.close()
        self.c = None

    def send(self, method, url, body=None, headers={}):
        for n in range(6):
            pause = 0.4 * 2 ** n
            try:
                status, head, data = self.once(method, url, body, headers)
                if status not in (429, 500, 502, 503, 504):
                    return status, head, data
                why, v = status, head.get("Retry-After", "")
                try:
                    told = int(v) if v.isdigit() else parsedate_to_datetime(v).timestamp() - time.time()
                    pause = max(pause, told + 0.05)
                except (TypeError, ValueError):
                    pass
            except (OSError, http.client.HTTPException, ValueError) as e:
                self.close()
                why = type(e).__name__
            if n == 5 or time.monotonic() + pause > END:
                raise Broken(f"{urlsplit(url).path}: {why}")
            time.sleep(pause)                 # this thread waits

    def get(self, url):
        refused = None
        for _ in range(3):
            t = Auth.get(self, refused)
            status, head, data = self.send("GET", url, None, {"Authorization": "Bearer " + t})
            if status != 401:
                break
            refused = t
        return status, head, data


def listed(conn):
    url = HOME + "?" + urlencode({"fundingType": "PROGRAMME", "page[page]": 0, "page[size]": 100})
    while url:
        status, head, rows = conn.get(url)
        if status != 200:
            raise Broken(f"list: {status}")
        yield from (f["id"] for f in rows)
        nxt = [p for p in head.get("Link", "").split(", <") if 'rel="next"' in p]
        url = urljoin(url, nxt[0].lstrip("<").split(">")[0]) if nxt else None
        if url and urlsplit(url)[:2] != urlsplit(HOME)[:2]:
            raise Broken("next link to another server")


def work(todo, done, errors):
    conn = Conn()
    while not errors:
        try:
            i = todo.get_nowait()
        except queue.Empty:
            break
        try:
            status, _, f = conn.get(HOME + "/" + quote(i, safe=""))
            if status not in (200, 404):
                raise Broken(f"{i}: {status}")
            done[i] = f
        except Exception as e:
            errors.append(e)
    conn.close()


def late(*_):
    print("workers: out of time", file=sys.stderr)
    os._exit(1)


if __name__ == "__main__":
    signal.signal(signal.SIGALRM, late)
    signal.alarm(20)
    todo, done, errors = queue.Queue(), {}, []
    try:
        for i in dict.fromkeys(listed(Conn())):
            todo.put(i)
    except Broken as e:
        sys.exit(f"workers: {e}")
    threads = [threading.Thread(target=work, args=(todo, done, errors)) for _ in range(THREADS)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if errors:
        sys.exit(f"workers: {errors[0]}")
    for i, f in sorted(done.items()):
        print(i, "gone" if f is None else f.get("startDate", "")[:10])
    print(len(done), "programmes")
