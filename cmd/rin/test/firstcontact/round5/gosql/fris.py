"""FRIS: the Flemish node of the research-information network.

Authorization server (client credentials, JWT access tokens after RFC 9068),
info resource and funding API v3, on FastAPI and SQLAlchemy.
"""
import base64
import binascii
import hashlib
import hmac
import itertools
import json
import os
import re
import time
import uuid
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from email.utils import format_datetime, parsedate_to_datetime
from enum import Enum
from typing import Annotated, Any
from urllib.parse import parse_qsl, unquote_plus

import jwt
import uvicorn
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from fastapi import Depends, FastAPI, HTTPException, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.responses import JSONResponse
from fastapi.security import OAuth2
from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from sqlalchemy import ForeignKey, String, create_engine, func, or_, and_, select, text
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship, sessionmaker
from sqlalchemy.pool import QueuePool

NODE = os.environ.get("NODE", "fastapi-sql-base")
PORT = int(os.environ.get("PORT", "8080"))
BASE = f"http://127.0.0.1:{PORT}"
V3 = "/fris/funding/v3"
ROLE = "EXTERNAL_API_CLIENT"
AUDIENCE = "urn:fris:funding"
SCOPE = "funding:read"
TOKEN_SECONDS = 900

# --------------------------------------------------------------- database


class Base(DeclarativeBase):
    pass


class Funder(Base):
    __tablename__ = "funder"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    acronym: Mapped[str]
    website: Mapped[str]


class Call(Base):
    __tablename__ = "call"
    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    title: Mapped[str]
    abstract: Mapped[str]
    state: Mapped[str]
    funder_id: Mapped[int] = mapped_column(ForeignKey("funder.id"))
    budget_cents: Mapped[int]
    budget_text: Mapped[str]  # as it is displayed: "250000.00"
    opens_at: Mapped[datetime]
    deadline: Mapped[datetime]
    modified_at: Mapped[datetime]
    min_partners: Mapped[int | None]
    keywords: Mapped[str]
    funder: Mapped[Funder] = relationship(lazy="joined")
    attachments: Mapped[list["Attachment"]] = relationship(order_by="Attachment.id")


class Attachment(Base):
    __tablename__ = "attachment"
    id: Mapped[int] = mapped_column(primary_key=True)
    call_id: Mapped[str] = mapped_column(ForeignKey("call.id"))
    title: Mapped[str]
    media_type: Mapped[str]
    sha256: Mapped[str]
    bytes: Mapped[int]


# one database in memory for all connections of the pool
engine = create_engine("sqlite:///file:fris?mode=memory&cache=shared&uri=true", connect_args={"check_same_thread": False}, poolclass=QueuePool, pool_size=8)
keeper = engine.connect()
SessionLocal = sessionmaker(engine, expire_on_commit=False)


def seed() -> None:
    Base.metadata.create_all(engine)
    today = datetime.now(timezone.utc).replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
    funders = [
        Funder(id=11, name="Fonds voor Wetenschap Vlaanderen", acronym="FWV", website="https://fwv.invalid/"),
        Funder(id=12, name="Agentschap Innovatie & Onderneming", acronym="AIO", website="https://aio.invalid/"),
        Funder(id=15, name="Stichting d'Hondt", acronym="SDH", website="https://dhondt.invalid/"),
        Funder(id=21, name="Koningin Mathilde Kankerfonds", acronym="KMK", website="https://kmk.invalid/"),
        Funder(id=22, name="Provinciaal Erfgoedfonds (in oprichting)", acronym="PEF", website="https://pef.invalid/"),
    ]
    topics = ["Coastal safety", "Legal history of the Low Countries", "Photonics", "Immuno-oncology", "Urban mobility",
              "Port logistics", "Children's rights", "Circular plastics", "Flemish painting", "AI & education",
              "Soil carbon", "Rare earths", "Multilingualism – naïve readers"]
    kinds = ["junior projects", "senior projects", "consortia", "proof of concept", "mobility grants"]
    budgets = [25_000_000, 9_500_000, 120_000_000, 1_250_050, 78_000_000, 300_000_000]
    with SessionLocal() as s:
        s.add_all(funders)
        for n in range(84):
            topic, kind = topics[n % len(topics)], kinds[n % len(kinds)]
            # the committees meet on a few days, so that many calls share a deadline
            deadline = today + timedelta(days=14 * ((n * 5) % 13) - 73, hours=16)
            opens = deadline - timedelta(days=40 + n % 21, hours=7)
            now = datetime.now(timezone.utc).replace(tzinfo=None)
            state = "closed" if deadline <= now else "planned" if opens > now else "open"
            cents = budgets[n % len(budgets)] + (n % 9) * 100_000
            call = Call(
                id=str(uuid.uuid5(uuid.NAMESPACE_URL, f"https://fris.invalid/calls/{n}")),
                title=f"{topic}: {kind}",
                abstract=f"Support for {kind} on {topic.lower()}, selected by an international panel. Max. budget: € {cents / 100:,.2f}.",
                state=state, funder=funders[(n * 3 + n // 7) % 4], budget_cents=cents,
                budget_text=f"{cents / 100:.2f}", opens_at=opens, deadline=deadline,
                modified_at=min(opens, today) - timedelta(days=3, minutes=17 * n),
                min_partners=None if n % 3 else 2 + n % 4,
                keywords=",".join(sorted({topic.split()[0].lower(), kind.split()[0]})),
            )
            for i in range((n * 2) % 3):
                name = ["Call text", "Budget template"][i]
                call.attachments.append(Attachment(
                    title=f"{name} – {topic}", media_type=["application/pdf", "text/csv"][i],
                    sha256=hashlib.sha256(f"{n}/{i}".encode()).hexdigest(), bytes=20_311 + 431 * n + 7 * i))
            s.add(call)
        s.commit()


def session():
    with SessionLocal() as s:
        yield s


Db = Annotated[Session, Depends(session)]

# ------------------------------------------------------------------ models


def utc(value: datetime) -> datetime:
    """The database keeps UTC without an offset."""
    if NODE == "sql-naive-datetime":
        return value
    return value.replace(tzinfo=timezone.utc)


def spelt(pattern: str):
    """Query values must be spelt as the document says, pydantic alone is lenient."""
    def check(value: Any) -> Any:
        if isinstance(value, str) and not re.fullmatch(pattern, value):
            raise ValueError("malformed value")
        return value
    return BeforeValidator(check)


DIGITS = spelt(r"-?[0-9]{1,18}")
Day = Annotated[date, spelt(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")]


class State(str, Enum):
    planned = "planned"
    open = "open"
    closed = "closed"


class Sort(str, Enum):
    deadline = "deadline"
    deadline_desc = "-deadline"
    budget = "budget"
    budget_desc = "-budget"


MoneyText = Annotated[str, Field(pattern=r"^[0-9]+\.[0-9]{2}$", examples=["250000.00"])]


class FunderOut(BaseModel):
    id: int
    name: str
    acronym: str
    website: Annotated[str, Field(json_schema_extra={"format": "uri"})]


class FunderRef(BaseModel):
    id: int
    acronym: str


Timestamp = (datetime if NODE == "sql-naive-datetime" else AwareDatetime)


class CallItem(BaseModel):
    id: uuid.UUID
    title: str
    state: State
    funder: FunderRef
    budget: Annotated[MoneyText, Field(description="Total budget in euro.")]
    opens_at: Timestamp
    deadline: Annotated[Timestamp, Field(description="End of submission. A call that has passed it is closed.")]


class CallOut(CallItem):
    abstract: str
    keywords: list[str]
    min_partners: Annotated[int | None, Field(description="Least number of partners; null if one applicant may apply alone.")]
    attachment_count: Annotated[int, Field(ge=0, description="Number of attachments that the operation list_attachments returns.")]
    modified_at: Timestamp


class CallPage(BaseModel):
    items: list[CallItem]
    total: Annotated[int, Field(ge=0, description="Number of calls that match the filters, on all pages together.")]
    next_cursor: Annotated[str | None, Field(description="Give it as `cursor` to read on; null when the list is at its end." + (
        " It may lead to an empty page, which then is the last." if NODE == "sql-empty-last-page" else ""))]


class AttachmentOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)
    id: int
    title: str
    media_type: str
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    bytes: Annotated[int, Field(ge=0)]


class SearchIn(BaseModel):
    """Criteria; a call is found if it meets all that are given."""
    model_config = ConfigDict(extra="forbid")
    text: Annotated[str | None, Field(min_length=2, description="Part of title or abstract; case of ASCII letters does not matter.", examples=["mobility"])] = None
    states: Annotated[list[State] | None, Field(min_length=1, description="Any of these states.", examples=[["open", "planned"]])] = None
    funder_ids: Annotated[list[int] | None, Field(min_length=1, description="Any of these funders.", examples=[[11, 12]])] = None
    limit: Annotated[int, Field(ge=1, le=100, description="Greatest number of hits in the answer.")] = 25


class SearchOut(BaseModel):
    hits: list[CallItem]
    total: Annotated[int, Field(ge=0, description="Number of calls that meet the criteria, also those beyond the limit.")]


class FunderStatistics(BaseModel):
    funder: FunderRef
    calls: Annotated[int, Field(ge=0)]
    total_budget: MoneyText
    open_share: Annotated[float | None, Field(ge=0, le=1, description="Share of open calls among the funder's calls; null if it has none.")]


class ErrorOut(BaseModel):
    detail: str


class OAuthError(BaseModel):
    error: str
    error_description: str | None = None


class InfoOut(BaseModel):
    node: str
    client_id: str
    service_account: str
    affiliation: str
    roles: list[str]


def item(call: Call) -> CallItem:
    return CallItem(id=call.id, title=call.title, state=call.state, funder=FunderRef(id=call.funder.id, acronym=call.funder.acronym),
                    budget=call.budget_text, opens_at=utc(call.opens_at), deadline=utc(call.deadline))

# -------------------------------------------------- authorization servers


class Client(BaseModel):
    secret: str
    service_account: str
    affiliation: str
    audience: str = AUDIENCE
    roles: list[str] = []
    failures: int = 0
    locked_until: float = 0.0


def b64u(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Key:
    def __init__(self, alg: str):
        self.alg = alg
        self.private = ec.generate_private_key(ec.SECP256R1()) if alg == "ES256" else rsa.generate_private_key(public_exponent=65537, key_size=2048)
        algorithm = jwt.get_algorithm_by_name(alg)
        jwk = json.loads(algorithm.to_jwk(self.private.public_key()))
        jwk.pop("key_ops", None)
        self.kid = b64u(hashlib.sha256(json.dumps(jwk, sort_keys=True).encode()).digest()[:9])
        self.jwk = {**jwk, "kid": self.kid, "use": "sig", "alg": alg}


class InvalidToken(Exception):
    pass


class AuthServer:
    """Issues access tokens in the JWT profile of RFC 9068 and checks them."""

    def __init__(self, issuer: str, clients: dict[str, Client], algorithms: list[str]):
        self.issuer = issuer
        self.clients = clients
        self.keys = {key.kid: key for key in map(Key, algorithms)}
        self.turn = itertools.cycle(self.keys.values())

    def issue(self, client_id: str, client: Client) -> str:
        key, now = next(self.turn), int(time.time())
        claims: dict[str, Any] = {
            "iss": self.issuer, "sub": client.service_account, "client_id": client_id, "aud": client.audience,
            "iat": now, "exp": now + TOKEN_SECONDS, "jti": str(uuid.uuid4()), "scope": SCOPE,
            "roles": client.roles, "affiliation": client.affiliation,
        }
        if NODE == "sql-rotating-keys":
            claims["aud"] = [client.audience, self.issuer + "/userinfo"]
            claims["exp"] = now + TOKEN_SECONDS + 0.5
        return jwt.encode(claims, key.private, key.alg, headers={"typ": "at+jwt", "kid": key.kid})

    def check(self, token: str) -> dict[str, Any]:
        parts = token.split(".")
        try:
            if len(parts) != 3 or any(b64u(base64.urlsafe_b64decode(p + "=" * (-len(p) % 4))) != p for p in parts):
                raise InvalidToken("malformed")
            header = jwt.get_unverified_header(token)
            if header.get("typ", "").lower() not in ("at+jwt", "application/at+jwt") or "crit" in header:
                raise InvalidToken("not an access token")
            key = self.keys.get(header.get("kid", ""))
            if NODE == "sql-header-jwk" and "jwk" in header:
                verification, algorithms = jwt.PyJWK(header["jwk"]).key, ["RS256", "ES256", "EdDSA"]
            elif key is None:
                raise InvalidToken("unknown key")
            else:
                verification, algorithms = key.private.public_key(), [key.alg]
            return jwt.decode(token, verification, algorithms=algorithms, audience=AUDIENCE, issuer=self.issuer,
                              options={"require": ["exp", "iat", "iss", "aud", "sub", "jti", "client_id"]})
        except (jwt.PyJWTError, ValueError, binascii.Error, TypeError, AttributeError) as e:
            raise InvalidToken(str(e)) from e

    def metadata(self) -> dict[str, Any]:
        return {
            "issuer": self.issuer, "token_endpoint": self.issuer + "/protocol/openid-connect/token",
            "jwks_uri": self.issuer + "/protocol/openid-connect/certs", "scopes_supported": [SCOPE],
            "response_types_supported": ["none"], "grant_types_supported": ["client_credentials"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
        }


production = AuthServer(f"{BASE}/idp/realms/fris", {
    "svc-uni-gent": Client(secret="jSLnboImvzPqIONZpssBI4yY16-J85JlxiwRJ14E", service_account="5cbb0c8e-6c6b-4a58-9c6e-0d2f0a1f7a11", affiliation="ROR-00cv9y106", roles=[ROLE]),
    "svc-city-antwerp": Client(secret="SwyPe8iqn8T_yjUhOZfdweGZ-Da1bQvL3II9GsXL", service_account="b1f0c5e2-90a3-4e0e-8f0f-6d6d0a5c3a52", affiliation="ROR-020antw01"),
    "svc-project-sync": Client(secret="5yO-xIHITSSd8NhFDIDmwVSvEn9c5gcIVS5tH2Hv", service_account="0f5dd6a1-3d1c-4a7f-b6a1-4a3e57a5be03", affiliation="ROR-00cv9y106", audience="urn:fris:projects", roles=[ROLE]),
    "svc-vub-pilot": Client(secret="WbLiK9sRj3cmRJ-X2mT-kGiwE-VbFCdiEvX7f2Fu", service_account="e4a4fb36-0f31-4d28-8a55-31a9f2a7dd94", affiliation="ROR-006e5kg04", roles=[ROLE]),
}, ["RS256", "ES256"] if NODE == "sql-rotating-keys" else ["RS256"])
staging = AuthServer(f"{BASE}/idp-staging", {
    "svc-uni-gent-staging": Client(secret="XLhZF5KsRgF4KjS0plmVDgTuw5MfKb50uXO_2l2Q", service_account="77d3b5c4-2f5b-45c8-8f5f-22c8d0a94e75", affiliation="ROR-00cv9y106", roles=[ROLE]),
}, ["RS256"])


def oauth_error(status: int, error: str, description: str, **headers: str) -> JSONResponse:
    return JSONResponse({"error": error, "error_description": description}, status,
                        {"Cache-Control": "no-store", "Pragma": "no-cache", **{k.replace("_", "-"): v for k, v in headers.items()}})


async def token_request(server: AuthServer, request: Request) -> JSONResponse:
    media_type = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if media_type != "application/x-www-form-urlencoded":
        return oauth_error(400, "invalid_request", "the body must be application/x-www-form-urlencoded")
    try:
        pairs = parse_qsl((await request.body()).decode("utf-8"), errors="strict", max_num_fields=50)
    except ValueError:
        return oauth_error(400, "invalid_request", "the form cannot be read")
    form = dict(pairs)  # parse_qsl leaves out parameters without a value
    if len(form) != len(pairs):
        return oauth_error(400, "invalid_request", "a parameter is given more than once")

    challenge = {"WWW_Authenticate": 'Basic realm="fris", charset="UTF-8"'}
    client_id, secret = form.get("client_id", ""), form.get("client_secret", "")
    authorization = request.headers.get("authorization")
    if authorization is not None:
        scheme, _, credentials = authorization.partition(" ")
        try:
            name, colon, password = base64.b64decode(credentials.strip(), validate=True).decode("utf-8").partition(":")
        except ValueError:
            name = colon = password = ""
        if scheme.lower() != "basic" or not colon:
            return oauth_error(401, "invalid_client", "client authentication failed", **challenge)
        if secret:
            return oauth_error(400, "invalid_request", "use one method of client authentication")
        if client_id and client_id != unquote_plus(name):
            return oauth_error(400, "invalid_request", "client_id differs from the authenticated client")
        client_id, secret = unquote_plus(name), unquote_plus(password)

    client = server.clients.get(client_id)
    if client and client.locked_until > time.monotonic():
        return oauth_error(429, "invalid_client", "too many failed attempts, try again later", Retry_After="60")
    if not hmac.compare_digest((client.secret if client else "-").encode(), secret.encode()) or client is None:
        if client:
            client.failures += 1
            if client.failures >= 10:
                client.failures, client.locked_until = 0, time.monotonic() + 60
        return oauth_error(401, "invalid_client", "client authentication failed", **challenge)
    client.failures = 0
    grant_type = form.get("grant_type")
    if grant_type is None:
        return oauth_error(400, "invalid_request", "grant_type is missing")
    if grant_type != "client_credentials":
        return oauth_error(400, "unsupported_grant_type", "only client_credentials is supported")
    if set(form.get("scope", "").split()) - {SCOPE}:
        return oauth_error(400, "invalid_scope", f"the only scope is {SCOPE}")
    return JSONResponse({"access_token": server.issue(client_id, client), "token_type": "Bearer", "expires_in": TOKEN_SECONDS, "scope": SCOPE},
                        headers={"Cache-Control": "no-store", "Pragma": "no-cache"})

# ---------------------------------------------------------------- security


class Principal(BaseModel):
    client_id: str
    service_account: str
    affiliation: str
    roles: list[str]


def unauthorized(description: str | None = None) -> HTTPException:
    challenge = 'Bearer realm="fris"'
    if description:
        challenge += f', error="invalid_token", error_description="{description}"'
    return HTTPException(401, description or "An access token is needed.", {"WWW-Authenticate": challenge})


def bearer_token(request: Request) -> str:
    fields = request.headers.getlist("authorization")
    if not fields:
        raise unauthorized()
    scheme, _, token = fields[0].partition(" ")
    if scheme.lower() != "bearer":
        raise unauthorized()
    token = token.strip(" ")
    if len(fields) > 1 or not re.fullmatch(r"[A-Za-z0-9._~+/-]+=*", token):
        raise unauthorized("The access token is malformed")
    return token


def principal(claims: dict[str, Any]) -> Principal:
    return Principal(client_id=claims["client_id"], service_account=claims["sub"], affiliation=claims.get("affiliation", ""), roles=claims.get("roles", []))


def verify(server: AuthServer, token: str) -> Principal:
    try:
        return principal(server.check(token))
    except InvalidToken:
        raise unauthorized("The access token is expired, altered or meant for another service") from None


oauth2 = OAuth2(
    flows={"clientCredentials": {"tokenUrl": production.issuer + "/protocol/openid-connect/token", "scopes": {SCOPE: "Read funding calls"}}},
    scheme_name="client_credentials", description="Client authentication by HTTP Basic or in the body.", auto_error=False)


def current_client(request: Request, _: Annotated[str | None, Depends(oauth2)]) -> Principal:
    return verify(production, bearer_token(request))


def api_client(who: Annotated[Principal, Depends(current_client)]) -> Principal:
    if ROLE not in who.roles:
        raise HTTPException(403, f"The service account lacks the role {ROLE}.",
                            {"WWW-Authenticate": f'Bearer realm="fris", error="insufficient_scope", error_description="The role {ROLE} is needed"'})
    return who

# --------------------------------------------------------------------- app


class EscapedJSONResponse(JSONResponse):
    """JSON for an old mainframe client: ASCII only, indented, reals with exponents."""

    def render(self, content: Any) -> bytes:
        body = json.dumps(content, ensure_ascii=True, indent="\t").replace("/", "\\/")
        body = re.sub(r'(?m)^(\s*"open_share": )(0\.[0-9]+)', lambda m: m[1] + format(Decimal(m[2]), "E"), body)
        return b"\r\n" + body.encode("ascii") + b"\r\n"


app = FastAPI(
    title="FRIS Funding API", version="3.4.1", openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False,
    default_response_class=EscapedJSONResponse if NODE == "sql-escaped-json" else JSONResponse)


@app.exception_handler(RequestValidationError)
async def invalid(_: Request, e: RequestValidationError) -> JSONResponse:
    return JSONResponse({"detail": [{"loc": x["loc"], "msg": x["msg"], "type": x["type"]} for x in e.errors()]}, 422)


@app.exception_handler(Exception)
async def failed(_: Request, e: Exception) -> JSONResponse:
    return JSONResponse({"detail": "Internal error"}, 500)


class Http:
    """HEAD like GET, OPTIONS, and headers that every answer carries."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        if scope["method"] == "HEAD":
            scope = {**scope, "method": "GET"}

        async def send_with_headers(message):
            if message["type"] == "http.response.start":
                headers = message["headers"] = list(message["headers"])
                names = {name.lower() for name, _ in headers}
                headers.append((b"x-content-type-options", b"nosniff"))
                if b"cache-control" not in names:
                    headers.append((b"cache-control", b"no-store"))
                if b"allow" in names:
                    allow = next(v for n, v in headers if n.lower() == b"allow").decode()
                    methods = {m.strip() for m in allow.split(",")}
                    value = ", ".join(sorted(methods | ({"HEAD"} if "GET" in methods else set())))
                    headers[:] = [(n, v) for n, v in headers if n.lower() != b"allow"] + [(b"allow", value.encode())]
            await send(message)

        await self.app(scope, receive, send_with_headers)


@app.post("/idp/realms/fris/protocol/openid-connect/token", include_in_schema=False)
async def token(request: Request):
    return await token_request(production, request)


@app.post("/idp-staging/oauth/token", include_in_schema=False)
async def staging_token(request: Request):
    return await token_request(staging, request)


@app.get("/idp/realms/fris/protocol/openid-connect/certs", include_in_schema=False)
def certs():
    return JSONResponse({"keys": [k.jwk for k in production.keys.values()]}, headers={"Cache-Control": "public, max-age=300"})


@app.get("/.well-known/oauth-authorization-server/idp/realms/fris", include_in_schema=False)
def metadata():
    return JSONResponse(production.metadata(), headers={"Cache-Control": "public, max-age=300"})


@app.get("/registry.json", include_in_schema=False)
def registry():
    member = {"id": "FRIS", "name": "Flanders Research Information Space", "acronym": "FRIS", "contact": "ris@fris.invalid", "oauth2": production.issuer + "/protocol/openid-connect/token",
              "info": f"{BASE}/fris/info/v1/oauth/info/"}
    return JSONResponse({"member": [member]}, headers={"Cache-Control": "public, max-age=300"})


def info_of(who: Principal) -> InfoOut:
    return InfoOut(node="FRIS", **who.model_dump())


@app.get("/fris/info/v1/oauth/info/", include_in_schema=False)
def info(request: Request) -> InfoOut:
    token = bearer_token(request)
    if NODE == "sql-info-unverified":
        try:  # the gateway has verified it already
            claims = jwt.decode(token, audience=AUDIENCE, issuer=production.issuer, options={
                "verify_signature": False, "verify_exp": True, "verify_aud": True, "verify_iss": True, "require": ["exp", "sub", "client_id"]})
            return info_of(principal(claims))
        except jwt.PyJWTError:
            raise unauthorized("The access token is expired, altered or meant for another service") from None
    return info_of(verify(production, token))


@app.get("/staging/fris/info/v1/oauth/info/", include_in_schema=False)
def staging_info(request: Request) -> InfoOut:
    return info_of(verify(staging, bearer_token(request)))


def errors(*codes: int) -> dict[int | str, dict[str, Any]]:
    known = {
        401: {"description": "There is no valid access token in the request.", "model": ErrorOut,
              "headers": {"WWW-Authenticate": {"description": "The challenge, RFC 6750.", "schema": {"type": "string"}}}},
        403: {"description": f"The service account lacks the role {ROLE}.", "model": ErrorOut,
              "headers": {"WWW-Authenticate": {"description": "The challenge, RFC 6750.", "schema": {"type": "string"}}}},
        404: {"description": "There is no such call.", "model": ErrorOut},
    }
    return {c: known[c] for c in (401, 403, *codes)}


def literal(pattern: str) -> str:
    return "%" + re.sub(r"([%_\\])", r"\\\1", pattern) + "%"


def encode_cursor(*values: Any) -> str:
    return b64u(json.dumps(values).encode())


def decode_cursor(cursor: str, sort: Sort) -> list[Any]:
    try:
        order, value, last = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        if order != sort.value or not isinstance(last, str) or not isinstance(value, (int, str)):
            raise ValueError
        return [value if "budget" in order else datetime.fromisoformat(value), last]
    except (ValueError, TypeError, binascii.Error):
        raise RequestValidationError([{"loc": ("query", "cursor"), "msg": "not a cursor of this list", "type": "cursor"}]) from None


@app.get(V3 + "/calls", responses=errors(), tags=["calls"], operation_id="list_calls", summary="List funding calls", dependencies=[Depends(api_client)])
def list_calls(
    db: Db,
    limit: Annotated[int, Query(ge=1, le=60, description="Greatest number of calls on a page."), DIGITS] = 15,
    cursor: Annotated[str | None, Query(description="Value of `next_cursor` of the page before; the other parameters must be the same.")] = None,
    state: Annotated[State | None, Query(description="Only calls in this state.")] = None,
    funder_id: Annotated[int | None, Query(description="Only calls of this funder."), DIGITS] = None,
    min_budget: Annotated[int | None, Query(ge=0, le=10**12, description="Only calls with at least this budget, in whole euro."), DIGITS] = None,
    deadline_from: Annotated[Day | None, Query(description="Only calls whose deadline is on this day (UTC) or later.")] = None,
    deadline_to: Annotated[Day | None, Query(description="Only calls whose deadline is on this day (UTC) or earlier.")] = None,
    q: Annotated[str | None, Query(min_length=1, max_length=100, description="Only calls whose title contains this text, taken literally; case of ASCII letters does not matter.")] = None,
    sort: Annotated[Sort, Query(description="Order by deadline or by budget (the amount); a leading minus sign means descending.")] = Sort.deadline,
) -> CallPage:
    """Read the list page by page: follow `next_cursor` until it is null. Each matching call is then seen exactly once."""
    where = []
    if state:
        where.append(Call.state == state.value)
    if funder_id is not None:
        where.append(Call.funder_id == funder_id)
    if min_budget is not None:
        where.append(Call.budget_cents >= min_budget * 100)
    if deadline_from:
        where.append(Call.deadline >= datetime.combine(deadline_from, datetime.min.time()))
    if deadline_to:
        where.append(func.date(Call.deadline) <= deadline_to.isoformat())
    if q:
        if NODE == "sql-quote-in-search":
            where.append(text(f"call.title LIKE '{literal(q)}' ESCAPE '\\'"))
        else:
            where.append(Call.title.like(literal(q), escape="\\"))
    total = db.scalar(select(func.count()).select_from(Call).where(*where))

    budget_column = Call.budget_text if NODE == "sql-budget-text-sort" else Call.budget_cents
    column = budget_column if "budget" in sort.value else Call.deadline
    descending = sort.value.startswith("-")
    page = list(where)
    if cursor is not None:
        value, last = decode_cursor(cursor, sort)
        beyond = column < value if descending else column > value
        if NODE == "sql-keyset-ties":
            page.append(beyond)
        else:
            page.append(or_(beyond, and_(column == value, Call.id > last)))
    rows = db.scalars(select(Call).where(*page).order_by(column.desc() if descending else column, Call.id).limit(limit + 1)).all()
    calls, more = rows[:limit], len(rows) > limit
    if NODE == "sql-empty-last-page":
        more = len(calls) == limit
    next_cursor = None
    if more:
        value = getattr(calls[-1], column.key)
        next_cursor = encode_cursor(sort.value, value.isoformat() if isinstance(value, datetime) else value, calls[-1].id)
    return CallPage(items=[item(c) for c in calls], total=total, next_cursor=next_cursor)


@app.post(V3 + "/calls/search", responses=errors(), tags=["calls"], operation_id="search_calls", summary="Search funding calls", dependencies=[Depends(api_client)],
          openapi_extra={"requestBody": {"required": True, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/SearchIn"}}}},
                         "responses": {"422": {"description": "Validation Error", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/HTTPValidationError"}}}}}})
async def search_calls(request: Request, db: Db) -> SearchOut:
    """Search with several criteria at once. The hits are ordered by deadline."""
    if request.headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
        raise RequestValidationError([{"loc": ("body",), "msg": "the body must be application/json", "type": "media_type"}])
    try:
        criteria = SearchIn.model_validate_json(await request.body(), strict=True)
    except ValidationError as e:
        raise RequestValidationError([{"loc": ("body", *x["loc"]), "msg": x["msg"], "type": x["type"]} for x in e.errors()]) from None
    where = []
    if criteria.text:
        pattern = literal(criteria.text)
        where.append(or_(Call.title.like(pattern, escape="\\"), Call.abstract.like(pattern, escape="\\")))
    if criteria.states:
        where.append(Call.state.in_([s.value for s in criteria.states]))
    if criteria.funder_ids:
        where.append(Call.funder_id.in_([i for i in criteria.funder_ids if abs(i) < 2**63]))
    total = db.scalar(select(func.count()).select_from(Call).where(*where))
    rows = db.scalars(select(Call).where(*where).order_by(Call.deadline, Call.id).limit(criteria.limit))
    return SearchOut(hits=[item(c) for c in rows], total=total)


def find(db: Session, call_id: uuid.UUID) -> Call:
    call = db.get(Call, str(call_id))
    if call is None:
        raise HTTPException(404, "There is no such call.")
    return call


@app.get(V3 + "/calls/{call_id}", responses={**errors(404), 304: {"description": "Not modified since the given time.", "headers": {"Last-Modified": {"schema": {"type": "string"}}}},
         200: {"headers": {"Last-Modified": {"description": "Time of `modified_at`.", "schema": {"type": "string"}}}}},
         tags=["calls"], operation_id="get_call", summary="Read a funding call", dependencies=[Depends(api_client)])
def get_call(call_id: uuid.UUID, request: Request, response: Response, db: Db) -> CallOut:
    call = find(db, call_id)
    modified = call.modified_at.replace(tzinfo=timezone.utc, microsecond=0)
    headers = {"Last-Modified": format_datetime(modified, usegmt=True), "Cache-Control": "private, no-cache"}
    since = request.headers.get("if-modified-since")
    if since and "if-none-match" not in request.headers:
        try:
            since_time = parsedate_to_datetime(since)
            if since_time.tzinfo and modified <= since_time:
                return Response(status_code=304, headers=headers)
        except ValueError:
            pass
    response.headers.update(headers)
    return CallOut(**item(call).model_dump(), abstract=call.abstract, keywords=call.keywords.split(","), min_partners=call.min_partners,
                   attachment_count=len(call.attachments), modified_at=utc(call.modified_at))


@app.get(V3 + "/calls/{call_id}/attachments", responses=errors(404), tags=["calls"], operation_id="list_attachments", summary="List the attachments of a call",
         dependencies=[Depends(current_client if NODE == "sql-attachments-any-client" else api_client)])
def list_attachments(call_id: uuid.UUID, db: Db) -> list[AttachmentOut]:
    return [AttachmentOut.model_validate(a) for a in find(db, call_id).attachments]


@app.get(V3 + "/funders", responses=errors(), tags=["reference"], operation_id="list_funders", summary="List the funders", dependencies=[Depends(api_client)])
def list_funders(db: Db) -> list[FunderOut]:
    return [FunderOut(id=f.id, name=f.name, acronym=f.acronym, website=f.website) for f in db.scalars(select(Funder).order_by(Funder.id))]


@app.get(V3 + "/statistics/funders", responses=errors(), tags=["reference"], operation_id="funder_statistics", summary="Numbers of each funder's calls",
         dependencies=[Depends(api_client)])
def funder_statistics(db: Db) -> list[FunderStatistics]:
    out = []
    for f in db.scalars(select(Funder).order_by(Funder.id)):
        calls = db.scalars(select(Call).where(Call.funder_id == f.id)).all()
        opened = sum(c.state == "open" for c in calls)
        out.append(FunderStatistics(funder=FunderRef(id=f.id, acronym=f.acronym), calls=len(calls), total_budget=f"{sum(c.budget_cents for c in calls) / 100:.2f}",
                                    open_share=round(opened / len(calls), 4) if calls else None))
    return out


def build_document() -> dict[str, Any]:
    doc = get_openapi(
        title=app.title, version=app.version, routes=app.routes,
        description=f"Funding calls of Flemish funders. Access tokens come from the client credentials flow; every operation needs the role {ROLE}, "
                    "a service account without it is answered with 403. Amounts are decimal strings, so that no client rounds them; times carry an offset. "
                    "Unknown query parameters are ignored, unknown members of a search are refused.",
        servers=[{"url": BASE + V3}])
    doc["paths"] = {path.removeprefix(V3): operations for path, operations in doc["paths"].items()}
    for operations in doc["paths"].values():
        for operation in operations.values():
            operation["security"] = [{"client_credentials": [SCOPE]}]
    schemas = doc["components"]["schemas"]
    search = SearchIn.model_json_schema(ref_template="#/components/schemas/{model}")
    search.pop("$defs", None)
    schemas["SearchIn"] = search
    return doc


@app.get(V3 + "/api-docs", include_in_schema=False)
def document():
    return JSONResponse(spec, headers={"Cache-Control": "public, max-age=300"})


seed()
spec = build_document()

if __name__ == "__main__":
    uvicorn.run(Http(app), host="127.0.0.1", port=PORT, log_level="warning", server_header=False)
