"""Mirror of the whole list, refreshed in two rounds (standard library).

Keeps the validator of the last answer, so that an unchanged list costs nothing.
"""
import http.client
import json
import os
import sys
import time
from email.utils import parsedate_to_datetime
from urllib.parse import urlencode, urljoin, urlsplit

ROUNDS, INTERVAL = 2, 5.0
END = time.monotonic() + 50
ATTEMPTS = 5


class Failed(Exception):
    pass


class Mirror:
    def __init__(self):
        self.token = None
        self.etag = None
        self.records = {}

    def once(self, method, url, headers, body=None):
        """One request. Returns status, headers and the parsed body of a 200."""
        for _ in range(4):
            parts = urlsplit(url)
            kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
            connection = kind(parts.hostname, parts.port, timeout=12)
            try:
                path = parts.path + ("?" + parts.query if parts.query else "")
                connection.request(method, path, body=body, headers=headers)
                response = connection.getresponse()
                if response.status == 200 and method == "GET":
                    self.etag = response.headers.get("ETag")
                content = response.read()
            finally:
                connection.close()
            if response.status not in (307, 308):
                break
            target = urljoin(url, response.headers.get("Location", ""))
            if urlsplit(target)[:2] != parts[:2]:
                raise Failed(f"redirected to {urlsplit(target).netloc}: not followed")
            url = target
        data = json.loads(content) if response.status == 200 else None
        return response.status, response.headers, data

    @staticmethod
    def pause(headers, attempt):
        own = 0.5 * 2 ** attempt
        value = headers.get("Retry-After", "") if headers else ""
        if value.isdigit():
            return max(own, float(value))
        if value:
            try:
                gap = parsedate_to_datetime(value) - parsedate_to_datetime(headers["Date"])
                return max(own, gap.total_seconds())
            except (TypeError, ValueError):
                return max(own, 10.0)
        return own

    def patient(self, method, url, build, body=None):
        for attempt in range(ATTEMPTS):
            headers = None
            try:
                status, headers, data = self.once(method, url, build(), body)
                if status != 429 and status < 500:
                    return status, headers, data
                why = f"status {status}"
            except (OSError, http.client.HTTPException, ValueError) as err:
                why = f"broken answer ({type(err).__name__})"
            wait = self.pause(headers, attempt)
            if attempt == ATTEMPTS - 1 or time.monotonic() + wait > END:
                break
            print(f"{why}: again in {wait:.1f} s", file=sys.stderr)
            time.sleep(wait)
        raise Failed(f"gave up, {why}")

    def login(self):
        form = urlencode({"grant_type": "client_credentials",
                          "client_id": os.environ["RIN_CLIENT_ID"],
                          "client_secret": os.environ["RIN_CLIENT_SECRET"]})
        status, _, data = self.patient("POST", os.environ["RIN_TOKEN_URL"], lambda: {
            "Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}, form)
        if data is None:
            raise Failed(f"token endpoint answered {status}")
        self.token = data["access_token"]

    def headers(self):
        if self.token is None:
            self.login()
        fields = {"Authorization": "Bearer " + self.token, "Accept": "application/json"}
        if self.etag:
            fields["If-None-Match"] = self.etag
        return fields

    def refresh(self):
        url = os.environ["RIN_FUNDINGS_URL"]
        status, headers, data = self.patient("GET", url, self.headers)
        if status == 401:
            self.token = None
            status, headers, data = self.patient("GET", url, self.headers)
        if data == []:  # perhaps its index is being built: once more, later
            self.etag = None
            time.sleep(5)
            status, headers, data = self.patient("GET", url, self.headers)
        if status == 304:
            return f"unchanged, {len(self.records)} records"
        if status != 200:
            raise Failed(f"{status} {headers.get('WWW-Authenticate', '')}")
        if not isinstance(data, list) or not data:
            raise Failed("the answer is not a list with records")
        self.records = {record["id"]: record for record in data}
        return f"{len(self.records)} records"


def main():
    mirror = Mirror()
    for number in range(1, ROUNDS + 1):
        print(f"round {number}: {mirror.refresh()}", flush=True)
        if number < ROUNDS:
            time.sleep(INTERVAL)


if __name__ == "__main__":
    try:
        main()
    except (Failed, KeyError) as err:
        sys.exit(f"mirror failed: {err}")
