"""Node 'Universität Tirol': FastAPI, JWT RS256 of a realm with a JWKS, pages. NODE chooses a variant."""
import base64, binascii, functools, hashlib, hmac, json, os, re, time, uuid
from typing import Annotated, Literal, Optional
from urllib.parse import parse_qsl, quote, unquote_plus, urlencode
import jwt, uvicorn
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from fastapi import Depends, FastAPI, HTTPException, Path, Query, Request, Response
from fastapi.openapi.utils import get_openapi
from fastapi.responses import JSONResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel
from starlette.exceptions import HTTPException as StarletteHTTPException
import data, keys

N = os.environ.get("NODE", "")
PORT = int(os.environ.get("PORT", "18802"))
HOST = "http://127.0.0.1:%d" % PORT
P, REALM = "/ris-tirol", "/realms/tirol"
ISSUER, AUDIENCE = HOST + REALM, HOST + P + "/funding"
STAGING = HOST + "/staging/realms/tirol"
TTL = 45 if N == "p-lru-token" else 240
ROLE, SCOPE = "EXTERNAL_API_CLIENT", "funding"

app = FastAPI(title="Funding calls of the Universität Tirol", version="3.1", openapi_url=None, docs_url=None, redoc_url=None,
              redirect_slashes=True)


# --- the realm ----------------------------------------------------------------------------------------------------
class Client:
    def __init__(self, cid, secret, roles, affiliation, issuer=ISSUER, audience=AUDIENCE):
        self.id, self.secret, self.roles, self.affiliation, self.issuer, self.audience = cid, secret, roles, affiliation, issuer, audience
        self.sub = str(uuid.uuid5(uuid.NAMESPACE_URL, issuer + cid))


LONG = "d81Fq0ZxkUe3vTnRbWc7Lh5AyJm9Pg2SoVtX6iKs4NwEzQaYrCuBjHfGlMpDdO0x7I1R8e5T3n6Y2uWk"
CLIENTS = {c.id: c for c in [
    Client("svc-tirol-library", "w4Jt8Zp1Lk6Vx3Bn9Rq5", [ROLE, "uma_authorization"], "AFF-INN"),
    Client("svc-graz:cris", LONG, [ROLE], "AFF-GRZ"),
    Client("svc-guest", "c2Hs7Yd5Mf0Ga8Ue4Wi6", ["uma_authorization"], "AFF-WIE"),
    Client("svc-projects", "b9Qn3Xr6Tz1Kv8Jm5Lp2", [ROLE], "AFF-INN", audience=AUDIENCE + "-projects"),
    Client("svc-stage", "y1Ew4Ro7Ti0Pa3Sd6Fg9", [ROLE], "AFF-INN", issuer=STAGING),
]}
KEYS = {"2026-04": load_pem_private_key(keys.K1.encode(), None), "2026-10": load_pem_private_key(keys.K2.encode(), None)}
STAGING_KEY = load_pem_private_key(keys.K3.encode(), None)


def jwk(kid, key):
    return dict(json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key())), kid=kid, use="sig", alg="RS256")


def sign(client, scope):
    now = int(time.time())
    claims = {"iss": client.issuer, "sub": client.sub, "aud": client.audience, "client_id": client.id, "azp": client.id, "iat": now,
              "exp": now + TTL, "jti": str(uuid.uuid4()), "scope": scope, "typ": "Bearer", "realm_access": {"roles": client.roles}}
    kid = "2026-10"
    if N == "p-long-token":
        claims["aud"] = ["account", "urn:mace:tirol:" + "x" * 90, client.audience]
        claims["realm_access"]["roles"] = ["group-%03d-of-the-directory" % i for i in range(130)] + client.roles
        claims["name"] = "Dienstkonto Bücherei “Süd” ☃"
    if N == "p-key-rotation":
        kid = sorted(KEYS)[now // 10 % 2]
    if client.issuer == STAGING:
        return jwt.encode(claims, STAGING_KEY, "RS256", headers={"kid": "stage"})
    return jwt.encode(claims, KEYS[kid], "RS256", headers={"kid": kid, "typ": "at+jwt"})


def token_answer(status, body):
    headers = {"Cache-Control": "no-store", "Pragma": "no-cache"}
    if status == 401:
        headers["WWW-Authenticate"] = 'Basic realm="tirol"'
    return JSONResponse(body, status, headers)


def refuse(status, error, text):
    return token_answer(status, {"error": error, "error_description": text})


def same_secret(good, given):
    if N == "p-secret-72":  # bcrypt
        good, given = good[:72], given[:72]
    return hmac.compare_digest(good.encode(), given.encode())


async def token_endpoint(request, issuer):
    if request.headers.get("content-type", "").split(";")[0].strip().lower() != "application/x-www-form-urlencoded":
        return refuse(400, "invalid_request", "Form parameters are expected")
    body = await request.body()
    if len(body) > 20000:
        return refuse(400, "invalid_request", "The form is too long")
    try:
        pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, errors="strict")
    except ValueError:
        return refuse(400, "invalid_request", "The form cannot be read")
    if len({k for k, _ in pairs}) < len(pairs):
        return refuse(400, "invalid_request", "Duplicated parameter")
    form = {k: v for k, v in pairs if v}
    cid, secret = form.get("client_id"), form.get("client_secret")
    authorization = request.headers.get("authorization")
    if authorization is not None:
        if secret is not None:
            return refuse(400, "invalid_request", "More than one way of client authentication")
        scheme, _, rest = authorization.partition(" ")
        try:
            user, colon, word = base64.b64decode(rest.strip(), validate=True).decode().partition(":")
        except (binascii.Error, ValueError):
            user = colon = word = ""
        if scheme.lower() != "basic" or not colon or cid not in (None, unquote_plus(user)):
            return refuse(401, "invalid_client", "Invalid client or Invalid client credentials")
        cid, secret = unquote_plus(user), unquote_plus(word)
    client = CLIENTS.get(cid or "")
    if not client or client.issuer != issuer or not same_secret(client.secret, secret or ""):
        return refuse(401, "invalid_client", "Invalid client or Invalid client credentials")
    if "grant_type" not in form:
        return refuse(400, "invalid_request", "Missing form parameter: grant_type")
    if form["grant_type"] != "client_credentials":
        return refuse(400, "unsupported_grant_type", "Unsupported grant_type")
    asked = form.get("scope", SCOPE).split(" ")
    if N == "p-scope-narrowed":
        if SCOPE not in asked:
            return refuse(400, "invalid_scope", "Invalid scopes")
        return token_answer(200, {"access_token": sign(client, SCOPE), "token_type": "Bearer", "expires_in": TTL})
    if any(s not in (SCOPE, "profile") for s in asked):
        return refuse(400, "invalid_scope", "Invalid scopes")
    return token_answer(200, {"access_token": sign(client, " ".join(asked)), "token_type": "Bearer", "expires_in": TTL,
                              "not-before-policy": 0, "scope": " ".join(asked)})


@app.post(REALM + "/protocol/openid-connect/token", include_in_schema=False)
async def token(request: Request):
    return await token_endpoint(request, ISSUER)


@app.post("/staging" + REALM + "/protocol/openid-connect/token", include_in_schema=False)
async def staging_token(request: Request):
    return await token_endpoint(request, STAGING)


@app.get(REALM + "/protocol/openid-connect/certs", include_in_schema=False)
def certs():
    return {"keys": [jwk(kid, k) for kid, k in KEYS.items()]}


@app.get(REALM + "/.well-known/openid-configuration", include_in_schema=False)
def metadata():
    at = ISSUER + "/protocol/openid-connect/"
    return {"issuer": ISSUER, "token_endpoint": at + "token", "jwks_uri": at + "certs", "grant_types_supported": ["client_credentials"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"], "response_types_supported": []}


# --- protection ---------------------------------------------------------------------------------------------------
class Problem(BaseModel):
    type: str = "about:blank"
    title: str
    status: int
    detail: Optional[str] = None


def problem(status, title, detail, headers=None):
    body = {"type": "about:blank", "title": title, "status": status, **({"detail": detail} if detail else {})}
    return JSONResponse(body, status,
                        dict(headers or {}, **{"Cache-Control": "no-store"}), "application/problem+json")


class Refused(Exception):
    def __init__(self, status, error, text):
        self.status, self.error, self.text = status, error, text


@app.exception_handler(Refused)
def refused(request, e):
    value = 'Bearer realm="tirol"'
    if e.error:
        value += ', error="%s", error_description="%s"' % (e.error, e.text)
    headers = {"WWW-Authenticate": value}
    if N == "p-no-challenge" and e.text == "not a JWT":
        headers = {}
    return problem(e.status, {400: "Bad Request", 401: "Unauthorized", 403: "Forbidden"}[e.status], e.text, headers)


def decode(token):
    if token.count(".") != 2:
        raise Refused(401, "invalid_token", "not a JWT")
    try:
        kid = jwt.get_unverified_header(token).get("kid")
        if not isinstance(kid, str) or kid not in KEYS:
            raise Refused(401, "invalid_token", "signed with a key that is not known here")
        check = {"require": ["exp", "iss", "aud", "sub"], "verify_aud": N != "p-aud-substring"}
        claims = jwt.decode(token, KEYS[kid].public_key(), ["RS256"], audience=AUDIENCE, issuer=ISSUER, options=check)
        if N == "p-aud-substring" and AUDIENCE not in claims["aud"]:
            raise Refused(401, "invalid_token", "the token is for another audience")
        return claims
    except jwt.PyJWTError:
        raise Refused(401, "invalid_token", "the token has expired, is for another audience or is not one of ours")


if N == "p-lru-token":
    decode = functools.lru_cache(4096)(decode)

bearer = HTTPBearer(auto_error=False, scheme_name="realm", bearerFormat="JWT",
                    description="An access token of " + ISSUER + "/protocol/openid-connect/token (client credentials)")


def caller(request: Request, given: Annotated[Optional[HTTPAuthorizationCredentials], Depends(bearer)]):
    if given is None or not given.credentials or len(request.headers.getlist("authorization")) != 1:
        raise Refused(401, None, "an access token is needed")
    return decode(given.credentials.strip())


def external_client(claims: Annotated[dict, Depends(caller)]):
    if ROLE not in claims["realm_access"]["roles"]:
        raise Refused(403, "insufficient_scope", "the service account does not have the role " + ROLE)
    return claims


# --- the funding API ----------------------------------------------------------------------------------------------
class Funder(BaseModel):
    id: str
    name: str


class Call(BaseModel):
    id: str
    title: str
    status: Literal["OPEN", "CLOSED", "UPCOMING", "ONGOING"]
    funder: Funder
    opens: str
    deadline: str = ""
    budget: int
    subjects: list[str]


class Note(BaseModel):
    affiliationId: str
    text: str


class CallDetail(Call):
    languages: list[str]
    annotations: list[Note]


CALLS = data.calls("TI")
if N == "p-unicode-ids":
    for i, c in enumerate(CALLS):
        c["id"] = ["FÖ %d+%d" % (2027, i), "ti:%d;v=%d" % (i, i % 3), "Ж%d%%41" % i, "%d" % (9007199254740993 + i), "TI-%d..~'(*)" % i][i % 5]
        c["title_en"] += " – “𝒜lpine” \u202bعربي\u202c 🏔"
BY_ID = {c["id"]: c for c in CALLS}
DETAILS = {}


def language(request):
    best, at = "de", 0.0
    for part in request.headers.get("accept-language", "").split(","):
        tag, _, q = part.strip().lower().partition(";q=")
        try:
            weight = float(q or 1)
        except ValueError:
            weight = 0.0
        if tag.split("-")[0] in ("de", "en") and weight > at:
            best, at = tag.split("-")[0], weight
    return best


def shown(c, lang, affiliation=None):
    out = {"id": c["id"], "title": c["title_" + lang], "status": c["status"], "funder": {"id": c["funder_id"], "name": c["funder_" + lang]},
           "opens": c["opens"], "budget": c["budget"], "subjects": c["subjects"]}
    if "deadline" in c:
        out["deadline"] = c["deadline"]
    elif N == "p-deadline-null" and affiliation is None:
        out["deadline"] = None
    if affiliation:
        note = c["annotations"].get(affiliation)
        out.update(languages=c["languages"], annotations=[{"affiliationId": affiliation, "text": note}] if note else [])
    return out


def reply(request, body, lang, key=None, headers=None):
    raw = json.dumps(body, ensure_ascii=False).encode()
    seed = raw if N != "p-etag-language" else json.dumps(key).encode()
    tag = '"%s"' % hashlib.sha256(seed).hexdigest()[:20]
    h = {"ETag": tag, "Cache-Control": "private, no-cache", "Vary": "Authorization, Accept-Language", "Content-Language": lang, **(headers or {})}
    wanted = [t.strip().removeprefix("W/") for t in request.headers.get("if-none-match", "").split(",")]
    if tag in wanted or "*" in wanted:
        return Response(status_code=304, headers=h)
    return Response(raw, 200, h, "application/json")


def refusals(*more):
    texts = {400: "A parameter is wrong", 401: "No token, or not a good one", 403: "The service account lacks the role", 404: "There is no such call"}
    ask = {"WWW-Authenticate": {"schema": {"type": "string"}, "required": True}}
    return {s: {"description": texts[s], "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
                **({"headers": ask} if s in (401, 403) else {})} for s in more}


CHECK = [] if N == "p-public-list" else [Depends(external_client)]


@app.head(P + "/funding/v3/calls", include_in_schema=False, dependencies=CHECK)
@app.get(P + "/funding/v3/calls", operation_id="findCalls", response_model=list[Call], responses=refusals(401, 403), tags=["Calls"],
         dependencies=CHECK, summary="Funding calls", openapi_extra={"security": []} if N == "p-public-list" else None,
         description="Filters hold together. A page past the end is an empty array. Texts are in the language of Accept-Language, de or en.")
def find_calls(request: Request,
               status: Annotated[Optional[Literal["OPEN", "CLOSED", "UPCOMING", "ONGOING"]], Query(description="Calls of this status")] = None,
               funder: Annotated[Optional[str], Query(description="Calls of the funder with this id", examples=["F-11"])] = None,
               subject: Annotated[Optional[str], Query(description="Calls that have this subject among theirs", pattern="^[0-9]{6}$")] = None,
               page: Annotated[int, Query(ge=1, le=100000, description="The number of the page; the first one is 1")] = 1,
               perPage: Annotated[int, Query(ge=1, le=50, description="Calls on a page")] = 25):
    lang = language(request)
    found = [c for c in CALLS if status in (None, c["status"]) and funder in (None, c["funder_id"])
             and (subject is None or subject in (c["subjects"][:1] if N == "p-subject-first" else c["subjects"]))]
    last = max(1, -(-len(found) // perPage))
    def url(n):
        kept = [(k, v) for k, v in request.query_params.multi_items() if k in ("status", "funder", "subject")]
        return HOST + P + "/funding/v3/calls?" + urlencode(kept + [("page", n), ("perPage", perPage)])
    rels = [("first", 1), ("last", last)] + ([("prev", min(page - 1, last))] if page > 1 else []) + ([("next", page + 1)] if page < last else [])
    headers = {"X-Total-Count": str(len(found)), "Link": ", ".join('<%s>; rel="%s"' % (url(n), rel) for rel, n in rels)}
    return reply(request, [shown(c, lang) for c in found[(page - 1) * perPage:page * perPage]], lang,
                 [c["id"] for c in found[(page - 1) * perPage:page * perPage]], headers)


if N == "p-slash-open":  # for the old portal, which asks with the slash
    app.add_api_route(P + "/funding/v3/calls/", find_calls, methods=["GET"], include_in_schema=False)


@app.head(P + "/funding/v3/calls/{callId}", include_in_schema=False)
@app.get(P + "/funding/v3/calls/{callId}", operation_id="getCall", response_model=CallDetail, responses=refusals(401, 403, 404), tags=["Calls"],
         summary="One funding call")
def get_call(request: Request, callId: Annotated[str, Path(max_length=200)], claims: Annotated[dict, Depends(external_client)]):
    c = BY_ID.get(callId)
    if c is None:
        return problem(404, "Not Found", "there is no funding call with this id")
    lang = language(request)
    body = shown(c, lang, CLIENTS[claims["client_id"]].affiliation)
    if N == "p-affiliation-cache":
        body = DETAILS.setdefault((callId, lang), body)
    return reply(request, body, lang, callId)


# --- info, document, registry -------------------------------------------------------------------------------------
@app.head(P + "/info/v1/oauth/info/", include_in_schema=False, dependencies=[Depends(caller)])
@app.get(P + "/info/v1/oauth/info/", include_in_schema=False, dependencies=[Depends(caller)])
def info():
    at = HOST + P + "/funding/v3/calls"
    return JSONResponse({"endpoints": {"funding": [{"name": "FUNDINGS", "majorVersion": 3, "minorVersion": 1, "url": at},
                                                   {"name": "FUNDING", "majorVersion": 3, "minorVersion": 1, "url": at + "/{id}"}]}},
                        headers={"Cache-Control": "private, no-store"})


@app.get(P + "/funding/v3/api-docs", include_in_schema=False)
def api_docs():
    doc = get_openapi(title=app.title, version=app.version, routes=app.routes, servers=[{"url": HOST}],
                      description="Send an access token of the realm; its service account needs the role " + ROLE + ".")
    doc["components"]["schemas"]["Problem"] = Problem.model_json_schema()
    for c in ("Call", "CallDetail"):
        doc["components"]["schemas"][c]["properties"]["deadline"] = {
            "type": "string", "format": "date-time", "description": "Absent while a call is ongoing"}
        doc["components"]["schemas"][c]["properties"]["opens"]["format"] = "date"
    if N == "p-servers-per-path":
        doc["paths"] = {"/v3/calls" + p.partition("/v3/calls")[2]: dict(item, servers=[{"url": "{host}" + P + "/{part}", "variables": {
            "host": {"default": HOST}, "part": {"default": "funding", "enum": ["funding", "archive"]}}}]) for p, item in doc["paths"].items()}
        doc["servers"] = [{"url": "https://docs.tirol.example/", "description": "The reference, not the API"}]
    if N == "p-public-list":
        doc["paths"][P + "/funding/v3/calls"]["get"]["security"] = []
        for s in ("401", "403"):
            del doc["paths"][P + "/funding/v3/calls"]["get"]["responses"][s]
    return JSONResponse(doc, headers={"Cache-Control": "max-age=300"})


@app.get("/registry.json", include_in_schema=False)
def registry():
    return {"member": [{"id": "TI", "acronym": "UTI", "name": "Universität Tirol", "contact": "ris@uti.example",
                        "oauth2": ISSUER + "/protocol/openid-connect/token", "info": HOST + P + "/info/v1/oauth/info/"}]}


@app.exception_handler(StarletteHTTPException)
def http_error(request, e):
    return problem(e.status_code, {404: "Not Found", 405: "Method Not Allowed"}.get(e.status_code, "Error"), None, e.headers)


if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=PORT, log_level="warning")
