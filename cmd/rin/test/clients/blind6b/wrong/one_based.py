"""Export of id, type and English title of all fundings as CSV (requests)."""
import csv
import io
import os
import sys
import time
from email.utils import parsedate_to_datetime
from urllib.parse import urljoin, urlsplit

import requests

SIZE = 48
END = time.monotonic() + 50


class Incomplete(Exception):
    pass


class Api:
    def __init__(self):
        self.session = requests.Session()
        self.session.trust_env = False
        self.session.headers["Accept"] = "application/json"
        self.token = None

    def _pause(self, response, attempt):
        least = 0.5 * 2 ** attempt
        asked = response.headers.get("Retry-After", "") if response is not None else ""
        if asked.isdigit():
            return max(least, int(asked))
        if asked:
            try:
                gap = parsedate_to_datetime(asked) - parsedate_to_datetime(response.headers["Date"])
                return max(least, gap.total_seconds())
            except (KeyError, TypeError, ValueError):
                return max(least, 10)
        return least

    def _repeat(self, method, url, **options):
        """Repeats what may be repeated; returns (response, data of a 200)."""
        attempt, moved = 0, 0
        while True:
            response = None
            try:
                response = self.session.request(method, url, timeout=12, allow_redirects=False, **options)
                if response.status_code == 200:
                    return response, response.json()
                if response.status_code in (307, 308):
                    target = urljoin(url, response.headers.get("Location", ""))
                    if urlsplit(target)[:2] != urlsplit(url)[:2] or moved == 3:
                        raise Incomplete("redirected away from this host")
                    url, moved = target, moved + 1
                    # the query of the list is in params, and stays there
                    options.pop("params", None)
                    continue
                if response.status_code < 500 and response.status_code != 429:
                    return response, None
                why = f"status {response.status_code}"
            except (requests.RequestException, ValueError) as err:
                why = type(err).__name__
            wait = self._pause(response, attempt)
            attempt += 1
            if attempt == 5 or time.monotonic() + wait > END:
                raise Incomplete(f"gave up after {attempt} attempts: {why}")
            print(f"{why}, waiting {wait:.1f} s", file=sys.stderr)
            time.sleep(wait)

    def _login(self):
        response, data = self._repeat("POST", os.environ["RIN_TOKEN_URL"], data={
            "grant_type": "client_credentials",
            "client_id": os.environ["RIN_CLIENT_ID"],
            "client_secret": os.environ["RIN_CLIENT_SECRET"],
        })
        if data is None:
            raise Incomplete(f"no token: {response.status_code}")
        self.token = data["access_token"]

    def page(self, number, size):
        """Page `number` of the list, and whether there is another one."""
        skip = (number - 1) * size + 1
        for last in (False, True):
            if self.token is None:
                self._login()
            response, data = self._repeat(
                "GET", os.environ["RIN_FUNDINGS_URL"],
                params={"page[page]": skip, "page[size]": size},
                headers={"Authorization": "Bearer " + self.token})
            if data is not None:
                if not isinstance(data, list):
                    raise Incomplete("the page is not an array")
                return data, "next" in response.links
            self.token = None
            if response.status_code != 401 or last:
                raise Incomplete(f"{response.status_code} {response.headers.get('WWW-Authenticate', '')}")


def title(record):
    texts = {text.get("lang"): text.get("text") for text in record.get("name", [])}
    return texts.get("en") or next(iter(texts.values()), "")


def main():
    api, rows, number, more = Api(), {}, 1, True
    while more:
        records, more = api.page(number, SIZE)
        for record in records:
            rows[record["id"]] = (record["id"], record.get("type", ""), title(record))
        number += 1
    if not rows:
        raise Incomplete("the list is empty")
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["id", "type", "title"])
    writer.writerows(rows[key] for key in sorted(rows))
    print(out.getvalue().count("\n") - 1, "rows from", number - 1, "pages")


if __name__ == "__main__":
    try:
        main()
    except (Incomplete, KeyError) as err:
        sys.exit(f"export failed: {err}")
