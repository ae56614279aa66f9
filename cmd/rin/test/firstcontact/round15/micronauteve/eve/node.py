"""Knoten TUE: Eve mit eigener Datenschicht."""
import datetime as dt
import email.utils
import functools
import hashlib
import os
import re
from urllib.parse import quote, urlencode

import simplejson
import waitress
from eve import Eve
from eve.auth import TokenAuth
from eve.render import JSONRenderer, XMLRenderer
from flask import Request, Response, abort, current_app, g, request
from werkzeug.datastructures import ImmutableMultiDict
from werkzeug.exceptions import HTTPException
from werkzeug.utils import cached_property

import pruefung
from anmeldung import DAUER, Dienst, Konto
from dokument import dokument
from schicht import SqlSchicht
from variante import ist

PORT = int(os.environ.get("PORT", "8080"))
WURZEL = "http://127.0.0.1:%d" % PORT
API = "/tue/funding/v3"
ROLLE = "EXTERNAL_API_CLIENT"


class JsonUtf8(JSONRenderer):
    def render(self, data):
        return simplejson.dumps(data, cls=current_app.data.json_encoder_class, ensure_ascii=False)


class Xml(XMLRenderer):
    @classmethod
    def xml_add_links(cls, data):
        data.pop("links", None)
        return ""


class Zugang(TokenAuth):
    aud = "foerderung"

    def authorized(self, allowed_roles, resource, method):
        if method == "OPTIONS":
            return True
        schema, _, wert = request.headers.get("Authorization", "").partition(" ")
        wert = wert.strip(" ")
        if schema.lower() != "bearer" or not wert:
            verweigere(401)
        if "access_token" in request.args:
            verweigere(400)
        e = betrieb.suche(wert)
        if e is None or (self.aud and self.aud not in e["konto"].aud):
            verweigere(401, "invalid_token")
        self.set_user_or_token(e["konto"].client_id)
        if allowed_roles and not set(allowed_roles) & set(e["konto"].rollen):
            verweigere(403, "insufficient_scope")
        return True


TITEL = {400: "Ungültige Anfrage", 401: "Nicht angemeldet", 403: "Nicht berechtigt", 404: "Nicht gefunden", 405: "Methode nicht erlaubt",
         412: "Vorbedingung nicht erfüllt", 500: "Interner Fehler"}
GRUND = {"invalid_token": ("Das Token ist abgelaufen, unbekannt oder gilt hier nicht.", "The token is expired, unknown or not meant for this service"),
         "insufficient_scope": ("Dem Konto fehlt die Rolle EXTERNAL_API_CLIENT.", "The role EXTERNAL_API_CLIENT is missing")}


def problem(status, detail, koepfe=()):
    r = Response(simplejson.dumps({"type": "about:blank", "title": TITEL.get(status, "Fehler"), "status": status, "detail": detail}, ensure_ascii=False),
                 status=status, content_type="application/problem+json")
    for n, w in koepfe:
        r.headers[n] = w
    r.headers.setdefault("Cache-Control", "no-store")
    return r


def verweigere(status, fehler=None):
    k = '%s realm="tue"' % ("bearer" if ist("fichte") else "Bearer")
    if fehler:
        k += ', error="%s", error_description="%s"' % (fehler, GRUND[fehler][1])
    elif status == 400:
        k += ', error="invalid_request", error_description="More than one method for the token"'
    detail = GRUND[fehler][0] if fehler else ("Das Token steht zweimal in der Anfrage." if status == 400 else "Diese Anfrage braucht ein Token.")
    abort(problem(status, detail, [("WWW-Authenticate", k)]))


DOMAIN = {}
for name in ("ausschreibungen", "foerdergeber", "fristen"):
    DOMAIN[name] = {
        "schema": {"id": {"type": "string"}}, "id_field": "id", "item_lookup": name != "fristen", "item_lookup_field": "id",
        "item_url": 'regex("[^/]+")', "resource_methods": ["GET"], "item_methods": ["GET"], "allowed_roles": [ROLLE], "allowed_item_roles": [ROLLE],
        "allowed_filters": [], "sorting": False, "projection": False, "embedding": False, "pagination_limit": 50, "transparent_schema_rules": True,
    }
SETTINGS = {
    "DOMAIN": DOMAIN, "URL_PREFIX": "tue/funding", "API_VERSION": "v3", "HATEOAS": False, "IF_MATCH": False, "RENDERERS": ["__main__.JsonUtf8"] + (["__main__.Xml"] if ist("buche") else []),
    "ITEMS": "eintraege", "META": "seiten", "LINKS": "links", "QUERY_PAGE": "seite", "QUERY_MAX_RESULTS": "anzahl", "PAGINATION_DEFAULT": 20, "PAGINATION_LIMIT": 50,
    "LAST_UPDATED": "_geaendert", "DATE_CREATED": "_angelegt", "STANDARD_ERRORS": [], "ALLOW_OVERRIDE_HTTP_METHOD": False, "PROPAGATE_EXCEPTIONS": False,
    "BULK_ENABLED": False, "OPLOG": False, "X_DOMAINS": None,
}


class Anfrage(Request):
    @cached_property
    def args(self):
        """Eve sieht nur Parameter, die das Dokument nennt (sonst wertet es version, anzahl … überall aus)."""
        alle = super().args
        if not self.path.startswith(API + "/"):
            return alle
        namen = {p["name"] for p in pruefung.PARAMETER.get(self.path[len(API) + 1:].rstrip("/"), [])} | {"access_token"}
        return ImmutableMultiDict([(n, w) for n, w in alle.items(multi=True) if n in namen])

    rohdaten = b""
    formular = None
    geprueft = None


class Knoten(Eve):
    request_class = Anfrage


app = Knoten(__name__, settings=SETTINGS, auth=Zugang, data=SqlSchicht)
app.url_map.strict_slashes = False
app.url_map.merge_slashes = False
betrieb = Dienst("betrieb", [
    Konto("tue-abruf", "Kx7+Q%Zr:9/tO=v&8w~B2", {"foerderung", "info"}, [ROLLE], "AT-TUE-11"),
    Konto("tue-besuch", "b!S3%2Fq+Lm=:e&Rt0~Vy", {"foerderung", "info"}, [], "AT-TUE-12"),
    Konto("tue-projekte", "J4/%y:Wd+9=Zs&k!6~Hp", {"projekte"}, [ROLLE], "AT-TUE-13"),
    Konto("tue-reserve", "r5:T%+/Nf=0&xG!u~E3a", {"foerderung", "info"}, [ROLLE], "AT-TUE-14"),
], app)
erprobung = Dienst("erprobung", [Konto("tue-probe", "pR0%3A+b:e/=&k!7~Qw", {"info"}, [], "AT-TUE-90")], app)


@app.before_request
def vorbereiten():
    request.rohdaten = request.get_data()


def vor_get(ressource, req, lookup=None):
    try:
        req.geprueft = pruefung.pruefe(ressource, pruefung.lies(req.query_string))
    except pruefung.Falsch as f:
        abort(problem(400, "Parameter %s: %s" % (f.name, f.grund)))


def vor_get_ressource(ressource, req, lookup):
    if "id" in (req.view_args or {}):
        req.geprueft = {}
        return
    vor_get(ressource, req)


def adresse(ressource, p, seite):
    paare = []
    for d in pruefung.PARAMETER[ressource]:
        n = d["name"]
        if n == "seite":
            w = seite
        elif n in p:
            w = p[n]
        else:
            continue
        if n != "seite" and n != "anzahl" and "vorgabe" in d and w == d["vorgabe"]:
            continue
        paare += [(n, x) for x in w] if isinstance(w, list) else [(n, w)]
    return {"href": WURZEL + API + "/" + ressource + "?" + urlencode(paare, quote_via=quote)}


def nach_liste(ressource, antwort):
    p = request.geprueft
    m = antwort["seiten"]
    gesamt = m.pop("total")
    antwort["seiten"] = {"seite": p["seite"], "anzahl": p["anzahl"], "gesamt": gesamt}
    letzte = max(1, -(-gesamt // p["anzahl"]))
    l = {"self": adresse(ressource, p, p["seite"]), "erste": adresse(ressource, p, 1), "letzte": adresse(ressource, p, letzte)}
    if p["seite"] < letzte:
        l["weiter"] = adresse(ressource, p, p["seite"] + 1)
    if p["seite"] > 1:
        l["zurueck"] = adresse(ressource, p, min(p["seite"] - 1, letzte))
    antwort["links"] = l
    for e in antwort["eintraege"]:
        e.pop("_geaendert", None)
        e.pop("_angelegt", None)


def nach_eintrag(ressource, antwort):
    antwort.pop("_geaendert", None)
    antwort.pop("_angelegt", None)


app.on_pre_GET += vor_get_ressource
app.on_pre_HEAD += vor_get_ressource
app.on_fetched_resource += nach_liste
app.on_fetched_item += nach_eintrag


def geschuetzt(rollen):
    def huelle(f):
        @functools.wraps(f)
        def innen(*a, **k):
            z = Zugang()
            if ist("kiefer"):
                z.aud = None
            z.authorized(rollen, None, request.method)
            return f(*a, **k)
        return innen
    return huelle


def als_json(d, status=200):
    return Response(simplejson.dumps(d, ensure_ascii=False), status=status, content_type="application/json")


@app.route(API + "/statistik", methods=["GET"])
@geschuetzt([ROLLE])
def statistik():
    return als_json(app.data.statistik())


@app.route("/tue/funding/v3/api-docs", methods=["GET"])
def api_docs():
    r = als_json(dokument(WURZEL + "/realms/ris/protocol/openid-connect/token"))
    r.headers["Cache-Control"] = "public, max-age=60"
    return r


@app.route("/register/ris.json", methods=["GET"])
def register():
    r = als_json({"member": [{"id": "TUE", "acronym": "TUE", "name": "Technische Universität Enns", "contact": "ris@tue.example", "oauth2": WURZEL + "/realms/ris/protocol/openid-connect/token", "info": WURZEL + "/tue/info/v1/oauth/info/"}]})
    r.headers["Cache-Control"] = "public, max-age=60"
    return r


def info_von(dienst, aud):
    schema, _, wert = request.headers.get("Authorization", "").partition(" ")
    wert = wert.strip(" ")
    if schema.lower() != "bearer" or not wert:
        verweigere(401)
    if "access_token" in request.args:
        verweigere(400)
    e = dienst.suche(wert)
    if e is None or aud not in e["konto"].aud:
        verweigere(401, "invalid_token")
    k = e["konto"]
    r = als_json({"knoten": "TUE", "dienst": dienst.name, "client_id": k.client_id, "einrichtung": k.einrichtung, "rollen": k.rollen,
                 "endpoints": {"funding": [{"name": "FUNDINGS", "majorVersion": 3, "minorVersion": 0, "url": WURZEL + API + "/ausschreibungen"}]}})
    r.headers["Cache-Control"] = "no-store"
    return r


@app.route("/tue/info/v1/oauth/info/", methods=["GET"])
def info():
    return info_von(betrieb, "info")


@app.route("/tue-staging/info/v1/oauth/info/", methods=["GET"])
def info_erprobung():
    return info_von(erprobung, "info")


@app.route("/realms/ris/protocol/openid-connect/token", methods=["POST"])
def token():
    return betrieb.antworte()


@app.route("/tue-staging/oauth/token", methods=["POST"])
def token_erprobung():
    return erprobung.antworte()


@app.errorhandler(HTTPException)
def http_fehler(e):
    if e.response is not None:
        return e.response
    koepfe = []
    if e.code == 405:
        koepfe.append(("Allow", ", ".join(sorted(e.valid_methods or []))))
    details = {404: "Unter dieser Adresse gibt es nichts.", 405: "Diese Methode gibt es hier nicht."}
    return problem(e.code, details.get(e.code, "Die Anfrage ist nicht verarbeitbar."), koepfe)


@app.errorhandler(Exception)
def fehler(e):
    app.logger.exception("Fehler")
    return problem(500, "Das sollte nicht geschehen.")


def etags(wert):
    return None if wert is None else re.findall(r'(\*)|(W/)?"([^"]*)"', wert)


MONATE = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
_TAG, _MON, _UHR = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)", "(?P<m>%s)" % "|".join(MONATE), "(?P<h>[01][0-9]|2[0-3]):(?P<n>[0-5][0-9]):(?P<s>[0-5][0-9]|60)"
HTTP_DATUM = [re.compile(_TAG + ", (?P<t>[0-9]{2}) " + _MON + " (?P<j>[0-9]{4}) " + _UHR + " GMT"),
              re.compile("(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (?P<t>[0-9]{2})-" + _MON + "-(?P<j>[0-9]{2}) " + _UHR + " GMT"),
              re.compile(_TAG + " " + _MON + " (?P<t>[ 0-9][0-9]) " + _UHR + " (?P<j>[0-9]{4})")]


def datum(wert):
    """HTTP-date in einer der drei Formen (RFC 9110, 5.6.7), sonst None."""
    if wert is None:
        return None
    for muster in HTTP_DATUM:
        m = muster.fullmatch(wert.strip())
        if m:
            d = m.groupdict()
            jahr = int(d["j"])
            jetzt = dt.datetime.now(dt.timezone.utc)
            if len(d["j"]) == 2:
                jahr += jetzt.year // 100 * 100
            try:
                t = dt.datetime(jahr, MONATE.index(d["m"]) + 1, int(d["t"]), int(d["h"]), int(d["n"]), min(59, int(d["s"])), tzinfo=dt.timezone.utc)
                if len(d["j"]) == 2 and t.replace(year=jahr - 50, day=min(t.day, 28)) > jetzt:
                    t = t.replace(year=jahr - 100)
                return t
            except ValueError:
                return None
    return None


@app.after_request
def bedingt(r):
    if request.method == "OPTIONS" and r.status_code == 200:
        r.status_code = 204
        r.headers.pop("Content-Type", None)
        r.headers.pop("Content-Length", None)
        return r
    if request.method not in ("GET", "HEAD") or r.status_code != 200:
        return r
    pfad = request.path
    r.headers.pop("X-Total-Count", None)
    r.headers.pop("Last-Modified", None)
    if pfad.startswith(API + "/") and not pfad.startswith(API + "/api-docs"):
        r.headers["Cache-Control"] = "private, no-cache"
    if "no-store" in r.headers.get("Cache-Control", ""):
        return r
    inhalt = r.get_data()
    marke = hashlib.sha256(inhalt).hexdigest()[:24]
    r.headers["ETag"] = '"%s"' % marke
    geaendert = None
    if pfad.startswith(API + "/ausschreibungen/") and "id" in (request.view_args or {}) and r.mimetype == "application/json":
        d = simplejson.loads(inhalt)
        zeiten = [dt.datetime.strptime(d[n], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=dt.timezone.utc) for n in ("geaendert", "beginn", "frist") if d[n]]
        geaendert = max(z for i, z in enumerate(zeiten) if i == 0 or z <= dt.datetime.now(dt.timezone.utc))
        r.headers["Last-Modified"] = email.utils.format_datetime(geaendert, usegmt=True)
    h = {n[5:].replace("_", "-").title(): w for n, w in request.environ["tue.bedingungen"].items()}
    wm, wnm = h.get("If-Match"), h.get("If-None-Match")
    if wm is not None:
        if not any(s or (not w and v == marke) for s, w, v in etags(wm)):
            return problem(412, "If-Match trifft nicht zu.")
    elif geaendert and datum(h.get("If-Unmodified-Since")) and geaendert > datum(h.get("If-Unmodified-Since")):
        return problem(412, "If-Unmodified-Since trifft nicht zu.")
    nicht = False
    if wnm is not None:
        nicht = any(s or v == marke for s, w, v in etags(wnm))
    elif geaendert and datum(h.get("If-Modified-Since")):
        nicht = geaendert <= datum(h.get("If-Modified-Since"))
    if nicht:
        n = Response(status=304)
        for k in ("ETag", "Cache-Control", "Vary", "Last-Modified", "Content-Location"):
            if k in r.headers:
                n.headers[k] = r.headers[k]
        n.headers.pop("Content-Type", None)
        return n
    return r


class OhneEveBedingungen:
    """Eve soll die Bedingungen nicht selbst auswerten."""

    def __init__(self, wsgi):
        self.wsgi = wsgi

    def __call__(self, environ, start):
        environ["tue.bedingungen"] = {n: environ.pop(n) for n in list(environ) if n.startswith("HTTP_IF_")}
        return self.wsgi(environ, start)


if __name__ == "__main__":
    waitress.serve(OhneEveBedingungen(app), host="127.0.0.1", port=PORT, threads=8, ident="tue")
