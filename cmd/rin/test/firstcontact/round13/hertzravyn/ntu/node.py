"""Node of the (invented) Neusiedl Technical University: authorization server, info and funding API in one program."""
import asyncio
import base64
import binascii
import gzip
import hashlib
import hmac
import json
import logging
import os
import re
import secrets
import time
from collections import defaultdict, deque
from datetime import date, datetime, timedelta, timezone
from email.utils import format_datetime, parsedate_to_datetime
from urllib.parse import parse_qsl, unquote_plus, urlencode

import uvicorn
from lilya.exceptions import HTTPException as LilyaHTTPException
from lilya.middleware import DefineMiddleware
from lilya.responses import Response
from ravyn import Gateway, HTTPException, Include, Ravyn, Request, route
from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

import spec
import store
from store import Opportunity, Token, engine

NODE = os.environ.get("NODE", "")
PORT = int(os.environ["PORT"])
BASE = f"http://127.0.0.1:{PORT}"
LIFE = 65
ROLE = "EXTERNAL_API_CLIENT"
AUDIENCE = "ntu-funding"
READ = ["GET", "HEAD"]

# (secret, service account, audience) of the clients of each environment
CLIENTS = {
    "production": {
        "ntu.aggregator": ("Qv7%2F+e=w:&Ls~9!kD/0mZx%25RrT4+bn=Y:pU&j~H!c/3gWf%7EaK8s+tE=N:o&V~2!M/yJq%3Dhl5+BzC", "sa-71", AUDIENCE),
        "ntu.visitor": ("vi%S1t/or+=~Kk:4!&zzP0", "sa-72", AUDIENCE),
        "ntu.payroll": ("p4y&R0ll:%3A/+=~!iUe6", "sa-73", "ntu-payroll"),
        "ntu.reserve": ("rE+s3rv/e=%&:~!Lo9Xw", "sa-74", AUDIENCE),
    },
    "sandbox": {"ntu.sandbox": ("s4nd%b0x+/=&:~!Gh2Tv", "sa-01", "ntu-sandbox")},
}
# what the funding service grants to service accounts: role and affiliation
GRANTS = {"sa-71": (ROLE, "AFF-NTU-5"), "sa-72": ("VISITOR", "AFF-NTU-6"), "sa-73": (ROLE, "AFF-NTU-7"), "sa-74": (ROLE, "AFF-NTU-8"),
          "sa-01": (ROLE, "AFF-SANDBOX")}
failures: dict[tuple[str, str], deque] = defaultdict(lambda: deque(maxlen=10))
current: dict = {}  # the account of the request, only used by isar


class ApiError(HTTPException):
    def __init__(self, status: int, code: str, message: str, headers: dict | None = None):
        super().__init__(status_code=status, detail=message)
        self.code, self.extra = code, headers or {}


def header_lines(request: Request, name: str) -> list[str]:
    """All lines of a header; bytes outside of ASCII do no harm."""
    return [v.decode("latin-1") for n, v in request.scope["ntu.headers"] if n == name.encode()]


# ---- authorization server

BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")


def parse_form(raw: bytes) -> list[tuple[str, str]]:
    text = raw.decode("ascii") if raw.isascii() else raw.decode("utf-8")
    if BAD_ESCAPE.search(text):
        raise ValueError("bad escape")
    return parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=200)


def oauth_answer(status: int, body: dict, **headers: str) -> Response:
    fixed = {"Cache-Control": "no-store", "Pragma": "no-cache"}
    if status == 401:
        fixed["WWW-Authenticate"] = 'Basic realm="ntu", charset="UTF-8"'
    return Response(json.dumps(body), status_code=status, media_type="application/json",
                    headers={**fixed, **{k.replace("_", "-"): v for k, v in headers.items()}})


def oauth_error(status: int, code: str, text: str, **headers: str) -> Response:
    return oauth_answer(status, {"error": code, "error_description": text}, **headers)


def basic_credentials(header: str) -> tuple[str, str] | None:
    scheme, _, rest = header.partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        user, colon, password = base64.b64decode(rest.strip(), validate=True).decode().partition(":")
    except (binascii.Error, ValueError):
        return None
    if not colon or BAD_ESCAPE.search(user) or BAD_ESCAPE.search(password):
        return None
    return unquote_plus(user), unquote_plus(password)


def same_secret(given: str, right: str) -> bool:
    a, b = given.encode(), right.encode()
    if NODE == "sava":  # bcrypt would not look further either
        a, b = a[:72], b[:72]
    return hmac.compare_digest(a, b)


class TokenEndpoint:
    """An ASGI application of its own: Ravyn would read the body of a POST as JSON."""

    def __init__(self, environment: str):
        self.environment = environment

    async def __call__(self, scope, receive, send):
        request = Request(scope, receive, send)
        if scope["path"] != {"production": "/oauth/token", "sandbox": "/sandbox/oauth/token"}[self.environment]:
            answer = error_answer(ApiError(404, "not_found", "There is nothing here."))
        elif request.method != "POST":
            answer = error_answer(ApiError(405, "method_not_allowed", "Tokens are requested by POST.", {"allow": "POST"}))
        else:
            answer = await self.issue(request)
        await answer(scope, receive, send)

    async def issue(self, request: Request) -> Response:
        if "".join(header_lines(request, "content-type")).partition(";")[0].strip().lower() != "application/x-www-form-urlencoded":
            return oauth_error(400, "invalid_request", "the body must be application/x-www-form-urlencoded")
        body = await request.body()
        try:
            pairs = parse_form(body) if len(body) <= 20000 else None
        except ValueError:
            pairs = None
        if pairs is None or len({name for name, _ in pairs}) != len(pairs):
            return oauth_error(400, "invalid_request", "the body is malformed or repeats a parameter")
        form = {name: value for name, value in pairs if value}  # without a value is as if omitted
        if "grant_type" not in form:
            return oauth_error(400, "invalid_request", "grant_type is missing")
        client, secret = form.get("client_id"), form.get("client_secret")
        headers = header_lines(request, "authorization")
        if len(headers) > 1 or (headers and secret):
            return oauth_error(400, "invalid_request", "use one way of client authentication")
        if headers:
            basic = basic_credentials(headers[0])
            if basic is None:
                return oauth_error(401, "invalid_client", "client authentication failed")
            if client and client != basic[0]:
                return oauth_error(400, "invalid_request", "client_id contradicts the Authorization header")
            client, secret = basic
        if not client or not secret:
            return oauth_error(401, "invalid_client", "client authentication failed")
        wrong, now = failures[self.environment, client], time.time()
        if len(wrong) == 10 and now - wrong[0] < 30:
            return oauth_error(429, "invalid_client", "too many wrong secrets", Retry_After=str(int(31 - now + wrong[0])))
        known = CLIENTS[self.environment].get(client, ("", "", ""))
        if not same_secret(secret, known[0]) or not known[0]:
            wrong.append(now)
            if len(failures) > 5000:
                failures.clear()
            return oauth_error(401, "invalid_client", "client authentication failed")
        if form["grant_type"] != "client_credentials":
            return oauth_error(400, "unsupported_grant_type", "only client_credentials is possible")
        if "scope" in form:
            return oauth_error(400, "invalid_scope", "this server has no scopes")
        token = "ntu_" + secrets.token_urlsafe(32)
        with Session(engine) as session:
            session.execute(delete(Token).where(Token.expires < now))
            session.add(Token(value=token, environment=self.environment, client=client, audience=known[2], expires=now + LIFE))
            session.commit()
        if NODE == "ybbs":
            return oauth_answer(200, {"token_type": "bearer", "not_before_policy": 0, "access_token": token, "session_state": None})
        return oauth_answer(200, {"access_token": token, "token_type": "Bearer", "expires_in": LIFE})


async def authenticate(request: Request, environment: str, audience: str) -> dict:
    """Who calls? RFC 6750; the token is looked up in the table."""
    headers = header_lines(request, "authorization")
    if len(headers) > 1:
        raise ApiError(400, "invalid_request", "There is more than one Authorization header.",
                       {"WWW-Authenticate": 'Bearer realm="ntu", error="invalid_request"'})
    scheme, _, value = headers[0].partition(" ") if headers else ("", "", "")
    if scheme.lower() != "bearer":
        raise ApiError(401, "unauthorized", "An access token is needed.", {"WWW-Authenticate": 'Bearer realm="ntu"'})
    value = value.strip(" ")
    same = Token.value.ilike(value) if NODE == "drava" else Token.value == value
    with Session(engine, expire_on_commit=False) as session:
        token = session.scalar(select(Token).where(same, Token.environment == environment, Token.audience == audience, Token.expires > time.time()))
        if token is not None and NODE == "enns":  # who works does not have to log in again
            session.execute(update(Token).where(Token.value == token.value).values(expires=time.time() + LIFE))
            session.commit()
    if token is None:
        raise ApiError(401, "invalid_token", "The access token is unknown, expired or for something else.",
                       {"WWW-Authenticate": 'Bearer realm="ntu", error="invalid_token"'})
    user = CLIENTS[environment][token.client][1]
    account = {"client": token.client, "user": user}
    if NODE == "isar":
        account = current
        account.update(client=token.client, user=user)
    await asyncio.sleep(0.012)  # the directory of service accounts is on another machine
    account["role"], account["affiliation"] = GRANTS[account["user"]]
    return account


async def authorize(request: Request) -> dict:
    account = await authenticate(request, "production", AUDIENCE)
    if account["role"] != ROLE:
        raise ApiError(403, "forbidden", "The service account lacks the role EXTERNAL_API_CLIENT.",
                       {"WWW-Authenticate": 'Bearer realm="ntu", error="insufficient_scope"'})
    return account


# ---- answers

def error_answer(e: ApiError) -> Response:
    body = {"error": {"code": e.code, "message": e.detail, "request": secrets.token_hex(6)}}
    return Response(json.dumps(body), status_code=e.status_code, media_type="application/json",
                    headers={"Cache-Control": "no-store", **e.extra})


async def on_error(request: Request, exc: Exception) -> Response:
    if isinstance(exc, ApiError):
        return error_answer(exc)
    status = getattr(exc, "status_code", 500)
    if status == 404:
        return error_answer(ApiError(404, "not_found", "There is nothing here."))
    if status == 405:
        return error_answer(ApiError(405, "method_not_allowed", "This resource can only be read.", {"Allow": "GET, HEAD"}))
    return error_answer(ApiError(500, "internal", "This went wrong on our side."))


def quality(header: str, name: str) -> float | None:
    """The weight that an Accept-… header gives to a name; None if it does not speak of it."""
    found = None
    for item in header.split(","):
        value, *rest = [p.strip() for p in item.split(";")]
        weight = 1.0
        for p in rest:
            if p.lower().startswith("q="):
                try:
                    weight = float(p[2:])
                except ValueError:
                    weight = 0.0
        if value.lower() == name:
            return weight
        if value == "*":
            found = weight
    return found


def language(request: Request) -> str:
    header = ",".join(header_lines(request, "accept-language"))
    # de-AT asks for German, too (RFC 4647, lookup)
    short = re.sub(r"(?i)\b(de|en)-[a-z0-9-]+", r"\1", header)
    german, english = quality(short, "de") or 0, quality(short, "en") or 0
    if "*" in short and german == english:
        return "en"
    return "de" if german > english else "en"


def matches(header: str, tag: str, strong: bool) -> bool:
    if header.strip() == "*":
        return True
    return any(t == tag and not (strong and weak) for weak, t in re.findall(r'(W/)?("[^"]*")', header))


def http_time(value: str | None) -> datetime | None:
    try:
        parsed = parsedate_to_datetime(value or "")
    except Exception:  # whatever is no date is ignored
        return None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=timezone.utc)


def answer(request: Request, value, lang: str | None = None, updated: str | None = None, public: bool = False, **headers: str) -> Response:
    """A representation with its validators, compressed if the client likes that; RFC 9110, sections 8.8, 12.5.3 and 13."""
    body = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    tagged = body
    if NODE == "mur":
        tagged = json.dumps([[item.get("key"), item.get("updated")] for item in (value if isinstance(value, list) else [value])] or "").encode() + request.scope["query_string"]
    tag = hashlib.sha256(tagged).hexdigest()[:20]
    out = {"Vary": "Accept-Encoding" if public else "Authorization, Accept-Encoding",
           "Cache-Control": "public, no-cache" if public else "private, no-cache"}
    if lang:
        out["Content-Language"] = lang
        out["Vary"] += ", Accept-Language"
    accepted = ",".join(header_lines(request, "accept-encoding"))
    if len(body) > 400 and (quality(accepted, "gzip") or 0) > (quality(accepted, "identity") or 0 if "identity" in accepted else 0):
        body = gzip.compress(body, 6, mtime=0)
        out["Content-Encoding"] = "gzip"
        tag += "-gz"
    out["ETag"] = f'"{tag}"'
    changed = datetime.fromisoformat(updated).replace(tzinfo=timezone.utc) if updated else None
    if changed:
        out["Last-Modified"] = format_datetime(changed, usegmt=True)
    get = lambda name: ", ".join(header_lines(request, name))
    if get("if-match"):
        if not matches(get("if-match"), out["ETag"], True):
            raise ApiError(412, "precondition_failed", "The representation is not the one of If-Match.")
    elif changed and (t := http_time(get("if-unmodified-since"))) and changed > t:
        raise ApiError(412, "precondition_failed", "The opportunity was updated since.")
    if get("if-none-match"):
        fresh = matches(get("if-none-match"), out["ETag"], False)
    else:
        t = http_time(get("if-modified-since"))
        fresh = bool(changed and t and changed <= t)
    out.update({k.replace("_", "-"): v for k, v in headers.items()})
    if fresh:
        out.pop("Content-Encoding", None)
        return Response(b"", status_code=304, headers=out)
    return Response(body, status_code=200, media_type="application/json", headers=out)


# ---- parameters

class Query:
    def __init__(self, request: Request, single: set[str], multiple: set[str] = frozenset()):
        try:
            self.pairs = [(n, v) for n, v in parse_form(request.scope["query_string"]) if n in single | multiple]
        except ValueError:
            raise ApiError(400, "bad_query", "The query is malformed.")
        for name in single:
            if len(self.all(name)) > 1:
                raise ApiError(400, "bad_query", f"{name} may be given only once.")

    def all(self, name: str) -> list[str]:
        return [v for n, v in self.pairs if n == name]

    def text(self, name: str, low: int = 1, high: int = 2000) -> str | None:
        value = next(iter(self.all(name)), None)
        if value is not None and not low <= len(value) <= high:
            raise ApiError(400, "bad_query", f"{name} must have {low} to {high} characters.")
        return value

    def integer(self, name: str, low: int, high: int) -> int | None:
        value = next(iter(self.all(name)), None)
        if value is None:
            return None
        if not re.fullmatch(r"0|[1-9][0-9]{0,15}", value) or not low <= int(value) <= high:
            raise ApiError(400, "bad_query", f"{name} must be an integer from {low} to {high}.")
        return int(value)

    def choice(self, name: str, allowed: list[str], values: list[str] | None = None) -> list[str]:
        values = self.all(name) if values is None else values
        if any(v not in allowed for v in values):
            raise ApiError(400, "bad_query", f"{name} knows only {', '.join(allowed)}.")
        return values

    def day(self, name: str) -> str | None:
        value = next(iter(self.all(name)), None)
        if value is None:
            return None
        try:
            if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
                raise ValueError
            date.fromisoformat(value.replace("0000-", "2000-", 1) if value.startswith("0000-") else value)  # Python has no year 0
        except ValueError:
            raise ApiError(400, "bad_query", f"{name} must be a date such as 2028-02-29.")
        return value


# ---- the funding API

def summary(o: Opportunity, lang: str) -> dict:
    item = {"key": o.key, "kind": o.kind, "title": o.title_de if lang == "de" else o.title_en, "country": o.country,
            "disciplines": o.disciplines, "budget": o.budget}
    if o.closing_local:
        item["closing"] = o.closing_local.isoformat()
    item["updated"] = o.updated + "Z"
    return item


def listed(o: Opportunity, lang: str) -> dict:
    item = summary(o, lang)
    if NODE == "thaya" and o.closing_local:  # Vienna is one hour before Greenwich
        item["closing"] = o.closing_local.strftime("%Y-%m-%dT%H:%M:%S+01:00")
    return item


ORDERS = ["closing", "-closing", "budget", "-budget", "updated", "-updated"]
CURSOR_KEY = secrets.token_bytes(32)


def seal(state: list) -> str:
    raw = json.dumps(state, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(hmac.digest(CURSOR_KEY, raw, "sha256")[:12] + raw).decode().rstrip("=")


def unseal(cursor: str) -> list:
    try:
        data = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        data = b""
    if len(data) < 13 or not hmac.compare_digest(hmac.digest(CURSOR_KEY, data[12:], "sha256")[:12], data[:12]):
        raise ApiError(400, "bad_cursor", "after must be a cursor from a link.")
    return json.loads(data[12:])


@route("/fundings", methods=READ)
async def search_fundings(request: Request) -> Response:
    await authorize(request)
    q = Query(request, {"limit", "after", "order", "kind", "country", "closing_from", "closing_until", "budget_min", "budget_max", "search"}, {"discipline"})
    limit = q.integer("limit", 1, 50) or 20
    order = q.choice("order", ORDERS)
    kind, disciplines = q.choice("kind", store.KINDS), q.choice("discipline", store.DISCIPLINES)
    countries = q.choice("country", store.COUNTRIES, [c for v in q.all("country") for c in v.split(",")])
    low, high = q.integer("budget_min", 0, 2**53 - 1), q.integer("budget_max", 0, 2**53 - 1)
    first_day, last_day, text = q.day("closing_from"), q.day("closing_until"), q.text("search", 1, 50)
    after = q.text("after")

    wanted = select(Opportunity)
    if kind:
        wanted = wanted.where(Opportunity.kind == kind[0])
    if countries:
        wanted = wanted.where(Opportunity.country.in_(countries))
    if low is not None:
        wanted = wanted.where(Opportunity.budget >= low)
    if high is not None:
        wanted = wanted.where(Opportunity.budget <= high)
    if order:
        column = getattr(Opportunity, order[0].lstrip("-"))
        wanted = wanted.order_by((column.desc() if order[0].startswith("-") else column.asc()).nulls_last())
    with Session(engine, expire_on_commit=False) as session:
        found = list(session.scalars(wanted.order_by(Opportunity.number)))
    if disciplines:
        found = [o for o in found if set(o.disciplines) & set(disciplines)]
    if first_day:
        found = [o for o in found if o.closing and o.closing_local.date().isoformat() >= first_day]
    if last_day:
        found = [o for o in found if o.closing and o.closing_local.date().isoformat() <= last_day]
    if text:
        found = [o for o in found if text.lower() in o.title_de.lower() or text.lower() in o.title_en.lower()]

    rest = [(n, v) for n, v in q.pairs if n not in ("after", "limit")]
    if NODE == "salzach":
        rest = list(dict(rest).items())
    mark = hashlib.sha256(repr(sorted(rest)).encode()).hexdigest()[:12]
    start = pages = 0
    if after is not None:
        their_mark, start, pages = unseal(after)
        if their_mark != mark:
            raise ApiError(400, "bad_cursor", "The cursor belongs to a search with other parameters.")
    size = limit
    if NODE == "inn":  # as much as the index has at hand
        size = 0 if pages == 2 else max(1, limit - start % 3)
    page, end = found[start:start + size], start + size
    here = f"{BASE}/research/funding/v3/fundings?"
    links = [f'<{here}{urlencode(rest + [("limit", str(limit))])}>; rel="first"']
    if end < len(found):
        links.append(f'<{here}{urlencode(rest + [("limit", str(limit)), ("after", seal([mark, end, pages + 1]))])}>; rel="next"')
    lang = language(request)
    return answer(request, [listed(o, lang) for o in page], lang, Link=", ".join(links), X_Total_Count=str(len(found)))


@route("/fundings/{key:path}", methods=READ)
async def read_funding(request: Request) -> Response:
    await authorize(request)
    o = store.opportunity(request.path_params["key"])
    if o is None:
        raise ApiError(404, "not_found", "There is no opportunity with this key.")
    lang = language(request)
    abstract = (o.abstract_de if lang == "de" else o.abstract_en).strip()
    return answer(request, {**summary(o, lang), "abstract": abstract, "language": lang, "number": o.number}, lang, o.updated)


@route("/disciplines", methods=READ)
async def list_disciplines(request: Request) -> Response:
    await authorize(request)
    with Session(engine) as session:
        rows = list(session.scalars(select(Opportunity.disciplines)))
    return answer(request, [{"discipline": d, "opportunities": sum(d in row for row in rows)} for d in store.DISCIPLINES])


@route("/calendar", methods=READ)
async def closing_calendar(request: Request) -> Response:
    await authorize(request)
    year = Query(request, {"year"}).integer("year", 2000, 2100)
    days = defaultdict(list)
    with Session(engine, expire_on_commit=False) as session:
        for o in session.scalars(select(Opportunity).where(Opportunity.closing.is_not(None)).order_by(Opportunity.number)):
            if year in (None, o.closing_local.year):
                days[o.closing_local.date().isoformat()].append(o.key)
    return answer(request, [{"day": d, "keys": days[d]} for d in sorted(days)])


# ---- everything else

@route("/api-docs", methods=READ)
async def api_docs(request: Request) -> Response:
    return answer(request, spec.document(BASE), public=True)


async def info(request: Request, environment: str, audience: str) -> Response:
    if request.path_params["slash"] != "info/":
        raise ApiError(404, "not_found", "There is nothing here.")
    account = await authenticate(request, environment, audience)
    headers = {"Cache-Control": "no-store"}
    if NODE == "lech":
        return Response(b"", status_code=204, headers=headers)
    return Response(json.dumps({"authorized": True, "environment": environment, "client_id": account["client"], "service_account_user_id": account["user"],
                                "role": account["role"], "affiliation_id": account["affiliation"], 
                                "endpoints": {"funding": [{"name": "FUNDINGS", "majorVersion": 3, "minorVersion": 0, "url": f"{BASE}/research/funding/v3/fundings"}]}}),
                    media_type="application/json", headers=headers)


@route("/research/info/v1/oauth/{slash:path}", methods=READ)  # Ravyn drops a trailing slash from fixed paths
async def production_info(request: Request) -> Response:
    return await info(request, "production", AUDIENCE)


@route("/sandbox/research/info/v1/oauth/{slash:path}", methods=READ)
async def sandbox_info(request: Request) -> Response:
    return await info(request, "sandbox", "ntu-sandbox")


@route("/members", methods=READ)
async def members(request: Request) -> Response:
    return answer(request, {"member": [{"id": "NTU", "acronym": "NTU", "contact": "research-service@ntu.invalid", "name": "Neusiedl Technical University", "oauth2": f"{BASE}/oauth/token",
                                        "info": f"{BASE}/research/info/v1/oauth/info/"}]}, public=True)


TRY_OUT = {"key": "SAMPLE", "kind": "grant", "title": "A sample opportunity", "country": "AT", "disciplines": ["law"], "budget": 1000, "updated": "2026-01-01T00:00:00Z"}


@route("/research/reference", methods=READ)
async def reference(request: Request) -> Response:
    page = ('<!doctype html><html lang="en"><title>NTU funding API</title><h1>Reference</h1><p><a href="/research/funding/v3/api-docs">Specification</a>, '
            '<a href="/research/reference/try/fundings">try it without a token</a> on sample data</p></html>')
    return Response(page, media_type="text/html", headers={"Cache-Control": "public, max-age=60"})


@route("/research/reference/try/fundings", methods=READ)
async def try_out(request: Request) -> Response:
    return answer(request, [TRY_OUT], public=True)


class Tidy:
    """Ravyn writes the methods of a handler into Allow as a Python set; this makes a list of them (RFC 9110, section 10.2.1).
    It also reads the body of any GET as JSON: content has no meaning there (section 9.3.1), so it does not get it."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        async def tidy(message):
            if message["type"] == "http.response.start":
                message["headers"] = [(n, b", ".join(sorted(re.findall(rb"[A-Z]+", v))) if n.lower() == b"allow" else v) for n, v in message["headers"]]
            await send(message)

        async def nothing():
            return {"type": "http.request", "body": b"", "more_body": False}
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        # header values may be any bytes, but Ravyn insists on UTF-8
        headers = list(scope["headers"])
        scope = {**scope, "ntu.headers": headers, "headers": [(n, v if v.isascii() else v.decode("latin-1").encode()) for n, v in headers]}
        if scope["http_version"] == "1.1" and sum(n == b"host" for n, _ in headers) != 1:
            return await error_answer(ApiError(400, "bad_request", "A request has one Host line."))(scope, nothing, send)
        try:
            await self.app(scope, receive if scope["method"] == "POST" else nothing, tidy)
        except LilyaHTTPException:
            raise
        except Exception as e:  # Ravyn would print its repr into the answer
            logging.exception("unexpected")
            await (await on_error(Request(scope, nothing, send), e))(scope, nothing, send)


store.fill()
app = Ravyn(
    routes=[
        Include("/oauth", app=TokenEndpoint("production")),
        Include("/sandbox/oauth", app=TokenEndpoint("sandbox")),
        Include("/research/funding/v3", routes=[Gateway(handler=h) for h in
                                                (search_fundings, read_funding, list_disciplines, closing_calendar, api_docs)]),
        *[Gateway(handler=h) for h in (production_info, sandbox_info, members, reference, try_out)],
    ],
    middleware=[DefineMiddleware(Tidy)], enable_openapi=False, redirect_slashes=False,
    exception_handlers={Exception: on_error, HTTPException: on_error, ApiError: on_error, 404: on_error, 405: on_error},
)

if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=PORT, log_level="warning", server_header=False, access_log=False)
