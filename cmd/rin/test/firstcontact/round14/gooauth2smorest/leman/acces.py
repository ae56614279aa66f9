"""Serveur d'autorisation du nœud (OAuth 2.0, client credentials) et contrôle des jetons d'accès (JWT, RFC 9068)."""

import base64
import hashlib
import hmac
import re
import secrets
import threading
import time
import urllib.parse
from functools import wraps

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from flask import Blueprint, g, jsonify, request
from flask_smorest import abort

from werkzeug.exceptions import RequestEntityTooLarge

from reglages import NODE, ORIGINE

DUREE = 75
ROLE = "EXTERNAL_API_CLIENT"
AUDIENCE = "urn:leman:api:funding"
PORTEES = {"fundings:read": "Lire les appels et les bailleurs", "fundings:export": "Exporter les appels (CSV)"}
MAX_ECHECS, FENETRE, BLOCAGE = 20, 60, 30

# Les comptes de service dans l'application du service de financement : rôle et affiliation.
COMPTES = {
    "compte-7001": {"role": ROLE, "affiliation": "CH-LEM-001"},
    "compte-7002": {"role": None, "affiliation": "CH-LEM-002"},
    "compte-7003": {"role": ROLE, "affiliation": "CH-LEM-001"},
    "compte-7004": {"role": ROLE, "affiliation": "FR-ANN-004"},
    "compte-9001": {"role": ROLE, "affiliation": "ESSAI"},
}


def empreinte(secret):
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).digest()


class Serveur:
    """Un serveur d'autorisation : la production et l'essai ont chacun le leur, avec ses clés et ses clients."""

    def __init__(self, nom, emetteur, chemin, clients):
        self.nom, self.emetteur, self.chemin = nom, ORIGINE + emetteur, chemin
        self.clients = clients
        self.echecs, self.bloques, self.verrou = {}, {}, threading.Lock()
        self.cles = {}
        self.nouvelle_cle()

    def nouvelle_cle(self):
        self.kid = secrets.token_urlsafe(6)
        self.cles[self.kid] = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.cle_depuis = time.time()

    def jwks(self):
        return {"keys": [dict(jwt.algorithms.RSAAlgorithm.to_jwk(cle.public_key(), as_dict=True), kid=kid, use="sig", alg="RS256")
                         for kid, cle in list(self.cles.items())]}

    def emettre(self, ident, portee):
        maintenant = int(time.time())
        client = self.clients[ident]
        droits = {"iss": self.emetteur, "sub": client["compte"], "aud": client["audience"], "client_id": ident, "scope": portee,
                  "iat": maintenant, "exp": maintenant + DUREE, "jti": secrets.token_urlsafe(16)}
        if NODE == "smorest-tilleul":  # conforme : rotation des clés, plusieurs audiences, date avec fraction
            with self.verrou:
                if time.time() - self.cle_depuis > 20:
                    self.nouvelle_cle()
            droits["aud"] = ["urn:leman:api:annuaire", client["audience"]]
            droits["exp"] = maintenant + DUREE + 0.75
        return jwt.encode(droits, self.cles[self.kid], algorithm="RS256", headers={"kid": self.kid, "typ": "at+jwt"})

    # -- authentification du client -------------------------------------------------------------

    def identifier(self, formulaire):
        """L'identifiant du client qui s'authentifie par HTTP Basic ou par le formulaire (RFC 6749, 2.3.1)."""
        ident, secret = formulaire.get("client_id", ""), formulaire.get("client_secret", "")
        entete = request.headers.get("Authorization")
        if entete is not None:
            if secret:
                raise Refus(400, "invalid_request", "Une seule methode d'authentification par requete.")
            try:
                methode, _, donnees = entete.partition(" ")
                if methode.lower() != "basic":
                    raise ValueError
                paire = base64.b64decode(donnees.strip(" "), validate=True).decode("utf-8")
                utilisateur, separateur, mot = paire.partition(":")
                if not separateur:
                    raise ValueError
                utilisateur = urllib.parse.unquote_plus(utilisateur, errors="strict")
                secret = urllib.parse.unquote_plus(mot, errors="strict")
            except ValueError:
                raise Refus(401, "invalid_client", "Authentification refusee.")
            if ident and ident != utilisateur:
                raise Refus(400, "invalid_request", "client_id ne correspond pas a l'authentification.")
            ident = utilisateur
        compteur = ident
        if NODE == "smorest-versoix":
            compteur = (ident, request.headers.get("X-Forwarded-For", request.remote_addr))
        with self.verrou:
            if time.time() < self.bloques.get(compteur, 0):
                raise Refus(429, "temporarily_unavailable", "Trop d'echecs ; reessayez plus tard.")
        client = self.clients.get(ident)
        attendu = empreinte(client["secret"] if client else secrets.token_hex())
        if not hmac.compare_digest(empreinte(secret), attendu) or client is None:
            if client:
                self.noter_echec(compteur)
            raise Refus(401, "invalid_client", "Authentification refusee.")
        return ident

    def noter_echec(self, compteur):
        with self.verrou:
            maintenant = time.time()
            recents = [t for t in self.echecs.get(compteur, []) if maintenant - t < FENETRE] + [maintenant]
            if len(recents) >= MAX_ECHECS:
                self.bloques[compteur] = maintenant + BLOCAGE
                recents = []
            self.echecs[compteur] = recents

    # -- points d'accès -------------------------------------------------------------------------

    def jeton(self):
        try:
            formulaire = lire_formulaire()
            ident = self.identifier(formulaire)
            if "grant_type" not in formulaire:
                raise Refus(400, "invalid_request", "grant_type manque.")
            if formulaire["grant_type"] != "client_credentials":
                raise Refus(400, "unsupported_grant_type", "Seul client_credentials est possible.")
            demandees = formulaire.get("scope", " ".join(PORTEES)).split(" ")
            if not all(p in PORTEES for p in demandees):
                raise Refus(400, "invalid_scope", "Portee inconnue.")
            portee = " ".join(p for p in PORTEES if p in demandees)
            corps, statut, entetes = {"access_token": self.emettre(ident, portee), "token_type": "Bearer", "expires_in": DUREE, "scope": portee}, 200, {}
        except Refus as refus:
            corps, statut, entetes = {"error": refus.code, "error_description": refus.texte}, refus.statut, {}
            if statut == 401:
                entetes["WWW-Authenticate"] = 'Basic realm="leman", charset="UTF-8"'
            if statut == 429:
                entetes["Retry-After"] = str(BLOCAGE)
        reponse = jsonify(corps)
        reponse.status_code = statut
        reponse.headers.update({"Cache-Control": "no-store", "Pragma": "no-cache", **entetes})
        return reponse

    def verifier(self):
        """Le contenu du jeton de la requête ; sinon 401."""
        methode, _, jeton = request.headers.get("Authorization", "").partition(" ")
        if methode.lower() != "bearer":
            defi(401, None, "Un jeton d'accès est nécessaire.")
        jeton = jeton.strip(" ")
        try:
            if not re.fullmatch(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+", jeton, re.ASCII):
                raise jwt.InvalidTokenError("forme")
            for partie in jeton.split("."):  # une seule écriture par jeton : pas de bits perdus à la fin
                brut = base64.urlsafe_b64decode(partie + "=" * (-len(partie) % 4))
                if base64.urlsafe_b64encode(brut).rstrip(b"=").decode() != partie:
                    raise jwt.InvalidTokenError("base64url")
            entete = jwt.get_unverified_header(jeton)
            if str(entete.get("typ", "")).lower() not in ("at+jwt", "application/at+jwt") or "crit" in entete:
                raise jwt.InvalidTokenError("type")
            if NODE == "smorest-dranse" and "jwk" in entete:
                cle = jwt.PyJWK(entete["jwk"]).key
            else:
                cle = self.cles[entete["kid"]].public_key()
            contenu = jwt.decode(jeton, cle, algorithms=["RS256"], audience=AUDIENCE, issuer=self.emetteur,
                                 options={"require": ["exp", "iat", "iss", "aud", "sub", "client_id", "jti"]})
            if contenu["sub"] not in COMPTES:
                raise jwt.InvalidTokenError("compte")
            return contenu
        except (jwt.PyJWTError, KeyError, ValueError, TypeError, RecursionError):
            defi(401, "invalid_token", "Le jeton n'est pas valable ici.")

    def info(self):
        contenu = self.verifier()
        compte = COMPTES[contenu["sub"]]
        reponse = jsonify({
            "noeud": "LEMAN", "environnement": self.nom, "client": contenu["client_id"], "compte_de_service": contenu["sub"],
            "affiliation": compte["affiliation"], "roles": [compte["role"]] if compte["role"] else [],
            "portees": contenu.get("scope", "").split(" "), "expire": int(contenu["exp"]),
            "endpoints": {"funding": [{"name": "FUNDINGS", "majorVersion": 3, "minorVersion": 0, "url": ORIGINE + "/leman/funding/v3/appels"}]}})
        reponse.headers.update({"Cache-Control": "no-store", "Vary": "Authorization"})
        return reponse


class Refus(Exception):
    """Un refus du serveur d'autorisation ; son texte est en ASCII (RFC 6749, 5.2)."""

    def __init__(self, statut, code, texte):
        super().__init__(code)
        self.statut, self.code, self.texte = statut, code, texte


def lire_formulaire():
    if request.query_string:
        raise Refus(400, "invalid_request", "Les parametres vont dans le corps.")
    if request.mimetype != "application/x-www-form-urlencoded":
        raise Refus(400, "invalid_request", "Le corps doit etre application/x-www-form-urlencoded.")
    try:
        corps = request.get_data(cache=False).decode("ascii")  # UnicodeDecodeError est une ValueError
        if re.search(r"%(?![0-9A-Fa-f]{2})", corps):
            raise ValueError
        paires = urllib.parse.parse_qsl(corps, keep_blank_values=True, errors="strict", max_num_fields=50)
    except (ValueError, RequestEntityTooLarge):
        raise Refus(400, "invalid_request", "Le corps est mal forme ou trop long.")
    noms = [nom for nom, _ in paires]
    if len(noms) != len(set(noms)):
        raise Refus(400, "invalid_request", "Un parametre est repete.")
    return {nom: valeur for nom, valeur in paires if valeur != ""}  # RFC 6749, 3.2 : vide vaut absent


def defi(statut, erreur, texte):
    """Refuse une requête à l'API, avec le défi de la RFC 6750."""
    valeurs = {"realm": "leman"}
    if erreur:
        valeurs["error"] = erreur
    if erreur == "insufficient_scope":
        valeurs["scope"] = g.get("portee", "fundings:read")
    entete = "Bearer " + ", ".join(f'{nom}="{valeur}"' for nom, valeur in valeurs.items())
    if NODE == "smorest-yvoire":  # conforme : casse, jetons sans guillemets, caractères échappés (RFC 9110, 11.6.1)
        entete = "bearer " + " , ".join(["realm=\"l\\eman, \\\"bord\\\" = 'Bearer'\""] + [f"{nom}={valeur}" if ":" not in valeur else f'{nom}="{valeur}"' for nom, valeur in list(valeurs.items())[1:]])
    abort(statut, message=texte, headers={"WWW-Authenticate": entete, "Cache-Control": "no-store"})


def protege(portee):
    """Laisse passer les comptes qui ont le rôle, avec un jeton de cette portée."""
    def decorateur(vue):
        @wraps(vue)
        def garde(*args, **kwargs):
            contenu = PRODUCTION.verifier()
            g.portee, g.client = portee, contenu["client_id"]
            if COMPTES[contenu["sub"]]["role"] != ROLE:
                defi(403, "insufficient_scope", "Le compte de service n'a pas le rôle " + ROLE + ".")
            if NODE == "smorest-meillerie" and portee == "fundings:export":
                return vue(*args, **kwargs)
            if portee not in contenu.get("scope", "").split(" "):
                defi(403, "insufficient_scope", "Le jeton n'a pas la portée " + portee + ".")
            return vue(*args, **kwargs)
        garde._apidoc = getattr(vue, "_apidoc", {})
        return garde
    return decorateur


PRODUCTION = Serveur("production", "/auth/realms/leman", "/auth/realms/leman/protocol/openid-connect/token", {
    "leman-moissonneur": {"secret": "Mo1ss+%C3:on~/n=eur&!48Qz", "compte": "compte-7001", "audience": AUDIENCE},
    "leman-visiteur": {"secret": "V!s1t~eur%/2F:&k+=Lp07", "compte": "compte-7002", "audience": AUDIENCE},
    "leman-projets": {"secret": "pr0J+ets=:~!%3D/&Yw65m", "compte": "compte-7003", "audience": "urn:leman:api:projets"},
    "leman-secours": {"secret": "S3c/ours&~+%99:=!dGa2k", "compte": "compte-7004", "audience": AUDIENCE},
})
ESSAI = Serveur("essai", "/auth-essai", "/auth-essai/oauth/token", {
    "leman-banc": {"secret": "B4nc~d%25/essai+=&:!Hx9", "compte": "compte-9001", "audience": AUDIENCE},
})

plan = Blueprint("acces", __name__)
plan.add_url_rule(PRODUCTION.chemin, "jeton", PRODUCTION.jeton, methods=["POST"])
plan.add_url_rule(ESSAI.chemin, "jeton_essai", ESSAI.jeton, methods=["POST"])
plan.add_url_rule("/leman/info/v1/oauth/info/", "info", PRODUCTION.info)
plan.add_url_rule("/leman-essai/info/v1/oauth/info/", "info_essai", ESSAI.info)


@plan.get("/auth/realms/leman/protocol/openid-connect/certs")
def cles():
    return jsonify(PRODUCTION.jwks())


@plan.get("/.well-known/oauth-authorization-server/auth/realms/leman")
def metadonnees():
    return jsonify({
        "issuer": PRODUCTION.emetteur, "token_endpoint": ORIGINE + PRODUCTION.chemin,
        "jwks_uri": ORIGINE + "/auth/realms/leman/protocol/openid-connect/certs",
        "grant_types_supported": ["client_credentials"], "response_types_supported": [],
        "scopes_supported": list(PORTEES), "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"]})
