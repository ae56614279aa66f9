"""The OpenAPI 3.1 document of the funding API."""


def openapi(origin, token_url, themes):
    def ref(name):
        return {"$ref": "#/components/schemas/" + name}

    def err(text, headers=None):
        return {"description": text, "content": {"application/problem+json": {"schema": ref("Problem")}}, **({"headers": headers} if headers else {})}

    def string(**more):
        return {"type": "string", **more}

    challenge = {"WWW-Authenticate": {"schema": string(), "required": True, "description": "Bearer challenge (RFC 6750)"}}
    errors = {"400": err("A parameter has a value that is not allowed, or more than one access token was sent."),
              "401": err("No valid access token.", challenge),
              "403": err("The service account lacks the role EXTERNAL_API_CLIENT or the token the scope funding.", challenge)}

    def responses(schema, text, headers=None, **more):
        head = {"ETag": {"schema": string(), "description": "Weak entity tag, usable in If-None-Match."}, **(headers or {})}
        return {"200": {"description": text, "headers": head, "content": {"application/json": {"schema": schema}}},
                "304": {"description": "Not modified."}, **errors, **more}

    def query(name, text, schema, **more):
        return {"name": name, "in": "query", "required": False, "description": text, "schema": schema, **more}

    total = {"X-Total-Count": {"schema": {"type": "integer"}, "required": True, "description": "Number of entries that match, on all pages."}}
    links = {"Link": {"schema": string(), "description": "first, last, prev and next page (RFC 8288); no next on the last page."}}
    short = {"id": string(format="uuid"), "kennung": string(pattern="^W[0-9]{4}/[0-9]{3}$"),
             "titel": {"type": "object", "required": ["de"], "properties": {"de": string(), "en": string()}},
             "foerdergeber": ref("Foerdergeber"), "beginn": string(format="date"),
             "frist": {"type": ["string", "null"], "format": "date-time", "description": "Deadline, with the offset of Vienna; null: no deadline."},
             "volumen": {"type": "object", "required": ["betrag", "waehrung"], "properties": {
                 "betrag": {"type": "number", "minimum": 0, "description": "Amount, with at most two decimal places."}, "waehrung": string(enum=["EUR"])}},
             "themen": {"type": "array", "minItems": 1, "uniqueItems": True, "items": ref("Thema")},
             "geaendertAm": string(format="date-time")}
    full = {**short, "beschreibung": string(), "maxMonate": {"type": "integer", "minimum": 1},
            "sprachen": {"type": "array", "items": string(enum=["de", "en"])},
            "kontakt": {"type": "object", "required": ["name", "email"], "properties": {"name": string(), "email": string(format="email")}}}
    security = [{"zugang": ["funding"]}]
    return {
        "openapi": "3.1.0",
        "info": {"title": "Förderausschreibungen – Knoten West", "version": "3.0.2",
                 "description": "Annotated funding calls of the node West. Access with a token of the client credentials flow. "
                                "Every error of this API is a problem document (RFC 9457)."},
        "servers": [{"url": origin + "/ris-synergy/funding"}],
        "security": security,
        "paths": {
            "/v3/ausschreibungen": {"get": {
                "operationId": "listFundingCalls", "summary": "List of the funding calls", "security": security,
                "description": "Calls that match all filters. Each matching call is in the list exactly once, over all pages; "
                               "X-Total-Count is their number. Calls with equal sort values are ordered by kennung.",
                "parameters": [
                    query("seite", "Number of the page. A page after the last one is an empty list.", {"type": "integer", "minimum": 1, "default": 1}),
                    query("proSeite", "Entries per page.", {"type": "integer", "minimum": 1, "maximum": 100, "default": 25}),
                    query("foerdergeber", "Code of a funder, as in /v3/foerdergeber; others are answered with 400.", string()),
                    query("thema", "Calls with at least one of the topics; may be repeated.", {"type": "array", "items": ref("Thema")}, style="form", explode=True),
                    query("mindestens", "Calls with a volume of at least this amount.", {"type": "number", "minimum": 0}),
                    query("offenAm", "Calls that are open at some time of this day in Vienna: beginn is not after it, frist not before its start.", string(format="date")),
                    query("sortierung", "Order; a minus sign means descending. Calls without a deadline come last in both orders by frist.",
                          string(enum=["kennung", "frist", "-frist", "volumen", "-volumen"], default="kennung"))],
                "responses": responses({"type": "array", "maxItems": 100, "items": ref("Ausschreibung")}, "One page of calls.", {**total, **links})}},
            "/v3/ausschreibungen/{id}": {"get": {
                "operationId": "getFundingCall", "summary": "One funding call with all its details", "security": security,
                "parameters": [{"name": "id", "in": "path", "required": True, "schema": string()}],
                "responses": responses(ref("AusschreibungDetail"), "The call.",
                                       {"Last-Modified": {"schema": string()}}, **{"404": err("There is no such call.")})}},
            "/v3/foerdergeber": {"get": {
                "operationId": "listFunders", "summary": "All funders", "security": security,
                "responses": responses({"type": "array", "items": ref("Foerdergeber")}, "The funders.", total)}}},
        "components": {
            "securitySchemes": {"zugang": {"type": "oauth2", "flows": {"clientCredentials": {
                "tokenUrl": token_url, "scopes": {"funding": "Read funding calls", "info": "Read the info endpoint"}}}}},
            "schemas": {
                "Thema": string(enum=themes),
                "Foerdergeber": {"type": "object", "required": ["code", "name", "land"], "properties": {
                    "code": string(), "name": string(), "land": string(pattern="^[A-Z]{2}$")}},
                "Ausschreibung": {"type": "object", "required": list(short), "properties": short},
                "AusschreibungDetail": {"type": "object", "required": list(full), "properties": full},
                "Problem": {"type": "object", "required": ["title", "status"], "properties": {
                    "type": string(format="uri-reference"), "title": string(), "status": {"type": "integer"}, "detail": string(),
                    "parameter": string()}}}}}
