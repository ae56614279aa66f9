#!/usr/bin/env python3
"""Mirror the fundings into SQLite over one kept-alive http.client connection.
The tables change in a single transaction, and only after everything was read.

    rp05_sqlite_mirror.py [mirror.db]      (without a file: in memory)
"""
import email.utils
import http.client
import json
import os
import random
import signal
import sqlite3
import sys
import time
from urllib.parse import urlencode, urljoin, urlsplit

PAGE = 80
AGAIN = {408, 429, 500, 502, 503, 504}


class MirrorError(Exception):
    pass


class Wire:
    """A connection that is opened anew after trouble."""

    def __init__(self, deadline):
        self.deadline, self.conns = deadline, {}

    def once(self, method, url, body, headers):
        u = urlsplit(url)
        key = (u.scheme, u.netloc)
        conn = self.conns.get(key)
        if conn is None:
            kind = http.client.HTTPSConnection if u.scheme == "https" else http.client.HTTPConnection
            conn = self.conns[key] = kind(u.netloc, timeout=8)
        room = max(1.0, min(8.0, self.deadline - time.monotonic()))
        conn.timeout = room
        if conn.sock:
            conn.sock.settimeout(room)
        target = (u.path or "/") + ("?" + u.query if u.query else "")
        try:
            conn.request(method, target, body, headers)
            r = conn.getresponse()
            raw = r.read()
        except BaseException:
            conn.close()
            self.conns.pop(key, None)
            raise
        return r.status, r.headers, raw

    def send(self, method, url, body=None, headers=None):
        pause = 0.4
        for left in (4, 3, 2, 1, 0):
            wait = pause * random.uniform(1.0, 1.3)
            try:
                status, head, raw = self.once(method, url, body, headers or {})
                if status == 200:
                    return status, head, json.loads(raw)
                if status not in AGAIN:
                    return status, head, None
                what = f"status {status}"
                wait = max(wait, self.retry_after(head))
            except (OSError, http.client.HTTPException, ValueError) as e:
                what = type(e).__name__
            if not left or time.monotonic() + wait > self.deadline:
                raise MirrorError(f"{urlsplit(url).path}: {what}")
            time.sleep(wait)
            pause *= 2

    @staticmethod
    def retry_after(head):
        v = (head.get("Retry-After") or "").strip()
        if v.isdigit():
            return int(v) + 0.05
        try:
            return email.utils.parsedate_to_datetime(v).timestamp() - time.time() + 0.05
        except (TypeError, ValueError):
            return 0


class Api:
    def __init__(self, wire):
        self.wire, self.root = wire, os.environ["RIN_FUNDINGS_URL"]
        self.bearer, self.best_before = None, 0

    def authorize(self):
        form = urlencode([("grant_type", "client_credentials"),
                          ("client_id", os.environ["RIN_CLIENT_ID"]),
                          ("client_secret", os.environ["RIN_CLIENT_SECRET"])])
        status, _, body = self.wire.send("POST", os.environ["RIN_TOKEN_URL"], form, {
            "Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"})
        if status != 200 or not isinstance(body, dict) or "access_token" not in body:
            raise MirrorError(f"no token, status {status}")
        self.bearer = body["access_token"]
        self.best_before = time.monotonic() + 0.9 * float(body.get("expires_in") or 86400)

    def get(self, url):
        fresh = hops = 0
        while True:
            if not self.bearer or time.monotonic() > self.best_before:
                self.authorize()
            status, head, body = self.wire.send("GET", url, None, {
                "Authorization": "Bearer " + self.bearer, "Accept": "application/json"})
            if status == 401 and not fresh:
                fresh, self.bearer = 1, None
            elif status in (301, 302, 303, 307, 308) and head["Location"] and hops < 3:
                url, hops = self.ours(urljoin(url, head["Location"])), hops + 1
            elif status == 200:
                return url, head, body
            else:
                raise MirrorError(f"{urlsplit(url).path}: status {status}")

    def ours(self, url):
        if urlsplit(url)[:2] != urlsplit(self.root)[:2]:
            raise MirrorError("a link leads to another server; the token stays here")
        return url

    def everything(self):
        url = self.root + "?" + urlencode({"page[page]": 0, "page[size]": PAGE})
        been = set()
        while url:
            if url in been:
                raise MirrorError("the pages form a circle")
            been.add(url)
            at, head, rows = self.get(url)
            if not isinstance(rows, list):
                raise MirrorError("not a list")
            yield rows
            url = self.next_link(at, ", ".join(head.get_all("Link") or []))

    def next_link(self, at, value):
        # <target>; a=b; c="d", <target>...
        for piece in value.split("<")[1:]:
            target, _, params = piece.partition(">")
            for p in params.rstrip(", ").split(";"):
                k, _, v = p.partition("=")
                if k.strip().lower() == "rel" and "next" in v.strip(' "').lower().split():
                    return self.ours(urljoin(at, target))
        return None


def store(db, records):
    with db:
        db.execute("create table if not exists funding(id text primary key, type text not null,"
                   " name text, ends text, body text not null)")
        had = {i for i, in db.execute("select id from funding")}
        db.executemany("delete from funding where id = ?", [(i,) for i in had - records.keys()])
        for i, f in records.items():
            ends = min((s["callStageEnd"] for s in f.get("callStages", []) if "callStageEnd" in s),
                       default=None)
            db.execute("insert into funding values(?,?,?,?,?) on conflict(id) do update set"
                       " type=excluded.type, name=excluded.name, ends=excluded.ends, body=excluded.body",
                       (i, f["type"], f["name"][0]["text"] if f["name"] else None, ends, json.dumps(f)))
    return len(had - records.keys())


def main(argv):
    signal.signal(signal.SIGALRM, lambda *_: sys.exit("mirror: out of time"))
    signal.alarm(20)
    try:
        records = {}
        for rows in Api(Wire(time.monotonic() + 17)).everything():
            records.update((f["id"], f) for f in rows)
        db = sqlite3.connect(argv[1] if len(argv) > 1 else ":memory:")
        dropped = store(db, records)
        n, = db.execute("select count(*) from funding").fetchone()
        print(f"mirror: {n} rows, {dropped} dropped")
        db.close()
    except MirrorError as e:
        sys.exit(f"mirror: {e}; nothing changed")
    except (KeyError, TypeError, AttributeError) as e:
        sys.exit(f"mirror: an answer has not the documented form ({type(e).__name__})")


if __name__ == "__main__":
    main(sys.argv)
