"""Plain urllib3 2 with its own Retry; follows rel="next"."""
import os
import re
import sys
import time
from urllib.parse import urlencode, urljoin

import urllib3

http = urllib3.PoolManager(
    timeout=urllib3.Timeout(connect=5, read=20),
    retries=urllib3.Retry(total=6, backoff_factor=0.4, redirect=3, raise_on_status=False,
                          status_forcelist=[429, 500, 502, 503, 504], allowed_methods=None))


def token():
    response = http.request("POST", os.environ["RIN_TOKEN_URL"], encode_multipart=False, fields={
        "grant_type": "client_credentials",
        "client_id": os.environ["RIN_CLIENT_ID"],
        "client_secret": os.environ["RIN_CLIENT_SECRET"]})
    if response.status != 200:
        sys.exit(f"no token: {response.status} {response.data[:200]!r}")
    return response.json()["access_token"]


bearer = token()
url = os.environ["RIN_FUNDINGS_URL"] + "?" + urlencode({"page[page]": 0, "page[size]": 80})
count = 0
while url:
    response = http.request("GET", url, headers={"Authorization": f"Bearer {bearer}"})
    if response.status == 401:
        bearer = token()
        response = http.request("GET", url, headers={"Authorization": f"Bearer {bearer}"})
    if response.status != 200:
        sys.exit(f"{url}: {response.status}")
    count += len(response.json())
    match = re.search(r'<([^>]*)>\s*;[^,]*rel="?next"?', response.headers.get("Link", ""))
    url = urljoin(url, match.group(1)) if match else None
print(count)
