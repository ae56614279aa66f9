"""Funding service of the research-information node "XA" (aiohttp).

Authorization server (JWT access tokens, RFC 9068), registry document, info resource and funding API.
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
import uuid
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from urllib.parse import unquote_plus, urlencode

import jwt
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import ec, rsa, x25519
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

PORT = int(os.environ.get("PORT", "8080"))
NODE = os.environ.get("NODE", "aiohttp-base")
ORIGIN = f"http://127.0.0.1:{PORT}"
REALM = "/realms/forschung"
TOKEN_PATH = f"{REALM}/protocol/openid-connect/token"
CERTS_PATH = f"{REALM}/protocol/openid-connect/certs"
STAGING_TOKEN_PATH = "/staging/oauth/token"
API = "/forschung/funding/v3"
INFO_PATH = "/forschung/info/v1/oauth/info/"
STAGING_INFO_PATH = "/staging/forschung/info/v1/oauth/info/"
ROLE = "EXTERNAL_API_CLIENT"
LIFETIME = 300


def node_is(*names):
    return NODE in names


# ------------------------------------------------------------------ errors


class ApiError(Exception):
    def __init__(self, status, code, message, headers=None):
        super().__init__(message)
        self.status, self.code, self.message, self.headers = status, code, message, headers or {}


class OAuthError(Exception):
    def __init__(self, status, error, description, headers=None):
        super().__init__(description)
        self.status, self.error, self.description, self.headers = status, error, description, headers or {}


# ------------------------------------------------------------------ authorization servers


class Client:
    def __init__(self, client_id, secret, audience, roles=(), account="", affiliation="A-0077"):
        self.id, self.audience, self.roles = client_id, audience, tuple(roles)
        self.account, self.affiliation = account, affiliation
        self.secret_hash = hashlib.sha256(secret.encode()).digest()
        self.failures, self.locked_until = 0, 0.0

    def allowed_scopes(self):
        return ["info:read"] + (["funding:read"] if ROLE in self.roles else [])


class AuthorizationServer:
    """Issues and validates the tokens of one environment."""

    def __init__(self, name, issuer, audience, clients):
        self.name, self.issuer, self.audience = name, issuer, audience
        self.clients = {c.id: c for c in clients}
        self.keys, self.algorithms = {}, {}  # by key id; a key is used with one algorithm only
        for algorithm in ["PS256", "RS256"] if node_is("rotating-keys") else ["RS256"]:
            kid = secrets.token_hex(6)
            self.keys[kid] = rsa.generate_private_key(public_exponent=65537, key_size=2048)
            self.algorithms[kid] = algorithm
        self.issued = 0

    def issue(self, client, scope):
        kids = list(self.keys)
        kid = kids[self.issued % len(kids)]
        self.issued += 1
        now = time.time() if node_is("rotating-keys") else int(time.time())
        claims = {
            "iss": self.issuer,
            "sub": client.account,
            "aud": [client.audience, self.issuer] if node_is("rotating-keys") else client.audience,
            "exp": now + LIFETIME,
            "iat": now,
            "jti": str(uuid.uuid4()),
            "client_id": client.id,
            "scope": scope,
        }
        return jwt.encode(claims, self.keys[kid], algorithm=self.algorithms[kid], headers={"typ": "at+jwt", "kid": kid})

    def validate(self, token):
        header = jwt.get_unverified_header(token)
        if str(header.get("typ", "")).lower() not in ("at+jwt", "application/at+jwt"):
            raise jwt.InvalidTokenError("not an access token")
        if node_is("header-jwk") and "jwk" in header:
            key, algorithm = jwt.PyJWK(header["jwk"], algorithm="RS256").key, "RS256"
        elif header.get("kid") in self.keys:
            key, algorithm = self.keys[header["kid"]].public_key(), self.algorithms[header["kid"]]
        else:
            raise jwt.InvalidTokenError("unknown key")
        return jwt.decode(
            token, key, algorithms=[algorithm], audience=self.audience, issuer=self.issuer,
            options={"require": ["iss", "sub", "aud", "exp", "iat", "jti", "client_id"]},
        )

    def jwks(self):
        keys = []
        for kid, key in self.keys.items():
            jwk = RSAAlgorithm.to_jwk(key.public_key(), as_dict=True)
            keys.append({"kty": "RSA", "use": "sig", "alg": self.algorithms[kid], "kid": kid, "n": jwk["n"], "e": jwk["e"]})
        return {"keys": EXTRA_KEYS + keys}


EXTRA_KEYS = []  # keys for other purposes than signatures
if node_is("rotating-keys"):
    raw = x25519.X25519PrivateKey.generate().public_key().public_bytes_raw()
    ecdh = ECAlgorithm.to_jwk(ec.generate_private_key(ec.SECP256R1()).public_key(), as_dict=True)
    EXTRA_KEYS = [
        {"kty": "OKP", "crv": "X25519", "use": "enc", "alg": "ECDH-ES", "kid": "enc-x25519", "x": base64.urlsafe_b64encode(raw).decode().rstrip("=")},
        {**ecdh, "use": "enc", "alg": "ECDH-ES+A256KW", "kid": "enc-p256"},
    ]

API_AUDIENCE = f"{ORIGIN}/forschung"
PRODUCTION = AuthorizationServer("production", ORIGIN + REALM, API_AUDIENCE, [
    Client("tu-ost-cris", "MfOMwoEMja2mlreWmo4swjwD67s2regFUewV8zzW", API_AUDIENCE, [ROLE], "sa-31f0c2"),
    Client("tu-ost-intranet", "eP7XJFnjhSo9sJlExRDwHPp4lGH6eGl5Tl8oemzm", API_AUDIENCE, [], "sa-31f0c3"),
    Client("tu-ost-repository", "aF55KZShAIsjA1etv8Q0jw8toFV8UdwjTlevdO1k", f"{ORIGIN}/repository", [ROLE], "sa-31f0c4"),
    Client("tu-ost-spare", "ZDqSk3w0PfRotE9QbzhCCSuQUi6L649u73E8Tb12", API_AUDIENCE, [ROLE], "sa-31f0c5"),
])
STAGING_AUDIENCE = f"{ORIGIN}/staging/forschung"
STAGING = AuthorizationServer("staging", f"{ORIGIN}/staging", STAGING_AUDIENCE, [
    Client("tu-ost-test", "6WanPVv60Vnbxo8BOyvTo7ObEpR2UrxXn8cpOVrK", STAGING_AUDIENCE, [ROLE], "sa-test-01", "A-TEST"),
])


def parse_form(text):
    form = {}
    for pair in text.split("&"):
        if not pair:
            continue
        name, _, value = pair.partition("=")
        try:
            name, value = unquote_plus(name, errors="strict"), unquote_plus(value, errors="strict")
        except UnicodeDecodeError:
            raise OAuthError(400, "invalid_request", "The form is not UTF-8.")
        if name in form:
            raise OAuthError(400, "invalid_request", "A parameter is included more than once.")
        form[name] = value
    return {k: v for k, v in form.items() if v}


CHALLENGE = {"WWW-Authenticate": 'Basic realm="forschung"'}


def credentials(request, form):
    header = request.headers.get("Authorization")
    if header is None:
        return form.get("client_id", ""), form.get("client_secret", "")
    scheme, _, value = header.partition(" ")
    if scheme.lower() != "basic":
        raise OAuthError(401, "invalid_client", "This authentication scheme is not supported.", CHALLENGE)
    if "client_secret" in form:
        raise OAuthError(400, "invalid_request", "More than one method of client authentication.")
    try:
        client_id, colon, secret = base64.b64decode(value.strip(), validate=True).decode().partition(":")
        client_id, secret = unquote_plus(client_id, errors="strict"), unquote_plus(secret, errors="strict")
    except (binascii.Error, UnicodeDecodeError):
        raise OAuthError(401, "invalid_client", "Client authentication failed.", CHALLENGE)
    if form.get("client_id", client_id) != client_id:
        raise OAuthError(400, "invalid_request", "client_id is not that of the authenticated client.")
    return client_id, secret


def authenticate(server, request, form):
    client_id, secret = credentials(request, form)
    client = server.clients.get(client_id)
    if client and client.locked_until > time.time():
        wait = int(client.locked_until - time.time()) + 1
        raise OAuthError(429, "invalid_client", "Too many failed attempts.", {"Retry-After": str(wait)})
    expected = client.secret_hash if client else bytes(32)
    if not hmac.compare_digest(hashlib.sha256(secret.encode()).digest(), expected):
        if client and secret:
            client.failures += 1
            if client.failures >= 10:
                client.failures, client.locked_until = 0, time.time() + 90
        raise OAuthError(401, "invalid_client", "Client authentication failed.", CHALLENGE)
    client.failures = 0
    return client


def granted_scope(client, form):
    if "scope" not in form:
        return " ".join(client.allowed_scopes())
    asked = form["scope"].split(" ")
    known = ["info:read", "funding:read"]
    allowed = known if node_is("scope-as-asked") else client.allowed_scopes()
    if any(s not in allowed for s in asked):
        raise OAuthError(400, "invalid_scope", "The scope is unknown or not granted to this client.")
    return " ".join(dict.fromkeys(asked))


def token_endpoint(server):
    async def handler(request):
        headers = {"Cache-Control": "no-store", "Pragma": "no-cache"}
        try:
            if request.content_type != "application/x-www-form-urlencoded" or "Content-Type" not in request.headers:
                raise OAuthError(400, "invalid_request", "The body must be application/x-www-form-urlencoded.")
            if "client_secret" in request.query:
                raise OAuthError(400, "invalid_request", "Credentials must not be part of the URI.")
            try:
                form = parse_form((await request.read()).decode("utf-8"))
            except UnicodeDecodeError:
                raise OAuthError(400, "invalid_request", "The form is not UTF-8.")
            client = authenticate(server, request, form)
            grant = form.get("grant_type")
            if grant is None:
                raise OAuthError(400, "invalid_request", "grant_type is missing.")
            if grant != "client_credentials":
                raise OAuthError(400, "unsupported_grant_type", "Only client_credentials is supported.")
            scope = granted_scope(client, form)
        except OAuthError as e:
            return web.json_response({"error": e.error, "error_description": e.description}, status=e.status, headers={**headers, **e.headers})
        return web.json_response({
            "access_token": server.issue(client, scope), "token_type": "Bearer", "expires_in": LIFETIME, "scope": scope,
        }, headers=headers)
    return handler


# ------------------------------------------------------------------ data

THEMES = ["life-sciences", "engineering", "social-sciences", "humanities", "environment"]
FUNDERS = [
    {"id": "fwg", "name": {"en": "Fund for Basic Research", "de": "Fonds für Grundlagenforschung"}, "country": "AT", "ror": "https://ror.org/00a1b2c34"},
    {"id": "itx", "name": {"en": "Technology Transfer Agency", "de": "Agentur für Technologietransfer"}, "country": "AT", "ror": None},
    {"id": "bwr", "name": {"en": "Federal Science Council", "de": "Bundeswissenschaftsrat"}, "country": "DE", "ror": "https://ror.org/00d5e6f78"},
    {"id": "mer", "name": {"en": "Meridian Foundation", "de": "Meridian-Stiftung"}, "country": "CH", "ror": None},
    {"id": "eur", "name": {"en": "European Doctoral Programme", "de": "Europäisches Doktoratsprogramm"}, "country": "LU", "ror": "https://ror.org/00g9h0j12"},
]
SUBJECTS = [
    ("Cell atlases", "Zellatlanten"), ("Smart materials", "Intelligente Werkstoffe"), ("Democracy and media", "Demokratie und Medien"),
    ("Endangered languages", "Bedrohte Sprachen"), ("Glacier monitoring", "Gletscherbeobachtung"), ("Antibiotic resistance", "Antibiotikaresistenz"),
    ("Additive manufacturing", "Additive Fertigung"), ("Ageing societies", "Alternde Gesellschaften"), ("Music heritage", "Musikalisches Erbe"),
    ("Soil biodiversity", "Biodiversität der Böden"), ("Neuroprosthetics", "Neuroprothetik"),
]
KINDS = [("start-up grants", "Startförderungen"), ("doctoral schools", "Doktoratsschulen"), ("bilateral projects", "bilaterale Projekte")]
MONTH_ENDS = [date(2026, 3, 31), date(2026, 4, 30), date(2026, 5, 29), date(2026, 6, 30), date(2026, 9, 30), date(2026, 10, 30),
              date(2026, 12, 18), date(2027, 1, 29), date(2027, 2, 26), date(2027, 3, 31), date(2027, 6, 30)]
TODAY = datetime.now(timezone.utc).date()


def build_fundings():
    fundings = []
    for n in range(1, 97):
        en, de = SUBJECTS[n % len(SUBJECTS)]
        kind_en, kind_de = KINDS[(n // 4) % len(KINDS)]
        # funders set their deadlines at the end of a month: many calls share one
        deadline = MONTH_ENDS[(n * 7) % len(MONTH_ENDS)]
        opens = deadline - timedelta(days=50 + (n * 11) % 40)
        updated = datetime(2026, 1, 7, 8, 15, tzinfo=timezone.utc) + timedelta(hours=(n * 1777) % 7200, minutes=n % 60, seconds=(n * 7) % 60)
        fundings.append({
            "id": str(uuid.uuid5(uuid.NAMESPACE_URL, f"https://xa.example/fundings/{n}")),
            "title": {"en": f"{en}: {kind_en} ({n})", "de": f"{de}: {kind_de} ({n})"},
            "summary": {
                "en": f"Supports {kind_en} on the subject “{en}”.",
                "de": f"Gefördert werden {kind_de} zum Thema „{de}“.",
            },
            "funder": FUNDERS[(n * 3 + n // 8) % len(FUNDERS)]["id"],
            "theme": THEMES[n % len(THEMES)],
            "opens": opens,
            "deadline": deadline,
            "amount": 20000 + (n * 6151) % 300 * 10000,
            "quota": [None, 0.125, 0.2, 0.35][n % 4],
            "imported": n % 6 == 0,
            "updated": updated,
            "contacts": [
                {"name": name, "email": f"{local}@{FUNDERS[(n * 3 + n // 8) % len(FUNDERS)]['id']}.example", "role": role}
                for name, local, role in (("Mag.ᵃ Ilse Köhler", "koehler", "scientific"), ("Jean Dupré", "dupre", "administrative"))[: 1 + n % 2]
            ],
        })
    return fundings


FUNDINGS = build_fundings()
BY_ID = {f["id"]: f for f in FUNDINGS}
FUNDER_BY_ID = {f["id"]: f for f in FUNDERS}
STATUSES = ["upcoming", "open", "closed"]


def status_of(f):
    return "upcoming" if f["opens"] > TODAY else "open" if f["deadline"] >= TODAY else "closed"


def timestamp(f):
    if node_is("naive-timestamps") and f["imported"]:
        return f["updated"].replace(tzinfo=None).isoformat()
    if node_is("odd-spellings"):
        offset = timezone(timedelta(minutes=(-210, 0, 60, 120, 330)[f["amount"] // 10000 % 5]))
        text = f["updated"].astimezone(offset).isoformat(timespec="milliseconds")
        return text.replace("T", "t").replace("+00:00", "z")
    return f["updated"].isoformat().replace("+00:00", "Z")


def short_form(f, language):
    return {
        "id": f["id"],
        "title": f["title"][language],
        "funder": {"id": f["funder"], "name": FUNDER_BY_ID[f["funder"]]["name"][language]},
        "theme": f["theme"],
        "status": status_of(f),
        "opens": f["opens"].isoformat(),
        "deadline": f["deadline"].isoformat(),
        "amount": f["amount"],
        "updated": timestamp(f),
    }


def long_form(f, language):
    return {**short_form(f, language), "summary": f["summary"][language], "successQuota": f["quota"], "contactCount": len(f["contacts"])}


# ------------------------------------------------------------------ OpenAPI document


def openapi():
    def ref(name):
        return {"$ref": f"#/components/schemas/{name}"}

    def error(description, **headers):
        found = {"description": description, "content": {"application/json": {"schema": ref("Error")}}}
        if headers:
            found["headers"] = {k.replace("_", "-"): {"description": v, "schema": {"type": "string"}} for k, v in headers.items()}
        return found

    def shared(*names):
        return {n: {"$ref": f"#/components/responses/E{n}"} for n in names}

    def ok(description, schema, **headers):
        found = {"ETag": {"description": "Validator of the representation.", "schema": {"type": "string"}}, **headers}
        return {"200": {"description": description, "headers": found, "content": {"application/json": {"schema": schema}}},
                "304": {"description": "Not changed since the entity tag of If-None-Match."}}

    def query(name, description, schema, **more):
        return {"name": name, "in": "query", "description": description, "schema": schema, **more}

    none_match = {"$ref": "#/components/parameters/IfNoneMatch"}
    language = {"$ref": "#/components/parameters/AcceptLanguage"}
    funding_id = {"$ref": "#/components/parameters/FundingId"}
    content_language = {"Content-Language": {"description": "The language of the texts.", "schema": {"type": "string", "enum": ["en", "de"]}}}
    limit_text = "Fundings in an answer, at most."
    list_text = ("The answer is a bare array; the header Link leads to the next part (rel=\"next\") and is without it in the last one. "
                 "The URLs in it are opaque and keep the filters.")
    if node_is("short-pages"):
        limit_text = "Fundings in an answer, at most. The answer may hold fewer, also where more follow."
        list_text += (" The filters are applied while the store is read: a part may hold fewer fundings than limit, even none at all, "
                      "though there is a next part. Only the absence of rel=\"next\" says that the list has ended.")
    short = {
        "id": {"type": "string", "format": "uuid"},
        "title": {"type": "string", "minLength": 1},
        "funder": {"type": "object", "required": ["id", "name"], "properties": {"id": {"type": "string"}, "name": {"type": "string"}}},
        "theme": ref("Theme"),
        "status": ref("Status"),
        "opens": {"type": "string", "format": "date"},
        "deadline": {"type": "string", "format": "date", "description": "The last day on which applications are accepted."},
        "amount": {"type": "integer", "minimum": 0, "description": "Largest sum for one project, in euros."},
        "updated": {"type": "string", "format": "date-time"},
    }
    long = {
        "summary": {"type": "string"},
        "successQuota": {"type": ["number", "null"], "minimum": 0, "maximum": 1, "description": "Share of approved applications in the last round; null if there was none."},
        "contactCount": {"type": "integer", "minimum": 0},
    }
    security = [{"oauth": ["funding:read"]}]
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Fundings of the node XA", "version": "3.0.4",
            "description": "Annotated funding calls. Every operation needs an access token with the scope funding:read, which the authorization server grants to clients "
                           "that have the role EXTERNAL_API_CLIENT; without the scope the answer is 403. Texts are in English or German (Accept-Language). "
                           "Query parameters that are not described are ignored.",
        },
        "servers": [{"url": ORIGIN + API}],
        "security": security,
        "paths": {
            "/fundings": {"get": {
                "operationId": "listFundings", "summary": "List fundings", "description": list_text,
                "parameters": [
                    query("limit", limit_text, {"type": "integer", "minimum": 1, "maximum": 60, "default": 15}),
                    query("cursor", "Where to go on: taken from the URL of rel=\"next\". It belongs to the order and the filters of that URL.", {"type": "string", "minLength": 1}),
                    query("sort", "Order; descending with a minus sign. Fundings that are equal in it follow in ascending order of the id.",
                          {"type": "string", "enum": ["deadline", "-deadline", "amount", "-amount", "updated", "-updated"], "default": "deadline"}),
                    query("status", "Fundings in one of these states.", {"type": "array", "items": ref("Status"), "minItems": 1}, style="form", explode=False),
                    query("theme", "Fundings of this theme.", ref("Theme")),
                    query("funder", "Fundings of the funder with this id.", {"type": "string", "minLength": 1}, example="bwr"),
                    query("minAmount", "Fundings with this amount or more.", {"type": "integer", "minimum": 0, "maximum": 2147483647}),
                    query("maxAmount", "Fundings with this amount or less.", {"type": "integer", "minimum": 0, "maximum": 2147483647}),
                    query("openOn", "Fundings that accept applications on this day: it is neither before opens nor after deadline.", {"type": "string", "format": "date"}),
                    language, none_match,
                ],
                "responses": {
                    **ok("A part of the list.", {"type": "array", "items": ref("FundingShort")}, **content_language, **{
                        "Link": {"description": "Links (RFC 8288) with the relations first and next.", "schema": {"type": "string"}},
                        "X-Total-Count": {"description": "Number of all fundings that match the filters.", "required": True, "schema": {"type": "integer", "minimum": 0}},
                    }), **shared("400", "401", "403", "500")},
            }},
            "/fundings/{fundingId}": {"get": {
                "operationId": "getFunding", "summary": "Read a funding", "parameters": [funding_id, language, none_match],
                "responses": {**ok("The funding.", ref("Funding"), **content_language), **shared("401", "403", "404", "500")},
            }},
            "/fundings/{fundingId}/contacts": {"get": {
                "operationId": "listContacts", "summary": "Persons who answer questions on a funding", "parameters": [funding_id, none_match],
                "responses": {**ok("The contacts.", {"type": "array", "items": ref("Contact")}), **shared("401", "403", "404", "500")},
            }},
            "/funders": {"get": {
                "operationId": "listFunders", "summary": "All funders, in the order of their ids", "parameters": [language, none_match],
                "responses": {**ok("The funders.", {"type": "array", "items": ref("Funder")}, **content_language), **shared("401", "403", "500")},
            }},
            "/statistics": {"get": {
                "operationId": "getStatistics", "summary": "Number of fundings by state and by theme", "parameters": [none_match],
                "responses": {**ok("The numbers.", ref("Statistics")), **shared("401", "403", "500")},
            }},
        },
        "components": {
            "securitySchemes": {"oauth": {"type": "oauth2", "flows": {"clientCredentials": {
                "tokenUrl": ORIGIN + TOKEN_PATH,
                "scopes": {"funding:read": "Read fundings; for clients with the role EXTERNAL_API_CLIENT.", "info:read": "Read the info resource; for all clients."}}}}},
            "parameters": {
                "FundingId": {"name": "fundingId", "in": "path", "required": True, "schema": {"type": "string"}, "example": FUNDINGS[0]["id"]},
                "AcceptLanguage": {"name": "Accept-Language", "in": "header", "description": "Languages of the texts, by preference; English if neither is accepted.", "schema": {"type": "string"}, "example": "de"},
                "IfNoneMatch": {"name": "If-None-Match", "in": "header", "description": "Entity tags that the client has.", "schema": {"type": "string"}},
            },
            "responses": {
                "E400": error("A query parameter is not allowed, or is given twice."),
                "E401": error("No valid access token.", WWW_Authenticate="Challenge (RFC 6750)."),
                "E403": error("The access token lacks the scope funding:read.", WWW_Authenticate="Challenge (RFC 6750)."),
                "E404": error("There is no such resource."),
                "E500": error("The node has failed."),
            },
            "schemas": {
                "Theme": {"type": "string", "enum": THEMES},
                "Status": {"type": "string", "enum": STATUSES},
                "FundingShort": {"type": "object", "required": list(short), "properties": short},
                "Funding": {"type": "object", "required": list(short) + list(long), "properties": {**short, **long}},
                "Contact": {"type": "object", "required": ["name", "email", "role"], "properties": {
                    "name": {"type": "string"}, "email": {"type": "string", "format": "email"}, "role": {"type": "string", "enum": ["scientific", "administrative"]}}},
                "Funder": {"type": "object", "required": ["id", "name", "country", "ror"], "properties": {
                    "id": {"type": "string"}, "name": {"type": "string"}, "country": {"type": "string", "pattern": "^[A-Z]{2}$"},
                    "ror": {"type": ["string", "null"], "format": "uri"}}},
                "Statistics": {"type": "object", "required": ["total", "byStatus", "byTheme"], "properties": {
                    "total": {"type": "integer", "minimum": 0},
                    "byStatus": {"type": "object", "propertyNames": {"enum": STATUSES}, "additionalProperties": {"type": "integer", "minimum": 0}},
                    "byTheme": {"type": "object", "propertyNames": {"enum": THEMES}, "additionalProperties": {"type": "integer", "minimum": 0}}}},
                "Error": {"type": "object", "required": ["error"], "properties": {"error": {
                    "type": "object", "required": ["code", "message", "requestId"],
                    "properties": {"code": {"type": "string"}, "message": {"type": "string"}, "parameter": {"type": "string"}, "requestId": {"type": "string"}}}}},
            },
        },
    }


# ------------------------------------------------------------------ representations


def weights(header):
    found = []
    for element in header.split(","):
        name, *params = [p.strip() for p in element.split(";")]
        q = 1.0
        for p in params:
            if p[:2].lower() == "q=":
                try:
                    q = float(p[2:])
                except ValueError:
                    q = 0.0
        if name:
            found.append((name.lower(), q))
    return found


def language_of(request):
    best, best_q = "en", 0.0
    for tag, q in weights(request.headers.get("Accept-Language", "")):
        language = "en" if tag == "*" else tag.split("-")[0]
        if language in ("en", "de") and q > best_q:
            best, best_q = language, q
    return best


def encode(value):
    if not node_is("odd-spellings"):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    text = json.dumps(value, ensure_ascii=True, indent="\t").replace("/", "\\/")
    return re.sub(r'("amount": )(\d+)', lambda m: m[1] + str(Decimal(m[2]).normalize()), text)


def representation(request, value, *, language=None, headers=None, cache="private, no-cache", version=None):
    """A JSON answer with its validator: 304 where the client has it already."""
    text = encode(value)
    tag = hashlib.sha256((version if version and node_is("etag-language") else text).encode()).hexdigest()[:24]
    out = {"ETag": f'W/"{tag}"', "Cache-Control": cache, "Vary": "Accept-Encoding" + (", Accept-Language" if language else "")}
    if language:
        out["Content-Language"] = language
    out.update(headers or {})
    given = request.headers.get("If-None-Match", "")
    if given.strip() == "*" or tag in re.findall(r'(?:W/)?"([^"]*)"', given):
        return web.Response(status=304, headers=out)
    body = text.encode()
    q = dict(weights(request.headers.get("Accept-Encoding", "")))
    if q.get("gzip", q.get("*", 0)) > 0 and len(body) > 1000:
        body = gzip.compress(body, mtime=0)
        out["Content-Encoding"] = "gzip"
    return web.Response(body=body, headers={**out, "Content-Type": "application/json"})


# ------------------------------------------------------------------ query parameters

LIST_PARAMETERS = {"limit", "cursor", "sort", "status", "theme", "funder", "minAmount", "maxAmount", "openOn"}
SORTS = ["deadline", "-deadline", "amount", "-amount", "updated", "-updated"]


def bad(name, message):
    e = ApiError(400, "invalid_parameter", message)
    e.parameter = name
    return e


def one(request, name):
    values = request.query.getall(name, [])
    if len(values) > 1:
        raise bad(name, f"{name} is given more than once.")
    if values and values[0] == "":
        raise bad(name, f"{name} is empty.")
    return values[0] if values else None


def integer(request, name, low, high, default=None):
    value = one(request, name)
    if value is None:
        return default
    if not re.fullmatch(r"[0-9]{1,10}", value) or not low <= int(value) <= high:
        raise bad(name, f"{name} must be an integer from {low} to {high}.")
    return int(value)


def choice(request, name, allowed, default=None):
    value = one(request, name)
    if value is not None and value not in allowed:
        raise bad(name, f"{name} must be one of {', '.join(allowed)}.")
    return default if value is None else value


def day(request, name):
    value = one(request, name)
    if value is None:
        return None
    try:
        if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", value, re.ASCII):
            raise ValueError
        return date.fromisoformat(value)
    except ValueError:
        raise bad(name, f"{name} must be a day (YYYY-MM-DD).")


CURSOR_KEY = secrets.token_bytes(32)


def make_cursor(state):
    body = json.dumps(state).encode()
    return base64.urlsafe_b64encode(hmac.digest(CURSOR_KEY, body, "sha256")[:12] + body).decode().rstrip("=")


def read_cursor(text):
    try:
        raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (binascii.Error, ValueError):
        raise bad("cursor", "The cursor is not valid.")
    if not hmac.compare_digest(hmac.digest(CURSOR_KEY, raw[12:], "sha256")[:12], raw[:12]):
        raise bad("cursor", "The cursor is not valid.")
    return json.loads(raw[12:])


# ------------------------------------------------------------------ funding API

routes = web.RouteTableDef()
FUNDER_PARAMETER = "funderId" if node_is("renamed-filter") else "funder"


def sort_key(f, field):
    return f["updated"].timestamp() if field == "updated" else f[field].isoformat() if field == "deadline" else f[field]


@routes.get(f"{API}/fundings")
async def list_fundings(request):
    limit = integer(request, "limit", 1, 60, 15)
    sort = choice(request, "sort", SORTS, "deadline")
    states = one(request, "status")
    if states is not None and any(s not in STATUSES for s in states.split(",")):
        raise bad("status", f"status must be a list of {', '.join(STATUSES)}.")
    theme = choice(request, "theme", THEMES)
    funder = one(request, FUNDER_PARAMETER)
    low, high = integer(request, "minAmount", 0, 2147483647), integer(request, "maxAmount", 0, 2147483647)
    open_on = day(request, "openOn")
    cursor = one(request, "cursor")
    language = language_of(request)

    def matches(f):
        return ((states is None or status_of(f) in states.split(","))
                and (theme is None or f["theme"] == theme)
                and (funder is None or f["funder"] == funder)
                and (low is None or f["amount"] >= low)
                and (high is None or f["amount"] <= high)
                and (open_on is None or f["opens"] <= open_on <= f["deadline"]))

    filters = {k: v for k, v in request.query.items() if k in LIST_PARAMETERS and k not in ("cursor", "limit")}
    field, descending = sort.lstrip("-"), sort.startswith("-")
    rows = sorted(FUNDINGS, key=lambda f: f["id"])
    rows.sort(key=lambda f: sort_key(f, field), reverse=descending)
    total = sum(map(matches, rows))
    if not node_is("short-pages"):
        rows = [f for f in rows if matches(f)]
    if cursor:
        state = read_cursor(cursor)
        if state["filters"] != filters:
            raise bad("cursor", "The cursor belongs to another order or to other filters.")

        def behind(f):
            k = sort_key(f, field)
            if node_is("cursor-ties"):
                return k < state["key"] if descending else k > state["key"]
            if k == state["key"]:
                return f["id"] > state["id"]
            return k < state["key"] if descending else k > state["key"]

        rows = [f for f in rows if behind(f)]
    window = -(-limit * 2 // 3) if node_is("short-pages") else limit
    part, more = rows[:window], len(rows) > window
    target = API + "/fundings" if node_is("odd-spellings") else ORIGIN + API + "/fundings"

    def url(**extra):
        return f"{target}?{urlencode({**filters, 'limit': limit, **extra})}"

    if node_is("odd-spellings"):
        links = [f"<{url()}> ;rel=\"start  first\"; title*=UTF-8'de'zur%C3%BCck%2C%20zum%20Anfang"]
    else:
        links = [f'<{url()}>; rel="first"']
    if more:
        state = {"filters": filters, "key": sort_key(part[-1], field), "id": part[-1]["id"]}
        after = url(cursor=make_cursor(state))
        links.append(f'<{after}>; TITLE="more, and more" ; REL=next' if node_is("odd-spellings") else f'<{after}>; rel="next"')
    return representation(
        request, [short_form(f, language) for f in part if matches(f)], language=language,
        headers={"Link": ", ".join(links), "X-Total-Count": str(total)},
        version="|".join(f"{f['id']}@{f['updated']}" for f in part) + str(total),
    )


def funding_of(request):
    found = BY_ID.get(request.match_info["fundingId"])
    if found is None:
        raise ApiError(404, "not_found", "There is no such funding.")
    return found


@routes.get(f"{API}/fundings/{{fundingId}}")
async def get_funding(request):
    f, language = funding_of(request), language_of(request)
    return representation(request, long_form(f, language), language=language, version=f"{f['id']}@{f['updated']}")


@routes.get(f"{API}/fundings/{{fundingId}}/contacts")
async def list_contacts(request):
    return representation(request, funding_of(request)["contacts"])


@routes.get(f"{API}/funders")
async def list_funders(request):
    language = language_of(request)
    return representation(request, [{**f, "name": f["name"][language]} for f in sorted(FUNDERS, key=lambda f: f["id"])], language=language)


@routes.get(f"{API}/statistics")
async def get_statistics(request):
    return representation(request, {
        "total": len(FUNDINGS),
        "byStatus": {s: sum(status_of(f) == s for f in FUNDINGS) for s in STATUSES},
        "byTheme": {t: sum(f["theme"] == t for f in FUNDINGS) for t in THEMES},
    })


@routes.get(f"{API}/api-docs")
async def api_docs(request):
    return representation(request, DOCUMENT, cache="public, max-age=600")


@routes.get("/registry.json")
async def registry(request):
    return representation(request, {"member": [{
        "id": "XA", "name": "Technische Universität Ost", "acronym": "TUO", "contact": "forschung@tuo.example",
        "oauth2": ORIGIN + TOKEN_PATH, "info": ORIGIN + INFO_PATH}]}, cache="public, max-age=600")


@routes.get(f"/.well-known/oauth-authorization-server{REALM}")
async def metadata(request):
    return representation(request, {
        "issuer": ORIGIN + REALM, "token_endpoint": ORIGIN + TOKEN_PATH, "jwks_uri": ORIGIN + CERTS_PATH,
        "scopes_supported": ["funding:read", "info:read"], "response_types_supported": [],
        "grant_types_supported": ["client_credentials"],
        "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
    }, cache="public, max-age=600")


@routes.get(CERTS_PATH)
async def certs(request):
    return representation(request, PRODUCTION.jwks(), cache="public, max-age=600")


def info(environment):
    async def handler(request):
        token = request["token"]
        client = environment.clients[token["client_id"]]
        return representation(request, {
            "node": "XA", "environment": environment.name,
            "client": {"id": client.id, "serviceAccountUserId": client.account, "affiliationId": client.affiliation, "roles": list(client.roles)},
            "scope": token.get("scope", ""),
            "endpoints": {"funding": [{"name": "FUNDINGS", "majorVersion": 3, "minorVersion": 0, "url": f"{ORIGIN}{API}/fundings"}]},
        })
    return handler


# ------------------------------------------------------------------ middlewares

# what is protected: prefix of the path, environment, scope
RULES = [
    (f"{API}/fundings", PRODUCTION, "funding:read"),
    (f"{API}/funders", PRODUCTION, "funding:read"),
    (f"{API}/statistics", PRODUCTION, "funding:read"),
    (INFO_PATH, PRODUCTION, None),
    (STAGING_INFO_PATH, STAGING, None),
]


def challenge(error=None, description=None, scope=None):
    value = 'Bearer realm="forschung"'
    for name, text in (("error", error), ("error_description", description), ("scope", scope)):
        value += f', {name}="{text}"' if text else ""
    return {"WWW-Authenticate": value}


@web.middleware
async def errors(request, handler):
    try:
        return await handler(request)
    except ApiError as e:
        status, code, message, headers, parameter = e.status, e.code, e.message, e.headers, getattr(e, "parameter", None)
    except web.HTTPMethodNotAllowed as e:
        status, code, message, headers, parameter = 405, "method_not_allowed", "The resource does not have this method.", {"Allow": e.headers["Allow"]}, None
    except web.HTTPException as e:
        if e.status < 400:
            raise
        status, code, message, headers, parameter = e.status, e.reason.lower().replace(" ", "_"), e.reason, {}, None
    except Exception:
        status, code, message, headers, parameter = 500, "internal_error", "The node has failed.", {}, None
    body = {"code": code, "message": message, "requestId": uuid.uuid4().hex}
    if parameter:
        body["parameter"] = parameter
    return web.json_response({"error": body}, status=status, headers={**headers, "Cache-Control": "no-store"})


@web.middleware
async def authorization(request, handler):
    path = request.raw_path if node_is("encoded-path-open") else request.path
    for prefix, environment, scope in RULES:
        if not path.startswith(prefix):
            continue
        values = request.headers.getall("Authorization", [])
        if len(values) > 1:
            raise ApiError(400, "invalid_request", "More than one access token.", challenge("invalid_request", "More than one access token."))
        scheme, _, token = (values[0] if values else "").partition(" ")
        if scheme.lower() != "bearer":
            raise ApiError(401, "unauthorized", "An access token is needed.", challenge())
        try:
            claims = environment.validate(token.strip())
        except (jwt.PyJWTError, ValueError, TypeError):
            raise ApiError(401, "invalid_token", "The access token is not valid.", challenge("invalid_token", "The access token is not valid."))
        if scope and scope not in str(claims.get("scope", "")).split(" "):
            raise ApiError(403, "insufficient_scope", f"The scope {scope} is needed; it is for clients with the role {ROLE}.",
                           challenge("insufficient_scope", "The access token lacks a scope.", scope))
        request["token"] = claims
        break
    return await handler(request)


async def on_prepare(request, response):
    response.headers["Server"] = "xa"
    response.headers["X-Content-Type-Options"] = "nosniff"


DOCUMENT = openapi()


def application():
    app = web.Application(middlewares=[errors, authorization], client_max_size=65536)
    app.add_routes(routes)
    app.router.add_post(TOKEN_PATH, token_endpoint(PRODUCTION))
    app.router.add_post(STAGING_TOKEN_PATH, token_endpoint(STAGING))
    app.router.add_get(INFO_PATH, info(PRODUCTION))
    app.router.add_get(STAGING_INFO_PATH, info(STAGING))
    app.on_response_prepare.append(on_prepare)
    return app


if __name__ == "__main__":
    web.run_app(application(), host="127.0.0.1", port=PORT, print=None, access_log=None)
