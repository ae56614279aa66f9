# A notebook, exported as a script: how long are calls open, by funder?
# %% session: urllib3's Retry (it respects Retry-After of 429 and 503 by itself; its first repetition would come at once)
import os, statistics, sys
from collections import defaultdict
from datetime import datetime
from urllib.parse import urljoin, urlsplit
import requests
from requests.adapters import HTTPAdapter
from urllib3.util.retry import Retry



class Patient(Retry):
    def get_backoff_time(self):
        return max(1.0, super().get_backoff_time())


s = requests.Session()
s.mount("http://", HTTPAdapter(max_retries=Patient(total=6, connect=2, read=2, redirect=0, status=5, backoff_factor=1,
        status_forcelist=(429, 500, 502, 503, 504), allowed_methods=None, raise_on_status=False, raise_on_redirect=False)))
s.mount("https://", s.adapters["http://"])


def connect():
    s.headers.pop("Authorization", None)        # the old token is nothing for the token endpoint
    r = s.post(os.environ["RIN_TOKEN_URL"], allow_redirects=False, timeout=20, data=dict(grant_type="client_credentials",
               client_id=os.environ["RIN_CLIENT_ID"], client_secret=os.environ["RIN_CLIENT_SECRET"]))
    assert r.status_code == 200, f"token: {r.status_code} {r.text[:200]}"
    s.headers["Authorization"] = "Bearer " + r.json()["access_token"]


def origin(u):
    p = urlsplit(u)
    return p.scheme, p.hostname, p.port


def get(url, params=None, moved=0, again=True):
    assert origin(url) == origin(os.environ["RIN_FUNDINGS_URL"]), f"will not take my token to {url}"
    r = s.get(url, params=params, timeout=20, allow_redirects=False)
    if r.status_code == 401 and again:
        connect()
        return get(url, params, moved, False)
    if r.is_redirect and moved < 3:
        return get(urljoin(r.url, r.headers["Location"]), None, moved + 1, again)
    assert r.status_code == 200, f"{url}: {r.status_code} {r.text[:200]}"
    return r


# %% read
connect()
offset = 0
rows, seen, url, par = {}, set(), os.environ["RIN_FUNDINGS_URL"], {"fundingType": "CALL", "page[size]": 60}
while url:
    r = get(url, par)
    assert r.url not in seen, "pages in a circle"
    seen.add(r.url)
    for x in r.json():
        rows[x["id"]] = x
    nxt = r.links.get("next")
    if nxt:
        url, par = urljoin(r.url, nxt["url"]), None
    elif "Link" not in r.headers and r.json():      # a node without links: on until an empty page
        offset += 60
        url, par = os.environ["RIN_FUNDINGS_URL"], {"fundingType": "CALL", "page[size]": 60, "page[page]": offset}
    else:
        url = None
len(rows)

# %% look
days = defaultdict(list)
for x in rows.values():
    for st in x.get("callStages", []):
        a, b = (datetime.fromisoformat(st[k]) for k in ("callStageStart", "callStageEnd"))
        who = x["funder"][0].get("funder", {}).get("acronym", "?")
        days[who].append((b - a).days)
for who, d in sorted(days.items()):
    print(f"{who:8} n={len(d):3} median={statistics.median(d):6.1f} days")
if not rows:
    sys.exit("nothing read")
