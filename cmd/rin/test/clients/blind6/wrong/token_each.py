"""Report of the running calls with their descriptions, read page by page."""
import os
import sys
import time
from email.utils import parsedate_to_datetime
from urllib.parse import urljoin, urlsplit

import requests

SIZE = 20
TRIES = 5
END = time.monotonic() + 50


class Failed(Exception):
    pass


def new_session():
    session = requests.Session()
    session.trust_env = False
    return session


SESSION = new_session()


def get_token():
    answer = SESSION.post(
        os.environ["RIN_TOKEN_URL"], timeout=12, allow_redirects=False,
        data={"grant_type": "client_credentials",
              "client_id": os.environ["RIN_CLIENT_ID"],
              "client_secret": os.environ["RIN_CLIENT_SECRET"]})
    if answer.status_code != 200:
        raise Failed(f"token endpoint: {answer.status_code}")
    return answer.json()["access_token"]


def auth_header():
    return {"Authorization": f"Bearer {get_token()}", "Accept": "application/json"}


def pause_of(answer, attempt):
    own = min(0.5 * 2 ** attempt, 6)
    value = answer.headers.get("Retry-After", "") if answer is not None else ""
    if value.isdigit():
        return max(own, float(value))
    try:
        asked = (parsedate_to_datetime(value)
                 - parsedate_to_datetime(answer.headers["Date"])).total_seconds()
        return max(own, asked + 0.5)
    except (AttributeError, KeyError, TypeError, ValueError):
        return own


def rest(seconds):
    if time.monotonic() + seconds > END:
        raise Failed("the node needs more time than there is")
    time.sleep(seconds)


def same_host(here, target):
    there = urljoin(here, target)
    if urlsplit(there)[:2] != urlsplit(here)[:2]:
        raise Failed(f"not followed with a token: {there}")
    return there


def get(url, params=None):
    """Returns the answer with its parsed body; repeats what may be repeated."""
    refused, why = 0, ""
    for attempt in range(TRIES):
        answer = None
        try:
            answer = SESSION.get(url, params=params, headers=auth_header(),
                                 timeout=12, allow_redirects=False)
            if answer.status_code == 200:
                return answer, answer.json()
            if answer.status_code == 401 and not refused:
                refused += 1
                continue
            if answer.status_code in (307, 308):
                url, params = same_host(answer.url, answer.headers["Location"]), None
                continue
            if answer.status_code != 429 and answer.status_code < 500:
                raise Failed(f"{url}: {answer.status_code}: {answer.text[:200]}")
            why = str(answer.status_code)
        except (requests.RequestException, ValueError) as error:
            why = repr(error)
        print(f"{url}: {why}", file=sys.stderr)
        rest(pause_of(answer, attempt))
    raise Failed(f"{url}: {why}, {TRIES} times")


def fundings(**filters):
    url = os.environ["RIN_FUNDINGS_URL"]
    params = {**filters, "page[page]": 0, "page[size]": SIZE}
    found = {}
    while url:
        answer, records = get(url, params)
        target = answer.links.get("next", {}).get("url")
        if not records and target:
            rest(1)
            answer, records = get(url, params)
        found.update((record["id"], record) for record in records)
        url, params = (same_host(url, target) if target else None), None
    return found


def main():
    found = fundings(runningCalls="true")
    for key, record in sorted(found.items()):
        names = {n.get("lang"): n.get("text") for n in record.get("name", [])}
        texts = {d.get("lang"): d.get("text") for d in record.get("description", [])}
        print(f"{key}  {record.get('type')}  {names.get('en') or names.get('de')}")
        print(texts.get("en") or texts.get("de"), end="\n\n")
    print(f"{len(found)} running calls", file=sys.stderr)


if __name__ == "__main__":
    try:
        main()
    except (Failed, requests.RequestException, KeyError, ValueError) as problem:
        print(f"incomplete: {problem}", file=sys.stderr)
        sys.exit(1)
