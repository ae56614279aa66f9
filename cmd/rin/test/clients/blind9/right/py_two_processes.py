#!/usr/bin/env python3
"""Two processes, one token file: one reads the programmes, the other the ongoing calls.

Started without an argument it starts both and adds up. The token file has mode 600, lives in a
folder of this run, and is changed under a lock; the same file says until when the node wants rest."""
import contextlib
import email.utils
import fcntl
import http.client
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from urllib.parse import urlencode, urljoin, urlsplit

ENV = os.environ
BASE = ENV["RIN_FUNDINGS_URL"]


class Stop(Exception):
    pass


def origin(u):
    return urlsplit(u)[:2]


class Shared:
    def __init__(self, folder):
        self.path = os.path.join(folder, "token.json")

    @contextlib.contextmanager
    def locked(self):
        fd = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        with os.fdopen(fd, "r+") as f:
            fcntl.flock(f, fcntl.LOCK_EX)
            text = f.read()
            state = json.loads(text) if text else {"token": None, "until": 0, "rest": 0, "unproven": 0, "hopeless": False}
            before = dict(state)
            try:
                yield state
            finally:
                if state != before:
                    f.seek(0)
                    f.truncate()
                    json.dump(state, f)
                    f.flush()

    def token(self, refused=None):
        with self.locked() as st:
            if st["token"] and st["token"] != refused and time.time() < st["until"]:
                return st["token"]
            if st["hopeless"] or st["unproven"] >= 2:  # the other process knows already
                raise Stop("no token that the node takes")
            body = urlencode({"grant_type": "client_credentials", "client_id": ENV["RIN_CLIENT_ID"],
                              "client_secret": ENV["RIN_CLIENT_SECRET"]})
            for n in range(6):
                status, h, text = raw("POST", ENV["RIN_TOKEN_URL"], body,
                                      {"Content-Type": "application/x-www-form-urlencoded"})
                if status not in (429, 503):
                    break
                if n < 5:
                    time.sleep(rest(h, n))
            if status != 200:
                st["hopeless"] = True
                raise Stop(f"token endpoint answers {status}")
            st["unproven"] += 1
            doc = json.loads(text)
            st["token"] = doc["access_token"]
            st["until"] = time.time() + max(1, float(doc.get("expires_in") or 3600) * 0.9)
            return st["token"]

    def proven(self, token):
        with self.locked() as st:
            if st["token"] == token:
                st["unproven"] = 0

    def brake(self, seconds):
        with self.locked() as st:
            st["rest"] = max(st["rest"], time.time() + seconds)

    def wait(self):
        while True:
            with self.locked() as st:
                left = st["rest"] - time.time()
            if left <= 0:
                return
            time.sleep(left + 0.02)


def raw(method, url, body=None, headers={}):
    u = urlsplit(url)
    cls = http.client.HTTPSConnection if u.scheme == "https" else http.client.HTTPConnection
    c = cls(u.netloc, timeout=20)
    try:
        c.request(method, u.path + ("?" + u.query if u.query else ""), body, headers)
        r = c.getresponse()
        return r.status, r.headers, r.read()
    finally:
        c.close()


def rest(h, n):
    v = (h.get("Retry-After") or "").strip()
    if v.isdigit():
        return max(1, int(v)) + 0.05
    t = email.utils.parsedate_tz(v) if v else None
    return max(1, email.utils.mktime_tz(t) - time.time() + 0.05) if t else 1.5 * 2 ** n


def get(shared, url):
    hops = tries = 0
    renewed = False
    token = shared.token()
    while True:
        shared.wait()
        status, h, text = raw("GET", url, None, {"Authorization": "Bearer " + token, "Accept": "application/json"})
        if status in (429, 503) and tries < 6:
            shared.brake(rest(h, tries))
            tries += 1
        elif status == 401 and not renewed:
            renewed = True
            token = shared.token(refused=token)
        elif status in (301, 302, 303, 307, 308) and hops < 5 and origin(urljoin(url, h.get("Location", ""))) == origin(url):
            hops += 1
            url = urljoin(url, h["Location"])
        elif status == 200:
            shared.proven(token)
            page = json.loads(text)
            if not isinstance(page, list):
                raise Stop("answer is no list")
            return url, h, page
        else:
            raise Stop(f"{status} at {url}")


def child(kind, folder):
    shared = Shared(folder)
    query = {"fundingType": kind, "page[size]": 10}
    url, asked, read, seen = BASE + "?" + urlencode(query), set(), 0, {}
    while url:
        if url in asked or origin(url) != origin(BASE):
            raise Stop(f"will not follow {url}")
        asked.add(url)
        at, h, page = get(shared, url)
        for f in page:
            seen[f["id"]] = f
        read += len(page)
        links = ", ".join(h.get_all("Link") or [])
        m = re.search(r'(?i)<([^>]*)>[^<]*?;\s*rel\s*=\s*"?(?:[^"<]*\s)?next\b', links)
        if m:
            url = urljoin(at, m[1])
        elif page and not links:
            url = BASE + "?" + urlencode(query | {"page[page]": read})
        else:
            url = None
    print(json.dumps(sorted(seen)))


def main():
    folder = tempfile.mkdtemp(prefix="rin-token-")
    try:
        children = {k: subprocess.Popen([sys.executable, __file__, k, folder], stdout=subprocess.PIPE)
                    for k in ("PROGRAMME", "ONGOING_CALL")}
        failed = False
        for kind, p in children.items():
            out, _ = p.communicate()
            if p.returncode:
                failed = True
                print(kind, "incomplete", file=sys.stderr)
            else:
                print(kind, len(json.loads(out)))
        return 1 if failed else 0
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        try:
            child(*sys.argv[1:])
        except (Stop, OSError, http.client.HTTPException, ValueError, KeyError, TypeError) as e:
            sys.exit(f"{sys.argv[1]}: {e!r}")
    else:
        sys.exit(main())
