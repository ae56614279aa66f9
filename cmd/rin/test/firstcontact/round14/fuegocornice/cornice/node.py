"""Nœud de l'Université des Hautes-Vallées : Cornice sur Pyramid, servi par waitress."""
import base64
import csv
import gzip
import hashlib
import hmac
import io
import json
import os
import re
import secrets
import time
import unicodedata
import warnings
from datetime import date, datetime, timezone
from email.utils import format_datetime, parsedate_to_datetime
from urllib.parse import parse_qsl, quote, urlencode

warnings.filterwarnings("ignore", message="pkg_resources is deprecated")

from cornice import Service  # noqa: E402
from pyramid.security import Allowed, Denied  # noqa: E402
from pyramid.config import Configurator  # noqa: E402
from pyramid.httpexceptions import HTTPException  # noqa: E402
from pyramid.response import Response  # noqa: E402
from waitress import serve  # noqa: E402

import document  # noqa: E402
from donnees import DOMAINES, FINANCEURS, charger  # noqa: E402
from jetons import AUDIENCE, B64TOKEN, PRODUCTION, ROLE, STAGING, VARIANTE, Refus  # noqa: E402

PORT = int(os.environ.get("PORT", "8080"))
ORIGINE = "http://127.0.0.1:%d" % PORT
SERVICES = "/services"
API = SERVICES + "/uhv/funding/v3"
INFO = SERVICES + "/uhv/info/v1/oauth/info/"
JETONS = "/identite/realms/hautes-vallees/protocol/openid-connect/token"
APPELS = charger()
CLE_CURSEUR = secrets.token_bytes(32)


# -- dates (RFC 3339) --------------------------------------------------------------------------------
DATE_HEURE = re.compile(r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)")


def instant(texte):
    """Secondes depuis l'an 0, en UTC ; None si le texte n'est pas une date-heure."""
    m = DATE_HEURE.fullmatch(texte)
    if not m or not texte.isascii():
        return None
    annee, mois, jour, heure, minute, seconde = (int(m.group(n)) for n in range(1, 7))
    if heure > 23 or minute > 59 or seconde > 60:
        return None
    try:
        jours = date(annee or 400, mois, jour).toordinal() - (0 if annee else 146097)
    except ValueError:
        return None
    decalage = 0
    zone = m.group(8)
    if zone not in "Zz":
        h, mn = int(zone[1:3]), int(zone[4:])
        if h > 23 or mn > 59:
            return None
        decalage = (h * 3600 + mn * 60) * (1 if zone[0] == "+" else -1)
    return jours * 86400 + heure * 3600 + minute * 60 + seconde - decalage + float(m.group(7) or 0)


def plier(texte):
    """Sans accents ni majuscules."""
    return "".join(c for c in unicodedata.normalize("NFD", texte.casefold()) if not unicodedata.combining(c))


# -- droits (RFC 6750) -------------------------------------------------------------------------------
class Porteur:
    """Politique de sécurité : le jeton désigne le client, la permission dit ce qu'il faut avoir."""

    def identity(self, request):
        return getattr(request, "client_api", None)

    def authenticated_userid(self, request):
        client = self.identity(request)
        return client and client["id"]

    def permits(self, request, context, permission):
        environnement = STAGING if permission == "essai" else PRODUCTION
        request.royaume = environnement.nom
        request.refus = (401, None, "an access token is needed")
        schema, _, jeton = request.environ.get("HTTP_AUTHORIZATION", "").partition(" ")
        if schema.lower() != "bearer":
            return Denied("pas de jeton")
        jeton = jeton.strip(" ")
        client = environnement.verifier(jeton) if B64TOKEN.fullmatch(jeton) else None
        if client is None or client["audience"] != AUDIENCE:
            request.refus = (401, "invalid_token", "the access token is not valid")
            return Denied("mauvais jeton")
        request.client_api = client
        if permission == "appels" and ROLE not in client["roles"]:
            request.refus = (403, "insufficient_scope", "the service account lacks the role " + ROLE)
            return Denied("pas de role")
        return Allowed("bienvenue")

    def remember(self, request, userid, **kw):
        return []

    def forget(self, request, **kw):
        return []


def erreur(statut, lieu, nom, description):
    corps = {"status": "error", "errors": [{"location": lieu, "name": nom, "description": description}]}
    return Response(json.dumps(corps).encode(), status=statut, content_type="application/json", charset=None)


def interdit(exc, request):
    statut, code, texte = request.refus
    reponse = erreur(statut, "header", "Authorization", texte)
    defi = 'Bearer realm="%s"' % request.royaume
    if code:
        defi += ', error="%s", error_description="%s"' % (code, texte)
    if VARIANTE == "cornice-annecy":
        defi = defi.replace('Bearer realm="', 'bearer realm="guichet \\"API, error=0\\", ')
    reponse.headers["WWW-Authenticate"] = defi
    return reponse


def exception_http(exc, request):
    """Les autres erreurs prennent la forme de celles de Cornice."""
    if exc.status_code < 400 or exc.content_type == "application/json":
        return exc
    if exc.status_code == 405:
        reponse = erreur(405, "method", request.method, "this address does not have this method")
        methodes = set(exc.allow or ())
        reponse.allow = sorted(methodes | ({"HEAD"} if "GET" in methodes else set()))
        return reponse
    return erreur(exc.status_code, "path", request.path_info, "there is nothing at this address")


def panne(exc, request):
    return erreur(500, "", None, "the node could not answer")


# -- représentations (RFC 9110) ----------------------------------------------------------------------
def accepte_gzip(request):
    poids = {}
    for partie in request.headers.get("Accept-Encoding", "").lower().split(","):
        nom, _, reste = partie.partition(";")
        m = re.search(r"q\s*=\s*([\d.]+)", reste)
        try:
            poids[nom.strip()] = float(m.group(1)) if m else 1.0
        except ValueError:
            poids[nom.strip()] = 0.0
    gz = poids.get("gzip", poids.get("x-gzip", poids.get("*", 0)))
    return gz > 0 and gz >= poids.get("identity", 0)


def enumere(entete, etiquette, faible):
    for e in entete.split(","):
        e = e.strip()
        if e == "*" or (e[2:] if faible and e.startswith("W/") else e) == etiquette:
            return True
    return False


def date_http(texte):
    try:
        quand = parsedate_to_datetime(texte)
        return quand if quand.tzinfo else quand.replace(tzinfo=timezone.utc)
    except (TypeError, ValueError, OverflowError):
        return None


def conditions(request, etiquette, modifie):
    """Statut à donner au lieu de 200, ou None (RFC 9110, 13.2.2)."""
    h = request.headers
    if "If-Match" in h:
        if not enumere(h["If-Match"], etiquette, False):
            return 412
    elif "If-Unmodified-Since" in h and modifie:
        depuis = date_http(h["If-Unmodified-Since"])
        if depuis and modifie > depuis:
            return 412
    if "If-None-Match" in h:
        return 304 if enumere(h["If-None-Match"], etiquette, True) else None
    if "If-Modified-Since" in h and modifie:
        depuis = date_http(h["If-Modified-Since"])
        if depuis and modifie <= depuis:
            return 304
    return None


EXPORTS = {}  # exportations CSV gardées 15 secondes, dans une seule variante


def representation(handler, registry):
    """Tween : étiquettes, compression, requêtes conditionnelles."""

    def tween(request):
        if "HTTP_HOST" not in request.environ and request.environ["SERVER_PROTOCOL"] == "HTTP/1.1":
            return finir(erreur(400, "header", "Host", "the Host header is missing"))
        if not request.headers.get("Accept", "*").strip():
            del request.headers["Accept"]  # vide : pas de préférence
        try:
            request.path_info
        except UnicodeDecodeError:
            return finir(erreur(404, "path", None, "there is nothing at this address"))
        cle = (request.url, request.headers.get("Accept"))
        if VARIANTE == "cornice-isere" and request.method in ("GET", "HEAD") and EXPORTS.get(cle, (0,))[0] > time.monotonic():
            reponse = EXPORTS[cle][1].copy()
        else:
            reponse = handler(request)
            if VARIANTE == "cornice-isere" and reponse.content_type == "text/csv":
                EXPORTS[cle] = (time.monotonic() + 15, reponse.copy())
        if reponse.status_code != 200 or request.method not in ("GET", "HEAD") or "Cache-Control" in reponse.headers:
            return finir(reponse)
        corps = reponse.body
        etiquette = hashlib.sha256(corps + reponse.content_type.encode()).hexdigest()[:24]
        if len(corps) > 700 and accepte_gzip(request):
            reponse.body = gzip.compress(corps, 6, mtime=0)
            reponse.headers["Content-Encoding"] = "gzip"
            etiquette += "-gz"
        reponse.headers["ETag"] = etiquette = '"%s"' % etiquette
        reponse.headers["Cache-Control"] = "private, max-age=0, must-revalidate" if request.path.startswith(API + "/appels") or \
            request.path.startswith(API + "/financeurs") else "public, max-age=60"
        reponse.headers["Vary"] = "Accept, Accept-Encoding"
        statut = conditions(request, etiquette, reponse.last_modified)
        if statut == 304:
            reponse.status = 304
            reponse.body = b""
            for nom in ("Content-Type", "Content-Length", "Content-Encoding"):
                reponse.headers.pop(nom, None)
        elif statut == 412:
            return finir(erreur(412, "header", "If-Match", "the representation has changed"))
        return finir(reponse)

    def finir(reponse):
        if reponse.status_code >= 400:
            reponse.headers["Cache-Control"] = "no-store"
        return reponse

    return tween


# -- jetons, annuaire, info --------------------------------------------------------------------------
jetons = Service("jetons", JETONS)
jetons_essai = Service("jetons_essai", "/bac-a-sable/oauth/token")
annuaire = Service("annuaire", "/annuaire/noeuds")
info = Service("info", INFO)
info_essai = Service("info_essai", "/bac-a-sable" + INFO)


def rendre_jeton(request, environnement):
    reponse = Response(content_type="application/json", charset=None)
    try:
        corps = environnement.demander(request.content_type.lower(), request.body, request.environ.get("HTTP_AUTHORIZATION"))
    except Refus as refus:
        corps = {"error": refus.code, "error_description": refus.texte}
        reponse.status = refus.statut
        if refus.statut == 401:
            reponse.headers["WWW-Authenticate"] = 'Basic realm="%s", charset="UTF-8"' % environnement.nom
        if refus.attente:
            reponse.headers["Retry-After"] = str(refus.attente)
    reponse.body = json.dumps(corps).encode()
    reponse.headers.update({"Cache-Control": "no-store", "Pragma": "no-cache"})
    return reponse


@jetons.post()
def demander_jeton(request):
    return rendre_jeton(request, PRODUCTION)


@jetons_essai.post()
def demander_jeton_essai(request):
    return rendre_jeton(request, STAGING)


@annuaire.get(renderer="json")
def lire_annuaire(request):
    return {"member": [{"id": "UHV", "acronym": "UHV", "name": "Université des Hautes-Vallées", "contact": "ris@hautes-vallees.example", "oauth2": ORIGINE + JETONS, "info": ORIGINE + INFO}]}


def decrire_client(request, environnement):
    request.response.headers["Cache-Control"] = "no-store"
    client = request.identity
    return {"client": client["id"], "service_account_user_id": client["compte"], "affiliation_id": client["affiliation"],
            "roles": client["roles"], "environnement": environnement,
            "endpoints": {"funding": [{"name": "FUNDINGS", "majorVersion": 3, "minorVersion": 4, "url": ORIGINE + API + "/appels"}]}}


@info.get(permission="info", renderer="json")
def lire_info(request):
    return decrire_client(request, "production")


@info_essai.get(permission="essai", renderer="json")
def lire_info_essai(request):
    return decrire_client(request, "staging")


# -- appels ------------------------------------------------------------------------------------------
appels = Service("appels", API + "/appels")
appel = Service("appel", API + "/appels/{reference}")
financeurs = Service("financeurs", API + "/financeurs")
financeur = Service("financeur", API + "/financeurs/{code}")
TRIS = ("reference", "echeance", "-montant")
COLONNES = ("reference", "intitule_fr", "intitule_en", "financeur", "domaines", "ouverture", "echeance", "montant_max")


def parametres(request, **kw):
    """Validateur de la liste : remplit request.validated."""
    def faux(nom, texte):
        request.errors.add("querystring", nom, texte)

    requete = request.environ.get("QUERY_STRING", "")
    try:
        if re.search(r"%(?![0-9A-Fa-f]{2})", requete):
            raise ValueError
        paires = parse_qsl(requete, keep_blank_values=True, errors="strict", max_num_fields=200)
    except ValueError:
        return faux(None, "the query is not well-formed")
    q = {}
    for nom, valeur in paires:
        if nom in q and nom in document.PARAMETRES:
            faux(nom, "the parameter is repeated")
        q[nom] = valeur
    v = request.validated
    v["filtres"] = {nom: q[nom] for nom in document.PARAMETRES if nom in q and nom != "curseur"}
    limite = q.get("limite", "12")
    v["limite"] = int(limite) if re.fullmatch(r"[0-9]{1,6}", limite) else 0
    if not 1 <= v["limite"] <= 40:
        faux("limite", "an integer from 1 to 40 is needed")
    v["tri"] = q.get("tri", "reference")
    if v["tri"] not in TRIS:
        faux("tri", "one of %s is needed" % ", ".join(TRIS))
    if "domaine" in q and q["domaine"] not in DOMAINES:
        faux("domaine", "one of %s is needed" % ", ".join(DOMAINES))
    for nom in ("echeance_min", "echeance_max"):
        if nom in q and instant(q[nom]) is None:
            faux(nom, "a date-time with offset is needed (RFC 3339; encode + as %2B)")
    if "montant_min" in q and not re.fullmatch(r"[0-9]{1,9}", q["montant_min"]):
        faux("montant_min", "an integer from 0 to 999999999 is needed")
    if "recherche" in q and not 3 <= len(q["recherche"]) <= 60:
        faux("recherche", "3 to 60 characters are needed")
    v["apres"] = None
    if "curseur" in q:
        v["apres"] = lire_curseur(q["curseur"], v["filtres"])
        if v["apres"] is None:
            faux("curseur", "this is no cursor of this list")


def sceau(charge, filtres):
    lie = json.dumps([charge, sorted((n, t) for n, t in filtres.items() if n != "limite")]).encode()
    return hmac.new(CLE_CURSEUR, lie, "sha256").hexdigest()[:20]


def faire_curseur(position, filtres):
    charge = json.dumps(position)
    return base64.urlsafe_b64encode((sceau(charge, filtres) + charge).encode()).decode().rstrip("=")


def lire_curseur(texte, filtres):
    try:
        clair = base64.urlsafe_b64decode(texte + "=" * (-len(texte) % 4)).decode()
    except ValueError:
        return None
    if base64.urlsafe_b64encode(clair.encode()).decode().rstrip("=") != texte:
        return None
    if not hmac.compare_digest(sceau(clair[20:], filtres).encode(), clair[:20].encode()):
        return None
    return json.loads(clair[20:])


def moment(texte):
    """Ce qui se compare d'une échéance."""
    return texte if VARIANTE == "cornice-vienne" else instant(texte)


def convient(a, f):
    if "domaine" in f and f["domaine"] not in a["domaines"]:
        return False
    if "financeur" in f and f["financeur"] != a["financeur"]:
        return False
    if "montant_min" in f and a["montant_max"] < int(f["montant_min"]):
        return False
    if "echeance_min" in f and (a["echeance"] is None or moment(a["echeance"]) < moment(f["echeance_min"])):
        return False
    if "echeance_max" in f and (a["echeance"] is None or moment(a["echeance"]) > moment(f["echeance_max"])):
        return False
    if "recherche" in f:
        return any(plier(f["recherche"]) in plier(texte) for texte in (a["intitule"]["fr"], a["intitule"]["en"], a["resume"]))
    return True


def place(a, tri):
    """Place d'un appel dans l'ordre choisi ; la référence départage."""
    if tri == "echeance":
        if a["echeance"] is None:
            return [1, 0, a["reference"]]
        return [0, moment(a["echeance"]), a["reference"]]
    if tri == "-montant":
        return [-a["montant_max"], a["reference"]]
    return [a["reference"]]


def resumer(a):
    return {n: a[n] for n in ("reference", "intitule", "financeur", "domaines", "ouverture", "echeance", "montant_max")}


def choisir(request):
    """La page demandée ; pose les en-têtes Link et X-Total-Count."""
    v = request.validated
    f, tri, limite, apres = v["filtres"], v["tri"], v["limite"], v["apres"]
    tous = sorted((a for a in APPELS if convient(a, f)), key=lambda a: place(a, tri))
    suite = tous
    if VARIANTE == "cornice-rhone":  # parcourt les appels par tranches et filtre chaque tranche
        suite = sorted(APPELS, key=lambda a: place(a, tri))
    if apres is not None:
        if VARIANTE == "cornice-erable" and tri != "reference":
            suite = [a for a in suite if place(a, tri)[:-1] > apres[:-1]]
        else:
            suite = [a for a in suite if place(a, tri) > apres]
    page = suite[:limite]

    def lien(curseur, rel):
        q = [(n, f[n]) for n in f] + ([("curseur", curseur)] if curseur else [])
        texte = urlencode(q)
        if VARIANTE == "cornice-tilleul":
            texte = urlencode(q, encoding="latin-1", errors="replace")
        return '<%s/appels%s>; rel="%s"' % (API, "?" + texte if texte else "", rel)

    liens = [lien(None, "first")]
    if len(suite) > limite:
        liens.append(lien(faire_curseur(place(page[-1], tri), f), "next"))
    request.response.headers["Link"] = ", ".join(liens)
    request.response.headers["X-Total-Count"] = str(len(tous))
    return [resumer(a) for a in page if convient(a, f)]


@appels.get(permission="appels", accept="application/json", renderer="json", validators=(parametres,))
def lister(request):
    return choisir(request)


@appels.get(permission="appels", accept="text/csv", renderer="csv", validators=(parametres,))
def exporter(request):
    return choisir(request)


@appel.get(permission="appels", accept="application/json", renderer="json")
def lire(request):
    for a in APPELS:
        if a["reference"] == request.matchdict["reference"]:
            request.response.last_modified = datetime.fromisoformat(a["mise_a_jour"])
            return dict(resumer(a), resume=a["resume"], contact=a["contact"], mise_a_jour=a["mise_a_jour"],
                        lien=API + "/appels/" + quote(a["reference"], safe=""))
    return erreur(404, "path", "reference", "there is no call with this reference")


@financeurs.get(permission="appels", accept="application/json", renderer="json")
def lister_financeurs(request):
    return FINANCEURS


@financeur.get(permission="appels", accept="application/json", renderer="json")
def lire_financeur(request):
    for f in FINANCEURS:
        if f["code"] == request.matchdict["code"]:
            return dict(f, appels=sum(1 for a in APPELS if a["financeur"] == f["code"]))
    return erreur(404, "path", "code", "there is no funder with this code")


class RenduCSV:
    """RFC 4180, avec une ligne de titres."""

    def __init__(self, info):
        pass

    def __call__(self, lignes, system):
        system["request"].response.headers["Content-Type"] = "text/csv; charset=utf-8; header=present"
        sortie = io.StringIO()
        w = csv.writer(sortie)
        w.writerow(COLONNES)
        for a in lignes:
            w.writerow([a["reference"], a["intitule"]["fr"], a["intitule"]["en"], a["financeur"], "|".join(a["domaines"]),
                        a["ouverture"], a["echeance"] or "", a["montant_max"]])
        return sortie.getvalue()


# -- description et documentation --------------------------------------------------------------------
description = Service("description", API + "/api-docs")
documentation = Service("documentation", API + "/documentation")
essai = Service("essai", API + "/essai/appels")


@description.get(renderer="json")
def lire_description(request):
    return document.openapi(ORIGINE + JETONS, DOMAINES, TRIS, API)


@documentation.get()
def lire_documentation(request):
    return Response(document.PAGE, content_type="text/html")


@essai.get(renderer="json")
def lire_essai(request):
    return document.EXEMPLE


def application():
    config = Configurator(settings={"handle_exceptions": False})
    config.include("cornice")
    config.set_security_policy(Porteur())
    config.add_renderer("csv", RenduCSV)
    config.add_accept_view_order("text/csv")
    config.add_accept_view_order("application/json", weighs_more_than="text/csv")
    config.add_tween("__main__.representation" if __name__ == "__main__" else "node.representation")
    config.add_exception_view(panne, context=Exception)
    config.add_exception_view(exception_http, context=HTTPException)
    config.add_notfound_view(exception_http)
    config.add_forbidden_view(interdit)
    for service in (jetons, jetons_essai, annuaire, info, info_essai, appels, appel, financeurs, financeur, description, documentation, essai):
        config.add_cornice_service(service)
    return config.make_wsgi_app()


if __name__ == "__main__":
    serve(application(), host="127.0.0.1", port=PORT, threads=8, max_request_body_size=65536,
          connection_limit=1000, channel_timeout=60, ident=None)
