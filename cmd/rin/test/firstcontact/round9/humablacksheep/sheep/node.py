"""A node of the research-information network: authorization server with
opaque tokens, info and funding API on one port."""
import base64
import binascii
import datetime as dt
import gzip
import hashlib
import hmac
import json
import os
import re
import secrets
import time
from urllib.parse import parse_qsl, unquote_plus, urlencode

import uvicorn
from blacksheep import Application, Content, Request, Response, Router

import data
from data import PROFILE
from document import build

PORT = int(os.environ.get("PORT", "8080"))
ORIGIN = f"http://127.0.0.1:{PORT}"
API = "/ris/funding/v3"
TTL = 600
MAX_FAILURES = 100  # wrong secrets of one client in a minute

PRODUCTION = {
    # id: (secret, audience, roles)
    "rp-5Yc0vTq8LwZ2eKd": ("w4~Jr7.Gm9_Xb2-Tn6Vq1Zc8Lp3Hs5Kd0Yf4Ru7Ea", "ris", {"EXTERNAL_API_CLIENT"}),
    "rp-H1nX7bRj4uPs9Mg": ("Qe3-Zk8.Wd1~Fv6_Bt9Yh2Nc7Lx5Mr0Jg4Ps8Ui1Ta", "ris", set()),
    "rp-Ka3ZfD6tW8oVy2C": ("Lm5.Cx0-Rj7_Ny2~Sg8Wb4Vt1Kq9Fd6Ze3Hp0Oa7Iu", "project", {"EXTERNAL_API_CLIENT"}),
    "rp-Tg9QeB2sN5hLx7J": ("Xv2_Hf9~Ds4.Pk7-Cm1Zy6Gt3Rb8Wn5Jl0Qe2Ua9Ki", "ris", {"EXTERNAL_API_CLIENT"}),
}
STAGING = {"test-8fVq2LmZ4xKc": ("Bn6~Wt3.Kj9-Rx5_Zc2Vm8Hd1Fs7Lg4Qp0Ye6Ua3Io", "ris", {"EXTERNAL_API_CLIENT"})}
CLIENTS = {"production": PRODUCTION, "staging": STAGING}

db = data.connect()
app = Application(router=Router())
get, post = app.router.get, app.router.post
failures: dict[str, list[float]] = {}
recent: list[float] = []


class ApiError(Exception):
    def __init__(self, status, code, message, headers=()):
        super().__init__(message)
        self.status, self.code, self.message, self.headers = status, code, message, list(headers)


def reply(value, status=200, headers=()):
    if PROFILE == "odd":
        body, kind = (json.dumps(value, indent=2) + "\n").encode(), b'application/json;charset="utf-8"'
    else:
        body, kind = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(), b"application/json"
    return Response(status, [(k.encode(), v.encode()) for k, v in headers], Content(kind, body))


@app.exception_handler(ApiError)
async def on_api_error(self, request: Request, exc: ApiError):
    return failure(exc.status, exc.code, exc.message, exc.headers)


@app.exception_handler(500)
async def on_500(self, request: Request, exc):
    return failure(500, "internal", "Something went wrong.")


@app.exception_handler(Exception)
async def on_exception(self, request: Request, exc: Exception):
    return failure(500, "internal", "Something went wrong.")


def failure(status, code, message, headers=()):
    return reply({"error": {"code": code, "message": message, "request_id": secrets.token_hex(6)}}, status, headers)


# ---- middleware ------------------------------------------------------------

def accepts_gzip(request: Request) -> bool:
    best = False
    for part in b",".join(request.get_headers(b"accept-encoding")).decode("latin-1").lower().split(","):
        name, *params = [x.strip() for x in part.split(";")]
        q = 1.0
        for p in params:
            if p.replace(" ", "").startswith("q="):
                try:
                    q = float(p.replace(" ", "")[2:])
                except ValueError:
                    q = 0.0
        if name == "gzip":
            return q > 0
        if name == "*":
            best = q > 0
    return best


async def finish(request: Request, handler):
    """Validators and compression for everything that clients read."""
    response = await handler(request)
    if response.status != 200 or not request.path.startswith(("/ris/", "/test/ris/")):
        return response
    body = response.content.body
    tag = 'W/"' + hashlib.sha1(body).hexdigest()[:20] + '"'
    response.set_header(b"etag", tag.encode())
    response.set_header(b"vary", b"accept-encoding, authorization")
    if not request.path.endswith("/api-docs"):
        response.set_header(b"cache-control", b"private, max-age=0")
    asked = b",".join(request.get_headers(b"if-none-match")).decode("latin-1")
    tags = [t.strip().removeprefix("W/") for t in asked.split(",")]
    if "*" in tags or tag[2:] in tags:
        return Response(304, [h for h in response.headers])
    if len(body) > 500 and accepts_gzip(request):
        response.set_header(b"content-encoding", b"gzip")
        response.content = Content(response.content.type, gzip.compress(body, 6, mtime=0))
    return response


async def quota(request: Request, handler):
    """At most 40 calls of the API in 4 seconds."""
    if request.path.startswith("/ris/"):
        now = time.monotonic()
        recent[:] = [t for t in recent if now - t < 4]
        if len(recent) >= 40:
            return failure(429, "too_many_requests", "Slow down, please.", [("Retry-After", "2")])
        recent.append(now)
    return await handler(request)


app.middlewares.append(finish)
if PROFILE == "quota":
    app.middlewares.append(quota)


async def not_found(request: Request):
    allowed = [m for m in ("GET", "POST") if m != request.method and routed(m, request)]
    if allowed:
        allow = "GET, HEAD" if allowed == ["GET"] else "POST"
        raise ApiError(405, "method_not_allowed", "This method is not supported here.", [("Allow", allow)])
    raise ApiError(404, "not_found", "There is nothing here.")


def routed(method, request):
    match = app.router.get_match_by_method_and_path(method, request.path)
    return match is not None and match.pattern != b"*"


app.router.fallback = not_found


# ---- authorization server --------------------------------------------------

def token_error(status, code, text, extra=()):
    headers = [("Cache-Control", "no-store"), ("Pragma", "no-cache"), *extra]
    if status == 401:
        headers.append(("WWW-Authenticate", 'Basic realm="oauth", charset="UTF-8"'))
    return reply({"error": code, "error_description": text}, status, headers)


def basic_pairs(header: str):
    scheme, _, rest = header.partition(" ")
    if scheme.lower() != "basic":
        return []
    try:
        user, colon, password = base64.b64decode(rest.strip(), validate=True).decode("utf-8").partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return []
    return [(unquote_plus(user), unquote_plus(password)), (user, password)] if colon else []


def authenticate(env, client_id, secret):
    known = CLIENTS[env].get(client_id)
    expected = known[0] if known else "-" * 43
    same = hmac.compare_digest(hashlib.sha256(expected.encode()).digest(), hashlib.sha256(secret.encode("utf-8", "replace")).digest())
    return bool(known) and same


def locked(client_id, failed=False):
    now = time.monotonic()
    times = failures[client_id] = [t for t in failures.get(client_id, []) if now - t < 60]
    if failed:
        times.append(now)
    if not times:
        del failures[client_id]
    return len(times) >= MAX_FAILURES


async def issue(request: Request, env: str):
    kind = (request.get_first_header(b"content-type") or b"").decode("latin-1").split(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        return token_error(400, "invalid_request", "The body must be form-urlencoded.")
    body = await request.read() or b""
    if len(body) > 16384:
        return token_error(400, "invalid_request", "The body is too long.")
    try:
        pairs = parse_qsl(body.decode("utf-8"), keep_blank_values=True, errors="strict", max_num_fields=100)
    except ValueError:
        return token_error(400, "invalid_request", "The body is malformed.")
    form = {}
    for name, value in pairs:
        if value == "":
            continue
        if name in form:
            return token_error(400, "invalid_request", "A parameter is repeated.")
        form[name] = value

    headers = request.get_headers(b"authorization")
    client_id, ok = form.get("client_id", ""), False
    if len(headers) > 1:
        return token_error(400, "invalid_request", "More than one Authorization header.")
    if headers:
        candidates = basic_pairs(headers[0].decode("latin-1"))
        mixed = "client_secret" in form or client_id and candidates and client_id not in (candidates[0][0], candidates[1][0])
        if mixed and not (PROFILE == "mixup" and "client_secret" not in form):
            return token_error(400, "invalid_request", "More than one way of client authentication.")
        for name, secret in candidates:
            ok = ok or authenticate(env, name, secret)
        tried = candidates[0][0] if candidates else ""
        client_id = client_id or tried
        if not (ok and client_id in CLIENTS[env]):
            client_id = tried
    else:
        ok = authenticate(env, client_id, form.get("client_secret", ""))
    if client_id in CLIENTS[env] and locked(client_id, failed=not ok):
        return token_error(429, "temporarily_unavailable", "Too many failed attempts.", [("Retry-After", "30")])
    if not ok:
        return token_error(401, "invalid_client", "Client authentication failed.")

    grant = form.get("grant_type")
    if grant is None:
        return token_error(400, "invalid_request", "grant_type is missing.")
    if grant != "client_credentials":
        return token_error(400, "unsupported_grant_type", "Only client_credentials is supported.")
    if "scope" in form and form["scope"] != "funding":
        return token_error(400, "invalid_scope", "The only scope is funding.")

    token, now = data.new_token(), time.time()
    db.execute("DELETE FROM token WHERE expires < ?", (now - 60,))
    db.execute("INSERT INTO token VALUES (?,?,?,?)", (token, client_id, env, now + TTL))
    if PROFILE == "tokens":  # keep the table small
        db.execute("DELETE FROM token WHERE client_id = ? AND value NOT IN "
                   "(SELECT value FROM token WHERE client_id = ? ORDER BY expires DESC LIMIT 4)", (client_id, client_id))
    answer = {"access_token": token, "token_type": "Bearer", "expires_in": TTL}
    if PROFILE == "odd":
        answer = {"token_type": "bearer", "x_session": None, "access_token": token, "expires_in": TTL}
    if "scope" in form:
        answer["scope"] = "funding"
    return reply(answer, 200, [("Cache-Control", "no-store"), ("Pragma", "no-cache")])


@post("/sso/oauth/token")
async def token(request: Request):
    return await issue(request, "production")


@post("/sso-test/oauth/token")
async def staging_token(request: Request):
    return await issue(request, "staging")


def metadata(path):
    return reply({"issuer": ORIGIN + path, "token_endpoint": f"{ORIGIN}{path}/oauth/token", "response_types_supported": ["none"],
                  "grant_types_supported": ["client_credentials"], "scopes_supported": ["funding"],
                  "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"]})


@get("/.well-known/oauth-authorization-server/sso")
async def production_metadata():
    return metadata("/sso")


@get("/.well-known/oauth-authorization-server/sso-test")
async def staging_metadata():
    return metadata("/sso-test")


# ---- bearer tokens ---------------------------------------------------------

def caller(request: Request, env="production", role=None):
    """Validates the token of a request and returns the client's id."""
    realm = 'Bearer realm="ris"'
    headers = request.get_headers(b"authorization")
    if not headers:
        raise ApiError(401, "unauthorized", "A bearer token is needed.", [("WWW-Authenticate", realm)])
    if len(headers) > 1 or any(k == "access_token" for k, _ in params(request)):
        raise ApiError(400, "invalid_request", "More than one token.", [("WWW-Authenticate", realm + ', error="invalid_request"')])
    scheme, _, value = headers[0].decode("latin-1").partition(" ")
    if scheme.lower() != "bearer":
        raise ApiError(401, "unauthorized", "A bearer token is needed.", [("WWW-Authenticate", realm)])
    row = db.execute("SELECT client_id FROM token WHERE value = ? AND env = ? AND expires > ?", (value.strip(" "), env, time.time())).fetchone()
    client = CLIENTS[env].get(row["client_id"]) if row else None
    if client is None or client[1] != "ris":
        raise ApiError(401, "invalid_token", "The token is not valid.", [("WWW-Authenticate", realm + ', error="invalid_token", error_description="The token is unknown, expired or meant for another API"')])
    if role and role not in client[2]:
        raise ApiError(403, "forbidden", "The client lacks the role.", [("WWW-Authenticate", realm + ', error="insufficient_scope"')])
    return row["client_id"]


def params(request: Request):
    raw = request.url.query
    try:
        return parse_qsl((raw or b"").decode("latin-1"), keep_blank_values=True, max_num_fields=200)
    except ValueError:
        raise ApiError(400, "bad_request", "Too many parameters.")


# ---- info, registry, document ----------------------------------------------

def info(request, env):
    caller(request, env)
    return reply({"endpoints": {"funding": [{"name": "FUNDING", "majorVersion": 3, "minorVersion": 1, "url": f"{ORIGIN}{API}/calls"}]}})


@get("/ris/info/v1/oauth/info/")
async def production_info(request: Request):
    return info(request, "production")


@get("/test/ris/info/v1/oauth/info/")
async def staging_info(request: Request):
    return info(request, "staging")


@get("/registry.json")
async def registry():
    return reply({"member": [{"id": "SHP", "acronym": "SHP", "name": "Réseau alpin de la recherche – Forschungsverbund Süd",
                              "contact": "contact@shp.example", "oauth2": f"{ORIGIN}/sso/oauth/token", "info": f"{ORIGIN}/ris/info/v1/oauth/info/"}]})


DOCUMENT = build(ORIGIN + API, f"{ORIGIN}/sso/oauth/token")


@get(API + "/api-docs")
async def api_docs():
    return reply(DOCUMENT)


# ---- funding API -----------------------------------------------------------

def bad(name, text):
    raise ApiError(400, "bad_request", f"Parameter {name}: {text}.")


def day(name, value):
    try:
        if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
            raise ValueError
        return dt.date.fromisoformat(value).isoformat()
    except ValueError:
        bad(name, "a date (YYYY-MM-DD) is expected")


def moment(name, value):
    try:
        if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9:]{8}(\.[0-9]{1,9})?([Zz]|[+-][0-9]{2}:[0-9]{2})", value):
            raise ValueError
        t = dt.datetime.fromisoformat(value.upper()).astimezone(dt.timezone.utc)
    except (ValueError, OverflowError):
        bad(name, "a date-time (RFC 3339) is expected")
    if t.microsecond:  # stored times are whole seconds
        t = t.replace(microsecond=0) + dt.timedelta(seconds=1)
    return t.strftime("%Y-%m-%dT%H:%M:%SZ")


# sort: (SQL expression, direction, comparison of the key set)
SORTS = {"deadline": ("coalesce(deadline, '9999-12-31')", "ASC", ">"), "-updated": ("updated_at", "DESC", "<"), "id": ("id", "ASC", ">")}


def read_cursor(value, sort):
    try:
        parts = json.loads(base64.urlsafe_b64decode(value + "=" * (-len(value) % 4)))
        if not (isinstance(parts, list) and len(parts) == 3 and all(isinstance(p, str) for p in parts) and parts[0] == sort):
            raise ValueError
        "".join(parts).encode()
        return parts[1], parts[2]
    except (ValueError, RecursionError):
        if PROFILE == "cursor":
            return ("", "") if sort == "-updated" else ("~", "~")  # nothing lies beyond
        bad("cursor", "it is not one of ours for this sort")


def write_cursor(sort, key, cid):
    return base64.urlsafe_b64encode(json.dumps([sort, key, cid]).encode()).decode().rstrip("=")


def stamp(text):
    if PROFILE == "odd":  # another spelling of the same time
        return (dt.datetime.fromisoformat(text) + dt.timedelta(hours=2)).strftime("%Y-%m-%dT%H:%M:%S.000") + "+02:00"
    return text


def summary(row):
    topics = [r["topic"] for r in db.execute("SELECT topic FROM call_topic WHERE call_id = ? ORDER BY topic", (row["id"],))]
    return {"id": row["id"], "title": row["title"], "language": row["language"], "summary": row["summary"], "state": row["state"],
            "funder": {"id": row["funder_id"], "name": row["funder_name"]}, "topics": topics, "opens_on": row["opens_on"],
            "deadline": row["deadline"], "budget": {"amount_minor": row["amount_minor"], "currency": row["currency"]},
            "updated_at": stamp(row["updated_at"])}


@get(API + "/calls")
async def list_calls(request: Request):
    caller(request, role="EXTERNAL_API_CLIENT")
    given, topics = {}, []
    for name, value in params(request):
        if value == "":
            continue
        if name == "topic":
            topics.append(value)
        else:
            given.setdefault(name, value)
    limit = given.get("limit", "25")
    if not re.fullmatch(r"[0-9]{1,4}", limit) or not 1 <= int(limit) <= 100:
        bad("limit", "a number from 1 to 100 is expected")
    limit, sort = int(limit), given.get("sort", "deadline")
    if sort not in SORTS:
        bad("sort", "unknown value")
    where, args = ["1"], []
    if "state" in given:
        if given["state"] not in ("forthcoming", "open", "closed"):
            bad("state", "unknown value")
        where.append("state = ?")
        args.append(given["state"])
    if "funder" in given:
        where.append("funder_id = ?")
        args.append(given["funder"])
    if topics:
        if any(t not in data.TOPICS for t in topics):
            bad("topic", "unknown value")
        where.append("EXISTS (SELECT 1 FROM call_topic t WHERE t.call_id = call.id AND t.topic IN (" + ",".join("?" * len(topics)) + "))")
        args += topics
    for name, sign in (("deadline_from", ">="), ("deadline_to", "<=")):
        if name in given:
            where.append(f"deadline {sign} ?")
            args.append(day(name, given[name]))
    if "updated_since" in given:
        where.append("updated_at >= ?")
        args.append(moment("updated_since", given["updated_since"]))
    if "q" in given:
        if len(given["q"]) > 120:
            bad("q", "at most 120 characters")
        where.append("holds(title, ?)")
        args.append(given["q"])
    total = db.execute(f"SELECT count(*) FROM call WHERE {' AND '.join(where)}", args).fetchone()[0]

    key, direction, sign = SORTS[sort]
    if "cursor" in given:
        last, last_id = read_cursor(given["cursor"], sort)
        if PROFILE == "ties":
            where.append(f"{key} {sign} ?")
            args.append(last)
        else:
            where.append(f"({key} {sign} ? OR ({key} = ? AND call.id > ?))")
            args += [last, last, last_id]
    rows = db.execute(f"SELECT call.*, (SELECT name FROM funder f WHERE f.id = funder_id) AS funder_name, {key} AS sort_key FROM call "
                      f"WHERE {' AND '.join(where)} ORDER BY {key} {direction}, call.id LIMIT ?", [*args, limit + 1]).fetchall()
    more, rows = len(rows) > limit, rows[:limit]
    following, headers = None, []
    if more:
        following = write_cursor(sort, rows[-1]["sort_key"], rows[-1]["id"])
        rest = [(k, v) for k, v in params(request) if k not in ("cursor", "access_token")] + [("cursor", following)]
        target = f"{API}/calls?{urlencode(rest)}"
        headers = [("Link", f"<{target}>; title*=UTF-8''n%C3%A4chste; rel=next" if PROFILE == "odd" else f'<{ORIGIN}{target}>; rel="next"')]
    return reply({"data": [summary(r) for r in rows], "paging": {"limit": limit, "total": total, "next": following}}, 200, headers)


FUNDER_SQL = "SELECT id, name, country, homepage, (SELECT count(*) FROM call WHERE funder_id = funder.id) AS call_count FROM funder"


@get(API + "/calls/{id}")
async def get_call(request: Request):
    caller(request, role="EXTERNAL_API_CLIENT")
    row = db.execute("SELECT call.*, f.name AS funder_name FROM call JOIN funder f ON f.id = funder_id WHERE call.id = ?", (path_id(request),)).fetchone()
    if row is None:
        raise ApiError(404, "not_found", "There is no such call.")
    expand = {v for k, v in params(request) if k == "expand" and v}
    if expand - {"funder"}:
        bad("expand", "unknown value")
    out = summary(row)
    out.update(description=row["description"], duration_months={"min": row["months_min"], "max": row["months_max"]}, url=row["url"], contact=row["contact"])
    if expand:
        sql = FUNDER_SQL.replace("SELECT id, name, country, homepage,", "SELECT funder.*,") if PROFILE == "expand" else FUNDER_SQL
        out["funder_details"] = dict(db.execute(sql + " WHERE id = ?", (row["funder_id"],)).fetchone())
    return reply(out)


def path_id(request):
    value = request.route_values["id"]
    return value if re.fullmatch(r"[A-Za-z0-9-]{1,40}", value) else ""


@get(API + "/funders")
async def list_funders(request: Request):
    caller(request, role="EXTERNAL_API_CLIENT")
    return reply([dict(r) for r in db.execute(FUNDER_SQL + " ORDER BY id")])


@get(API + "/funders/{id}")
async def get_funder(request: Request):
    caller(request, role="EXTERNAL_API_CLIENT")
    row = db.execute(FUNDER_SQL + " WHERE id = ?", (path_id(request),)).fetchone()
    if row is None:
        raise ApiError(404, "not_found", "There is no such funder.")
    return reply(dict(row))


# ---- ASGI entry ------------------------------------------------------------

async def entry(scope, receive, send):
    """HEAD is answered as GET; the server drops the body."""
    if scope["type"] != "http":
        return await app(scope, receive, send)
    head = scope["method"] == "HEAD"

    async def out(message):
        if message["type"] == "http.response.start":
            headers = list(message["headers"])
            if message["status"] == 304:
                headers = [h for h in headers if h[0].lower() not in (b"content-length", b"content-type")]
            message = {**message, "headers": headers}
        await send(message)

    await app({**scope, "method": "GET"} if head else scope, receive, out)


if __name__ == "__main__":
    uvicorn.run(entry, host="127.0.0.1", port=PORT, log_level="error", server_header=False)
