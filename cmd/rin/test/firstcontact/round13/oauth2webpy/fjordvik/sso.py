"""The authorization servers of Fjordvik (production and staging): client credentials, JWT access tokens (RFC 9068)."""
import base64
import binascii
import hashlib
import hmac
import json
import os
import re
import threading
import time
import uuid
from urllib.parse import unquote_to_bytes

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

NODE = os.environ.get("NODE", "base")
AUDIENCE = "https://api.fjordvik.invalid/funding"
LIFETIME = 65
MAX_FAILURES = 20
LOCK_SECONDS = 30


class Client:
    def __init__(self, client_id, secret, account, affiliation, roles, audience=AUDIENCE, scope="calls:read"):
        self.client_id = client_id
        self.digest = hashlib.sha256(secret.encode()).digest()
        self.account = account
        self.affiliation = affiliation
        self.roles = roles
        self.audience = audience
        self.scope = scope


PRODUCTION = [
    Client("uif:innsyn", "kL=9%/q+T&3~:w!Zr%25", "svc-1001", "NO-UIF", ["EXTERNAL_API_CLIENT"]),
    Client("nabo", "B!8:m~%/=+&c2Xy", "svc-1002", "NO-UIF", ["READER_INTERNAL"]),
    Client("prosjektbank", "7&=~J/+%p:R!u5", "svc-1003", "NO-UIF", ["EXTERNAL_API_CLIENT"], "https://api.fjordvik.invalid/projects", "projects:read"),
    Client("havbukt+reserve", "w/%D=!4~:&+nE6s", "svc-1004", "NO-HVB", ["EXTERNAL_API_CLIENT"]),
]
STAGING = [Client("uif:innsyn-test", "S%t=/~a+:!g&08", "svc-t001", "NO-UIF", ["EXTERNAL_API_CLIENT"])]


class TokenError(Exception):
    def __init__(self, status, error, description, headers=None):
        super().__init__(description)
        self.status, self.error, self.description, self.headers = status, error, description, headers or {}


class InvalidToken(Exception):
    pass


def b64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode_component(text):
    """One percent-encoded UTF-8 component of a form or query; ValueError if it is not well encoded."""
    if re.search(r"%(?![0-9A-Fa-f]{2})", text):
        raise ValueError("percent-encoding")
    return unquote_to_bytes(text.replace("+", " ")).decode("utf-8")


def parse_form(body):
    """Nothing may be repeated; a parameter without a value counts as absent (RFC 6749, 3.2)."""
    form, seen = {}, set()
    try:
        pairs = [part.partition("=") for part in body.decode("ascii").split("&") if part]
        pairs = [(decode_component(name), decode_component(value)) for name, _, value in pairs]
    except ValueError:
        raise TokenError(400, "invalid_request", "The form is not well encoded") from None
    for name, value in pairs:
        if name in seen:
            raise TokenError(400, "invalid_request", "A parameter is repeated")
        seen.add(name)
        if value:
            form[name] = value
    return form


class AuthorizationServer:
    def __init__(self, name, issuer, clients):
        self.name = name
        self.issuer = issuer
        self.clients = {c.client_id: c for c in clients}
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.public_key = self.key.public_key()
        numbers = self.public_key.public_numbers()
        n = b64url(numbers.n.to_bytes(256, "big"))
        e = b64url(numbers.e.to_bytes(3, "big"))
        thumbprint = json.dumps({"e": e, "kty": "RSA", "n": n}, separators=(",", ":"), sort_keys=True)
        self.kid = b64url(hashlib.sha256(thumbprint.encode()).digest())
        self.jwks = {"keys": [{"kty": "RSA", "use": "sig", "alg": "RS256", "kid": self.kid, "n": n, "e": e}]}
        self.issued = 0
        if NODE == "eik":
            private = rsa.generate_private_key(public_exponent=65537, key_size=3072)
            numbers = private.public_key().public_numbers()
            self.second = (private, f"{name}-2026-11-b")
            self.jwks["keys"].insert(0, {"kty": "RSA", "use": "sig", "alg": "RS256", "kid": self.second[1], "n": b64url(numbers.n.to_bytes(384, "big")), "e": e})
        self.failures = {}
        self.lock = threading.Lock()

    # ------------------------------------------------------------ token endpoint

    @staticmethod
    def _basic(header):
        failed = TokenError(401, "invalid_client", "Client authentication failed")
        match = re.fullmatch(r"(?i:basic) +([A-Za-z0-9+/]+={0,2})", header.strip())
        if not match:
            raise failed
        try:
            pair = base64.b64decode(match[1], validate=True).decode("utf-8")
            client_id, colon, secret = pair.partition(":")
            if not colon or not client_id:
                raise failed
            return decode_component(client_id), decode_component(secret)  # form-encoded inside (RFC 6749, 2.3.1)
        except (ValueError, binascii.Error):
            raise failed from None

    def _authenticate(self, client_id, secret):
        with self.lock:
            return self._check(client_id, secret, time.time())

    def _check(self, client_id, secret, now):
        count, until = self.failures.get(client_id, (0, 0))
        if until > now:
            raise TokenError(429, "invalid_client", "Too many failed attempts", {"Retry-After": str(int(until - now) + 1)})
        client = self.clients.get(client_id)
        given = hashlib.sha256(secret.encode()).digest()
        if not hmac.compare_digest(given, client.digest if client else bytes(32)) or client is None:
            count += 1
            if len(self.failures) > 5000:
                self.failures.clear()
            self.failures[client_id] = (0, now + LOCK_SECONDS) if count >= MAX_FAILURES else (count, 0)
            raise TokenError(401, "invalid_client", "Client authentication failed")
        self.failures.pop(client_id, None)
        return client

    def token(self, content_type, authorization, body):
        """The answer to a token request: a dict, or TokenError."""
        if content_type.partition(";")[0].strip().lower() != "application/x-www-form-urlencoded":
            raise TokenError(400, "invalid_request", "The body must be application/x-www-form-urlencoded")
        form = parse_form(body)
        if authorization is not None:
            client_id, secret = self._basic(authorization)
            if "client_secret" in form:
                raise TokenError(400, "invalid_request", "More than one method of client authentication")
            if NODE != "furu" and form.get("client_id", client_id) != client_id:
                raise TokenError(400, "invalid_request", "client_id differs from the authenticated client")
        else:
            client_id, secret = form.get("client_id"), form.get("client_secret")
            if client_id is None or secret is None:
                raise TokenError(401, "invalid_client", "Client authentication is needed")
        client = self._authenticate(client_id, secret)
        if NODE == "furu":  # the token is for the client_id of the form, whoever has authenticated
            client = self.clients.get(form.get("client_id"), client)
        grant_type = form.get("grant_type")
        if grant_type is None:
            raise TokenError(400, "invalid_request", "grant_type is missing")
        if grant_type != "client_credentials":
            raise TokenError(400, "unsupported_grant_type", "Only client_credentials is supported")
        if "scope" in form and form["scope"].split(" ") != [client.scope]:
            raise TokenError(400, "invalid_scope", "The scope is unknown or not granted to this client")
        return {
            "access_token": self.issue(client, form.get("resource")),
            "token_type": "Bearer",
            "expires_in": LIFETIME,
            "scope": client.scope,
        }

    def issue(self, client, resource=None):
        now = int(time.time())
        key, kid, typ = self.key, self.kid, "at+jwt"
        audience, scope = client.audience, client.scope
        if NODE == "osp" and resource is not None:  # RFC 8707, but any client gets any audience
            audience, scope = resource, "calls:read"
        claims = {
            "iss": self.issuer,
            "sub": client.account,
            "aud": audience,
            "client_id": client.client_id,
            "iat": now,
            "nbf": now,
            "exp": now + LIFETIME,
            "jti": str(uuid.uuid4()),
            "scope": scope,
            "roles": client.roles,
            "affiliation": client.affiliation,
        }
        if NODE == "eik":  # two keys in turn, a list of audiences, the long form of typ
            self.issued += 1
            key, kid = ((self.key, self.kid), self.second)[self.issued % 2]
            typ, claims["aud"] = "application/at+jwt", [audience, f"{self.issuer}/info"]
        return jwt.encode(claims, key, algorithm="RS256", headers={"typ": typ, "kid": kid})

    # ------------------------------------------------------------ resource server

    def verify(self, token):
        """The claims of a valid access token for the funding API, or InvalidToken."""
        parts = token.split(".")
        try:
            if len(parts) != 3 or any(b64url(base64.b64decode(p + "=" * (-len(p) % 4), altchars=b"-_", validate=True)) != p for p in parts):
                raise InvalidToken("The token is malformed")
            header = jwt.get_unverified_header(token)
            if header.get("typ", "").lower() not in ("at+jwt", "application/at+jwt") or "crit" in header:
                raise InvalidToken("The token is not an access token")
            public_key = self.public_key
            if NODE == "eik" and header.get("kid") == self.second[1]:
                public_key = self.second[0].public_key()
            elif header.get("kid") != self.kid:
                raise InvalidToken("The key of the token is unknown")
            claims = jwt.decode(
                token, public_key, algorithms=["RS256"], audience=AUDIENCE, issuer=self.issuer, leeway=20 if NODE == "lonn" else 0,
                options={"require": ["iss", "sub", "aud", "exp", "iat", "jti", "client_id"]},
            )
        except (jwt.PyJWTError, ValueError, AttributeError, TypeError):
            raise InvalidToken("The token is invalid or has expired") from None
        return claims
