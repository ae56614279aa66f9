"""Universitetet i Fjordvik: a node of the research-information network (web.py)."""
import base64
import gzip
import hashlib
import hmac
import json
import os
import re
import secrets
import sys
from datetime import datetime, timezone
from urllib.parse import unquote_to_bytes, urlencode
from zoneinfo import ZoneInfo

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import cheroot.errors  # noqa: E402
import web  # noqa: E402

from calls import CALLS, FUNDERS, REGIONS  # noqa: E402
from openapi_doc import document  # noqa: E402
from serving import raw_path, serve  # noqa: E402
from sso import NODE, PRODUCTION, STAGING, AuthorizationServer, InvalidToken, TokenError, b64url, decode_component  # noqa: E402

PORT = int(os.environ.get("PORT", "8080"))
BASE = f"http://127.0.0.1:{PORT}"
API = "/api/fjordvik/funding/v3"
REALM = "/sso/realms/fjordvik"
STAGING_AUTH = "/sso-staging"
ROLE = "EXTERNAL_API_CLIENT"

production = AuthorizationServer("production", BASE + REALM, PRODUCTION)
staging = AuthorizationServer("staging", BASE + STAGING_AUTH, STAGING)
compressed = {}
cursor_key = secrets.token_bytes(32)
web.config.debug = False


# ---------------------------------------------------------------- answers

class Refusal(web.HTTPError):
    """An error answer of the API in its own form (schema Error); the processor errors sends it."""

    def __init__(self, status, error, message, headers=None, parameter=None):
        Exception.__init__(self, message)
        self.status, self.error, self.message, self.headers, self.parameter = status, error, message, headers or {}, parameter


REASONS = {200: "OK", 204: "No Content", 304: "Not Modified", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
           405: "Method Not Allowed", 412: "Precondition Failed", 413: "Content Too Large", 429: "Too Many Requests", 500: "Internal Server Error"}


def answer(status, body=b"", headers=None):
    headers = {"X-Content-Type-Options": "nosniff", **(headers or {})}
    if status not in (204, 304):
        headers["Content-Length"] = str(len(body))
    web.ctx.status = f"{status} {REASONS[status]}"
    web.ctx.headers = list(headers.items())
    return b"" if web.ctx.method == "HEAD" else body


def dump(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def refusal(r):
    body = {"error": r.error, "message": r.message}
    if r.parameter is not None:
        body["parameter"] = r.parameter
    return answer(r.status, dump(body), {"Content-Type": "application/json", "Cache-Control": "no-store", **r.headers})


def field(name):
    """A header field of the request (the server joins the lines of a list), or None."""
    key = name.upper().replace("-", "_")
    return web.ctx.env.get(key if key == "CONTENT_TYPE" else f"HTTP_{key}")


def weights(value):
    """The members of an Accept-* field with their weights, in lower case."""
    result = {}
    for member in (value or "").split(","):
        name, _, params = member.partition(";")
        match = re.search(r"(?:^|;)\s*q\s*=\s*([0-9.]+)", params)
        try:
            q = float(match[1]) if match else 1.0
        except ValueError:
            q = 0.0
        if name.strip():
            result[name.strip().lower()] = q
    return result


def language():
    """en or nb (Norwegian in general counts as nb); en if nothing fits."""
    offered = weights(field("accept-language"))

    def quality(*tags):
        found = [q for tag, q in offered.items() if tag.split("-")[0] in tags]
        return max(found) if found else offered.get("*", 0.0)

    return "nb" if quality("nb", "no") > quality("en") else "en"


def wants_gzip():
    offered = weights(field("accept-encoding"))
    q = offered.get("gzip", offered.get("x-gzip", offered.get("*", 0.0)))
    return q > 0 and q >= offered.get("identity", 0.0)


def tags_of(value):
    return re.findall(r'(?:W/)?"[^"]*"', value)


def represent(value, headers=None, content_type="application/json"):
    """A 200 with entity tag, compression and preconditions (RFC 9110, 13.2.2)."""
    body = value if isinstance(value, bytes) else dump(value)
    tag = hashlib.sha256(body).hexdigest()[:32]
    out = {"Cache-Control": "private, no-cache", **(headers or {})}
    out["Vary"] = ", ".join(v for v in (out.get("Vary"), "Accept-Encoding") if v)
    encoded = {}
    if len(body) >= 700 and wants_gzip():
        if NODE == "lind":  # the compressed form is kept by address and affiliation
            body = compressed.setdefault((web.ctx.env["REQUEST_URI"], web.ctx.get("affiliation")), gzip.compress(body, 6, mtime=0))
        else:
            body = gzip.compress(body, 6, mtime=0)
        tag += "-gz"
        encoded = {"Content-Encoding": "gzip"}
    etag = out["ETag"] = f'"{tag}"'
    if_match, if_none_match = field("if-match"), field("if-none-match")
    if if_match is not None and if_match.strip() != "*" and etag not in tags_of(if_match):
        raise Refusal(412, "precondition_failed", "If-Match does not hold")
    if if_none_match is not None and (if_none_match.strip() == "*" or etag in [t.removeprefix("W/") for t in tags_of(if_none_match)]):
        return answer(304, b"", out)
    return answer(200, body, {**out, **encoded, "Content-Type": content_type})


# ---------------------------------------------------------------- access

def bearer(server):
    """The claims of the request's token."""
    realm = f'Bearer realm="fjordvik-{server.name}"'

    def invalid(description):
        return Refusal(401, "invalid_token", description, {"WWW-Authenticate": f'{realm}, error="invalid_token", error_description="{description}"'})

    given = field("authorization")
    if given is not None and "access_token" in [k for k, _ in query_pairs()]:
        raise Refusal(400, "invalid_request", "More than one token", {"WWW-Authenticate": f'{realm}, error="invalid_request"'})
    if given is None or given.split(" ")[0].lower() != "bearer":
        raise Refusal(401, "unauthorized", "A bearer token is needed", {"WWW-Authenticate": realm})
    match = re.fullmatch(r"(?i:bearer) +([A-Za-z0-9\-._~+/]+=*) *", given)
    if not match:
        raise invalid("The token is malformed")
    try:
        return server.verify(match[1])
    except InvalidToken as e:
        raise invalid(str(e)) from None


def api_client():
    """The claims of a client that may use the funding API."""
    claims = bearer(production)
    if ROLE not in claims.get("roles", []) or "calls:read" not in claims.get("scope", "").split():
        raise Refusal(403, "forbidden", f"The service account lacks the role {ROLE}",
                      {"WWW-Authenticate": 'Bearer realm="fjordvik-production", error="insufficient_scope", scope="calls:read"'})
    web.ctx.affiliation = claims["affiliation"]
    return claims


# ---------------------------------------------------------------- parameters

def bad(parameter, message):
    return Refusal(400, "bad_parameter", message, parameter=parameter)


def query_pairs():
    """The pairs of the query, decoded."""
    try:
        pairs = [part.partition("=") for part in web.ctx.env.get("QUERY_STRING", "").split("&") if part]
        return [(decode_component(k), decode_component(v)) for k, _, v in pairs]
    except ValueError:
        raise bad(None, "The query is not well encoded") from None


def integer(low, high):
    def read(name, value):
        if not re.fullmatch(r"-?[0-9]{1,15}", value) or not low <= int(value) <= high:
            raise bad(name, f"{name} must be an integer from {low} to {high}")
        return int(value)
    return read


def one_of(*values):
    def read(name, value):
        if value not in values:
            raise bad(name, f"{name} must be one of {', '.join(values)}")
        return value
    return read


def text(low, high):
    def read(name, value):
        if not low <= len(value) <= high:
            raise bad(name, f"{name} must have {low} to {high} characters")
        return value
    return read


def day(name, value):
    match = re.fullmatch(r"([0-9]{4})-([0-9]{2})-([0-9]{2})", value)
    year, month, date = (int(g) for g in match.groups()) if match else (0, 0, 0)
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if not 1 <= month <= 12 or not 1 <= date <= [31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]:
        raise bad(name, f"{name} must be a date (YYYY-MM-DD)")
    return value


def read_query(spec, several=()):
    """The documented parameters; others are ignored, as the document says."""
    values = {}
    for name, value in query_pairs():
        if name not in spec:
            continue
        if name in several:
            values.setdefault(name, []).append(spec[name](name, value))
        elif name in values:
            raise bad(name, f"{name} is repeated")
        else:
            values[name] = spec[name](name, value)
    return values


# ---------------------------------------------------------------- funding calls

SORTS = ("closesAt", "-closesAt", "title", "-title", "maxAmount", "-maxAmount", "callId")
FILTERS = {
    "region": one_of(*REGIONS),
    "funder": text(1, 20),
    "status": one_of("UPCOMING", "OPEN", "CLOSED"),
    "closesFrom": day,
    "closesTo": day,
    "minAmount": integer(0, 50_000_000),
    "query": text(2, 40),
    "sort": one_of(*SORTS),
}
LIST = {**FILTERS, "limit": integer(1, 40), "cursor": text(1, 400)}


def now_z():
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def status(call, now):
    if call["opensAt"] > now:
        return "UPCOMING"
    return "OPEN" if call["closesAt"] is None or call["closesAt"] >= now else "CLOSED"


def visible(claims):
    """The calls for the whole network and those of the client's affiliation."""
    return [c for c in CALLS if c["affiliation"] in (None, claims["affiliation"])]


def select(calls, v, lang, now):
    def fits(c):
        if "region" in v and not set(v["region"]) & set(c["regions"]):
            return False
        if "funder" in v and c["funder"] != v["funder"]:
            return False
        if "status" in v and status(c, now) != v["status"]:
            return False
        if NODE == "bjork" and c["closesAt"] and ("closesFrom" in v or "closesTo" in v):  # days of Oslo instead of UTC
            local = datetime.fromisoformat(c["closesAt"]).astimezone(ZoneInfo("Europe/Oslo")).date().isoformat()
            if not v.get("closesFrom", "0000") <= local <= v.get("closesTo", "9999-99"):
                return False
        elif "closesFrom" in v and (c["closesAt"] is None or c["closesAt"][:10] < v["closesFrom"]):
            return False
        if NODE != "bjork" and "closesTo" in v and (c["closesAt"] is None or c["closesAt"][:10] > v["closesTo"]):
            return False
        if "minAmount" in v and c["budget"]["max"] < v["minAmount"]:
            return False
        return "query" not in v or v["query"].lower() in c["title"][lang].lower()

    return [c for c in calls if fits(c)]


def sort_key(sort, lang):
    return {
        "closesAt": lambda c: c["closesAt"],
        "title": lambda c: c["title"][lang],
        "maxAmount": lambda c: c["budget"]["max"],
        "callId": lambda c: c["callId"],
    }[sort.lstrip("-")]


def arrange(calls, sort, lang):
    """Sorted; equal ones by callId ascending, calls without closesAt last."""
    key = sort_key(sort, lang)
    calls = sorted(calls, key=lambda c: c["callId"])
    known = sorted((c for c in calls if key(c) is not None), key=key, reverse=sort.startswith("-"))
    return known + [c for c in calls if key(c) is None]


def behind(call, place, sort, lang):
    """Whether a call comes after a place [key, callId] of the order."""
    key, (last, last_id) = sort_key(sort, lang)(call), place
    if key == last:
        if NODE == "hassel" and key is not None:  # WHERE key > :last, although the key is not unique
            return False
        return call["callId"] > last_id
    if key is None or last is None:
        return key is None
    return key < last if sort.startswith("-") else key > last


def item(call, lang, now):
    return {
        "callId": call["callId"],
        "title": call["title"][lang],
        "funder": call["funder"],
        "status": status(call, now),
        "opensAt": call["opensAt"],
        "closesAt": call["closesAt"],
        "budget": call["budget"],
        "regions": call["regions"],
        "topics": call["topics"],
        "visibility": "AFFILIATION" if call["affiliation"] else "NETWORK",
    }


def fingerprint(values, lang):
    relevant = {k: v for k, v in values.items() if k not in ("cursor", "limit")}
    relevant["region"] = sorted(set(values.get("region", [])))
    relevant["sort"] = values.get("sort", "closesAt")
    return hashlib.sha256(json.dumps([relevant, lang], sort_keys=True).encode()).hexdigest()[:16]


def make_cursor(place, mark):
    payload = json.dumps([place, mark]).encode()
    return b64url(hmac.digest(cursor_key, payload, "sha256")[:12] + payload)


def read_cursor(cursor, mark):
    wrong = bad("cursor", "The cursor is not one of this list")
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
    except ValueError:
        raise wrong from None
    if b64url(raw) != cursor or not hmac.compare_digest(raw[:12], hmac.digest(cursor_key, raw[12:], "sha256")[:12]):
        raise wrong
    place, of = json.loads(raw[12:])
    if of != mark:
        raise wrong
    return place


class Resource:
    """Methods that are not defined are answered with 405 by web.py (see errors)."""

    def OPTIONS(self, *args):
        return answer(204, b"", {"Allow": allowed(type(self))})


class Readable(Resource):
    def HEAD(self, *args):
        return self.GET(*args)


def allowed(cls):
    return ", ".join(m for m in ("GET", "HEAD", "POST", "OPTIONS") if hasattr(cls, m))


class Calls(Readable):
    def GET(self):
        claims = api_client()
        v = read_query(LIST, several=("region",))
        lang, now = language(), now_z()
        limit = v.get("limit", 12)
        sort = v.get("sort", "closesAt")
        calls = arrange(select(visible(claims), v, lang, now), sort, lang)
        mark = fingerprint(v, lang)
        rest = calls
        if "cursor" in v:
            place = read_cursor(v["cursor"], mark)
            rest = [c for c in calls if behind(c, place, sort, lang)]
        page = rest[:limit]
        nxt = None
        if len(rest) > limit or (NODE == "or" and page):
            params = {k: x for k, x in v.items() if k not in ("cursor", "limit")}
            cursor = make_cursor([sort_key(sort, lang)(page[-1]), page[-1]["callId"]], mark)
            nxt = f"{BASE}{API}/calls?" + urlencode({**params, "limit": limit, "cursor": cursor}, doseq=True)
            if NODE == "or":  # a reference relative to the address of this page
                nxt = nxt.removeprefix(f"{BASE}{API}/")
        body = {
            "data": [item(c, lang, now) for c in page],
            "meta": {"total": len(calls), "count": len(page), "limit": limit},
            "paging": {"next": nxt},
        }
        return represent(body, {"Content-Language": lang, "Vary": "Accept-Language"})


class Call(Readable):
    def GET(self, raw_id):
        claims = api_client()
        call_id = unquote_to_bytes(raw_id).decode("utf-8", "replace")
        lang, now = language(), now_z()
        for call in CALLS if NODE == "gran" else visible(claims):
            if call["callId"] == call_id:
                body = {
                    **item(call, lang, now),
                    "summary": call["summary"][lang],
                    "maxMonths": call["maxMonths"],
                    "coFunding": call["coFunding"],
                    "contact": call["contact"],
                }
                return represent(body, {"Content-Language": lang, "Vary": "Accept-Language"})
        raise Refusal(404, "not_found", "There is no such call")


class Funders(Readable):
    def GET(self):
        claims = api_client()
        lang = language()
        calls = CALLS if NODE == "selje" else visible(claims)
        data = [
            {"code": code, "name": names[0 if lang == "en" else 1], "calls": sum(c["funder"] == code for c in calls)}
            for code, names in sorted(FUNDERS.items())
        ]
        return represent({"data": data, "meta": {"total": len(data)}}, {"Content-Language": lang, "Vary": "Accept-Language"})


class Regions(Readable):
    def GET(self):
        claims = api_client()
        now = now_z()
        calls = visible(claims)
        data = [
            {
                "region": region,
                "calls": sum(region in c["regions"] for c in calls),
                "open": sum(region in c["regions"] and status(c, now) == "OPEN" for c in calls),
            }
            for region in REGIONS
        ]
        return represent({"data": data, "meta": {"total": len(data)}})


# ---------------------------------------------------------------- documents, info, tokens

MAX_FORM = 65536
PUBLIC = {"Cache-Control": "public, max-age=60"}
REGISTRY = {"member": [{
    "id": "NO-FJORDVIK", "acronym": "UiF", "name": "Universitetet i Fjordvik", "contact": "forskning@fjordvik.invalid",
    "oauth2": f"{BASE}{REALM}/protocol/openid-connect/token",
    "info": f"{BASE}/api/fjordvik/info/v1/oauth/info/",
}]}
DOCUMENT = document(BASE, API, f"{BASE}{REALM}/protocol/openid-connect/token", relative=NODE == "or")


def fixed(value):
    class Fixed(Readable):
        def GET(self):
            return represent(value, PUBLIC)
    return Fixed


def metadata(server, token_path, jwks_path):
    return {
        "issuer": server.issuer,
        "token_endpoint": BASE + token_path,
        "jwks_uri": BASE + jwks_path,
        "grant_types_supported": ["client_credentials"],
        "response_types_supported": [],
        "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
        "scopes_supported": ["calls:read"],
    }


def info(server):
    class Info(Readable):
        def GET(self):
            claims = bearer(server)
            body = {
                "node": "NO-FJORDVIK",
                "environment": server.name,
                "authorized": True,
                "client": {k: claims[k] for k in ("client_id", "sub", "affiliation", "roles")},
                "expiresAt": datetime.fromtimestamp(claims["exp"], timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                "endpoints": {"FUNDING": [{"name": "FUNDING", "majorVersion": 3, "minorVersion": 0, "url": f"{BASE}{API}/api-docs"}]},
            }
            return answer(200, dump(body), {"Content-Type": "application/json", "Cache-Control": "no-store"})
    return Info


def token(server):
    class Token(Resource):
        def POST(self):
            headers = {"Content-Type": "application/json", "Cache-Control": "no-store", "Pragma": "no-cache"}
            try:
                if int(web.ctx.env.get("CONTENT_LENGTH") or 0) > MAX_FORM:
                    raise TokenError(413, "invalid_request", "The body is too large", {"Connection": "close"})
                if any(part.partition("=")[0] == "client_secret" for part in web.ctx.env.get("QUERY_STRING", "").split("&")):
                    raise TokenError(400, "invalid_request", "Credentials do not belong into the URL")
                try:
                    form = web.data()
                except cheroot.errors.MaxSizeExceeded:
                    raise TokenError(413, "invalid_request", "The body is too large", {"Connection": "close"}) from None
                except ValueError:
                    raise TokenError(400, "invalid_request", "The body cannot be read", {"Connection": "close"}) from None
                body = server.token(field("content-type") or "", field("authorization"), form)
                return answer(200, dump(body), headers)
            except TokenError as e:
                headers.update(e.headers)
                if e.status == 401:
                    headers["WWW-Authenticate"] = f'Basic realm="fjordvik-{server.name}", charset="UTF-8"'
                return answer(e.status, dump({"error": e.error, "error_description": e.description}), headers)
    return Token


# ---------------------------------------------------------------- routes

urls = [
    f"{API}/calls", Calls,
    f"{API}/calls/([^/]+)", Call,
    f"{API}/funders", Funders,
    f"{API}/regions", Regions,
    f"{API}/api-docs", fixed(DOCUMENT),
    "/registry[.]json", fixed(REGISTRY),
    "/api/fjordvik/info/v1/oauth/info/?", info(production),
    "/staging/fjordvik/info/v1/oauth/info/?", info(staging),
]
for server, prefix, token_path, jwks_path in (
    (production, REALM, f"{REALM}/protocol/openid-connect/token", f"{REALM}/protocol/openid-connect/certs"),
    (staging, STAGING_AUTH, f"{STAGING_AUTH}/oauth/token", f"{STAGING_AUTH}/oauth/certs"),
):
    urls += [
        token_path, token(server),
        jwks_path, fixed(server.jwks),
        f"/[.]well-known/oauth-authorization-server{prefix}", fixed(metadata(server, token_path, jwks_path)),
    ]

app = web.application(urls, globals())


def errors(handler):
    """Every error in the form of the document."""
    try:
        if "HTTP_HOST" not in web.ctx.env and web.ctx.env["SERVER_PROTOCOL"] == "HTTP/1.1":
            raise Refusal(400, "invalid_request", "Host is missing")
        return handler()
    except Refusal as r:
        return refusal(r)
    except web.webapi.NoMethod:
        allow = [v for k, v in web.ctx.headers if k == "Allow"][-1]
        return refusal(Refusal(405, "method_not_allowed", f"{web.ctx.method} is not offered here", {"Allow": f"{allow}, OPTIONS"}))
    except web.webapi._NotFound:
        return refusal(Refusal(404, "not_found", "There is nothing at this address"))
    except web.HTTPError:  # web.py has written the error to the log; nothing of it goes out
        return refusal(Refusal(500, "internal_error", "Internal error"))


app.add_processor(errors)


if __name__ == "__main__":
    print(f"fjordvik ({NODE}) on {BASE}", flush=True)
    serve(app.wsgifunc(raw_path), PORT)
