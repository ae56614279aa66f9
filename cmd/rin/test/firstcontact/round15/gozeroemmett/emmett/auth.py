"""Client credentials (RFC 6749) and bearer tokens (RFC 6750)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import math
import os
import re
import secrets
import threading
import time
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote_plus

NODE = os.environ.get("NODE", "")
ROLE = "EXTERNAL_API_CLIENT"
LIFETIME = 72
_BAD_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")


@dataclass(frozen=True)
class Client:
    id: str
    secret: str
    account: str
    affiliation: str
    audience: str
    roles: tuple[str, ...]

    @property
    def scope(self) -> str:
        return f"{self.audience}:read"


class OAuthError(Exception):
    def __init__(self, status: int, code: str, description: str, retry_after: int | None = None):
        super().__init__(description)
        self.status, self.code, self.description, self.retry_after = status, code, description, retry_after


@dataclass(frozen=True)
class Grant:
    client: Client
    expires: float


class Realm:
    """An authorization server: its clients, and the tokens that it gave out."""

    max_failures = 10
    window = 60.0

    def __init__(self, name: str, clients: list[Client]):
        self.name = name
        self.clients = {c.id: c for c in clients}
        self.tokens: dict[bytes, Grant] = {}
        self.failures: dict[str, list[float]] = {}
        self.lock = threading.Lock()
        self.ready: dict[str, tuple[str, Grant]] = {}

    @staticmethod
    def digest(token: str) -> bytes:
        return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()

    def issue(self, client: Client) -> tuple[str, Grant]:
        now = time.time()
        if NODE == "emmett-linde":
            kept = self.ready.get(client.id)
            if kept and kept[1].expires - now > 20:
                return kept
        token = secrets.token_urlsafe(32)
        grant = Grant(client, now + LIFETIME)
        with self.lock:
            for key in [k for k, g in self.tokens.items() if g.expires < now - 600]:
                del self.tokens[key]
            self.tokens[self.digest(token)] = grant
            self.ready[client.id] = token, grant
        return token, grant

    def introspect(self, token: str) -> Grant | None:
        grant = self.tokens.get(self.digest(token))
        if grant is None or time.time() >= grant.expires:
            return None
        return grant

    def check_secret(self, client_id: str, secret: str) -> Client:
        now = time.monotonic()
        client = self.clients.get(client_id)
        if client is None:
            raise OAuthError(401, "invalid_client", "Unknown client or wrong secret.")
        with self.lock:
            recent = [t for t in self.failures.get(client_id, []) if now - t < self.window]
            self.failures[client_id] = recent
            if len(recent) >= self.max_failures:
                wait = math.ceil(self.window - (now - recent[0]))
                raise OAuthError(429, "invalid_client", "Too many wrong secrets for this client.", max(1, wait))
            if not hmac.compare_digest(client.secret.encode(), secret.encode("utf-8", "surrogateescape")):
                recent.append(now)
                raise OAuthError(401, "invalid_client", "Unknown client or wrong secret.")
            del self.failures[client_id]
        return client


def _form_decode(text: str) -> str:
    if _BAD_PERCENT.search(text):
        raise OAuthError(401, "invalid_client", "The Basic credentials are malformed.")
    try:
        return unquote_plus(text, errors="strict")
    except UnicodeDecodeError:
        raise OAuthError(401, "invalid_client", "The Basic credentials are malformed.") from None


def _credentials(headers: list[str], form: dict[str, str]) -> tuple[str, str]:
    if not headers:
        if not form.get("client_id") or not form.get("client_secret"):
            raise OAuthError(401, "invalid_client", "Client authentication is missing.")
        return form["client_id"], form["client_secret"]
    if len(headers) > 1:
        raise OAuthError(400, "invalid_request", "More than one Authorization header.")
    scheme, _, value = headers[0].partition(" ")
    if scheme.lower() != "basic":
        raise OAuthError(401, "invalid_client", "The authentication scheme is not supported.")
    if form.get("client_secret"):
        raise OAuthError(400, "invalid_request", "The client uses more than one method of authentication.")
    try:
        pair = base64.b64decode(value.strip(" "), validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        raise OAuthError(401, "invalid_client", "The Basic credentials are malformed.") from None
    user, colon, password = pair.partition(":")
    if not colon:
        raise OAuthError(401, "invalid_client", "The Basic credentials are malformed.")
    user, password = _form_decode(user), _form_decode(password)
    if form.get("client_id") and form["client_id"] != user:
        raise OAuthError(400, "invalid_request", "client_id differs from the Basic credentials.")
    return user, password


def token_request(realm: Realm, content_type: str, authorization: list[str], body: bytes) -> dict:
    media, *params = [p.strip().lower() for p in content_type.split(";")]
    if media != "application/x-www-form-urlencoded":
        raise OAuthError(400, "invalid_request", "The Content-Type must be application/x-www-form-urlencoded.")
    if any(p.startswith("charset=") and p[8:].strip('"') != "utf-8" for p in params):
        raise OAuthError(400, "invalid_request", "The charset must be UTF-8.")
    form: dict[str, str] = {}
    try:
        text = body.decode("utf-8")
        if _BAD_PERCENT.search(text):
            raise ValueError(text)
        pairs = parse_qsl(text, keep_blank_values=True, errors="strict")
    except ValueError:
        raise OAuthError(400, "invalid_request", "The body is malformed.") from None
    for name, value in pairs:
        if name in form:
            raise OAuthError(400, "invalid_request", "A parameter is included more than once.")
        form[name] = value
    client = realm.check_secret(*_credentials(authorization, form))
    grant_type = form.get("grant_type")
    if not grant_type:
        raise OAuthError(400, "invalid_request", "grant_type is missing.")
    if grant_type != "client_credentials":
        raise OAuthError(400, "unsupported_grant_type", "Only client_credentials is supported.")
    if any(s and s != client.scope for s in form.get("scope", "").split(" ")):
        raise OAuthError(400, "invalid_scope", f"The scope of this client is {client.scope}.")
    token, _ = realm.issue(client)
    return {"access_token": token, "token_type": "Bearer", "expires_in": LIFETIME, "scope": client.scope}
