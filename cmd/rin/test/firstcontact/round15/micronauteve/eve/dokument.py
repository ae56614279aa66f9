"""OpenAPI-Dokument des Förderdienstes."""
import daten
from pruefung import KENNUNG, PARAMETER
from variante import ist

AID = r"^GZ [0-9]{4} Ü\+4%$" if ist("eiche") else r"^TUE-[0-9]{4}$"


def _schema(p):
    if p["typ"] == "zahl":
        s = {"type": "integer", "format": "int32", "minimum": p["von"], "maximum": p["bis"]}
    elif p["typ"] == "wort":
        s = {"type": "string", "enum": p["werte"]}
    elif p["typ"] == "muster":
        s = {"type": "string", "pattern": p["muster"]}
    elif p["typ"] == "tag":
        s = {"type": "string", "format": "date"}
    elif p["typ"] == "liste":
        s = {"type": "array", "items": {"type": "string", "enum": p["werte"]}, "minItems": 1}
    else:
        s = {"type": "string", "minLength": p["min"], "maxLength": p["max"]}
    if "vorgabe" in p:
        s["default"] = p["vorgabe"]
    return s


def _parameter(ressource):
    l = []
    for p in PARAMETER.get(ressource, []):
        d = {"name": p["name"], "in": "query", "required": False, "description": p["text"], "schema": _schema(p)}
        if p["typ"] == "liste":
            d.update(style="form", explode=True)
        l.append(d)
    return l


def _ref(n):
    return {"$ref": "#/components/schemas/" + n}


def _obj(felder, beschreibung=None):
    d = {"type": "object", "required": list(felder), "properties": felder}
    if beschreibung:
        d["description"] = beschreibung
    return d


def _antworten(schema, *fehler):
    koepfe = {"ETag": {"description": "Starker Validator dieser Darstellung.", "schema": {"type": "string"}},
              "Cache-Control": {"description": "Immer private, no-cache.", "schema": {"type": "string"}}}
    if schema == "Ausschreibung":
        koepfe["Last-Modified"] = {"description": "Zeitpunkt, seit dem diese Darstellung gilt: der späteste aus geaendert und den schon vergangenen aus beginn und frist.", "schema": {"type": "string"}}
    r = {"200": {"description": "Erfolg", "headers": koepfe, "content": {"application/json": {"schema": _ref(schema)}}},
         "304": {"description": "Nicht verändert"}}
    for f in fehler:
        r[f] = {"$ref": "#/components/responses/F" + f}
    r["412"] = {"$ref": "#/components/responses/F412"}
    r["405"] = {"$ref": "#/components/responses/F405"}
    return r


def dokument(token_url):
    zeit = {"type": "string", "format": "date-time", "description": "UTC, Sekunden, mit Z"}
    zeit_leer = dict(zeit, nullable=True, description="UTC, Sekunden, mit Z; null bei laufender Ausschreibung")
    status = {"type": "string", "enum": ["GEPLANT", "OFFEN", "GESCHLOSSEN"],
              "description": "GEPLANT vor beginn, OFFEN von beginn bis vor frist (ohne frist: immer weiter), GESCHLOSSEN ab frist"}
    region = {"type": "array", "items": {"type": "string", "enum": daten.REGIONEN}, "minItems": 1, "uniqueItems": True}
    art = {"type": "string", "enum": daten.ARTEN}
    ganz = {"type": "integer", "format": "int32", "minimum": 0}
    verweis = _obj({"href": {"type": "string", "format": "uri"}})
    seiten = _obj({"seite": dict(ganz, minimum=1), "anzahl": dict(ganz, minimum=1, maximum=50), "gesamt": dict(ganz, description="Zahl aller Einträge, auf die die Filter zutreffen")})
    links = {"type": "object", "required": ["self", "erste", "letzte"], "description": "Adressen mit allen Filtern der Anfrage. weiter fehlt auf der letzten Seite und dahinter, zurueck auf der ersten. letzte ist bei leerer Liste die Seite 1.",
             "properties": {"self": verweis, "erste": verweis, "letzte": verweis, "weiter": verweis, "zurueck": verweis}}

    def liste(n):
        return _obj({"eintraege": {"type": "array", "items": _ref(n)}, "seiten": _ref("Seiten"), "links": _ref("Links")})

    def fehler(text, kopf=None):
        d = {"description": text, "content": {"application/problem+json": {"schema": _ref("Problem")}}}
        if kopf:
            d["headers"] = {kopf: {"schema": {"type": "string"}}}
        return d

    def pfad(op, kurz, ressource, schema, *f, mehr=None):
        return {"get": {"operationId": op, "tags": ["Förderung"], "summary": kurz, "parameters": (mehr or []) + _parameter(ressource),
                        "security": [{"ris": []}], "responses": _antworten(schema, *f)}}

    aid = [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}, "description": "Kennung der Ausschreibung"}]
    fid = [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}, "description": "Kennung des Fördergebers"}]
    basis = "/v3"
    return {
        "openapi": "3.0.3",
        "info": {"title": "Förderdienst des Knotens TUE", "version": "3.0.0", "description":
                 "Ausschreibungen von Fördergebern. Alle Texte sind deutsch, alle Antworten JSON in UTF-8 (der Kopf Accept wird nicht beachtet). "
                 "Jede Anfrage braucht ein Token mit der Rolle EXTERNAL_API_CLIENT. "
                 "Geblättert wird mit seite und anzahl; seiten.gesamt zählt alle Treffer, links.weiter führt weiter. "
                 "Parameter, die hier nicht stehen, werden nicht beachtet (außer access_token neben dem Kopf Authorization: Antwort 400). "
                 "Unzulässige Werte ergeben 400. Fehler sind application/problem+json. "
                 "GET und HEAD verstehen If-None-Match und If-Match, bei einer einzelnen Ausschreibung auch If-Modified-Since und If-Unmodified-Since. OPTIONS nennt in Allow die Methoden, ohne Token. "
                 "Token gelten 75 Sekunden. Nach 10 falschen Geheimnissen hintereinander (ohne gelungene Anmeldung dazwischen) binnen 60 Sekunden ist das Konto am Tokenendpunkt für 30 Sekunden gesperrt (429 mit Retry-After)."
                 + (" Der Bestand lebt: neue Ausschreibungen erscheinen jederzeit, auch während jemand blättert; von da an stehen sie in allen Listen und zählen in seiten.gesamt und in der Statistik mit." if ist("ahorn") else "")
                 + (" Die Kennung einer Ausschreibung ist ihre Geschäftszahl; im Pfad wird sie als ein Segment prozentkodiert (RFC 3986, UTF-8)." if ist("eiche") else "")},
        "servers": [{"url": "/tue/funding"}],
        "tags": [{"name": "Förderung"}],
        "security": [{"ris": []}],
        "paths": {
            basis + "/ausschreibungen": pfad("listCalls", "Ausschreibungen auflisten", "ausschreibungen", "Ausschreibungsliste", "400", "401", "403"),
            basis + "/ausschreibungen/{id}": pfad("getCall", "Eine Ausschreibung lesen", "", "Ausschreibung", "400", "401", "403", "404", mehr=aid),
            basis + "/foerdergeber": pfad("listFunders", "Fördergeber auflisten, nach id geordnet", "foerdergeber", "Foerdergeberliste", "400", "401", "403"),
            basis + "/foerdergeber/{id}": pfad("getFunder", "Einen Fördergeber lesen", "", "Foerdergeber", "400", "401", "403", "404", mehr=fid),
            basis + "/fristen": pfad("listDeadlines", "Alle Einreichfristen, nach datum und dann id geordnet", "fristen", "Fristenliste", "400", "401", "403"),
            basis + "/statistik": pfad("getStatistics", "Zahlen über alle Ausschreibungen", "", "Statistik", "400", "401", "403"),
        },
        "components": {
            "securitySchemes": {"ris": {"type": "oauth2", "description": "Client Credentials; Basic oder Formular", "flows": {"clientCredentials": {"tokenUrl": token_url, "scopes": {"api": "Lesen"}}}}},
            "responses": {
                "F400": fehler("Unzulässiger Parameter"),
                "F401": fehler("Token fehlt, ist abgelaufen oder gilt hier nicht", "WWW-Authenticate"),
                "F403": fehler("Dem Konto fehlt die Rolle EXTERNAL_API_CLIENT", "WWW-Authenticate"),
                "F404": fehler("Gibt es nicht"),
                "F412": fehler("If-Match oder If-Unmodified-Since trifft nicht zu"),
                "F405": fehler("Methode nicht erlaubt", "Allow"),
            },
            "schemas": {
                "Problem": _obj({"type": {"type": "string"}, "title": {"type": "string"}, "status": {"type": "integer", "format": "int32"}, "detail": {"type": "string"}}, "RFC 9457"),
                "Verweis": verweis, "Seiten": seiten, "Links": links,
                "Foerdergeber": _obj({"id": {"type": "string", "pattern": KENNUNG}, "name": {"type": "string"}, "kuerzel": {"type": "string"}}),
                "Frist": _obj({"id": {"type": "string"}, "art": art, "datum": zeit}),
                "Fristeintrag": _obj({"id": {"type": "string"}, "ausschreibung": {"type": "string", "pattern": AID}, "titel": {"type": "string"}, "art": art, "datum": zeit}),
                "Kurzausschreibung": _obj({"id": {"type": "string", "pattern": AID}, "titel": {"type": "string"}, "foerdergeber_id": {"type": "string", "pattern": KENNUNG, "description": "Kennung des Fördergebers"},
                                           "status": status, "regionen": region, "beginn": zeit, "frist": zeit_leer, "summe_bis": ganz}),
                "Ausschreibung": _obj({"id": {"type": "string", "pattern": AID}, "titel": {"type": "string"}, "kurztext": {"type": "string"}, "foerdergeber": _ref("Foerdergeber"),
                                       "status": status, "regionen": region, "beginn": zeit, "frist": zeit_leer, "summe_von": ganz, "summe_bis": ganz,
                                       "eigenanteil": {"type": "number", "minimum": 0, "maximum": 1}, "stichworte": {"type": "array", "items": {"type": "string"}},
                                       "webseite": {"type": "string", "format": "uri"}, "geaendert": zeit, "fristen": {"type": "array", "items": _ref("Frist"), "description": "Nach datum geordnet; die letzte ist die Frist der Ausschreibung"}}),
                "Statistik": _obj({"ausschreibungen": dict(ganz, description="Zahl aller Ausschreibungen"), "ohne_frist": ganz,
                                   "nach_status": _obj({"GEPLANT": ganz, "OFFEN": ganz, "GESCHLOSSEN": ganz}),
                                   "nach_foerdergeber": {"type": "array", "items": _obj({"foerdergeber": {"type": "string", "pattern": KENNUNG}, "anzahl": ganz})}}),
                "Ausschreibungsliste": liste("Kurzausschreibung"), "Foerdergeberliste": liste("Foerdergeber"), "Fristenliste": liste("Fristeintrag"),
            },
        },
    }
