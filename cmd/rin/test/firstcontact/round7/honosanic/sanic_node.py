"""A network node on Sanic: registry, authorization server, info, funding API and a test environment.

NODE names the variant; without it this is the base.
"""
import base64
import binascii
import gzip
import hashlib
import hmac
import json
import os
import re
import secrets
import time
import traceback
from datetime import datetime
from email.utils import formatdate
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote, unquote_plus, urlencode

from sanic import Sanic
from sanic.exceptions import MethodNotAllowed, NotFound, SanicException
from sanic.response import HTTPResponse

from sanic_doc import document

NODE = os.environ.get("NODE", "sanic-base")
PORT = int(os.environ["PORT"])
ORIGIN = f"http://127.0.0.1:{PORT}"
HERE = Path(__file__).parent
CLIENTS = json.loads((HERE / "clients.json").read_text("utf-8"))["sanic"]
DATA = json.loads((HERE / "data-sanic.json").read_text("utf-8"))
FUNDINGS = DATA["fundings"]
BY_ID = {f["id"]: f for f in FUNDINGS}
SUMMARY = ["id", "type", "acronym", "name", "visibility", "affiliationId", "subjects", "budget", "submissionEnd", "changed"]
TYPES = ["CALL", "PROGRAMME", "AWARD", "SCHOLARSHIP"]
LIFETIME = 600

app = Sanic("funding_node", configure_logging=False)


# ---- environments -----------------------------------------------------------

class Environment:
    def __init__(self, name, token_path, info_path, kinds):
        self.name, self.token_path, self.info_path = name, token_path, info_path
        self.clients = {CLIENTS[k]["id"]: {**CLIENTS[k], "kind": k} for k in kinds}
        self.tokens = {}    # token -> (client, audience, end)
        self.failures = {}  # client id -> (since, count)


PRODUCTION = Environment("production", "/idp/realms/research/protocol/openid-connect/token", "/network/info/v1/oauth/info/",
                         ["main", "without_role", "other_audience", "spare"])
TEST = Environment("test", "/test/idp/oauth/token", "/test/network/info/v1/oauth/info/", ["staging"])


# ---- answers ----------------------------------------------------------------

TITLES = {400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
          500: "Internal Server Error"}


def encode(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def accepts_gzip(request):
    header = request.headers.get("accept-encoding", "").lower()
    if NODE == "sanic-gzip-q0":
        return "gzip" in header
    star = False
    for part in header.split(","):
        coding, *params = [s.strip() for s in part.split(";")]
        ok = True
        for p in params:
            if p.startswith("q="):
                try:
                    ok = float(p[2:]) > 0
                except ValueError:
                    ok = False
        if coding in ("gzip", "x-gzip"):
            return ok
        if coding == "*":
            star = ok
    return star


def answer(request, status, text, kind, headers=None):
    h = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", **(headers or {})}
    body = text.encode("utf-8")
    if h["Cache-Control"] != "no-store":
        h["Vary"] = (h["Vary"] + ", " if "Vary" in h else "") + "Accept-Encoding"
        if len(body) > 600 and accepts_gzip(request):
            body = gzip.compress(body, mtime=0)
            h["Content-Encoding"] = "gzip"
    return HTTPResponse(body, status=status, headers=h, content_type=kind)


def as_json(request, status, value, headers=None):
    return answer(request, status, encode(value), "application/json", headers)


def problem(request, status, detail, headers=None):
    value = {"type": "about:blank", "title": TITLES.get(status, "Error"), "status": status, "detail": detail}
    return answer(request, status, encode(value), "application/problem+json", headers)


def fresh(request, value):
    """An answer of the API with an ETag, or 304."""
    text = encode(value)
    tag = '"' + hashlib.sha256(text.encode("utf-8")).hexdigest()[:24] + '"'
    h = {"ETag": "W/" + tag, "Cache-Control": "private, no-cache", "Vary": "Authorization"}
    given = request.headers.get("if-none-match")
    if given is not None:
        if given.strip() == "*" or tag in re.findall(r'"[^"]*"', given):
            h["Vary"] += ", Accept-Encoding"
            return HTTPResponse(None, status=304, headers=h)
    return answer(request, 200, text, "application/json", h)


@app.on_response
async def date(request, response):
    response.headers["Date"] = formatdate(usegmt=True)


@app.exception(NotFound)
async def not_found(request, e):
    return problem(request, 404, "There is nothing at this address.")


ALLOW = []  # (pattern of the path, methods), filled by route()


@app.exception(MethodNotAllowed)
async def not_allowed(request, e):
    # methods that the router does not know at all, such as TRACE
    allow = next(a for pattern, a in ALLOW if re.fullmatch(pattern, request.path))
    return problem(request, 405, "The method is not allowed here.", {"Allow": allow})


@app.exception(Exception)
async def failed_request(request, e):
    if isinstance(e, SanicException) and 400 <= (e.status_code or 500) < 500:
        return problem(request, e.status_code, "The request cannot be read.")
    traceback.print_exception(e)
    return problem(request, 500, "The server failed.")


# ---- token endpoint ---------------------------------------------------------

def issue(env, client):
    now = time.time()
    for old in [t for t, (_, _, end) in env.tokens.items() if end < now]:
        del env.tokens[old]
    token = secrets.token_urlsafe(32)
    if NODE == "sanic-odd-token":
        # all characters of b64token in RFC 6750, and long
        token = "~." + token + "/+" + secrets.token_urlsafe(700) + "-._~+/=="
    env.tokens[token] = (client, "statistics" if client["kind"] == "other_audience" else "funding", now + LIFETIME)
    return token


def make_token_endpoint(env):
    async def token(request):
        def no(status, error, description, headers=None):
            return as_json(request, status, {"error": error, "error_description": description},
                           {"Pragma": "no-cache", **(headers or {})})

        kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
        if kind != "application/x-www-form-urlencoded":
            return no(400, "invalid_request", "The body must be application/x-www-form-urlencoded.")
        asked = {k for k, _ in parse_qsl(request.query_string, keep_blank_values=True)}
        if asked & {"client_id", "client_secret"}:
            return no(400, "invalid_request", "Credentials do not belong in the URL.")
        form = {}
        for k, v in parse_qsl(request.body.decode("utf-8", "replace"), keep_blank_values=True):
            if k in form:
                return no(400, "invalid_request", "A parameter is repeated.")
            form[k] = v
        form = {k: v for k, v in form.items() if v != ""}  # without a value is as if omitted

        # client authentication: HTTP Basic or form fields, not both
        header = request.headers.get("authorization")
        cid = secret = None
        if header is not None:
            if "client_secret" in form:
                return no(400, "invalid_request", "Use one method of client authentication.")
            m = re.fullmatch(r"basic +([A-Za-z0-9+/]+=*)", header, re.I)
            if m:
                try:
                    pair = base64.b64decode(m[1]).decode("utf-8")
                    left, _, right = pair.partition(":")
                    cid, secret = unquote_plus(left), unquote_plus(right)
                except (binascii.Error, UnicodeDecodeError):
                    pass
            if cid is not None and form.get("client_id", cid) != cid:
                return no(400, "invalid_request", "Two different clients are named.")
        else:
            cid, secret = form.get("client_id"), form.get("client_secret")

        # after 20 wrong secrets within a minute a client must wait for the rest of it
        now = time.time()
        since, count = env.failures.get(cid, (now, 0))
        if now - since >= 60:
            since, count = now, 0
        if count >= 20:
            return no(429, "invalid_client", "Too many wrong secrets.", {"Retry-After": str(int(since + 60 - now) + 1)})
        client = env.clients.get(cid)
        if client is None or not hmac.compare_digest((secret or "").encode(), client["secret"].encode()):
            if client is not None:
                env.failures[cid] = (since, count + 1)
            return no(401, "invalid_client", "Client authentication failed.", {"WWW-Authenticate": f'Basic realm="{env.name}"'})
        env.failures.pop(cid, None)

        if "grant_type" not in form:
            return no(400, "invalid_request", "grant_type is missing.")
        if form["grant_type"] != "client_credentials":
            return no(400, "unsupported_grant_type", "Only client_credentials is supported.")
        if "scope" in form:
            return no(400, "invalid_scope", "This server has no scopes.")
        return as_json(request, 200, {"access_token": issue(env, client), "token_type": "Bearer", "expires_in": LIFETIME},
                       {"Pragma": "no-cache"})
    return token


# ---- access -----------------------------------------------------------------

def authenticate(request, env):
    """The client behind the request's token, or (None, answer)."""
    def no(status, detail, error=None):
        c = f'Bearer realm="{env.name}"' + (f', error="{error}"' if error else "")
        return None, problem(request, status, detail, {"WWW-Authenticate": c})

    sent = request.headers.getall("authorization", [])
    in_query = any(k == "access_token" for k, _ in parse_qsl(request.query_string, keep_blank_values=True))
    if len(sent) > 1 or (sent and in_query):
        return no(400, "Send one token, in one Authorization header.", "invalid_request")
    given = sent[0] if sent else ""
    if not re.match(r"bearer( |$)", given, re.I):
        return no(401, "An access token is needed.")
    m = re.fullmatch(r"bearer +([A-Za-z0-9\-._~+/]+=*)", given, re.I)
    client, audience, end = env.tokens.get(m[1], (None, None, 0)) if m else (None, None, 0)
    if client is None or end < time.time() or audience != "funding":
        return no(401, "The access token is not valid.", "invalid_token")
    return client, None


CACHE = {}  # for sanic-shared-cache: URL -> (end, value)


def guard(handler):
    async def guarded(request, **path):
        if NODE == "sanic-shared-cache":
            end, value = CACHE.get(request.url, (0, None))
            if end > time.time():
                return fresh(request, value)
        client, refused = authenticate(request, PRODUCTION)
        if refused is not None:
            return refused
        if not client["role"]:
            return problem(request, 403, "The client does not have the role EXTERNAL_API_CLIENT.",
                           {"WWW-Authenticate": 'Bearer realm="production", error="insufficient_scope"'})
        try:
            value = handler(request, client, **path)
        except Bad as e:
            return problem(request, e.status, str(e))
        if NODE == "sanic-shared-cache":
            CACHE[request.url] = (time.time() + 60, value)
        return fresh(request, value)
    return guarded


def make_info(env):
    async def info(request):
        client, refused = authenticate(request, env)
        if refused is not None:
            return refused
        prefix = ORIGIN + env.info_path.removesuffix("/info/v1/oauth/info/")
        endpoints = {"info": [{"name": "INFO", "majorVersion": 1, "minorVersion": 0, "url": prefix + "/info/v1/oauth/info/"}]}
        if env is PRODUCTION:
            endpoints["funding"] = [{"name": "FUNDINGS", "majorVersion": 3, "minorVersion": 0, "url": prefix + "/funding/v3/fundings"}]
        return as_json(request, 200, {
            "environment": env.name, "clientId": client["id"], "affiliationId": client["affiliationId"],
            "roles": ["EXTERNAL_API_CLIENT"] if client["role"] else [], "endpoints": endpoints})
    return info


# ---- funding API ------------------------------------------------------------

class Bad(Exception):
    def __init__(self, detail, status=400):
        super().__init__(detail)
        self.status = status


DATE_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)")


def may_see(client, f):
    return f["visibility"] == "PUBLIC" or f["affiliationId"] == client["affiliationId"]


def list_fundings(request, client):
    try:
        pairs = parse_qsl(request.query_string, keep_blank_values=True, errors="strict")
    except UnicodeDecodeError:
        raise Bad("The query is not UTF-8.")

    def one(name):
        values = [v for k, v in pairs if k == name]
        if len(values) > 1:
            raise Bad(f"{name} is given more than once.")
        return values[0] if values else None

    def integer(name, low, high, default):
        v = one(name)
        if v is None:
            return default
        if not re.fullmatch(r"0|[1-9][0-9]{0,8}", v) or not low <= int(v) <= high:
            raise Bad(f"{name} must be an integer from {low} to {high}.")
        return int(v)

    limit = integer("limit", 1, 100, 25)
    kinds = [v for k, v in pairs if k == "type"]
    for k in kinds:
        if k not in TYPES:
            raise Bad("type must be one of " + ", ".join(TYPES) + ".")
    subject, since, sort = one("subject"), one("changedSince"), one("sort")
    if sort not in (None, "budget", "-budget", "changed", "-changed"):
        raise Bad("sort must be one of budget, -budget, changed, -changed.")
    instant = None
    if since is not None:
        try:
            if not DATE_TIME.fullmatch(since) or not since.isascii():
                raise ValueError
            # a leap second counts as the second before it
            instant = datetime.fromisoformat(re.sub(r"(T\d\d:\d\d:)60", r"\g<1>59", since.upper()))
        except ValueError:
            raise Bad("changedSince must be a date-time of RFC 3339.")
    if NODE == "sanic-first-type" and kinds:
        wanted = kinds[:1]
    else:
        wanted = kinds

    found = [f for f in FUNDINGS if may_see(client, f) and matches(f, wanted, subject, instant)]
    found.sort(key=lambda f: f["id"])
    if sort:
        field = sort.lstrip("-")

        def key(f):
            if field == "changed":
                return datetime.fromisoformat(f["changed"])
            n = f["budget"]["amount"]
            return str(n) if NODE == "sanic-sort-text" else n
        found.sort(key=key, reverse=sort.startswith("-"))  # keeps the ids of equal ones ascending

    filters = [("type", k) for k in kinds]
    filters += [(k, v) for k, v in (("subject", subject), ("changedSince", since), ("sort", sort)) if v is not None]
    base = ORIGIN + "/network/funding/v3/fundings?"
    if NODE == "sanic-cursor":
        return cursor_page(found, one("cursor"), limit, filters, base)

    offset = integer("offset", 0, 100000, 0)

    def link(n):
        return base + urlencode(filters + [("offset", n), ("limit", limit)], quote_via=quote)

    links = {"self": link(offset)}
    if offset + limit < len(found):
        links["next"] = link(offset + limit)
    if offset > 0:
        links["prev"] = link(max(0, min(offset, len(found)) - limit))
    return {"meta": {"total": len(found), "offset": offset, "limit": limit}, "links": links,
            "data": [summary(f) for f in found[offset:offset + limit]]}


def cursor_page(found, cursor, limit, filters, base):
    """A page that may be shorter than the limit in the middle of the list, as the document says."""
    start = 0
    if cursor is not None:
        try:
            mark = base64.urlsafe_b64decode(cursor.encode("ascii")).decode("ascii")
            start = int(re.fullmatch(r"at:(\d{1,6})", mark)[1])
        except (ValueError, TypeError):
            raise Bad("cursor is not one of this list.")
    size = limit if limit < 4 else limit - (start % 3)
    own = [("cursor", cursor)] if cursor is not None else []
    links = {"self": base + urlencode(filters + own + [("limit", limit)], quote_via=quote)}
    if start + size < len(found):
        following = base64.urlsafe_b64encode(b"at:%d" % (start + size)).decode()
        links["next"] = base + urlencode(filters + [("cursor", following), ("limit", limit)], quote_via=quote)
    return {"meta": {"limit": limit}, "links": links, "data": [summary(f) for f in found[start:start + size]]}


def matches(f, kinds, subject, instant):
    return ((not kinds or f["type"] in kinds)
            and (subject is None or subject in f["subjects"])
            and (instant is None or datetime.fromisoformat(f["changed"]) >= instant))


def summary(f):
    return {k: f[k] for k in SUMMARY if k in f}


def get_funding(request, client, id):
    id = unquote(id)
    if NODE == "sanic-long-id" and len(id) > 32:
        raise Bad("psycopg2.errors.StringDataRightTruncation: value too long for type character varying(32) "
                  "[SQL: SELECT * FROM funding_call WHERE call_id = %(id)s] (db-prod-1.internal:5432/ris)", 500)
    f = BY_ID.get(id)
    if f is None or not (may_see(client, f) or NODE == "sanic-detail-affiliation"):
        raise Bad("There is no funding with this id.", 404)
    if NODE == "sanic-summer" and f["submissionEnd"].endswith("+02:00"):
        return {**f, "submissionEnd": f["submissionEnd"].replace("+02:00", "+01:00")}
    return f


def list_subjects(request, client):
    return {"data": DATA["subjects"]}


# ---- routes -----------------------------------------------------------------

OPENAPI = document(ORIGIN, ORIGIN + PRODUCTION.token_path, cursor=NODE == "sanic-cursor", ranges=NODE == "sanic-ranges")


async def registry(request):
    return as_json(request, 200, {"member": [{
        "id": "SN", "acronym": "SANIC", "name": "Sanic Institute", "contact": "ris@sanic-institute.example",
        "oauth2": ORIGIN + PRODUCTION.token_path, "info": ORIGIN + PRODUCTION.info_path}]}, {"Cache-Control": "no-cache"})


async def api_docs(request):
    return as_json(request, 200, OPENAPI, {"Cache-Control": "no-cache"})


def route(method, path, handler):
    """A path with one method; HEAD goes with GET, OPTIONS says what is allowed, the rest is refused with the same list."""
    methods = ["GET", "HEAD"] if method == "GET" else [method]
    allow = ", ".join(methods + ["OPTIONS"])
    name = re.sub(r"\W+", "_", path).strip("_")
    ALLOW.append((re.sub(r"<.*>", "[^/]+", path), allow))

    async def options(request, **_):
        return HTTPResponse(None, status=204, headers={"Allow": allow})

    async def refuse(request, **_):
        return problem(request, 405, "The method is not allowed here.", {"Allow": allow})

    app.add_route(handler, path, methods=methods, name=name, strict_slashes=True)
    app.add_route(options, path, methods=["OPTIONS"], name=name + "_options", strict_slashes=True)
    rest = [m for m in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE") if m not in methods]
    app.add_route(refuse, path, methods=rest, name=name + "_refused", strict_slashes=True)


route("GET", "/registry.json", registry)
for env in (PRODUCTION, TEST):
    route("POST", env.token_path, make_token_endpoint(env))
    route("GET", env.info_path, make_info(env))
route("GET", "/network/funding/v3/api-docs", api_docs)
route("GET", "/network/funding/v3/fundings", guard(list_fundings))
route("GET", "/network/funding/v3/fundings/<id:str>", guard(get_funding))
route("GET", "/network/funding/v3/subjects", guard(list_subjects))

if __name__ == "__main__":
    app.run(host="127.0.0.1", port=PORT, single_process=True, access_log=False, motd=False)
