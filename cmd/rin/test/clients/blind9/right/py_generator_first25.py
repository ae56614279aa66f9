#!/usr/bin/env python3
"""First 25 fundings for universities: a lazy generator on one http.client connection. Pages that nobody needs are not read."""
import email.utils
import http.client
import itertools
import json
import os
import sys
import time
from urllib.parse import quote, urlencode, urljoin, urlsplit

N = 25


class ApiError(Exception):
    pass


class Funder:
    def __init__(self, list_url, token_url, client_id, secret):
        self.list_url, self.token_url = list_url, token_url
        self.form = urlencode({"grant_type": "client_credentials", "client_id": client_id, "client_secret": secret})
        self.token, self.conn, self.conn_to = None, None, None

    def exchange(self, method, url, body=None, headers=None):
        u = urlsplit(url)
        if self.conn_to != (u.scheme, u.netloc):
            if self.conn:
                self.conn.close()
            kind = http.client.HTTPSConnection if u.scheme == "https" else http.client.HTTPConnection
            self.conn, self.conn_to = kind(u.netloc, timeout=20), (u.scheme, u.netloc)
        path = (u.path or "/") + (f"?{u.query}" if u.query else "")
        for attempt in range(7):
            self.conn.request(method, path, body, headers or {})
            r = self.conn.getresponse()
            data = r.read()
            if r.status in (429, 503) and attempt < 6:
                time.sleep(self.pause(r, attempt))
                continue
            return r, data

    @staticmethod
    def pause(r, attempt):
        value = r.getheader("Retry-After", "").strip()
        try:
            return max(1, int(value)) + 0.05
        except ValueError:
            pass
        t = email.utils.parsedate_tz(value)
        return max(1.0, email.utils.mktime_tz(t) - time.time() + 0.1) if t else 1.0 + attempt

    def login(self):
        r, data = self.exchange("POST", self.token_url, self.form, {"Content-Type": "application/x-www-form-urlencoded"})
        if r.status != 200:
            raise ApiError(f"login: {r.status}")
        self.token = json.loads(data)["access_token"]

    def get(self, url):
        for hop in range(6):
            if urlsplit(url)[:2] != urlsplit(self.list_url)[:2]:
                raise ApiError(f"{url} is not on this node")
            if not self.token:
                self.login()
            auth = {"Authorization": "Bearer " + self.token}
            r, data = self.exchange("GET", url, headers=auth)
            if r.status == 401:
                self.login()
                r, data = self.exchange("GET", url, headers={"Authorization": "Bearer " + self.token})
            if r.status in (301, 302, 303, 307, 308) and r.getheader("Location"):
                url = urljoin(url, r.getheader("Location"))
                continue
            if r.status != 200:
                raise ApiError(f"{r.status} {r.reason}")
            return url, r, json.loads(data)
        raise ApiError("too many redirects")

    def fundings(self, **query):
        size, start = 10, 0
        first = f"{self.list_url}?{urlencode(query)}&{quote('page[size]')}={size}"
        url, seen, visited = first, set(), set()
        while url not in visited:
            visited.add(url)
            at, r, page = self.get(url)
            if not isinstance(page, list):
                raise ApiError("not a list")
            for f in page:
                if f["id"] not in seen:
                    seen.add(f["id"])
                    yield f
            start += len(page)
            link = self.next(r.headers.get_all("Link") or [])
            if link:
                url = urljoin(at, link)
            elif page and r.getheader("Link") is None:
                url = f"{first}&{quote('page[page]')}={start}"
            else:
                return
        raise ApiError("the list has no end: its next link was read already")

    @staticmethod
    def next(values):
        for part in ",".join(values).split(","):
            target, *params = part.split(";")
            if any(p.strip().replace('"', "").lower() == "rel=next" for p in params):
                return target.strip().strip("<>")


def main():
    e = os.environ
    api = Funder(e["RIN_FUNDINGS_URL"], e["RIN_TOKEN_URL"], e["RIN_CLIENT_ID"], e["RIN_CLIENT_SECRET"])
    for f in itertools.islice(api.fundings(targetGroup="UNIVERSITY"), N):
        names = {n["lang"]: n["text"] for n in f["name"]}
        print(f["id"], names.get("en") or names.get("de"))


if __name__ == "__main__":
    try:
        main()
    except (ApiError, OSError, http.client.HTTPException, ValueError, KeyError, TypeError) as err:
        print("error:", err, file=sys.stderr)
        sys.exit(1)
