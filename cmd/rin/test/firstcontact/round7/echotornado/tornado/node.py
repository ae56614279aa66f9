"""A node of the research-information network: registry, authorization server, info endpoint
and funding API in one process. The environment variable NODE chooses a variant;
"tornado-base" is the plain node."""
import asyncio
import base64
import binascii
import hmac
import json
import os
import pathlib
import re
import secrets
import struct
import time
from urllib.parse import parse_qsl, quote, unquote_plus

import jwt
import tornado.web
from cryptography.hazmat.primitives import serialization

HERE = pathlib.Path(__file__).parent
VARIANT = os.environ.get("NODE", "tornado-base")
PORT = int(os.environ["PORT"])
ROOT = f"http://127.0.0.1:{PORT}"
AUDIENCES = {"funding": "urn:network:funding", "projects": "urn:network:projects"}
ROLE = "EXTERNAL_API_CLIENT"
LIFETIME = 600
ISSUER = {"production": ROOT + "/auth/realms/network", "staging": ROOT + "/staging/auth"}
TOKEN = {"production": "/auth/realms/network/protocol/openid-connect/token", "staging": "/staging/auth/oauth/token"}
INFO = {"production": "/research/info/v1/oauth/info/", "staging": "/staging/research/info/v1/oauth/info/"}
API = "/research/funding/v3"


def load(name):
    return json.loads((HERE / name).read_text(encoding="utf-8"))


CLIENTS = {c["id"]: c for c in load("clients.json").values()}
DATA = load("data-odd-ids.json" if VARIANT == "tornado-odd-ids" else "data.json")
CALLS = {c["id"]: c for c in DATA["calls"]}
ANNOTATIONS = {a["id"]: a for a in DATA["annotations"]}
KEYS = {name: serialization.load_pem_private_key(pem.encode(), None) for name, pem in load("keys.json").items()}

failures: dict[str, list[float]] = {}  # wrong secrets by client, for the lock
given: dict[str, dict] = {}  # tornado-same-token: the claims and token last given to a client
seen: dict[str, dict] = {}  # tornado-payload-cache: claims by environment and the signed part of the token
last_client = {}  # tornado-info-last-client


class Problem(Exception):
    def __init__(self, status, detail, challenge=None):
        super().__init__(detail)
        self.status, self.detail, self.challenge = status, detail, challenge


class OAuthError(Exception):
    def __init__(self, status, code, detail):
        super().__init__(detail)
        self.status, self.code, self.detail = status, code, detail


class Base(tornado.web.RequestHandler):
    allow = "GET, HEAD"

    def set_default_headers(self):
        self.set_header("Server", "node")
        self.set_header("Content-Type", "application/json")
        self.set_header("Cache-Control", "no-store")

    def compute_etag(self):
        return None

    def log_exception(self, *args):
        if not isinstance(args[1], (Problem, OAuthError)):
            super().log_exception(*args)

    def head(self, *args):
        return self.get(*args)

    def answer(self, value):
        self.finish(json.dumps(value, ensure_ascii=False, separators=(",", ":")))

    def write_error(self, status_code, exc_info=None, **kwargs):
        error = exc_info[1] if exc_info else None
        if isinstance(error, OAuthError):
            self.set_status(error.status)
            self.set_header("Pragma", "no-cache")
            if error.status == 401:
                challenge = 'Basic realm="network", charset="UTF-8"'
                if VARIANT == "tornado-token-challenge":
                    challenge = 'Bearer realm="network", error="invalid_client"'
                self.set_header("WWW-Authenticate", challenge)
            if error.status == 429:
                self.set_header("Retry-After", "60")
            self.finish(json.dumps({"error": error.code, "error_description": error.detail}))
            return
        detail = self._reason
        if isinstance(error, Problem):
            self.set_status(error.status)
            detail = error.detail
            if error.challenge:
                self.set_header("WWW-Authenticate", error.challenge)
        if self.get_status() == 405:
            self.set_header("Allow", self.allow)
        self.set_header("Content-Type", "application/problem+json")
        self.finish(json.dumps({"type": "about:blank", "title": self._reason, "status": self.get_status(), "detail": detail}))


class NotFound(Base):
    def prepare(self):
        raise Problem(404, "There is nothing at this path.")


class Registry(Base):
    def get(self):
        self.answer({"member": [{"id": "EXB", "oauth2": ROOT + TOKEN["production"], "info": ROOT + INFO["production"]}]})


class Document(Base):
    def get(self):
        name = {"tornado-odd-ids": "openapi-odd-ids.json", "tornado-short-pages": "openapi-short-pages.json"}.get(VARIANT, "openapi.json")
        self.finish((HERE / name).read_text(encoding="utf-8").replace("{root}", ROOT))


# ---- authorization server


class Metadata(Base):
    def initialize(self, environment):
        self.environment = environment

    def get(self):
        self.answer({
            "issuer": ISSUER[self.environment], "token_endpoint": ROOT + TOKEN[self.environment],
            "jwks_uri": ISSUER[self.environment] + "/certs", "response_types_supported": [],
            "grant_types_supported": ["client_credentials"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
        })


class Keys(Base):
    def initialize(self, environment):
        self.environment = environment

    def get(self):
        key = jwt.algorithms.RSAAlgorithm.to_jwk(KEYS[self.environment].public_key(), as_dict=True)
        key.pop("key_ops", None)
        self.answer({"keys": [{**key, "use": "sig", "alg": "RS256", "kid": self.environment}]})


def locked(client_id, failed=False):
    if len(failures) > 10000:
        failures.clear()
    recent = [t for t in failures.get(client_id, []) if time.time() - t < 60] + ([time.time()] if failed else [])
    failures[client_id] = recent
    return len(recent) >= 10


def credentials(request, form):
    client_id, secret = form.get("client_id", ""), form.get("client_secret", "")
    header = request.headers.get("Authorization")
    if header is None:
        return client_id, secret
    scheme, _, value = header.partition(" ")
    try:
        if scheme.lower() != "basic":
            raise ValueError
        user, colon, password = base64.b64decode(value.strip(), validate=True).decode().partition(":")
        if not colon:
            raise ValueError
    except (ValueError, binascii.Error):
        raise OAuthError(401, "invalid_client", "The Authorization header cannot be read.")
    user, password = unquote_plus(user), unquote_plus(password)
    if secret or client_id not in ("", user):
        raise OAuthError(400, "invalid_request", "Use one way of client authentication.")
    return user, password


def new_token(client, environment):
    now = int(time.time())
    known = given.get(client["id"])
    if VARIANT == "tornado-same-token" and known and known["exp"] - now > 60:
        return known["token"], known["exp"] - now
    claims = {
        "iss": ISSUER[environment], "sub": client["serviceAccountUserId"], "aud": AUDIENCES[client["audience"]],
        "client_id": client["id"], "iat": now, "exp": now + LIFETIME, "jti": secrets.token_urlsafe(16), "roles": client["roles"],
    }
    token = jwt.encode(claims, KEYS[environment], algorithm="RS256", headers={"typ": "at+jwt", "kid": environment})
    given[client["id"]] = {"exp": claims["exp"], "token": token}
    return token, LIFETIME


class Token(Base):
    allow = "POST"

    def initialize(self, environment):
        self.environment = environment

    def head(self):
        raise tornado.web.HTTPError(405)

    def post(self):
        if self.request.query:
            raise OAuthError(400, "invalid_request", "Parameters belong into the body.")
        media_type = self.request.headers.get("Content-Type", "").split(";")[0].strip().lower()
        if media_type != "application/x-www-form-urlencoded":
            raise OAuthError(400, "invalid_request", "The body must be application/x-www-form-urlencoded.")
        try:
            pairs = parse_qsl(self.request.body.decode(), keep_blank_values=True, errors="strict")
        except ValueError:
            raise OAuthError(400, "invalid_request", "The body cannot be read.")
        form = dict(pairs)
        if len(form) != len(pairs):
            raise OAuthError(400, "invalid_request", "A parameter is repeated.")
        if not form.get("grant_type"):
            raise OAuthError(400, "invalid_request", "grant_type is missing.")
        client_id, secret = credentials(self.request, form)
        if not client_id or not secret:
            raise OAuthError(401, "invalid_client", "Client authentication is missing.")
        if locked(client_id):
            raise OAuthError(429, "temporarily_unavailable", "Too many wrong secrets; try again later.")
        client = CLIENTS.get(client_id)
        expected = client["secret"] if client else "-"
        if not hmac.compare_digest(expected.encode(), secret.encode()) or client is None or client["environment"] != self.environment:
            locked(client_id, failed=True)
            raise OAuthError(401, "invalid_client", "The credentials are wrong.")
        failures.pop(client_id, None)
        if form["grant_type"] != "client_credentials":
            raise OAuthError(400, "unsupported_grant_type", "Only client_credentials is offered.")
        if form.get("scope"):
            raise OAuthError(400, "invalid_scope", "This server has no scopes.")
        token, left = new_token(client, self.environment)
        last_client[self.environment] = client
        self.set_header("Pragma", "no-cache")
        self.answer({"access_token": token, "token_type": "Bearer", "expires_in": left})


# ---- checks of the resource server

CHALLENGE = 'Bearer realm="network"'


def verify(token, environment):
    """The claims of a good token of one environment."""
    signed = environment + " " + token.rpartition(".")[0]
    if VARIANT == "tornado-payload-cache" and signed in seen and seen[signed]["exp"] > time.time():
        return seen[signed]
    header = jwt.get_unverified_header(token)
    if header.get("typ", "").lower() not in ("at+jwt", "application/at+jwt"):
        raise jwt.InvalidTokenError("typ")
    claims = jwt.decode(token, KEYS[environment].public_key(), algorithms=["RS256"], audience=AUDIENCES["funding"],
                        issuer=ISSUER[environment], options={"require": ["exp", "iat", "iss", "aud", "sub", "client_id", "jti"]})
    if VARIANT == "tornado-payload-cache":
        seen[signed] = claims
    return claims


class Guarded(Base):
    """An endpoint that needs a token: of one environment, and with the role unless it says otherwise."""
    environments = ("production",)
    role = ROLE

    def prepare(self):
        if self.request.method not in ("GET", "HEAD"):
            return  # answered with 405
        values = self.request.headers.get_list("Authorization")
        if not values or (len(values) == 1 and not re.match(r"bearer( |$)", values[0], re.I)):
            raise Problem(401, "An access token is needed.", CHALLENGE)
        if len(values) > 1 or "access_token" in self.request.query_arguments:
            raise Problem(400, "Send one access token, in one way.", CHALLENGE + ', error="invalid_request"')
        match = re.fullmatch(r"bearer +([A-Za-z0-9._~+/-]+=*)", values[0], re.I)
        claims = None
        for environment in self.environments if match else ():
            try:
                claims = verify(match[1], environment)
                break
            except (jwt.InvalidTokenError, ValueError, AttributeError):
                continue
        if claims is None or claims["client_id"] not in CLIENTS:
            raise Problem(401, "The access token is not good for this node.", CHALLENGE + ', error="invalid_token"')
        self.client = CLIENTS[claims["client_id"]]
        if self.role and self.role not in claims["roles"]:
            raise Problem(403, f"The client lacks the role {self.role}.", CHALLENGE + ', error="insufficient_scope"')


class Info(Guarded):
    role = None

    def initialize(self, environment):
        self.environments = (environment,)

    def get(self):
        client = self.client
        if VARIANT == "tornado-info-last-client":
            client = last_client.get(self.environments[0], client)
        self.answer({**{k: client[k] for k in ("serviceAccountUserId", "affiliationId", "roles")},
                     "clientId": client["id"], "environment": self.environments[0]})


# ---- funding API


class Api(Guarded):
    def parameters(self, **checks):
        """The given query parameters of an operation. Each check is a regular expression."""
        out = {}
        for name, check in checks.items():
            values = self.request.query_arguments.get(name)
            if values is None:
                continue
            try:
                value = values[0].decode()
            except UnicodeDecodeError:
                value = None
            if len(values) > 1 or value is None or not re.fullmatch(check, value, re.S):
                raise Problem(400, f"The parameter {name} is not valid.")
            out[name] = value
        return out


def encode_cursor(call_id):
    return base64.urlsafe_b64encode(call_id.encode()).decode().rstrip("=")


def decode_cursor(cursor):
    try:
        call_id = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
    except (ValueError, binascii.Error):
        call_id = None
    if call_id not in CALLS or encode_cursor(call_id) != cursor:
        raise Problem(400, "The parameter cursor is not valid.")
    return call_id


class Calls(Api):
    def get(self):
        p = self.parameters(limit="[1-9]|1[0-9]|20", cursor="[A-Za-z0-9_-]+", topic=".+", funderId=".+")
        limit = int(p.get("limit", 10))
        after = decode_cursor(p["cursor"]) if "cursor" in p else ""

        def wanted(call):
            return (("topic" not in p or p["topic"] in call["topics"])
                    and ("funderId" not in p or p["funderId"] == call["funder"]["id"]))

        rest = [c for c in DATA["calls"] if c["id"] > after]
        if VARIANT == "tornado-short-pages":
            # The filter comes after the limit, as in key-value stores: pages may be short or empty.
            page, more = rest[:limit], len(rest) > limit
            items, last = [c for c in page if wanted(c)], page[-1]["id"] if page else None
        else:
            rest = [c for c in rest if wanted(c)]
            items, more = rest[:limit], len(rest) > limit
            last = items[-1]["id"] if items else None
        out = {"items": items}
        if more:
            safe = "&" if VARIANT == "tornado-next-unescaped" else ""
            query = {**p, "limit": str(limit), "cursor": encode_cursor(last)}
            out["next"] = f"{ROOT}{API}/calls?" + "&".join(f"{k}={quote(v, safe=safe)}" for k, v in query.items())
        self.answer(out)


class Call(Api):
    def get(self, call_id):
        call = CALLS.get(call_id)
        if call is None:
            raise Problem(404, "There is no such call.")
        if VARIANT == "tornado-amount-single":
            # A column of type REAL: single precision holds about seven digits.
            amount = struct.unpack("f", struct.pack("f", float(call["budget"]["amount"])))[0]
            call = {**call, "budget": {**call["budget"], "amount": f"{amount:.2f}"}}
        self.answer(call)


class Annotations(Api):
    def get(self):
        p = self.parameters(callId=".+")
        own = [a for a in DATA["annotations"] if a["affiliationId"] == self.client["affiliationId"]]
        if "callId" in p:
            source = DATA["annotations"] if VARIANT == "tornado-annotations-filter" else own
            own = [a for a in source if a["callId"] == p["callId"]]
        self.answer({"items": own})


class Annotation(Api):
    def get(self, annotation_id):
        annotation = ANNOTATIONS.get(annotation_id)
        if annotation is None or annotation["affiliationId"] != self.client["affiliationId"]:
            raise Problem(404, "There is no such annotation of your affiliation.")
        self.answer(annotation)


class Subjects(Api):
    if VARIANT == "tornado-staging-subjects":
        environments = ("production", "staging")

    def get(self):
        self.answer({"items": DATA["subjects"]})


def application():
    routes = [(r"/registry\.json", Registry), (API + "/api-docs", Document)]
    for environment in ("production", "staging"):
        path = ISSUER[environment].removeprefix(ROOT)
        settings = {"environment": environment}
        routes += [
            (r"/\.well-known/oauth-authorization-server" + path, Metadata, settings), (path + "/certs", Keys, settings),
            (TOKEN[environment], Token, settings), (INFO[environment], Info, settings),
        ]
    routes += [
        (API + "/calls", Calls), (API + "/calls/([^/]+)", Call), (API + "/annotations", Annotations),
        (API + "/annotations/([^/]+)", Annotation), (API + "/subjects", Subjects),
    ]
    return tornado.web.Application(routes, default_handler_class=NotFound, log_function=lambda handler: None)


async def main():
    application().listen(PORT, "127.0.0.1", max_body_size=2_000_000)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
