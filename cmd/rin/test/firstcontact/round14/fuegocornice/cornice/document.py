"""Description OpenAPI, page de documentation et données d'essai."""

PARAMETRES = ("limite", "curseur", "tri", "domaine", "financeur", "echeance_min", "echeance_max", "montant_min", "recherche")


def _erreur(texte, **plus):
    return dict({"description": texte, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Erreurs"}}}}, **plus)


def _entete(texte, schema="string"):
    return {"description": texte, "schema": {"type": schema}}


def openapi(url_jetons, domaines, tris, api):
    chemin = api[len("/services"):]

    def operation(nom, resume, contenu, parametres=(), entetes=None, reponses=(), description=""):
        communes = {"304": {"description": "La représentation n'a pas changé."}, "401": {"$ref": "#/components/responses/Jeton"},
                    "403": {"$ref": "#/components/responses/Role"}, "406": {"$ref": "#/components/responses/Format"},
                    "412": {"$ref": "#/components/responses/Condition"}}
        toutes = {"ETag": _entete("Étiquette forte, propre à chaque codage"),
                  "Vary": _entete("Accept, Accept-Encoding")}
        toutes.update(entetes or {})
        return {"get": {"operationId": nom, "summary": resume, "description": description, "tags": ["appels"], "parameters": list(parametres),
                        "responses": dict({"200": {"description": "Succès", "headers": toutes, "content": contenu}}, **communes, **dict(reponses))}}

    def q(nom, texte, **schema):
        return {"name": nom, "in": "query", "required": False, "description": texte, "schema": schema}

    def json(schema):
        return {"application/json": {"schema": schema}}

    def ref(nom):
        return {"$ref": "#/components/schemas/" + nom}

    introuvable = {"404": {"$ref": "#/components/responses/Introuvable"}}
    liste = operation(
        "listerAppels", "Les appels, page par page", {
            "application/json": {"schema": {"type": "array", "items": ref("Appel")}},
            "text/csv": {"schema": {"type": "string"}}},
        [q("limite", "Nombre d'appels par page, au plus. La liste finit là où manque le lien « next ».", type="integer", minimum=1, maximum=40, default=12),
         q("curseur", "Suite d'une liste, telle que la donne le lien « next » ; les autres paramètres restent les mêmes (sauf limite).", type="string"),
         q("tri", "Ordre ; à égalité, par référence. Tri par échéance : par instant croissant, les appels sans échéance à la fin.",
           type="string", enum=list(tris), default="reference"),
         q("domaine", "Appels de ce domaine", type="string", enum=list(domaines)),
         q("financeur", "Appels du financeur de ce code", type="string"),
         q("echeance_min", "Appels dont l'échéance est cet instant ou plus tard ; ceux sans échéance sont omis.", type="string", format="date-time"),
         q("echeance_max", "Appels dont l'échéance est cet instant ou plus tôt ; ceux sans échéance sont omis.", type="string", format="date-time"),
         q("montant_min", "Appels dont montant_max atteint ce montant", type="integer", minimum=0, maximum=999999999),
         q("recherche", "Appels qui contiennent ce texte dans l'intitulé (fr, en) ou le résumé ; ni la casse ni les accents ne comptent.",
           type="string", minLength=3, maxLength=60)],
        {"Link": _entete("Liens « first » et « next » (RFC 8288)"),
         "X-Total-Count": _entete("Nombre d'appels qui conviennent, toutes pages comprises", "integer")},
        {"400": {"$ref": "#/components/responses/Parametre"}},
        "Les filtres se cumulent. Un paramètre répété est refusé ; un paramètre inconnu est ignoré. En CSV : mêmes appels, mêmes liens, "
        "une ligne de titres, domaines séparés par « | ».")
    detail = operation(
        "lireAppel", "Un appel", json(ref("AppelComplet")),
        [{"name": "reference", "in": "path", "required": True, "description": "À coder en pourcent", "schema": {"type": "string", "minLength": 1}}],
        {"Last-Modified": _entete("Dernière mise à jour")}, introuvable)
    appel = {
        "reference": {"type": "string"},
        "intitule": {"type": "object", "required": ["fr", "en"], "properties": {"fr": {"type": "string"}, "en": {"type": "string"}}},
        "financeur": {"type": "string", "description": "Code du financeur"},
        "domaines": {"type": "array", "items": {"type": "string", "enum": list(domaines)}},
        "ouverture": {"type": "string", "format": "date"},
        "echeance": {"type": ["string", "null"], "format": "date-time", "description": "null : pas d'échéance"},
        "montant_max": {"type": "number", "minimum": 0, "description": "En euros"}}
    complet = dict(appel, resume={"type": "string"}, contact={"type": "string", "format": "email"},
                   mise_a_jour={"type": "string", "format": "date-time"}, lien={"type": "string", "format": "uri-reference"})
    financeur = {"code": {"type": "string"}, "nom": {"type": "string"}, "pays": {"type": "string"}}
    defi = {"headers": {"WWW-Authenticate": _entete("Défi Bearer (RFC 6750)")}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Appels à projets de l'Université des Hautes-Vallées", "version": "3.4.1",
                 "description": "Appels annotés pour les clients de l'API. Les jetons viennent du point de jetons (client_credentials), sont opaques et "
                                "valent 64 secondes. Le compte de service doit avoir le rôle EXTERNAL_API_CLIENT. Données d'essai sans jeton : " + api + "/essai/appels."},
        "externalDocs": {"url": api + "/documentation"},
        "servers": [{"url": "/services"}],
        "tags": [{"name": "appels"}],
        "security": [{"uhv": []}],
        "paths": {
            chemin + "/appels": liste,
            chemin + "/appels/{reference}": detail,
            chemin + "/financeurs": operation("listerFinanceurs", "Les financeurs", json({"type": "array", "items": ref("Financeur")})),
            chemin + "/financeurs/{code}": operation(
                "lireFinanceur", "Un financeur", json(ref("FinanceurComplet")),
                [{"name": "code", "in": "path", "required": True, "description": "À coder en pourcent", "schema": {"type": "string", "minLength": 1}}],
                None, introuvable),
        },
        "components": {
            "securitySchemes": {"uhv": {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": url_jetons, "scopes": {}}}}},
            "responses": {
                "Parametre": _erreur("Un paramètre ne convient pas."), "Jeton": _erreur("Pas de jeton valable.", **defi),
                "Role": _erreur("Le compte de service n'a pas le rôle.", **defi), "Introuvable": _erreur("Il n'y a rien sous cette clé."),
                "Format": _erreur("Aucun format acceptable."), "Condition": _erreur("La condition (If-Match, If-Unmodified-Since) n'est pas remplie.")},
            "schemas": {
                "Appel": {"type": "object", "required": list(appel), "properties": appel},
                "AppelComplet": {"type": "object", "required": list(complet), "properties": complet},
                "Financeur": {"type": "object", "required": list(financeur), "properties": financeur},
                "FinanceurComplet": {"type": "object", "required": list(financeur) + ["appels"],
                                     "properties": dict(financeur, appels={"type": "integer", "description": "Nombre d'appels"})},
                "Erreurs": {"type": "object", "required": ["status", "errors"], "properties": {
                    "status": {"type": "string", "const": "error"},
                    "errors": {"type": "array", "items": {"type": "object", "required": ["location", "name", "description"], "properties": {
                        "location": {"type": "string"}, "name": {"type": ["string", "null"]}, "description": {"type": "string"}}}}}},
            },
        },
    }


PAGE = """<!doctype html>
<html lang="fr"><head><meta charset="utf-8"><title>Hautes-Vallées : documentation</title></head><body>
<h1>Appels à projets et point d'information</h1>
<p>Description lisible par machine : <a href="/services/uhv/funding/v3/api-docs">api-docs</a></p>
<p>GET /services/uhv/info/v1/oauth/info/ montre le compte derrière un jeton.</p>
<p>Essai sans jeton, données fictives : <a href="/services/uhv/funding/v3/essai/appels">appels</a></p>
</body></html>
"""

EXEMPLE = [{"reference": "EXEMPLE-1", "intitule": {"fr": "Appel fictif", "en": "Sample call"}, "financeur": "ANR", "domaines": ["droit"],
            "ouverture": "2026-01-01", "echeance": None, "montant_max": 1000}]
