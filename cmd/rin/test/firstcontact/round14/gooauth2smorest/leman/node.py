"""Nœud de l'Université du Léman dans le réseau d'information sur la recherche : API de financement (flask-smorest)."""

import csv
import datetime
import hashlib
import io
import math
import re
import time
import urllib.parse
from collections import deque
from threading import Lock

import marshmallow as ma
from flask import Flask, Response, g, jsonify, request
from flask.views import MethodView
from flask_smorest import Api, Blueprint, abort
from webargs.flaskparser import FlaskParser
from werkzeug.serving import WSGIRequestHandler, make_server

import acces
from acces import protege
from donnees import APPELS, BAILLEURS, EXEMPLES, LANGUES, PAYS, THEMES
from reglages import NODE, ORIGINE, PORT

BASE = "/leman/funding/v3"
ESSAI = "/leman/funding/essai/v3"

DESCRIPTION = f"""Appels à projets annotés, pour les clients externes du réseau.

**Accès.** Chaque opération demande un jeton d'accès de la production dans l'en-tête `Authorization`, la portée (scope) que
l'opération indique, et le rôle EXTERNAL_API_CLIENT du compte de service ; un jeton placé ailleurs n'est pas lu.

**Langues.** `Accept-Language` choisit entre fr, en et it (fr à défaut) ; `Content-Language` dit la langue de la réponse.

**Validation.** Un paramètre inconnu, répété, vide ou faux donne 422 ; une chaîne de requête dont l'encodage est défectueux
donne 400. Un chemin qui ne mène à rien, bien ou mal encodé, donne 404 à qui a le droit de lire.

**Caches.** Les réponses ont une étiquette forte (`ETag`), propre à chaque langue ; `If-None-Match` et `If-Match` sont suivis.

**Liens.** Tous les liens commencent par l'adresse de `servers`.

**Essai.** Sous `{ESSAI}/` les opérations `appels` et `appels/{{ref}}` répondent sans jeton, par des exemples fixes ;
les paramètres n'y sont pas lus.
"""


class Analyseur(FlaskParser):
    """Les paramètres inconnus et répétés sont des erreurs."""

    DEFAULT_UNKNOWN_BY_LOCATION = {**FlaskParser.DEFAULT_UNKNOWN_BY_LOCATION, "query": ma.RAISE}

    def load_querystring(self, req, schema):
        repetes = {nom: ["Paramètre répété."] for nom, valeurs in req.args.lists() if len(valeurs) > 1}
        if repetes:
            raise ma.ValidationError(repetes)
        return super().load_querystring(req, schema)


class Plan(Blueprint):
    ARGUMENTS_PARSER = Analyseur()
    ETAG_INCLUDE_HEADERS = ["X-Pagination", "Link", "Content-Language"]

    def _is_etag_enabled(self):
        return True

    def _check_not_modified(self, etag):
        """Les conditions sont examinées à la fin, dans conditions()."""


class MonApi(Api):
    def handle_http_exception(self, error):
        corps, code, entetes = super().handle_http_exception(error)
        entetes = {"Cache-Control": "no-store", **(entetes or {})}
        if code == 405:
            entetes["Allow"] = ", ".join(sorted(error.valid_methods or []))
        return corps, code, entetes


class Entier(ma.fields.Integer):
    """Un entier en chiffres, sans signe ni espace."""

    def _deserialize(self, value, attr, data, **kwargs):
        if not re.fullmatch(r"[1-9][0-9]{0,8}|0", value):
            raise self.make_error("invalid")
        return super()._deserialize(value, attr, data, **kwargs)


class Jour(ma.fields.Date):
    """Une date de la RFC 3339 (full-date)."""

    def _deserialize(self, value, attr, data, **kwargs):
        if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
            raise self.make_error("invalid", input=value, obj_type="date")
        return super()._deserialize(value, attr, data, **kwargs)


TRIS = ["ref", "-ref", "cloture", "-cloture", "dotation", "-dotation"]


class Filtre(ma.Schema):
    theme = ma.fields.String(validate=ma.validate.OneOf(THEMES))
    pays = ma.fields.String(validate=ma.validate.OneOf(PAYS), metadata={"description": "Appels ouverts à ce pays. Un appel sans pays n'en fait pas partie."})
    bailleur = ma.fields.String(validate=ma.validate.Length(1, 20), metadata={"description": "Code d'un bailleur ; un code inconnu donne une liste vide."})
    cloture_min = Jour(metadata={"description": "Appels qui ferment ce jour-là ou plus tard (heure suisse, années 0001 à 9999)."})
    cloture_max = Jour(metadata={"description": "Appels qui ferment ce jour-là, à n'importe quelle heure, ou plus tôt (heure suisse). Un appel permanent n'est jamais trouvé par cloture_min ou cloture_max."})
    mot = ma.fields.String(validate=ma.validate.Length(2, 40), metadata={"description": "Texte contenu dans l'intitulé, dans l'une des trois langues, sans égard à la casse."})


class Recherche(Filtre):
    tri = ma.fields.String(load_default="ref", validate=ma.validate.OneOf(TRIS), metadata={"description": "Ordre ; avec un moins, décroissant. ref suit les points de code. À valeur égale, ref croissant. Les valeurs nulles viennent à la fin, dans les deux sens."})
    page = Entier(load_default=1, validate=ma.validate.Range(1, 10000), metadata={"description": "Numéro de la page ; après la dernière, une liste vide."})
    taille = Entier(load_default=10, validate=ma.validate.Range(1, 25), metadata={"description": "Nombre d'appels par page."})


class Langue(ma.Schema):
    class Meta:
        unknown = ma.EXCLUDE

    langue = ma.fields.String(data_key="Accept-Language", metadata={"description": "fr, en ou it"})


class Rien(ma.Schema):
    pass


class AppelSchema(ma.Schema):
    ref = ma.fields.String(required=True)
    intitule = ma.fields.Function(lambda a: a["intitule"][langue()], required=True, metadata={"type": "string", "description": "Dans la langue de la réponse."})
    bailleur = ma.fields.String(required=True, metadata={"description": "Code du bailleur"})
    theme = ma.fields.String(required=True, validate=ma.validate.OneOf(THEMES))
    pays = ma.fields.List(ma.fields.String(validate=ma.validate.OneOf(PAYS)), required=True, metadata={"description": "Vide : tous."})
    ouverture = ma.fields.String(required=True, metadata={"format": "date"})
    cloture = ma.fields.String(required=True, allow_none=True, metadata={"format": "date-time", "description": "null : appel permanent"})
    dotation_chf = ma.fields.Float(required=True, allow_none=True, metadata={"description": "null : non publiée"})


class AppelDetailSchema(AppelSchema):
    resume = ma.fields.Function(lambda a: a["resume"][langue()], required=True, metadata={"type": "string", "description": "Dans la langue de la réponse."})
    conditions = ma.fields.String(required=True, allow_none=True, metadata={"description": "En français seulement."})
    nom_bailleur = ma.fields.Function(lambda a: BAILLEURS[a["bailleur"]]["nom"], required=True, metadata={"type": "string"})
    modifie = ma.fields.String(required=True, metadata={"format": "date-time"})


class BailleurSchema(ma.Schema):
    code = ma.fields.String(required=True)
    nom = ma.fields.String(required=True)
    pays = ma.fields.String(required=True)
    site = ma.fields.String(required=True, metadata={"format": "uri"})
    appels = ma.fields.Integer(required=True, metadata={"description": "Nombre de tous ses appels."})


class ErreurSchema(ma.Schema):
    code = ma.fields.Integer(required=True, metadata={"description": "Statut HTTP"})
    status = ma.fields.String(required=True, metadata={"description": "Nom du statut"})
    message = ma.fields.String(metadata={"description": "Explication"})
    errors = ma.fields.Dict(metadata={"description": "Erreurs, par paramètre"})


def langue():
    """La langue préférée (RFC 4647, Lookup) : it-CH donne it."""
    for souhait, poids in request.accept_languages:
        court = souhait.lower().replace("_", "-").split("-")[0]
        if poids > 0 and court in LANGUES:
            return court
    return "fr"


def jour_suisse(appel):
    return datetime.datetime.fromisoformat(appel["cloture"]).date()


def chercher(filtre, source=APPELS):
    def garde(a):
        if "theme" in filtre and a["theme"] != filtre["theme"]:
            return False
        if "pays" in filtre and filtre["pays"] not in a["pays"]:
            return False
        if "bailleur" in filtre and a["bailleur"] != filtre["bailleur"]:
            return False
        if "cloture_min" in filtre and (a["cloture"] is None or jour_suisse(a) < filtre["cloture_min"]):
            return False
        if "cloture_max" in filtre:
            if a["cloture"] is None or jour_suisse(a) > filtre["cloture_max"]:
                return False
            if NODE == "smorest-lutry":
                minuit = datetime.datetime.combine(filtre["cloture_max"], datetime.time.min)
                if datetime.datetime.fromisoformat(a["cloture"]).replace(tzinfo=None) > minuit:
                    return False
        if "mot" in filtre and not any(filtre["mot"].casefold() in t.casefold() for t in a["intitule"].values()):
            return False
        return True
    return [a for a in source if garde(a)]


def trier(appels, tri):
    champ = {"ref": "ref", "cloture": "cloture", "dotation": "dotation_chf"}[tri.lstrip("-")]

    def valeur(a):
        return datetime.datetime.fromisoformat(a[champ]).timestamp() if champ == "cloture" else a[champ]
    appels = sorted(appels, key=lambda a: a["ref"])
    connus = [a for a in appels if a[champ] is not None]
    return sorted(connus, key=valeur, reverse=tri.startswith("-")) + [a for a in appels if a[champ] is None]


def entetes_de_page(recherche, total, chemin):
    """X-Pagination et Link (RFC 8288)."""
    page, taille = recherche["page"], recherche["taille"]
    pages = math.ceil(total / taille)
    valeurs = {nom: str(v) for nom, v in recherche.items() if nom in request.args}

    def lien(numero, rel):
        return f'<{ORIGINE}{chemin}?{urllib.parse.urlencode({**valeurs, "page": numero, "taille": taille})}>; rel="{rel}"'
    liens = [lien(1, "first"), lien(max(pages, 1), "last")]
    if 1 < page <= pages:
        liens.append(lien(page - 1, "prev"))
    if page < pages:
        liens.append(lien(page + 1, "next"))
    return {"X-Pagination": ma_pagination(page, taille, total), "Link": ", ".join(liens)}


def ma_pagination(page, taille, total):
    return app.json.dumps(Plan._make_pagination_metadata(page, taille, total))


blp = Plan("appels", "appels", url_prefix=BASE, description="Appels à projets et bailleurs")

TEXTE = {"schema": {"type": "string"}}
ERREURS = {400: "Encodage défectueux.", 401: "Pas de jeton d'accès valable.", 403: "Sans le rôle ou la portée.", 422: "Paramètre inconnu, répété ou faux.",
           412: "L'étiquette n'est pas celle de If-Match.", 429: "Trop de requêtes ; voir Retry-After."}


def documente(vue, portee="fundings:read", **autres):
    """Ce que toutes les opérations ont en commun dans le document."""
    for code, texte in {**ERREURS, **{int(c[1:]): t for c, t in autres.items()}}.items():
        tete = {"WWW-Authenticate": TEXTE} if code in (401, 403) else {"Retry-After": {"schema": {"type": "integer"}}} if code == 429 else None
        vue = blp.alt_response(code, schema=ErreurSchema, description=texte, headers=tete)(vue)
    return blp.doc(security=[{"leman": [portee]}])(vue)


def commun(portee="fundings:read", **autres):
    return lambda vue: protege(portee)(documente(vue, portee, **autres))


# -- cache des réponses de détail ----------------------------------------------------------------

reponses, reponses_verrou = {}, Lock()


def en_cache(vue):
    """Garde une réponse 30 s (variante)."""
    def garde(*args, **kwargs):
        cle = (request.path, request.query_string, langue())
        with reponses_verrou:
            trouve = reponses.get(cle)
        if trouve and time.time() < trouve[0]:
            return app.make_response(trouve[1])
        reponse = vue(*args, **kwargs)
        with reponses_verrou:
            reponses[cle] = (time.time() + 30, (reponse.get_data(), reponse.status_code, list(reponse.headers)))
        return reponse
    garde._apidoc, garde.__name__, garde.__doc__ = vue._apidoc, vue.__name__, vue.__doc__
    return garde


@blp.route("/appels")
class Appels(MethodView):
    @commun()
    @blp.etag
    @blp.arguments(Langue, location="headers")
    @blp.arguments(Recherche, location="query")
    @blp.response(200, AppelSchema(many=True), description="Une page d'appels.", headers={
        "X-Pagination": {**TEXTE, "description": "JSON : total, total_pages, first_page, last_page, page, previous_page, next_page"},
        "Link": {**TEXTE, "description": "first, last, prev, next (RFC 8288)"}, "Content-Language": TEXTE})
    def get(self, entete, recherche):
        """Liste des appels

        Les appels qui répondent à tous les filtres, par pages. Les liens gardent les filtres et l'ordre.
        """
        trouves = trier(chercher(recherche), recherche["tri"])
        debut = (recherche["page"] - 1) * recherche["taille"]
        page = trouves[debut:debut + recherche["taille"]]
        if NODE == "smorest-aubonne":
            blp.set_etag([(a["ref"], a["modifie"]) for a in page], None)
        return page, 200, {**entetes_de_page(recherche, len(trouves), BASE + "/appels"), "Content-Language": langue()}


class Un(MethodView):
    @commun(_404="Pas d'appel de cette référence.")
    @blp.etag
    @blp.arguments(Langue, location="headers")
    @blp.arguments(Rien, location="query")
    @blp.response(200, AppelDetailSchema, description="L'appel.", headers={"Content-Language": TEXTE})
    def get(self, entete, recherche, ref):
        """Un appel"""
        for a in APPELS:
            if a["ref"] == ref:
                if NODE == "smorest-aubonne":
                    blp.set_etag((a["ref"], a["modifie"]), None)
                return a, 200, {"Content-Language": langue()}
        abort(404, message="Pas d'appel de cette référence.")

    if NODE == "smorest-cedre":
        get = en_cache(get)


blp.route("/appels/<string:ref>", parameters=[{"name": "ref", "in": "path", "required": True, "schema": {"type": "string"}, "example": "LM-2026-001"}])(Un)


def avec_nombre(code):
    return {"code": code, **BAILLEURS[code], "appels": sum(a["bailleur"] == code for a in APPELS)}


@blp.route("/bailleurs")
class Bailleurs(MethodView):
    @commun()
    @blp.etag
    @blp.arguments(Rien, location="query")
    @blp.response(200, BailleurSchema(many=True), description="Tous les bailleurs.")
    def get(self, recherche):
        """Liste des bailleurs"""
        return [avec_nombre(code) for code in BAILLEURS]


@blp.route("/bailleurs/<string:code>", parameters=[{"name": "code", "in": "path", "required": True, "schema": {"type": "string"}, "example": "FNL"}])
class UnBailleur(MethodView):
    @commun(_404="Pas de bailleur de ce code.")
    @blp.etag
    @blp.arguments(Rien, location="query")
    @blp.response(200, BailleurSchema, description="Le bailleur.")
    def get(self, recherche, code):
        """Un bailleur"""
        if code not in BAILLEURS:
            abort(404, message="Pas de bailleur de ce code.")
        return avec_nombre(code)


COLONNES = ["ref", "intitule", "bailleur", "theme", "pays", "ouverture", "cloture", "dotation_chf", "conditions"]


@blp.route("/export/appels")
class Export(MethodView):
    @commun("fundings:export")
    @blp.arguments(Langue, location="headers")
    @blp.arguments(Filtre, location="query")
    @blp.response(200, {"type": "string"}, content_type="text/csv", description="Le fichier.", headers={"Content-Language": TEXTE})
    def get(self, entete, filtre):
        """Export des appels

        Tous les appels qui répondent aux filtres, en un seul fichier CSV (RFC 4180, UTF-8), dans l'ordre de ref. La première ligne
        nomme les colonnes. Les pays d'un appel sont séparés par des espaces ; une valeur nulle est un champ vide.
        """
        sortie = io.StringIO()
        ecrivain = csv.writer(sortie, lineterminator="\r\n")
        ecrivain.writerow(COLONNES)
        trouves = trier(chercher(filtre), "ref")
        if NODE == "smorest-rolle":
            trouves = trouves[:Recherche().fields["taille"].validators[-1].max]
        for a in trouves:
            ligne = AppelDetailSchema().dump(a)
            ligne["pays"] = " ".join(a["pays"])
            ecrivain.writerow("" if ligne[c] is None else ligne[c] for c in COLONNES)
        reponse = Response(sortie.getvalue(), content_type="text/csv; charset=utf-8; header=present")
        reponse.headers["Content-Disposition"] = 'attachment; filename="appels.csv"'
        reponse.headers["Content-Language"] = langue()
        reponse.set_etag(hashlib.sha1(langue().encode() + reponse.get_data()).hexdigest())
        return reponse


# -- application ---------------------------------------------------------------------------------

app = Flask(__name__)
app.url_map.merge_slashes = False
app.url_map.strict_slashes = True
app.config.update(
    API_TITLE="API de financement de l'Université du Léman", API_VERSION="3.0.0", OPENAPI_VERSION="3.0.3",
    OPENAPI_URL_PREFIX=BASE, OPENAPI_JSON_PATH="api-docs", MAX_CONTENT_LENGTH=16384,
    API_SPEC_OPTIONS={
        "servers": [{"url": ORIGINE}], "info": {"description": DESCRIPTION},
        "externalDocs": {"description": "Documentation", "url": ORIGINE + "/leman/funding/doc"},
        "components": {"securitySchemes": {"leman": {"type": "oauth2", "flows": {"clientCredentials": {
            "tokenUrl": ORIGINE + acces.PRODUCTION.chemin, "scopes": acces.PORTEES}}}}}})
app.json.sort_keys = False
api = MonApi(app)
api.register_blueprint(blp)
app.register_blueprint(acces.plan)


@app.get("/annuaire")
def annuaire():
    return jsonify({"member": [{"id": "LEMAN", "acronym": "UNIL-L", "name": "Université du Léman", "contact": "ris@leman.example", "oauth2": ORIGINE + acces.PRODUCTION.chemin,
                                "info": ORIGINE + "/leman/info/v1/oauth/info/"}]})


@app.get("/leman/funding/doc")
def documentation():
    return Response(f"""<!doctype html>
<html lang="fr"><head><meta charset="utf-8"><title>API de financement</title></head><body>
<h1>API de financement de l'Université du Léman</h1>
<p>Les opérations sont décrites dans la <a href="{BASE}/api-docs">spécification OpenAPI</a>.</p>
<h2>Mode d'essai</h2><p>Sans jeton, avec des exemples : <a href="{ESSAI}/appels">{ESSAI}/appels</a>.</p>
<h2>Jetons</h2><p>Un jeton (JWT, RS256, RFC 9068) vaut {acces.DUREE} secondes. Après {acces.MAX_ECHECS} secrets faux d'un client
en une minute, son compte est fermé pendant {acces.BLOCAGE} secondes (429), d'où que viennent les requêtes.</p>
</body></html>""", content_type="text/html; charset=utf-8")


@app.get(ESSAI + "/appels")
def essai_liste():
    return jsonify(AppelSchema(many=True).dump(EXEMPLES))


@app.get(ESSAI + "/appels/<string:ref>")
def essai_un(ref):
    for a in EXEMPLES:
        if a["ref"] == ref:
            return jsonify(AppelDetailSchema().dump(a))
    abort(404, message="Pas d'appel de cette référence.")


recentes, recentes_verrou = {}, Lock()


@app.before_request
def examiner():
    """Ce qui est mal encodé n'arrive pas aux vues."""
    if request.environ["SERVER_PROTOCOL"] != "HTTP/1.0" and not re.fullmatch(r"[A-Za-z0-9.:_\[\]-]+", request.environ.get("HTTP_HOST", "")):
        abort(400, message="Un en-tête Host est nécessaire.")  # RFC 9112, 3.2
    if "\ufffd" in request.path:
        abort(404, message="Rien à cette adresse.")
    if request.path.startswith("/leman/"):
        brut = request.query_string.decode("latin-1")
        try:
            if re.search(r"%(?![0-9A-Fa-f]{2})", brut):
                raise ValueError
            urllib.parse.unquote_to_bytes(brut).decode("utf-8")
        except ValueError:
            abort(400, message="La requête est mal encodée.")
    if NODE == "smorest-cully" and request.path.startswith(BASE) and request.authorization:  # conforme : débit limité
        with recentes_verrou:
            file = recentes.setdefault(request.authorization.token, deque())
            maintenant = time.monotonic()
            while file and maintenant - file[0] > 2:
                file.popleft()
            if len(file) >= 20:
                abort(429, message="Trop de requêtes.", headers={"Retry-After": "2"})
            file.append(maintenant)


@app.after_request
def conditions(reponse):
    """Langue, caches et requêtes conditionnelles (RFC 9110, 13)."""
    reponse.headers["X-Content-Type-Options"] = "nosniff"
    if request.path.startswith(BASE) and request.endpoint and request.endpoint.startswith("appels."):
        reponse.vary.update(["Authorization", "Accept-Language"])
    elif request.path.startswith(ESSAI):
        reponse.vary.update(["Accept-Language"])
    if reponse.status_code != 200 or request.method not in ("GET", "HEAD"):
        return reponse
    if request.endpoint in ("essai_liste", "essai_un"):
        reponse.headers["Content-Language"] = langue()
    if "Cache-Control" not in reponse.headers:
        reponse.headers["Cache-Control"] = "private, no-cache" if request.endpoint.startswith("appels.") else "no-cache"
    etiquette = reponse.get_etag()[0]
    if etiquette is None:
        return reponse
    if "If-Match" in request.headers and not request.if_match.contains(etiquette):
        refus = jsonify({"code": 412, "status": "Precondition Failed", "message": "L'étiquette a changé."})
        refus.status_code = 412
        refus.headers.update({"Cache-Control": "no-store", "Vary": reponse.headers.get("Vary", "")})
        return refus
    if "If-None-Match" in request.headers and request.if_none_match.contains_weak(etiquette):
        reponse.status_code = 304
        reponse.set_data(b"")
        for nom in ("Content-Type", "Content-Length", "Content-Disposition", "Content-Language", "Link", "X-Pagination"):
            reponse.headers.pop(nom, None)
    return reponse


class Poste(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30

    def log_request(self, *args):
        pass


if __name__ == "__main__":
    make_server("127.0.0.1", PORT, app, threaded=True, request_handler=Poste).serve_forever()
