#!/usr/bin/env python3
"""requests-oauthlib; counts through the list until an empty page."""
import os, random, signal, sys, time
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from urllib.parse import quote_plus
os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"  # loopback only
import requests
from requests.auth import HTTPBasicAuth
from oauthlib.oauth2 import BackendApplicationClient, OAuth2Error, TokenExpiredError
from requests_oauthlib import OAuth2Session

SIZE = 60
FIRST = 1
STARTED = time.monotonic()
signal.signal(signal.SIGALRM, lambda *_: os._exit(1))
signal.alarm(19)


class Later(Exception):
    def __init__(self, response):
        super().__init__(f"{response.status_code} from {response.url}")
        self.response = response


def check_token_response(r):
    if r.status_code == 429 or r.status_code >= 500:
        raise Later(r)
    if r.status_code != 200:
        sys.exit(f"token endpoint answers {r.status_code}")
    return r


oauth = OAuth2Session(client=BackendApplicationClient(client_id=os.environ["RIN_CLIENT_ID"]))
oauth.register_compliance_hook("access_token_response", check_token_response)


def wait(attempt, response=None):
    seconds = 0.6 * 2 ** attempt + random.random() * 0.2
    header = response.headers.get("Retry-After") if response is not None else None
    if header and header.isdigit():
        seconds = int(header) + 0.1
    elif header:
        try:
            seconds = max(0.0, (parsedate_to_datetime(header) - datetime.now(timezone.utc)).total_seconds()) + 1
        except (TypeError, ValueError):
            pass
    if time.monotonic() - STARTED + seconds > 16:
        sys.exit(f"cannot wait {seconds:.0f} s")
    time.sleep(seconds)


def login():
    for attempt in range(5):
        try:
            oauth.fetch_token(os.environ["RIN_TOKEN_URL"], timeout=8,
                              auth=HTTPBasicAuth(quote_plus(os.environ["RIN_CLIENT_ID"]),
                                                 quote_plus(os.environ["RIN_CLIENT_SECRET"])))
            return
        except Later as e:
            wait(attempt, e.response)
        except (requests.RequestException, OAuth2Error):
            wait(attempt)
    sys.exit("no access token")


def fetch(offset):
    relogin = False
    for attempt in range(5):
        try:
            r = oauth.get(os.environ["RIN_FUNDINGS_URL"], params={"page[page]": offset, "page[size]": SIZE},
                          headers={"Accept": "application/json"}, timeout=8)
        except TokenExpiredError:
            login()
            continue
        except requests.RequestException:
            wait(attempt)
            continue
        if r.status_code == 401 and not relogin:
            relogin = True
            login()
        elif r.status_code == 429 or r.status_code >= 500:
            wait(attempt, r)
        elif r.status_code != 200:
            sys.exit(f"fundings: {r.status_code}")
        else:
            try:
                page = r.json()
                if isinstance(page, list):
                    return page
            except ValueError:
                pass
            wait(attempt)
    sys.exit("fundings: too many failures")


login()
found, offset = {}, FIRST
while True:
    page = fetch(offset)
    if not page:
        break
    found.update((f["id"], f) for f in page)
    offset += SIZE
print(len(found))
