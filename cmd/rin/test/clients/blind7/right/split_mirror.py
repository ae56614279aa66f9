"""Mirror of the calls that finds its way by the info resource (httpx).

It reads large pages. If one keeps failing with 5xx, the page is read again in
smaller parts, so that one broken record does not hide its neighbours; what
cannot be read even alone is reported, and makes the exit code 1.
"""
import os
import sys
import time
from email.utils import parsedate_to_datetime

import httpx

PAGE = 100
STOP = time.monotonic() + 54


class Broken(Exception):
    """The server fails for this request again and again."""


def wait_for(answer, fallback):
    value = answer.headers.get("retry-after", "")
    if value.strip().isdigit():
        return float(value)
    try:
        span = parsedate_to_datetime(value) - parsedate_to_datetime(answer.headers["date"])
        return max(span.total_seconds(), 1.0)
    except (ValueError, TypeError, KeyError):
        return fallback


class ClientCredentials(httpx.Auth):
    """Puts the token on requests to the node, and renews it once after a 401."""
    requires_response_body = True

    def __init__(self, origin):
        self.origin, self.token = origin, None

    def auth_flow(self, request):
        if (request.url.scheme, request.url.host, request.url.port) != self.origin:
            raise SystemExit("refusing to send the token to another origin")
        for _ in range(2):
            if self.token is None:
                answer = yield httpx.Request("POST", os.environ["RIN_TOKEN_URL"], data={
                    "grant_type": "client_credentials",
                    "client_id": os.environ["RIN_CLIENT_ID"],
                    "client_secret": os.environ["RIN_CLIENT_SECRET"]})
                if answer.status_code != 200:
                    raise httpx.HTTPStatusError("no token", request=request, response=answer)
                self.token = answer.json()["access_token"]
            request.headers["Authorization"] = f"Bearer {self.token}"
            answer = yield request
            if answer.status_code != 401:
                return
            self.token = None


class Mirror:
    def __init__(self):
        base = httpx.URL(os.environ["RIN_BASE_URL"])
        self.origin = (base.scheme, base.host, base.port)
        self.http = httpx.Client(auth=ClientCredentials(self.origin), timeout=15, trust_env=False)
        self.records, self.missing = {}, []

    def get(self, url, params=None, attempts=4):
        why = ""
        for attempt in range(attempts):
            pause = 0.8 * 2 ** attempt
            try:
                answer = self.http.get(url, params=params)
                if answer.has_redirect_location:
                    target = answer.next_request.url
                    if (target.scheme, target.host, target.port) != self.origin:
                        raise SystemExit(f"redirect to {target.host}: not followed")
                    answer = self.http.get(target)
                if answer.status_code == 200:
                    return answer, answer.json()
                why = f"{answer.status_code} {answer.reason_phrase}"
                if answer.status_code < 500 and answer.status_code != 429:
                    raise SystemExit(f"{answer.url.path}: {why}: {answer.text[:200]}")
                pause = wait_for(answer, pause)
            except httpx.HTTPStatusError as exc:
                why = f"token endpoint: {exc.response.status_code}"
                if exc.response.status_code < 500 and exc.response.status_code != 429:
                    raise SystemExit(f"{why}: {exc.response.text[:200]}")
                pause = wait_for(exc.response, pause)
            except (httpx.TransportError, ValueError) as exc:
                why = type(exc).__name__
            if time.monotonic() + pause > STOP:
                raise SystemExit(f"out of time: {why}")
            if attempt + 1 < attempts:
                print(f"{why}: again in {pause:g} s", file=sys.stderr)
                time.sleep(pause)
        raise Broken(why)

    def part(self, url, skip, size, attempts=4):
        """Reads size records from skip on. Returns whether there are more."""
        try:
            answer, page = self.get(url, {"page[page]": skip, "page[size]": size}, attempts)
            if not page and "next" in answer.links:  # perhaps the index is being built
                time.sleep(2)
                answer, page = self.get(url, {"page[page]": skip, "page[size]": size}, attempts)
        except Broken as exc:
            if size <= 12:
                self.missing.append((skip, size, str(exc)))
                return True
            time.sleep(1)
            half = size // 2
            return self.part(url, skip, half, 2) and self.part(url, skip + half, size - half, 2)
        for record in page:
            self.records[record["id"]] = record
        return "next" in answer.links

    def run(self):
        _, info = self.get(os.environ["RIN_INFO_URL"])
        urls = [e["url"] for e in info["endpoints"]["funding"] if e["name"] == "FUNDINGS"]
        if not urls:
            raise SystemExit("the node offers no list of fundings")
        skip = 0
        while self.part(urls[0], skip, PAGE):
            skip += PAGE
            if self.missing:
                raise SystemExit(f"incomplete, cannot read {self.missing}")


if __name__ == "__main__":
    mirror = Mirror()
    try:
        mirror.run()
    except Broken as exc:
        sys.exit(f"the node is broken: {exc}")
    if not mirror.records:
        sys.exit("no records at all, which nobody believes")
    print(f"mirror holds {len(mirror.records)} fundings")
