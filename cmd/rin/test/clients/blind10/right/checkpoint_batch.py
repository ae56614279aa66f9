"""Batch job with checkpoints. A supervisor runs the step `harvest` up to three times, with a pause; each time it goes on
at the page that the last good checkpoint names. The checkpoint holds no token. Without success: EX_TEMPFAIL (75)."""
import http.client, json, os, re, sys, tempfile, time, urllib.error, urllib.parse, urllib.request
from email.utils import parsedate_to_datetime as pdate

E = os.environ
HOME = urllib.parse.urlsplit(E["RIN_FUNDINGS_URL"])
WORK = tempfile.TemporaryDirectory(prefix="batch-")
CKPT = os.path.join(WORK.name, "checkpoint.json")


class Final(Exception):
    """nothing that a later attempt could mend"""


class Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *a):
        return None


opener = urllib.request.build_opener(Stay)
token = None


def send(req):
    for n in range(5):
        try:
            with opener.open(req, timeout=25) as r:
                return r.status, r.headers, r.read()
        except urllib.error.HTTPError as e:
            v = e.headers.get("Retry-After")
            if e.code not in (429, 503) or v is None or n == 4:
                return e.code, e.headers, e.read()
            w = int(v) if v.strip().isdigit() else (pdate(v) - pdate(e.headers["Date"])).total_seconds()
            if w > 20:
                raise Final(f"asked to wait {w} s")
            time.sleep(max(w, 0.2) + 0.05)


def login():
    global token
    code, _, body = send(urllib.request.Request(E["RIN_TOKEN_URL"], urllib.parse.urlencode({
        "grant_type": "client_credentials", "client_id": E["RIN_CLIENT_ID"],
        "client_secret": E["RIN_CLIENT_SECRET"]}).encode()))
    if code != 200:
        raise Final(f"no token: {code}")
    token = json.loads(body)["access_token"]


def page(url):
    if urllib.parse.urlsplit(url)[:2] != HOME[:2]:
        raise Final(f"{url} is not on my node")
    for last in (0, 1):
        code, h, body = send(urllib.request.Request(url, headers={"Authorization": "Bearer " + token}))
        if code != 401:
            break
        if last:
            raise Final("401 with a new token")
        login()
    if code in (307, 308):
        raise Final(f"moved to {h['Location']}: change the configuration")
    if code >= 500 or code == 429:
        raise OSError(f"{code} for {url}")
    if code != 200:
        raise Final(f"{code} for {url}")
    rows = json.loads(body)                   # ValueError: next attempt
    m = re.search(r'<([^>]*)>\s*;\s*rel="?next"?', h.get("Link", ""))
    if m:
        return rows, urllib.parse.urljoin(url, m.group(1))
    if rows and "Link" not in h:          # a node without links: the end is an empty page
        q = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(url).query))
        q["page[page]"] = int(q["page[page]"]) + 40
        return rows, E["RIN_FUNDINGS_URL"] + "?" + urllib.parse.urlencode(q)
    return rows, None


def harvest():
    state = json.load(open(CKPT)) if os.path.exists(CKPT) else {
        "next": E["RIN_FUNDINGS_URL"] + "?page%5Bpage%5D=0&page%5Bsize%5D=40", "done": [], "ids": []}
    while state["next"]:
        url = state["next"]
        if url in state["done"]:
            raise Final("pages in a circle")
        rows, nxt = page(url)
        state["ids"] = sorted(set(state["ids"]) | {r["id"] for r in rows})
        state["done"].append(url)
        state["next"] = nxt
        with open(CKPT + ".new", "w") as f:
            json.dump(state, f)
        os.replace(CKPT + ".new", CKPT)
    return len(state["ids"]), len(state["done"])


try:
    login()
    for attempt in range(1, 4):
        try:
            n, p = harvest()
            print(f"attempt {attempt}: {n} records from {p} pages")
            break
        except (OSError, ValueError, http.client.HTTPException) as e:
            print(f"attempt {attempt}: {e!r}", file=sys.stderr)
            if attempt == 3:
                sys.exit(75)
            time.sleep(2 * attempt)
except Final as e:
    print("given up:", e, file=sys.stderr)
    sys.exit(70)
except (OSError, ValueError, KeyError, http.client.HTTPException) as e:      # token endpoint not there
    print("given up:", repr(e), file=sys.stderr)
    sys.exit(75)
