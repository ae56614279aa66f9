#!/usr/bin/env python3
"""Cron job with the standard library only: is the node there, and which five calls run?
Looks for a bookmarked funding as well."""
import json, os, signal, sys, time
from email.utils import parsedate_to_datetime
from http.client import HTTPException
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


def call(request):
    """Returns status and JSON; repeats what may pass."""
    for pause in (0.5, 1, 1.5, 2, 2, None):
        try:
            with opener.open(request, timeout=6) as r:
                return r.status, json.loads(r.read())
        except HTTPError as e:
            if e.code in (400, 401, 403):
                return e.code, None
            why = f"{e.code}"
            if e.code == 404 and pause is None:
                return 404, None
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
        if status == 404:
            return None
        if status != 401 or last:
            sys.exit(f"{url}: {status}")
        token = login()


bookmark = "XF-00987654"
if get(os.environ["RIN_FUNDINGS_URL"] + "/" + bookmark) is None:
    print(bookmark, "is gone")
info = get(os.environ["RIN_INFO_URL"])
print(sum(map(len, info["endpoints"].values())), "endpoints")
for f in get(os.environ["RIN_FUNDINGS_URL"] + "?" + urlencode({"runningCalls": "true", "page[page]": 0, "page[size]": 5})):
    print(f["id"], f["name"][0]["text"])
