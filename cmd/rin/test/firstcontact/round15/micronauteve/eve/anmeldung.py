"""Anmeldung: zwei Autorisierungsserver (Betrieb und Erprobung) mit Authlib, opake Token."""
import os

os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"  # hinter 127.0.0.1, ohne TLS

import base64
import binascii
import hmac
import threading
import time
from urllib.parse import parse_qsl, unquote_to_bytes

from authlib.common.security import generate_token
from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2.rfc6749.errors import InvalidClientError, InvalidRequestError, InvalidScopeError, OAuth2Error
from authlib.oauth2.rfc6749.grants import ClientCredentialsGrant
from flask import Response, json, request

from variante import ist

DAUER = 75
SPERRE_AB, SPERRE_FENSTER, SPERRE_DAUER = 10, 60, 30


class Konto:
    def __init__(self, id, secret, aud, rollen, einrichtung):
        self.client_id, self.secret, self.aud, self.rollen, self.einrichtung = id, secret, aud, rollen, einrichtung

    def check_client_secret(self, secret):
        return hmac.compare_digest(self.secret.encode("utf-8"), secret.encode("utf-8", "surrogatepass"))

    def check_endpoint_auth_method(self, method, endpoint):
        return True

    def check_grant_type(self, grant_type):
        return grant_type == "client_credentials"

    def get_allowed_scope(self, scope):
        return "api"


class ZuViele(OAuth2Error):
    error = "temporarily_unavailable"
    status_code = 429

    def get_headers(self):
        return super().get_headers() + [("Retry-After", str(self.warte))]


def _form(teil):
    return unquote_to_bytes(teil.replace("+", " ")).decode("utf-8")


class Basisfehler(InvalidClientError):
    """401 mit Basic-Challenge (RFC 6749, 5.2)."""
    status_code = 401

    def get_headers(self):
        h = [x for x in OAuth2Error.get_headers(self)]
        h.append(("WWW-Authenticate", '%s realm="ris", charset="UTF-8"' % ("basic" if ist("fichte") else "Basic")))
        return h


class Unbekannt(OAuth2Error):
    error = "unsupported_grant_type"


class Dienst:
    def __init__(self, name, konten, app):
        self.name = name
        self.konten = {k.client_id: k for k in konten}
        self.token = {}
        self.fehler = {}
        self.gesperrt = {}
        self.schloss = threading.Lock()
        s = AuthorizationServer(app, query_client=self.konten.get, save_token=self.sichere)
        s.register_grant(Zuteilung)
        s.register_client_auth_method("client_secret_basic", self.pruefe_konto)
        s.register_client_auth_method("client_secret_post", self.pruefe_konto)
        s.dienst = self
        self.server = s

    def sichere(self, token, req):
        jetzt = time.time()
        with self.schloss:
            for t in [t for t, e in self.token.items() if e["ende"] + 600 < jetzt]:
                del self.token[t]
            while ist("erle") and len(self.token) >= 16:
                del self.token[next(iter(self.token))]
            self.token[token["access_token"]] = dict(konto=req.client, ende=jetzt + token["expires_in"])

    def suche(self, wert):
        with self.schloss:
            e = self.token.get(wert)
        if e is None or time.time() >= e["ende"]:
            return None
        return e

    def pruefe_konto(self, query_client, req):
        form = request.formular
        kopf = request.headers.get("Authorization", "")
        schema, _, rest = kopf.partition(" ")
        if schema.lower() == "basic":
            if form.get("client_secret"):
                raise InvalidRequestError(description="Mehr als ein Verfahren zur Anmeldung.")
            try:
                id_, trenner, secret = base64.b64decode(rest.strip(), validate=True).decode("utf-8").partition(":")
                if not trenner:
                    raise ValueError
                id_, secret = _form(id_), _form(secret)
            except (ValueError, binascii.Error):
                raise Basisfehler(description="Der Kopf Authorization ist unlesbar.")
            if form.get("client_id") and form["client_id"] != id_:
                raise InvalidRequestError(description="client_id widerspricht dem Kopf Authorization.")
        else:
            id_, secret = form.get("client_id"), form.get("client_secret")
            if not id_ or not secret:
                raise Basisfehler(description="Anmeldung fehlt.")
        jetzt = time.time()
        wer = "127.0.0.1" if ist("tanne") else id_
        with self.schloss:
            bis = self.gesperrt.get(wer, 0)
            if jetzt < bis:
                f = ZuViele(description="Zu viele Fehlversuche.")
                f.warte = int(bis - jetzt) + 1
                raise f
            konto = query_client(id_)
            if konto is None or not konto.check_client_secret(secret):
                if konto is not None:
                    l = [t for t in self.fehler.get(wer, []) if t > jetzt - SPERRE_FENSTER] + [jetzt]
                    self.fehler[wer] = l
                    if len(l) >= SPERRE_AB:
                        self.gesperrt[wer] = jetzt + SPERRE_DAUER
                        self.fehler[wer] = []
                raise Basisfehler(description="client_id oder client_secret ist falsch.")
            self.fehler.pop(wer, None)
            return konto

    def antworte(self):
        try:
            request.formular = self.lies()
        except OAuth2Error as e:
            return self.server.handle_error_response(None, e)
        antwort = self.server.create_token_response()
        antwort.headers["Content-Type"] = "application/json"
        antwort.headers["Cache-Control"] = "no-store"
        antwort.headers["Pragma"] = "no-cache"
        return antwort

    @staticmethod
    def lies():
        if any(n in request.args for n in ("grant_type", "client_id", "client_secret", "scope")):
            raise InvalidRequestError(description="Parameter stehen im Rumpf, nicht in der Adresse.")
        if request.mimetype != "application/x-www-form-urlencoded":
            raise InvalidRequestError(description="Content-Type muss application/x-www-form-urlencoded sein.")
        try:
            paare = parse_qsl(request.rohdaten.decode("utf-8"), keep_blank_values=True, errors="strict")
        except ValueError:
            raise InvalidRequestError(description="Der Rumpf ist nicht lesbar.")
        form = {}
        for n, w in paare:
            if n in form:
                raise InvalidRequestError(description="Ein Parameter steht mehrmals.")
            form[n] = w
        form = {n: w for n, w in form.items() if w != ""}
        if "grant_type" not in form:
            raise InvalidRequestError(description="grant_type fehlt.")
        if form["grant_type"] != "client_credentials":
            raise Unbekannt(description="Es gibt nur grant_type client_credentials.")
        return form


class Zuteilung(ClientCredentialsGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["client_secret_basic"]

    def validate_requested_scope(self):
        s = request.formular.get("scope")
        if s is not None and set(s.split(" ")) != {"api"}:
            raise InvalidScopeError()

    def generate_token(self, user=None, scope=None, grant_type=None, expires_in=None, include_refresh_token=True):
        t = super().generate_token(user=user, scope="api", grant_type="client_credentials", expires_in=DAUER, include_refresh_token=False)
        if ist("fichte"):
            lang = "-._~+/" + generate_token(590) + "=="
            return {"not-before-policy": 0, "scope": "api", "token_type": "bearer", "session_state": None, "expires_in": DAUER, "access_token": lang}
        return {"access_token": t["access_token"], "token_type": "Bearer", "expires_in": DAUER, "scope": "api"}
