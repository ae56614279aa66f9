"""A node of the research-information network: funding opportunities of the Nordlicht consortium.

Litestar application with its own authorization server (opaque tokens). Start it with PORT and NODE in the environment.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import logging
import os
import re
import secrets
import time
import uuid

from dataclasses import dataclass, field
from datetime import date, datetime, timedelta, timezone
from typing import Annotated, Any, Literal
from urllib.parse import parse_qsl, unquote_plus, urlencode

import msgspec
from litestar import Litestar, Request, Response, get, post
from litestar.connection import ASGIConnection
from litestar.datastructures import State
from litestar.enums import MediaType
from litestar.exceptions import (
    ClientException,
    HTTPException,
    NotAuthorizedException,
    NotFoundException,
    PermissionDeniedException,

)
from litestar.handlers.base import BaseRouteHandler
from litestar.middleware import AbstractAuthenticationMiddleware, AuthenticationResult, DefineMiddleware
from litestar.params import Parameter
from litestar.types import ASGIApp, Receive, Scope, Send

log = logging.getLogger("node")

PORT = int(os.environ.get("PORT", "8080"))
NODE = os.environ.get("NODE", "litestar-base")
ORIGIN = f"http://127.0.0.1:{PORT}"
FUNDING = "/rin/funding/v3"
INFO = "/rin/info/v1/oauth/info/"
ROLE = "EXTERNAL_API_CLIENT"


def is_node(name: str) -> bool:
    return NODE == name


# --------------------------------------------------------------------------------------------------------------------
# Catalogue


@dataclass(frozen=True)
class Funder:
    id: str
    name: str
    country: str
    website: str


@dataclass(frozen=True)
class Opportunity:
    id: str
    title: dict[str, str]
    abstract: dict[str, str]
    funder: Funder
    field: str
    opens: date
    deadline: date
    published: datetime
    modified: datetime
    amount_max: str | None
    currency: str
    regions: tuple[str, ...]
    stages: tuple[tuple[str, date], ...]

    @property
    def status(self) -> str:
        return "announced" if TODAY < self.opens else "closed" if TODAY > self.deadline else "open"


TODAY = datetime.now(timezone.utc).date()
FIELDS = ("natural", "engineering", "medical", "social", "humanities")
REGIONS = ("DK", "FI", "IS", "NO", "SE")
FUNDERS = (
    Funder("nlc-rf", "Nordlicht Research Fund", "NO", "https://rf.nordlicht.example/"),
    Funder("ost-se", "Östersjöstiftelsen för Forskning", "SE", "https://ost.nordlicht.example/"),
    Funder("suo-fi", "Suomen Tiederahasto", "FI", "https://suo.nordlicht.example/"),
    Funder("isl-is", "Rannsóknasjóður Norðursins", "IS", "https://isl.nordlicht.example/"),
    Funder("dan-dk", "Sund Forskningsfond", "DK", "https://dan.nordlicht.example/"),
)
_TOPICS = (
    ("Arctic Ocean Observation", "Beobachtung des Arktischen Ozeans"),
    ("Peatland Carbon", "Kohlenstoff in Mooren"),
    ("Healthy Ageing", "Gesundes Altern"),
    ("Offshore Wind Materials", "Werkstoffe für Offshore-Wind"),
    ("Sámi Languages", "Samische Sprachen"),
    ("Trust in Institutions", "Vertrauen in Institutionen"),
    ("Antimicrobial Resistance", "Antibiotikaresistenzen"),
    ("Timber Construction", "Bauen mit Holz"),
    ("Viking Age Archaeology", "Archäologie der Wikingerzeit"),
)
_KINDS = (
    ("project grant", "Projektförderung"),
    ("fellowship", "Stipendium"),
    ("mobility grant", "Mobilitätsförderung"),
    ("centre of excellence", "Exzellenzzentrum"),
)


def _catalogue() -> list[Opportunity]:
    result = []
    for i in range(64):
        topic, kind = _TOPICS[i % len(_TOPICS)], _KINDS[(i // 2) % len(_KINDS)]
        opens = TODAY + timedelta(days=(i * 37) % 330 - 210)
        deadline = opens + timedelta(days=21 + 35 * (i * 3 % 4))
        published = datetime.combine(opens - timedelta(days=40 + i % 9), datetime.min.time(), timezone.utc)
        published = min(published, datetime.combine(TODAY - timedelta(days=3), datetime.min.time(), timezone.utc))
        published += timedelta(hours=6 + i % 11, minutes=i * 7 % 60)
        result.append(
            Opportunity(
                id=f"NLC-{2024 + i % 3}-{hashlib.sha1(str(i).encode()).hexdigest()[:6]}",
                title={"en": f"{topic[0]}: {kind[0]}", "de": f"{topic[1]}: {kind[1]}"},
                abstract={
                    "en": f"The {kind[0]} supports work on “{topic[0]}” at Nordic institutions.",
                    "de": f"Gefördert wird Forschung zu „{topic[1]}“ an nordischen Einrichtungen.",
                },
                funder=FUNDERS[(i * 2 + i // 9) % len(FUNDERS)],
                field=FIELDS[i * 7 % len(FIELDS)],
                opens=opens,
                deadline=deadline,
                published=published,
                modified=published + timedelta(hours=i % 40, seconds=i * 11 % 60),
                amount_max=None if i % 6 == 2 else f"{25_000 + i * 41_250 % 1_900_000}.{'50' if i % 8 == 3 else '00'}",
                currency=("EUR", "NOK", "SEK")[i % 3],
                regions=tuple(r for n, r in enumerate(REGIONS) if (i + n) % 3 != 0) or ("NO",),
                stages=(("full", deadline),)
                if i % 3
                else (("outline", opens + timedelta(days=14)), ("full", deadline)),
            )
        )
    return result


CATALOGUE = _catalogue()
BY_ID = {o.id: o for o in CATALOGUE}


def summary(o: Opportunity, language: str) -> dict[str, Any]:
    return {
        "id": o.id,
        "title": o.title[language],
        "status": o.status,
        "field": o.field,
        "funderId": o.funder.id,
        "opens": o.opens.isoformat(),
        "deadline": o.deadline.isoformat(),
        "published": o.published.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "amountMax": o.amount_max,
        "currency": o.currency,
    }


def full(o: Opportunity, language: str) -> dict[str, Any]:
    result = summary(o, language) | {
        "abstract": o.abstract[language],
        "modified": o.modified.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "regions": list(o.regions),
        "stages": [{"kind": kind, "due": due.isoformat()} for kind, due in o.stages],
        "funder": {"id": o.funder.id, "name": o.funder.name},
    }
    if is_node("litestar-enum-drift") and len(o.stages) == 2:
        result["stages"].insert(1, {"kind": "interview", "due": (o.deadline - timedelta(days=5)).isoformat()})
    return result


# --------------------------------------------------------------------------------------------------------------------
# Authorization servers


@dataclass(frozen=True)
class Client:
    id: str
    secret: str
    service_account: str
    affiliation: str
    audience: str = "urn:nordlicht:rin"
    roles: tuple[str, ...] = (ROLE,)


@dataclass(frozen=True)
class Token:
    client: Client
    expires: float


class OAuthError(Exception):
    def __init__(self, status: int, code: str, description: str) -> None:
        self.status, self.code, self.description = status, code, description


@dataclass
class AuthorizationServer:
    name: str
    clients: dict[str, Client]
    lifetime: int = 600
    scope: str = "funding"
    tokens: dict[bytes, Token] = field(default_factory=dict)
    failures: dict[str, list[float]] = field(default_factory=dict)

    MAX_FAILURES = 15
    WINDOW = 60

    def issue(self, client: Client) -> str:
        now = time.time()
        self.tokens = {k: t for k, t in self.tokens.items() if t.expires > now}
        token = "nl_" + secrets.token_urlsafe(32)
        self.tokens[self._key(token)] = Token(client, now + self.lifetime)
        return token

    def introspect(self, token: str) -> Client | None:
        found = self.tokens.get(self._key(token))
        return found.client if found and found.expires > time.time() else None

    @staticmethod
    def _key(token: str) -> bytes:
        return hashlib.sha256(token.encode()).digest()

    def authenticate(self, client_id: str, secret: str) -> Client:
        now = time.time()
        recent = [t for t in self.failures.get(client_id, []) if t > now - self.WINDOW]
        if len(recent) >= self.MAX_FAILURES:
            raise OAuthError(429, "invalid_client", "Too many failed attempts; try again later.")
        client = self.clients.get(client_id)
        expected = client.secret if client else "-" * 40
        if is_node("litestar-secret-case"):
            expected, secret = expected.casefold(), secret.casefold()
        if hmac.compare_digest(expected.encode(), secret.encode()) and client:
            self.failures.pop(client_id, None)
            return client
        if len(self.failures) > 10_000:
            self.failures.clear()
        self.failures[client_id] = [*recent, now]
        raise OAuthError(401, "invalid_client", "Client authentication failed.")


def _clients(*clients: Client) -> dict[str, Client]:
    return {c.id: c for c in clients}


PRODUCTION = AuthorizationServer(
    "production",
    _clients(
        Client("fjord-portal", "dDt3ZavEUCqneFF96VBgEuUWqxUCgny8vr4MutZb", "svc-10442", "ORG-208"),
        Client("fjord-trainee", "Bl1IuNZPapa1XmmlMuHC35sL1AAnxN3x7h81dn3T", "svc-10443", "ORG-208", roles=()),
        Client("fjord-archive", "mOymTIhPUZ43lmAr0FuqPIEs4NFe0EE7AEgG5Lx3", "svc-10444", "ORG-208", "urn:nordlicht:archive"),
        Client("fjord-spare", "VDIDlz2vCHGLyLj7nrkzzCDjlULv34W4EbbIUEQF", "svc-10445", "ORG-208"),
    ),
)
STAGING = AuthorizationServer(
    "staging",
    _clients(Client("fjord-staging", "nbalWNE5jFImX8VruBB1PmGR85loHoWiLSkvqCMR", "svc-90001", "ORG-208")),
)


async def token_endpoint(server: AuthorizationServer, request: Request) -> Response:
    try:
        content = await _grant(server, request)
        return Response(content, status_code=200, headers={"Cache-Control": "no-store", "Pragma": "no-cache"})
    except OAuthError as e:
        headers = {"Cache-Control": "no-store", "Pragma": "no-cache"}
        if e.status == 401:
            headers["WWW-Authenticate"] = 'Basic realm="nordlicht"'
        if e.status == 429:
            headers["Retry-After"] = str(AuthorizationServer.WINDOW)
        return Response(
            {"error": e.code, "error_description": e.description}, status_code=e.status, headers=headers
        )


async def _grant(server: AuthorizationServer, request: Request) -> dict[str, Any]:
    known = {"grant_type", "client_id", "client_secret", "scope", "client_assertion", "client_assertion_type"}
    if request.content_type[0] != "application/x-www-form-urlencoded":
        raise OAuthError(400, "invalid_request", "The body must be application/x-www-form-urlencoded.")
    if known & {name for name, _ in parse_qsl(request.scope["query_string"].decode("latin-1"), keep_blank_values=True)}:
        raise OAuthError(400, "invalid_request", "Parameters belong in the request body, not in the URI.")
    try:
        pairs = parse_qsl((await request.body()).decode("utf-8"), keep_blank_values=True, errors="strict")
    except ValueError:
        raise OAuthError(400, "invalid_request", "The body is not a form in UTF-8.") from None
    names = [name for name, _ in pairs]
    if any(names.count(name) > 1 for name in known):
        raise OAuthError(400, "invalid_request", "A parameter is repeated.")
    form = {name: value for name, value in pairs if value}
    if "grant_type" not in form:
        raise OAuthError(400, "invalid_request", "The parameter grant_type is missing.")
    client = server.authenticate(*_credentials(request, form))
    if form["grant_type"] != "client_credentials":
        raise OAuthError(400, "unsupported_grant_type", "Only client_credentials is supported.")
    if "scope" in form and set(form["scope"].split(" ")) != {server.scope}:
        raise OAuthError(400, "invalid_scope", f"The only scope is {server.scope}.")
    return {
        "access_token": server.issue(client),
        "token_type": "Bearer",
        "expires_in": server.lifetime,
        "scope": server.scope,
    }


def _credentials(request: Request, form: dict[str, str]) -> tuple[str, str]:
    failed = OAuthError(401, "invalid_client", "Client authentication failed.")
    header = request.headers.get("authorization")
    if "client_assertion" in form:
        raise OAuthError(401, "invalid_client", "The method of client authentication is not supported.")
    if header is None:
        if "client_id" not in form or "client_secret" not in form:
            raise OAuthError(401, "invalid_client", "Client authentication is missing.")
        return form["client_id"], form["client_secret"]
    scheme, _, value = header.partition(" ")
    if scheme.lower() != "basic":
        raise OAuthError(401, "invalid_client", "The method of client authentication is not supported.")
    if "client_secret" in form:
        raise OAuthError(400, "invalid_request", "Use one method of client authentication only.")
    try:
        client_id, colon, secret = base64.b64decode(value.strip(), validate=True).decode("utf-8").partition(":")
    except (binascii.Error, UnicodeDecodeError):
        raise failed from None
    if not colon:
        raise failed
    client_id, secret = unquote_plus(client_id), unquote_plus(secret)
    if form.get("client_id", client_id) != client_id:
        raise OAuthError(400, "invalid_request", "client_id differs from the authenticated client.")
    return client_id, secret


@post("/auth/oauth/token", status_code=200)
async def token(request: Request) -> Response:
    return await token_endpoint(PRODUCTION, request)


@post("/staging/oauth/token", status_code=200)
async def staging_token(request: Request) -> Response:
    return await token_endpoint(STAGING, request)


# --------------------------------------------------------------------------------------------------------------------
# Bearer tokens and roles


class BearerAuthentication(AbstractAuthenticationMiddleware):
    AUDIENCE = "urn:nordlicht:rin"

    async def authenticate_request(self, connection: ASGIConnection) -> AuthenticationResult:
        path = connection.scope["path"]
        server = STAGING if path.startswith("/staging/") else PRODUCTION
        header = connection.headers.get("authorization")
        if header is None:
            raise NotAuthorizedException("An access token is required.", headers=challenge())
        scheme, _, value = header.partition(" ")
        if scheme.lower() != "bearer":
            raise NotAuthorizedException("An access token is required.", headers=challenge())
        value = value.strip(" ")
        if is_node("litestar-info-any-token") and path.rstrip("/") == INFO.rstrip("/") and value:
            return AuthenticationResult(user=server.introspect(value), auth=value)
        client = server.introspect(value)
        if client is None or client.audience != self.AUDIENCE:
            raise NotAuthorizedException("The access token is not valid.", headers=challenge("invalid_token"))
        return AuthenticationResult(user=client, auth=value)


def challenge(error: str | None = None) -> dict[str, str]:
    if is_node("litestar-no-challenge") and error != "insufficient_scope":
        return {}
    if is_node("litestar-bare-challenge"):
        return {"WWW-Authenticate": (f"bearer error={error}, " if error else "bearer ") + 'realm="nordlicht"'}
    return {"WWW-Authenticate": 'Bearer realm="nordlicht"' + (f', error="{error}"' if error else "")}


def requires_role(connection: ASGIConnection, _: BaseRouteHandler) -> None:
    if ROLE not in connection.user.roles:
        raise PermissionDeniedException(
            f"The role {ROLE} is required.", headers=challenge("insufficient_scope")
        )


# --------------------------------------------------------------------------------------------------------------------
# Registry and info


@get("/registry.json")
async def registry() -> Response:
    member = {
        "id": "NLC",
        "acronym": "NLC",
        "name": "Nordlicht Consortium",
        "url": "https://www.nordlicht.example/",
        "contact": "rin@nordlicht.example",
        "oauth2": ORIGIN + "/auth/oauth/token",
        "info": ORIGIN + INFO,
    }
    return Response({"member": [member]}, headers={"Cache-Control": "public, max-age=300"})


def info_body(client: Client | None, environment: str) -> Response:
    content = {
        "environment": environment,
        "client": client and {
            "id": client.id,
            "serviceAccountUserId": client.service_account,
            "affiliationId": client.affiliation,
        },
        "endpoints": {
            "FUNDING": [
                {"name": "FUNDING", "majorVersion": 3, "minorVersion": 2, "url": ORIGIN + FUNDING + "/opportunities"}
            ]
        },
    }
    return Response(content, headers={"Cache-Control": "no-store"})


@get(INFO, middleware=[DefineMiddleware(BearerAuthentication, exclude_http_methods=[])])
async def info(request: Request[Client, str, State]) -> Response:
    return info_body(request.user, "production")


@get("/staging" + INFO, middleware=[DefineMiddleware(BearerAuthentication, exclude_http_methods=[])])
async def staging_info(request: Request[Client, str, State]) -> Response:
    return info_body(request.user, "staging")


# --------------------------------------------------------------------------------------------------------------------
# Funding API

PRIVATE = {"Cache-Control": "private, no-cache"}


def language_of(request: Request) -> str:
    """The better of English and German by Accept-Language; English where the client does not care."""
    header = request.headers.get("accept-language", "")
    weights: dict[str, float] = {}
    for item in header.split(","):
        tag, _, params = item.strip().partition(";")
        weight = 1.0
        name, _, number = params.strip().partition("=")
        if name.strip().lower() == "q":
            try:
                weight = float(number)
            except ValueError:
                continue
        primary = tag.strip().lower().split("-")[0]
        if primary:
            weights[primary] = max(weight, weights.get(primary, 0.0))
    anything = weights.get("*", 0.0)
    english, german = weights.get("en", anything), weights.get("de", anything)
    return "de" if german > english else "en"


def localized(language: str) -> dict[str, str]:
    return PRIVATE | {"Content-Language": language, "Vary": "Accept-Language"}


def check_query(request: Request) -> None:
    """Before each operation: no parameter of the list may be repeated."""
    names = [name for name, _ in parse_qsl(request.scope["query_string"].decode("latin-1"), keep_blank_values=True)]
    known = set(LIST_PARAMETERS) if request.scope["path"].rstrip("/") == FUNDING + "/opportunities" else set()
    for name in names:
        if name in known and names.count(name) > 1:
            raise ClientException(f"The parameter {name} is repeated.", extra={"code": "invalid_parameter"})
        if name not in known and is_node("litestar-strict-params"):
            raise ClientException(f"There is no parameter {name}.", extra={"code": "unknown_parameter"})


LIST_PARAMETERS = ("status", "field", "funder", "deadlineFrom", "deadlineTo", "q", "sort", "limit", "cursor")

ORDERS = {
    "deadline": (lambda o: o.deadline, False),
    "-deadline": (lambda o: o.deadline, True),
    "published": (lambda o: o.published, False),
    "-published": (lambda o: o.published, True),
}


def encode_cursor(offset: int, query: str) -> str:
    digest = hashlib.sha256(query.encode()).hexdigest()[:12]
    return base64.urlsafe_b64encode(json.dumps({"o": offset, "q": digest}).encode()).decode().rstrip("=")


def decode_cursor(cursor: str, query: str) -> int:
    try:
        content = json.loads(base64.b64decode(cursor + "=" * (-len(cursor) % 4), b"-_", validate=True))
        offset, digest = content["o"], content["q"]
    except (ValueError, KeyError, TypeError):
        if is_node("litestar-cursor-500"):
            raise
        raise ClientException("The cursor is not valid.", extra={"code": "invalid_cursor"}) from None
    if not isinstance(offset, int) or offset < 0:
        raise ClientException("The cursor is not valid.", extra={"code": "invalid_cursor"})
    if digest != hashlib.sha256(query.encode()).hexdigest()[:12] and not is_node("litestar-filter-lost"):
        raise ClientException("The cursor belongs to another query.", extra={"code": "invalid_cursor"})
    return offset



def day(name: str, value: str | None) -> date | None:
    try:
        if value is None:
            return None
        if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
            raise ValueError(value)
        return date.fromisoformat(value)
    except ValueError:
        raise ClientException(f"{name} is not a day.", extra={"code": "invalid_parameter"}) from None


@get("/opportunities")
async def list_opportunities(
    request: Request[Client, str, State],
    status: Literal["announced", "open", "closed"] | None = None,
    research_field: Annotated[
        Literal["natural", "engineering", "medical", "social", "humanities"] | None, Parameter(query="field")
    ] = None,
    funder: Annotated[str | None, Parameter(min_length=1, max_length=20)] = None,
    deadline_from: Annotated[str | None, Parameter(query="deadlineFrom")] = None,
    deadline_to: Annotated[str | None, Parameter(query="deadlineTo")] = None,
    q: Annotated[str | None, Parameter(min_length=2, max_length=80)] = None,
    sort: Literal["deadline", "-deadline", "published", "-published"] = "deadline",
    limit: Annotated[int, Parameter(ge=1, le=40)] = 15,
    cursor: Annotated[str | None, Parameter(min_length=1, max_length=200)] = None,
) -> Response:
    language = language_of(request)
    first, last = day("deadlineFrom", deadline_from), day("deadlineTo", deadline_to)
    needle = q.casefold() if q is not None else ""
    found = [
        o
        for o in CATALOGUE
        if (status is None or o.status == status)
        and (research_field is None or o.field == research_field)
        and (funder is None or o.funder.id == funder)
        and (first is None or o.deadline >= first)
        and (last is None or o.deadline <= last)
        and (not needle or any(needle in title.casefold() for title in o.title.values()))
    ]
    found.sort(key=lambda o: o.id)
    key, descending = ORDERS[sort]
    found.sort(key=key, reverse=descending)
    filters = {
        "status": status, "field": research_field, "funder": funder,
        "deadlineFrom": deadline_from, "deadlineTo": deadline_to, "q": q,
    }
    query = {name: value for name, value in filters.items() if value is not None} | {"sort": sort}
    canonical = urlencode(sorted(query.items()))
    offset = decode_cursor(cursor, canonical) if cursor is not None else 0
    size = limit
    if is_node("litestar-short-pages"):
        size = min(limit, 1 + (offset * 5 + 2) % 9)
    page = found[offset : offset + size]
    more = offset + size < len(found)
    if is_node("litestar-short-pages"):
        more = offset < len(found)
    if is_node("litestar-filter-lost"):
        query = {"sort": sort}
    links = links_of(query, limit, encode_cursor(offset + size, canonical) if more else None)
    return Response(
        [summary(o, language) for o in page],
        headers=localized(language) | links | {"X-Total-Count": str(len(found))},
    )


def links_of(query: dict[str, str], limit: int, following: str | None) -> dict[str, str]:
    target = FUNDING + "/opportunities?" + urlencode(query | {"limit": limit})
    if is_node("litestar-link-style"):
        relative = target.rsplit("/", 1)[1]
        links = [
            f'<{relative}>; title="start, of the list; a \\"first\\" page"; rel="first https://rin.example/rels/start"'
        ]
        if following:
            links.append(f'<{relative}&cursor={following}>; title="more, <next>"; REL=next; title*=UTF-8\'de\'n%C3%A4chste')
        links.append("</rin/funding/v3/api-docs>;rel=service-desc;type=\"application/json\"")
        return {"Link": " , ".join(links)}
    links = [f'<{ORIGIN}{target}>; rel="first"']
    if following:
        links.append(f'<{ORIGIN}{target}&cursor={following}>; rel="next"')
    return {"Link": ", ".join(links)}


def etag_of(o: Opportunity, content: bytes) -> str:
    if is_node("litestar-etag-language"):
        content = f"{o.id} {o.modified.isoformat()} {o.status}".encode()
    return '"' + hashlib.sha256(content).hexdigest()[:24] + '"'


def matches(header: str | None, etag: str) -> bool:
    """If-None-Match (RFC 9110, section 13.1.2): weak comparison with a list of tags, or any."""
    if header is None:
        return False
    tags = [tag.strip().removeprefix("W/") for tag in header.split(",")]
    return tags == ["*"] or etag in tags


def opportunity(opportunity_id: str) -> Opportunity:
    if found := BY_ID.get(opportunity_id):
        return found
    raise NotFoundException("There is no such opportunity.")


@get("/opportunities/{opportunity_id:str}")
async def get_opportunity(request: Request[Client, str, State], opportunity_id: str) -> Response:
    found = opportunity(opportunity_id)
    language = language_of(request)
    content = msgspec.json.encode(full(found, language))
    etag = etag_of(found, content)
    headers = localized(language) | {"ETag": etag}
    if matches(request.headers.get("if-none-match"), etag):
        return Response(None, status_code=304, headers=headers)
    return Response(content, media_type=MediaType.JSON, headers=headers)


@get("/funders")
async def list_funders() -> Response:
    content = [
        {
            "id": f.id, "name": f.name, "country": f.country, "website": f.website,
            "opportunities": sum(o.funder == f for o in CATALOGUE),
        }
        for f in FUNDERS
    ]
    return Response(content, headers=PRIVATE)


class Search(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    regions: Annotated[list[Literal["DK", "FI", "IS", "NO", "SE"]], msgspec.Meta(min_length=1, max_length=5)]
    statuses: list[Literal["announced", "open", "closed"]] | None = None
    min_amount: Annotated[float, msgspec.Meta(ge=0)] | None = None


@post("/opportunities/search", status_code=200)
async def search(request: Request[Client, str, State]) -> Response:
    if request.content_type[0] != "application/json":
        raise HTTPException(status_code=415, detail="The body must be application/json.", headers={"Accept": "application/json"})
    try:
        wanted = msgspec.json.decode(await request.body(), type=Search)
    except (msgspec.DecodeError, UnicodeDecodeError) as e:
        raise ClientException(f"The body is not valid: {e}", extra={"code": "invalid_body"}) from None
    language = language_of(request)
    found = [
        o
        for o in CATALOGUE
        if set(wanted.regions) & set(o.regions)
        and (not wanted.statuses or o.status in wanted.statuses)
        and (wanted.min_amount is None or (o.amount_max is not None and float(o.amount_max) >= wanted.min_amount))
    ]
    found.sort(key=lambda o: (o.deadline, o.id))
    return Response(
        {"count": len(found), "opportunities": [summary(o, language) for o in found]}, headers=localized(language)
    )


@get("/api-docs")
async def api_docs() -> Response:
    return Response(openapi_document(), headers={"Cache-Control": "public, max-age=300"})


# --------------------------------------------------------------------------------------------------------------------
# Errors

CODES = {
    400: "invalid_parameter", 401: "unauthorized", 403: "forbidden", 404: "not_found", 405: "method_not_allowed",
    413: "too_large", 415: "unsupported_media_type", 429: "too_many_requests",
}


def on_http_error(request: Request, error: HTTPException) -> Response:
    headers = dict(error.headers or {})
    status, message = error.status_code, error.detail
    code = CODES.get(status, "error")
    if isinstance(error.extra, dict) and "code" in error.extra:
        code = error.extra["code"]
    elif isinstance(error.extra, list) and error.extra:
        names = sorted({str(e["key"]) for e in error.extra if isinstance(e, dict) and "key" in e})
        names = [{"research_field": "field", "deadline_from": "deadlineFrom", "deadline_to": "deadlineTo"}.get(n, n) for n in names]
        message = "Not valid: " + ", ".join(names)
    allow = next((v for k, v in headers.items() if k.lower() == "allow"), None)
    if status == 405 and allow is not None:
        methods = {m.strip() for m in allow.split(",")} | ({"HEAD"} if "GET" in allow else set()) | {"OPTIONS"}
        headers = {"Allow": ", ".join(sorted(methods))}
    return problem(request, status, code, message, headers)


def on_unexpected(request: Request, error: Exception) -> Response:
    log.exception("unexpected", exc_info=error)
    return problem(request, 500, "internal_error", "Internal error.", {})


def problem(request: Request, status: int, code: str, message: str, headers: dict[str, str]) -> Response:
    request_id = str(uuid.uuid4())
    return Response(
        {"error": {"code": code, "message": message, "requestId": request_id}},
        status_code=status,
        media_type=MediaType.JSON,
        headers=headers | {"Cache-Control": "no-store", "X-Request-Id": request_id},
    )


class HeadAndHardening:
    """Answers HEAD as GET without the body, and adds the headers that every answer has."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        head = scope["method"] == "HEAD"
        if head:
            scope = dict(scope, method="GET")

        async def answer(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (b"x-content-type-options", b"nosniff")]
            elif head and message["type"] == "http.response.body":
                message = {"type": "http.response.body", "body": b"", "more_body": message.get("more_body", False)}
            await send(message)

        await self.app(scope, receive, answer)


# --------------------------------------------------------------------------------------------------------------------
# OpenAPI document


def openapi_document() -> dict[str, Any]:
    def ref(kind: str, name: str) -> dict[str, str]:
        return {"$ref": f"#/components/{kind}/{name}"}

    def errors(*statuses: str) -> dict[str, Any]:
        names = {"400": "BadRequest", "401": "Unauthorized", "403": "Forbidden", "404": "NotFound",
                 "415": "UnsupportedMediaType"}
        return {status: ref("responses", names[status]) for status in statuses}

    def error(description: str, **headers: Any) -> dict[str, Any]:
        response = {"description": description, "content": {"application/json": {"schema": ref("schemas", "Error")}}}
        return response | ({"headers": headers["headers"]} if headers else {})

    def parameter(name: str, description: str, **schema: Any) -> dict[str, Any]:
        return {"name": name, "in": "query", "description": description, "schema": schema}

    text = {"type": "string"}
    day_schema = {"type": "string", "format": "date"}
    moment = {"type": "string", "format": "date-time"}
    status_schema = ref("schemas", "Status")
    language_header = {"name": "Accept-Language", "in": "header", "description": "English and German are available; English is the default", "schema": text}
    local = {
        "Content-Language": {"description": "Language of the texts", "schema": {"type": "string", "enum": ["en", "de"]}},
        "Vary": {"description": "Accept-Language", "schema": text},
    }
    unknown = ("Unknown query parameters are refused with 400 (`unknown_parameter`)." if is_node("litestar-strict-params")
               else "Unknown query parameters are ignored.")
    strict = ["400"] if is_node("litestar-strict-params") else []
    short = (" A page may be shorter than `limit`, and may be empty: the list ends where the answer has no link with"
             " `rel=next`, and only there." if is_node("litestar-short-pages")
             else " A page has `limit` opportunities as long as there are so many; the last page has no link with `rel=next`.")
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Nordlicht Consortium: funding opportunities",
            "version": "3.2.0",
            "summary": "Annotated funding calls of five Nordic funders",
            "description": (
                "All operations need an access token (opaque, from the consortium's authorization server) of a service"
                " account with the role EXTERNAL_API_CLIENT. Without a valid token the answer is 401 with a challenge,"
                " without the role 403. " + unknown + " A repeated or empty parameter is refused with 400. Errors have one"
                " shape, see the schema Error. Texts are in English or German, chosen by Accept-Language; an entity tag"
                " belongs to one language. Days are calendar days in UTC. HEAD is answered wherever GET is."
            ),
        },
        "servers": [{"url": FUNDING, "description": "Production"}],
        "security": [{"clientCredentials": ["funding"]}],
        "tags": [{"name": "opportunities"}, {"name": "funders"}],
        "paths": {
            "/opportunities": {
                "get": {
                    "tags": ["opportunities"],
                    "operationId": "listOpportunities",
                    "summary": "List funding opportunities",
                    "description": (
                        "A bare array, one page at a time. The header Link has the first and the next page (RFC 8288);"
                        " these links keep all filters and the order." + short + " Filters are combined with AND. Ties"
                        " in the order are broken by ascending id. X-Total-Count counts what the filters match on all"
                        " pages. A cursor is only good for the query that it came from."
                    ),
                    "parameters": [
                        {"name": "status", "in": "query", "description": "Only this status", "schema": status_schema},
                        {"name": "field", "in": "query", "description": "Only this field of research", "schema": ref("schemas", "Field")},
                        parameter("funder", "Only this funder (id); unknown funders have no opportunities", type="string", minLength=1, maxLength=20) | {"example": "nlc-rf"},
                        parameter("deadlineFrom", "Deadline on this day or later", **day_schema),
                        parameter("deadlineTo", "Deadline on this day or earlier", **day_schema),
                        parameter("q", "Text in the English or German title, in any case", type="string", minLength=2, maxLength=80),
                        parameter("sort", "Order; `-` is descending", type="string", enum=list(ORDERS), default="deadline"),
                        parameter("limit", "Opportunities per page", type="integer", minimum=1, maximum=40, default=15),
                        parameter("cursor", "Where to go on, from a link", type="string", minLength=1, maxLength=200),
                        language_header,
                    ],
                    "responses": {
                        "200": {
                            "description": "One page",
                            "headers": local | {
                                "Link": {"description": "first and next page", "schema": text},
                                "X-Total-Count": {"description": "How many match", "schema": {"type": "integer", "minimum": 0}},
                            },
                            "content": {"application/json": {"schema": {"type": "array", "maxItems": 40, "items": ref("schemas", "Summary")}}},
                        },
                        **errors("400", "401", "403"),
                    },
                }
            },
            "/opportunities/{opportunityId}": {
                "get": {
                    "tags": ["opportunities"],
                    "operationId": "getOpportunity",
                    "summary": "Read one opportunity",
                    "parameters": [
                        {"name": "opportunityId", "in": "path", "required": True, "schema": text, "example": CATALOGUE[0].id},
                        {"name": "If-None-Match", "in": "header", "schema": text},
                        language_header,
                    ],
                    "responses": {
                        "200": {
                            "description": "The opportunity",
                            "headers": local | {"ETag": {"description": "Strong entity tag of this language", "schema": text}},
                            "content": {"application/json": {"schema": ref("schemas", "Opportunity")}},
                        },
                        "304": {"description": "Not modified"},
                        **errors(*strict, "401", "403", "404"),
                    },
                }
            },
            "/opportunities/search": {
                "post": {
                    "tags": ["opportunities"],
                    "operationId": "searchOpportunities",
                    "summary": "Search by region",
                    "description": "All opportunities for at least one of the regions, by deadline; not paged. `minAmount` leaves out those without amountMax.",
                    "parameters": [language_header],
                    "requestBody": {
                        "required": True,
                        "content": {"application/json": {"schema": ref("schemas", "Search"), "example": {"regions": ["NO", "SE"], "statuses": ["open"]}}},
                    },
                    "responses": {
                        "200": {"description": "What was found", "headers": local, "content": {"application/json": {"schema": ref("schemas", "Found")}}},
                        **errors("400", "401", "403", "415"),
                    },
                }
            },
            "/funders": {
                "get": {
                    "tags": ["funders"],
                    "operationId": "listFunders",
                    "summary": "List the funders",
                    "responses": {
                        "200": {"description": "All funders", "content": {"application/json": {"schema": {"type": "array", "items": ref("schemas", "Funder")}}}},
                        **errors(*strict, "401", "403"),
                    },
                }
            },
        },
        "components": {
            "securitySchemes": {
                "clientCredentials": {
                    "type": "oauth2",
                    "flows": {"clientCredentials": {"tokenUrl": ORIGIN + "/auth/oauth/token", "scopes": {"funding": "Read funding opportunities"}}},
                }
            },
            "responses": {
                "BadRequest": error("The request is not valid"),
                "Unauthorized": error("No valid access token", headers={"WWW-Authenticate": {"schema": text}}),
                "Forbidden": error("The role is missing", headers={"WWW-Authenticate": {"schema": text}}),
                "NotFound": error("There is no such opportunity"),
                "UnsupportedMediaType": error("The body is not JSON"),
            },
            "schemas": {
                "Status": {"type": "string", "enum": ["announced", "open", "closed"], "description": "announced before `opens`, closed after `deadline`"},
                "Field": {"type": "string", "enum": list(FIELDS)},
                "Region": {"type": "string", "enum": list(REGIONS)},
                "Summary": {
                    "type": "object",
                    "required": ["id", "title", "status", "field", "funderId", "opens", "deadline", "published", "amountMax", "currency"],
                    "properties": {
                        "id": {"type": "string", "pattern": "^NLC-[0-9]{4}-[0-9a-f]{6}$"},
                        "title": {"type": "string", "minLength": 1},
                        "status": status_schema,
                        "field": ref("schemas", "Field"),
                        "funderId": text,
                        "opens": day_schema,
                        "deadline": day_schema,
                        "published": moment,
                        "amountMax": {"type": ["string", "null"], "pattern": r"^[0-9]+\.[0-9]{2}$", "description": "Decimal number; null: no limit"},
                        "currency": {"type": "string", "enum": ["EUR", "NOK", "SEK"]},
                    },
                },
                "Opportunity": {
                    "allOf": [
                        ref("schemas", "Summary"),
                        {
                            "type": "object",
                            "required": ["abstract", "modified", "regions", "stages", "funder"],
                            "properties": {
                                "abstract": text,
                                "modified": moment,
                                "regions": {"type": "array", "minItems": 1, "uniqueItems": True, "items": ref("schemas", "Region")},
                                "stages": {"type": "array", "minItems": 1, "items": ref("schemas", "Stage")},
                                "funder": {"type": "object", "required": ["id", "name"], "properties": {"id": text, "name": text}},
                            },
                        },
                    ]
                },
                "Stage": {
                    "type": "object",
                    "required": ["kind", "due"],
                    "properties": {"kind": {"type": "string", "enum": ["outline", "full"]}, "due": day_schema},
                },
                "Funder": {
                    "type": "object",
                    "required": ["id", "name", "country", "website", "opportunities"],
                    "properties": {
                        "id": text, "name": text, "country": ref("schemas", "Region"), "website": {"type": "string", "format": "uri"},
                        "opportunities": {"type": "integer", "minimum": 0, "description": "How many the list has of this funder"},
                    },
                },
                "Search": {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["regions"],
                    "properties": {
                        "regions": {"type": "array", "minItems": 1, "maxItems": 5, "items": ref("schemas", "Region")},
                        "statuses": {"type": ["array", "null"], "items": status_schema, "description": "Only these; none given: all"},
                        "minAmount": {"type": ["number", "null"], "minimum": 0},
                    },
                },
                "Found": {
                    "type": "object",
                    "required": ["count", "opportunities"],
                    "properties": {
                        "count": {"type": "integer", "minimum": 0},
                        "opportunities": {"type": "array", "items": ref("schemas", "Summary")},
                    },
                },
                "Error": {
                    "type": "object",
                    "required": ["error"],
                    "properties": {
                        "error": {
                            "type": "object",
                            "required": ["code", "message", "requestId"],
                            "properties": {"code": text, "message": text, "requestId": {"type": "string", "format": "uuid"}},
                        }
                    },
                },
            },
        },
    }


# --------------------------------------------------------------------------------------------------------------------


def create_app() -> Litestar:
    from litestar import Router

    protected = Router(
        FUNDING,
        route_handlers=[list_opportunities, get_opportunity, list_funders, search],
        middleware=[DefineMiddleware(BearerAuthentication, exclude_http_methods=[])],
        guards=[requires_role],
        before_request=check_query,
    )
    documents = Router(FUNDING, route_handlers=[api_docs])
    return Litestar(
        [token, staging_token, registry, info, staging_info, protected, documents],
        openapi_config=None,
        exception_handlers={HTTPException: on_http_error, Exception: on_unexpected},
        request_max_body_size=64 * 1024,
    )


if __name__ == "__main__":
    import uvicorn

    uvicorn.run(HeadAndHardening(create_app()), host="127.0.0.1", port=PORT, log_level="warning", server_header=False)
