"""Export of the whole list as a tab-separated file for the grants office.

Reads page by page, with offsets, standard library only. The file is written to
standard output at the end, once everything has been read.
"""
import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from email.utils import parsedate_to_datetime

PAGE, ATTEMPTS = 64, 5
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


class Export:
    def __init__(self):
        self.url, self.token = os.environ["RIN_FUNDINGS_URL"], None

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

    def page(self, skip):
        renewed = moved = False
        while True:
            if not self.token:
                self.new_token()
            query = urllib.parse.urlencode({"page[page]": skip, "page[size]": PAGE})
            status, headers, body = exchange(self.url + "?" + query, {
                "Authorization": "Bearer " + self.token, "Accept": "application/json"})
            if status == 401 and not renewed:
                self.token, renewed = None, True
            elif status in (307, 308) and not moved:
                target = urllib.parse.urlsplit(urllib.parse.urljoin(self.url, headers["Location"]))
                if target[:2] != urllib.parse.urlsplit(self.url)[:2]:
                    raise Failed("the list has moved to another host; please check by hand")
                self.url, moved = target._replace(query="").geturl(), True
            elif status != 200 or not isinstance(body, list):
                raise Failed(f"the list answers {status}: {str(body)[:200]}")
            else:
                return body

    def read(self):
        records, skip = {}, 0
        while True:
            batch = self.page(skip)
            for record in batch:
                records[record["id"]] = record
            if len(batch) < PAGE:
                return records
            skip += PAGE


def title(record):
    texts = {text["lang"]: text["text"] for text in record.get("name", [])}
    return texts.get("en") or next(iter(texts.values()), "")


def main():
    records = Export().read()
    if not records:
        raise Failed("the list is empty, which cannot be")
    for key in sorted(records):
        print(key, records[key]["type"], title(records[key]), sep="\t")


if __name__ == "__main__":
    try:
        main()
    except (Failed, KeyError) as error:
        sys.exit(f"export: {error}")
