"""Exports all fundings as CSV, page after page, with the standard library."""
import csv
import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from email.utils import parsedate_to_datetime

SIZE = 50
TRIES = 5
FIRST_PAGE = 1
END = time.monotonic() + 50


class Failed(Exception):
    pass


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args, **kwargs):
        return None


opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), NoRedirect)


def pause_of(headers, attempt):
    own = 0.6 * 2 ** attempt
    value = (headers or {}).get("Retry-After") or ""
    if value.isdigit():
        return max(float(value), own)
    try:
        asked = parsedate_to_datetime(value) - parsedate_to_datetime(headers["Date"])
        return max(asked.total_seconds() + 0.5, own)
    except (TypeError, ValueError):
        return own


def rest(seconds):
    if time.monotonic() + seconds > END:
        raise Failed("the node needs more time than there is")
    time.sleep(seconds)


def new_token():
    form = urllib.parse.urlencode({
        "grant_type": "client_credentials",
        "client_id": os.environ["RIN_CLIENT_ID"],
        "client_secret": os.environ["RIN_CLIENT_SECRET"]}).encode()
    try:
        with opener.open(os.environ["RIN_TOKEN_URL"], form, timeout=12) as answer:
            return json.load(answer)["access_token"]
    except urllib.error.HTTPError as error:
        raise Failed(f"token endpoint: {error.code}") from None


class Reader:
    def __init__(self):
        self.token = new_token()

    def get(self, url):
        """Returns the records of a page, and the address of the next one."""
        renewed, empty, why = 0, False, ""
        for attempt in range(TRIES):
            headers = None
            request = urllib.request.Request(
                url, headers={"Authorization": "Bearer " + self.token})
            try:
                with opener.open(request, timeout=12) as answer:
                    headers = answer.headers
                    records = json.loads(answer.read())
                    following = next_of(url, headers)
                    if records or not following or empty:
                        return records, following
                    empty, why = True, "empty, but not the last page"
            except urllib.error.HTTPError as error:
                headers, why = error.headers, str(error.code)
                if error.code == 401 and renewed < 1:
                    self.token, renewed = new_token(), renewed + 1
                    continue
                if error.code in (307, 308):
                    url = same_host(url, headers.get("Location") or "")
                    continue
                if error.code != 429 and error.code < 500:
                    raise Failed(f"{error.code}: {error.read()[:200]}") from None
            except (OSError, ValueError, urllib.error.URLError,
                    http.client.HTTPException) as error:
                why = repr(error)
            print(f"{url}: {why}", file=sys.stderr)
            rest(pause_of(headers, attempt))
        raise Failed(f"{url}: {why}, {TRIES} times")


def same_host(here, target):
    there = urllib.parse.urljoin(here, target)
    if urllib.parse.urlsplit(there)[:2] != urllib.parse.urlsplit(here)[:2]:
        raise Failed(f"not followed with a token: {there}")
    return there


def next_of(url, headers):
    for link in ",".join(headers.get_all("Link") or []).split(","):
        address, _, rest_of_link = link.partition(">")
        if 'rel="next"' in rest_of_link:
            return same_host(url, address.strip().lstrip("<"))
    return None


def main():
    reader, found = Reader(), {}
    query = urllib.parse.urlencode({"page[page]": FIRST_PAGE, "page[size]": SIZE})
    url = os.environ["RIN_FUNDINGS_URL"] + "?" + query
    while url:
        records, url = reader.get(url)
        for record in records:
            found[record["id"]] = record
    table = csv.writer(sys.stdout)
    for key, record in sorted(found.items()):
        names = {name.get("lang"): name.get("text") for name in record.get("name", [])}
        table.writerow([key, record.get("type"), names.get("en") or names.get("de")])
    print(f"{len(found)} fundings", file=sys.stderr)


if __name__ == "__main__":
    try:
        main()
    except (Failed, OSError, KeyError, ValueError) as problem:
        print(f"incomplete: {problem}", file=sys.stderr)
        sys.exit(1)
