#!/usr/bin/env python3
# Running calls open to Vienna, for the newsletter. Standard library only:
# one filtered request, the whole answer, no paging.
import email.utils, http.client, json, os, re, signal, sys, time
import urllib.error, urllib.parse, urllib.request

T0 = time.monotonic()
REMAIN = lambda: 17 - (time.monotonic() - T0)


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *a, **k):
        return None


OPEN = urllib.request.build_opener(NoRedirect)


def fail(text):
    sys.exit("running_vienna: " + text)


def wait_for(headers, default):
    v = (headers.get("Retry-After") or "").strip()
    if re.fullmatch(r"\d+", v):
        return max(default, int(v) + 0.05)
    when = email.utils.parsedate_tz(v) if v else None
    if when:
        return max(default, email.utils.mktime_tz(when) - time.time() + 0.05)
    return default


def call(url, headers, data=None):
    """-> (status, headers, parsed body or None)"""
    pause, why = 0.4, ""
    for n in range(5):
        wait = pause
        req = urllib.request.Request(url, data=data, headers=headers)
        try:
            with OPEN.open(req, timeout=max(1, min(8, REMAIN()))) as r:
                return r.status, r.headers, json.loads(r.read().decode("utf-8"))
        except urllib.error.HTTPError as e:
            with e:
                if e.code != 429 and e.code < 500:
                    return e.code, e.headers, None
                why = "status %d" % e.code
                wait = wait_for(e.headers, pause)
        except (OSError, http.client.HTTPException, ValueError) as e:
            why = e.__class__.__name__
        if n == 4 or wait > REMAIN():
            break
        time.sleep(wait)
        pause *= 2
    fail("%s: %s, given up" % (urllib.parse.urlsplit(url).path, why))


def get_token():
    form = urllib.parse.urlencode({
        "grant_type": "client_credentials",
        "client_id": os.environ["RIN_CLIENT_ID"],
        "client_secret": os.environ["RIN_CLIENT_SECRET"],
    }).encode("ascii")
    status, _, body = call(os.environ["RIN_TOKEN_URL"], {
        "Content-Type": "application/x-www-form-urlencoded",
        "Accept": "application/json"}, form)
    if status != 200 or not isinstance(body, dict) or not body.get("access_token"):
        fail("no token (status %d)" % status)
    return body["access_token"]


def next_of(headers, base):
    for value in headers.get_all("Link") or []:
        for target, params in re.findall(r"<([^>]*)>((?:\s*;\s*[^,;]+)*)", value):
            rel = re.search(r';\s*rel\s*=\s*"?([^";]*)"?', params, re.I)
            if rel and "next" in rel.group(1).lower().split():
                return urllib.parse.urljoin(base, target)


def same_place(a, b):
    return urllib.parse.urlsplit(a)[:2] == urllib.parse.urlsplit(b)[:2]


def main():
    home = os.environ["RIN_FUNDINGS_URL"]
    url = home + "?" + urllib.parse.urlencode({"runningCalls": "true", "region": "VIENNA"})
    token, calls, visited, hops = get_token(), {}, set(), 0
    while url:
        status, headers, body = call(url, {"Authorization": "Bearer " + token,
                                           "Accept": "application/json"})
        if status == 401:
            token = get_token()
            status, headers, body = call(url, {"Authorization": "Bearer " + token,
                                               "Accept": "application/json"})
        if status in (301, 302, 307, 308) and headers.get("Location"):
            url, hops = urllib.parse.urljoin(url, headers["Location"]), hops + 1
            if not same_place(url, home) or hops > 3:
                fail("redirect not followed")
            continue
        if status != 200 or not isinstance(body, list):
            fail("status %d for the list" % status)
        visited.add(url)
        for c in body:
            calls[c["id"]] = c
        url = next_of(headers, url)
        if url and (url in visited or not same_place(url, home)):
            fail("next link not followed")
    for c in sorted(calls.values(), key=lambda c: c["id"]):
        ends = [s["callStageEnd"] for s in c.get("callStages") or [] if s.get("callStageEnd")]
        name = next((t["text"] for t in c["name"] if t["lang"] == "en"), c["id"])
        print("%s  %-25s  %s" % (c["id"], ends[0] if ends else "ongoing", name))


if __name__ == "__main__":
    def late(*_):
        fail("out of time")
    signal.signal(signal.SIGALRM, late)
    signal.alarm(20)
    main()
