"""Message-queue worker (asyncio queue standing in for the broker): page messages are consumed by three workers,
records go to an index queue. Poison messages go to a dead-letter list; with one of them the process ends with 1."""
import asyncio, os, sys
from email.utils import parsedate_to_datetime as pdate
import aiohttp
from yarl import URL

E = os.environ
HOME = URL(E["RIN_FUNDINGS_URL"])
TYPES = ["CALL", "ONGOING_CALL", "PROGRAMME", "AWARD", "GRANT", "SCHOLARSHIP", "RESEARCH_CONTRACT"]


class Api:
    def __init__(self, http):
        self.http, self.token, self.turn, self.gate = http, None, asyncio.Lock(), asyncio.Lock()

    async def once(self, method, url, **kw):
        """One request; while the node asks for a pause nobody else sends anything."""
        for n in range(6):
            async with self.gate:
                async with self.http.request(method, url, allow_redirects=False, **kw) as r:
                    body = await r.read()
                    if r.status not in (429, 503):
                        return r, body
                    v = r.headers.get("Retry-After", "2")
                    w = int(v) if v.isdigit() else (pdate(v) - pdate(r.headers["Date"])).total_seconds()
                    if w > 15:
                        raise RuntimeError(f"the node is away for {w} s")
                    await asyncio.sleep(max(w, 0.5) + 0.05)
        raise RuntimeError(f"{r.status} six times")

    async def bearer(self, bad=None):
        async with self.turn:
            if self.token is None or self.token == bad:
                r, body = await self.once("POST", E["RIN_TOKEN_URL"], data={"grant_type": "client_credentials",
                    "client_id": E["RIN_CLIENT_ID"], "client_secret": E["RIN_CLIENT_SECRET"]})
                if r.status != 200:
                    raise RuntimeError(f"token endpoint: {r.status}")
                import json
                self.token = json.loads(body)["access_token"]
            return self.token

    async def get(self, url):
        tok = await self.bearer()
        for last in (0, 1):
            r, body = await self.once("GET", url, headers={"Authorization": f"Bearer {tok}"})
            if r.status != 401 or last:
                break
            tok = await self.bearer(bad=tok)
        if r.status in (307, 308):
            to = url.join(URL(r.headers["Location"]))
            if to.origin() != HOME.origin() or to.with_query(None).path.rstrip("/") != HOME.path.rstrip("/"):
                raise RuntimeError(f"moved to {to}")
            r, body = await self.once("GET", to, headers={"Authorization": f"Bearer {tok}"})
        if r.status != 200:
            raise RuntimeError(f"{r.status} for {url}")
        return r, body


async def main():
    import json
    q, index, dead, seen = asyncio.Queue(), {}, [], set()
    for t in TYPES:
        q.put_nowait(HOME.with_query({"fundingType": t, "page[page]": "0", "page[size]": "50"}))
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=60)) as http:
        api = Api(http)

        async def worker():
            while True:
                url = await q.get()
                try:
                    if dead:          # the broker is drained, nothing more is asked
                        continue
                    if url in seen:
                        raise RuntimeError(f"{url} twice")
                    seen.add(url)
                    r, body = await api.get(url)
                    rows = json.loads(body)
                    for x in rows:
                        index[x["id"]] = x
                    nxt = r.links.get("next")
                    if nxt:
                        to = url.join(nxt["url"])
                        if to.origin() != HOME.origin():
                            raise RuntimeError(f"next page on another host: {to}")
                        q.put_nowait(to)
                    elif "Link" not in r.headers and rows:      # no links at all: until an empty page
                        q.put_nowait(url.update_query({"page[page]": str(int(url.query["page[page]"]) + 50)}))
                except Exception as e:
                    dead.append((str(url), repr(e)))
                finally:
                    q.task_done()

        tasks = [asyncio.create_task(worker()) for _ in range(3)]
        await q.join()
        for t in tasks:
            t.cancel()
    print(len(index), "records indexed,", len(dead), "dead letters")
    for d in dead:
        print("dead:", *d, file=sys.stderr)
    return 1 if dead else 0

sys.exit(asyncio.run(main()))
