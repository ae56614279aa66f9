#!/usr/bin/env python3
"""Monitor of one page: the ten first running calls, looked at four times, with If-None-Match.

The httpx.Auth class asks without a token first, like a browser, and logs in when it is challenged."""
import email.utils
import os
import sys
import time

import httpx


class ClientCredentials(httpx.Auth):
    def __init__(self, url, client_id, secret, home):
        self.url, self.client_id, self.secret, self.home = url, client_id, secret, httpx.URL(home)
        self.token = None

    def at_home(self, url):
        return (url.scheme, url.host, url.port) == (self.home.scheme, self.home.host, self.home.port)

    def auth_flow(self, request):
        if not self.at_home(request.url):
            yield request
            return
        if self.token:
            request.headers["Authorization"] = "Bearer " + self.token
        response = yield request
        left = 1 if self.token else 2  # the first 401 without a token is no refusal
        while response.status_code == 401 and left and self.at_home(response.url):
            left -= 1
            self.login()
            request.headers["Authorization"] = "Bearer " + self.token
            response = yield request

    def login(self):
        form = {"grant_type": "client_credentials", "client_id": self.client_id, "client_secret": self.secret}
        with httpx.Client(timeout=20, follow_redirects=False, trust_env=False) as c:
            for attempt in range(6):
                r = c.post(self.url, data=form)
                if r.status_code not in (429, 503):
                    break
                if attempt < 5:
                    time.sleep(seconds(r, attempt))
        if r.status_code != 200:
            raise RuntimeError(f"login answers {r.status_code}")
        self.token = r.json()["access_token"]


def seconds(response, attempt):
    v = response.headers.get("retry-after", "").strip()
    if v.isdigit():
        return max(1, int(v))
    t = email.utils.parsedate_tz(v) if v else None
    if t:
        return max(1, email.utils.mktime_tz(t) - time.time())
    return 1.5 * (attempt + 1)


class Page:
    def __init__(self, client, url, params):
        self.client, self.url, self.params = client, url, params
        self.etag, self.records = None, None

    def look(self):
        """True if the page has changed."""
        for attempt in range(6):
            headers = {"If-None-Match": self.etag} if self.etag else {}
            r = self.client.get(self.url, params=self.params, headers=headers)
            if r.status_code not in (429, 503):
                break
            if attempt < 5:
                time.sleep(seconds(r, attempt))
        if r.status_code == 304 and self.records is not None:
            return False
        if r.status_code != 200:
            raise RuntimeError(f"{r.status_code} at {r.url}")
        records = r.json()
        if not isinstance(records, list):
            raise RuntimeError("not a list")
        changed = records != self.records
        self.records, self.etag = records, r.headers.get("etag")
        return changed


def main():
    env = os.environ
    auth = ClientCredentials(env["RIN_TOKEN_URL"], env["RIN_CLIENT_ID"], env["RIN_CLIENT_SECRET"],
                             env["RIN_FUNDINGS_URL"])
    with httpx.Client(auth=auth, timeout=20, follow_redirects=True, trust_env=False) as client:
        page = Page(client, env["RIN_FUNDINGS_URL"], {"runningCalls": "true", "page[size]": "10"})
        for look in range(4):
            if look:
                time.sleep(0.8)
            if page.look():
                print("page has changed:", " ".join(f["id"] for f in page.records), flush=True)
            else:
                print("no change", flush=True)


try:
    main()
except (RuntimeError, httpx.HTTPError, ValueError, KeyError, TypeError) as e:
    sys.exit(f"monitor: {e!r}")
