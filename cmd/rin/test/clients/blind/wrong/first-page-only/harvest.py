"""Harvests the funding calls of a node."""
import os
import sys
import time
from email.utils import parsedate_to_datetime

import requests

SIZE = 50
session = requests.Session()
token = None


def login():
    global token
    response = patiently("POST", os.environ["RIN_TOKEN_URL"], data={
        "grant_type": "client_credentials",
        "client_id": os.environ["RIN_CLIENT_ID"],
        "client_secret": os.environ["RIN_CLIENT_SECRET"],
    })
    response.raise_for_status()
    token = response.json()["access_token"]


def seconds(value, attempt):
    if value and value.isdigit():
        return int(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError):
        return 0.5 * 2 ** attempt


def patiently(method, url, **options):
    for attempt in range(6):
        try:
            response = session.request(method, url, timeout=20, **options)
        except (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError):
            time.sleep(0.5 * 2 ** attempt)
            continue
        if response.status_code == 429 or response.status_code >= 500:
            time.sleep(seconds(response.headers.get("Retry-After"), attempt))
            continue
        return response
    sys.exit(f"{url} failed six times")


def get(url):
    if token is None:
        login()
    response = patiently("GET", url, headers={"Authorization": f"Bearer {token}"})
    if response.status_code == 401:
        login()
        response = patiently("GET", url, headers={"Authorization": f"Bearer {token}"})
    response.raise_for_status()
    return response


def fundings():
    url = f"{os.environ['RIN_FUNDINGS_URL']}?page[page]=0&page[size]={SIZE}"
    yield from get(url).json()


print(sum(1 for _ in fundings()), "fundings")
