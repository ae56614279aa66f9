#!/usr/bin/env python3
"""Resumable harvest into SQLite: records and the place where it stands are written in one transaction."""
import http.client, json, os, sqlite3, sys, tempfile, time, urllib.error, urllib.request
from email.utils import parsedate_to_datetime
from urllib.parse import urlencode, urljoin, urlsplit

BASE = os.environ["RIN_FUNDINGS_URL"]


class Interrupted(Exception):
    pass


def authority(url):
    p = urlsplit(url)
    return (p.scheme, p.hostname, p.port or {"https": 443}.get(p.scheme, 80))


class StayHere(urllib.request.HTTPRedirectHandler):
    """Follows redirects of GET to the same authority only."""

    def redirect_request(self, req, fp, code, msg, headers, newurl):
        if authority(newurl) != authority(req.full_url):
            raise Interrupted(f"{req.full_url} redirects to {newurl}")
        return urllib.request.Request(newurl, data=req.data, headers=dict(req.header_items()), method=req.get_method())

    http_error_308 = urllib.request.HTTPRedirectHandler.http_error_302


browser = urllib.request.build_opener(StayHere())


def delay(headers):
    text = (headers.get("Retry-After") or "").strip()
    if text.isdigit():
        return int(text)
    try:
        return max(0, (parsedate_to_datetime(text) - parsedate_to_datetime(headers.get("Date"))).total_seconds())
    except (TypeError, ValueError):
        return None


def steadily(make):
    """Runs a request, made anew each time, until it is through."""
    mishaps = waits = 0
    while True:
        try:
            with browser.open(make(), timeout=20) as r:
                return json.loads(r.read()), r.headers, r.url
        except urllib.error.HTTPError as e:
            wait = delay(e.headers) if e.code in (429, 503) else None
            if wait is not None:
                waits += 1
                if waits > 5 or wait > 1200:
                    raise Interrupted(f"{e.code} from {e.url}, wait {wait} s") from None
                time.sleep(wait + 0.1)
                continue
            if e.code < 500 and e.code != 429:
                raise
            what = str(e.code)
        except (OSError, http.client.HTTPException, ValueError) as e:
            what = type(e).__name__
        mishaps += 1
        if mishaps > 3:
            raise Interrupted(f"{what}, four times")
        time.sleep((0.5, 1.5, 4)[mishaps - 1])


class Key:
    def __init__(self):
        self.text, self.limit = None, 0

    def cut(self):
        form = urlencode({"grant_type": "client_credentials", "client_id": os.environ["RIN_CLIENT_ID"],
                          "client_secret": os.environ["RIN_CLIENT_SECRET"]}).encode()
        try:
            doc, _, _ = steadily(lambda: urllib.request.Request(os.environ["RIN_TOKEN_URL"], form, {"Accept": "application/json"}))
        except urllib.error.HTTPError as e:
            raise Interrupted(f"no token: {e.code}") from None
        self.text = doc["access_token"]
        self.limit = time.monotonic() + (float(doc["expires_in"]) * 0.9 if doc.get("expires_in") else 1e9)

    def get(self, url):
        second = False
        while True:
            def request():
                if self.text is None or time.monotonic() > self.limit:
                    self.cut()
                return urllib.request.Request(url, headers={"Authorization": "Bearer " + self.text, "Accept": "application/json"})
            try:
                return steadily(request)
            except urllib.error.HTTPError as e:
                if e.code != 401 or second:
                    raise Interrupted(f"{e.code} from {url} {e.headers.get('WWW-Authenticate') or ''}") from None
                second = True
                self.cut()


def follow(headers):
    for part in ", ".join(headers.get_all("Link") or []).split("<")[1:]:
        target, _, tail = part.partition(">")
        if "next" in tail.replace('"', " ").replace("=", " ").replace(";", " ").replace(",", " ").split():
            return target
    return None


def harvest(db):
    key = Key()
    db.execute("create table if not exists funding (id text primary key, body text)")
    db.execute("create table if not exists place (one integer primary key, url text, pages integer, skip integer)")
    row = db.execute("select url, pages, skip from place").fetchone()
    first = BASE + "?" + urlencode({"page[page]": 0, "page[size]": 40})
    url, pages, skip = row or (first, 0, 0)
    repeats = 0
    while url:
        if pages >= 250:
            raise Interrupted("250 pages and no end")
        page, headers, at = key.get(url)
        if not isinstance(page, list):
            raise Interrupted(f"{url} is no array")
        skip += len(page)
        if headers.get("Link"):
            target = follow(headers)
            nxt = urljoin(at, target) if target else None
            if nxt and authority(nxt) != authority(BASE):
                raise Interrupted(f"the next page is at {nxt}")
        else:
            nxt = BASE + "?" + urlencode({"page[page]": skip, "page[size]": 40}) if page else None
        if nxt == url:
            raise Interrupted("a page that follows itself")
        with db:
            before = db.execute("select count(*) from funding").fetchone()[0]
            db.executemany("insert into funding values (?, ?) on conflict (id) do update set body = excluded.body",
                           [(f["id"], json.dumps(f, ensure_ascii=False)) for f in page])
            after = db.execute("select count(*) from funding").fetchone()[0]
            pages += 1
            db.execute("insert or replace into place values (1, ?, ?, ?)", (nxt, pages, skip))
        repeats = repeats + 1 if page and before == after else 0
        if repeats > 3:
            raise Interrupted("the same records again and again")
        url = nxt
    with db:
        db.execute("delete from place")
    return db.execute("select count(*) from funding").fetchone()[0]


def main():
    path = os.environ.get("HARVEST_DB")
    if path:
        db = sqlite3.connect(path)
        print(harvest(db), "fundings")
        db.close()
        return
    with tempfile.TemporaryDirectory() as folder:
        db = sqlite3.connect(os.path.join(folder, "harvest.db"))
        try:
            print(harvest(db), "fundings")
        finally:
            db.close()


try:
    main()
except Interrupted as e:
    print(f"harvest interrupted: {e}; run me again", file=sys.stderr)
    sys.exit(75)
