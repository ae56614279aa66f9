"""The OpenAPI document of the funding API."""


def ref(name: str) -> dict:
    return {"$ref": f"#/components/schemas/{name}"}


def objekt(pflicht: list[str], **felder) -> dict:
    return {"type": "object", "required": pflicht, "properties": felder}


TEXT = {"type": "string"}
ZEIT = {"type": "string", "format": "date-time", "description": "Ortszeit in Wien mit Abstand zu UTC."}
TAG = {"type": "string", "format": "date"}
ADRESSE = {"type": "string", "format": "uri"}
NUMMER = {"name": "id", "in": "path", "required": True, "description": "Nummer der Ausschreibung.", "schema": TEXT}


def parameter(name: str, schema: dict, text: str) -> dict:
    return {"name": name, "in": "query", "required": False, "description": text, "schema": schema}


LISTE = [
    parameter("stand", {"type": "string", "enum": ["offen", "geplant", "beendet"]}, "Nur Ausschreibungen in diesem Stand."),
    parameter("geber", {"type": "integer", "minimum": 1, "maximum": 999999999}, "Nur Ausschreibungen dieses Fördergebers; ein unbekannter ergibt eine leere Liste."),
    parameter("thema", {"type": "array", "items": ref("Themenschluessel")}, "Nur Ausschreibungen mit mindestens einem dieser Themen; darf mehrfach stehen.") | {"style": "form", "explode": True},
    parameter("suche", {"type": "string", "minLength": 2, "maxLength": 100}, "Teil der Bezeichnung; Groß- und Kleinschreibung sind gleich."),
    parameter("fristVon", TAG, "Nur Ausschreibungen, deren Frist (Ortszeit in Wien) an diesem Tag oder später liegt. Jeder Tag von 0001-01-01 bis 9999-12-31 ist erlaubt."),
    parameter("fristBis", TAG, "Nur Ausschreibungen, deren Frist (Ortszeit in Wien) an diesem Tag oder früher liegt; der ganze Tag zählt. Jeder Tag von 0001-01-01 bis 9999-12-31 ist erlaubt."),
    parameter("sortierung", {"type": "string", "enum": ["frist", "-frist", "nummer"], "default": "frist"}, "Reihenfolge; bei gleicher Frist nach id."),
    parameter("page", {"type": "integer", "minimum": 1, "maximum": 100000, "default": 1}, "Seite, von 1 an; hinter der letzten ist items leer."),
    parameter("size", {"type": "integer", "minimum": 1, "maximum": 50, "default": 20}, "Einträge je Seite."),
]


def antworten(schema: dict, text: str, *codes: str) -> dict:
    namen = {"400": "FalscheAnfrage", "401": "KeinToken", "403": "NichtErlaubt", "404": "NichtGefunden"}
    return {
        "200": {"description": text, "headers": {"ETag": {"schema": TEXT}}, "content": {"application/json": {"schema": schema}}},
        "304": {"description": "Unverändert."},
    } | {c: {"$ref": f"#/components/responses/{namen[c]}"} for c in codes}


def vorgang(id: str, kurz: str, schema: dict, *codes: str, parameters: list | None = None, text: str = "") -> dict:
    out = {"operationId": id, "summary": kurz, "tags": ["Förderung"], "parameters": parameters or [], "responses": antworten(schema, kurz + ".", "400", "401", "403", *codes)}
    if text:
        out["description"] = text
    return {"get": out}


def problem(text: str, kopf: bool = False) -> dict:
    out = {"description": text, "content": {"application/problem+json": {"schema": ref("Problem")}}}
    if kopf:
        out["headers"] = {"WWW-Authenticate": {"required": True, "schema": TEXT}}
    return out


def beschreibung(root: str, v3: str, token_url: str) -> dict:
    return {
        "openapi": "3.0.3",
        "info": {"title": "Förderausschreibungen Süd", "version": "3.1.2", "description": "Alle Adressen in Antworten liegen unter der Adresse in `servers`, was auch immer in der Anfrage steht."},
        "servers": [{"url": root + v3}],
        "security": [{"anmeldung": ["foerderung"]}],
        "tags": [{"name": "Förderung"}],
        "paths": {
            "/ausschreibungen": vorgang(
                "ausschreibungen", "Ausschreibungen, seitenweise", ref("Seite"), parameters=LISTE,
                text="Alle Seiten zusammen ergeben jede passende Ausschreibung genau einmal, solange sich der Bestand nicht ändert. Unbekannte Parameter und falsche Werte ergeben 400."),
            "/ausschreibungen/{id}": vorgang("ausschreibung", "Eine Ausschreibung", ref("Ausschreibung"), "404", parameters=[NUMMER]),
            "/ausschreibungen/{id}/stufen": vorgang("stufen", "Einreichstufen einer Ausschreibung", {"type": "array", "items": ref("Stufe"), "minItems": 1}, "404", parameters=[NUMMER]),
            "/foerdergeber": vorgang("foerdergeber", "Alle Fördergeber", {"type": "array", "items": ref("Foerdergeber")}),
            "/foerdergeber/{id}": vorgang("einFoerdergeber", "Ein Fördergeber", ref("Foerdergeber"), "404", parameters=[{"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}]),
        },
        "components": {
            "securitySchemes": {"anmeldung": {
                "type": "oauth2", "description": "JWT nach RFC 9068; das Servicekonto braucht die Rolle EXTERNAL_API_CLIENT.",
                "flows": {"clientCredentials": {"tokenUrl": token_url, "scopes": {"foerderung": "Ausschreibungen lesen", "info": "Info lesen"}}},
            }},
            "responses": {
                "FalscheAnfrage": problem("Ein Parameter ist falsch."), "KeinToken": problem("Kein gültiges Zugangstoken.", True),
                "NichtErlaubt": problem("Rolle oder Scope fehlt.", True), "NichtGefunden": problem("Gibt es nicht."),
            },
            "schemas": {
                "Problem": objekt(["type", "title", "status", "detail"], type={"type": "string"}, title=TEXT, status={"type": "integer"}, detail=TEXT),
                "Themenschluessel": {"type": "string", "pattern": "^[0-9]{4}$"},
                "Summe": objekt(["betrag", "waehrung"], betrag={"type": "string", "pattern": "^[0-9]+\\.[0-9]{2}$"}, waehrung={"type": "string", "enum": ["EUR", "CHF"]}) | {"nullable": True},
                "GeberVerweis": objekt(["id", "bezeichnung"], id={"type": "integer"}, bezeichnung=TEXT),
                "Foerdergeber": objekt(["id", "bezeichnung", "land"], id={"type": "integer"}, bezeichnung=TEXT, land={"type": "string", "pattern": "^[A-Z]{2}$"}, ror=ADRESSE),
                "Stufe": objekt(["nr", "art", "bis"], nr={"type": "integer", "minimum": 1}, art={"type": "string", "enum": ["SKIZZE", "ANTRAG", "VOLLANTRAG"]}, bis=ZEIT),
                "Kurz": objekt(
                    ["id", "bezeichnung", "stand", "geber", "beginn", "frist", "summe", "themen"],
                    id={"type": "string", "pattern": "^A2[67]-[0-9]{4}$"}, bezeichnung=TEXT, stand={"type": "string", "enum": ["offen", "geplant", "beendet"]},
                    geber=ref("GeberVerweis"), beginn=TAG, frist=ZEIT, summe=ref("Summe"), themen={"type": "array", "items": ref("Themenschluessel")}),
                "Ausschreibung": {"allOf": [ref("Kurz"), objekt(
                    ["kurztext", "antragssprachen", "geaendert", "stufen", "selbst"],
                    kurztext=TEXT, antragssprachen={"type": "array", "items": {"type": "string", "pattern": "^[a-z]{2}$"}}, geaendert=ZEIT, stufen=ADRESSE, selbst=ADRESSE)]},
                "Seite": objekt(
                    ["items", "page", "size", "total", "pages", "next", "prev"],
                    items={"type": "array", "items": ref("Kurz")}, page={"type": "integer"}, size={"type": "integer"}, total={"type": "integer"},
                    pages={"type": "integer"}, next=ADRESSE | {"nullable": True}, prev=ADRESSE | {"nullable": True}),
            },
        },
    }
