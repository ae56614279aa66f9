"""httpx with httpx-retries as transport and an httpx.Auth that fetches and renews the token."""
import os
import sys
import threading
import time

import httpx
from httpx_retries import Retry, RetryTransport


class ClientCredentials(httpx.Auth):
    requires_response_body = True

    def __init__(self, url, client_id, client_secret):
        self.url, self.client_id, self.client_secret = url, client_id, client_secret
        self.token, self.deadline = None, 0.0
        self.lock = threading.Lock()

    def token_request(self):
        return httpx.Request("POST", self.url, data={
            "grant_type": "client_credentials",
            "client_id": self.client_id,
            "client_secret": self.client_secret,
        })

    def store(self, response):
        response.raise_for_status()
        body = response.json()
        self.token = body["access_token"]
        self.deadline = time.monotonic() + body.get("expires_in", 60) * 0.9

    def auth_flow(self, request):
        if self.token is None or time.monotonic() > self.deadline:
            self.store((yield self.token_request()))
        request.headers["Authorization"] = f"Bearer {self.token}"
        response = yield request
        if response.status_code == 401:
            self.store((yield self.token_request()))
            request.headers["Authorization"] = f"Bearer {self.token}"
            yield request


def pages(client, url, size=40):
    skip = 0
    while True:
        response = client.get(url, params={"page[page]": skip, "page[size]": size})
        response.raise_for_status()
        records = response.json()
        yield from records
        if 'rel="next"' not in response.headers.get("Link", ""):
            return
        skip += size


def fetch_all():
    retry = Retry(total=6, backoff_factor=0.5, allowed_methods=["GET", "POST"],
                  status_forcelist=[429, 500, 502, 503, 504])
    auth = ClientCredentials(os.environ["RIN_TOKEN_URL"], os.environ["RIN_CLIENT_ID"],
                             os.environ["RIN_CLIENT_SECRET"])
    with httpx.Client(transport=RetryTransport(retry=retry), auth=auth, timeout=20) as client:
        return list(pages(client, os.environ["RIN_FUNDINGS_URL"]))


try:
    print(len(fetch_all()))
except (httpx.HTTPError, ValueError) as error:
    sys.exit(f"{type(error).__name__}: {error}")
