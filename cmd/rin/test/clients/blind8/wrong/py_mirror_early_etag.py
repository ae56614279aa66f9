#!/usr/bin/env python3
"""A mirror of the list on disk: every pass asks for each page with the ETag that it has of it."""
import hashlib, json, os, re, shutil, sys, tempfile, time, http.client
from email.utils import parsedate_to_datetime
from pathlib import Path
from urllib.parse import urlencode, urljoin, urlsplit

TOKEN_URL, LIST_URL = os.environ["RIN_TOKEN_URL"], os.environ["RIN_FUNDINGS_URL"]
SIZE, PASSES, PAUSE = 80, int(os.environ.get("MIRROR_PASSES", "3")), float(os.environ.get("MIRROR_PAUSE", "1.5"))


class MirrorError(Exception):
    pass


def site(url):
    p = urlsplit(url)
    return p.scheme, p.hostname, p.port or {"https": 443}.get(p.scheme, 80)


class Wire:
    """A persistent connection to one site."""

    def __init__(self, base):
        self.site, self.conn = site(base), None

    def call(self, method, url, headers, body=None):
        if site(url) != self.site:
            raise MirrorError(f"{url} is not on {self.site[1]}:{self.site[2]}")
        if self.conn is None:
            cls = http.client.HTTPSConnection if self.site[0] == "https" else http.client.HTTPConnection
            self.conn = cls(self.site[1], self.site[2], timeout=18)
        p = urlsplit(url)
        try:
            self.conn.request(method, p.path + ("?" + p.query if p.query else ""), body, headers)
            r = self.conn.getresponse()
            return r.status, r.headers, r.read()
        except (OSError, http.client.HTTPException):
            self.conn.close()
            self.conn = None
            raise


def wait_for(headers):
    v = (headers.get("retry-after") or "").strip()
    if re.fullmatch(r"\d+", v):
        return int(v)
    try:
        t = parsedate_to_datetime(v)
    except (TypeError, ValueError):
        return None
    try:
        n = parsedate_to_datetime(headers.get("date"))
        return max((t - n).total_seconds(), 0)
    except (TypeError, ValueError):
        return max(t.timestamp() - time.time(), 0)


def settle(wire, method, url, make_headers, body=None, parse=json.loads, on_head=lambda head, url: None):
    """Repeats until 200 with a complete body, 304, or an answer that no repetition betters."""
    tries = polite = hops = 0
    while True:
        doc = None
        try:
            status, headers, data = wire.call(method, url, make_headers(), body)
            if status == 200:
                on_head(headers, url)
                return status, headers, parse(data), url
            note = str(status)
        except (OSError, http.client.HTTPException, ValueError) as e:
            status, headers, note = 0, {}, f"{type(e).__name__}: {e}"
        if status in (429, 503) and wait_for(headers) is not None:
            polite += 1
            if polite > 5 or wait_for(headers) > 1800:
                raise MirrorError(f"{url}: {note} after {polite} waits")
            time.sleep(wait_for(headers) + 0.1)
        elif status in (301, 302, 307, 308):
            hops += 1
            if hops > 3 or not headers.get("location"):
                raise MirrorError(f"{url}: redirects without end")
            url = urljoin(url, headers["location"])
        elif status == 0 or status == 429 or status >= 500:
            tries += 1
            if tries > 3:
                raise MirrorError(f"{url}: {note}")
            time.sleep((0.3, 1, 2.5)[tries - 1])
        else:
            return status, headers, doc, url


class Account:
    def __init__(self):
        self.wire, self.token, self.stale_at = Wire(TOKEN_URL), "", 0.0

    def renew(self):
        form = urlencode({"grant_type": "client_credentials", "client_id": os.environ["RIN_CLIENT_ID"],
                          "client_secret": os.environ["RIN_CLIENT_SECRET"]})
        status, _, doc, _ = settle(self.wire, "POST", TOKEN_URL,
                                   lambda: {"Content-Type": "application/x-www-form-urlencoded"}, form)
        if status != 200 or not isinstance(doc, dict) or not doc.get("access_token"):
            raise MirrorError(f"no token, status {status}")
        self.token = doc["access_token"]
        life = doc.get("expires_in")
        self.stale_at = time.monotonic() + (float(life) * 0.8 if life else 1e9)

    def bearer(self):
        if not self.token or time.monotonic() > self.stale_at:
            self.renew()
        return "Bearer " + self.token


class Mirror:
    def __init__(self, folder):
        self.folder, self.account, self.wire = Path(folder), Account(), Wire(LIST_URL)
        self.records, self.missing = {}, {}

    def slot(self, url):
        return self.folder / (hashlib.sha1(url.encode()).hexdigest()[:16] + ".json")

    def page(self, url):
        slot = self.slot(url)
        kept = json.loads(slot.read_text()) if slot.exists() else None

        def on_head(head, at):      # what the head says is kept right away
            nonlocal kept
            link = ", ".join(head.get_all("link") or [])
            m = re.search(r'<([^>]*)>\s*;[^<]*?rel="?next"?', link)
            if head.get("etag"):
                kept = {"etag": head["etag"], "records": kept["records"] if kept else [],
                        "links": bool(link), "next": urljoin(at, m.group(1)) if m else None}
                slot.write_text(json.dumps(kept))

        def headers():
            h = {"Authorization": self.account.bearer(), "Accept": "application/json"}
            if kept:
                h["If-None-Match"] = kept["etag"]
            return h

        status, head, doc, at = settle(self.wire, "GET", url, headers, on_head=on_head)
        if status == 401:
            self.account.renew()
            status, head, doc, at = settle(self.wire, "GET", url, headers, on_head=on_head)
        if status == 304 and kept:
            return kept["records"], kept["links"], kept["next"], True
        if status != 200 or not isinstance(doc, list):
            raise MirrorError(f"{url}: status {status}, {type(doc).__name__}")
        link = ", ".join(head.get_all("link") or [])
        m = re.search(r'<([^>]*)>\s*;[^<]*?rel="?next"?', link)
        nxt = urljoin(at, m.group(1)) if m else None
        if head.get("etag") and doc and (len(doc) >= SIZE or not nxt):
            tmp = slot.with_suffix(".tmp")
            tmp.write_text(json.dumps({"etag": head["etag"], "records": doc, "links": bool(link), "next": nxt}))
            tmp.replace(slot)
        else:
            slot.unlink(missing_ok=True)
        return doc, bool(link), nxt, False

    def run(self):
        url, visited, now, same = LIST_URL + "?" + urlencode({"page[size]": SIZE, "page[page]": 0}), [], {}, 0
        offset = still = 0
        while url:
            if url in visited or len(visited) >= 300:
                raise MirrorError("the chain of pages does not end")
            visited.append(url)
            docs, links, nxt, unchanged = self.page(url)
            same += unchanged
            fresh = {d["id"]: d for d in docs if d["id"] not in now}
            still = still + 1 if docs and not fresh else 0
            if still > 2:
                raise MirrorError("pages come again and again")
            now.update(fresh)
            if not links and docs:
                offset += len(docs)
                nxt = LIST_URL + "?" + urlencode({"page[size]": SIZE, "page[page]": offset})
            if nxt and site(nxt) != site(LIST_URL):
                raise MirrorError(f"the next page is at another host: {nxt}")
            url = nxt
        for gone in set(self.records) - set(now):   # only after two passes without it
            self.missing[gone] = self.missing.get(gone, 0) + 1
            if self.missing[gone] >= 2:
                del self.records[gone]
        for i in now:
            self.missing.pop(i, None)
        self.records.update(now)
        return len(visited), same


def main():
    folder = tempfile.mkdtemp(prefix="mirror-")
    try:
        mirror = Mirror(folder)
        for n in range(PASSES):
            if n:
                time.sleep(PAUSE)
            pages, same = mirror.run()
            print(f"pass {n + 1}: {pages} pages, {same} unchanged, {len(mirror.records)} records")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


try:
    main()
except MirrorError as e:
    print("mirror:", e, file=sys.stderr)
    sys.exit(1)
