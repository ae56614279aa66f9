"""Serveur d'autorisation : jetons opaques, un magasin par environnement."""
import base64
import binascii
import hashlib
import hmac
import os
import re
import secrets
import threading
import time
from urllib.parse import parse_qsl, unquote_plus

VARIANTE = os.environ.get("NODE", "cornice-base")
DUREE = 64
ROLE = "EXTERNAL_API_CLIENT"
AUDIENCE = "appels"
B64TOKEN = re.compile(r"[A-Za-z0-9\-._~+/]+=*")


class Refus(Exception):
    """Erreur du point de jetons (RFC 6749, 5.2)."""

    def __init__(self, statut, code, texte, attente=None):
        super().__init__(code)
        self.statut, self.code, self.texte, self.attente = statut, code, texte, attente


def empreinte(texte):
    return hashlib.sha256(texte.encode("utf-8", "surrogateescape")).digest()


class Frein:
    """Huit mauvais secrets en une minute ferment un identifiant pendant 30 secondes."""

    LIMITE, FENETRE, FERMETURE = 8, 60, 30

    def __init__(self):
        self.echecs, self.verrou = {}, threading.Lock()

    def attente(self, client):
        with self.verrou:
            echecs = self.echecs.get(client, [])
            if len(echecs) < self.LIMITE:
                return 0
            reste = echecs[-1] + self.FERMETURE - time.monotonic()
            if reste <= 0:
                del self.echecs[client]
            return max(reste, 0)

    def echec(self, client):
        with self.verrou:
            maintenant = time.monotonic()
            if len(self.echecs) > 5000:
                self.echecs = {c: e for c, e in self.echecs.items() if e[-1] > maintenant - self.FENETRE}
            recents = [t for t in self.echecs.get(client, []) if t > maintenant - self.FENETRE]
            self.echecs[client] = recents + [maintenant]


class Environnement:
    def __init__(self, nom, clients):
        self.nom, self.clients = nom, clients
        self.frein, self.verrou, self.jetons = Frein(), threading.Lock(), {}

    # -- émission ---------------------------------------------------------------------------------
    def demander(self, type_media, corps, autorisation):
        if type_media != "application/x-www-form-urlencoded":
            raise Refus(400, "invalid_request", "the body must be application/x-www-form-urlencoded")
        if len(corps) > 16384:
            raise Refus(413, "invalid_request", "the body is too large")
        try:
            paires = parse_qsl(corps.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=100)
        except ValueError:
            raise Refus(400, "invalid_request", "the body is not a valid form")
        champs = {}
        for nom, valeur in paires:
            if nom in champs and nom in ("grant_type", "client_id", "client_secret", "scope"):
                raise Refus(400, "invalid_request", "the parameter %s is repeated" % nom)
            champs[nom] = valeur
        client = self.authentifier(champs, autorisation)
        type_octroi = champs.get("grant_type", "")
        if type_octroi == "":
            raise Refus(400, "invalid_request", "the parameter grant_type is missing")
        if type_octroi != "client_credentials":
            raise Refus(400, "unsupported_grant_type", "only client_credentials is supported")
        if champs.get("scope", "").split():
            raise Refus(400, "invalid_scope", "this server knows no scopes")
        return {"access_token": self.emettre(client), "token_type": "Bearer", "expires_in": DUREE}

    def authentifier(self, champs, autorisation):
        echec = Refus(401, "invalid_client", "client authentication failed")
        ident, secret = champs.get("client_id", ""), champs.get("client_secret", "")
        if autorisation is not None:
            ident_basic, secret_basic = lire_basic(autorisation, echec)
            if secret:
                raise Refus(400, "invalid_request", "more than one way of client authentication")
            if ident and ident != ident_basic:
                raise Refus(400, "invalid_request", "client_id differs from the authenticated client")
            ident, secret = ident_basic, secret_basic
        if not ident or not secret:
            raise echec
        attente = self.frein.attente(ident)
        if attente > 0 and not (VARIANTE == "cornice-meleze" and autorisation is not None):
            raise Refus(429, "temporarily_unavailable", "too many wrong secrets, try again later", int(attente) + 1)
        client = self.clients.get(ident)
        attendu = empreinte(client["secret"]) if client else bytes(32)
        if not hmac.compare_digest(attendu, empreinte(secret)):
            self.frein.echec(ident)
            raise echec
        return dict(client, id=ident)

    def emettre(self, client):
        if VARIANTE == "cornice-durance":
            jeton = "v2~" + base64.b64encode(secrets.token_bytes(241)).decode()
        else:
            jeton = secrets.token_urlsafe(33)
        with self.verrou:
            maintenant = time.time()
            self.jetons = {c: j for c, j in self.jetons.items() if j["fin"] > maintenant}
            self.jetons[self.cle(jeton)] = {"client": client, "fin": maintenant + DUREE}
        return jeton

    # -- vérification -----------------------------------------------------------------------------
    @staticmethod
    def cle(jeton):
        if VARIANTE == "cornice-arve":
            jeton = jeton.lower()  # la colonne de la base ignore la casse
        return empreinte(jeton)

    def verifier(self, jeton):
        """Le client du jeton, ou None."""
        with self.verrou:
            trouve = self.jetons.get(self.cle(jeton))
            if trouve is None or trouve["fin"] <= time.time():
                return None
            if VARIANTE == "cornice-sapin":
                trouve["fin"] = time.time() + DUREE
            return trouve["client"]


def lire_basic(autorisation, echec):
    schema, _, reste = autorisation.partition(" ")
    if schema.lower() != "basic":
        raise echec
    try:
        texte = base64.b64decode(reste.strip(), validate=True).decode("utf-8")
        ident, deux_points, secret = texte.partition(":")
        ident, secret = unquote_plus(ident, errors="strict"), unquote_plus(secret, errors="strict")
    except (binascii.Error, ValueError):
        raise echec
    if not deux_points:
        raise echec
    return ident, secret


PRODUCTION = Environnement("production", {
    "uhv-veille": {"secret": "Cime&Neige=7/Pic+%41!~:Vt5Rk8Wq", "compte": "sa-1a77", "affiliation": "FR-UHV-03", "roles": [ROLE], "audience": AUDIENCE},
    "uhv-intranet": {"secret": "Col/Crete+9=&Torrent%~!:Hn2Xd6Jp", "compte": "sa-2b08", "affiliation": "FR-UHV-11", "roles": [], "audience": AUDIENCE},
    "uhv-bibliotheque": {"secret": "Refuge=Moraine%2B&/+3!~:Lc4Ys1Gz", "compte": "sa-3c95", "affiliation": "FR-UHV-20", "roles": [ROLE], "audience": "catalogue"},
    "uhv-essais": {"secret": "Alpage~Serac!/=&%7E+5:Fb8Mw3Tv", "compte": "sa-4d31", "affiliation": "FR-UHV-03", "roles": [ROLE], "audience": AUDIENCE},
})
STAGING = Environnement("staging", {
    "uhv-bac": {"secret": "Sable+Bac%/=&!~:Pelle6Kr2", "compte": "sa-t001", "affiliation": "TEST", "roles": [ROLE], "audience": AUDIENCE},
})
