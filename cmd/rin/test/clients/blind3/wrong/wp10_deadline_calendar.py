#!/usr/bin/env python3
"""Deadlines of the running calls as an iCalendar file."""
import datetime
import email.utils
import http.client
import json
import os
import signal
import socket
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from urllib.error import HTTPError, URLError

API = os.environ["RIN_FUNDINGS_URL"]
until = time.monotonic() + 17


def log(*words):
    print("calendar:", *words, file=sys.stderr)


def urlopen(request):
    """urllib.request.urlopen with repeats."""
    for pause in (0.5, 1, 2, 4, None):
        try:
            with urllib.request.urlopen(request, timeout=max(1, min(7, until - time.monotonic()))) as r:
                return r.status, r.headers, r.geturl(), json.loads(r.read())
        except HTTPError as e:
            e.close()
            if e.code not in (429, 500, 502, 503, 504):
                return e.code, e.headers, e.geturl(), None
            reason = f"HTTP {e.code}"
            told = e.headers.get("Retry-After")
            if told and pause:
                try:
                    secs = float(told)
                except ValueError:
                    try:
                        secs = email.utils.parsedate_to_datetime(told).timestamp() - time.time()
                    except (TypeError, ValueError):
                        secs = 0
                pause = max(pause, secs + 0.1)
        except (URLError, socket.timeout, ConnectionError, http.client.HTTPException, ValueError) as e:
            reason = type(e).__name__
        if pause is None or time.monotonic() + pause > until:
            break
        log(reason, "- again in", round(pause, 1), "s")
        time.sleep(pause)
    log(reason, "- given up")
    sys.exit(1)


class Session:
    def __init__(self):
        self.token = None

    def login(self):
        form = urllib.parse.urlencode({"grant_type": "client_credentials",
                                       "client_id": os.environ["RIN_CLIENT_ID"],
                                       "client_secret": os.environ["RIN_CLIENT_SECRET"]})
        status, _, _, body = urlopen(urllib.request.Request(os.environ["RIN_TOKEN_URL"], form.encode("ascii")))
        if status != 200:
            log("no token: HTTP", status)
            sys.exit(1)
        self.token = body["access_token"]

    def get(self, url):
        for n in range(2):
            if self.token is None:
                self.login()
            req = urllib.request.Request(url)
            req.add_header("Authorization", "Bearer " + self.token)
            req.add_header("Accept", "application/json")
            status, headers, final, body = urlopen(req)
            if status != 401:
                break
            self.token = None
        if status != 200:
            log("HTTP", status)
            sys.exit(1)
        return headers, final, body


def calls(session):
    url = API + "?runningCalls=true&page%5Bpage%5D=0&page%5Bsize%5D=50"
    while url:
        headers, final, rows = session.get(url)
        yield from rows
        url = None
        for link in urllib.request.parse_http_list(", ".join(headers.get_all("Link", []))):
            target, _, params = link.partition(">")
            if 'rel="next"' in params:
                url = urllib.parse.urljoin(final, target.lstrip(" <"))
        if url and urllib.parse.urlsplit(url)[:2] != urllib.parse.urlsplit(API)[:2]:
            log("the next page is on another server")
            sys.exit(1)


def ics(records):
    yield "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//muster//calls//EN\r\n"
    for c in records:
        for s in c.get("callStages", []):
            if s.get("callStageEnd"):
                at = datetime.datetime.fromisoformat(s["callStageEnd"]).astimezone(datetime.timezone.utc)
                yield (f"BEGIN:VEVENT\r\nUID:{c['id']}-{s.get('number', 1)}\r\n"
                       f"DTSTART:{at:%Y%m%dT%H%M%SZ}\r\nSUMMARY:{c['name'][0]['text']}\r\nEND:VEVENT\r\n")
    yield "END:VCALENDAR\r\n"


if __name__ == "__main__":
    signal.signal(signal.SIGALRM, lambda *_: sys.exit("calendar: out of time"))
    signal.alarm(20)
    found = {c["id"]: c for c in calls(Session())}
    with tempfile.TemporaryFile("w+", encoding="utf-8", newline="") as f:
        f.writelines(ics(found.values()))
    print(len(found), "running calls")
