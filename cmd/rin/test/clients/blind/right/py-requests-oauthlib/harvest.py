"""Harvests the funding calls with requests-oauthlib and urllib3's Retry."""
import os
import sys
import time

os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"  # the bench is plain HTTP on loopback

import requests
from oauthlib.oauth2 import BackendApplicationClient, TokenExpiredError
from requests.adapters import HTTPAdapter
from requests_oauthlib import OAuth2Session
from urllib3.util import Retry

CLIENT_ID = os.environ["RIN_CLIENT_ID"]
CLIENT_SECRET = os.environ["RIN_CLIENT_SECRET"]
TOKEN_URL = os.environ["RIN_TOKEN_URL"]
FUNDINGS_URL = os.environ["RIN_FUNDINGS_URL"]


def make_session():
    session = OAuth2Session(client=BackendApplicationClient(client_id=CLIENT_ID))
    retry = Retry(total=6, backoff_factor=0.5, allowed_methods=None,
                  status_forcelist=[429, 500, 502, 503, 504])
    session.mount("http://", HTTPAdapter(max_retries=retry))
    session.mount("https://", HTTPAdapter(max_retries=retry))
    return session


def fetch_token(session):
    session.token = {}
    session.fetch_token(token_url=TOKEN_URL, client_id=CLIENT_ID,
                        client_secret=CLIENT_SECRET, include_client_id=True, timeout=20)


def get(session, url, params=None):
    refreshed = False
    for attempt in range(5):
        try:
            response = session.get(url, params=params, timeout=20)
        except TokenExpiredError:
            fetch_token(session)
            continue
        except (requests.exceptions.ChunkedEncodingError, requests.exceptions.ConnectionError):
            time.sleep(0.5 * 2 ** attempt)
            continue
        if response.status_code == 401 and not refreshed:
            refreshed = True
            fetch_token(session)
            continue
        response.raise_for_status()
        return response
    raise RuntimeError(f"{url} failed five times")


def main():
    session = make_session()
    fetch_token(session)
    response = get(session, FUNDINGS_URL, {"page[page]": 0, "page[size]": 50})
    fundings = response.json()
    while "next" in response.links:
        response = get(session, requests.compat.urljoin(response.url, response.links["next"]["url"]))
        fundings += response.json()
    print(len(fundings), "fundings")


if __name__ == "__main__":
    try:
        main()
    except Exception as error:
        sys.exit(f"harvest failed: {error}")
