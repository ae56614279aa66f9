"""A cron job that notes what appeared, changed and disappeared, standard library only.

Three rounds in one run, as a rehearsal of three nights: the list is read in one
piece, with If-None-Match from the second round on. The state (ETag and digests)
lives in memory, and moves only after a complete round.
"""
import hashlib
import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from email.utils import parsedate_to_datetime

ROUNDS, PAUSE, ATTEMPTS = 3, 4, 4
START = time.monotonic()


class Failed(Exception):
    pass


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args):
        return None


OPENER = urllib.request.build_opener(NoRedirect, urllib.request.ProxyHandler({}))


def wanted_pause(headers, fallback):
    value = (headers.get("Retry-After") or "").strip()
    if value.isdigit():
        return int(value)
    try:
        gap = parsedate_to_datetime(value) - parsedate_to_datetime(headers["Date"])
        return max(1, gap.total_seconds())
    except (TypeError, ValueError):
        return fallback


def exchange(url, headers, data=None):
    """Status, headers and parsed body; waits out trouble that passes."""
    trouble, pause = "", 0
    for attempt in range(ATTEMPTS):
        if pause:
            if time.monotonic() - START + pause > 50:
                break
            print(f"  {trouble}: again in {pause} s", file=sys.stderr)
            time.sleep(pause)
        pause = 1.5 * 2 ** attempt
        try:
            request = urllib.request.Request(url, data=data, headers=headers)
            with OPENER.open(request, timeout=10) as answer:
                return answer.status, answer.headers, json.loads(answer.read())
        except urllib.error.HTTPError as error:
            text = error.read()[:300].decode("utf-8", "replace")
            if error.code < 500 and error.code != 429:
                return error.code, error.headers, text
            trouble, pause = f"status {error.code}", wanted_pause(error.headers, pause)
        except ValueError:
            trouble = "incomplete JSON"
        except (OSError, http.client.HTTPException) as error:
            trouble = f"{type(error).__name__}"
    raise Failed(f"{urllib.parse.urlsplit(url).path}: {trouble}")


class Job:
    def __init__(self):
        self.url = os.environ["RIN_FUNDINGS_URL"]
        self.token = self.etag = None
        self.known = {}

    def new_token(self):
        form = urllib.parse.urlencode({
            "grant_type": "client_credentials",
            "client_id": os.environ["RIN_CLIENT_ID"],
            "client_secret": os.environ["RIN_CLIENT_SECRET"]}).encode()
        status, _, body = exchange(os.environ["RIN_TOKEN_URL"],
                                   {"Content-Type": "application/x-www-form-urlencoded"}, form)
        if status != 200:
            raise Failed(f"token request refused with {status}")
        self.token = body["access_token"]

    def fetch(self, conditional=True):
        for last in (False, True):
            if not self.token:
                self.new_token()
            headers = {"Authorization": "Bearer " + self.token, "Accept": "application/json"}
            if conditional and self.etag:
                headers["If-None-Match"] = self.etag
            status, got, body = exchange(self.url, headers)
            if status == 401 and not last:
                self.token = None
            elif status in (307, 308) and not last:
                target = urllib.parse.urljoin(self.url, got["Location"])
                if urllib.parse.urlsplit(target)[:2] != urllib.parse.urlsplit(self.url)[:2]:
                    raise Failed("the list has moved to another host; please check by hand")
                self.url = target
            else:
                return status, got, body

    def round(self):
        status, headers, body = self.fetch()
        if status == 304:
            return "unchanged (304)"
        if status == 200 and not body:
            # An empty list is more likely an index that is being built: look again.
            time.sleep(2)
            status, headers, body = self.fetch(conditional=False)
            if not body:
                raise Failed("the list is empty; nothing is deleted because of that")
        if status != 200 or not isinstance(body, list):
            raise Failed(f"the list answers {status}: {str(body)[:200]}")
        now = {r["id"]: hashlib.sha256(json.dumps(r, sort_keys=True).encode()).hexdigest() for r in body}
        if len(now) < len(self.known) / 2:
            raise Failed("more than half of the list has gone; not believed")
        new, gone = now.keys() - self.known.keys(), self.known.keys() - now.keys()
        changed = [key for key in now.keys() & self.known.keys() if now[key] != self.known[key]]
        self.known, self.etag = now, headers.get("ETag")
        return f"{len(now)} fundings: {len(new)} new, {len(changed)} changed, {len(gone)} gone"


def main():
    job = Job()
    for number in range(ROUNDS):
        if number:
            time.sleep(PAUSE)
        print(f"round {number + 1}: {job.round()}", flush=True)


if __name__ == "__main__":
    try:
        main()
    except (Failed, KeyError) as error:
        sys.exit(f"cron_delta: {error}")
