"""Reads the fundings of every kind, three kinds at a time (requests, threads), and prints how many
there are and whose deadline is the next. Ends with 0 if every kind was read completely.
"""
import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from email.utils import parsedate_to_datetime

import requests

KINDS = ["PROGRAMME", "CALL", "ONGOING_CALL", "RESEARCH_CONTRACT", "AWARD", "GRANT", "SCHOLARSHIP"]
PAGE_SIZE, WORKERS, TRIES = 25, 3, 5
END = time.monotonic() + 50


class Failed(Exception):
    pass


lock = threading.Lock()     # guards the token; not_before is the node's wish, for all threads
shared = {"token": None, "not_before": 0.0}
local = threading.local()


def bearer(refused=None):
    with lock:
        if shared["token"] in (None, refused):
            shared["token"] = fetch_token()
        return shared["token"]


def retry_after(answer):
    value = answer.headers.get("Retry-After", "").strip()
    if value.isdigit():
        return int(value)
    try:
        until = parsedate_to_datetime(value)
        served = parsedate_to_datetime(answer.headers.get("Date", ""))
    except (TypeError, ValueError):
        return None
    return max(0.0, (until - served).total_seconds())


def pause(attempt, why, answer=None):
    if attempt >= TRIES:
        raise Failed(f"{why}, {attempt} times")
    asked = retry_after(answer) if answer is not None else None
    seconds = asked if asked is not None else 0.5 * 2 ** (attempt - 1)
    if time.monotonic() + seconds > END:
        raise Failed(f"{why}, and {seconds:.0f} s to wait")
    print(f"kind_readers: {why}, waiting {seconds:.1f} s", file=sys.stderr)
    if asked is not None:
        shared["not_before"] = max(shared["not_before"], time.monotonic() + seconds)
    time.sleep(seconds)


def send(method, url, **kwargs):
    while (rest := shared["not_before"] - time.monotonic()) > 0:
        time.sleep(rest)
    if not hasattr(local, "session"):
        local.session = requests.Session()
    if time.monotonic() > END:
        raise Failed("out of time")
    return local.session.request(method, url, timeout=(5, 12), allow_redirects=False, **kwargs)


def fetch_token():
    for attempt in range(1, TRIES + 1):
        answer = None
        try:
            answer = send("POST", os.environ["RIN_TOKEN_URL"], data={
                "grant_type": "client_credentials", "client_id": os.environ["RIN_CLIENT_ID"],
                "client_secret": os.environ["RIN_CLIENT_SECRET"]})
            why = f"token endpoint: {answer.status_code}"
            if answer.status_code == 200:
                return answer.json()["access_token"]
            if answer.status_code != 429 and answer.status_code < 500:
                raise Failed(why)
        except (requests.RequestException, KeyError) as error:
            why = f"token endpoint: {type(error).__name__}"
        pause(attempt, why, answer)


def page(kind, offset):
    url, attempt, refused = os.environ["RIN_FUNDINGS_URL"], 1, None
    params = {"fundingType": kind, "page[page]": offset, "page[size]": PAGE_SIZE}
    while True:
        token, answer = bearer(refused), None
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        try:
            answer = send("GET", url, params=params, headers=headers)
            why = f"status {answer.status_code}"
            if answer.status_code == 200:
                records = answer.json()
                if not isinstance(records, list):
                    raise Failed("the list is not an array")
                return records
            if answer.status_code == 401 and refused is None:
                refused = token
                continue
            if answer.status_code != 429 and answer.status_code < 500:
                raise Failed(f"{why} {answer.headers.get('Location', answer.headers.get('WWW-Authenticate'))}")
        except requests.RequestException as error:      # a body that is cut or no JSON, too
            why, answer = type(error).__name__, None
        pause(attempt, why, answer)
        attempt += 1


def read(kind):
    found, offset = {}, 0
    while True:
        records = page(kind, offset)
        found.update((record["id"], record) for record in records)
        if len(records) < PAGE_SIZE:
            return found
        offset += PAGE_SIZE


def deadline(record):
    return min((stage["callStageEnd"] for stage in record.get("callStages", [])), default="9999")


def main():
    everything = {}
    with ThreadPoolExecutor(WORKERS) as pool:
        for kind, found in zip(KINDS, pool.map(read, KINDS)):
            print(f"{kind:20} {len(found):4}")
            everything.update(found)
    print(f"{len(everything)} fundings in all; the next deadlines:")
    now = time.strftime("%Y-%m-%dT%H:%M:%S")
    for record in sorted((r for r in everything.values() if deadline(r) > now), key=deadline)[:3]:
        print(f"  {deadline(record)[:16]}  {record['id']}  {record['name'][0]['text']}")


if __name__ == "__main__":
    try:
        main()
    except (Failed, KeyError) as trouble:
        sys.exit(f"kind_readers: incomplete: {trouble}")
