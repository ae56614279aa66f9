#!/usr/bin/env python3
"""Collects all calls, page by page, and prints how many end in each month."""
import collections, email.utils, http.client, json, os, signal, sys, time
import urllib.error, urllib.request
from urllib.parse import urlencode, urljoin, urlsplit

STOP_AT = time.monotonic() + 17


class Keep(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args):
        return None


web = urllib.request.build_opener(Keep)


def pause_for(headers, least):
    v = headers.get("Retry-After")
    if v and v.strip().isdigit():
        return max(least, int(v) + .05)
    if v:
        try:
            return max(least, email.utils.parsedate_to_datetime(v).timestamp() - time.time() + .05)
        except (TypeError, ValueError):
            pass
    return least


def ask(url, headers, data=None):
    for n, pause in enumerate((.4, .8, 1.6, 3.2, 0)):
        try:
            with web.open(urllib.request.Request(url, data, headers),
                          timeout=max(1, min(7, STOP_AT - time.monotonic()))) as r:
                return r.status, r.headers, json.load(r)
        except urllib.error.HTTPError as e:
            e.close()
            if e.code < 500 and e.code != 429:
                return e.code, e.headers, None
            why, pause = f"HTTP {e.code}", pause_for(e.headers, pause)
        except (OSError, ValueError, http.client.HTTPException) as e:
            why = type(e).__name__
        if n == 4 or time.monotonic() + pause > STOP_AT:
            sys.exit(f"newsletter: {why}")
        time.sleep(pause)


class Token:
    value = None

    @classmethod
    def new(cls):
        status, _, body = ask(os.environ["RIN_TOKEN_URL"],
                              {"Content-Type": "application/x-www-form-urlencoded"},
                              urlencode({"grant_type": "client_credentials",
                                         "client_id": os.environ["RIN_CLIENT_ID"],
                                         "client_secret": os.environ["RIN_CLIENT_SECRET"]}).encode())
        if status != 200:
            sys.exit(f"newsletter: no token, HTTP {status}")
        cls.value = body["access_token"]


def get(url):
    for fresh in (False, True):
        if fresh or Token.value is None:
            Token.new()
        status, headers, body = ask(url, {"Authorization": f"Bearer {Token.value}"})
        if status != 401:
            break
    if status != 200:
        sys.exit(f"newsletter: HTTP {status}")
    return headers, body


def pages(size=40):
    home = os.environ["RIN_FUNDINGS_URL"]
    url = home + "?" + urlencode({"fundingType": "CALL", "page[page]": 0, "page[size]": size})
    while url:
        headers, page = get(url)
        if not page:
            return                      # past the end
        yield page
        follow = None
        for link in ", ".join(headers.get_all("Link") or []).split(", <"):
            target, _, rest = link.lstrip("<").partition(">")
            if 'rel="next"' in rest:
                follow = urljoin(url, target)
        if follow and urlsplit(follow)[:2] != urlsplit(home)[:2]:
            sys.exit("newsletter: next link leads elsewhere")
        url = follow


def late(*_):
    sys.exit("newsletter: out of time")


signal.signal(signal.SIGALRM, late)
signal.alarm(20)
calls = {}
for p in pages():
    calls.update((c["id"], c) for c in p)
months = collections.Counter((c.get("callStages") or [{}])[0].get("callStageEnd", "open")[:7] for c in calls.values())
for m, n in sorted(months.items()):
    print(m, n)
print(len(calls), "calls")
