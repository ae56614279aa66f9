"""A client that reads all fundings, and its tests. HASTY=1 makes it ignore Retry-After, so that the fixture must fail the test."""

import json
import os
import time
import urllib.error
import urllib.parse
import urllib.request


def fetch(request):
    for _ in range(5):
        try:
            with urllib.request.urlopen(request) as answer:
                return json.load(answer), answer.headers
        except urllib.error.HTTPError as refusal:
            if refusal.code not in (429, 503):
                raise
            if not os.environ.get("HASTY"):
                time.sleep(float(refusal.headers["Retry-After"]))
    raise TimeoutError(request.full_url)


def harvest(node):
    form = {"grant_type": "client_credentials", "client_id": node["clientId"], "client_secret": node["clientSecret"]}
    token, _ = fetch(urllib.request.Request(node["tokenUrl"], urllib.parse.urlencode(form).encode()))
    return fetch(urllib.request.Request(node["fundingsUrl"], headers={"Authorization": "Bearer " + token["access_token"]}))[0]


def test_reads_all_fundings(node):
    assert len(harvest(node)) > 200


def test_waits_when_the_node_is_not_available(node):
    node["play"]("503-twice", path="list")
    assert len(harvest(node)) > 200
