#!/usr/bin/env python3
"""fundings-find: print the fundings with the given ids."""
import argparse, email.utils, http.client, json, os, sys, time
import urllib.parse as up


class Stop(Exception):
    """Ends the program with a message."""


def where(url):
    u = up.urlsplit(url)
    return (u.scheme, (u.hostname or "").lower(), u.port or (443 if u.scheme == "https" else 80))


def raw(method, url, headers, body=None):
    """One exchange with a connection of its own; raises OSError or HTTPException if it breaks."""
    u = up.urlsplit(url)
    kind = http.client.HTTPSConnection if u.scheme == "https" else http.client.HTTPConnection
    conn = kind(u.hostname, u.port, timeout=20)
    try:
        conn.request(method, u.path + ("?" + u.query if u.query else ""), body, headers)
        r = conn.getresponse()
        return r.status, r.headers, r.read()
    finally:
        conn.close()


def retry_after(headers):
    v = headers.get("Retry-After")
    if v is None:
        return None
    if v.strip().isdigit():
        return int(v)
    d = email.utils.parsedate_tz(v)
    if d is None:
        return None
    here = email.utils.parsedate_tz(headers.get("Date") or "")
    return max(0, email.utils.mktime_tz(d) - (email.utils.mktime_tz(here) if here else time.time()))


def patient(send, url):
    """Sends until there is a final answer: waits when told so, repeats what broke, follows redirects at home."""
    broken = told = moved = 0
    home = where(url)
    while True:
        try:
            status, headers, data = send(url)
            what = f"status {status}"
            if status == 200:
                return json.loads(data), status, headers, url
        except (OSError, http.client.HTTPException, ValueError) as e:
            status, headers, what = None, {}, repr(e)
        wait = retry_after(headers) if status in (429, 503) else None
        if wait is not None:
            told += 1
            if told > 6 or wait > 900:
                raise Stop(f"{url}: {what}, come back in {wait} s")
            time.sleep(wait + 0.05)
        elif status is None or status == 429 or status >= 500:
            broken += 1
            if broken >= 5:
                raise Stop(f"{url}: {what}")
            time.sleep(0.4 * broken * broken)
        elif status in (301, 302, 303, 307, 308):
            moved += 1
            url = up.urljoin(url, headers.get("Location") or "")
            if moved > 3 or where(url) != home:
                raise Stop(f"redirected to {url}")
        else:
            return None, status, headers, url


class Tokens:
    def __init__(self, env):
        self.env, self.value, self.until = env, None, 0

    def fresh(self):
        form = up.urlencode({"grant_type": "client_credentials", "client_id": self.env["RIN_CLIENT_ID"],
                             "client_secret": self.env["RIN_CLIENT_SECRET"]})
        head = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
        doc, status, _, _ = patient(lambda u: raw("POST", u, head, form), self.env["RIN_TOKEN_URL"])
        if status != 200 or not isinstance(doc, dict) or "access_token" not in doc:
            raise Stop(f"no token: status {status}")
        self.value = doc["access_token"]
        life = doc.get("expires_in")
        self.until = time.time() + life * 0.85 if isinstance(life, (int, float)) and life > 0 else float("inf")
        return self.value

    def current(self):
        return self.value if self.value and time.time() < self.until else self.fresh()


def read(tokens, url):
    def send(u):
        return raw("GET", u, {"Authorization": "Bearer " + tokens.current(), "Accept": "application/json"})
    doc, status, headers, at = patient(send, url)
    if status == 401:
        tokens.fresh()
        doc, status, headers, at = patient(send, url)
    if status != 200:
        raise Stop(f"{url}: status {status} {headers.get('WWW-Authenticate', '')}")
    return doc, headers, at


def relation(headers, rel):
    for value in headers.get_all("Link") or []:
        rest = value
        while "<" in rest:
            target, _, rest = rest[rest.index("<") + 1:].partition(">")
            params, _, _ = rest.partition("<")
            for p in params.rstrip(", ").split(";"):
                k, _, v = p.partition("=")
                if k.strip().lower() == "rel" and rel in v.strip().strip('"').lower().split():
                    return target
    return None


def pages(tokens, base, size):
    skip, url = 0, base + "?" + up.urlencode({"page[size]": size, "page[page]": 0})
    asked = set()
    while url is not None:
        if url in asked or len(asked) > 200:
            raise Stop("the list does not end")
        asked.add(url)
        doc, headers, at = read(tokens, url)
        if not isinstance(doc, list):
            raise Stop("the list is not an array")
        yield doc
        if "Link" in headers:
            url = relation(headers, "next")
            if url is not None:
                url = up.urljoin(at, url)
                if where(url) != where(base):
                    raise Stop(f"the next page is elsewhere: {url}")
        elif doc:
            skip += len(doc)
            url = base + "?" + up.urlencode({"page[size]": size, "page[page]": skip})
        else:
            url = None


def fundings(tokens, base, size):
    known, idle = set(), 0
    for page in pages(tokens, base, size):
        new = 0
        for f in page:
            if f["id"] not in known:
                known.add(f["id"])
                new += 1
                yield f
        idle = 0 if new or not page else idle + 1
        if idle == 3:
            raise Stop("three pages without anything new")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("ids", nargs="+")
    tokens = Tokens(os.environ)
    for i in p.parse_args().ids:
        f = next((f for f in fundings(tokens, os.environ["RIN_FUNDINGS_URL"], 40) if f["id"] == i), None)
        if f is None:
            raise Stop(f"there is no {i}")
        print(f["id"], f.get("type", "?"), (f.get("name") or [{}])[0].get("text", ""), sep="\t")


try:
    main()
except Stop as e:
    print(f"fundings-find: {e}", file=sys.stderr)
    sys.exit(1)
