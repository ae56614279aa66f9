"""Incremental update into SQLite: two rounds; the second sends the ETag of each page, and a page that is unchanged (304)
leaves its rows and its next link as the first round stored them. Then: which calls have opened in the last 30 days?"""
import os, sqlite3, sys, time
from datetime import datetime, timedelta, timezone
from email.utils import parsedate_to_datetime as pdate
import json
import urllib3
from urllib.parse import urlencode, urljoin, urlsplit

E = os.environ
http = urllib3.PoolManager(retries=False, timeout=30)
db = sqlite3.connect(":memory:")
db.executescript("""create table page(url primary key, etag, next);
create table funding(id primary key, type, opens, doc); create table gone(id)""")
HOME = urlsplit(E["RIN_FUNDINGS_URL"])
tok = {}


def patient(method, url, **kw):
    for n in range(5):
        r = http.request(method, url, redirect=False, **kw)
        if r.status not in (429, 503):
            return r
        v = r.headers.get("Retry-After", "3")
        w = float(v) if v.isdigit() else (pdate(v) - pdate(r.headers["Date"])).total_seconds()
        if n < 4 and w <= 20:
            time.sleep(max(w, 0.3) + 0.05)
        else:
            break
    raise SystemExit(f"{url}: still {r.status}")


def login():
    r = patient("POST", E["RIN_TOKEN_URL"], body=urlencode({"grant_type": "client_credentials",
                "client_id": E["RIN_CLIENT_ID"], "client_secret": E["RIN_CLIENT_SECRET"]}),
                headers={"Content-Type": "application/x-www-form-urlencoded"})
    if r.status != 200:
        raise SystemExit(f"token: {r.status}")
    tok["t"] = r.json()["access_token"]


def get(url, etag=None):
    for last in (0, 1):
        h = {"Authorization": "Bearer " + tok["t"], "Accept": "application/json"}
        if etag:
            h["If-None-Match"] = etag
        r = patient("GET", url, headers=h)
        if r.status == 401 and not last:
            login()
            continue
        return r


def round_():
    url = E["RIN_FUNDINGS_URL"] + "?" + urlencode({"page[size]": 80})
    done, changed, offset = set(), 0, 0
    while url:
        if url in done:
            raise SystemExit("pages in a circle")
        if urlsplit(url)[:2] != HOME[:2]:
            raise SystemExit(f"foreign next link {url}")
        done.add(url)
        known = db.execute("select etag, next from page where url=?", (url,)).fetchone()
        r = get(url, known and known[0])
        if r.status == 304 and known:
            url = known[1]
            continue
        if r.status != 200:
            raise SystemExit(f"{url}: {r.status} {r.headers.get('Location', '')}")
        rows = json.loads(r.data)          # not one row is stored from a broken page
        nxt = None
        for part in r.headers.get("Link", "").split(","):
            if 'rel="next"' in part:
                nxt = urljoin(url, part[part.index("<") + 1:part.index(">")])
        if rows and "Link" not in r.headers:      # no links: on to the empty page
            offset += 80
            nxt = E["RIN_FUNDINGS_URL"] + "?" + urlencode({"page[page]": offset, "page[size]": 80})
        with db:
            for x in rows:
                opens = min((s["callStageStart"] for s in x.get("callStages", [])), default=None)
                db.execute("replace into funding values(?,?,?,?)", (x["id"], x["type"], opens, json.dumps(x)))
            db.execute("replace into page values(?,?,?)", (url, r.headers.get("ETag") if rows else None, nxt))
        changed += 1
        url = nxt
    return len(done), changed


try:
    login()
    for i in (1, 2):
        print("round", i, "pages/changed:", *round_())
        time.sleep(0.5)
except (urllib3.exceptions.HTTPError, ValueError, KeyError) as e:
    sys.exit(f"stopped: {e!r}")
since = datetime.now(timezone.utc) - timedelta(days=30)
new = [i for i, o in db.execute("select id, opens from funding where opens is not null")
       if since <= datetime.fromisoformat(o) <= datetime.now(timezone.utc)]
print(db.execute("select count(*) from funding").fetchone()[0], "records,", len(new), "opened in 30 days")
