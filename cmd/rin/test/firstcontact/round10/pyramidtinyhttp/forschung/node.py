"""Research-information node "Forschung" - Pyramid, waitress, SQLAlchemy/SQLite, PyJWT.

    env NODE=pyramid-base PORT=8080 python3 forschung/node.py

NODE names the edition of the node; the base edition is pyramid-base.
"""
import atexit
import base64
import binascii
import gzip
import hashlib
import hmac
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import threading
import time
import uuid
from datetime import datetime, timedelta, timezone
from urllib.parse import parse_qsl, unquote_plus, urlencode

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from pyramid.config import Configurator
from pyramid.httpexceptions import HTTPException
from pyramid.request import Request
from pyramid.response import Response
from pyramid.security import Allowed, Denied
from sqlalchemy import ForeignKey, String, create_engine, func, select
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship, sessionmaker
from sqlalchemy.pool import NullPool
from waitress import create_server

NODE = os.environ.get("NODE", "pyramid-base")
PORT = int(os.environ.get("PORT", "8080"))
ROOT = f"http://127.0.0.1:{PORT}"
PREFIX = "/forschung"
API = PREFIX + "/funding/v3"
SERVICE = ROOT + PREFIX + "/funding"
TOKEN_LIFETIME = 75
ROLE = "EXTERNAL_API_CLIENT"


def edition(name):
    return NODE == "pyramid-" + name


# ---------------------------------------------------------------- data

TYPES = ["CALL", "PROGRAMME", "ONGOING_CALL", "AWARD", "GRANT", "SCHOLARSHIP"]
GROUPS = ["UNIVERSITY", "UNIVERSITY_OF_APPLIED_SCIENCES", "PRIVATE_UNIVERSITY", "RESEARCH_INSTITUTE",
          "COMPANY", "PRIVATE_NON_PROFIT", "INDEPENDENT_RESEARCHER", "GOVERNMENT"]
REGIONS = ["VIENNA", "BURGENLAND", "LOWER_AUSTRIA", "CARINTHIA", "UPPER_AUSTRIA", "SALZBURG", "STYRIA",
           "TYROL", "VORARLBERG"]
FUNDERS = [("org-ffb", "Forschungsförderung Bund", "Federal Research Fund"),
           ("org-wst", "Wissenschaftsstiftung Süd", "Science Foundation South"),
           ("org-lbi", "Landesinitiative Biowissenschaften", "State Initiative Life Sciences"),
           ("org-tgw", "Technologiegesellschaft West", "Technology Agency West"),
           ("org-kuf", "Kulturfonds Überland", "Overland Cultural Fund")]
THEMES = [("Quantentechnologien", "Quantum technologies"), ("Gesundheit im Alter", "Health in old age"),
          ("Klimaneutrale Städte", "Climate-neutral cities"), ("Digitale Geschichte", "Digital history"),
          ("Mikroelektronik", "Microelectronics"), ("Alpine Ökosysteme", "Alpine ecosystems"),
          ("Künstliche Intelligenz", "Artificial intelligence"), ("Junge Forschung", "Young research")]


class Base(DeclarativeBase):
    pass


class Funding(Base):
    __tablename__ = "funding"
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    type: Mapped[str]
    acronym: Mapped[str]
    name_de: Mapped[str]
    name_en: Mapped[str]
    funder_id: Mapped[str]
    region: Mapped[str | None]
    volume: Mapped[float | None]
    opens: Mapped[str]      # UTC, YYYY-MM-DDTHH:MM:SS
    closes: Mapped[str]     # UTC, YYYY-MM-DDTHH:MM:SS
    modified: Mapped[str]
    groups: Mapped[list["FundingGroup"]] = relationship(order_by="FundingGroup.position", lazy="selectin")


class FundingGroup(Base):
    __tablename__ = "funding_group"
    funding_id: Mapped[str] = mapped_column(ForeignKey("funding.id"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    group: Mapped[str]


def stamp(moment):
    return moment.strftime("%Y-%m-%dT%H:%M:%S")


def make_funding(n):
    de, en = THEMES[n * 5 % len(THEMES)]
    year = 2024 + n % 4
    opens = datetime(year, 1 + n * 7 % 12, 1 + n % 27, 7, 0)
    closes = opens + timedelta(days=90 + n * 13 % 420, hours=n * 5 % 24)
    groups = sorted({n % 8, n * 3 % 8, (n // 3 + 2) % 8})
    return Funding(
        id=f"FOR-{year}-{n:04d}", type=TYPES[n % 6 if n % 5 else 0], acronym=f"{en[:3].upper()}{n}",
        name_de=f"{de} {year} – Ausschreibung {n}", name_en=f"{en} {year} - call {n}",
        funder_id=FUNDERS[n * 3 % len(FUNDERS)][0], region=REGIONS[n % 9] if n % 4 else None,
        volume=None if n % 11 == 6 else float(25_000 * (1 + n * 17 % 60)) + (0.5 if n % 13 == 0 else 0),
        opens=stamp(opens), closes=stamp(closes),
        modified=stamp(datetime(2026, 1 + n % 9, 1 + n % 28, 10, n % 60)),
        groups=[FundingGroup(position=i, group=GROUPS[g]) for i, g in enumerate(groups)])


FOLDER = tempfile.mkdtemp(prefix="forschung-")
atexit.register(shutil.rmtree, FOLDER, True)
engine = create_engine("sqlite:///" + os.path.join(FOLDER, "funding.db"), poolclass=NullPool)
Session = sessionmaker(engine)


def load():
    Base.metadata.create_all(engine)
    with Session.begin() as session:
        session.add_all([make_funding(n) for n in range(1, 138)])


def grow():
    """Background import: a new funding every four seconds."""
    n = 138
    while n < 600:
        time.sleep(4)
        with Session.begin() as session:
            funding = make_funding(n)
            funding.id = f"FOR-2030-{n:04d}"
            session.add(funding)
        n += 1


def text_pair(de, en):
    return [{"lang": "de", "trans": "O", "text": de}, {"lang": "en", "trans": "H", "text": en}]


def number(value):
    return int(value) if value == int(value) else value


def represent(row):
    funder = next(f for f in FUNDERS if f[0] == row.funder_id)
    out = {
        "id": row.id, "type": row.type, "name": text_pair(row.name_de, row.name_en), "acronym": row.acronym,
        "funder": [{"funderType": "EXECUTIVE_ORGANISATION",
                    "funder": {"id": funder[0], "name": text_pair(funder[1], funder[2]),
                               "website": f"https://{funder[0]}.example/"}}],
        "targetGroups": [g.group for g in row.groups],
        "stage": {"number": "1", "callStageStart": row.opens + "Z", "callStageEnd": row.closes + "Z"},
        "modified": row.modified + "Z",
        "website": [f"https://forschung.example/calls/{row.id.lower()}"],
    }
    if row.region:
        out["region"] = row.region
    if row.volume is not None:
        out["volume"] = {"currency": "EUR", "amount": number(row.volume)}
    elif edition("nan-amount"):
        out["volume"] = {"currency": "EUR", "amount": float("nan")}
    return out


# ---------------------------------------------------------------- problems

def problem(status, title, detail, headers=(), errors=None, kind=None):
    body = {"type": "about:blank" if kind is None else f"https://forschung.example/problems/{kind}",
            "title": title, "status": status, "detail": detail}
    if errors:
        body["errors"] = errors
    response = Response(json.dumps(body, ensure_ascii=False).encode(), status=status)
    response.headers["Content-Type"] = "application/problem+json"
    response.headers["Cache-Control"] = "no-store"
    for key, value in headers:
        response.headers.add(key, value)
    return response


class Invalid(Exception):
    def __init__(self, name, message):
        super().__init__(message)
        self.name = name


def invalid_view(exc, request):
    return problem(400, "Invalid parameter", f"{exc.name}: {exc}", kind="invalid-parameter",
                   errors=[{"parameter": exc.name, "message": str(exc)}])


def undecodable_view(exc, request):
    return problem(400, "Bad Request", "The address is not UTF-8.")


def not_found_view(request):
    return problem(404, "Not Found", "There is nothing at this address.")


def http_exception_view(exc, request):
    return problem(exc.status_int, exc.title or "Error", exc.explanation or "The request failed.")


def failure_view(exc, request):
    return problem(500, "Internal Server Error", "The request could not be answered.")


# ---------------------------------------------------------------- authorization servers

class AuthorizationServer:
    def __init__(self, issuer, audience, clients):
        self.issuer, self.audience, self.clients = issuer, audience, clients
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.public = self.key.public_key()
        self.kid = hashlib.sha256(str(self.public.public_numbers().n).encode()).hexdigest()[:16]
        self.known = {}       # client id -> when it was authenticated last
        self.decoded = {}     # token -> claims

    def authenticate(self, client_id, secret):
        client = self.clients.get(client_id)
        if edition("secret-cache") and client and time.monotonic() - self.known.get(client_id, -1e9) < 120:
            return client
        expected = client["secret"] if client else "-" * 40
        if not hmac.compare_digest(secret.encode(), expected.encode()) or client is None:
            return None
        self.known[client_id] = time.monotonic()
        return client

    def issue(self, client_id, client):
        now = int(time.time())
        claims = {"iss": self.issuer, "sub": client["account"], "client_id": client_id,
                  "aud": client.get("audience", self.audience), "iat": now, "exp": now + TOKEN_LIFETIME,
                  "jti": str(uuid.uuid4()), "scope": "funding.read", "roles": client["roles"],
                  "affiliation": client["affiliation"]}
        return jwt.encode(claims, self.key, algorithm="RS256", headers={"kid": self.kid, "typ": "at+jwt"})

    def verify(self, token):
        if edition("remembered-token") and token in self.decoded:
            return self.decoded[token]
        try:
            if jwt.get_unverified_header(token).get("typ", "").lower() not in ("at+jwt", "application/at+jwt"):
                return None
            claims = jwt.decode(token, self.public, algorithms=["RS256"], issuer=self.issuer,
                                audience=self.audience,
                                options={"require": ["iss", "sub", "aud", "exp", "iat", "jti", "client_id"]})
        except (jwt.InvalidTokenError, ValueError, TypeError, AttributeError):
            return None
        self.decoded[token] = claims
        return claims


PRODUCTION = AuthorizationServer(ROOT + "/auth/realms/forschung", SERVICE, {
    "forschung-portal-7f3a91c2d8": {"secret": "q7V+eR2/x9%Lm=Tz&4kP:wB0~uY6sD", "account": "sa-4c1f0a77",
                                    "roles": [ROLE], "affiliation": "aff-1029"},
    "forschung-lesesaal-0b62e4f917": {"secret": "hN3%2Bf8+Kd=/Wq5&zR;tJ1?cX7@gM", "account": "sa-91be6d20",
                                      "roles": [], "affiliation": "aff-2210"},
    "forschung-archiv-c85d20aa4e": {"secret": "Pz6&vL0+yU%9bE/2nS=rH4:oA8!iQx", "account": "sa-5d07c3f8",
                                    "roles": [ROLE], "affiliation": "aff-3317", "audience": ROOT + PREFIX + "/archive"},
    "forschung-reserve-9e14b7d360": {"secret": "J2=tC5/mF8+xG1%kV&3wN6:eD9*aZs", "account": "sa-e83a194b",
                                     "roles": [ROLE], "affiliation": "aff-1029"},
})
STAGING = AuthorizationServer(ROOT + "/staging", ROOT + "/staging" + PREFIX, {
    "staging-probe-55d1c0e7ab": {"secret": "sT9/uB3+dK7%pY=1&qX5:hW0~lG4mR", "account": "sa-test-01",
                                 "roles": [ROLE], "affiliation": "aff-0000"},
})


def oauth_response(status, body, headers=()):
    response = Response(json.dumps(body).encode(), status=status)
    response.headers["Content-Type"] = "application/json"
    response.headers["Cache-Control"] = "no-store"
    response.headers["Pragma"] = "no-cache"
    for key, value in headers:
        response.headers[key] = value
    return response


def oauth_error(code, description, status=400, headers=()):
    return oauth_response(status, {"error": code, "error_description": description}, headers)


def token_view(server):
    def view(request):
        if (request.content_type or "").lower() != "application/x-www-form-urlencoded":
            return oauth_error("invalid_request", "The body must be application/x-www-form-urlencoded.")
        try:
            pairs = parse_qsl(request.body.decode("utf-8"), keep_blank_values=True, errors="strict")
        except ValueError:
            return oauth_error("invalid_request", "The body is not UTF-8.")
        form = dict(pairs)
        if len(form) != len(pairs):
            return oauth_error("invalid_request", "A parameter is included more than once.")
        challenge = [("WWW-Authenticate", 'Basic realm="forschung", charset="UTF-8"')]
        header = request.headers.get("Authorization")
        if header is not None:
            if "client_secret" in form:
                return oauth_error("invalid_request", "Use one way of client authentication only.")
            scheme, _, value = header.partition(" ")
            try:
                user, colon, secret = base64.b64decode(value.strip(), validate=True).decode().partition(":")
            except (binascii.Error, ValueError):
                user = colon = secret = ""
            if scheme.lower() != "basic" or not colon:
                return oauth_error("invalid_client", "Client authentication failed.", 401, challenge)
            client_id, secret = unquote_plus(user), unquote_plus(secret)
            if form.get("client_id", client_id) != client_id:
                return oauth_error("invalid_request", "client_id differs from the authenticated client.")
        else:
            client_id, secret = form.get("client_id", ""), form.get("client_secret", "")
        if not form.get("grant_type"):
            return oauth_error("invalid_request", "grant_type is missing.")
        client = server.authenticate(client_id, secret)
        if client is None:
            return oauth_error("invalid_client", "Client authentication failed.", 401, challenge)
        if form["grant_type"] != "client_credentials":
            return oauth_error("unsupported_grant_type", "Only client_credentials is supported.")
        if any(s != "funding.read" for s in form.get("scope", "").split()):
            return oauth_error("invalid_scope", "The only scope is funding.read.")
        return oauth_response(200, {"access_token": server.issue(client_id, client), "token_type": "Bearer",
                                    "expires_in": TOKEN_LIFETIME, "scope": "funding.read"})
    return view


# ---------------------------------------------------------------- bearer tokens

class BearerPolicy:
    """Pyramid security policy: the identity is the claims of a valid access token."""

    def server(self, request):
        return STAGING if request.path.startswith("/staging/") else PRODUCTION

    def token(self, request):
        match = re.fullmatch(r"bearer +([A-Za-z0-9\-._~+/]+=*)", request.headers.get("Authorization", "").strip(), re.I)
        return match.group(1) if match else None

    def identity(self, request):
        if not hasattr(request, "claims"):
            token = self.token(request)
            request.claims = self.server(request).verify(token) if token else None
        return request.claims

    def authenticated_userid(self, request):
        claims = self.identity(request)
        return claims and claims["client_id"]

    def permits(self, request, context, permission):
        claims = self.identity(request)
        if claims is None:
            return Denied("no valid token")
        if permission == "funding.read" and ROLE not in claims.get("roles", []):
            return Denied("role is missing")
        return Allowed("ok")

    def remember(self, request, userid, **kw):
        return []

    def forget(self, request, **kw):
        return []


def forbidden_view(request):
    if request.identity is None:
        challenge = 'Bearer realm="forschung"'
        if request.headers.get("Authorization", "").lower().startswith("bearer"):
            challenge += ', error="invalid_token", error_description="The access token is not valid."'
        return problem(401, "Unauthorized", "A valid access token is needed.", [("WWW-Authenticate", challenge)])
    if edition("hidden-door"):
        return problem(404, "Not Found", "There is nothing at this address.")
    return problem(403, "Forbidden", f"The service account does not have the role {ROLE}.",
                   [("WWW-Authenticate", 'Bearer realm="forschung", error="insufficient_scope", scope="funding.read"')])


# ---------------------------------------------------------------- representations

def entity(data, modified=None, headers=()):
    response = Response(json.dumps(data, ensure_ascii=False).encode("utf-8"))
    response.headers["Content-Type"] = "application/json"
    response.headers["Cache-Control"] = "private, no-cache"
    if modified:
        response.last_modified = modified
    for key, value in headers:
        response.headers[key] = value
    return response


def wants_gzip(request):
    if edition("gzip-substring"):
        return "gzip" in request.headers.get("Accept-Encoding", "")
    weights = {}
    for part in request.headers.get("Accept-Encoding", "").lower().split(","):
        coding, *parameters = [p.strip() for p in part.split(";")]
        weight = 1.0
        for parameter in parameters:
            if parameter.startswith("q="):
                try:
                    weight = float(parameter[2:])
                except ValueError:
                    weight = 0.0
        weights[coding] = weight
    quality = weights.get("gzip", weights.get("x-gzip", weights.get("*", 0.0)))
    return quality > 0 and quality >= weights.get("identity", 0.0)


def representation_tween(handler, registry):
    """Content coding, entity tag and conditional requests of the successful answers of the API."""
    def tween(request):
        response = handler(request)
        if response.status_int != 200 or request.method not in ("GET", "HEAD") \
                or response.content_type != "application/json" or "private" not in response.headers.get("Cache-Control", ""):
            return response
        body = response.body
        tag = hashlib.sha256(body).hexdigest()[:24]
        if len(body) > 1200 and wants_gzip(request):
            response.body = gzip.compress(body, mtime=0)
            response.headers["Content-Encoding"] = "gzip"
            tag += "-gzip"
        response.headers["ETag"] = f'"{tag}"'
        response.headers["Vary"] = "Authorization, Accept, Accept-Encoding"
        fresh = False
        condition = request.headers.get("If-None-Match")
        if condition is not None:
            tags = [t.strip().removeprefix("W/") for t in condition.split(",")]
            fresh = condition.strip() == "*" or f'"{tag}"' in tags
        elif response.last_modified is not None and request.headers.get("If-Modified-Since"):
            since = request.if_modified_since
            fresh = since is not None and response.last_modified <= since
        if fresh:
            kept = [(k, v) for k, v in response.headerlist
                    if k.lower() in ("etag", "cache-control", "vary", "last-modified", "link")]
            return Response(status=304, headerlist=kept)
        return response
    return tween


def acceptable(request):
    accept = request.headers.get("Accept")
    if not accept:
        return True
    try:
        return bool(request.accept.acceptable_offers(["application/json"]))
    except (ValueError, AttributeError):
        return True


def negotiated(view):
    def wrapped(request):
        if not acceptable(request):
            return problem(406, "Not Acceptable", "Answers are available as application/json.")
        return view(request)
    return wrapped


# ---------------------------------------------------------------- parameters

def parameter(request, name):
    values = request.GET.getall(name)
    if len(values) > 1:
        raise Invalid(name, "may be given once")
    return values[0] if values else None


def integer(request, name, default, highest):
    text = parameter(request, name)
    if text is None:
        return default
    if not re.fullmatch(r"[0-9]+", text, re.ASCII) or len(text) > 4000:
        raise Invalid(name, "must be an integer")
    value = int(text)
    if edition("big-number") and name == "page":
        if value < 1:
            raise Invalid(name, "must be at least 1")
    elif not 1 <= value <= highest:
        raise Invalid(name, f"must be between 1 and {highest}")
    return value


def choice(name, value, values):
    if value is not None and value not in values:
        raise Invalid(name, "must be one of " + ", ".join(values))
    return value


def moment(name, text):
    if text is None:
        return None
    if not re.fullmatch(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", text, re.ASCII):
        raise Invalid(name, "must be a date-time as in RFC 3339")
    try:
        value = datetime.fromisoformat(re.sub(r"\.\d+", "", text).upper())
        if edition("naive-offset"):
            return value.replace(tzinfo=None)
        return value.astimezone(timezone.utc).replace(tzinfo=None)
    except (ValueError, OverflowError):
        raise Invalid(name, "must be a date-time as in RFC 3339") from None


SORTS = {"id": [Funding.id], "-id": [Funding.id.desc()],
         "closing": [Funding.closes, Funding.id], "-closing": [Funding.closes.desc(), Funding.id],
         "opening": [Funding.opens, Funding.id], "-opening": [Funding.opens.desc(), Funding.id]}


# ---------------------------------------------------------------- views

def fundings_view(request):
    page = integer(request, "page", 1, 10000)
    size = integer(request, "pageSize", 20, 50)
    sort = choice("sort", parameter(request, "sort"), list(SORTS)) or "id"
    kind = choice("type", parameter(request, "type"), TYPES)
    region = choice("region", parameter(request, "region"), REGIONS)
    funder = parameter(request, "funder")
    open_now = choice("open", parameter(request, "open"), ["true", "false"])
    after = moment("closingAfter", parameter(request, "closingAfter"))
    groups = request.GET.getall("targetGroup")
    for group in groups:
        choice("targetGroup", group, GROUPS)

    query = select(Funding)
    if kind:
        query = query.where(Funding.type == kind)
    if region:
        query = query.where(Funding.region == region)
    if funder is not None:
        query = query.where(Funding.funder_id == funder)
    if open_now:
        now = stamp(datetime.now(timezone.utc))
        running = (Funding.opens <= now) & (Funding.closes > now)
        query = query.where(running if open_now == "true" else ~running)
    if after is not None:
        query = query.where(Funding.closes >= stamp(after))
    if groups:
        if edition("join-rows"):
            query = query.join(FundingGroup).where(FundingGroup.group.in_(groups))
        else:
            query = query.where(Funding.id.in_(
                select(FundingGroup.funding_id).where(FundingGroup.group.in_(groups))))
    with Session() as session:
        total = session.scalar(select(func.count()).select_from(query.subquery()))
        rows = session.scalars(query.order_by(*SORTS[sort]).limit(size).offset((page - 1) * size)).all()
        data = [represent(row) for row in rows]

    last = max(1, -(-total // size))
    others = [(k, v) for k, v in request.GET.items() if k not in ("page", "pageSize")]

    def link(number_, relation):
        query_string = urlencode(others + [("page", number_), ("pageSize", size)])
        return f'<{ROOT}{API}/fundings?{query_string}>; rel="{relation}"'
    links = [link(1, "first"), link(last, "last")]
    if page > 1:
        links.append(link(min(page - 1, last), "prev"))
    if page < last:
        links.append(link(page + 1, "next"))
    return entity(data, headers=[("X-Total-Count", str(total)), ("Link", ", ".join(links))])


def funding_view(request):
    with Session() as session:
        row = session.get(Funding, request.matchdict["id"])
        if row is None:
            return problem(404, "Not Found", "There is no funding with this id.", kind="unknown-funding")
        modified = datetime.fromisoformat(row.modified).replace(tzinfo=timezone.utc)
        return entity(represent(row), modified=modified)


def funders_view(request):
    return entity([{"id": f[0], "name": text_pair(f[1], f[2]), "website": f"https://{f[0]}.example/"} for f in FUNDERS])


def info_view(request):
    base = ROOT + ("/staging" if request.path.startswith("/staging/") else "") + PREFIX + "/funding/v3"
    response = entity({"endpoints": {"FUNDING": [
        {"name": "FUNDINGS", "majorVersion": 3, "minorVersion": 2, "url": base + "/fundings"}]}})
    response.headers["Cache-Control"] = "no-store"
    return response


def registry_view(request):
    body = {"member": [{
        "id": "forschung", "acronym": "FOR", "name": "Forschung", "contact": "ris@forschung.example",
        "oauth2": ROOT + "/auth/realms/forschung/protocol/openid-connect/token",
        "info": ROOT + PREFIX + "/info/v1/oauth/info/"}]}
    return Response(json.dumps(body).encode(), headerlist=[("Content-Type", "application/json")])


def docs_view(request):
    return Response(json.dumps(DOCUMENT, ensure_ascii=False).encode(),
                    headerlist=[("Content-Type", "application/json"), ("Cache-Control", "public, max-age=60")])


def home_view(request):
    return Response(b'{"service":"Forschung","status":"ready"}', headerlist=[("Content-Type", "application/json")])


from document import build  # noqa: E402
DOCUMENT = build(ROOT, SERVICE, TYPES, GROUPS, REGIONS, list(SORTS), hidden=edition("hidden-door"))


def make_app():
    config = Configurator()
    config.set_security_policy(BearerPolicy())
    config.add_tween("__main__.representation_tween")

    def add(name, path, view, methods=("GET",), permission=None):
        config.add_route(name, path)
        config.add_view(view, route_name=name, request_method=methods, permission=permission)
        allow = ", ".join(methods + (("HEAD",) if "GET" in methods else ()))
        config.add_view(lambda request: problem(405, "Method Not Allowed", f"Allowed here: {allow}.",
                                                [("Allow", allow)]), route_name=name)

    add("home", "/", home_view)
    add("registry", "/registry.json", registry_view)
    add("token", "/auth/realms/forschung/protocol/openid-connect/token", token_view(PRODUCTION), ("POST",))
    add("staging-token", "/staging/oauth/token", token_view(STAGING), ("POST",))
    add("info", PREFIX + "/info/v1/oauth/info/", info_view, permission="info")
    add("staging-info", "/staging" + PREFIX + "/info/v1/oauth/info/", info_view, permission="info")
    add("docs", API + "/api-docs", docs_view)
    add("fundings", API + "/fundings", negotiated(fundings_view), permission="funding.read")
    add("funding", API + "/fundings/{id}", negotiated(funding_view), permission="funding.read")
    add("funders", API + "/funders", negotiated(funders_view), permission="funding.read")
    config.add_forbidden_view(forbidden_view)
    config.add_notfound_view(not_found_view)
    config.add_exception_view(invalid_view, context=Invalid)
    config.add_exception_view(undecodable_view, context=UnicodeDecodeError)
    config.add_exception_view(http_exception_view, context=HTTPException)
    config.add_exception_view(failure_view, context=Exception)
    return config.make_wsgi_app()


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    load()
    app = make_app()
    if edition("growing-list"):
        threading.Thread(target=grow, daemon=True).start()
    if edition("slow-start"):
        time.sleep(7)
    create_server(app, host="127.0.0.1", port=PORT, threads=8, ident=None).run()


if __name__ == "__main__":
    main()
