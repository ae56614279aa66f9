#!/usr/bin/env python3
"""Nightly import into SQLite with the standard library only. All or nothing: one transaction."""
import email.utils
import http.client
import json
import os
import re
import shutil
import sqlite3
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *a):
        return None


opener = urllib.request.build_opener(NoRedirect, urllib.request.ProxyHandler({}))
E = os.environ
BASE = E["RIN_FUNDINGS_URL"]


class Trouble(Exception):
    pass


def same_origin(a, b):
    a, b = urllib.parse.urlsplit(a), urllib.parse.urlsplit(b)
    return (a.scheme, a.netloc) == (b.scheme, b.netloc)


def wait_time(headers, attempt):
    value = headers.get("Retry-After", "").strip()
    if value.isdigit():
        return max(1, int(value))
    when = email.utils.parsedate_tz(value) if value else None
    if when:
        now = email.utils.parsedate_tz(headers.get("Date", ""))
        now = email.utils.mktime_tz(now) if now else time.time()
        return max(1, email.utils.mktime_tz(when) - now)
    return 2 ** attempt


def call(url, data=None, headers={}):
    """One answer, whatever its status, after the waits that the node asks for."""
    hops = 0
    for attempt in range(7):
        while True:
            req = urllib.request.Request(url, data=data, headers=headers)
            try:
                with opener.open(req, timeout=20) as r:
                    return r.status, r.headers, r.read(), url
            except urllib.error.HTTPError as e:
                status, h = e.code, e.headers
                body = e.read()
            if status in (301, 302, 303, 307, 308) and (data is None or status in (307, 308)):
                target = urllib.parse.urljoin(url, h.get("Location", ""))
                hops += 1
                if hops > 5 or not same_origin(target, url):
                    raise Trouble(f"redirect from {url} to {target} not followed")
                url = target
                continue
            break
        if status not in (429, 503):
            return status, h, body, url
        if attempt < 6:
            time.sleep(wait_time(h, attempt) + 0.05)
    raise Trouble(f"still {status} at {url}")


def get_token():
    form = urllib.parse.urlencode({"grant_type": "client_credentials", "client_id": E["RIN_CLIENT_ID"],
                                   "client_secret": E["RIN_CLIENT_SECRET"]}).encode()
    status, _, body, _ = call(E["RIN_TOKEN_URL"], form)
    if status != 200:
        raise Trouble(f"no token: {status}")
    return json.loads(body)["access_token"]


def next_link(headers):
    for value in headers.get_all("Link") or []:
        for target, params in re.findall(r"<([^>]*)>([^<]*)", value):
            if re.search(r';\s*rel\s*=\s*"?(?:[^"]*\s)?next\b', params, re.I):
                return target
    return None


def pages():
    token = get_token()
    url, read, asked = BASE + "?page%5Bsize%5D=50", 0, set()
    while url:
        if url in asked:
            raise Trouble("the next links go in a circle")
        asked.add(url)
        status, h, body, final = call(url, headers={"Authorization": "Bearer " + token})
        if status == 401:
            token = get_token()
            status, h, body, final = call(url, headers={"Authorization": "Bearer " + token})
        if status != 200:
            raise Trouble(f"{status} at {url}")
        page = json.loads(body)
        if not isinstance(page, list):
            raise Trouble("answer is no list")
        yield page
        read += len(page)
        nxt = next_link(h)
        if nxt:
            url = urllib.parse.urljoin(final, nxt)
            if not same_origin(url, BASE):
                raise Trouble(f"next link leaves the node: {url}")
        elif page and not h.get("Link"):
            url = f"{BASE}?page%5Bsize%5D=50&page%5Bpage%5D={read}"
        else:
            url = None


def main():
    folder = tempfile.mkdtemp(prefix="fundings-")
    try:
        db = sqlite3.connect(os.path.join(folder, "fundings.db"))
        with db:  # rolls back when anything is raised
            db.execute("create table funding (id text primary key, type text, acronym text, doc text not null)")
            for page in pages():
                db.executemany("insert into funding values (?,?,?,?) on conflict(id) do update set "
                               "type=excluded.type, acronym=excluded.acronym, doc=excluded.doc",
                               [(f["id"], f["type"], f.get("acronym"), json.dumps(f)) for f in page])
        for row in db.execute("select type, count(*) from funding group by type order by 2 desc"):
            print(*row, sep="\t")
        db.close()
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    try:
        main()
    except (Trouble, OSError, http.client.HTTPException, ValueError, KeyError, TypeError, sqlite3.Error) as e:
        print("import failed, nothing was written:", e, file=sys.stderr)
        sys.exit(2)
