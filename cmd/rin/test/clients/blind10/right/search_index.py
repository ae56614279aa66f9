"""Builds a search index: four threads, each takes one filter after the other from a list, reads it page by page through a
generator, and puts the words of names and descriptions into an inverted index. One failure ends the build."""
import json, os, re, sys, threading, time, queue
from collections import defaultdict
from email.utils import parsedate_to_datetime as pdate
import requests
from urllib.parse import urljoin, urlsplit

E = os.environ
HOME = urlsplit(E["RIN_FUNDINGS_URL"])
jobs, stop = queue.Queue(), threading.Event()
for reg in ("VIENNA", "TYROL", "STYRIA", "SALZBURG"):
    jobs.put({"region": reg, "runningCalls": "true"})
for scope in ("NATIONAL", "REGIONAL"):
    jobs.put({"applicantsScope": scope, "runningCalls": "true"})
index, docs, ilock = defaultdict(set), {}, threading.Lock()


class Node:
    def __init__(self):
        self.lock, self.gate, self.resume, self.tok = threading.Lock(), threading.Lock(), 0.0, None
        self.good, self.renewed = None, False

    def send(self, ses, method, url, **kw):
        for n in range(6):
            while True:
                with self.gate:
                    left = self.resume - time.monotonic()
                if left <= 0:
                    break
                time.sleep(left)
            if stop.is_set():
                raise RuntimeError("another thread gave up")
            r = ses.request(method, url, timeout=30, allow_redirects=False, **kw)
            if r.status_code not in (429, 503):
                return r
            v = r.headers.get("Retry-After", "2")
            w = int(v) if v.isdigit() else (pdate(v) - pdate(r.headers["Date"])).total_seconds()
            if w > 15:
                return r
            with self.gate:
                self.resume = max(self.resume, time.monotonic() + max(w, 0.3) + 0.05)
        return r

    def token(self, ses, bad=None):
        with self.lock:
            if self.tok is None or self.tok == bad:
                if bad and self.renewed and self.good != bad:
                    raise RuntimeError("the new token is refused, too")
                self.renewed = bad is not None
                r = self.send(ses, "POST", E["RIN_TOKEN_URL"], data={"grant_type": "client_credentials",
                              "client_id": E["RIN_CLIENT_ID"], "client_secret": E["RIN_CLIENT_SECRET"]})
                r.raise_for_status()
                self.tok = r.json()["access_token"]
            return self.tok

    def pages(self, ses, flt):
        url, par, seen = E["RIN_FUNDINGS_URL"], {**flt, "page[size]": 30}, set()
        offset = 0
        while url:
            if urlsplit(url)[:2] != HOME[:2]:
                raise RuntimeError(f"foreign link {url}")
            t = self.token(ses)
            r = self.send(ses, "GET", url, params=par, headers={"Authorization": "Bearer " + t})
            if r.status_code == 401:
                r = self.send(ses, "GET", url, params=par, headers={"Authorization": "Bearer " + self.token(ses, t)})
                if r.status_code == 401:
                    stop.set()
            if r.status_code != 200:
                raise RuntimeError(f"{r.status_code} for {r.url}")
            if r.url in seen:
                raise RuntimeError("circle")
            seen.add(r.url)
            self.good = self.tok
            rows = r.json()
            yield rows
            url, par = r.links.get("next", {}).get("url"), None
            if url:
                url = urljoin(r.url, url)
            elif rows and "Link" not in r.headers:      # no links: until an empty page
                offset += 30
                url, par = E["RIN_FUNDINGS_URL"], {**flt, "page[size]": 30, "page[page]": offset}


node, errors = Node(), []


def work():
    with requests.Session() as ses:
        while not stop.is_set():
            try:
                flt = jobs.get_nowait()
            except queue.Empty:
                return
            try:
                for rows in node.pages(ses, flt):
                    with ilock:
                        for r in rows:
                            docs[r["id"]] = r["type"]
                            for m in ("name", "description"):
                                for t in r.get(m, []):
                                    for w in re.findall(r"\w{4,}", t["text"].lower()):
                                        index[w].add(r["id"])
            except Exception as e:
                errors.append(f"{flt}: {e!r}")
                stop.set()


ts = [threading.Thread(target=work) for _ in range(4)]
[t.start() for t in ts]
[t.join() for t in ts]
if errors:
    sys.exit("index not built: " + "; ".join(errors))
print(len(docs), "documents,", len(index), "words; climate:", sorted(index["climate"])[:5])
