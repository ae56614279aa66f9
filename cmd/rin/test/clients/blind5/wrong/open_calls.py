"""Feeds the "open calls" box of an intranet: all running calls with their deadlines."""
import email.utils
import json
import os
import random
import re
import sys
import tempfile
import time
from urllib.parse import urljoin, urlsplit

import httpx

ENV = os.environ
FILTERS = {"runningCalls": "true"}
SIZE = 30
END = time.monotonic() + 90


class Failed(Exception):
    pass


def pause_asked(r):
    value = r.headers.get("retry-after", "").strip()
    if value.isdigit():
        return float(value)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time()) + 1
    except (TypeError, ValueError):
        return None


class Funding:
    def __init__(self, http):
        self.http = http
        self.base = ENV["RIN_FUNDINGS_URL"]
        self.token, self.until = None, 0.0

    def attempt(self, method, url, **kw):
        why = ""
        for n in range(6):
            pause = None
            try:
                r = self.http.request(method, url, **kw)
                hops = 0
                while r.is_redirect and method == "GET":
                    target, hops = urljoin(str(r.request.url), r.headers["location"]), hops + 1
                    if hops > 5 or urlsplit(target)[:2] != urlsplit(url)[:2]:
                        raise Failed("redirect that is not followed")
                    r = self.http.get(target, headers=kw.get("headers"))
                if r.status_code == 200:
                    return r, r.json()
                if r.status_code not in (429, 500, 502, 503, 504):
                    return r, None
                why, pause = "status %d" % r.status_code, pause_asked(r)
            except (httpx.TransportError, httpx.DecodingError, json.JSONDecodeError) as e:
                why = type(e).__name__
            if pause is None:
                pause = 0.5 * 2 ** n + random.uniform(0, 0.3)
            if n == 5 or time.monotonic() + pause > END:
                break
            time.sleep(pause)
        raise Failed("given up: " + why)

    def login(self):
        r, data = self.attempt("POST", ENV["RIN_TOKEN_URL"], data={
            "grant_type": "client_credentials",
            "client_id": ENV["RIN_CLIENT_ID"],
            "client_secret": ENV["RIN_CLIENT_SECRET"],
        })
        if data is None:
            raise Failed("no token: status %d" % r.status_code)
        self.token = data["access_token"]
        self.until = time.monotonic() + 0.8 * (data.get("expires_in") or 60)

    def get(self, params):
        for second in (False, True):
            if self.token is None or time.monotonic() > self.until:
                self.login()
            r, data = self.attempt("GET", self.base, params=params,
                                   headers={"Authorization": "Bearer " + self.token})
            if r.status_code == 401 and not second:
                self.token = None
                continue
            if data is None:
                raise Failed("status %d" % r.status_code)
            return r, data

    def pages(self, **filters):
        skip = 0
        r, data = self.get({**filters, "page[page]": skip, "page[size]": SIZE})
        yield data
        while "next" in r.links:
            following = r.links["next"]["url"]
            spot = re.search(r"page(?:%5B|\[)page(?:%5D|\])=(\d+)", following, re.I)
            if not spot or int(spot.group(1)) <= skip:
                raise Failed("the next link does not lead on")
            skip = int(spot.group(1))
            r, data = self.get({"page[page]": skip, "page[size]": SIZE})
            yield data


def deadline(funding):
    ends = [s["callStageEnd"] for s in funding.get("callStages") or [] if s.get("callStageEnd")]
    return min(ends) if ends else None


def main():
    box = {}
    with httpx.Client(timeout=20) as http:
        for page in Funding(http).pages(**FILTERS):
            for f in page:
                names = {n["lang"]: n["text"] for n in f.get("name") or []}
                box[f["id"]] = {"id": f["id"], "name": names.get("en") or names.get("de"), "end": deadline(f)}
    items = sorted(box.values(), key=lambda item: (item["end"] is None, item["end"] or ""))
    path = os.path.join(tempfile.mkdtemp(prefix="open-calls-"), "box.json")
    with open(path + ".new", "w", encoding="utf-8") as out:
        json.dump(items, out, ensure_ascii=False, indent=1)
    os.replace(path + ".new", path)
    print("%d open calls" % len(items))


try:
    main()
except (Failed, KeyError, OSError) as e:
    sys.exit("box not updated: %s" % e)
