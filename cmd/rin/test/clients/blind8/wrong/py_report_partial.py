#!/usr/bin/env python3
"""Report job: the fundings of the node as a CSV file for the faculties."""
import base64, csv, email.utils, http.client, json, os, re, sys, tempfile, time
import urllib.error, urllib.parse, urllib.request

ENV = os.environ
PAGE_SIZE = 60
MAX_PAGES = 400


class Failure(Exception):
    pass


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args):
        return None


OPENER = urllib.request.build_opener(NoRedirect)


def origin(url):
    u = urllib.parse.urlsplit(url)
    return u.scheme, u.hostname, u.port or {"http": 80, "https": 443}.get(u.scheme)


def pause_asked(headers):
    value = (headers.get("Retry-After") or "").strip()
    if value.isdigit():
        return float(value)
    if value:
        try:
            when = email.utils.parsedate_to_datetime(value).timestamp()
        except (TypeError, ValueError):
            return None
        try:
            now = email.utils.parsedate_to_datetime(headers.get("Date")).timestamp()
        except (TypeError, ValueError):
            now = time.time()
        return max(0.0, when - now)
    return None


class Node:
    def __init__(self):
        self.token, self.renew_at = None, 0.0

    def fetch_token(self):
        pair = urllib.parse.quote_plus(ENV["RIN_CLIENT_ID"]) + ":" + urllib.parse.quote_plus(ENV["RIN_CLIENT_SECRET"])
        head = {"Authorization": "Basic " + base64.b64encode(pair.encode()).decode(),
                "Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
        answer, _, _ = self.exchange(ENV["RIN_TOKEN_URL"], head, b"grant_type=client_credentials")
        token = answer.get("access_token") if isinstance(answer, dict) else None
        if not token:
            raise Failure("no access_token in the answer of the token endpoint")
        try:
            life = float(answer.get("expires_in"))
        except (TypeError, ValueError):
            life = None
        self.token = token
        self.renew_at = time.monotonic() + (life - min(30, life / 5)) if life else float("inf")

    def get(self, url):
        return self.exchange(url, None, None)

    def exchange(self, url, head, body):
        """One answer, after all repetitions that it takes; (JSON, headers, URL)."""
        start, errors, waits, hops, renewed = origin(url), 0, 0, 0, False
        while True:
            if body is None:
                if self.token is None or time.monotonic() >= self.renew_at:
                    self.fetch_token()
                used = {"Authorization": "Bearer " + self.token, "Accept": "application/json"}
            else:
                used = head
            problem, headers, status = None, {}, 0
            try:
                with OPENER.open(urllib.request.Request(url, body, used), timeout=20) as r:
                    raw = r.read()
                    return json.loads(raw), r.headers, url
            except urllib.error.HTTPError as e:
                status, headers = e.code, e.headers
                problem = f"{status} for {url}"
                e.close()
            except (OSError, http.client.HTTPException, ValueError) as e:
                problem = f"{type(e).__name__} for {url}"
            if status in (301, 302, 307, 308) and headers.get("Location"):
                target = urllib.parse.urljoin(url, headers["Location"])
                hops += 1
                if origin(target) != start or hops > 4:
                    raise Failure(f"redirected to {target}, not followed")
                url = target
            elif status == 401 and body is None and not renewed:
                renewed = True
                self.fetch_token()
            elif status in (429, 503) and pause_asked(headers) is not None:
                wait = pause_asked(headers)
                waits += 1
                if waits > 5 or wait > 600:
                    raise Failure(problem + f", asks for {wait:.0f} s")
                time.sleep(wait + 0.1)
            elif status in (0, 429) or status >= 500:
                errors += 1
                if errors > 3:
                    raise Failure(problem)
                time.sleep(0.5 * 2 ** errors)
            else:
                raise Failure(problem)


def link_next(headers):
    for part in re.split(r",\s*(?=<)", ", ".join(headers.get_all("Link") or [])):
        m = re.match(r"\s*<([^>]*)>(.*)", part)
        if m and re.search(r';\s*rel\s*=\s*"?[^";]*\bnext\b', m.group(2), re.I):
            return m.group(1)
    return None


def all_fundings(node):
    base = ENV["RIN_FUNDINGS_URL"]
    home, seen_urls, records, offset, stale = origin(base), set(), {}, 0, 0
    url = base + "?" + urllib.parse.urlencode({"page[page]": 0, "page[size]": PAGE_SIZE})
    while url:
        if url in seen_urls or len(seen_urls) >= MAX_PAGES:
            raise Failure(f"the pages do not end ({len(seen_urls)} read)")
        seen_urls.add(url)
        try:
            page, headers, at = node.get(url)
        except Failure as e:
            print(f"report: {e}; using what there is", file=sys.stderr)
            break
        if not isinstance(page, list):
            raise Failure("the list is no array")
        before = len(records)
        for record in page:
            records.setdefault(record["id"], record)
        stale = stale + 1 if page and len(records) == before else 0
        if stale >= 3:
            raise Failure("the pages repeat themselves")
        if headers.get("Link"):
            nxt = link_next(headers)
            url = urllib.parse.urljoin(at, nxt) if nxt else None
            if url and origin(url) != home:
                raise Failure(f"the next page is on another host: {url}")
        elif page:
            offset += len(page)
            url = base + "?" + urllib.parse.urlencode({"page[page]": offset, "page[size]": PAGE_SIZE})
        else:
            url = None
    return records


def title(record):
    names = {n.get("lang"): n.get("text", "") for n in record.get("name") or []}
    return names.get("de") or next(iter(names.values()), "")


def main():
    records = all_fundings(Node())
    target = ENV.get("CSV_FILE") or os.path.join(tempfile.gettempdir(), f"fundings-{os.getpid()}.csv")
    with open(target + ".new", "w", newline="", encoding="utf-8") as f:
        out = csv.writer(f, delimiter=";")
        out.writerow(["id", "type", "title", "legal", "deadline"])
        for r in records.values():
            ends = [s.get("callStageEnd", "") for s in r.get("callStages") or []]
            out.writerow([r["id"], r.get("type"), title(r), r.get("legalType"), max(ends, default="")])
    os.replace(target + ".new", target)
    print(f"{len(records)} fundings in {target}")
    if not ENV.get("CSV_FILE"):
        os.remove(target)


if __name__ == "__main__":
    try:
        main()
    except Failure as e:
        sys.exit(f"report: {e}")
