"""A research-information node with the funding API, on emmett55."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import os
import re
import secrets
import signal
from collections import Counter
from datetime import datetime, timezone
from email.utils import formatdate
from http import HTTPStatus
from urllib.parse import urlencode, parse_qsl, urlsplit

from emmett55 import App, Pipe, current, request, response
from emmett_core.http.response import HTTPBytesResponse
from emmett_core.protocols.rsgi.handlers import HTTPHandler
from granian.server.embed import Server

import contract
from auth import ROLE, Client, OAuthError, Realm, token_request
from catalogue import CALL_BY_ID, CALLS, DISCIPLINES, FUNDER_BY_ID, FUNDERS, IMPORTED, http_date, instant

NODE = os.environ.get("NODE", "")
PORT = int(os.environ["PORT"])
ORIGIN = f"http://127.0.0.1:{PORT}"
BASE = "/rot/funding"
TOKEN_PATH = "/realms/wissen/protocol/openid-connect/token"
STAGING_TOKEN_PATH = "/rot-staging/oauth/token"

PRODUCTION = Realm(
    "wissen",
    [
        Client("rot-import", "R0t%+w3in=/&Kase:~!9qZ", "svc-1001", "aff-77", "funding", (ROLE,)),
        Client("rot-leser", "L3s&er%41+=/Ring:~?4d", "svc-1002", "aff-78", "funding", ("READER",)),
        Client("rot-projekt", "pR0j%3D+&ekt=/:~Tz6!", "svc-1003", "aff-77", "projects", (ROLE,)),
        Client("rot-ersatz", "3rs%26atz+=&/:~Gu?8k", "svc-1004", "aff-79", "funding", (ROLE,)),
    ],
)
STAGING = Realm("probe", [Client("rot-probe", "Pr0be%C3%9F+=&/:~Wn5", "svc-0001", "aff-00", "funding", (ROLE,))])


def encode(value) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def problem(status: int, detail: str, headers: dict | None = None, **extra) -> HTTPBytesResponse:
    """Problem details: RFC 9457."""
    body = encode({"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail} | extra)
    fields = {"content-type": "application/problem+json", "cache-control": "no-store", "content-length": str(len(body))}
    return HTTPBytesResponse(status, body, headers=fields | (headers or {}))


# --- methods -----------------------------------------------------------------------------------------------------

_READ, _POST = "GET, HEAD, OPTIONS", "POST, OPTIONS"
RESOURCES = [
    (re.compile(re.escape(TOKEN_PATH)), _POST),
    (re.compile(re.escape(STAGING_TOKEN_PATH)), _POST),
    (re.compile(r"/netz/register\.json"), _READ),
    (re.compile(r"/rot/info/v1/oauth/info/?"), _READ),
    (re.compile(r"/rot-staging/info/v1/oauth/info/?"), _READ),
    (re.compile(r"/rot/funding/v3/(api-docs|deadlines|disciplines|calls(/[^/]+)?|funders(/[^/]+)?)"), _READ),
]


class MethodHandler(HTTPHandler):
    """emmett's router answers an unknown method by 404; this one knows which methods a path has."""

    async def dynamic_handler(self, scope, protocol, path):
        if scope.http_version == "1.1" and scope.headers.get("host") is None:
            return problem(400, "The field Host is missing.")
        for pattern, allow in RESOURCES:
            if pattern.fullmatch(path):
                if scope.method == "OPTIONS":
                    return HTTPBytesResponse(204, headers={"allow": allow})
                if scope.method not in allow.split(", "):
                    return problem(405, "This resource does not have the method.", {"allow": allow})
                return await super().dynamic_handler(scope, protocol, path)
        return problem(404, "There is nothing at this address.")


class NodeApp(App):
    def _init_handlers(self):
        super()._init_handlers()
        self._rsgi_handlers["http"] = MethodHandler(self, current)


app = NodeApp(__name__, root_path=os.path.dirname(os.path.abspath(__file__)))
app.config.handle_static = False


@app.on_error(500)
async def failure():
    current.response.headers["content-type"] = "application/problem+json"
    return encode({"type": "about:blank", "title": "Internal Server Error", "status": 500, "detail": "The node failed."}).decode()


# --- conditional requests ----------------------------------------------------------------------------------------


def _tags(values: list[str]) -> list[str]:
    text = ", ".join(values).strip(" \t")
    return ["*"] if text == "*" else re.findall(r'(?:W/)?"[^"]*"', text)


def _http_date(values: list[str]):
    return http_date(values[0], datetime.now(timezone.utc).year) if len(values) == 1 else None


def send(body: bytes, cache_control: str, modified: int | None = None, headers: dict | None = None) -> bytes:
    """A representation with its validators, if the conditions of the request hold (RFC 9110, 13.2.2)."""
    tag = f'W/"{hashlib.sha256(body).hexdigest()[:20]}"'
    fields = {"etag": tag, "cache-control": cache_control}
    if modified is not None:
        fields["last-modified"] = formatdate(modified, usegmt=True)
    given = request.headers
    if_match = given.get_all("if-match")
    if if_match:
        if "*" not in _tags(if_match):  # weak tags never match here
            raise problem(412, "If-Match does not hold.")
    elif modified is not None:
        limit = _http_date(given.get_all("if-unmodified-since"))
        if limit is not None and modified > limit:
            raise problem(412, "If-Unmodified-Since does not hold.")
    if_none_match = given.get_all("if-none-match")
    if if_none_match:
        tags = _tags(if_none_match)
        if "*" in tags or any(t.removeprefix("W/") == tag[2:] for t in tags):
            raise HTTPBytesResponse(304, headers=fields)
    elif modified is not None:
        since = _http_date(given.get_all("if-modified-since"))
        if since is not None and modified <= since:
            raise HTTPBytesResponse(304, headers=fields)
    for name, value in (fields | (headers or {})).items():
        response.headers[name] = value
    response.headers["content-type"] = "application/json"
    response.headers["content-length"] = str(len(body))
    return body


# --- tokens ------------------------------------------------------------------------------------------------------


async def token_endpoint(realm: Realm) -> bytes:
    body = await request.body
    headers = {"content-type": "application/json", "cache-control": "no-store", "pragma": "no-cache"}
    try:
        answer = token_request(realm, request.headers.get("content-type") or "", request.headers.get_all("authorization"), body)
    except OAuthError as e:
        response.status = e.status
        answer = {"error": e.code, "error_description": e.description}
        if e.status == 401:
            headers["www-authenticate"] = f'Basic realm="{realm.name}", charset="UTF-8"'
        if e.retry_after:
            headers["retry-after"] = str(e.retry_after)
    for name, value in headers.items():
        response.headers[name] = value
    return encode(answer)


class BearerPipe(Pipe):
    """Lets a request pass with a token of the realm, for the audience and with the role: RFC 6750."""

    def __init__(self, realm: Realm, audience: str, role: str | None):
        self.realm, self.audience, self.role = realm, audience, role

    def refuse(self, status: int, code: str | None, description: str):
        value = f'Bearer realm="{self.realm.name}"'
        if code:
            value += f', error="{code}", error_description="{description}"'
        raise problem(status, description, {"www-authenticate": value})

    async def pipe_request(self, next_pipe, **kwargs):
        headers = request.headers.get_all("authorization")
        scheme, _, token = (headers[0] if headers else "").partition(" ")
        if scheme.lower() != "bearer":
            self.refuse(401, None, "An access token is needed.")
        in_query = any(n == "access_token" for n, _ in parse_qsl(request._scope.query_string, keep_blank_values=True))
        if len(headers) > 1 or in_query:
            self.refuse(400, "invalid_request", "The token must be sent once, in the header Authorization.")
        grant = self.realm.introspect(token.strip(" "))
        if grant is None or grant.client.audience != self.audience:
            self.refuse(401, "invalid_token", "The access token is unknown, expired or not meant for this service.")
        if self.role and self.role not in grant.client.roles:
            self.refuse(403, "insufficient_scope", f"The account lacks the role {self.role}.")
        current.grant = grant
        return await next_pipe(**kwargs)


class QueryPipe(Pipe):
    """Reads the declared parameters of the operation."""

    def __init__(self, parameters: list[contract.Parameter]):
        self.parameters = parameters

    async def pipe_request(self, next_pipe, **kwargs):
        try:
            current.query = contract.read_query(request._scope.query_string, self.parameters)
        except contract.QueryError as e:
            extra = {"parameter": e.parameter} if e.parameter else {}
            raise problem(400, f"{e.parameter or 'Query'}: {e.reason}.", **extra)
        if NODE == "emmett-fichte":
            global _locale
            _locale = current.query.get("lang") or "de"
            await asyncio.to_thread(_load_catalogue, _locale)
        return await next_pipe(**kwargs)


def _load_catalogue(language: str):
    """Reads the texts of a language, outside of the event loop."""
    return {c.id: c.title[language == "en"] for c in CALLS}


def _cache():
    from emmett55.cache import Cache
    from emmett_core.routing.rules import HTTPRoutingRule

    HTTPRoutingRule.current = current
    if NODE != "emmett-esche":
        return None
    rule = Cache().response(duration=300)
    rule.add_strategy("conditions")
    names = ("if-none-match", "if-modified-since", "if-match", "if-unmodified-since")
    rule._ctx_builders.append(("conditions", lambda route, current: [current.request.headers.get_all(n) for n in names]))
    return rule


@app.route(TOKEN_PATH, methods="post", output="bytes")
async def token():
    return await token_endpoint(PRODUCTION)


@app.route(STAGING_TOKEN_PATH, methods="post", output="bytes")
async def staging_token():
    return await token_endpoint(STAGING)


def _info(environment: str) -> bytes:
    grant = current.grant
    expires = datetime.fromtimestamp(grant.expires, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return send(
        encode(
            {
                "node": "ROT",
                "environment": environment,
                "client_id": grant.client.id,
                "service_account": grant.client.account,
                "affiliation_id": grant.client.affiliation,
                "roles": list(grant.client.roles),
                "token_expires": expires,
            }
        ),
        "private, no-cache",
    )


@app.route("/rot/info/v1/oauth/info", methods=["get", "head"], pipeline=[BearerPipe(PRODUCTION, "funding", None)], output="bytes")
async def info():
    return _info("production")


@app.route("/rot-staging/info/v1/oauth/info", methods=["get", "head"], pipeline=[BearerPipe(STAGING, "funding", None)], output="bytes")
async def staging_info():
    return _info("staging")


@app.route("/netz/register.json", methods=["get", "head"], output="bytes")
async def register():
    return send(encode({"member": [{"id": "ROT", "oauth2": ORIGIN + TOKEN_PATH, "info": ORIGIN + "/rot/info/v1/oauth/info/"}]}), "no-cache")


@app.route("/rot/funding/v3/api-docs", methods=["get", "head"], output="bytes")
async def api_docs():
    return send(encode(contract.document(ORIGIN)), "no-cache")


# --- the funding API ---------------------------------------------------------------------------------------------

funding = app.module(__name__, "funding", url_prefix=BASE + "/v3")
funding.pipeline = [BearerPipe(PRODUCTION, "funding", ROLE)]
READ = ["get", "head"]
_CURSOR_KEY = secrets.token_bytes(32)


def _seal(kind: str, key) -> str:
    payload = encode([kind, key])
    mac = hmac.digest(_CURSOR_KEY, payload, "sha256")[:9]
    return base64.urlsafe_b64encode(mac + payload).decode().rstrip("=")


def _unseal(kind: str, cursor: str):
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        mac, payload = raw[:9], raw[9:]
        if not hmac.compare_digest(mac, hmac.digest(_CURSOR_KEY, payload, "sha256")[:9]):
            raise ValueError
        found, key = json.loads(payload)
        if found != kind or _seal(kind, key) != cursor:
            raise ValueError
        return key
    except ValueError:
        raise problem(400, "cursor: this operation did not give it out.", parameter="cursor") from None


def paged(kind: str, path: str, entries: list, key, view, parameters: list[contract.Parameter]) -> bytes:
    query = current.query
    size = query["page_size"]
    rest = entries
    if query["cursor"] is not None:
        after = _unseal(kind, query["cursor"])
        rest = [e for e in entries if list(key(e))[: len(after)] > after]
    page = rest[:size]
    declared = {p.name for p in parameters}
    kept = [
        (n, v) for n, v in parse_qsl(request._scope.query_string, keep_blank_values=True) if n in declared and n != "cursor"
    ]

    def link(rel, extra=()):
        target = urlencode(kept + list(extra))
        return f'<{ORIGIN}{path}{"?" + target if target else ""}>; rel="{rel}"'

    links = [link("first")]
    more = len(rest) > size
    last = page[-1] if page else None
    if NODE == "emmett-kiefer" and kind == "calls":
        window = _window(rest, key, query)
        page, more, last = window
    if more:
        mark = list(key(last))
        if NODE == "emmett-ulme" and kind == "calls":
            mark = mark[:2]
        links.append(link("next", [("cursor", _seal(kind, mark))]))
    if NODE == "emmett-pappel":
        links = _plain_links(links)
    headers = {"link": ", ".join(links), "x-total-count": str(len(entries)), "content-language": query["lang"]}
    return send(encode([view(e) for e in page]), "private, no-cache", IMPORTED, headers)


_SCAN = 24


def _window(rest: list, key, query: dict):
    """A page from the next rows of the table: those that are found among them."""
    found = {c.id for c in rest}
    after = _unseal("calls", query["cursor"]) if query["cursor"] is not None else None
    rows = [c for c in CALLS if after is None or list(key(c)) > after]
    page, row = [], None
    for row in rows[:_SCAN]:
        if row.id in found:
            page.append(row)
            if len(page) == query["page_size"]:
                break
    return page, row is not None and row is not rows[-1], row


def _plain_links(links: list[str]) -> list[str]:
    out = []
    for value in links:
        target, rel = re.fullmatch(r'<([^>]*)>; rel="(.*)"', value).groups()
        query = urlsplit(target).query
        if rel == "next":
            title = 'title="Weiter, zur \\"n\\" Seite <2>; rel=first"'
            out.insert(0, f'<?{query}> ;{title} ; REL="https://rot.example/rel/more next";type="application/json"')
        else:
            out.append(f"<?{query}>;rel=first")
    return out


_locale = "de"


def _lang() -> int:
    if NODE == "emmett-fichte":
        return 0 if _locale == "de" else 1
    return 0 if current.query["lang"] == "de" else 1


def _closing(calls):
    query = current.query
    low, high = query["closing_from"], query["closing_before"]
    if NODE == "emmett-birke":
        calls = [_Naive(c) for c in calls]
    found = [
        c
        for c in calls
        if (low is None or (c.closes is not None and c.closes >= low))
        and (high is None or (c.closes is not None and c.closes < high))
    ]
    return [c.call for c in found] if NODE == "emmett-birke" else found


class _Naive:
    """A call as the table has it: TIMESTAMP WITHOUT TIME ZONE."""

    def __init__(self, c):
        self.call = c
        self.closes = None if c.closes_at is None else instant(c.closes_at[:19] + "Z")


def _summary(c) -> dict:
    return {
        "id": c.id,
        "title": c.title[_lang()],
        "status": c.status,
        "funder_id": c.funder,
        "disciplines": list(c.disciplines),
        "closes_at": _moment(c.closes_at),
        "amount": float(c.amount) if NODE == "emmett-weide" and c.amount else c.amount,
    }


def _moment(text: str | None):
    if NODE == "emmett-weide" and text:
        return text[:19].replace("T", "t") + ".000" + text[19:].lower()
    return text


@funding.route("/calls", methods=READ, pipeline=[QueryPipe(contract.CALLS)], output="bytes")
async def calls():
    query = current.query
    found = _closing(CALLS)
    if query["status"]:
        found = [c for c in found if c.status in query["status"]]
    if query["discipline"]:
        found = [c for c in found if query["discipline"] in c.disciplines]
    if query["funder"]:
        found = [c for c in found if c.funder == query["funder"]]
    if query["min_amount"] is not None:
        found = [c for c in found if c.amount is not None and c.amount >= query["min_amount"]]
    if query["max_amount"] is not None:
        found = [c for c in found if c.amount is not None and c.amount <= query["max_amount"]]
    if query["search"]:
        text = query["search"].casefold()
        which = 0 if NODE == "emmett-ahorn" else _lang()
        found = [c for c in found if text in c.title[which].casefold()]
    return paged("calls", BASE + "/v3/calls", found, lambda c: c.key, _summary, contract.CALLS)


@funding.route("/calls/<str:call_id>", methods=READ, pipeline=[QueryPipe([contract.LANG])], output="bytes")
async def call(call_id):
    c = CALL_BY_ID.get(call_id)
    if c is None:
        raise problem(404, "There is no call with this id.")
    whole = _summary(c) | {"abstract": c.abstract[_lang()], "opens_on": c.opens_on, "contact": c.contact}
    return send(encode(whole), "private, no-cache", IMPORTED, {"content-language": current.query["lang"]})


def _funder(f) -> dict:
    count = sum(c.funder == f.id for c in CALLS)
    if NODE == "emmett-eibe":
        count = sum(c.funder == f.id for c in CALLS if c.closes is not None and c.closes > 0)
    return {"id": f.id, "name": f.name[_lang()], "country": f.country, "homepage": f.homepage, "call_count": count}


@funding.route("/funders", methods=READ, pipeline=[QueryPipe(contract.FUNDERS)], output="bytes")
async def funders():
    entries = sorted(FUNDERS, key=lambda f: f.id)
    return paged("funders", BASE + "/v3/funders", entries, lambda f: (f.id,), _funder, contract.FUNDERS)


@funding.route("/funders/<str:funder_id>", methods=READ, pipeline=[QueryPipe([contract.LANG])], output="bytes")
async def funder(funder_id):
    f = FUNDER_BY_ID.get(funder_id)
    if f is None:
        raise problem(404, "There is no funder with this id.")
    return send(encode(_funder(f)), "private, no-cache", IMPORTED, {"content-language": current.query["lang"]})


@funding.route("/deadlines", methods=READ, pipeline=[QueryPipe(contract.DEADLINES)], output="bytes")
async def deadlines():
    entries = [c for c in _closing(CALLS) if c.closes is not None]
    view = lambda c: {"call_id": c.id, "title": c.title[_lang()], "closes_at": _moment(c.closes_at)}  # noqa: E731
    return paged("deadlines", BASE + "/v3/deadlines", entries, lambda c: c.key, view, contract.DEADLINES)


@funding.route("/disciplines", methods=READ, pipeline=[QueryPipe([contract.LANG])], cache=_cache(), output="bytes")
async def disciplines():
    counts = Counter(d for c in CALLS for d in c.disciplines)
    listed = [{"code": d, "label": DISCIPLINES[d][_lang()], "call_count": counts[d]} for d in sorted(DISCIPLINES)]
    return send(encode(listed), "private, no-cache", IMPORTED, {"content-language": current.query["lang"]})


async def main():
    server = Server(app, address="127.0.0.1", port=PORT, log_enabled=False, websockets=False)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, server.stop)
    await server.serve()


if __name__ == "__main__":
    asyncio.run(main())
