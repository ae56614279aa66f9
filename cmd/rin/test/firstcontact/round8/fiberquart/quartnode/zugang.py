"""Authorization server (RFC 6749, RFC 9068, RFC 8414) and the guard of the API (RFC 6750)."""
from __future__ import annotations

import base64
import binascii
import functools
import hashlib
import hmac
import json
import time
import uuid
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import parse_qsl, unquote_plus

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from quart import Blueprint, Response, g, jsonify, request

ROLLE = "EXTERNAL_API_CLIENT"
LAUFZEIT = 840
MAX_FEHLER, SPERRE = 10, 60


@dataclass
class Konto:
    id: str
    geheimnis: bytes
    benutzer: str
    zugehoerigkeit: str
    audience: str
    rollen: list[str]
    scopes: list[str]
    fehler: int = 0
    gesperrt_bis: float = 0.0


def konto(id: str, geheimnis: str, benutzer: str, zug: str, aud: str, rollen: list[str], scopes: list[str]) -> Konto:
    return Konto(id, hashlib.sha256(geheimnis.encode()).digest(), benutzer, zug, aud, rollen, scopes)


@dataclass
class Schluessel:
    kid: str
    alg: str
    privat: object
    oeffentlich: dict = field(default_factory=dict)

    @classmethod
    def neu(cls, alg: str = "RS256") -> "Schluessel":
        if alg == "RS256":
            p = rsa.generate_private_key(public_exponent=65537, key_size=2048)
            jwk = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(p.public_key()))
        else:
            p = ec.generate_private_key(ec.SECP256R1())
            jwk = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(p.public_key()))
        jwk.pop("key_ops", None)
        kid = hashlib.sha256(json.dumps(jwk, sort_keys=True).encode()).hexdigest()[:20]
        return cls(kid, alg, p, jwk | {"kid": kid, "use": "sig", "alg": alg})


class Aussteller:
    """One authorization server."""

    def __init__(self, name: str, root: str, pfad: str, token_pfad: str, api_audience: str, konten: list[Konto], schalter):
        self.name, self.issuer, self.token_url = name, root + pfad, root + token_pfad
        self.pfad, self.token_pfad, self.audience, self.schalter = pfad, token_pfad, api_audience, schalter
        self.konten = {k.id: k for k in konten}
        self.schluessel = [Schluessel.neu()]
        if schalter.wechselnde_schluessel:
            self.schluessel += [Schluessel.neu("ES256"), Schluessel.neu("RS256")]
        self.verborgen = [Schluessel.neu()] if schalter.zweiter_knoten else []
        self.ausgestellt = 0
        self.geprueft: dict[str, float] = {}
        self.bp = Blueprint("as_" + name.replace("-", "_"), __name__)
        self.bp.add_url_rule(token_pfad, "token", self.token, methods=["POST"])
        self.bp.add_url_rule(pfad + "/jwks", "jwks", self.jwks)
        self.bp.add_url_rule("/.well-known/oauth-authorization-server" + pfad, "metadata", self.metadata)

    # -- token endpoint

    def fehler(self, status: int, code: str, text: str, **kopf: str) -> Response:
        r = jsonify(error=code, error_description=text)
        r.status_code = status
        r.headers["Cache-Control"], r.headers["Pragma"] = "no-store", "no-cache"
        if status == 401:
            r.headers["WWW-Authenticate"] = f'Basic realm="{self.name}"'
        for k, v in kopf.items():
            r.headers[k.replace("_", "-")] = v
        return r

    def basic(self, wert: str) -> tuple[str, str] | None:
        art, _, rest = wert.partition(" ")
        if art.lower() != "basic":
            return None
        try:
            text = base64.b64decode(rest.strip(), validate=True).decode("utf-8")
        except (binascii.Error, UnicodeDecodeError):
            return None
        id, trenner, geheimnis = text.partition(":")
        if not trenner:
            return None
        if self.schalter.basic_roh:
            return id, geheimnis
        return unquote_plus(id), unquote_plus(geheimnis)

    async def token(self) -> Response:
        if request.mimetype != "application/x-www-form-urlencoded":
            return self.fehler(400, "invalid_request", "application/x-www-form-urlencoded expected")
        try:
            paare = parse_qsl((await request.get_data()).decode("utf-8"), keep_blank_values=True, errors="strict", max_num_fields=50)
        except ValueError:
            return self.fehler(400, "invalid_request", "the body cannot be read")
        form = dict(paare)
        if len(form) != len(paare):
            return self.fehler(400, "invalid_request", "a parameter is repeated")
        id, geheimnis = form.get("client_id", ""), form.get("client_secret", "")
        koepfe = request.headers.getlist("Authorization")
        if len(koepfe) > 1 or (koepfe and geheimnis):
            return self.fehler(400, "invalid_request", "more than one client authentication")
        if koepfe:
            paar = self.basic(koepfe[0])
            if paar is None:
                return self.fehler(401, "invalid_client", "client authentication failed")
            if id and id != paar[0]:
                return self.fehler(400, "invalid_request", "client_id does not fit the client authentication")
            id, geheimnis = paar
        k = self.konten.get(id)
        if k is None:
            return self.fehler(401, "invalid_client", "client authentication failed")
        jetzt = time.monotonic()
        if k.gesperrt_bis > jetzt:
            return self.fehler(429, "invalid_client", "too many failed attempts", Retry_After=str(int(k.gesperrt_bis - jetzt) + 1))
        if not hmac.compare_digest(hashlib.sha256(geheimnis.encode()).digest(), k.geheimnis):
            k.fehler += 1
            if k.fehler >= MAX_FEHLER:
                k.fehler, k.gesperrt_bis = 0, jetzt + SPERRE
            return self.fehler(401, "invalid_client", "client authentication failed")
        k.fehler = 0
        grant = form.get("grant_type", "")
        if not grant:
            return self.fehler(400, "invalid_request", "grant_type is missing")
        if grant != "client_credentials":
            return self.fehler(400, "unsupported_grant_type", "only client_credentials is supported")
        scopes = k.scopes
        if form.get("scope"):
            scopes = form["scope"].split(" ")
            if any(s not in k.scopes for s in scopes):
                return self.fehler(400, "invalid_scope", "a scope is unknown or not allowed for this client")
        antwort = {"access_token": self.ausstellen(k, scopes), "token_type": "Bearer", "expires_in": LAUFZEIT, "scope": " ".join(scopes)}
        if self.schalter.gemach:
            antwort |= {"token_type": "BEARER", "session_state": str(uuid.uuid4()), "refresh_expires_in": 0}
        r = jsonify(antwort)
        r.headers["Cache-Control"], r.headers["Pragma"] = "no-store", "no-cache"
        return r

    def ausstellen(self, k: Konto, scopes: list[str]) -> str:
        self.ausgestellt += 1
        s = self.schluessel[self.ausgestellt // 3 % len(self.schluessel)]
        if self.verborgen and self.ausgestellt % 5 == 0:
            s = self.verborgen[0]
        jetzt = int(time.time())
        claims = {
            "iss": self.issuer, "sub": k.benutzer, "aud": k.audience, "client_id": k.id, "iat": jetzt, "exp": jetzt + LAUFZEIT,
            "jti": str(uuid.uuid4()), "scope": " ".join(scopes), "roles": k.rollen, "affiliation_id": k.zugehoerigkeit,
        }
        typ = "at+jwt"
        if self.schalter.wechselnde_schluessel:
            typ = "application/at+jwt"
            claims |= {"aud": ["urn:ris:archiv", k.audience], "nbf": jetzt, "auth_time": jetzt, "groups": []}
        return jwt.encode(claims, s.privat, algorithm=s.alg, headers={"kid": s.kid, "typ": typ})

    async def jwks(self) -> Response:
        r = jsonify(keys=[s.oeffentlich for s in self.schluessel])
        r.headers["Cache-Control"] = "public, max-age=60"
        return r

    async def metadata(self) -> Response:
        return jsonify(
            issuer=self.issuer, token_endpoint=self.token_url, jwks_uri=self.issuer + "/jwks", response_types_supported=[],
            grant_types_supported=["client_credentials"], scopes_supported=["info", "foerderung"],
            token_endpoint_auth_methods_supported=["client_secret_post", "client_secret_basic"],
        )

    # -- the guard

    def pruefen(self, token: str) -> dict | None:
        try:
            kopf = jwt.get_unverified_header(token)
            roh = token.rsplit(".", 1)[1]
            if base64.urlsafe_b64encode(base64.urlsafe_b64decode(roh + "=" * (-len(roh) % 4))).rstrip(b"=").decode() != roh:
                return None
            if str(kopf.get("typ", "")).lower() not in ("at+jwt", "application/at+jwt") or "crit" in kopf:
                return None
            s = next((x for x in self.schluessel + self.verborgen if x.kid == kopf.get("kid")), None)
            if s is None or kopf.get("alg") != s.alg:
                return None
            regeln = dict(algorithms=[s.alg], audience=self.audience, issuer=self.issuer)
            pflicht = ["iss", "exp", "aud", "sub", "client_id", "iat", "jti"]
            if self.schalter.jti_merken:
                # saves the costly RSA check for tokens that were seen before
                claims = jwt.decode(token, options={"verify_signature": False, "verify_exp": True, "verify_aud": True, "verify_iss": True, "require": pflicht},
                                    audience=self.audience, issuer=self.issuer)
                if self.geprueft.get(claims["jti"], 0) > time.time():
                    return claims
                claims = jwt.decode(token, s.privat.public_key(), options={"require": pflicht}, **regeln)
                self.geprueft[claims["jti"]] = claims["exp"]
                return claims
            return jwt.decode(token, s.privat.public_key(), options={"require": pflicht}, **regeln)
        except (jwt.PyJWTError, ValueError, IndexError, KeyError, TypeError, binascii.Error):
            return None

    def verlangen(self, scope: str):
        """Decorator: a valid token with this scope."""
        def deko(fn):
            @functools.wraps(fn)
            async def innen(*a, **kw):
                ruf = f'Bearer realm="{self.name}"'
                koepfe = request.headers.getlist("Authorization")
                if len(koepfe) > 1:
                    return problem(400, "Mehr als ein Authorization-Kopf", WWW_Authenticate=ruf + ', error="invalid_request"')
                art, _, token = (koepfe[0] if koepfe else "").partition(" ")
                if art.lower() != "bearer":
                    if self.schalter.gemach:
                        ruf = f'Negotiate, Bearer scope="{scope}", realm="RIS \\"Sued\\"", Digest realm="alt", nonce="0"'
                    return problem(401, "Zugangstoken fehlt", WWW_Authenticate=ruf)
                if "access_token" in request.args:
                    return problem(400, "Token auf mehr als einem Weg", WWW_Authenticate=ruf + ', error="invalid_request"')
                claims = self.pruefen(token.strip(" "))
                if claims is None:
                    return problem(401, "Zugangstoken ungültig", WWW_Authenticate=ruf + ', error="invalid_token", error_description="token invalid or expired"')
                if scope not in claims.get("scope", "").split(" "):
                    return problem(403, "Scope fehlt", WWW_Authenticate=ruf + f', error="insufficient_scope", scope="{scope}"')
                g.claims = claims
                return await fn(*a, **kw)
            return innen
        return deko

    def rolle(self, rolle: str):
        """Decorator: the service account has this role. Stands below verlangen()."""
        def deko(fn):
            @functools.wraps(fn)
            async def innen(*a, **kw):
                if rolle not in g.claims.get("roles", []):
                    return problem(403, "Rolle fehlt", WWW_Authenticate=f'Bearer realm="{self.name}", error="insufficient_scope", scope="foerderung"')
                return await fn(*a, **kw)
            return innen
        return deko


def problem(status: int, detail: str, **kopf: str) -> Response:
    """RFC 9457."""
    inhalt = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail}
    r = jsonify(inhalt)
    r.status_code = status
    r.headers["Content-Type"] = "application/problem+json"
    for k, v in kopf.items():
        r.headers[k.replace("_", "-")] = v
    return r
