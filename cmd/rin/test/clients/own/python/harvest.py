"""Clients that keep the rules. Usage: python3 harvest.py NAME"""

import base64
import concurrent.futures
import email.utils
import gzip
import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse


class Refused(Exception):
    """The node said no, and asking again would not help."""


class Harvest:
    """Reads all funding calls, page by page, along the links."""

    size = 50
    attempts = 5
    basic = False

    def __init__(self):
        self.token_url, self.list_url = os.environ["RIN_TOKEN_URL"], os.environ["RIN_FUNDINGS_URL"]
        self.info_url = os.environ["RIN_INFO_URL"]
        self.client_id, self.secret = os.environ["RIN_CLIENT_ID"], os.environ["RIN_CLIENT_SECRET"]
        self.token, self.good_until, self.lock = "", 0.0, threading.Lock()
        self.not_before = 0.0  # all calls of this client wait as long as the node said

    # One exchange.

    def exchange(self, method, url, header, body=None):
        parts = urllib.parse.urlsplit(url)
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=10)
        try:
            path = parts.path + ("?" + parts.query if parts.query else "")
            connection.request(method, path, body, {"User-Agent": "harvest/1.0", "Accept": "application/json", **header})
            answer = connection.getresponse()
            data = answer.read()
            if answer.headers.get("Content-Encoding") == "gzip":
                data = gzip.decompress(data)
            return answer.status, answer.headers, data
        finally:
            connection.close()

    # Tokens.

    def token_request(self):
        form, header = {"grant_type": "client_credentials"}, {"Content-Type": "application/x-www-form-urlencoded"}
        if self.basic:
            pair = urllib.parse.quote_plus(self.client_id) + ":" + urllib.parse.quote_plus(self.secret)
            header["Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
        else:
            form |= {"client_id": self.client_id, "client_secret": self.secret}
        return header, urllib.parse.urlencode(form)

    def fetch_token(self):
        header, form = self.token_request()
        _, _, data = self.persist("POST", self.token_url, lambda: header, form)
        answer = json.loads(data)
        self.token, self.good_until = answer["access_token"], time.monotonic() + answer.get("expires_in", 60) - 10

    def good_token(self, refused=""):
        with self.lock:
            if not self.token or self.token == refused or time.monotonic() > self.good_until:
                self.fetch_token()
            return self.token

    # Calls.

    def persist(self, method, url, header, body=None):
        """Repeats a request that failed for a while."""
        for attempt in range(self.attempts):
            try:
                used = header()
                time.sleep(max(0, self.not_before - time.monotonic()))
                status, fields, data = self.exchange(method, url, used, body)
            except (OSError, http.client.HTTPException, EOFError):
                self.pause(attempt)
                continue
            if status in (429, 503):
                self.wait(fields, attempt)
            elif status >= 500:
                self.pause(attempt)
            elif status >= 400:
                raise Refused(status, url)
            elif "json" not in fields.get("Content-Type", "") and status == 200:
                self.pause(attempt)
            else:
                try:
                    if data:
                        json.loads(data)
                except ValueError:
                    self.pause(attempt)
                    continue
                return status, fields, data
        raise Refused("too many attempts", url)

    def pause(self, attempt):
        time.sleep(0.3 * 2**attempt)

    def wait(self, fields, attempt):
        told = fields.get("Retry-After", "")
        if told.isdigit():
            seconds = int(told)
        elif told:
            seconds = (email.utils.parsedate_to_datetime(told) - email.utils.parsedate_to_datetime(fields["Date"])).total_seconds()
        else:
            return self.pause(attempt)
        self.not_before = max(self.not_before, time.monotonic() + seconds + 0.2)

    def header(self, **more):
        return {"Authorization": "Bearer " + self.good_token(), "Accept-Encoding": "gzip", **more}

    def get(self, url, **more):
        refusals = 0
        for _ in range(4):
            used = self.header(**more)
            refused = used["Authorization"].removeprefix("Bearer ")
            try:
                status, fields, data = self.persist("GET", url, lambda: used)
            except Refused as reason:
                refusals += 1
                if reason.args[0] != 401 or refusals == 2:  # a third token would be refused, too
                    raise
                self.good_token(refused)
                continue
            if status in (301, 302, 307, 308):
                target = urllib.parse.urljoin(url, fields["Location"])
                if urllib.parse.urlsplit(target)[:2] != urllib.parse.urlsplit(url)[:2]:
                    raise Refused("redirected to another host", target)
                url = target
                continue
            return status, fields, data
        raise Refused("refused again", url)

    # The list.

    def first_page(self):
        return self.list_url + "?" + urllib.parse.urlencode({"page[page]": 0, "page[size]": self.size})

    def next_page(self, url, fields, items):
        found = re.search(r'<([^>]*)>;\s*rel="?next"?', fields.get("Link", ""))
        return urllib.parse.urljoin(url, found[1]) if found else None

    def pages(self):
        url = self.first_page()
        while url:
            _, fields, data = self.get(url)
            items = json.loads(data)
            yield items
            url = self.next_page(url, fields, items)

    def run(self):
        return len({item["id"] for page in self.pages() for item in page})


class Whole(Harvest):
    """Reads the list in one answer."""

    def first_page(self):
        return self.list_url


class Basic(Harvest):
    """Authenticates by HTTP Basic."""

    basic = True


class InfoFirst(Harvest):
    """Looks at the info resource before it reads."""

    def run(self):
        self.get(self.info_url, **{"Content-Type": "application/json"})
        return super().run()


class SmallPages(Harvest):
    """Chooses pages of twenty and rests between them."""

    size = 20

    def pages(self):
        for page in super().pages():
            yield page
            time.sleep(0.05)


class Nightly(Harvest):
    """Runs twice, as two processes: the second one uses the token and the entity tag that the first one left in a file."""

    def run(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "state.json")
            for _ in range(2):
                night = Whole()
                kept = json.load(open(path)) if os.path.exists(path) else {}
                night.token, night.good_until = kept.get("token", ""), kept.get("until", 0)
                more = {"If-None-Match": kept["tag"]} if "tag" in kept else {}
                status, fields, data = night.get(night.list_url, **more)
                count = kept["count"] if status == 304 else len(json.loads(data))
                with open(path, "w") as out:
                    json.dump({"token": night.token, "until": night.good_until, "tag": fields.get("ETag"), "count": count}, out)
            return count


class Parallel(Harvest):
    """Calls info many times while it reads the list, all with one token."""

    workers = 8

    def run(self):
        with concurrent.futures.ThreadPoolExecutor(self.workers) as pool:
            whole = pool.submit(super().run)
            for task in [pool.submit(self.get, self.info_url, **{"Content-Type": "application/json"}) for _ in range(self.workers)]:
                task.result()
            return whole.result()


class Fifty(Parallel):
    """Has fifty calls in flight."""

    workers = 50


class Supervised(Harvest):
    """Ends when a request fails; a supervisor starts it again after three seconds."""

    attempts = 1

    def run(self):
        for _ in range(5):
            try:
                return Harvest.run(Supervised())
            except Refused as reason:
                if reason.args[0] != "too many attempts":
                    raise
                time.sleep(3.2)
        raise Refused("does not come up")

    def wait(self, fields, attempt):
        pass

    def pause(self, attempt):
        pass


class TwoProcesses(Harvest):
    """Runs as two processes with the same credentials at the same time."""

    def run(self):
        jobs = [subprocess.Popen([sys.executable, __file__, name]) for name in ("Harvest", "InfoFirst")]
        if any([job.wait() for job in jobs]):
            raise Refused("one of the two failed")
        return "twice all"


class Backwards(Harvest):
    """Reads from the last page back to the first."""

    def pages(self):
        url, relation = self.first_page(), "last"
        while url:
            _, fields, data = self.get(url)
            if relation == "prev":
                yield json.loads(data)
            found = re.search(r'<([^>]*)>;\s*rel="?%s"?' % relation, fields.get("Link", ""))
            url, relation = urllib.parse.urljoin(url, found[1]) if found else None, "prev"


class Halves(Harvest):
    """Reads a page that failed in two halves."""

    size, attempts = 100, 1

    def page(self, start, size):
        url = self.list_url + "?" + urllib.parse.urlencode({"page[page]": start, "page[size]": size})
        for _ in range(4):
            try:
                _, fields, data = self.get(url)
                return json.loads(data), self.next_page(url, fields, None)
            except Refused as reason:
                if reason.args[0] != "too many attempts":
                    raise
                time.sleep(0.5)
                if size > 25:
                    first, _ = self.page(start, size // 2)
                    second, more = self.page(start + size // 2, size // 2)
                    return first + second, more
        raise Refused("too many attempts", url)

    def pages(self):
        start, more = 0, True
        while more:
            items, more = self.page(start, self.size)
            yield items
            start += self.size


class Slices(Harvest):
    """Reads each type of calls as a list of its own, three at a time."""

    def slice(self, kind):
        url, count = self.first_page() + "&fundingType=" + kind, 0
        while url:
            _, fields, data = self.get(url)
            count, url = count + len(json.loads(data)), self.next_page(url, fields, None)
        return count

    def run(self):
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            return sum(pool.map(self.slice, ["CALL", "ONGOING_CALL", "PROGRAMME"]))


class Copies(Harvest):
    """Reads the list twice, with the entity tag of each page; keeps a page, its tag and its link when it is whole."""

    def run(self):
        copies = {}
        for _ in range(2):
            url, count = self.first_page(), 0
            while url:
                more = {"If-None-Match": copies[url][0]} if url in copies else {}
                status, fields, data = self.get(url, **more)
                if status != 304:
                    items = json.loads(data)
                    copies[url] = fields.get("ETag", ""), len(items), self.next_page(url, fields, items)
                _, items, url = copies[url]
                count += items
        return count


class Dated(Whole):
    """Reads the list twice; the second time it asks for what has changed since the date of the first answer."""

    def run(self):
        _, fields, data = self.get(self.list_url)
        time.sleep(3)
        status, _, again = self.get(self.list_url, **{"If-Modified-Since": fields.get("Last-Modified", fields["Date"])})
        return len(json.loads(data if status == 304 else again))


class FromRegistry(Harvest):
    """Takes the token endpoint of its own node from the registry, and looks at the other entries only."""

    def registry(self):
        _, _, data = self.persist("GET", os.environ["RIN_REGISTRY_URL"], lambda: {})
        return json.loads(data)["member"]

    def run(self):
        for member in self.registry():
            if member["id"] == os.environ["RIN_NODE_ID"]:
                self.token_url, self.info_url = member["oauth2"], member["info"]
        self.get(self.info_url, **{"Content-Type": "application/json"})
        return super().run()


CLIENTS = {c.__name__: c for c in (Harvest, Whole, Basic, InfoFirst, SmallPages, Nightly, Parallel, Fifty, Supervised, TwoProcesses, Backwards, Halves, Slices, Copies, Dated, FromRegistry)}

if __name__ == "__main__":
    try:
        print(CLIENTS[sys.argv[1]]().run(), "funding calls")
    except Refused as reason:
        sys.exit(f"refused: {reason}")
