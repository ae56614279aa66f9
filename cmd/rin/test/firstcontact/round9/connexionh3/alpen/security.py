"""Checks of access tokens for Connexion (x-tokenInfoFunc, x-scopeValidateFunc)."""
import re
from urllib.parse import parse_qs

import jwt
from connexion.exceptions import ProblemException

import keys
from settings import AUDIENCE, NODE, PRODUCTION_ISSUER, STAGING_ISSUER

B64TOKEN = re.compile(r"[A-Za-z0-9\-._~+/]+=*\Z")


def challenge(error=None, description=None, scope=None):
    parts = ['Bearer realm="ris-synergy"']
    if error:
        parts.append(f'error="{error}"')
    if description:
        parts.append(f'error_description="{description}"')
    if scope:
        parts.append(f'scope="{scope}"')
    return ", ".join(parts)


class BearerProblem(ProblemException):
    """A problem with a challenge."""

    def __init__(self, status, error, detail, scope=None):
        super().__init__(status=status, title={400: "Bad Request", 401: "Unauthorized",
                                               403: "Forbidden"}[status], detail=detail,
                         headers={"WWW-Authenticate": challenge(error, detail, scope),
                                  "Cache-Control": "no-store"})


def invalid(detail="The access token is invalid or has expired"):
    return BearerProblem(401, "invalid_token", detail)


def production_token(token, request):
    return verify(token, request, PRODUCTION_ISSUER)


def staging_token(token, request):
    return verify(token, request, STAGING_ISSUER)


def verify(token, request, issuer):
    query = parse_qs(request.scope["query_string"].decode("latin-1"), keep_blank_values=True)
    if len(request.headers.getlist("authorization")) > 1 or "access_token" in query:
        raise BearerProblem(400, "invalid_request", "More than one way to send the access token")
    if not B64TOKEN.match(token):
        raise invalid()
    try:
        header = jwt.get_unverified_header(token)
    except jwt.PyJWTError:
        raise invalid()
    typ = header.get("typ")
    if not isinstance(typ, str) or typ.lower() not in ("at+jwt", "application/at+jwt"):
        raise invalid()
    kid = header.get("kid")
    if NODE == "connexion-kid":
        key = {k.kid: k for k in keys.KEYS[issuer]}[kid]
    else:
        known = keys.BY_KID.values() if NODE == "connexion-issuer" else keys.KEYS[issuer]
        key = next((k for k in known if k.kid == kid), None)
        if key is None:
            raise invalid()
    try:
        claims = jwt.decode(
            token, key.public, algorithms=["RS256"], audience=AUDIENCE,
            issuer=None if NODE == "connexion-issuer" else issuer,
            options={"require": ["exp", "iat", "iss", "aud", "sub", "client_id", "jti"]})
    except (jwt.PyJWTError, ValueError, TypeError):
        raise invalid()
    return {"sub": claims["sub"], "client_id": claims["client_id"],
            "scope": str(claims.get("scope", "")).split()}


def has_scopes(required_scopes, token_scopes):
    missing = set(required_scopes) - set(token_scopes)
    if missing:
        raise BearerProblem(403, "insufficient_scope", "The client lacks a scope for this API",
                            " ".join(sorted(required_scopes)))
    return True
