"""Base B: a node on FastAPI and uvicorn, in front of an identity provider of the Keycloak kind: JWT with ES256, checked with PyJWT in a dependency."""
import base64, binascii, hashlib, hmac, json, os, re, time, uuid
from datetime import date
from typing import Annotated, List, Literal, Optional
from urllib.parse import parse_qsl, unquote_plus, urlencode

import jwt
import uvicorn
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from fastapi import Depends, FastAPI, HTTPException, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import AnyUrl, AwareDatetime, BaseModel, Field
from starlette.exceptions import HTTPException as StarletteHTTPException
from calls import FUNDERS, rows

PORT, NODE = int(os.environ.get("PORT", "18202")), os.environ.get("NODE", "")
BASE = f"http://127.0.0.1:{PORT}"
REALM, STAGING = f"{BASE}/realms/nexus", f"{BASE}/realms/nexus-staging"
AUDIENCE, OTHER_AUDIENCE = f"{BASE}/nexus", f"{BASE}/nexus-library"
ROLE, LIFETIME = "EXTERNAL_API_CLIENT", 300

# --- the identity provider -----------------------------------------------------------------------------------------
# A long secret, as a password manager makes it.
MAIN_SECRET = "nx-" + hashlib.sha256(b"main").hexdigest() + hashlib.sha256(b"more").hexdigest()[:24]
CLIENTS = {REALM: {"nexus-main": (MAIN_SECRET, ROLE, AUDIENCE), "nexus-second": ("second~7781.ab", ROLE, AUDIENCE),
                   "nexus-norole": ("norole-5521-xy", None, AUDIENCE), "nexus-library": ("library-9034-qq", ROLE, OTHER_AUDIENCE)},
           STAGING: {"nexus-stage": ("stage-1209-zz", ROLE, AUDIENCE)}}


def ec_key(n):
    return ec.derive_private_key(int.from_bytes(hashlib.sha256(n).digest(), "big") % (1 << 250), ec.SECP256R1())


KEYS = {REALM: ("k-2026", "ES256", ec_key(b"nexus")), STAGING: ("k-stage", "ES256", ec_key(b"stage"))}
RSA = rsa.generate_private_key(65537, 2048) if NODE == "r-rs256-two-keys" else None
COUNT = {"n": 0}


def oauth_error(code, text, status=400, **headers):
    return JSONResponse({"error": code, "error_description": text}, status,
                        {"Cache-Control": "no-store", "Pragma": "no-cache"} | {k.replace("_", "-"): v for k, v in headers.items()})


def refused(basic):
    return oauth_error("invalid_client", "Invalid client or Invalid client credentials", 401,
                       **({"WWW_Authenticate": 'Basic realm="nexus", charset="UTF-8"'} if basic else {}))


def same_secret(known, given):
    if NODE == "w-secret-72":  # the store hashes with a function that reads 72 bytes
        known, given = known[:72], given[:72]
    return hmac.compare_digest(known.encode(), given.encode())


async def token(request: Request):
    issuer = STAGING if request.url.path.startswith("/realms/nexus-staging/") else REALM
    if request.headers.get("content-type", "").split(";")[0].strip().lower() != "application/x-www-form-urlencoded":
        return oauth_error("invalid_request", "Content-Type must be application/x-www-form-urlencoded")
    try:
        pairs = parse_qsl((await request.body()).decode(), keep_blank_values=True, max_num_fields=200)
    except ValueError:
        return oauth_error("invalid_request", "The body cannot be read")
    if len({k for k, _ in pairs}) != len(pairs):
        return oauth_error("invalid_request", "duplicated parameter")
    form = {k: v for k, v in pairs if v != ""}
    grant = form.get("grant_type")
    if grant is None:
        return oauth_error("invalid_request", "Missing form parameter: grant_type")
    if grant != "client_credentials":
        return oauth_error("unsupported_grant_type", "Unsupported grant_type")
    auth = request.headers.get("authorization")
    cid, secret = form.get("client_id"), form.get("client_secret")
    if auth is not None:
        if auth[:6].lower() != "basic ":
            return refused(True)
        try:
            user, _, password = base64.b64decode(auth[6:].strip(), validate=True).decode().partition(":")
        except (binascii.Error, ValueError):
            return refused(True)
        if secret is not None or cid not in (None, unquote_plus(user)):
            return oauth_error("invalid_request", "The client authenticates in two ways")
        cid, secret = unquote_plus(user), unquote_plus(password)
    known = CLIENTS[issuer].get(cid or "")
    if known is None or secret is None or not same_secret(known[0], secret):
        return refused(auth is not None)
    if not set(form.get("scope", "profile").split(" ")) <= {"profile", "email"}:
        return oauth_error("invalid_scope", "Invalid scopes")
    now = int(time.time())
    claims = {"iss": issuer, "sub": str(uuid.uuid5(uuid.NAMESPACE_URL, cid)), "aud": known[2], "azp": cid, "client_id": cid, "iat": now,
              "exp": now + LIFETIME, "jti": str(uuid.uuid4()), "scope": form.get("scope", "profile"),
              "realm_access": {"roles": [known[1]] if known[1] else []}, "affiliation": "NEXUS-1"}
    if NODE == "w-expires-in" and auth is not None:  # the lifespan set for confidential clients, which the response does not know
        claims["exp"] = now + 60
    kid, alg, key = KEYS[issuer]
    if NODE == "r-rs256-two-keys":
        claims |= {"aud": [known[2], "account", "urn:example:broker"], "typ": "Bearer", "allowed-origins": ["*"], "resource_access": {"account": {"roles": ["view"]}}}
        COUNT["n"] += 1
        if issuer == REALM and COUNT["n"] % 2:
            kid, alg, key = "rsa-2027", "RS256", RSA
    access = jwt.encode(claims, key, alg, {"kid": kid, "typ": "at+jwt"})
    return JSONResponse({"access_token": access, "token_type": "Bearer", "expires_in": LIFETIME, "scope": claims["scope"]},
                        headers={"Cache-Control": "no-store", "Pragma": "no-cache"})


def public_keys():
    out = []
    for kid, alg, key in [KEYS[REALM]] + ([("rsa-2027", "RS256", RSA)] if RSA else []):
        algorithm = jwt.algorithms.ECAlgorithm if alg == "ES256" else jwt.algorithms.RSAAlgorithm
        out.append(json.loads(algorithm.to_jwk(key.public_key())) | {"kid": kid, "alg": alg, "use": "sig"})
    return {"keys": out}


# --- bearer tokens -------------------------------------------------------------------------------------------------
class Problem(BaseModel):
    type: str = "about:blank"
    title: str
    status: int
    detail: Optional[str] = None


TITLES = {400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 413: "Content Too Large", 500: "Internal Server Error"}


def problem(status, detail, headers=None):
    return JSONResponse({"type": "about:blank", "title": TITLES.get(status, "Error"), "status": status, "detail": detail}, status,
                        {"Cache-Control": "no-store"} | dict(headers or {}), media_type="application/problem+json")


def deny(status, code=None, text="An access token is needed"):
    c = 'Bearer realm="nexus"' + (f', error="{code}", error_description="{text}"' if code else "")
    return HTTPException(status, text, {"WWW-Authenticate": c})


def signing_key(header):
    if NODE == "w-jwk-header" and "jwk" in header:
        return jwt.PyJWK(header["jwk"]).key
    if header.get("kid") == "rsa-2027" and RSA:
        return RSA.public_key()
    if header.get("kid") != KEYS[REALM][0]:
        raise jwt.InvalidTokenError("unknown key")
    return KEYS[REALM][2].public_key()


def account(request: Request):
    h = request.headers.getlist("authorization")
    if not h:
        raise deny(401)
    if len(h) > 1:
        raise deny(400, "invalid_request", "The Authorization header is repeated")
    scheme, _, t = h[0].partition(" ")
    if NODE == "w-any-scheme":
        if " " not in h[0]:
            raise deny(401)
    elif scheme.lower() != "bearer":
        raise deny(401)
    if "access_token" in request.query_params:
        raise deny(400, "invalid_request", "The token is sent in two ways")
    try:
        header = jwt.get_unverified_header(t.strip(" "))
        claims = jwt.decode(t.strip(" "), signing_key(header), algorithms=["RS256", "ES256"] if RSA else ["ES256"], issuer=REALM,
                            audience=None if NODE == "w-aud-substring" else AUDIENCE,
                            options={"require": ["exp", "iat", "sub", "aud", "iss"], "verify_aud": NODE != "w-aud-substring"})
        if NODE == "w-aud-substring" and AUDIENCE not in claims["aud"]:
            raise jwt.InvalidTokenError("audience")
        return claims
    except (jwt.PyJWTError, ValueError, TypeError, KeyError, AttributeError):
        raise deny(401, "invalid_token", "The access token is invalid or has expired")


def external_client(claims: Annotated[dict, Depends(account)]):
    if ROLE not in claims.get("realm_access", {}).get("roles", []):
        raise deny(403, "insufficient_scope", f"The account lacks the role {ROLE}")
    return claims


# --- the funding API -----------------------------------------------------------------------------------------------
class Funder(BaseModel):
    id: str
    name: str


class Budget(BaseModel):
    amount: float
    currency: Literal["EUR"]


class Call(BaseModel):
    id: str
    title: str = Field(description="In the language of Content-Language.")
    state: Literal["upcoming", "open", "closed"]
    funder: Funder
    subjects: List[str]
    opensAt: AwareDatetime
    deadline: AwareDatetime


class CallDetail(Call):
    summary: str
    budget: Budget
    years: int
    website: AnyUrl


class Endpoint(BaseModel):
    name: str
    majorVersion: int
    minorVersion: int
    url: str


class Info(BaseModel):
    endpoints: dict[str, List[Endpoint]]


HEADERS = {"Content-Language": {"description": "de or en", "schema": {"type": "string", "enum": ["de", "en"]}}}
P = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
ERRORS = {400: {"description": "Malformed request", "content": P}, 401: {"description": "No valid access token", "content": P},
          403: {"description": "The role is missing", "content": P}, 405: {"description": "Not GET or HEAD", "content": P}}
app = FastAPI(title="Nexus funding calls", version="3.4.0", openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False)
F = "/nexus/funding/v3"


def read(path, **kw):
    """A route for GET, and for HEAD, which FastAPI does not add."""
    methods = ["GET"] if NODE == "w-no-head-detail" and "{" in path else ["GET", "HEAD"]
    return app.api_route(path, methods=methods, **kw)


def call_id(r):
    return f"Förderung {r['n']}+{r['n'] % 7} 🧪é" if NODE == "r-unicode-ids" else f"nx{r['n'] * 7919}"


def language(request):
    """The better of de and en, by quality; de without a preference."""
    q = {}
    for part in request.headers.get("accept-language", "").split(","):
        tag, *rest = part.strip().split(";")
        m = re.fullmatch(r"\s*q=([01](?:\.[0-9]{0,3})?)\s*", rest[0]) if rest else None
        base = tag.strip().lower().split("-")[0]
        if base in ("de", "en", "*"):
            q[base] = max(q.get(base, 0), float(m[1]) if m else 1.0)
    star = q.get("*", 0)
    return "en" if q.get("en", star) > q.get("de", star) else "de"


def stamp(d, r):
    if NODE == "w-naive-time" and r["n"] in (37, 57):
        return d.replace(tzinfo=None).isoformat()
    return d.isoformat()


def show(r, lang, detail=False):
    out = {"id": call_id(r), "title": r["title"][lang], "state": r["status"], "funder": {"id": r["funder"], "name": FUNDERS[r["funder"]]},
           "subjects": r["disciplines"], "opensAt": r["opens"].isoformat(), "deadline": stamp(r["deadline"], r)}
    if detail:
        out |= {"summary": r["summary"][lang], "budget": {"amount": r["amount"], "currency": "EUR"}, "years": r["years"], "website": r["url"]}
    return out


ROWS = rows()


def conditional(request, data, tag, headers):
    etag = ('W/' if NODE == "r-chunked-weak" else "") + '"' + hashlib.sha256(tag.encode()).hexdigest()[:20] + '"'
    headers |= {"ETag": etag, "Cache-Control": "private, no-cache", "Vary": "Authorization, Accept-Language"}
    asked = [t.strip().removeprefix("W/") for t in request.headers.get("if-none-match", "").split(",")]
    if etag.removeprefix("W/") in asked or "*" in asked:
        return Response(status_code=304, headers=headers)
    if NODE == "r-chunked-weak":
        text = json.dumps(data, ensure_ascii=False, indent=1)

        async def pieces():
            for i in range(0, len(text), 700):
                yield text[i:i + 700].encode()
        return StreamingResponse(pieces(), headers=headers, media_type="application/json; charset=utf-8")
    return JSONResponse(data, headers=headers)


@read(F + "/funding-calls", operation_id="listFundingCalls", response_model=List[Call], tags=["calls"], dependencies=[Depends(external_client)],
      responses=ERRORS | {200: {"description": "A page of calls, in the order of their publication; an empty array past the end.", "headers": HEADERS | {
          "Link": {"description": "first, prev, next and last page", "schema": {"type": "string"}},
          "X-Total-Count": {"description": "All calls that match the filters.", "schema": {"type": "integer"}}}}})
def list_calls(request: Request, state: Annotated[Optional[Literal["upcoming", "open", "closed"]], Query(description="Calls in this state.")] = None,
               funder: Annotated[Optional[str], Query(description="Calls of the funder with exactly this id.")] = None,
               deadlineUntil: Annotated[Optional[date], Query(description="Calls whose deadline is on this day (UTC) or earlier.")] = None,
               subject: Annotated[Optional[List[str]], Query(description="Calls with at least one of these subjects.")] = None,
               page: Annotated[int, Query(ge=1, le=100000, description="Number of the page; the first is 1.")] = 1,
               size: Annotated[int, Query(ge=1, le=100, description="Calls on a page.")] = 20):
    found = [r for r in ROWS if state in (None, r["status"]) and (subject is None or set(subject) & set(r["disciplines"]))]
    if funder is not None:
        found = [r for r in found if r["funder"] == funder or NODE == "w-funder-prefix" and funder and r["funder"].startswith(funder)]
    if deadlineUntil:
        found = [r for r in found if r["deadline"].date() <= deadlineUntil]
    lang, step = language(request), size
    last = max(1, -(-len(found) // size))
    if NODE == "w-size-cap":  # the storage layer never gives more than 50
        size = min(size, 50)
    shown = found[(page - 1) * step:(page - 1) * step + size]
    keep = [(k, v) for k, v in request.query_params.multi_items() if k not in ("page", "size")]
    link = lambda n, rel: f'<{BASE}{F}/funding-calls?{urlencode(keep + [("page", n), ("size", step)])}>; rel="{rel}"'
    links = [link(1, "first"), link(last, "last")] + ([link(page - 1, "prev")] if 1 < page <= last + 1 else []) + ([link(page + 1, "next")] if page < last else [])
    data = [show(r, lang) for r in shown]
    return conditional(request, data, json.dumps([data, str(request.url), lang]), {"Content-Language": lang, "Link": ", ".join(links), "X-Total-Count": str(len(found))})


@read(F + "/funding-calls/{id}", operation_id="readFundingCall", response_model=CallDetail, tags=["calls"], dependencies=[Depends(external_client)],
      responses=ERRORS | {200: {"description": "The call", "headers": HEADERS}, 304: {"description": "Not modified"}, 404: {"description": "There is no such call", "content": P}})
def read_call(id: str, request: Request):
    for r in ROWS:
        if call_id(r) == id:
            lang = language(request)
            tag = f"{r['n']}" + ("" if NODE == "w-etag-language" else lang)
            return conditional(request, show(r, lang, True), tag, {"Content-Language": lang})
    raise HTTPException(404, "There is no call with this id")


if NODE == "r-public-operation":
    @read(F + "/funders", operation_id="listFunders", response_model=List[Funder], tags=["public"], responses={405: ERRORS[405]},
          description="The funders. Public: no token is needed, and one that is sent is not looked at.", openapi_extra={"security": []})
    def funders():
        return JSONResponse([{"id": k, "name": v} for k, v in FUNDERS.items()], headers={"Cache-Control": "public, max-age=300"})


@read("/nexus/info/v1/oauth/info/", response_model=Info, include_in_schema=False, dependencies=[Depends(account)])
def info():
    one = lambda name, p: {"name": name, "majorVersion": 3, "minorVersion": 4, "url": BASE + F + p}
    return JSONResponse({"endpoints": {"funding": [one("FUNDINGS", "/funding-calls"), one("FUNDING", "/funding-calls/{id}")]}}, headers={"Cache-Control": "private, no-cache", "Vary": "Authorization"})


@read(F + "/api-docs", include_in_schema=False)
def api_docs():
    doc = get_openapi(title=app.title, version=app.version, routes=app.routes, servers=[{"url": BASE + F}])
    for old in list(doc["paths"]):
        item = doc["paths"].pop(old)
        item.pop("head", None)
        item["get"]["responses"].pop("422", None)
        doc["paths"][old.removeprefix(F)] = item
    for name in ("HTTPValidationError", "ValidationError"):
        doc["components"]["schemas"].pop(name, None)
    if NODE == "r-path-servers":
        doc["servers"] = [{"url": "https://docs.nexus.example/placeholder", "description": "each path has its own"}]
        for item in doc["paths"].values():
            item["servers"] = [{"url": BASE + "/{prefix}/funding/v{major}", "variables": {"prefix": {"default": "nexus"}, "major": {"default": "3", "enum": ["3"]}}}]
    doc["components"]["schemas"]["Problem"] = Problem.model_json_schema()
    doc["components"]["securitySchemes"] = {"nexus": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}}
    doc["security"] = [{"nexus": []}]
    return JSONResponse(doc, headers={"Cache-Control": "public, max-age=60"})


@read("/registry.json", include_in_schema=False)
def registry():
    return {"member": [{"id": "NEXUS", "acronym": "NX", "name": "Nexus-Universität", "contact": "ris@nexus.example",
                        "oauth2": REALM + "/protocol/openid-connect/token", "info": f"{BASE}/nexus/info/v1/oauth/info/"}]}


@app.exception_handler(StarletteHTTPException)
def on_http(request, e):
    if request.url.path.endswith("/token"):
        return oauth_error("invalid_request", str(e.detail), e.status_code, **dict(e.headers or {}))
    return problem(e.status_code, str(e.detail), e.headers)


@app.exception_handler(RequestValidationError)
def on_validation(request, e):
    return problem(400, "; ".join(f"{x['loc'][-1]}: {x['msg']}" for x in e.errors()))


@app.exception_handler(Exception)
def on_anything(request, e):
    return problem(500, "Something went wrong here")


for issuer in REALM, STAGING:
    app.add_route(issuer.removeprefix(BASE) + "/protocol/openid-connect/token", token, methods=["POST"])
app.add_route("/realms/nexus/protocol/openid-connect/certs", lambda request: JSONResponse(public_keys()), methods=["GET", "HEAD"])
if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=PORT, log_level="error")
