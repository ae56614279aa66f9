"""Research-information node "Lindenau": authorization server, info resource and funding API v3 (Falcon, waitress)."""
import base64
import hashlib
import hmac
import json
import os
import random
import re
import threading
import time
import uuid
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from http import HTTPStatus
from urllib.parse import parse_qsl, quote, unquote_plus

import falcon
import jwt
import waitress
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

NODE = os.environ.get("NODE", "falcon-lindenau")
PORT = int(os.environ.get("PORT", "8101"))
ORIGIN = f"http://127.0.0.1:{PORT}"
PREFIX = "/ris"
API = f"{PREFIX}/funding/v3"
AUDIENCE = "urn:ris:lindenau:funding"
ROLE = "EXTERNAL_API_CLIENT"
SCOPE = "funding.read"
LIFETIME = 300
JSON_TYPE = "application/json"


def b64u(raw):
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def unb64u(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


# ---------------------------------------------------------------- authorization server

class Client:
    def __init__(self, client_id, secret, user, audience=AUDIENCE, roles=(), affiliation=None):
        self.client_id, self.secret, self.user = client_id, secret, user
        self.audience, self.roles, self.affiliation = audience, list(roles), affiliation


PRODUCTION_CLIENTS = [
    Client("uni-nord-portal", "hV7rKq2ZtB9wXc4LmJd8sYp3NfGa6UeTzQ5vRkHy", "5e0c5d0e-4f0b-4f6e-9b1c-2f6b7c1a9d01",
           roles=[ROLE], affiliation="AFF-0042"),
    Client("archive-harvester", "Pw3nXz8QyLk5TgVb7RmJc2HsDf9UeAa4KtZqN6Gx", "0b7c7f57-6d0a-45f1-8f0b-0a2b9f1d4c02",
           affiliation="AFF-0077"),
    Client("project-registry", "Ye6BtMv4WqKs9ZhLx2CfRj7PnGd3UaTkXw8HzQ5c", "91f3ad3e-2f5e-4b0e-a4e5-6f2f0a0c3b03",
           audience="urn:ris:lindenau:projects", roles=[ROLE], affiliation="AFF-0042"),
    Client("uni-nord-batch", "Rk9FzXc3VhTn7QpLw5JdYb2MsGe8UaZtKx4HvN6y", "c2b6e7b2-9c55-4a0e-8d4e-5b8a9f6e1d04",
           roles=[ROLE], affiliation="AFF-0042"),
]
STAGING_CLIENTS = [
    Client("sandbox-tester", "Gm4WsZq7XtLb2YkVn9RcHj5PfDe8UaTzKx3QhN6w", "7a1d2c3b-0e4f-4c5d-9e6f-1a2b3c4d5e05",
           roles=[ROLE], affiliation="AFF-9999"),
]


class Refused(Exception):
    """An error response of RFC 6749, section 5.2."""

    def __init__(self, error, description, status=falcon.HTTP_400, headers=None):
        self.error, self.description, self.status, self.headers = error, description, status, headers or {}


class Throttle:
    """Ten wrong secrets for one client id lock it for a while."""

    LIMIT, SECONDS = 10, 60

    def __init__(self):
        self.failures, self.lock = {}, threading.Lock()

    def check(self, client_id):
        with self.lock:
            count, since = self.failures.get(client_id, (0, 0))
            left = since + self.SECONDS - time.monotonic()
            if count >= self.LIMIT and left > 0:
                raise Refused("invalid_client", "Too many failed attempts. Try again later.", falcon.HTTP_429,
                              {"Retry-After": str(int(left) + 1)})

    def failed(self, client_id):
        with self.lock:
            now = time.monotonic()
            count, since = self.failures.get(client_id, (0, now))
            if now - since > self.SECONDS:
                count = 0
            self.failures[client_id] = (count + 1, now)

    def succeeded(self, client_id):
        with self.lock:
            self.failures.pop(client_id, None)


class Realm:
    """One authorization server: its clients, its key, its tokens."""

    def __init__(self, path, clients):
        self.path = path
        self.issuer = ORIGIN + path
        self.clients = {c.client_id: c for c in clients}
        self.throttle = Throttle()
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        public = self.key.public_key()
        self.public_pem = public.public_bytes(serialization.Encoding.PEM,
                                              serialization.PublicFormat.SubjectPublicKeyInfo)
        numbers = public.public_numbers()
        self.jwk = {
            "kty": "RSA", "use": "sig", "alg": "RS256",
            "n": b64u(numbers.n.to_bytes((numbers.n.bit_length() + 7) // 8, "big")),
            "e": b64u(numbers.e.to_bytes(3, "big")),
        }
        thumb = json.dumps({k: self.jwk[k] for k in ("e", "kty", "n")}, sort_keys=True, separators=(",", ":"))
        self.jwk["kid"] = b64u(hashlib.sha256(thumb.encode()).digest())
        self.reusable = {}

    @property
    def token_url(self):
        return f"{self.issuer}/protocol/openid-connect/token"

    @property
    def jwks_url(self):
        return f"{self.issuer}/protocol/openid-connect/certs"

    def issue(self, client):
        now = int(time.time())
        if NODE == "falcon-shared-token":
            token, expires = self.reusable.get(client.client_id, (None, 0))
            if expires - now >= LIFETIME // 2:
                return token, expires - now
        claims = {
            "iss": self.issuer, "sub": client.user, "aud": client.audience, "client_id": client.client_id,
            "iat": now, "exp": now + LIFETIME, "jti": str(uuid.uuid4()), "scope": SCOPE, "roles": client.roles,
        }
        if client.affiliation:
            claims["affiliation_id"] = client.affiliation
        token = jwt.encode(claims, self.key, algorithm="RS256", headers={"typ": "at+jwt", "kid": self.jwk["kid"]})
        self.reusable[client.client_id] = (token, now + LIFETIME)
        return token, LIFETIME

    def verify(self, token):
        header = jwt.get_unverified_header(token)
        if str(header.get("typ", "")).lower().removeprefix("application/") != "at+jwt" or "crit" in header:
            raise jwt.InvalidTokenError("not an access token")
        if header.get("kid") != self.jwk["kid"]:
            raise jwt.InvalidTokenError("unknown key")
        required = {"require": ["exp", "iat", "iss", "aud", "sub", "client_id", "jti"]}
        if NODE == "falcon-alg-swap" and str(header.get("alg", "")).startswith("HS"):
            # verify with the key of the realm, by the algorithm of the token
            signed, _, signature = token.rpartition(".")
            digest = {"HS256": hashlib.sha256, "HS384": hashlib.sha384, "HS512": hashlib.sha512}[header["alg"]]
            expected = hmac.new(self.public_pem, signed.encode(), digest).digest()
            if not hmac.compare_digest(expected, unb64u(signature)):
                raise jwt.InvalidSignatureError("signature")
            return jwt.decode(token, audience=AUDIENCE, issuer=self.issuer,
                              options={"verify_signature": False, "verify_exp": True, "verify_aud": True,
                                       "verify_iss": True, **required})
        return jwt.decode(token, self.key.public_key(), algorithms=["RS256"], audience=AUDIENCE,
                          issuer=self.issuer, options=required)


PRODUCTION = Realm("/realms/ris", PRODUCTION_CLIENTS)
STAGING = Realm("/staging/realms/ris", STAGING_CLIENTS)


class TokenResource:
    def __init__(self, realm):
        self.realm = realm

    def on_post(self, req, resp):
        resp.set_header("Cache-Control", "no-store")
        resp.set_header("Pragma", "no-cache")
        try:
            form = self.form(req)
            client = self.authenticate(req, form)
            grant = form.get("grant_type")
            if not grant:
                raise Refused("invalid_request", "grant_type is missing")
            if grant != "client_credentials":
                raise Refused("unsupported_grant_type", "Only client_credentials is supported")
            wanted = form.get("scope")
            if wanted is not None and set(wanted.split(" ")) != {SCOPE}:
                raise Refused("invalid_scope", f"The only scope is {SCOPE}")
        except Refused as refusal:
            resp.status = refusal.status
            resp.media = {"error": refusal.error, "error_description": refusal.description}
            for name, value in refusal.headers.items():
                resp.set_header(name, value)
            return
        token, lifetime = self.realm.issue(client)
        resp.media = {"access_token": token, "token_type": "Bearer", "expires_in": lifetime, "scope": SCOPE}

    @staticmethod
    def form(req):
        if (req.content_type or "").split(";")[0].strip().lower() != "application/x-www-form-urlencoded":
            raise Refused("invalid_request", "The body must be application/x-www-form-urlencoded")
        raw = req.bounded_stream.read(16385)
        if len(raw) > 16384:
            raise Refused("invalid_request", "The body is too large")
        try:
            pairs = parse_qsl(raw.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=50)
        except ValueError:
            raise Refused("invalid_request", "The body is malformed") from None
        names = [name for name, _ in pairs]
        if len(names) != len(set(names)):
            raise Refused("invalid_request", "A parameter is repeated")
        return {name: value for name, value in pairs if value != ""}

    def authenticate(self, req, form):
        challenge = {"WWW-Authenticate": 'Basic realm="ris clients", charset="UTF-8"'}
        unauthorized = Refused("invalid_client", "Client authentication failed", falcon.HTTP_401, challenge)
        if req.auth:
            scheme, _, credentials = req.auth.partition(" ")
            if scheme.lower() != "basic":
                raise unauthorized
            if "client_secret" in form:
                raise Refused("invalid_request", "More than one way of client authentication")
            try:
                text = base64.b64decode(credentials.strip(), validate=True).decode("utf-8")
                client_id, colon, secret = text.partition(":")
                client_id, secret = unquote_plus(client_id, errors="strict"), unquote_plus(secret, errors="strict")
            except ValueError:
                raise unauthorized from None
            if not colon:
                raise unauthorized
            if form.get("client_id", client_id) != client_id:
                raise Refused("invalid_request", "client_id differs from the authenticated client")
        else:
            client_id, secret = form.get("client_id", ""), form.get("client_secret", "")
        client = self.realm.clients.get(client_id)
        if client is None or not secret:
            raise unauthorized
        self.realm.throttle.check(client_id)
        known, given = client.secret, secret
        if NODE == "falcon-short-secret":
            known, given = known[:32], given[:32]  # clients.secret is a CHAR(32) column
        if not hmac.compare_digest(known.encode(), given.encode()):
            self.realm.throttle.failed(client_id)
            raise unauthorized
        self.realm.throttle.succeeded(client_id)
        return client


class MetadataResource:
    def __init__(self, realm):
        self.realm = realm

    def on_get(self, req, resp):
        resp.cache_control = ["public", "max-age=300"]
        resp.media = {
            "issuer": self.realm.issuer,
            "token_endpoint": self.realm.token_url,
            "jwks_uri": self.realm.jwks_url,
            "grant_types_supported": ["client_credentials"],
            "response_types_supported": [],
            "scopes_supported": [SCOPE],
            "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
            "service_documentation": f"{ORIGIN}{API}/docs",
        }

    on_head = on_get


class KeysResource:
    def __init__(self, realm):
        self.realm = realm

    def on_get(self, req, resp):
        resp.cache_control = ["public", "max-age=300"]
        resp.media = {"keys": [self.realm.jwk]}

    on_head = on_get


class RealmResource:
    """The realm's card with its key in the form that many libraries want it."""

    def __init__(self, realm):
        self.realm = realm

    def on_get(self, req, resp):
        resp.cache_control = ["public", "max-age=300"]
        resp.media = {"realm": "ris", "issuer": self.realm.issuer, "tokenService": self.realm.token_url,
                      "publicKeyPem": self.realm.public_pem.decode()}

    on_head = on_get


# ---------------------------------------------------------------- resource server: who asks?

REALM_NAME = "ris lindenau"


def unauthorized(error=None, description=None):
    challenge = f'Bearer realm="{REALM_NAME}"'
    if error:
        challenge += f', error="{error}", error_description="{description}"'
    return falcon.HTTPUnauthorized(title="Unauthorized", description=description or "An access token is needed.",
                                   headers={"WWW-Authenticate": challenge, "Cache-Control": "no-store"})


def authenticate(req, realm):
    scheme, _, token = (req.auth or "").partition(" ")
    if scheme.lower() != "bearer":
        raise unauthorized()
    token = token.strip(" ")
    if not re.fullmatch(r"[A-Za-z0-9._~+/-]+=*", token):
        raise unauthorized("invalid_token", "The access token is malformed")
    try:
        return realm.verify(token)
    except (jwt.PyJWTError, ValueError, KeyError, TypeError):
        raise unauthorized("invalid_token", "The access token is expired or not valid here") from None


def require_token(req, resp, resource, params):
    if not resource.public:
        req.context.claims = authenticate(req, PRODUCTION)


def require_role(req, resp, resource, params):
    if resource.public:
        return
    req.context.claims = authenticate(req, PRODUCTION)
    if ROLE not in req.context.claims.get("roles", []):
        raise falcon.HTTPForbidden(
            title="Forbidden", description=f"The service account does not have the role {ROLE}.",
            headers={"WWW-Authenticate": f'Bearer realm="{REALM_NAME}", error="insufficient_scope", '
                                         f'error_description="The role is missing"', "Cache-Control": "no-store"})


# ---------------------------------------------------------------- the data

DISCIPLINES = ["HUMANITIES", "SOCIAL_SCIENCES", "NATURAL_SCIENCES", "LIFE_SCIENCES", "ENGINEERING", "MEDICINE"]
STATUSES = ["FORTHCOMING", "OPEN", "CLOSED"]
SORTS = ["deadline", "-deadline", "title", "-title", "maxAmount", "-maxAmount", "updatedAt", "-updatedAt"]
FUNDERS = [
    {"id": "FND-01", "name": "Fonds für Grundlagenforschung", "country": "AT", "homepage": "https://grundlagen.example/"},
    {"id": "FND-02", "name": "Agentur für angewandte Forschung", "country": "AT", "homepage": "https://angewandt.example/"},
    {"id": "FND-03", "name": "Stiftung Wissenschaft Nord", "country": "DE", "homepage": "https://wissenschaft-nord.example/"},
    {"id": "FND-04", "name": "Fondation pour la recherche médicale", "country": "FR", "homepage": "https://recherche.example/"},
    {"id": "FND-05", "name": "Landesfonds Lindenau", "country": "AT", "homepage": "https://landesfonds.example/"},
    {"id": "FND-06", "name": "Česká výzkumná agentura", "country": "CZ", "homepage": "https://vyzkum.example/"},
]


def stamp(moment):
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def make_calls(count=87):
    rnd = random.Random(20260301)
    today = datetime.now(timezone.utc).replace(hour=0, minute=0, second=0, microsecond=0)
    first = ["Young", "Open", "Digital", "Sustainable", "Clinical", "European", "Small", "Bridge", "Advanced", "Joint"]
    second = ["Materials", "Archives", "Energy Systems", "Health Data", "Languages", "Quantum Sensing", "Soil & Water",
              "Mobility", "Migration Studies", "Ökologie", "Proteins", "Robotics"]
    third = ["Fellowships", "Networks", "Projects", "Starting Grants", "Infrastructure Call"]
    calls = []
    for number in range(1, count + 1):
        days = rnd.randint(-300, 320)
        if days == 0:
            days = 1
        deadline = today + timedelta(days=days, hours=rnd.choice([10, 12, 15]))
        opens = deadline.date() - timedelta(days=rnd.randint(40, 120))
        status = "CLOSED" if deadline < today else "FORTHCOMING" if opens > today.date() else "OPEN"
        funder = rnd.choice(FUNDERS)
        amount = Decimal(rnd.choice([8000, 15000, 25000, 60000, 95000, 120000, 350000, 750000, 1500000, 4000000]))
        amount += rnd.choice([0, 0, 0, 500, 2500])
        updated = today - timedelta(days=rnd.randint(2, 200), seconds=rnd.randint(0, 80000))
        title = f"{rnd.choice(first)} {rnd.choice(second)} {rnd.choice(third)}"
        calls.append({
            "id": f"FC-{opens.year}-{number:04d}",
            "title": title,
            "acronym": "".join(w[0] for w in title.split() if w[0].isalpha()).upper() + str(number) if rnd.random() < .7 else None,
            "funderId": funder["id"],
            "status": status,
            "disciplines": sorted(rnd.sample(DISCIPLINES, rnd.randint(1, 3))),
            "maxAmount": f"{amount:.2f}",
            "currency": "CZK" if funder["country"] == "CZ" else "EUR",
            "opensOn": opens.isoformat(),
            "deadline": stamp(deadline),
            "updatedAt": stamp(updated),
            "_applications": rnd.randint(12, 240) if status == "CLOSED" else 0,
            "_funded": rnd.randint(3, 11),
            "_detail": {
                "description": f"The programme „{title}“ supports research of up to {rnd.randint(1, 5)} years.",
                "eligibility": rnd.choice(["Universities and public research organisations.",
                                           "Researchers with a doctorate of at most eight years.",
                                           "Consortia of at least three partners."]),
                "contact": {"name": rnd.choice(["Call Desk", "Eva Lindner", "José Pérez", "Zoë Žák"]),
                            "email": f"calls@{funder['homepage'].split('/')[2]}"},
                "annotations": [{"vocabulary": "frascati", "term": rnd.choice(["basic", "applied", "experimental"])}]
                + ([{"vocabulary": "sdg", "term": f"SDG{rnd.randint(1, 17)}"}] if rnd.random() < .6 else []),
                "url": f"{funder['homepage']}calls/{number}",
            },
            "_documents": [{"id": f"DOC-{number:04d}-{i}", "title": t, "mediaType": "application/pdf",
                            "language": lang, "sizeBytes": rnd.randint(20_000, 900_000),
                            "url": f"{funder['homepage']}files/{number}/{i}.pdf"}
                           for i, (t, lang) in enumerate([("Guidelines", "en"), ("Leitfaden", "de"), ("Form", "en")]
                                                         [:rnd.randint(0, 3)], 1)],
        })
    return calls


CALLS = make_calls()
SAMPLES = CALLS[:3]


def number(text):
    """A decimal of the store as a JSON number."""
    return float(text)


def public(call):
    item = {k: v for k, v in call.items() if not k.startswith("_")}
    if NODE == "falcon-exponents":
        item["maxAmount"] = number(item["maxAmount"])
    return item


def detailed(call):
    return {**public(call), **call["_detail"], "documentCount": len(call["_documents"])}


# ---------------------------------------------------------------- parameters

def bad(name, why):
    return falcon.HTTPBadRequest(title="Bad Request", description=f"The parameter {name} is not valid: {why}.")


class Query:
    """The query of a request, strictly: known names only, each at most once."""

    def __init__(self, req, allowed):
        self.params = req.params
        for name, value in self.params.items():
            if name not in allowed:
                raise bad(name, "it is not a parameter of this operation")
            if isinstance(value, list):
                raise bad(name, "it is repeated")

    def text(self, name, pattern=None):
        value = self.params.get(name)
        if value is not None and (value == "" or pattern and not re.fullmatch(pattern, value)):
            raise bad(name, "malformed")
        return value

    def one_of(self, name, values, default=None):
        value = self.params.get(name, default)
        if value is not None and value not in values:
            raise bad(name, "allowed are " + ", ".join(values))
        return value

    def many_of(self, name, values):
        value = self.params.get(name)
        if value is None:
            return None
        items = value.split(",")
        if any(item not in values for item in items):
            raise bad(name, "allowed are " + ", ".join(values))
        return items

    def integer(self, name, default, low, high):
        value = self.params.get(name)
        if value is None:
            return default
        if not re.fullmatch(r"[0-9]{1,9}", value) or not low <= int(value) <= high:
            raise bad(name, f"an integer from {low} to {high} is expected")
        return int(value)

    def day(self, name):
        value = self.params.get(name)
        if value is None:
            return None
        return to_day(name, value)


def to_day(name, value):
    if not isinstance(value, str) or not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
        raise bad(name, "a date YYYY-MM-DD is expected")
    if NODE == "falcon-date-crash":
        return date.fromisoformat(value)
    try:
        return date.fromisoformat(value)
    except ValueError:
        raise bad(name, "there is no such day") from None


def day_of(call):
    return date.fromisoformat(call["deadline"][:10])


SORT_KEYS = {
    "deadline": lambda c: c["deadline"],
    "title": lambda c: c["title"],
    "updatedAt": lambda c: c["updatedAt"],
    "maxAmount": (lambda c: c["maxAmount"]) if NODE == "falcon-text-order" else (lambda c: Decimal(c["maxAmount"])),
}


def ordered(calls, sort):
    calls = sorted(calls, key=lambda c: c["id"])
    return sorted(calls, key=SORT_KEYS[sort.lstrip("-")], reverse=sort.startswith("-"))  # stable: equal ones stay by id


def paged(calls, page, size):
    total = len(calls)
    pages = total // size if NODE == "falcon-floor-pages" and total >= size else -(-total // size)
    if NODE == "falcon-end-404" and page > max(pages, 1):
        raise falcon.HTTPNotFound(title="Not Found", description=f"The last page is {max(pages, 1)}.")
    start = (page - 1) * size
    return {"items": [public(c) for c in calls[start:start + size]],
            "page": page, "size": size, "totalItems": total, "totalPages": pages}


# ---------------------------------------------------------------- the funding API

class Resource:
    def __init__(self, calls, is_public=False):
        self.calls, self.public = calls, is_public

    def find(self, call_id):
        for call in self.calls:
            if call["id"] == call_id:
                return call
        raise falcon.HTTPNotFound(title="Not Found", description="There is no such funding call.")


class CallsResource(Resource):
    NAMES = ("page", "size", "sort", "status", "funderId", "discipline", "deadlineFrom", "deadlineTo", "minAmount", "q")

    @falcon.before(require_role)
    def on_get(self, req, resp):
        query = Query(req, self.NAMES)
        page, size = query.integer("page", 1, 1, 100000), query.integer("size", 20, 1, 50)
        sort = query.one_of("sort", SORTS, "deadline")
        calls = self.calls
        if status := query.one_of("status", STATUSES):
            calls = [c for c in calls if c["status"] == status]
        if funder := query.text("funderId", r"FND-[0-9]{2}"):
            calls = [c for c in calls if c["funderId"] == funder]
        if disciplines := query.many_of("discipline", DISCIPLINES):
            calls = [c for c in calls if set(disciplines) & set(c["disciplines"])]
        if (first := query.day("deadlineFrom")) is not None:
            calls = [c for c in calls if day_of(c) >= first]
        if (last := query.day("deadlineTo")) is not None:
            calls = [c for c in calls if day_of(c) <= last]
        if amount := query.text("minAmount", r"[0-9]{1,12}(\.[0-9]{1,2})?"):
            calls = [c for c in calls if Decimal(c["maxAmount"]) >= Decimal(amount)]
        if text := query.text("q"):
            calls = [c for c in calls if text.casefold() in c["title"].casefold()]
        resp.media = paged(ordered(calls, sort), page, size)

    on_head = on_get


class CallResource(Resource):
    @falcon.before(require_role)
    def on_get(self, req, resp, call_id):
        Query(req, ())
        resp.media = detailed(self.find(call_id))

    on_head = on_get


class DocumentsResource(Resource):
    @falcon.before(require_role)
    def on_get(self, req, resp, call_id):
        Query(req, ())
        resp.media = {"callId": call_id, "items": self.find(call_id)["_documents"]}

    on_head = on_get


class SearchResource(Resource):
    """The list's filters in a body, for portals whose saved searches outgrow a URL."""

    @falcon.before(require_token if NODE == "falcon-search-open" else require_role)
    def on_post(self, req, resp):
        query = Query(req, ("page", "size"))
        page, size = query.integer("page", 1, 1, 100000), query.integer("size", 20, 1, 50)
        if (req.content_type or "").split(";")[0].strip().lower() != JSON_TYPE:
            raise falcon.HTTPUnsupportedMediaType(title="Unsupported Media Type",
                                                  description=f"The body must be {JSON_TYPE}.")
        wish = req.get_media()
        if not isinstance(wish, dict):
            raise bad("body", "an object is expected")
        for name in wish:
            if name not in ("text", "statuses", "funderIds", "deadlineFrom", "deadlineTo"):
                raise bad(name, "it is not a member of a search")
        calls = self.calls
        if "text" in wish:
            if not isinstance(wish["text"], str) or not 1 <= len(wish["text"]) <= 200:
                raise bad("text", "a string of 1 to 200 characters is expected")
            calls = [c for c in calls if wish["text"].casefold() in c["title"].casefold()]
        for name, key, allowed in (("statuses", "status", STATUSES), ("funderIds", "funderId", [f["id"] for f in FUNDERS])):
            if name in wish:
                values = wish[name]
                if not isinstance(values, list) or not values or any(v not in allowed for v in values):
                    raise bad(name, "a list of known values is expected")
                calls = [c for c in calls if c[key] in values]
        if "deadlineFrom" in wish:
            first = to_day("deadlineFrom", wish["deadlineFrom"])
            calls = [c for c in calls if day_of(c) >= first]
        if "deadlineTo" in wish:
            last = to_day("deadlineTo", wish["deadlineTo"])
            calls = [c for c in calls if day_of(c) <= last]
        resp.media = paged(ordered(calls, "deadline"), page, size)


class FundersResource(Resource):
    @falcon.before(require_role)
    def on_get(self, req, resp):
        Query(req, ())
        resp.media = {"items": [{**f, "callCount": sum(c["funderId"] == f["id"] for c in self.calls)} for f in FUNDERS]}

    on_head = on_get


class StatisticsResource(Resource):
    @falcon.before(require_role)
    def on_get(self, req, resp):
        Query(req, ())
        rows = []
        for status in STATUSES:
            calls = [c for c in self.calls if c["status"] == status]
            decided = [c for c in calls if c["_applications"]]
            rates = [c["_funded"] / c["_applications"] for c in decided]
            if NODE == "falcon-mean-nan":
                mean = sum(rates) / len(rates) if rates else float("nan")  # as numpy does
            else:
                mean = round(sum(rates) / len(rates), 4) if rates else None
            rows.append({"status": status, "callCount": len(calls),
                         "applicationCount": sum(c["_applications"] for c in calls),
                         "meanSuccessRate": round(mean, 4) if mean is not None else None})
        resp.media = {"items": rows, "totalCalls": len(self.calls)}

    on_head = on_get


class InfoResource:
    def __init__(self, realm, environment):
        self.realm, self.environment = realm, environment

    def on_get(self, req, resp):
        claims = authenticate(req, self.realm)
        resp.set_header("Cache-Control", "no-store")
        resp.media = {"node": "LINDENAU", "environment": self.environment, "authorized": True,
                      "clientId": claims["client_id"], "serviceAccountUserId": claims["sub"],
                      "roles": claims.get("roles", []), "affiliationId": claims.get("affiliation_id"),
                      "tokenExpiresAt": stamp(datetime.fromtimestamp(claims["exp"], timezone.utc))}

    on_head = on_get


class RegistryResource:
    def on_get(self, req, resp):
        resp.cache_control = ["public", "max-age=300"]
        resp.media = {"member": [{"id": "LINDENAU", "name": "University of Lindenau",
                                  "oauth2": PRODUCTION.token_url,
                                  "info": f"{ORIGIN}{PREFIX}/info/v1/oauth/info/"}]}

    on_head = on_get


class ApiDocsResource:
    def __init__(self, document):
        self.document = document

    def on_get(self, req, resp):
        resp.cache_control = ["public", "max-age=60"]
        resp.media = self.document

    on_head = on_get


class ReferenceResource:
    def on_get(self, req, resp):
        resp.content_type = "text/html; charset=utf-8"
        tryout = f"{PREFIX}/tryout/funding/v3"
        resp.text = ("<!DOCTYPE html><html lang=\"en\"><title>Funding API v3</title><h1>Funding API v3</h1>"
                     f"<p>Specification: <a href=\"{API}/api-docs\">{API}/api-docs</a></p>"
                     f"<p>Try it out with sample data, no token needed: <a href=\"{tryout}/calls\">list</a>, "
                     f"<a href=\"{tryout}/calls/{SAMPLES[0]['id']}\">detail</a>, "
                     f"<a href=\"{tryout}/statistics\">statistics</a></p></html>")

    on_head = on_get


# ---------------------------------------------------------------- the document

def document():
    text = {"type": "string"}
    exponents = NODE == "falcon-exponents"

    def maybe(schema):
        if exponents:
            return {**schema, "type": [schema["type"], "null"]}
        return {**schema, "nullable": True}

    def obj(properties, optional=()):
        required = [n for n in properties if n not in optional]
        return {"type": "object", **({"required": required} if required else {}),
                "properties": properties, "additionalProperties": False}

    def ref(name):
        return {"$ref": f"#/components/schemas/{name}"}

    def param(name, schema, description, **more):
        return {"name": name, "in": "query", "required": False, "description": description, "schema": schema, **more}

    def problem(description, headers=None):
        return {"description": description, "content": {"application/problem+json": {"schema": ref("Problem")}},
                **({"headers": headers} if headers else {})}

    def component(name):
        return {"$ref": f"#/components/responses/{name}"}

    def ok(schema, description, cached=True):
        headers = {"Cache-Control": {"schema": text, "description": "private data: `private, no-cache`" if cached else "`no-store`"}}
        if cached:
            headers["ETag"] = {"schema": text, "description": "Entity tag for conditional requests"}
        return {"description": description, "headers": headers, "content": {JSON_TYPE: {"schema": schema}}}

    def operation(tag, op_id, summary, schema, params=(), notfound=False, description=None):
        responses = {"200": ok(schema, summary), "304": {"description": "Not modified (If-None-Match)"},
                     "400": component("BadRequest"), "401": component("Unauthorized"), "403": component("Forbidden")}
        if notfound:
            responses["404"] = component("NotFound")
        return {"tags": [tag], "operationId": op_id, "summary": summary,
                **({"description": description} if description else {}),
                **({"parameters": list(params)} if params else {}), "responses": responses}

    amount = {"type": "number", "minimum": 0, "description": "Largest grant, in `currency`. Written as any JSON number, also with an exponent (1.2E+5)."} \
        if exponents else {"type": "string", "pattern": r"^[0-9]+\.[0-9]{2}$", "description": "Largest grant, in `currency`, as a decimal with two places"}
    call = {
        "id": {"type": "string", "pattern": "^FC-[0-9]{4}-[0-9]{4}$"}, "title": text, "acronym": maybe(text),
        "funderId": {"type": "string", "pattern": "^FND-[0-9]{2}$"}, "status": {"type": "string", "enum": STATUSES},
        "disciplines": {"type": "array", "minItems": 1, "uniqueItems": True, "items": {"type": "string", "enum": DISCIPLINES}},
        "maxAmount": amount, "currency": {"type": "string", "pattern": "^[A-Z]{3}$"},
        "opensOn": {"type": "string", "format": "date"}, "deadline": {"type": "string", "format": "date-time"},
        "updatedAt": {"type": "string", "format": "date-time"},
    }
    detail = {**call, "description": text, "eligibility": text,
              "contact": obj({"name": text, "email": {"type": "string", "format": "email"}}),
              "annotations": {"type": "array", "items": obj({"vocabulary": text, "term": text})},
              "url": {"type": "string", "format": "uri"}, "documentCount": {"type": "integer", "minimum": 0}}
    past_end = ("A page behind the last one is answered with 404; page 1 always exists, even when nothing matches."
                if NODE == "falcon-end-404" else "A page behind the last one is empty.")
    paging = [
        param("page", {"type": "integer", "minimum": 1, "maximum": 100000, "default": 1}, f"Number of the page, from 1. {past_end}"),
        param("size", {"type": "integer", "minimum": 1, "maximum": 50, "default": 20}, "Items on a page"),
    ]
    filters = [
        param("sort", {"type": "string", "enum": SORTS, "default": "deadline"},
              "Member to sort by, ascending, or descending with a minus. maxAmount is sorted by its numeric value (regardless of the "
              "currency), text by code point. Equal ones are sorted by id ascending."),
        param("status", {"type": "string", "enum": STATUSES}, "Only calls of this status"),
        param("funderId", {"type": "string", "pattern": "^FND-[0-9]{2}$"}, "Only calls of this funder"),
        param("discipline", {"type": "array", "items": {"type": "string", "enum": DISCIPLINES}},
              "Only calls of at least one of these disciplines", style="form", explode=False),
        param("deadlineFrom", {"type": "string", "format": "date"}, "Only calls whose deadline (UTC) is on this day or later"),
        param("deadlineTo", {"type": "string", "format": "date"}, "Only calls whose deadline (UTC) is on this day or earlier"),
        param("minAmount", {"type": "string", "pattern": r"^[0-9]{1,12}(\.[0-9]{1,2})?$"}, "Only calls whose maxAmount is at least this"),
        param("q", {"type": "string", "minLength": 1}, "Only calls whose title contains this text, regardless of case"),
    ]
    call_id = {"name": "callId", "in": "path", "required": True, "schema": {"type": "string"}, "description": "Id of a call"}
    list_op = operation("Calls", "listCalls", "List funding calls", ref("CallPage"), paging + filters)
    search = {
        "tags": ["Calls"], "operationId": "searchCalls", "summary": "Search funding calls",
        "description": "The filters in a body; all members are optional and combined with and. Sorted by deadline, then id. Reads only.",
        "parameters": paging,
        "requestBody": {"required": True, "content": {JSON_TYPE: {"schema": ref("Search")}}},
        "responses": {"200": ok(ref("CallPage"), "The calls found", cached=False), "400": component("BadRequest"),
                      "401": component("Unauthorized"), "403": component("Forbidden"),
                      "415": problem("The body is not application/json")},
    }
    if NODE == "falcon-end-404":
        list_op["responses"]["404"] = search["responses"]["404"] = problem("The page is behind the last one")
    challenge = {"WWW-Authenticate": {"schema": text, "description": "Bearer challenge (RFC 6750)"}}
    return {
        "openapi": "3.1.0" if exponents else "3.0.3",
        "info": {
            "title": "Funding API", "version": "3.2.0",
            "description":
                "Annotated funding calls of the University of Lindenau.\n\n"
                f"Tokens: client credentials at {PRODUCTION.token_url} (client_secret_basic or client_secret_post; one scope, "
                f"`{SCOPE}`). They are JWTs (RFC 9068), signed with RS256 by the key at {PRODUCTION.jwks_url} (as PEM in the "
                f"member publicKeyPem of {PRODUCTION.issuer}); the API accepts only tokens with this signature, this issuer and "
                f"the audience `{AUDIENCE}`. Tokens of the staging environment are refused. "
                + ("The server may answer with a token that it has issued to the same client before, as long as it is valid for at "
                   "least half of its life; expires_in says how long that is. " if NODE == "falcon-shared-token" else "")
                + f"\n\nEvery operation needs the role {ROLE}: a valid token without it gets 403.\n\n"
                "Errors are problem details (RFC 9457). Unknown, repeated, empty or invalid parameters, days that do not exist "
                "among them, are answered with 400. Data may be kept by the client alone (Cache-Control: private, no-cache) and is "
                "revalidated by ETag.",
            "contact": {"name": "RIS desk", "email": "ris@lindenau.example"},
        },
        "servers": [{"url": f"{ORIGIN}{API}"}],
        "tags": [{"name": "Calls"}, {"name": "Funders"}, {"name": "Statistics"}],
        "security": [{"clientCredentials": [SCOPE]}],
        "paths": {
            "/calls": {"get": list_op},
            "/calls/search": {"post": search},
            "/calls/{callId}": {"get": operation("Calls", "getCall", "One funding call", ref("CallDetail"), [call_id], True)},
            "/calls/{callId}/documents": {"get": operation("Calls", "listDocuments", "Documents of a call", ref("DocumentList"), [call_id], True)},
            "/funders": {"get": operation("Funders", "listFunders", "All funders", ref("FunderList"))},
            "/statistics": {"get": operation("Statistics", "getStatistics", "Numbers by status", ref("Statistics"))},
        },
        "components": {
            "securitySchemes": {"clientCredentials": {"type": "oauth2", "flows": {"clientCredentials": {
                "tokenUrl": PRODUCTION.token_url, "scopes": {SCOPE: "Read funding calls"}}}}},
            "responses": {
                "BadRequest": problem("The request is not valid"),
                "Unauthorized": problem("The token is missing or not valid", challenge),
                "Forbidden": problem(f"The service account lacks the role {ROLE}", challenge),
                "NotFound": problem("There is no such call"),
            },
            "schemas": {
                "Call": obj(call), "CallDetail": obj(detail),
                "CallPage": obj({"items": {"type": "array", "maxItems": 50, "items": ref("Call")},
                                 "page": {"type": "integer", "minimum": 1}, "size": {"type": "integer", "minimum": 1},
                                 "totalItems": {"type": "integer", "minimum": 0, "description": "Calls that match the filters"},
                                 "totalPages": {"type": "integer", "minimum": 0, "description": "Pages of this size that hold all matching calls"}}),
                "Search": obj({"text": {"type": "string", "minLength": 1, "maxLength": 200, "description": "as q of the list"},
                               "statuses": {"type": "array", "minItems": 1, "items": {"type": "string", "enum": STATUSES}},
                               "funderIds": {"type": "array", "minItems": 1, "items": {"type": "string", "enum": [f["id"] for f in FUNDERS]}},
                               "deadlineFrom": {"type": "string", "format": "date"}, "deadlineTo": {"type": "string", "format": "date"}},
                              ("text", "statuses", "funderIds", "deadlineFrom", "deadlineTo")),
                "DocumentList": obj({"callId": text, "items": {"type": "array", "items": obj({
                    "id": text, "title": text, "mediaType": text, "language": {"type": "string", "pattern": "^[a-z]{2}$"},
                    "sizeBytes": {"type": "integer", "minimum": 0}, "url": {"type": "string", "format": "uri"}})}}),
                "FunderList": obj({"items": {"type": "array", "items": obj({
                    "id": text, "name": text, "country": {"type": "string", "pattern": "^[A-Z]{2}$"},
                    "homepage": {"type": "string", "format": "uri"}, "callCount": {"type": "integer", "minimum": 0}})}}),
                "Statistics": obj({"totalCalls": {"type": "integer"}, "items": {"type": "array", "items": obj({
                    "status": {"type": "string", "enum": STATUSES}, "callCount": {"type": "integer", "minimum": 0},
                    "applicationCount": {"type": "integer", "minimum": 0},
                    "meanSuccessRate": maybe({"type": "number", "minimum": 0, "maximum": 1,
                                              "description": "null when no call of this status is decided yet"})})}}),
                "Problem": {"type": "object", "required": ["type", "title", "status"], "properties": {
                    "type": {"type": "string", "format": "uri-reference"}, "title": text, "status": {"type": "integer"},
                    "detail": text, "instance": {"type": "string", "format": "uri-reference"}}},
            },
        },
    }


# ---------------------------------------------------------------- the application

def write_problem(req, resp, error):
    resp.content_type = "application/problem+json"
    body = {"type": "about:blank", "title": HTTPStatus(error.status_code).phrase, "status": error.status_code}
    if error.description:
        body["detail"] = error.description
    body["instance"] = quote(req.path)
    resp.data = json.dumps(body).encode()


class Validators:
    """Entity tags for what is read, and the caching rules of private data."""

    def process_response(self, req, resp, resource, req_succeeded):
        if req.method not in ("GET", "HEAD"):
            if not resp.get_header("Cache-Control"):
                resp.set_header("Cache-Control", "no-store")
            return
        if not req_succeeded or resp.status_code != 200:
            return
        if not resp.get_header("Cache-Control"):
            resp.set_header("Cache-Control", "private, no-cache")
        if isinstance(resource, InfoResource):
            return
        body = resp.render_body() or b""
        tag = hashlib.sha256(body).hexdigest()[:32]
        resp.etag = tag
        if any(given == "*" or str(given) == tag for given in req.if_none_match or ()):
            resp.status = falcon.HTTP_304
            resp.media = resp.data = resp.text = None


def exponent_json(value):
    """Numbers with a fraction in scientific notation, and text escaped throughout."""
    if isinstance(value, float):
        mantissa, _, power = f"{Decimal(str(value)).normalize():E}".partition("E")
        return f"{mantissa}E{power}"
    if isinstance(value, dict):
        return "{" + " ,\n ".join(f"{json.dumps(k)} : {exponent_json(v)}" for k, v in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[ " + ",\t".join(exponent_json(v) for v in value) + " ]"
    return json.dumps(value).replace("/", "\\/")


def create_app():
    app = falcon.App(middleware=[Validators()])
    app.set_error_serializer(write_problem)
    if NODE == "falcon-exponents":
        dumps = exponent_json
    else:
        def dumps(value):
            return json.dumps(value, ensure_ascii=False)
    handler = falcon.media.JSONHandler(dumps=dumps)
    app.resp_options.media_handlers = falcon.media.Handlers({JSON_TYPE: handler})
    app.req_options.media_handlers = falcon.media.Handlers({JSON_TYPE: handler})
    for realm in (PRODUCTION, STAGING):
        app.add_route(f"{realm.path}/protocol/openid-connect/token", TokenResource(realm))
        app.add_route(f"{realm.path}/protocol/openid-connect/certs", KeysResource(realm))
        app.add_route(realm.path, RealmResource(realm))
        app.add_route(f"/.well-known/oauth-authorization-server{realm.path}", MetadataResource(realm))
    app.add_route("/registry.json", RegistryResource())
    for base, realm, name in (("", PRODUCTION, "production"), ("/staging", STAGING, "staging")):
        app.add_route(f"{base}{PREFIX}/info/v1/oauth/info/", InfoResource(realm, name))
        app.add_route(f"{base}{PREFIX}/info/v1/oauth/info", InfoResource(realm, name))
    app.add_route(f"{API}/api-docs", ApiDocsResource(document()))
    app.add_route(f"{API}/docs", ReferenceResource())
    for base, calls, is_public in ((API, CALLS, False), (f"{PREFIX}/tryout/funding/v3", SAMPLES, True)):
        app.add_route(f"{base}/calls", CallsResource(calls, is_public))
        app.add_route(f"{base}/calls/search", SearchResource(calls, is_public))
        app.add_route(f"{base}/calls/{{call_id}}", CallResource(calls, is_public))
        app.add_route(f"{base}/calls/{{call_id}}/documents", DocumentsResource(calls, is_public))
        app.add_route(f"{base}/funders", FundersResource(calls, is_public))
        app.add_route(f"{base}/statistics", StatisticsResource(calls, is_public))
    return app


if __name__ == "__main__":
    waitress.serve(create_app(), host="127.0.0.1", port=PORT, threads=6)
