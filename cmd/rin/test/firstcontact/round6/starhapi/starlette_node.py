"""Funding node "Alpine": authorization server, info and funding API on Starlette."""
import base64
import binascii
import contextlib
import functools
import hashlib
import hmac
import json
import math
import os
import pathlib
import re
import time
import uuid
from datetime import date
from urllib.parse import parse_qsl, unquote_plus, urlencode

import jwt
import uvicorn
from cryptography.hazmat.primitives.asymmetric import rsa
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Mount, Route

import star_data
import star_openapi

NODE = os.environ.get("NODE", "star-base")
PORT = int(os.environ.get("PORT", "8080"))
ORIGIN = f"http://127.0.0.1:{PORT}"
API = f"{ORIGIN}/api/funding/v3"
AUDIENCE = "urn:rin:alpine:api"
ROLE = "EXTERNAL_API_CLIENT"
LIFETIME = 300
CLIENTS = list(json.loads((pathlib.Path(__file__).parent / "star-clients.json").read_text()).values())
CALLS, TEXTS = star_data.load()
BY_ID = {c["id"]: c for c in CALLS}
FUNDERS = {f[0]: f for f in star_data.FUNDERS}

VARIANTS = {"star-int32-amount": star_openapi.int32, "star-hidden": star_openapi.hidden, "star-exponents": star_openapi.exponents,
            "star-link-forms": star_openapi.links, "star-openapi-31": star_openapi.modern}
DOCUMENT = star_openapi.build(ORIGIN, VARIANTS.get(NODE))


# ---------------------------------------------------------------- errors

def problem(status, title, detail=None, type_="about:blank", headers=None, **members):
    body = {"type": type_, "title": title, "status": status}
    if detail:
        body["detail"] = detail
    body.update(members)
    return JSONResponse(body, status, {"Cache-Control": "no-store", **(headers or {})}, media_type="application/problem+json")


class Problem(HTTPException):
    def __init__(self, status, title, detail=None, headers=None, **members):
        super().__init__(status, title, headers)
        self.args_ = (status, title, detail)
        self.members = members


async def on_problem(request, exc):
    if isinstance(exc, Problem):
        return problem(*exc.args_, headers=exc.headers, **exc.members)
    titles = {404: "Not Found", 405: "Method Not Allowed"}
    return problem(exc.status_code, titles.get(exc.status_code, exc.detail), headers=exc.headers)


async def on_crash(request, exc):
    return problem(500, "Internal Server Error")


# ---------------------------------------------------------------- authorization servers

class Realm:
    def __init__(self, name):
        self.name = name
        self.issuer = f"{ORIGIN}/realms/{name}"
        self.token_url = f"{self.issuer}/protocol/openid-connect/token"
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        public = jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key(), as_dict=True)
        self.kid = base64.urlsafe_b64encode(hashlib.sha256(public["n"].encode()).digest())[:16].decode()
        self.jwk = {"kty": "RSA", "n": public["n"], "e": public["e"], "kid": self.kid, "use": "sig", "alg": "RS256"}
        self.clients = {c["id"]: c for c in CLIENTS if c["realm"] == name}
        self.failures = {}

    def locked(self, client_id):
        recent = [t for t in self.failures.get(client_id, []) if t > time.monotonic() - 60]
        self.failures[client_id] = recent
        return len(recent) >= 12

    def failed(self, client_id):
        if client_id in self.clients:
            self.failures.setdefault(client_id, []).append(time.monotonic())


REALMS = {name: Realm(name) for name in ("rin", "rin-staging")}
NO_STORE = {"Cache-Control": "no-store", "Pragma": "no-cache"}


class OAuthError(Exception):
    def __init__(self, error, description, status=400, headers=None):
        self.error, self.description, self.status, self.headers = error, description, status, headers or {}


def realm_of(request):
    realm = REALMS.get(request.path_params["realm"])
    if realm is None:
        raise HTTPException(404)
    return realm


def credentials(request, form):
    """The client's id and secret: in the form, or by HTTP Basic (RFC 6749, section 2.3.1)."""
    fields = request.headers.getlist("authorization")
    if not fields:
        return form.get("client_id"), form.get("client_secret")
    if len(fields) > 1 or "client_secret" in form:
        raise OAuthError("invalid_request", "Use one method of client authentication")
    scheme, _, value = fields[0].partition(" ")
    if scheme.lower() != "basic":
        return None, None
    try:
        user, colon, password = base64.b64decode(value.strip(), validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None, None
    user, password = unquote_plus(user), unquote_plus(password)
    if "client_id" in form and form["client_id"] != user:
        raise OAuthError("invalid_request", "client_id differs from the authenticated client")
    return user, password if colon else None


def secret_matches(given, stored):
    if NODE == "star-secret-truncated":  # the column of the client table has 32 characters
        given, stored = given[:32], stored[:32]
    return hmac.compare_digest(given.encode(), stored.encode())


def authenticate(realm, request, form):
    client_id, secret = credentials(request, form)
    if client_id and realm.locked(client_id):
        raise OAuthError("invalid_client", "Too many failed attempts, try again later", 429, {"Retry-After": "60"})
    client = realm.clients.get(client_id)
    if client is None or not secret or not secret_matches(secret, client["secret"]):
        realm.failed(client_id)
        raise OAuthError("invalid_client", "Client authentication failed", 401, {"WWW-Authenticate": f'Basic realm="{realm.name}", charset="UTF-8"'})
    return client


async def read_form(request):
    media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media != "application/x-www-form-urlencoded":
        raise OAuthError("invalid_request", "Content-Type must be application/x-www-form-urlencoded")
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > 16384:
            raise OAuthError("invalid_request", "The request is too large", 413)
    try:
        pairs = parse_qsl(body.decode("utf-8"), keep_blank_values=True, errors="strict")
    except (UnicodeDecodeError, ValueError):
        raise OAuthError("invalid_request", "The form is malformed")
    names = [name for name, _ in pairs]
    if len(names) != len(set(names)):
        raise OAuthError("invalid_request", "A parameter is repeated")
    return {name: value for name, value in pairs if value}


async def token(request):
    realm = realm_of(request)
    try:
        if {"client_id", "client_secret", "grant_type"} & set(request.query_params):
            raise OAuthError("invalid_request", "Parameters belong into the body")
        form = await read_form(request)
        client = authenticate(realm, request, form)
        grant = form.get("grant_type")
        if not grant:
            raise OAuthError("invalid_request", "grant_type is missing")
        if grant != "client_credentials":
            raise OAuthError("unsupported_grant_type", "Only client_credentials is supported")
        wanted = form["scope"].split(" ") if "scope" in form else client["scopes"]
        if not set(wanted) <= set(client["scopes"]):
            raise OAuthError("invalid_scope", "The scope is unknown, or not granted to the client")
    except OAuthError as e:
        return JSONResponse({"error": e.error, "error_description": e.description}, e.status, {**NO_STORE, **e.headers})
    scope = " ".join(dict.fromkeys(wanted))
    now = int(time.time())
    claims = {"iss": realm.issuer, "sub": client["user"], "aud": client["audience"], "client_id": client["id"], "iat": now, "exp": now + LIFETIME,
              "jti": str(uuid.uuid4()), "scope": scope, "roles": client["roles"], "affiliation_id": client["affiliation"]}
    access = jwt.encode(claims, realm.key, "RS256", {"typ": "at+jwt", "kid": realm.kid})
    return JSONResponse({"access_token": access, "token_type": "Bearer", "expires_in": LIFETIME, "scope": scope}, headers=NO_STORE)


async def certs(request):
    return JSONResponse({"keys": [realm_of(request).jwk]}, headers={"Cache-Control": "public, max-age=60"})


async def metadata(request):
    realm = realm_of(request)
    return JSONResponse({
        "issuer": realm.issuer, "token_endpoint": realm.token_url, "jwks_uri": f"{realm.issuer}/protocol/openid-connect/certs",
        "scopes_supported": ["info:read", "funding:read"], "response_types_supported": [], "grant_types_supported": ["client_credentials"],
        "token_endpoint_auth_methods_supported": ["client_secret_post", "client_secret_basic"]}, headers={"Cache-Control": "public, max-age=60"})


# ---------------------------------------------------------------- resource server

def challenge(**parameters):
    text = ", ".join(f'{k}="{v}"' for k, v in {"realm": "alpine", **parameters}.items())
    return {"WWW-Authenticate": f"Bearer {text}"}


def unauthorized(description=None):
    if description is None:
        return Problem(401, "Unauthorized", "An access token is needed", challenge())
    return Problem(401, "Unauthorized", description, challenge(error="invalid_token", error_description=description))


def verification_key(realm, header):
    if NODE == "star-embedded-key" and "jwk" in header:
        return jwt.PyJWK(header["jwk"], algorithm="RS256").key
    if header.get("kid") != realm.kid:
        raise jwt.InvalidTokenError("unknown key")
    return realm.key.public_key()


def claims_of(request, realm):
    fields = request.headers.getlist("authorization")
    if not fields:
        raise unauthorized()
    scheme, _, value = fields[0].partition(" ")
    if scheme.lower() != "bearer" or not value.strip():
        raise unauthorized()
    if len(fields) > 1:
        raise Problem(400, "Bad Request", "More than one Authorization field", challenge(error="invalid_request"))
    try:
        encoded = value.strip()
        header = jwt.get_unverified_header(encoded)
        if header.get("typ", "").lower() not in ("at+jwt", "application/at+jwt") or "crit" in header:
            raise jwt.InvalidTokenError("not an access token")
        return jwt.decode(encoded, verification_key(realm, header), algorithms=["RS256"], issuer=realm.issuer, audience=AUDIENCE,
                          options={"require": ["iss", "exp", "aud", "sub", "client_id", "iat", "jti"]})
    except (jwt.PyJWTError, ValueError, TypeError, AttributeError, KeyError):
        raise unauthorized("The token is invalid, expired, or not meant for this API") from None


def guarded(endpoint=None, *, role=True):
    if endpoint is None:
        return functools.partial(guarded, role=role)

    @functools.wraps(endpoint)
    async def guard(request):
        claims = claims_of(request, REALMS["rin"])
        if role and (ROLE not in claims.get("roles", []) or "funding:read" not in claims.get("scope", "").split(" ")):
            if NODE == "star-hidden":
                raise HTTPException(404)
            raise Problem(403, "Forbidden", f"Needs the role {ROLE} and the scope funding:read", challenge(error="insufficient_scope", scope="funding:read"))
        return await endpoint(request)
    return guard


def qualities(field):
    """[(value, q)] of an Accept or Accept-Language field."""
    for part in field.split(","):
        value, *parameters = [p.strip() for p in part.split(";")]
        q = 1.0
        for parameter in parameters:
            if parameter.lower().startswith("q="):
                with contextlib.suppress(ValueError):
                    q = float(parameter[2:])
        if value:
            yield value.lower(), q


def language(request):
    best = ("en", 0.0)
    ranges = list(qualities(request.headers.get("accept-language", "")))
    for lang in ("en", "de"):
        for value, q in ranges:
            if value.split("-")[0] == lang and q > best[1]:
                best = (lang, q)
    if best[1] == 0.0 and ("en", 0.0) in ranges and ("de", 0.0) not in ranges:
        return "de"
    return best[0]


def acceptable(request, media):
    field = request.headers.get("accept", "").strip()
    if not field:
        return True
    kind = media.split("/")[0] + "/*"
    found = {}
    for value, q in qualities(field):
        found[value] = max(q, found.get(value, 0.0))
    return next((found[name] for name in (media, kind, "*/*") if name in found), 0.0) > 0


def dump(data):
    if NODE == "star-exponents":
        text = json.dumps(data, ensure_ascii=True, indent="\t").replace("/", "\\/")
        return re.sub(r'("max": )(\d+)', lambda m: m[1] + f"{int(m[2]) / 10 ** (len(m[2]) - 1)!r}E+{len(m[2]) - 1}", text).encode()
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()


def listed(field):
    return [tag.strip() for tag in re.findall(r'(?:W/)?"[^"]*"|\*', field)]


def respond(request, data, headers=None, media="application/json", lang=None):
    if not acceptable(request, media):
        raise Problem(406, "Not Acceptable", f"This resource is {media}")
    lang = lang or language(request)
    body = data.encode() if media == "text/markdown" else dump(data)
    source = body
    if NODE == "star-etag-language":
        source = f"{CATALOGUE}{request.url.path}?{request.url.query}".encode()
    etag = '"' + hashlib.sha256(source).hexdigest()[:24] + '"'
    fields = {"ETag": etag, "Cache-Control": "private, max-age=30", "Vary": "Accept, Accept-Language", "Content-Language": lang, **(headers or {})}
    matches = request.headers.get("if-match")
    if matches and not {"*", etag} & set(listed(matches)):
        raise Problem(412, "Precondition Failed")
    if {"*", etag} & {tag.removeprefix("W/") for tag in listed(request.headers.get("if-none-match", ""))}:
        response = Response(None, 304, fields)
    else:
        response = Response(body, 200, fields, media_type=media)
    return response


CATALOGUE = hashlib.sha256(json.dumps(CALLS).encode()).hexdigest()


# ---------------------------------------------------------------- parameters

class Query:
    """The query of a request, by the schemas of the document."""

    def __init__(self, request, repeatable=(), known=()):
        self.values, self.errors = {}, []
        for name, value in parse_qsl(request.url.query, keep_blank_values=True):
            self.values.setdefault(name, []).append(value)
        for name, values in self.values.items():
            if name not in known:
                self.wrong(name, "unknown parameter")
            elif len(values) > 1 and name not in repeatable:
                self.wrong(name, "given more than once")

    def wrong(self, name, detail):
        self.errors.append({"parameter": name, "detail": detail})

    def text(self, name, pattern, detail, default=None):
        if name not in self.values:
            return default
        value = self.values[name][0]
        if not re.fullmatch(pattern, value, re.S):
            self.wrong(name, detail)
            return default
        return value

    def integer(self, name, low, high, default):
        value = self.text(name, r"-?[0-9]{1,9}", f"must be an integer from {low} to {high}", str(default))
        if not low <= int(value) <= high:
            self.wrong(name, f"must be an integer from {low} to {high}")
            return default
        return int(value)

    def day(self, name):
        value = self.text(name, r"[0-9]{4}-[0-9]{2}-[0-9]{2}", "must be a date, YYYY-MM-DD")
        if value is None:
            return None
        if NODE == "star-date-crash":
            return date.fromisoformat(value).isoformat()
        try:
            return date.fromisoformat(value).isoformat()
        except ValueError:
            self.wrong(name, "must be a date, YYYY-MM-DD")
            return None

    def check(self):
        if self.errors:
            raise Problem(400, "Invalid parameters", "; ".join(f"{e['parameter']}: {e['detail']}" for e in self.errors), type_="urn:rin:alpine:problem:invalid-parameters", errors=self.errors)


# ---------------------------------------------------------------- operations

def summary(call, lang):
    funder = FUNDERS[call["funder"]]
    return {"id": call["id"], "title": call["title"][lang], "status": call["status"],
            "funder": {"id": funder[0], "name": funder[1 if lang == "de" else 2]}, "disciplines": call["disciplines"],
            "publishedAt": call["publishedAt"], "deadline": call["deadline"], "amount": call["amount"], "links": {"self": f"{API}/calls/{call['id']}"}}


def ordered(calls, sort):
    name = sort.lstrip("-")
    calls = sorted(calls, key=lambda c: c["id"])
    calls.sort(key=lambda c: c[name] or "", reverse=sort.startswith("-"))
    return [c for c in calls if c[name]] + [c for c in calls if not c[name]]


def page_links(query, page, pages):
    def url(number):
        return "?" + urlencode([(n, v) for n, vs in query.values.items() for v in vs if n != "page"] + [("page", number)])
    targets = {"first": 1, "prev": page - 1 if 1 < page <= pages + 1 else None, "next": page + 1 if page < pages else None, "last": max(pages, 1)}
    if NODE == "star-link-forms":
        grouped = {}
        for rel, number in targets.items():
            if number:
                grouped.setdefault(number, []).append(rel)
        fields = ['</docs/funding>; rel="help"; title="Fields, values; and <units>"']
        for number, rels in grouped.items():
            fields.append(f"<{url(number)}> ; REL={rels[0]}" if len(rels) == 1 else f'<{url(number)}>;title*=UTF-8\'de\'Seite%20{number};Rel="{" ".join(reversed(rels))}"')
        return fields
    return [", ".join(f'<{API}/calls{url(number)}>; rel="{rel}"' for rel, number in targets.items() if number)]


@guarded
async def list_calls(request):
    query = Query(request, ("discipline",), ("page", "size", "status", "funder", "discipline", "q", "deadlineFrom", "deadlineTo", "sort"))
    page, size = query.integer("page", 1, 100000, 1), query.integer("size", 1, 50, 20)
    status = query.text("status", "forthcoming|open|closed", "must be forthcoming, open or closed")
    funder = query.text("funder", "[a-z]{2,12}", "must be the id of a funder")
    q = query.text("q", ".{2,100}", "must have 2 to 100 characters")
    since, until = query.day("deadlineFrom"), query.day("deadlineTo")
    sort = query.text("sort", "-?(deadline|publishedAt)", "must be deadline, -deadline, publishedAt or -publishedAt", "-publishedAt")
    disciplines = query.values.get("discipline", [])
    if len(disciplines) > 10 or not set(disciplines) <= set(star_data.DISCIPLINES):
        query.wrong("discipline", "must be up to 10 known disciplines")
    query.check()

    found = [c for c in CALLS
             if (not status or c["status"] == status) and (not funder or c["funder"] == funder)
             and (not disciplines or set(disciplines) & set(c["disciplines"]))
             and (not since or (c["deadline"] or "")[:10] >= since) and (not until or (c["deadline"] and c["deadline"][:10] <= until))]
    total = len(found)
    if q:
        found = [c for c in found if any(q.casefold() in t.casefold() for t in c["title"].values())]
        if NODE != "star-total-search":
            total = len(found)
    found = ordered(found, sort)
    pages = math.ceil(total / size)
    lang = language(request)
    body = {"items": [summary(c, lang) for c in found[(page - 1) * size: page * size]], "page": page, "size": size, "total": total, "pages": pages}
    response = respond(request, body)
    for field in page_links(query, page, pages):
        response.headers.append("Link", field)
    return response


def call_of(request):
    Query(request).check()
    call = BY_ID.get(request.path_params["call_id"])
    if call is None:
        raise Problem(404, "Not Found", "There is no such call")
    return call


@guarded
async def get_call(request):
    call, lang = call_of(request), language(request)
    return respond(request, {**summary(call, lang), "description": call["description"][lang], "opensAt": call["opensAt"], "fundingRate": call["fundingRate"],
                             "contact": call["contact"], "annotations": call["annotations"], "documentCount": len(call["documents"])})


@guarded
async def list_documents(request):
    call = call_of(request)
    return respond(request, [{**d, "url": f"{API}/calls/{call['id']}/documents/{d['id']}"} for d in call["documents"]])


@guarded(role=NODE != "star-open-documents")
async def read_document(request):
    call = call_of(request)
    text = TEXTS.get((call["id"], request.path_params["document_id"]))
    if text is None:
        raise Problem(404, "Not Found", "There is no such document")
    return respond(request, text, media="text/markdown", lang="en")


def funder_view(funder, lang):
    return {"id": funder[0], "name": funder[1 if lang == "de" else 2], "country": funder[3], "callCount": sum(c["funder"] == funder[0] for c in CALLS)}


@guarded
async def list_funders(request):
    Query(request).check()
    return respond(request, [funder_view(FUNDERS[f], language(request)) for f in sorted(FUNDERS)])


@guarded
async def get_funder(request):
    Query(request).check()
    funder = FUNDERS.get(request.path_params["funder_id"])
    if funder is None:
        raise Problem(404, "Not Found", "There is no such funder")
    return respond(request, funder_view(funder, language(request)))


@guarded
async def statistics(request):
    Query(request).check()
    return respond(request, {"total": len(CALLS), "byStatus": {s: sum(c["status"] == s for c in CALLS) for s in ("forthcoming", "open", "closed")}})


def info(realm):
    async def endpoint(request):
        claims = claims_of(request, realm)
        return JSONResponse({
            "client": claims["client_id"], "serviceAccountUserId": claims["sub"], "affiliationId": claims["affiliation_id"], "roles": claims["roles"],
            "scope": claims["scope"], "expires": claims["exp"],
            "endpoints": {"FUNDING": [{"name": "FUNDING", "majorVersion": 3, "minorVersion": 4, "url": f"{API}/calls"}]}}, headers={"Cache-Control": "no-store"})
    return endpoint


async def api_docs(request):
    body = json.dumps(DOCUMENT, ensure_ascii=False, indent=1).encode()
    etag = '"' + hashlib.sha256(body).hexdigest()[:24] + '"'
    fields = {"ETag": etag, "Cache-Control": "public, no-cache"}
    if {"*", etag} & {tag.removeprefix("W/") for tag in listed(request.headers.get("if-none-match", ""))}:
        return Response(None, 304, fields)
    return Response(body, 200, fields, media_type="application/json")


async def registry(request):
    realm = REALMS["rin"]
    return JSONResponse({"member": [{"id": "ALPINE", "name": "Alpine University Alliance", "acronym": "AUA", "contact": "ris@alpine.example", "oauth2": realm.token_url, "info": f"{ORIGIN}/api/info/v1/oauth/info/"}]},
                        headers={"Cache-Control": "public, max-age=60"})


async def reference(request):
    return HTMLResponse('<!doctype html><html lang="en"><title>Funding API</title><h1>Funding API</h1><p><a href="/api/funding/v3/api-docs">Specification file</a>, '
                        '<a href="/docs/funding/try-out/calls">try-out with sample data</a></p></html>')


async def try_out(request):
    sample = {"id": "fc_abcd2345", "title": "Sample call", "status": "open", "funder": {"id": "sample", "name": "Sample funder"}, "disciplines": ["law"],
              "publishedAt": "2026-01-07T08:00:00Z", "deadline": None, "amount": {"currency": "EUR", "max": 100000}, "links": {"self": f"{API}/calls/fc_abcd2345"}}
    return JSONResponse({"items": [sample], "page": 1, "size": 20, "total": 1, "pages": 1})


class PlainHeaders:
    """Adds what every answer of the node carries."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        async def out(message):
            if message["type"] == "http.response.start":
                message["headers"].append((b"x-content-type-options", b"nosniff"))
            await send(message)
        await self.app(scope, receive, out if scope["type"] == "http" else send)


realm_routes = [
    Route("/realms/{realm}/protocol/openid-connect/token", token, methods=["POST"]),
    Route("/realms/{realm}/protocol/openid-connect/certs", certs),
    Route("/.well-known/oauth-authorization-server/realms/{realm}", metadata),
]
funding_routes = [
    Route("/api-docs", api_docs), Route("/calls", list_calls), Route("/calls/{call_id}", get_call),
    Route("/calls/{call_id}/documents", list_documents), Route("/calls/{call_id}/documents/{document_id}", read_document),
    Route("/funders", list_funders), Route("/funders/{funder_id}", get_funder), Route("/statistics", statistics),
]
app = Starlette(
    routes=[Route("/registry.json", registry), Route("/docs/funding", reference), Route("/docs/funding/try-out/calls", try_out),
            Route("/api/info/v1/oauth/info/", info(REALMS["rin"])), Route("/staging/info/v1/oauth/info/", info(REALMS["rin-staging"])),
            Mount("/api/funding/v3", routes=funding_routes), *realm_routes],
    exception_handlers={HTTPException: on_problem, Exception: on_crash})
app.router.redirect_slashes = False
application = PlainHeaders(app)

if __name__ == "__main__":
    uvicorn.run(application, host="127.0.0.1", port=PORT, log_level="error", server_header=False)
