"""Two processes of one account (web front-end and nightly statistics) that share a token file. The file also says until
when the node wants peace, so that one process does not go on while the other was asked to wait."""
import fcntl, json, multiprocessing as mp, os, sys, tempfile, time
from email.utils import parsedate_to_datetime as pdate
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import urlencode, urljoin, urlsplit

E = os.environ
HOME = urlsplit(E["RIN_FUNDINGS_URL"])


class Shared:
    def __init__(self, path):
        self.path = path

    def __enter__(self):
        self.f = open(self.path, "a+")
        fcntl.flock(self.f, fcntl.LOCK_EX)
        self.f.seek(0)
        self.d = json.loads(self.f.read() or "{}")
        return self.d

    def __exit__(self, *a):
        self.f.seek(0)
        self.f.truncate()
        self.f.write(json.dumps(self.d))
        self.f.close()


def raw(method, url, body=None, **headers):
    u = urlsplit(url)
    c = (HTTPSConnection if u.scheme == "https" else HTTPConnection)(u.netloc, timeout=30)
    try:
        c.request(method, u.path + ("?" + u.query if u.query else ""), body, headers)
        r = c.getresponse()
        return r.status, r.headers, r.read()
    finally:
        c.close()


def call(path, method, url, body=None, **headers):
    for n in range(6):
        while True:
            with Shared(path) as d:
                left = d.get("not_before", 0) - time.time()
            if left <= 0:
                break
            time.sleep(left)
        code, h, data = raw(method, url, body, **headers)
        if code not in (429, 503):
            return code, h, data
        v = h.get("Retry-After", "2")
        w = int(v) if v.isdigit() else (pdate(v) - pdate(h["Date"])).total_seconds()
        if w > 15:
            break
        with Shared(path) as d:
            d["not_before"] = max(d.get("not_before", 0), time.time() + max(w, 0.3) + 0.05)
    sys.exit(f"{url}: {code} again and again")


def token(path, bad=None):
    with open(path + ".login", "w") as lk:          # one login at a time, on a lock of its own
        fcntl.flock(lk, fcntl.LOCK_EX)
        with Shared(path) as d:
            t = d.get("token")
            stale = d.get("renewed") and not d.get("accepted")
        if t and t != bad:
            return t
        if t and stale:
            sys.exit("the new token is refused, too")
        code, h, data = call(path, "POST", E["RIN_TOKEN_URL"], urlencode({"grant_type": "client_credentials",
            "client_id": E["RIN_CLIENT_ID"], "client_secret": E["RIN_CLIENT_SECRET"]}),
            **{"Content-Type": "application/x-www-form-urlencoded"})
        if code != 200:
            sys.exit(f"token: {code}")
        t = json.loads(data)["access_token"]
        with Shared(path) as d:
            d.update(token=t, renewed=bad is not None, accepted=False)
        return t


def reader(path, kind, size):
    url, seen, ids = E["RIN_FUNDINGS_URL"] + "?" + urlencode({"fundingType": kind, "page[size]": size}), set(), set()
    offset = 0
    try:
        while url:
            if url in seen or urlsplit(url)[:2] != HOME[:2]:
                sys.exit(f"will not follow {url}")
            seen.add(url)
            t = token(path)
            code, h, data = call(path, "GET", url, Authorization="Bearer " + t)
            if code == 401:
                code, h, data = call(path, "GET", url, Authorization="Bearer " + token(path, bad=t))
            if code != 200:
                sys.exit(f"{kind}: {code}")
            with Shared(path) as d:
                d["accepted"] = True
            ids |= {r["id"] for r in json.loads(data)}
            nxt = [p for p in h.get("Link", "").split(",") if 'rel="next"' in p]
            if nxt:
                url = urljoin(url, nxt[0].split("<")[1].split(">")[0])
            elif json.loads(data) and not h.get("Link"):         # no links: until an empty page
                offset += size
                url = E["RIN_FUNDINGS_URL"] + "?" + urlencode(
                    {"fundingType": kind, "page[size]": size, "page[page]": offset})
            else:
                url = None
    except (OSError, HTTPException, ValueError) as e:
        sys.exit(f"{kind}: {e!r}")
    print(kind, len(ids))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as d:
        p = os.path.join(d, "token.json")
        os.close(os.open(p, os.O_CREAT | os.O_WRONLY, 0o600))
        ps = [mp.Process(target=reader, args=(p, "CALL", 60)), mp.Process(target=reader, args=(p, "ONGOING_CALL", 10))]
        [x.start() for x in ps]
        [x.join() for x in ps]
    sys.exit(max(x.exitcode != 0 for x in ps))
