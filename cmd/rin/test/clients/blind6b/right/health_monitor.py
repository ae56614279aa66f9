"""Nagios-style probe of a node (standard library): token, info, HEAD of the list.

No retries on purpose: a 503 is what it is here to report. Three rounds, five
seconds apart; it ends at the first trouble with exit code 2, and repeats
nothing, so that it never adds load to a node that is already in trouble.
A 401 is answered once with a new token, since tokens may be withdrawn.
"""
import http.client
import json
import os
import sys
import time
from urllib.parse import urlencode, urlsplit

ROUNDS, PAUSE, SLOW = 3, 5.0, 3.0


class Critical(Exception):
    pass


class Probe:
    def __init__(self):
        self.token = None
        self.warnings = []

    def request(self, method, url, headers, body=None):
        """One request on a connection of its own; redirects are not followed."""
        parts = urlsplit(url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        connection = kind(parts.hostname, parts.port, timeout=12)
        target = parts.path + ("?" + parts.query if parts.query else "")
        began = time.monotonic()
        try:
            connection.request(method, target, body=body, headers=headers)
            response = connection.getresponse()
            content = response.read()
        except (OSError, http.client.HTTPException) as err:
            raise Critical(f"{method} {parts.path}: {type(err).__name__}") from None
        finally:
            connection.close()
        took = time.monotonic() - began
        if took > SLOW:
            self.warnings.append(f"{method} {parts.path} took {took:.1f} s")
        return response, content

    def login(self):
        form = urlencode({
            "grant_type": "client_credentials",
            "client_id": os.environ["RIN_CLIENT_ID"],
            "client_secret": os.environ["RIN_CLIENT_SECRET"],
        })
        response, content = self.request("POST", os.environ["RIN_TOKEN_URL"], {
            "Content-Type": "application/x-www-form-urlencoded",
            "Accept": "application/json",
        }, form)
        if response.status != 200:
            raise Critical(f"token endpoint answered {response.status}")
        try:
            self.token = json.loads(content)["access_token"]
        except (ValueError, KeyError, TypeError):
            raise Critical("token endpoint: the answer has no access_token") from None

    def ask(self, method, url):
        for last in (False, True):
            if self.token is None:
                self.login()
            response, content = self.request(method, url, {
                "Authorization": "Bearer " + self.token,
                "Accept": "application/json",
            })
            if response.status == 401 and not last:
                self.token = None
                self.warnings.append("a token was refused before its time")
                continue
            break
        path = urlsplit(url).path
        if 300 <= response.status < 400:
            raise Critical(f"{path} has moved ({response.status}); the configuration needs a look")
        if response.status != 200:
            after = response.getheader("Retry-After")
            hint = f", Retry-After {after}" if after else ""
            raise Critical(f"{path} answered {response.status}{hint}")
        if "json" not in (response.getheader("Content-Type") or ""):
            raise Critical(f"{path} is not JSON")
        return response, content

    def round(self):
        _, content = self.ask("GET", os.environ["RIN_INFO_URL"])
        try:
            info = json.loads(content)
        except ValueError:
            raise Critical("the info resource is not complete JSON") from None
        if not isinstance(info, dict):
            raise Critical("the info resource is not an object")
        response, _ = self.ask("HEAD", os.environ["RIN_FUNDINGS_URL"])
        return response.getheader("ETag") or "-"


def main():
    probe = Probe()
    for number in range(1, ROUNDS + 1):
        tag = probe.round()
        print(f"round {number}: up, list validator {tag}", file=sys.stderr)
        if number < ROUNDS:
            time.sleep(PAUSE)
    if probe.warnings:
        print("OK with remarks: " + "; ".join(probe.warnings))
    else:
        print("OK")


if __name__ == "__main__":
    try:
        main()
    except Critical as err:
        print(f"CRITICAL: {err}")
        sys.exit(2)
    except KeyError as err:
        print(f"UNKNOWN: {err} is not set")
        sys.exit(3)
