"""Reads the running calls with Authlib's requests client, which renews expired tokens by itself."""
import os
import time
from urllib.parse import urljoin

import requests
from authlib.integrations.requests_client import OAuth2Session
from requests.adapters import HTTPAdapter
from urllib3.util.retry import Retry

env = os.environ
client = OAuth2Session(env["RIN_CLIENT_ID"], env["RIN_CLIENT_SECRET"],
                       token_endpoint_auth_method="client_secret_basic",
                       grant_type="client_credentials",
                       token_endpoint=env["RIN_TOKEN_URL"])
client.mount("http://", HTTPAdapter(max_retries=Retry(
    total=8, backoff_factor=1, status_forcelist=(429, 500, 502, 503, 504), allowed_methods=None)))
client.fetch_token(env["RIN_TOKEN_URL"], grant_type="client_credentials")


def read(url):
    for attempt in range(4):
        try:
            answer = client.get(url, timeout=30)
        except (requests.ConnectionError, requests.exceptions.ChunkedEncodingError):
            time.sleep(2 ** attempt)
            continue
        if answer.status_code == 401:
            client.fetch_token(env["RIN_TOKEN_URL"], grant_type="client_credentials")
            answer = client.get(url, timeout=30)
        answer.raise_for_status()
        return answer
    raise SystemExit("the node cuts every answer: " + url)


info = read(env["RIN_INFO_URL"]).json()
lists = [e["url"] for e in info["endpoints"]["funding"] if e["name"] == "FUNDINGS"]
url = (lists[0] if lists else env["RIN_FUNDINGS_URL"]) + "?page%5Bpage%5D=0&page%5Bsize%5D=100"
ids = []
while url:
    answer = read(url)
    ids += [funding["id"] for funding in answer.json()]
    following = answer.links.get("next")
    url = urljoin(answer.url, following["url"]) if following else None
print(f"{len(ids)} fundings, {len(set(ids))} ids")
