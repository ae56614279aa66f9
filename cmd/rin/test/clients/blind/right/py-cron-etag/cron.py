"""A cron job's nightly run and the next night's: the second run asks with the ETags of the first."""
import json
import os
import pathlib
import sys
import tempfile
import time
from email.utils import parsedate_to_datetime
from urllib.parse import urljoin

import requests

STATE = pathlib.Path(tempfile.mkdtemp()) / "state.json"


def wait_for(response, attempt):
    value = response.headers.get("Retry-After", "")
    if value.isdigit():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError):
        return 2.0 ** attempt


def send(method, url, **options):
    response = None
    for attempt in range(6):
        try:
            response = requests.request(method, url, timeout=20, **options)
        except (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError):
            time.sleep(2.0 ** attempt / 2)
            continue
        if response.status_code in (429, 500, 502, 503, 504):
            time.sleep(wait_for(response, attempt))
            continue
        return response
    raise RuntimeError(f"{url}: gave up" + (f" after {response.status_code}" if response is not None else ""))


class Job:
    def __init__(self):
        self.bearer = None

    def login(self):
        response = send("POST", os.environ["RIN_TOKEN_URL"], data={"grant_type": "client_credentials"},
                        auth=(os.environ["RIN_CLIENT_ID"], os.environ["RIN_CLIENT_SECRET"]))
        response.raise_for_status()
        self.bearer = response.json()["access_token"]

    def get(self, url, etag):
        if self.bearer is None:
            self.login()
        for _ in range(2):
            headers = {"Authorization": "Bearer " + self.bearer}
            if etag:
                headers["If-None-Match"] = etag
            response = send("GET", url, headers=headers)
            if response.status_code != 401:
                return response
            self.login()
        return response


def night(job):
    state = json.loads(STATE.read_text()) if STATE.exists() else {}
    url = os.environ["RIN_FUNDINGS_URL"] + "?page[page]=0&page[size]=100"
    records, unchanged = [], 0
    while url:
        kept = state.get(url)
        response = job.get(url, kept and kept["etag"])
        if response.status_code == 304:
            unchanged += 1
        else:
            response.raise_for_status()
            following = response.links.get("next", {}).get("url")
            state[url] = kept = {"etag": response.headers.get("ETag"), "records": response.json(),
                                 "next": following and urljoin(response.url, following)}
        records += kept["records"]
        url = kept["next"]
    STATE.write_text(json.dumps(state))
    print(f"{len(records)} fundings, {unchanged} pages unchanged")


try:
    job = Job()
    night(job)
    night(job)
except (requests.RequestException, RuntimeError, ValueError) as error:
    sys.exit(f"cron job failed: {error}")
