"""Nagios/Icinga plugin: is the node up, and does the first page of its list make sense?
Exit codes as plugins have them: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN."""
import os, sys, time
from email.utils import parsedate_to_datetime as pdate
import requests

S = requests.Session()
S.headers["User-Agent"] = "check_ris/1.4"
E = os.environ


def leave(code, text):
    print(("OK", "WARNING", "CRITICAL", "UNKNOWN")[code], "-", text)
    sys.exit(code)


def wait_for(r):
    v = r.headers.get("Retry-After", "")
    if v.isdigit():
        return int(v)
    try:
        return max(1, (pdate(v) - pdate(r.headers["Date"])).total_seconds())
    except Exception:
        return 2


def send(method, url, **kw):
    for n in range(4):
        r = S.request(method, url, timeout=15, allow_redirects=False, **kw)
        if r.status_code not in (429, 503):
            return r
        w = wait_for(r)
        if n == 3 or w > 20:
            return r
        time.sleep(w + 0.05)


def login():
    r = send("POST", E["RIN_TOKEN_URL"], data={
        "grant_type": "client_credentials", "client_id": E["RIN_CLIENT_ID"], "client_secret": E["RIN_CLIENT_SECRET"]})
    if r.status_code != 200:
        leave(2, f"token endpoint answers {r.status_code}")
    S.token = r.json()["access_token"]


def probe(url, **kw):
    t0 = time.monotonic()
    r = send("GET", url, headers={"Authorization": "Bearer " + S.token}, **kw)
    if r.status_code == 401:
        login()
        r = send("GET", url, headers={"Authorization": "Bearer " + S.token}, **kw)
    if r.status_code != 200:
        leave(2, f"{url} answers {r.status_code}")
    return r.json(), time.monotonic() - t0, r.links


try:
    login()
    info, t1, _ = probe(E["RIN_INFO_URL"])
    names = [e["name"] for fam in info["endpoints"].values() for e in fam]
    page, t2, links = probe(E["RIN_FUNDINGS_URL"], params={"page[size]": 5})
    if "FUNDINGS" not in names:
        leave(1, "info does not list FUNDINGS")
    if not page and "next" not in links:
        leave(1, "the list is empty")
    if not all(r.get("id") and r.get("type") for r in page):
        leave(2, "records without id or type")
    leave(0, f"{len(page)} records on the first page | info={t1:.3f}s list={t2:.3f}s")
except requests.RequestException as e:
    leave(2, f"{type(e).__name__}: {e}")
except (ValueError, KeyError, TypeError, AttributeError) as e:
    leave(2, f"bad answer: {e!r}")
