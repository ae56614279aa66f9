#!/usr/bin/env python3
"""Harvest with the standard library only, tolerant of the odd line that is broken."""
import json, os, signal, sys, time
from email.utils import parsedate_to_datetime
from http.client import HTTPException, IncompleteRead
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPRedirectHandler, Request, build_opener

BEGIN = time.time()
signal.signal(signal.SIGALRM, lambda *_: os._exit(1))
signal.alarm(19)


class NoRedirect(HTTPRedirectHandler):
    def redirect_request(self, *a):
        return None


opener = build_opener(NoRedirect)


def tolerant(text):
    """JSON, or as many records of the array as can be read."""
    try:
        return json.loads(text)
    except ValueError:
        if not text.startswith("["):
            raise
    decoder, at, records = json.JSONDecoder(), 1, []
    while True:
        try:
            record, at = decoder.raw_decode(text, at)
        except ValueError:
            return records
        records.append(record)
        at += len(text[at:]) - len(text[at:].lstrip(", \r\n\t"))


def call(request):
    """Returns status and JSON; repeats what may pass."""
    for pause in (1, 3, None):
        try:
            with opener.open(request, timeout=6) as r:
                try:
                    raw = r.read()
                except IncompleteRead as e:
                    raw = e.partial
                return r.status, tolerant(raw.decode("utf-8", "ignore"))
        except HTTPError as e:
            if e.code != 429 and e.code < 500:
                return e.code, None
            why = f"{e.code}"
            asked = e.headers.get("Retry-After")
            if asked and pause is not None:
                try:
                    pause = int(asked) + 0.1
                except ValueError:
                    try:
                        pause = max(0, parsedate_to_datetime(asked).timestamp() - time.time()) + 1
                    except (ValueError, TypeError):
                        pass
        except (OSError, HTTPException, ValueError) as e:
            why = repr(e)
        if pause is None or time.time() + pause > BEGIN + 15:
            sys.exit(f"{request.full_url}: {why}; next time")
        time.sleep(pause)


def login():
    form = urlencode({"grant_type": "client_credentials", "client_id": os.environ["RIN_CLIENT_ID"],
                      "client_secret": os.environ["RIN_CLIENT_SECRET"]}).encode()
    status, body = call(Request(os.environ["RIN_TOKEN_URL"], data=form, headers={"Accept": "application/json"}))
    if status != 200 or body.get("token_type", "").lower() != "bearer":
        sys.exit(f"no token: {status}")
    return body["access_token"]


token = login()


def get(url):
    global token
    for last in (False, True):
        status, body = call(Request(url, headers={"Authorization": "Bearer " + token, "Accept": "application/json"}))
        if status == 200:
            return body
        if status != 401 or last:
            sys.exit(f"{url}: {status}")
        token = login()


ids, offset, last = set(), 0, False
while not last:
    page = get(os.environ["RIN_FUNDINGS_URL"] + "?" + urlencode({"page[page]": offset, "page[size]": 40}))
    last = not page and offset > 0
    ids.update(f["id"] for f in page)
    offset += 40
print(len(ids), "fundings")
