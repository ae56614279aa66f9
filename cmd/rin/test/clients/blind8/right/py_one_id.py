#!/usr/bin/env python3
"""funding-show ID: one funding in full, with requests."""
import sys, os, time, json
from email.utils import parsedate_to_datetime
from urllib.parse import urljoin, urlsplit, quote
import requests


def die(text):
    sys.stderr.write("funding-show: " + text + "\n")
    raise SystemExit(3)


def origin(url):
    u = urlsplit(url)
    return u.scheme, u.hostname, u.port or dict(http=80, https=443)[u.scheme]


def seconds(response):
    v = response.headers.get("Retry-After", "").strip()
    if not v:
        return None
    if v.isdigit():
        return int(v)
    try:
        at = parsedate_to_datetime(v)
        now = response.headers.get("Date")
        return max(0.0, at.timestamp() - (parsedate_to_datetime(now).timestamp() if now else time.time()))
    except (ValueError, TypeError):
        return None


session = requests.Session()
session.headers["Accept"] = "application/json"


def ask(method, url, **options):
    pauses = iter([0.5, 1.5, 3.0])
    told = hops = 0
    while True:
        try:
            r = session.request(method, url, timeout=(5, 20), allow_redirects=False, **options)
            if r.status_code == 200:
                return r, r.json()
            trouble = f"{r.status_code} {r.reason}"
        except (requests.RequestException, ValueError) as e:
            r, trouble = None, type(e).__name__
        if r is not None and r.status_code in (429, 503) and seconds(r) is not None:
            told += 1
            if told > 5 or seconds(r) > 600:
                die(f"{url}: {trouble}")
            time.sleep(seconds(r) + 0.1)
            continue
        if r is not None and r.is_redirect:
            target = urljoin(url, r.headers["Location"])
            hops += 1
            if hops > 3 or origin(target) != origin(url):
                die(f"will not follow to {target}")
            url = target
            continue
        if r is None or r.status_code == 429 or r.status_code >= 500:
            pause = next(pauses, None)
            if pause is None:
                die(f"{url}: {trouble}")
            time.sleep(pause)
            continue
        return r, None


def token():
    r, doc = ask("POST", os.environ["RIN_TOKEN_URL"], data={
        "grant_type": "client_credentials", "client_id": os.environ["RIN_CLIENT_ID"],
        "client_secret": os.environ["RIN_CLIENT_SECRET"]})
    if not isinstance(doc, dict) or not doc.get("access_token"):
        die(f"no token ({r.status_code})")
    return doc["access_token"]


def main():
    if len(sys.argv) != 2:
        die("which id?")
    url = os.environ["RIN_FUNDINGS_URL"].rstrip("/") + "/" + quote(sys.argv[1], safe="")
    for attempt in (1, 2):
        r, doc = ask("GET", url, headers={"Authorization": "Bearer " + token()})
        if r.status_code != 401:
            break
    if r.status_code != 200:
        die(f"{r.status_code} for {sys.argv[1]}: {r.headers.get('WWW-Authenticate') or r.text[:200]}")
    if not isinstance(doc, dict) or doc.get("id") != sys.argv[1]:
        die("the answer is another record")
    json.dump(doc, sys.stdout, ensure_ascii=False, indent=1)
    print()


main()
