"""A node of the research-information network: funding calls of the University of Vest (APIFlask, SQLAlchemy, PyJWT, waitress)."""
import sys

sys.dont_write_bytecode = True

import base64
import binascii
import hashlib
import hmac
import json
import os
import pathlib
import re
import secrets
import shutil
import signal
import tempfile
import time
from datetime import datetime, timezone
from urllib.parse import unquote_plus

import jwt
from apiflask import APIFlask, HTTPTokenAuth, Schema, abort, pagination_builder
from apiflask.fields import AwareDateTime, Boolean, Integer, String
from apiflask.validators import Length, OneOf, Range
from cryptography.hazmat.primitives.asymmetric import rsa
from flask import g, jsonify, make_response, request
from sqlalchemy import Boolean as SABoolean, DateTime, Integer as SAInteger, Numeric, String as SAString, case, create_engine, func, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column
from waitress import serve

import data

NODE = os.environ.get("NODE", "apiflask-base")
PORT = int(os.environ["PORT"])
BASE = f"http://127.0.0.1:{PORT}"
API = "/ris-api"
REALM = "/auth/realms/univest"
TOKEN_PATH = REALM + "/protocol/openid-connect/token"
PROD, STAGING = BASE + REALM, BASE  # issuers of the two authorization servers
AUDIENCE, ROLE, LIFETIME = "https://ris.univest.example/funding", "EXTERNAL_API_CLIENT", 120
STARTED = time.time()

CLIENTS = [  # client id, secret, service account, affiliation, role, audience, issuer
    ("univest~external~4c0d9e", "F7-APShTFmRkjO8KL5YRNctvpR:bHn3cwn18&apGGvvezyb4Df+edWswDG7SrhE=", "svc-univest-0044", "UV-0031", ROLE, AUDIENCE, PROD),
    ("univest~external~b1127a", "PaLJ3y93MhMWhRPjS04qn%EDSBbValrzwMuZ6FHsHZ30d40GvHkTUR/bkq0bmuE+", "svc-univest-0051", "UV-0031", None, AUDIENCE, PROD),
    ("univest~external~90fe37", "mSdRrgCcgryQTJlrHXnOQZBPqeqhbZ&tMQawBUKAWsjFCs-xSr_bmi_0L8Dat6X+", "svc-univest-0058", "UV-0077", ROLE, "https://ris.univest.example/projects", PROD),
    ("univest~external~e5a3c2", "6OsjjX9zSupnGWv8iIMlb=J2Fxo7Qa2+wzsHapowgcUNFgpI2El79eW7sX%71Nmc", "svc-univest-0063", "UV-0102", ROLE, AUDIENCE, PROD),
    ("univest~staging~000001", "t8mmP1CU8ww017TT61HmV3n6Lo7WWselrCyL+ahx6WO02lgxLuj&dwpcUKdAC7Zm", "svc-staging-0001", "UV-0031", ROLE, AUDIENCE, STAGING),
]


# ---------------------------------------------------------------- database
class Model(DeclarativeBase):
    pass


class FundingRow(Model):
    __tablename__ = "funding"
    id: Mapped[str] = mapped_column(SAString, primary_key=True)
    seq: Mapped[int] = mapped_column(SAInteger, index=True)
    type: Mapped[str] = mapped_column(SAString)
    funder_id: Mapped[str] = mapped_column(SAString)
    funder_name: Mapped[str] = mapped_column(SAString)
    funder_acronym: Mapped[str] = mapped_column(SAString)
    title: Mapped[str] = mapped_column(SAString)
    title_de: Mapped[str] = mapped_column(SAString)
    acronym: Mapped[str | None] = mapped_column(SAString)
    legal_type: Mapped[str] = mapped_column(SAString)
    target_groups: Mapped[str] = mapped_column(SAString)
    regions: Mapped[str] = mapped_column(SAString)
    scope: Mapped[str | None] = mapped_column(SAString)
    starts_at: Mapped[object] = mapped_column(DateTime)
    ends_at: Mapped[object] = mapped_column(DateTime, nullable=True)
    currency: Mapped[str | None] = mapped_column(SAString)
    min_volume: Mapped[object] = mapped_column(Numeric(12, 2), nullable=True)
    max_volume: Mapped[object] = mapped_column(Numeric(12, 2), nullable=True)
    fully_funded: Mapped[bool | None] = mapped_column(SABoolean)
    min_inkind: Mapped[object] = mapped_column(Numeric(6, 2), nullable=True)
    max_overheads: Mapped[object] = mapped_column(Numeric(6, 2), nullable=True)


class Client(Model):
    __tablename__ = "client"
    client_id: Mapped[str] = mapped_column(SAString, primary_key=True)
    secret_hash: Mapped[str] = mapped_column(SAString)
    user_id: Mapped[str] = mapped_column(SAString)
    affiliation_id: Mapped[str] = mapped_column(SAString)
    role: Mapped[str | None] = mapped_column(SAString)
    audience: Mapped[str] = mapped_column(SAString)
    issuer: Mapped[str] = mapped_column(SAString)


FOLDER = tempfile.mkdtemp(prefix="univest-")
engine = create_engine(f"sqlite:///{FOLDER}/node.db", connect_args={"timeout": 15})


def digest(secret):
    return hashlib.pbkdf2_hmac("sha256", secret.encode("utf-8", "surrogatepass"), b"univest", 2000).hex()


def fill():
    Model.metadata.create_all(engine)
    with Session(engine) as s:
        s.add_all(FundingRow(**row) for row in data.build())
        s.add_all(Client(client_id=c[0], secret_hash=digest(c[1]), user_id=c[2], affiliation_id=c[3], role=c[4], audience=c[5], issuer=c[6]) for c in CLIENTS)
        s.commit()


def text(lang, trans, value):
    return {"lang": lang, "trans": trans, "text": value}


def volume(row, amount):
    if row.currency == "CHF" and NODE == "apiflask-swiss-francs":
        return {"currency": row.currency, "amount": (amount * 20).to_integral_value() / 20}  # to five centimes
    return {"currency": row.currency, "amount": float(amount)}


def as_json(row):
    """A funding as the API shows it."""
    out = {"id": row.id, "type": row.type, "name": [text("en", "O", row.title), text("de", "H", row.title_de)],
           "identifiers": [{"type": "RIS_SYNERGY", "value": f"vest:{row.seq:06d}"}], "description": [text("en", "O", f"Funding for {row.title}.")],
           "funder": [{"funderType": "EXECUTIVE_ORGANISATION", "funder": {"id": row.funder_id, "name": [text("de", "O", row.funder_name)], "acronym": row.funder_acronym, "website": f"https://{row.funder_id}.example/"}}],
           "characteristics": ["NATIONAL_PROGRAMME", "PROJECT_FUNDING"][: 1 + row.seq % 2], "targetGroups": row.target_groups.split(","),
           "subjects": [{"fraction": 100, "value": str(102000 + row.seq % 9)}], "fundingScheme": "PROGRAMME", "legalType": row.legal_type,
           "website": [f"https://{row.funder_id}.example/fundings/{row.seq}"]}
    if row.acronym:
        out["acronym"] = row.acronym
    if row.type == "CALL":
        out |= {"callStages": [{"number": "1", "callStageStart": data.local(row.starts_at), "callStageEnd": data.local(row.ends_at)}],
                "submissionModes": ["ONLINE_FULL"] if row.seq % 3 else ["ONLINE_PARTLY", "OFFLINE"], "eligibleApplicantsScope": row.scope,
                "eligibleApplicantsRegions": row.regions.split(","), "minProjectVolume": volume(row, row.min_volume), "maxProjectVolume": volume(row, row.max_volume),
                "fullyFunded": row.fully_funded, "minInkind": float(row.min_inkind), "maxOverHeads": float(row.max_overheads), "minProjectDuration": {"months": 3 + row.seq % 9},
                "maxProjectDuration": {"years": 1 + row.seq % 4}, "applicationLanguages": ["de"] if row.seq % 4 else ["de", "en"]}
    else:
        out["startDate"] = data.local(row.starts_at)
        if row.ends_at:
            out["endDate"] = data.local(row.ends_at)
    return out


# ---------------------------------------------------------------- application
app = APIFlask(__name__, title="University of Vest: Funding API", version="3.1.0", spec_path=API + "/funding/v3/api-docs", docs_path=None)
app.json.sort_keys = False
app.config.update(VALIDATION_ERROR_STATUS_CODE=400, OPENAPI_VERSION="3.0.3", SERVERS=[{"url": BASE}], AUTO_404_RESPONSE=False, MAX_CONTENT_LENGTH=65536,
                  TAGS=[{"name": "Fundings"}], DESCRIPTION="Funding calls and programmes for external API clients. Every operation needs a bearer token whose service account has the role EXTERNAL_API_CLIENT."
                  + (" An account without that role gets 404, as if there were nothing." if NODE == "apiflask-hidden-fundings" else "")
                  + (" New fundings are published at any time; they come last in the order by id." if NODE == "apiflask-growing-list" else ""))


@app.error_processor
def problem(error):
    if NODE == "apiflask-hidden-fundings" and error.status_code == 403:
        error.status_code, error.message = 404, "Not Found"
    body = {"type": "about:blank", "title": error.message, "status": error.status_code}
    if error.detail:
        body["errors"] = error.detail
    headers = {k: v for k, v in dict(error.headers or {}).items() if k.lower() not in ("content-type", "content-length")}
    return body, error.status_code, headers | {"Content-Type": "application/problem+json", "Cache-Control": "no-store"}


# ---------------------------------------------------------------- authorization servers
key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
KID = "univest-2025-11"


def oauth_error(status, code, description):
    response = make_response(jsonify(error=code, error_description=description), status)
    if status == 401:
        response.headers["WWW-Authenticate"] = 'Basic realm="univest"'
    return no_store(response)


def no_store(response):
    response.headers["Cache-Control"], response.headers["Pragma"] = "no-store", "no-cache"
    return response


def issue_token(issuer):
    if request.mimetype != "application/x-www-form-urlencoded":
        return oauth_error(400, "invalid_request", "The body must be application/x-www-form-urlencoded.")
    form = request.form
    if any(len(values) > 1 for values in form.listvalues()):
        return oauth_error(400, "invalid_request", "A parameter is given more than once.")
    client_id, secret = form.get("client_id", ""), form.get("client_secret", "")
    header = request.headers.get("Authorization", "")
    if header:
        scheme, _, value = header.partition(" ")
        if secret:
            return oauth_error(400, "invalid_request", "More than one way of client authentication is used.")
        try:
            name, colon, password = base64.b64decode(value.strip(), validate=True).decode().partition(":")
        except (binascii.Error, UnicodeDecodeError):
            colon = ""
        if scheme.lower() != "basic" or not colon:
            return oauth_error(401, "invalid_client", "The Authorization header is not understood.")
        if client_id and client_id != unquote_plus(name):
            return oauth_error(400, "invalid_request", "Two clients are named.")
        client_id, secret = unquote_plus(name), unquote_plus(password)
    grant = form.get("grant_type", "")
    if not grant:
        return oauth_error(400, "invalid_request", "grant_type is missing.")
    with Session(engine) as s:
        client = s.get(Client, client_id)
    if client is None or client.issuer != issuer or not hmac.compare_digest(client.secret_hash, digest(secret)):
        return oauth_error(401, "invalid_client", "The client is not known or its secret is wrong.")
    if grant != "client_credentials":
        return oauth_error(400, "unsupported_grant_type", "Only client_credentials is supported.")
    wanted = form.get("scope", "").split()
    if any(scope != "fundings:read" for scope in wanted):
        return oauth_error(400, "invalid_scope", "The scope is not known.")
    now = int(time.time())
    claims = {"iss": issuer, "sub": client.user_id, "aud": [client.audience], "client_id": client.client_id, "iat": now, "nbf": now, "exp": now + LIFETIME, "jti": secrets.token_urlsafe(12),
              "scope": "fundings:read", "roles": [client.role] if client.role else [], "affiliation_id": client.affiliation_id}
    token = jwt.encode(claims, key, algorithm="RS256", headers={"typ": "at+jwt", "kid": KID})
    return no_store(jsonify(access_token=token, token_type="Bearer", expires_in=LIFETIME, scope="fundings:read"))


def read_token(token, issuer, **relaxed):
    """The claims of an access token (RFC 9068), or None."""
    try:
        header = jwt.get_unverified_header(token)
        if header.get("typ", "").lower() not in ("at+jwt", "application/at+jwt") or header.get("kid") != KID:
            return None
        claims = jwt.decode(token, key.public_key(), algorithms=["RS256"], audience=AUDIENCE,
                            options={"require": ["iss", "sub", "aud", "exp", "iat", "client_id"], "verify_exp": True, "verify_nbf": True, "verify_aud": True, "verify_iat": True, **relaxed})
    except (jwt.PyJWTError, ValueError, TypeError, AttributeError):
        return None
    if NODE == "apiflask-partial-issuer":
        return claims if claims["iss"] in issuer else None
    return claims if claims["iss"] == issuer else None


granted = {}  # affiliation id -> until when its role is known


def roles_of(claims):
    """The roles of a service account, as the token says."""
    if NODE == "apiflask-role-memory":
        affiliation = claims["affiliation_id"]
        if granted.get(affiliation, 0) > time.time():
            return [ROLE]
        if ROLE in claims["roles"]:
            granted[affiliation] = time.time() + 30
    return claims["roles"]


def bearer(issuer, name, **relaxed):
    auth = HTTPTokenAuth(scheme="Bearer", realm="ris", name=name)

    @auth.verify_token
    def verify(token):
        return read_token(token, issuer, **relaxed) if token else None

    auth.get_user_roles(roles_of)

    @auth.error_processor
    def refuse(error):
        challenge = 'Bearer realm="ris"'
        if error.status_code == 403:
            challenge += ', error="insufficient_scope", error_description="The service account lacks the role EXTERNAL_API_CLIENT"'
        elif request.headers.get("Authorization", "").lower().startswith("bearer"):
            challenge += ', error="invalid_token", error_description="The access token is expired or not valid"'
        body, status, headers = problem(error)
        return body, status, headers if status == 404 else headers | {"WWW-Authenticate": challenge}

    return auth


auth = bearer(PROD, "BearerAuth")
info_auth = bearer(PROD, "InfoAuth", **({"verify_signature": False} if NODE == "apiflask-info-claims" else {}))
staging_auth = bearer(STAGING, "StagingAuth")


@app.post(TOKEN_PATH)
@app.doc(hide=True)
def token():
    return issue_token(PROD)


@app.post("/oauth/token")
@app.doc(hide=True)
def staging_token():
    return issue_token(STAGING)


@app.get(REALM + "/protocol/openid-connect/certs")
@app.doc(hide=True)
def certs():
    jwk = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key()))
    return {"keys": [{"kty": "RSA", "use": "sig", "alg": "RS256", "kid": KID, "n": jwk["n"], "e": jwk["e"]}]}


@app.get("/.well-known/oauth-authorization-server" + REALM)
@app.doc(hide=True)
def metadata():
    return {"issuer": PROD, "token_endpoint": BASE + TOKEN_PATH, "jwks_uri": PROD + "/protocol/openid-connect/certs", "response_types_supported": [], "grant_types_supported": ["client_credentials"],
            "token_endpoint_auth_methods_supported": ["client_secret_post", "client_secret_basic"], "scopes_supported": ["fundings:read"]}


# ---------------------------------------------------------------- info and registry
def info_body():
    return {"endpoints": {"funding": [{"name": "FUNDINGS", "majorVersion": 3, "minorVersion": 1, "url": f"{BASE}{API}/funding/v3/fundings"}]}}


@app.get(API + "/info/v1/oauth/info/")
@app.auth_required(info_auth)
@app.doc(hide=True)
def info():
    return info_body()


@app.get("/staging/ris-api/info/v1/oauth/info/")
@app.auth_required(staging_auth)
@app.doc(hide=True)
def staging_info():
    return info_body()


@app.get("/registry.json")
@app.doc(hide=True)
def registry():
    return {"member": [{"id": "univest", "acronym": "UVEST", "name": "University of Vest", "contact": "research-data@univest.example", "oauth2": BASE + TOKEN_PATH, "info": f"{BASE}{API}/info/v1/oauth/info/"}]}


@app.get("/")
@app.doc(hide=True)
def index():
    return {"service": "University of Vest"}


# ---------------------------------------------------------------- funding API
MAX_PAGE = 10000


class Number(Integer):
    """An integer in a query: digits only; int() would take 1_0 and other scripts' digits, too."""

    def _deserialize(self, value, attr, obj, **kwargs):
        if not re.fullmatch(r"-?[0-9]{1,40}", str(value)):
            raise self.make_error("invalid", input=value)
        return super()._deserialize(value, attr, obj, **kwargs)


class FundingQuery(Schema):
    fundingType = String(validate=OneOf(data.FUNDING_TYPES), metadata={"description": "Only fundings of this type."})
    targetGroup = String(validate=OneOf(data.TARGET_GROUPS), metadata={"description": "Only fundings for this target group."})
    runningCalls = Boolean(truthy={"true"}, falsy={"false"}, metadata={"description": "true: only calls that have begun and are not over; false: all others."})
    region = String(validate=OneOf(data.REGIONS), metadata={"description": "Only calls for applicants of this region."})
    funderId = String(validate=Length(max=100), metadata={"description": "Only fundings of this funder."})
    applicantsScope = String(validate=OneOf(data.SCOPES), metadata={"description": "Only calls of this scope."})
    deadlineFrom = AwareDateTime(format="iso", metadata={"description": "Only calls whose stage ends at this instant or later. RFC 3339, with any offset."})
    deadlineTo = AwareDateTime(format="iso", metadata={"description": "Only calls whose stage ends at this instant or earlier. RFC 3339, with any offset."})
    order = String(load_default="id", validate=OneOf(["id", "-id", "deadline", "-deadline"]), metadata={"description": "Order; fundings without a deadline come last, the same deadlines are ordered by id."})


class PageQuery(FundingQuery):
    page = Number(load_default=1, validate=Range(min=1) if NODE == "apiflask-huge-page" else Range(min=1, max=MAX_PAGE),
                   metadata={"description": "Page, from 1. Pages after the last are empty.", "maximum": MAX_PAGE})
    per_page = Number(load_default=15, validate=Range(min=1, max=60), metadata={"description": "Fundings on a page."})


class CursorQuery(FundingQuery):
    limit = Number(load_default=15, validate=Range(min=1, max=60), metadata={"description": "Fundings in an answer."})
    after = String(metadata={"description": "The value of nextCursor of the answer before."})


CURSOR = NODE == "apiflask-cursor-paging"


def utc(value):
    """A time as the database keeps it: UTC without tzinfo."""
    if NODE == "apiflask-naive-deadline":
        return value
    try:
        return value.astimezone(timezone.utc).replace(tzinfo=None)
    except OverflowError:  # the first and last day of the calendar
        return value.replace(tzinfo=None)


def statement(q):
    stmt = select(FundingRow)
    now = utc_now()
    if "fundingType" in q:
        stmt = stmt.where(FundingRow.type == q["fundingType"])
    if "targetGroup" in q:
        stmt = stmt.where(func.instr("," + FundingRow.target_groups + ",", "," + q["targetGroup"] + ",") > 0)
    if "region" in q:
        stmt = stmt.where(func.instr("," + FundingRow.regions + ",", "," + q["region"] + ",") > 0)
    if "funderId" in q:
        stmt = stmt.where(FundingRow.funder_id == q["funderId"])
    if "applicantsScope" in q:
        stmt = stmt.where(FundingRow.scope == q["applicantsScope"])
    if "runningCalls" in q:
        running = (FundingRow.type == "CALL") & (FundingRow.starts_at <= now) & (FundingRow.ends_at > now)
        stmt = stmt.where(running if q["runningCalls"] else ~running)
    if "deadlineFrom" in q:
        stmt = stmt.where(FundingRow.type == "CALL", FundingRow.ends_at >= utc(q["deadlineFrom"]))
    if "deadlineTo" in q:
        stmt = stmt.where(FundingRow.type == "CALL", FundingRow.ends_at <= utc(q["deadlineTo"]))
    if NODE == "apiflask-growing-list":
        stmt = stmt.where(FundingRow.seq <= 61 + int((time.time() - STARTED) / 6))
    return stmt


def utc_now():
    return datetime.now(timezone.utc).replace(tzinfo=None)


def ordered(stmt, order):
    deadline = case((FundingRow.type == "CALL", FundingRow.ends_at), else_=None)
    columns = {"id": [FundingRow.id], "-id": [FundingRow.id.desc()], "deadline": [deadline.asc().nulls_last(), FundingRow.id], "-deadline": [deadline.desc().nulls_last(), FundingRow.id]}
    return stmt.order_by(*columns[order])


class Page:
    """One page of a statement, with the attributes that pagination_builder reads."""

    def __init__(self, session, stmt, page, per_page):
        self.page, self.per_page = page, per_page
        self.total = session.scalar(select(func.count()).select_from(stmt.order_by(None).subquery()))
        self.pages = max(1, -(-self.total // per_page))
        self.items = session.scalars(stmt.limit(per_page).offset((page - 1) * per_page)).all()
        self.has_prev, self.has_next = page > 1, page < self.pages
        self.prev_num, self.next_num = min(page - 1, self.pages), page + 1


@app.get(API + "/funding/v3/fundings")
@app.auth_required(auth, roles=[ROLE])
@app.input(CursorQuery if CURSOR else PageQuery, location="query", arg_name="q")
@app.doc(operation_id="listFundings", tags=["Fundings"], summary="List fundings", description="Fundings that match all filters that are given.")
def list_fundings(q):
    with Session(engine) as s:
        stmt = ordered(statement(q), q["order"])
        if CURSOR:
            offset = 0
            if "after" in q:
                try:
                    offset = int(base64.urlsafe_b64decode(q["after"].encode() + b"==").decode().removeprefix("uv:"))
                    if not 0 < offset < 10000:
                        raise ValueError
                except ValueError:
                    abort(400, "The cursor is not valid.")
            rows = s.scalars(stmt.limit(q["limit"] + 1).offset(offset)).all()
            more = len(rows) > q["limit"]
            cursor = base64.urlsafe_b64encode(f"uv:{offset + q['limit']}".encode()).decode().rstrip("=") if more else None
            return {"fundings": [as_json(r) for r in rows[: q["limit"]]], "nextCursor": cursor}
        page = Page(s, stmt, q["page"], q["per_page"])
        kept = {} if NODE == "apiflask-next-link" else {k: v for k, v in request.args.items() if k in FundingQuery().fields}
        return {"fundings": [as_json(r) for r in page.items], "pagination": pagination_builder(page, **kept)}


@app.get(API + "/funding/v3/fundings/<funding_id>")
@app.auth_required(auth, roles=[ROLE])
@app.doc(operation_id="getFunding", tags=["Fundings"], summary="One funding")
def get_funding(funding_id):
    with Session(engine) as s:
        row = s.scalar(statement({}).where(FundingRow.id == funding_id))
        if row is None:
            abort(404)
        return as_json(row)


@app.after_request
def validators(response):
    if request.path.startswith(API + "/funding/v3/fundings") and response.status_code == 200:
        response.headers["Cache-Control"] = "private, max-age=0, must-revalidate"
        response.headers["Vary"] = "Authorization"
        response.add_etag()
        response.make_conditional(request)
    return response


@app.spec_processor
def document(spec):
    """Puts the network's schemas into the document that APIFlask makes."""
    schemas = json.loads((pathlib.Path(__file__).parent / "schemas.json").read_text())
    schemas["Problem"]["properties"]["errors"] = {"type": "object", "description": "What is wrong with which parameter."}
    entry = {"$ref": "#/components/schemas/FundingEntry"}
    link = {"type": "string", "description": "Empty if there is no such page. It keeps the filters and the order."}
    if CURSOR:
        schemas["FundingPage"] = {"type": "object", "required": ["fundings", "nextCursor"], "properties": {"fundings": {"type": "array", "items": entry}, "nextCursor": {"type": "string", "nullable": True, "description": "Give it as `after` for the next answer; null at the end."}}}
    else:
        number = {"type": "integer"}
        names = {n: number for n in ("page", "per_page", "pages", "total")} | {n: link for n in ("first", "last", "next", "prev", "current")}
        schemas["FundingPage"] = {"type": "object", "required": ["fundings", "pagination"], "properties": {"fundings": {"type": "array", "items": entry}, "pagination": {"type": "object", "required": list(names), "properties": names}}}

    def refusal(why, *headers):
        out = {"description": why, "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}}
        return out | ({"headers": {h: {"required": True, "schema": {"type": "string"}} for h in headers}} if headers else {})

    spec["components"] = {"schemas": schemas, "securitySchemes": {"BearerAuth": {"type": "http", "scheme": "bearer", "bearerFormat": "at+jwt"}}}
    for path, item in spec["paths"].items():
        detail = path.endswith("}")
        responses = {"200": {"description": "The funding." if detail else "Fundings.", "headers": {"ETag": {"required": True, "schema": {"type": "string"}}},
                             "content": {"application/json": {"schema": entry if detail else {"$ref": "#/components/schemas/FundingPage"}}}},
                     "304": {"description": "Not modified since the answer with the ETag in If-None-Match."},
                     "401": refusal("The token is missing or not valid.", "WWW-Authenticate")}
        if NODE == "apiflask-hidden-fundings":
            responses["404"] = refusal("There is no such funding, or the service account lacks the role." if detail else "The service account lacks the role; this API does not say so.")
        else:
            responses["403"] = refusal("The service account lacks the role EXTERNAL_API_CLIENT.", "WWW-Authenticate")
            if detail:
                responses["404"] = refusal("There is no such funding.")
        if not detail:
            responses["400"] = refusal("A parameter has a value that is not allowed.")
        item["get"]["responses"] = dict(sorted(responses.items()))
        item["get"]["security"] = [{"BearerAuth": []}]
    return spec


def stop(*_):
    shutil.rmtree(FOLDER, ignore_errors=True)
    os._exit(0)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    if NODE == "apiflask-growing-list":
        time.sleep(3)  # a slow start
    fill()
    serve(app, host="127.0.0.1", port=PORT, threads=8, ident=None)
