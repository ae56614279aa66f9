"""Clients with one fault each. Usage: python3 wrong.py NAME"""

import concurrent.futures
import email.utils
import http.client
import json
import os
import sys
import time
import urllib.parse

from harvest import FromRegistry, Harvest, Refused, Whole


class TokenPerCall(Harvest):
    """Fetches a token before each call."""

    def good_token(self, refused=""):
        self.fetch_token()
        return self.token


class KeepsRefusedToken(Harvest):
    """Repeats a call with the token that was refused."""

    def good_token(self, refused=""):
        return super().good_token()


class TokenForEver(Harvest):
    """Treats a refusal of its token as the end of its work."""

    def get(self, url, **more):
        status, fields, data = self.persist("GET", url, lambda: self.header(**more))
        return status, fields, data

    def run(self):
        try:
            return super().run()
        except Refused:
            return 0


class EndlessTokens(Harvest):
    """Fetches a new token as often as one is refused."""

    def get(self, url, **more):
        for _ in range(8):
            try:
                return super().get(url, **more)
            except Refused as reason:
                if reason.args[0] not in ("refused again", 401):
                    raise


class SecretInUrl(Harvest):
    """Asks for a token with the credentials in the query."""

    def fetch_token(self):
        _, form = self.token_request()
        self.token_url = self.token_url.partition("?")[0] + "?" + form
        super().fetch_token()


class TokenByGet(Harvest):
    """Fetches its token with GET."""

    def exchange(self, method, url, header, body=None):
        if method == "POST":
            return super().exchange("GET", url + "?grant_type=client_credentials", {**header, "Authorization": "Basic bm86bm8="})
        return super().exchange(method, url, header, body)


class TokenInQuery(Harvest):
    """Sends the token as a parameter of the URL."""

    def exchange(self, method, url, header, body=None):
        token = header.pop("Authorization", "").removeprefix("Bearer ")
        if method == "GET":
            url += ("&" if "?" in url else "?") + urllib.parse.urlencode({"access_token": token})
        return super().exchange(method, url, header, body)


class OtherScheme(Harvest):
    """Writes Token in place of Bearer."""

    def exchange(self, method, url, header, body=None):
        if method == "GET":
            header = {**header, "Authorization": header["Authorization"].replace("Bearer", "Token")}
        return super().exchange(method, url, header, body)


class JsonTokenRequest(Harvest):
    """Asks for a token in JSON."""

    def token_request(self):
        return {"Content-Type": "application/json"}, json.dumps(
            {"grant_type": "client_credentials", "client_id": self.client_id, "client_secret": self.secret})


class SecretToApi(Harvest):
    """Authenticates to the API with its id and secret."""

    def header(self, **more):
        self.basic = True
        return {**self.token_request()[0], "Content-Type": "application/json", **more}


class FollowsAnywhere(Harvest):
    """Takes its token along to whatever host a redirect names."""

    def get(self, url, **more):
        for _ in range(4):
            status, fields, data = self.persist("GET", url, lambda: self.header(**more))
            if status not in (301, 302, 307, 308):
                return status, fields, data
            url = urllib.parse.urljoin(url, fields["Location"])


class NoPatience(Harvest):
    """Repeats at once what was answered 429 or 503."""

    def wait(self, fields, attempt):
        pass


class DateIsZero(Harvest):
    """Reads Retry-After as a number, and a date as zero."""

    def wait(self, fields, attempt):
        told = fields.get("Retry-After", "")
        time.sleep(int(told) + 0.2 if told.isdigit() else 0)


class GivesUp(Harvest):
    """Ends its work at the first 429 or 503."""

    def wait(self, fields, attempt):
        print("the node is busy")
        sys.exit(0)


class Hammers(Harvest):
    """Repeats failures at once."""

    def pause(self, attempt):
        pass


class CutIsEnd(Harvest):
    """Takes a page that failed for the end of the list."""

    attempts = 1

    def run(self):
        items = []
        try:
            for page in self.pages():
                items += page
        except Refused:
            pass
        return len(items)


class FirstPageOnly(Harvest):
    """Does not know that lists have pages."""

    def next_page(self, url, fields, items):
        return None


class EmptyIsEnd(Harvest):
    """Stops at an empty page although a link goes on."""

    def next_page(self, url, fields, items):
        return super().next_page(url, fields, items) if items else None


class OffsetAsPage(Harvest):
    """Counts pages where the node counts records."""

    def next_page(self, url, fields, items):
        self.page = getattr(self, "page", 0) + 1
        return self.list_url + "?" + urllib.parse.urlencode({"page[page]": self.page, "page[size]": self.size}) if self.page < 6 else None


class PastTheEnd(Harvest):
    """Asks for pages until one is empty, although links name the last one."""

    def next_page(self, url, fields, items):
        self.read = getattr(self, "read", 0) + len(items)
        return self.list_url + "?" + urllib.parse.urlencode({"page[page]": self.read, "page[size]": self.size}) if items else None


class Circle(Harvest):
    """Reads the first page again and again."""

    def pages(self):
        for _ in range(12):
            yield json.loads(self.get(self.first_page())[2])


class ReadsAgain(Whole):
    """Reads the whole list four times without a condition."""

    def run(self):
        return sum(Whole.run(self) for _ in range(4))


class BrokenAsWhole(Whole):
    """Takes what came of an answer that breaks off for the whole."""

    def persist(self, method, url, header, body=None):
        for attempt in range(self.attempts):
            try:
                time.sleep(max(0, self.not_before - time.monotonic()))
                status, fields, data = self.exchange(method, url, header(), body)
            except (OSError, http.client.HTTPException):
                return 200, {}, b"[]"
            if status in (429, 503):
                self.wait(fields, attempt)
            elif status >= 500:
                self.pause(attempt)
            elif status >= 400:
                raise Refused(status, url)
            else:
                return status, fields, data

    def run(self):
        _, _, data = self.get(self.first_page())
        try:
            return len(json.loads(data))
        except ValueError:
            return 0


class Posts(Harvest):
    """Searches the list with POST."""

    def exchange(self, method, url, header, body=None):
        if method == "GET" and url.startswith(self.list_url):
            return super().exchange("POST", url, {**header, "Content-Type": "application/json"}, "{}")
        return super().exchange(method, url, header, body)


class WrongSecretAgain(Harvest):
    """Tries a secret that was refused six times."""

    def run(self):
        self.secret += "x"
        for _ in range(6):
            try:
                return super().run()
            except Refused:
                time.sleep(0.1)


class HugePages(Harvest):
    """Asks for more records on a page than the document allows."""

    size = 100000


class NoToken(Harvest):
    """Reads the guarded list without a token."""

    def get(self, url, **more):
        return self.persist("GET", url, lambda: {})


class DropsFilter(Harvest):
    """Sends its filter with the first page only."""

    def first_page(self):
        return super().first_page() + "&runningCalls=true"

    def next_page(self, url, fields, items):
        self.read = getattr(self, "read", 0) + self.size
        more = super().next_page(url, fields, items)
        return self.list_url + "?" + urllib.parse.urlencode({"page[page]": self.read, "page[size]": self.size}) if more else None


class LeavesOut(Harvest):
    """Leaves out the pages that fail, with four workers."""

    attempts = 1

    def page(self, start):
        try:
            return json.loads(self.get(self.list_url + "?" + urllib.parse.urlencode({"page[page]": start, "page[size]": 20}))[2])
        except Refused:
            return []

    def run(self):
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            return sum(map(len, pool.map(self.page, range(0, 240, 20))))


class FullPagesOnly(Harvest):
    """Leaves out the last page, because it is not full."""

    size = 100

    def next_page(self, url, fields, items):
        self.count = getattr(self, "count", 0) + 1
        return super().next_page(url, fields, items) if self.count < 2 else None


class DetailsOrNot(Harvest):
    """Takes a record that could not be read for one that does not exist."""

    attempts = 1

    def run(self):
        page, found = json.loads(self.get(self.list_url + "?page%5Bpage%5D=0&page%5Bsize%5D=8")[2]), 0
        for item in page:
            try:
                self.get(self.list_url + "/" + item["id"])
                found += 1
            except Refused:
                pass
        return found


class NumbersPages(Harvest):
    """Counts with page[number], which the node does not know."""

    def next_page(self, url, fields, items):
        self.number = getattr(self, "number", 1) + 1
        full = len(items) == self.size and self.number < 12
        return self.list_url + "?" + urllib.parse.urlencode({"page[number]": self.number, "page[size]": self.size}) if full else None


class OneWaits(Harvest):
    """Lets only the worker wait that was told to; the three others go on."""

    def wait(self, fields, attempt):
        told = fields.get("Retry-After", "")
        time.sleep(int(told) + 0.2 if told.isdigit() else 3.2)

    def work(self, start):
        for offset in range(start, 240, 40):
            time.sleep(0.4)
            self.get(self.list_url + "?" + urllib.parse.urlencode({"page[page]": offset, "page[size]": 10}))

    def run(self):
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(self.work, range(0, 40, 10)))
        return 240


class KeepsTag(Harvest):
    """Keeps the entity tag of a page when its header comes, before the page is whole."""

    def exchange(self, method, url, header, body=None):
        if method != "GET":
            return super().exchange(method, url, header, body)
        tags, copies = self.__dict__.setdefault("tags", {}), self.__dict__.setdefault("copies", {})
        parts = urllib.parse.urlsplit(url)
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=10)
        header = {"User-Agent": "harvest/1.0", "Accept": "application/json", **header, "Accept-Encoding": "identity"}
        if url in tags:
            header["If-None-Match"] = tags[url]
        connection.request(method, url, None, header)
        answer = connection.getresponse()
        if answer.headers.get("ETag"):
            tags[url] = answer.headers["ETag"]
        try:
            data = answer.read()
        finally:
            connection.close()
        if answer.status == 304:
            return 200, {**answer.headers, "Content-Type": "application/json"}, copies.get(url, b"[]")
        copies[url] = data
        return answer.status, answer.headers, data


class EndsShort(Harvest):
    """Writes what it has got when a page fails for good, and ends well."""

    attempts = 3

    def run(self):
        count = 0
        try:
            for page in self.pages():
                count += len(page)
        except Refused as reason:
            print("warning:", reason, file=sys.stderr)
        return count


class Multiplies(Harvest):
    """Repeats five times what its library has repeated five times."""

    def pause(self, attempt):
        time.sleep(0.1 * 2**attempt)

    def persist(self, method, url, header, body=None):
        for attempt in range(5):
            try:
                return super().persist(method, url, header, body)
            except Refused as reason:
                if reason.args[0] != "too many attempts":
                    raise
                time.sleep(0.2 * 2**attempt)
        raise Refused("too many attempts", url)


class Census(FromRegistry):
    """Logs in at each node of the registry with the one secret that it has."""

    def run(self):
        found = 0
        for member in self.registry():
            self.token_url, self.token = member["oauth2"], ""
            try:
                self.good_token()
                found += 1
            except Refused:
                pass
        self.token_url, self.token = os.environ["RIN_TOKEN_URL"], ""
        return super().run()


class CarriesToken(FromRegistry):
    """Looks at the info resource of each node with the one token that it has."""

    def run(self):
        for member in self.registry():
            self.persist("GET", self.info_url, lambda: self.header(**{"Content-Type": "application/json"}))
            try:
                self.persist("GET", member["info"], lambda: self.header(**{"Content-Type": "application/json"}))
            except Refused:
                pass
        return super().run()


class OwnClock(Whole):
    """Asks for what has changed since now."""

    def run(self):
        for _ in range(2):
            _, _, data = self.get(self.list_url, **{"If-Modified-Since": email.utils.formatdate(usegmt=True)})
            time.sleep(4)
        return len(json.loads(data))


class LooksFirst(FromRegistry):
    """Reads the registry and the info resource before each page."""

    size = 30

    def next_page(self, url, fields, items):
        self.registry()
        self.get(self.info_url, **{"Content-Type": "application/json"})
        return super().next_page(url, fields, items)


if __name__ == "__main__":
    client = globals()[sys.argv[1]]()
    try:
        print(client.run(), "funding calls")
    except Refused as reason:
        sys.exit(f"refused: {reason}")
