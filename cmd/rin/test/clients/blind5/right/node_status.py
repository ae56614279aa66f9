"""Monitoring check: is the node of the registry reachable, and does it hand out fundings?

Reads the registry, asks the node for a token, its info and the newest handful of
calls (a sample of five, no more), and prints one status line.
"""
import json
import os
import sys
import time
from email.utils import parsedate_to_datetime
from urllib.parse import urljoin, urlsplit

import httpx

ENV = os.environ
SAMPLE = 5
END = time.monotonic() + 60


class Critical(Exception):
    pass


def place(url):
    p = urlsplit(url)
    return p.scheme, p.netloc


def wanted_pause(response, fallback):
    value = response.headers.get("retry-after", "").strip()
    if value.isdigit():
        return int(value)
    try:
        return max(0, parsedate_to_datetime(value).timestamp() - time.time()) + 1
    except (TypeError, ValueError):
        return fallback


def ask(client, method, url, **kw):
    problem = None
    for attempt in range(5):
        pause = 0.7 * 2 ** attempt
        try:
            r = client.request(method, url, **kw)
            hops = 0
            while r.is_redirect and hops < 4:
                target = urljoin(str(r.request.url), r.headers["location"])
                if place(target) != place(url):
                    raise Critical("redirected elsewhere")
                if method == "POST" and r.status_code not in (307, 308):
                    raise Critical("token endpoint redirects")
                again = {k: v for k, v in kw.items() if k != "params"}
                r = client.request(method, target, **again)
                hops += 1
            if r.status_code == 200:
                return r, r.json()
            if r.status_code not in (429, 500, 502, 503, 504):
                return r, None
            problem = "status %d" % r.status_code
            pause = wanted_pause(r, pause)
        except (httpx.TransportError, httpx.DecodingError, json.JSONDecodeError) as e:
            problem = type(e).__name__
        if attempt == 4 or time.monotonic() + pause > END:
            break
        time.sleep(pause)
    raise Critical("%s: %s" % (urlsplit(url).path, problem))


def entry(client):
    _, registry = ask(client, "GET", ENV["RIN_REGISTRY_URL"])
    for member in (registry or {}).get("member", []):
        if member["id"] == ENV["RIN_NODE_ID"]:
            return member
    raise Critical("the registry does not list " + ENV["RIN_NODE_ID"])


def fetch_token(client, member):
    r, data = ask(client, "POST", member["oauth2"], data={
        "grant_type": "client_credentials",
        "client_id": ENV["RIN_CLIENT_ID"],
        "client_secret": ENV["RIN_CLIENT_SECRET"],
    })
    if not data or "access_token" not in data:
        raise Critical("no token (%d)" % r.status_code)
    return data["access_token"]


def main():
    began = time.monotonic()
    with httpx.Client(timeout=15, follow_redirects=False) as client:
        member = entry(client)
        token = fetch_token(client, member)
        renewals = 0

        def api(url, params=None):
            nonlocal token, renewals
            while True:
                r, data = ask(client, "GET", url, params=params,
                              headers={"Authorization": "Bearer " + token})
                if r.status_code == 401 and renewals == 0:
                    renewals += 1
                    token = fetch_token(client, member)
                    continue
                if data is None:
                    raise Critical("%s: status %d" % (urlsplit(url).path, r.status_code))
                return data

        info = api(member["info"])
        listed = [e["url"] for e in info.get("endpoints", {}).get("funding", [])
                  if e.get("name") == "FUNDINGS" and e.get("majorVersion") == 3]
        if not listed:
            raise Critical("no funding API of version 3 in the info")
        where = urljoin(member["info"], listed[0])
        if place(where) != place(member["info"]):
            raise Critical("the info names a foreign host")
        sample = api(where, {"fundingType": "CALL", "page[size]": str(SAMPLE)})
    if len(sample) > SAMPLE or any("id" not in f for f in sample):
        raise Critical("odd records")
    print("OK %s: token, info and %d sample calls in %.1f s"
          % (member["id"], len(sample), time.monotonic() - began))


try:
    main()
except (Critical, KeyError, TypeError) as e:
    print("CRITICAL %s" % e)
    sys.exit(2)
