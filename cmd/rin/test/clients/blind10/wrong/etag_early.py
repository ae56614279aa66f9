"""Search-index feeder: asks whether the list has changed, and indexes it when it has. Keeps the ETag of what it has seen."""
import os, sys, time
from email.utils import parsedate_to_datetime as pdate
import httpx

E = os.environ
c = httpx.Client(timeout=30)
etags, index = {}, {}


def send(m, u, **kw):
    for i in range(5):
        r = c.request(m, u, **kw)
        if r.status_code not in (429, 503):
            break
        v = r.headers.get("retry-after", "2")
        time.sleep(0.1 + (int(v) if v.isdigit() else max(0, (pdate(v) - pdate(r.headers["date"])).total_seconds())))
    return r


def login():
    c.headers.pop("Authorization", None)
    r = send("POST", E["RIN_TOKEN_URL"], data={"grant_type": "client_credentials",
             "client_id": E["RIN_CLIENT_ID"], "client_secret": E["RIN_CLIENT_SECRET"]})
    r.raise_for_status()
    c.headers["Authorization"] = "Bearer " + r.json()["access_token"]


def fetch(url):
    h = {"If-None-Match": etags[url]} if url in etags else {}
    r = send("GET", url, headers=h)
    if r.status_code == 401:
        login()
        r = send("GET", url, headers=h)
    if r.status_code == 304:
        return None
    if r.status_code != 200:
        sys.exit(f"{r.status_code} for {url}")
    etags[url] = r.headers.get("etag")
    return r.json()


login()
for tick in range(3):
    try:
        rows = fetch(E["RIN_FUNDINGS_URL"])
        if rows is not None:
            index.update({x["id"]: x for x in rows})
    except ValueError as e:
        print("bad answer, next tick:", e, file=sys.stderr)
    time.sleep(1)
print(len(index), "indexed")
