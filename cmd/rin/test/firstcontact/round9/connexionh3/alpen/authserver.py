"""OAuth 2.0 authorization servers of the node: production and staging."""
import base64
import hmac
import time
import uuid
from urllib.parse import parse_qsl, unquote_plus

from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

import keys
from settings import (LIFETIME, NODE, ORIGIN, PRODUCTION_CLIENTS, PRODUCTION_ISSUER,
                      STAGING_CLIENTS, STAGING_ISSUER)

NO_STORE = {"Cache-Control": "no-store", "Pragma": "no-cache"}
MAX_FAILURES, WINDOW = 10, 60


class TokenError(Exception):
    def __init__(self, status, error, description, headers=None):
        self.status, self.error, self.description = status, error, description
        self.headers = headers or {}


def invalid_client(description="Client authentication failed"):
    return TokenError(401, "invalid_client", description,
                      {"WWW-Authenticate": 'Basic realm="token", charset="UTF-8"'})


def invalid_request(description):
    return TokenError(400, "invalid_request", description)


class AuthorizationServer:
    def __init__(self, issuer, clients, token_path, jwks_path):
        self.issuer, self.clients = issuer, clients
        self.token_path, self.jwks_path = token_path, jwks_path
        self.failures = {}
        self.issued = {}

    # The token endpoint

    async def token(self, request):
        try:
            body = await self.grant(request)
            return JSONResponse(body, headers=NO_STORE)
        except TokenError as e:
            return JSONResponse({"error": e.error, "error_description": e.description},
                                status_code=e.status, headers={**NO_STORE, **e.headers})

    async def grant(self, request):
        if {"client_id", "client_secret"} & set(request.query_params):
            raise invalid_request("Credentials do not belong in the URL")
        form = await self.form(request)
        client_id, client = self.authenticate(request, form)
        grant_type = form.get("grant_type")
        if grant_type is None:
            raise invalid_request("grant_type is missing")
        if grant_type != "client_credentials":
            raise TokenError(400, "unsupported_grant_type", "Only client_credentials is supported")
        scopes = client["scopes"]
        if "scope" in form:
            wanted = form["scope"].split(" ")
            if not all(scope in scopes for scope in wanted):
                raise TokenError(400, "invalid_scope", "The client may not have this scope")
            scopes = [scope for scope in scopes if scope in wanted]
        return self.issue(client_id, client, " ".join(scopes))

    async def form(self, request):
        media_type = request.headers.get("content-type", "").split(";")[0].strip().lower()
        if media_type != "application/x-www-form-urlencoded":
            raise invalid_request("The body has to be application/x-www-form-urlencoded")
        raw = await request.body()
        if len(raw) > 16384:
            raise invalid_request("The body is too long")
        try:
            pairs = parse_qsl(raw.decode("ascii"), keep_blank_values=True, errors="strict",
                              max_num_fields=50)
        except ValueError:
            raise invalid_request("The body is malformed")
        form = {}
        seen = set()
        for name, value in pairs:
            if name in seen:
                raise invalid_request("A parameter is repeated")
            seen.add(name)
            if value != "":
                form[name] = value
        return form

    def authenticate(self, request, form):
        headers = request.headers.getlist("authorization")
        if len(headers) > 1:
            raise invalid_request("More than one Authorization header")
        if headers:
            if "client_secret" in form:
                raise invalid_request("More than one way to authenticate")
            client_id, secret = self.basic(headers[0])
            if form.get("client_id", client_id) != client_id:
                raise invalid_request("client_id contradicts the Authorization header")
        else:
            client_id, secret = form.get("client_id"), form.get("client_secret")
            if client_id is None or secret is None:
                raise invalid_client("Client authentication is missing")
        now = time.monotonic()
        recent = [t for t in self.failures.get(client_id, []) if now - t < WINDOW]
        if len(recent) >= MAX_FAILURES:
            wait = int(WINDOW - (now - recent[0])) + 1
            raise TokenError(429, "invalid_client", "Too many failed attempts",
                             {"Retry-After": str(wait)})
        client = self.clients.get(client_id)
        expected = client["secret"] if client else "-"
        if not hmac.compare_digest(expected.encode(), secret.encode()) or client is None:
            if len(self.failures) > 10000:
                self.failures.clear()
            self.failures[client_id] = recent + [now]
            raise invalid_client()
        self.failures.pop(client_id, None)
        return client_id, client

    @staticmethod
    def basic(header):
        scheme, _, credentials = header.partition(" ")
        if scheme.lower() != "basic":
            raise invalid_client("This authentication scheme is not supported")
        try:
            text = base64.b64decode(credentials.strip(), validate=True).decode()
            client_id, secret = text.split(":", 1)
            return (unquote_plus(client_id, errors="strict"), unquote_plus(secret, errors="strict"))
        except ValueError:
            raise invalid_client()

    def issue(self, client_id, client, scope):
        now = int(time.time())
        reuse = NODE == "connexion-expires"
        if reuse and (client_id, scope) in self.issued:
            until, token = self.issued[client_id, scope]
            if now < until:
                return self.token_response(token, scope)
        audience = client["audience"]
        claims = {
            "iss": self.issuer, "sub": client["sub"], "client_id": client_id,
            "aud": [audience, f"{ORIGIN}/metrics"] if NODE == "connexion-rotate" else audience,
            "iat": now, "exp": now + LIFETIME, "jti": str(uuid.uuid4()), "scope": scope,
            "roles": client["roles"], "affiliation": client["affiliation"],
        }
        token = keys.sign(self.issuer, claims)
        if reuse:
            self.issued[client_id, scope] = (now + LIFETIME - 300, token)
        return self.token_response(token, scope)

    @staticmethod
    def token_response(token, scope):
        body = {"access_token": token, "token_type": "Bearer", "expires_in": LIFETIME,
                "scope": scope}
        if NODE == "connexion-rotate":
            body.update({"not-before-policy": 0, "token_type": "BEARER"})
        return body

    # Metadata and keys

    async def metadata(self, request):
        return JSONResponse({
            "issuer": self.issuer,
            "token_endpoint": ORIGIN + self.token_path,
            "jwks_uri": ORIGIN + self.jwks_path,
            "scopes_supported": ["funding:read", "info:read"],
            "response_types_supported": ["none"],
            "grant_types_supported": ["client_credentials"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
        })

    async def jwks(self, request):
        return JSONResponse(keys.jwks(self.issuer))

    def routes(self):
        issuer_path = self.issuer[len(ORIGIN):]
        return [
            Route(self.token_path, self.token, methods=["POST"]),
            Route(self.jwks_path, self.jwks, methods=["GET"]),
            Route("/.well-known/oauth-authorization-server" + issuer_path, self.metadata,
                  methods=["GET"]),
        ]


production = AuthorizationServer(
    PRODUCTION_ISSUER, PRODUCTION_CLIENTS, "/realms/alpen/protocol/openid-connect/token",
    "/realms/alpen/protocol/openid-connect/certs")
staging = AuthorizationServer(STAGING_ISSUER, STAGING_CLIENTS, "/staging/oauth/token",
                              "/staging/oauth/jwks")
