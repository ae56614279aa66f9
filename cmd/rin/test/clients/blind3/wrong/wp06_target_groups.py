#!/usr/bin/env python3
"""Matrix of fundings by target group, for the intranet page of the research office."""
import email.utils, http.client, json, logging, os, signal, sys, time
from urllib.parse import urlencode, urljoin, urlsplit

log = logging.getLogger("groups")
GROUPS = ["UNIVERSITY", "COMPANY", "NON_PROFIT", "GOVERNMENT", "INDEPENDENT_RESEARCHER"]
limit = time.monotonic() + 17


class HttpError(Exception):
    def __init__(self, status):
        super().__init__(f"HTTP {status}")
        self.status = status


class Client:
    def __init__(self, base):
        self.base, self.conn, self.tok = urlsplit(base), None, None

    def raw(self, netloc, scheme, *request):
        if self.conn is None or self.conn_to != (scheme, netloc):
            if self.conn:
                self.conn.close()
            kind = http.client.HTTPSConnection if scheme == "https" else http.client.HTTPConnection
            self.conn, self.conn_to = kind(netloc, timeout=6), (scheme, netloc)
        try:
            self.conn.request(*request)
            r = self.conn.getresponse()
            return r, r.read()
        except Exception:
            self.conn.close()
            self.conn = None
            raise

    def send(self, method, url, body=None, **headers):
        u = urlsplit(url)
        path = u.path + ("?" + u.query if u.query else "")
        headers = {k.replace("_", "-"): v for k, v in headers.items()}
        pause, tries = 0.4, 0
        while True:
            tries += 1
            wait = pause
            try:
                r, data = self.raw(u.netloc, u.scheme, method, path, body, headers)
                if r.status == 200:
                    return r, json.loads(data)
                if r.status not in (429, 500, 502, 503, 504):
                    raise HttpError(r.status)
                problem = HttpError(r.status)
                v = r.getheader("Retry-After")
                if v and v.isdigit():
                    wait = max(wait, int(v) + 0.1)
                elif v and email.utils.parsedate_tz(v):
                    wait = max(wait, email.utils.mktime_tz(email.utils.parsedate_tz(v)) - time.time() + 0.1)
            except (OSError, http.client.HTTPException, ValueError) as e:
                problem = e
            if tries == 5 or time.monotonic() + wait > limit:
                log.error("%s: %s, given up", u.path, problem)
                sys.exit(3)
            time.sleep(wait)
            pause *= 2

    def login(self):
        _, body = self.send("POST", os.environ["RIN_TOKEN_URL"], urlencode({
            "grant_type": "client_credentials",
            "client_id": os.environ["RIN_CLIENT_ID"],
            "client_secret": os.environ["RIN_CLIENT_SECRET"]}),
            Content_Type="application/x-www-form-urlencoded")
        self.tok = body["access_token"]

    def get(self, url):
        if self.tok is None:
            self.login()
        try:
            return self.send("GET", url, Authorization="Bearer " + self.tok)
        except HttpError as e:
            if e.status != 401:
                raise
        self.login()
        return self.send("GET", url, Authorization="Bearer " + self.tok)

    def ids(self, **filters):
        url = self.base.geturl() + "?" + urlencode({**filters, "page[page]": 0, "page[size]": 200})
        found = set()
        while url:
            r, rows = self.get(url)
            found.update(f["id"] for f in rows)
            nxt = [p for p in (r.getheader("Link") or "").split(", <") if 'rel="next"' in p]
            url = urljoin(url, nxt[0].lstrip("<").split(">")[0]) if nxt else None
            if url and urlsplit(url)[:2] != self.base[:2]:
                log.error("next link leads elsewhere")
                sys.exit(3)
        return found


def main():
    signal.signal(signal.SIGALRM, lambda *_: sys.exit("groups: out of time"))
    signal.alarm(20)
    logging.basicConfig(level=logging.WARNING)
    c, matrix = Client(os.environ["RIN_FUNDINGS_URL"]), {}
    for g in GROUPS:
        try:
            matrix[g] = c.ids(targetGroup=g)
        except HttpError as e:
            if e.status in (401, 403):
                sys.exit(f"groups: {e}")
            log.info("%s: nothing there (%s)", g, e)
            matrix[g] = set()
    for g, found in matrix.items():
        print(f"{g:25} {len(found)}")


main()
