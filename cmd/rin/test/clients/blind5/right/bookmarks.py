"""Checks the fundings that users of an intranet page have bookmarked.

Each bookmark is looked up by its id. One that the node no longer knows is
reported as withdrawn, which is a result and not an error.
"""
import email.utils
import http.client
import json
import os
import sys
import time
from urllib.parse import quote, urlencode, urljoin, urlsplit

ENV = os.environ
BOOKMARKS = ["XF-00000002", "XF-00000010", "XF-00000033", "XF-09999999"]
END = time.monotonic() + 80


class Failed(Exception):
    pass


class Wire:
    """One kept connection to one host."""

    def __init__(self, url):
        self.parts = urlsplit(url)
        self.conn = None

    def once(self, method, target, headers, body):
        if self.conn is None:
            kind = http.client.HTTPSConnection if self.parts.scheme == "https" else http.client.HTTPConnection
            self.conn = kind(self.parts.netloc, timeout=15)
        try:
            self.conn.request(method, target, body, headers)
            r = self.conn.getresponse()
            return r, r.read()
        except (OSError, http.client.HTTPException):
            self.conn.close()
            self.conn = None
            raise

    def send(self, method, url, headers, body=None):
        hops = 0
        for attempt in range(6):
            pause = 0.5 * 2 ** attempt
            try:
                while True:
                    p = urlsplit(url)
                    r, data = self.once(method, p.path + ("?" + p.query if p.query else ""), headers, body)
                    if r.status not in (301, 302, 303, 307, 308):
                        break
                    url = urljoin(url, r.getheader("Location", ""))
                    hops += 1
                    if urlsplit(url)[:2] != self.parts[:2] or hops > 4 or method != "GET":
                        raise Failed("redirect not followed")
                if r.status == 200:
                    return 200, json.loads(data)
                if r.status not in (429, 500, 502, 503, 504):
                    return r.status, None
                why = "status %d" % r.status
                pause = self.pause(r.getheader("Retry-After"), pause)
            except (OSError, http.client.HTTPException, ValueError) as e:
                why = type(e).__name__
            if attempt == 5 or time.monotonic() + pause > END:
                break
            time.sleep(pause)
        raise Failed(why)

    @staticmethod
    def pause(value, otherwise):
        try:
            return float(int(value))
        except (TypeError, ValueError):
            pass
        try:
            return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time()) + 1
        except (TypeError, ValueError):
            return otherwise


class Client:
    def __init__(self):
        self.api = Wire(ENV["RIN_FUNDINGS_URL"])
        self.token, self.until = None, 0.0

    def login(self):
        form = urlencode({"grant_type": "client_credentials", "client_id": ENV["RIN_CLIENT_ID"],
                          "client_secret": ENV["RIN_CLIENT_SECRET"]})
        status, data = Wire(ENV["RIN_TOKEN_URL"]).send(
            "POST", ENV["RIN_TOKEN_URL"],
            {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}, form)
        if status != 200 or "access_token" not in data:
            raise Failed("no token, status %d" % status)
        self.token = data["access_token"]
        self.until = time.monotonic() + 0.8 * float(data.get("expires_in") or 60)

    def look_up(self, key):
        for second in (False, True):
            if self.token is None or time.monotonic() > self.until:
                self.login()
            status, data = self.api.send(
                "GET", ENV["RIN_FUNDINGS_URL"] + "/" + quote(key, safe=""),
                {"Authorization": "Bearer " + self.token, "Accept": "application/json"})
            if status != 401 or second:
                return status, data
            self.token = None


def main():
    client = Client()
    for key in BOOKMARKS:
        status, data = client.look_up(key)
        if status in (404, 410):
            print(key, "withdrawn")
        elif status == 200 and data.get("id") == key:
            names = {n["lang"]: n["text"] for n in data.get("name", [])}
            print(key, names.get("en") or names.get("de") or "?")
        else:
            raise Failed("%s: status %d" % (key, status))


try:
    main()
except (Failed, KeyError) as e:
    sys.exit("bookmarks not checked: %s" % e)
