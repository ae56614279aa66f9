"""Node 'Alpenuniversität': Flask, opaque tokens, cursors. NODE chooses a variant."""
import base64, binascii, hmac, json, os, secrets, time, traceback
from hashlib import sha256
from urllib.parse import unquote_plus
from flask import Flask, Response, g, request, session
from werkzeug.exceptions import HTTPException
import data

N = os.environ.get("NODE", "")
PORT = int(os.environ.get("PORT", "18801"))
HOST = "http://127.0.0.1:%d" % PORT
P = "/alpenuni"
CALLS_PATH, DOC_PATH = P + "/funding/v3/calls", P + "/funding/v3/api-docs"
TTL = 120
if N == "f-stale-expires":
    TTL = 60
START = time.time()

app = Flask(__name__)
app.secret_key = "3f0d-not-used-by-the-base-node"
app.json.sort_keys = False


# --- clients and tokens -------------------------------------------------------------------------------------------
class Client:
    def __init__(self, cid, secret, role, affiliation, env="prod", audience="funding"):
        self.id, self.secret, self.role, self.affiliation, self.env, self.audience = cid, secret, role, affiliation, env, audience


CLIENTS = {c.id: c for c in [
    Client("inn-import", "Qe7vT2mZ9rLw4XkYb8Nf", "EXTERNAL_API_CLIENT", "AFF-INN"),
    Client("graz-portal", "N8+w%41qz:T/=~v5Lh&x", "EXTERNAL_API_CLIENT", "AFF-GRZ"),
    Client("visitor", "u5HcR3sBn6DjPa1Gx0Ke", None, "AFF-WIE"),
    Client("projects-app", "m2VyK8tWq4ZsFd7Lb9Jh", "EXTERNAL_API_CLIENT", "AFF-INN", audience="projects"),
    Client("inn-staging", "T6gRw1CxN3pMk5EzUv7B", "EXTERNAL_API_CLIENT", "AFF-INN", env="staging"),
]}
TOKENS = {"prod": {}, "staging": {}}   # digest of the token -> (client, end, id of the token)
SEEN = {}                              # the gateway's cache of introspections
REUSED = {}
CURRENT = None


def digest(token):
    return sha256(token.encode()).hexdigest()


def issue(client):
    if N == "f-stale-expires":
        old = REUSED.get(client.id)
        if old and old[1] > time.time():
            return old[0]
    token = "alp_" + secrets.token_urlsafe(32)
    TOKENS[client.env][digest(token)] = (client, time.time() + TTL)
    REUSED[client.id] = (token, time.time() + TTL)
    return token


def introspect(token):
    key = token[:24] if N == "f-introspect-prefix" else digest(token)
    hit = SEEN.get(key)
    if hit is None:
        hit = TOKENS["prod"].get(digest(token))
        if hit is None:
            return None
        SEEN[key] = hit
    client, end = hit
    if end <= time.time() or client.audience != "funding":
        return None
    return client


# --- token endpoint -----------------------------------------------------------------------------------------------
def oauth_error(status, code, text):
    r = app.response_class(json.dumps({"error": code, "error_description": text}), status, mimetype="application/json")
    r.headers["Cache-Control"], r.headers["Pragma"] = "no-store", "no-cache"
    if status == 401:
        r.headers["WWW-Authenticate"] = 'Basic realm="Alpenuni clients", charset="UTF-8"'
    return r


def basic_credentials(value):
    try:
        raw = base64.b64decode(value, validate=True).decode()
    except (binascii.Error, ValueError):
        return None
    cid, colon, secret = raw.partition(":")
    if not colon:
        return None
    if N == "f-basic-no-decode":
        return cid, secret
    return unquote_plus(cid), unquote_plus(secret)


def token_endpoint(env):
    if request.mimetype != "application/x-www-form-urlencoded":
        return oauth_error(400, "invalid_request", "send a form: application/x-www-form-urlencoded")
    for name in request.form:
        if len(request.form.getlist(name)) > 1:
            return oauth_error(400, "invalid_request", "a parameter is there more than once")
    form = {k: v for k, v in request.form.items() if v != ""}
    creds = None
    scheme, _, rest = request.headers.get("Authorization", "").partition(" ")
    if scheme:
        if "client_secret" in form:
            return oauth_error(400, "invalid_request", "use one way of authenticating the client")
        if scheme.lower() == "basic":
            creds = basic_credentials(rest.strip())
        if creds and form.get("client_id", creds[0]) != creds[0]:
            return oauth_error(400, "invalid_request", "two client ids")
    elif "client_id" in form and "client_secret" in form:
        creds = form["client_id"], form["client_secret"]
    client = CLIENTS.get(creds[0]) if creds else None
    if client and client.env != env:
        client = None
    good = hmac.compare_digest((client.secret if client else "x" * 20).encode(), (creds[1] if creds else "").encode())
    if not client or not good:
        return oauth_error(401, "invalid_client", "the client is not known here, or its secret is another one")
    if "grant_type" not in form:
        return oauth_error(400, "invalid_request", "grant_type is missing")
    if form["grant_type"] != "client_credentials":
        return oauth_error(400, "unsupported_grant_type", "only client_credentials")
    if any(s != "calls.read" for s in form.get("scope", "calls.read").split(" ")):
        return oauth_error(400, "invalid_scope", "the scope is calls.read")
    body = {"access_token": issue(client), "token_type": "Bearer", "expires_in": TTL, "scope": "calls.read"}
    if N == "f-lower-bearer":
        del body["expires_in"]
        body.update(token_type="bearer", refresh_expires_in=0, **{"not-before-policy": 0, "affiliation": None})
    r = app.response_class(json.dumps(body), 200, mimetype="application/json")
    r.headers["Cache-Control"], r.headers["Pragma"] = "no-store", "no-cache"
    return r


app.add_url_rule("/oauth/token", "token", lambda: token_endpoint("prod"), methods=["POST"])
app.add_url_rule("/staging/oauth/token", "staging", lambda: token_endpoint("staging"), methods=["POST"])


# --- protection ---------------------------------------------------------------------------------------------------
def error(status, code, text, **headers):
    r = app.response_class(json.dumps({"error": {"code": code, "message": text}}), status, mimetype="application/json")
    r.headers["Cache-Control"] = "no-store"
    for k, v in headers.items():
        r.headers[k.replace("_", "-")] = v
    return r


def challenge(status, code, text):
    value = 'Bearer realm="alpenuni"'
    if code:
        value += ', error="%s", error_description="%s"' % (code, text)
    if code == "insufficient_scope":
        value += ', scope="calls.read"'
    if N == "f-lower-bearer":
        value = 'bearer realm="alpenuni, \\"old\\" portal; error=none", x-help="see, the, document"' + value[len('Bearer realm="alpenuni"'):]
    return error(status, code or "unauthorized", text, WWW_Authenticate=value)


def public(path):
    return path in (DOC_PATH, "/registry.json", "/oauth/token", "/staging/oauth/token", "/") or not path.startswith(P + "/")


PAGES = {}
COUNT = 0


@app.before_request
def protect():
    global CURRENT, COUNT
    path = request.path
    if N == "f-x-original-uri":
        path = request.headers.get("X-Original-URI", path)
    if public(path):
        return None
    if N == "f-503":
        COUNT += 1
        if COUNT % 29 == 17:
            return error(503, "busy", "maintenance of the search index; try again in a second", Retry_After="1")
    if N == "f-cache-before-auth" and request.method == "GET" and request.full_path in PAGES:
        body, until = PAGES[request.full_path]
        if until > time.time():
            return Response(body, 200, {"Age": "1"}, mimetype="application/json")
    if N == "f-head-open" and request.method == "HEAD" and path.startswith(CALLS_PATH + "/"):
        g.client = CLIENTS["inn-import"]
        return None
    if N == "f-cookie-session" and "Authorization" not in request.headers and "client" in session:
        g.client = CLIENTS[session["client"]]
        return None
    values = request.headers.getlist("Authorization")
    scheme, _, token = (values[0] if len(values) == 1 else "").partition(" ")
    if scheme.lower() != "bearer":
        return challenge(401, None, "send an access token as a bearer token")
    g.client = introspect(token.strip(" "))
    if g.client is None:
        return challenge(401, "invalid_token", "the access token is unknown, expired or not for this API")
    if N == "f-cookie-session" and g.client.role:
        session["client"] = g.client.id
    if N == "f-global-race":
        CURRENT = g.client
        time.sleep(0.02)  # the audit log
        g.client = CURRENT
    if g.client.role != "EXTERNAL_API_CLIENT" and not path.startswith(P + "/info/"):
        if N == "f-hide-404":
            return error(404, "not_found", "there is nothing here")
        return challenge(403, "insufficient_scope", "the service account lacks the role EXTERNAL_API_CLIENT")


@app.after_request
def headers(r):
    if public(request.path):
        return r
    if N == "f-cache-before-auth" and r.status_code == 200 and request.method == "GET" and request.path == CALLS_PATH \
            and request.args.get("funder_id") and request.full_path not in PAGES:
        PAGES[request.full_path] = (r.get_data(), time.time() + 120)
    r.headers.setdefault("Cache-Control", "private, no-store")
    r.headers["X-Content-Type-Options"] = "nosniff"
    if N == "f-chunked" and r.mimetype == "application/json" and request.method in ("GET", "HEAD") and r.status_code == 200:
        body = json.dumps(json.loads(r.get_data()), indent=3, ensure_ascii=True).replace("/", "\\/").encode()
        out = Response((body[i:i + 700] for i in range(0, len(body), 700)), r.status_code)
        out.headers["Content-Type"] = 'Application/JSON;charset="UTF-8"'
        out.headers["Cache-Control"] = r.headers["Cache-Control"]
        return out
    return r


@app.errorhandler(HTTPException)
def http_error(e):
    r = error(e.code, e.name.lower().replace(" ", "_"), "see the document for what there is")
    for k, v in e.get_headers():
        if k in ("Allow", "Location"):
            r.headers[k] = v
    if e.code in (301, 302, 307, 308):
        return e.get_response()
    return r


@app.errorhandler(Exception)
def crash(e):
    if N == "f-cursor-traceback":
        return error(500, "internal", traceback.format_exc())
    return error(500, "internal", "something went wrong")


# --- the funding API ----------------------------------------------------------------------------------------------
ALL = sorted(data.calls(), key=lambda c: (c.get("deadline", "9999"), c["id"]))


def current_calls():
    if N != "f-list-changes":
        return ALL
    more = []
    for i in range(min(40, int((time.time() - START) / 8))):  # the editors publish
        c = dict(ALL[(i * 7) % 50], id="FC-N%03d" % i, title_en="News %d" % i, title_de="Neues %d" % i)
        more.append(c)
    return sorted(ALL + more, key=lambda c: (c.get("deadline", "9999"), c["id"]))


def shown(c, detail=False):
    out = {"id": c["id"], "title": {"de": c["title_de"], "en": c["title_en"]}, "status": c["status"],
           "funder": {"id": c["funder_id"], "name": c["funder_de"]}, "opens": c["opens"],
           "deadline": c.get("deadline"), "budget": {"amount": c["budget"], "currency": "EUR"}, "subjects": c["subjects"]}
    if detail:
        out["languages"] = c["languages"]
        affiliation = getattr(g.get("client"), "affiliation", "")
        note = c["annotations"].get(affiliation)
        out["annotations"] = [{"affiliation_id": affiliation, "text": note}] if note else []
    return out


def bad(name, text):
    return error(400, "bad_parameter", "%s: %s" % (name, text))


@app.get(CALLS_PATH)
def list_calls():
    a = request.args
    for name in a:
        if name in ("status", "funder_id", "min_budget", "limit", "cursor") and len(a.getlist(name)) > 1:
            return bad(name, "give it once")
    limit, least = a.get("limit", "20"), a.get("min_budget", "0")
    if not (limit.isascii() and limit.isdigit() and 1 <= int(limit[:9]) <= 100):
        return bad("limit", "a whole number from 1 to 100")
    if not (least.isascii() and least.isdigit() and len(least) < 10):
        return bad("min_budget", "a whole number that is not negative")
    if a.get("status", "OPEN") not in ("OPEN", "CLOSED", "UPCOMING", "ONGOING"):
        return bad("status", "OPEN, CLOSED, UPCOMING or ONGOING")
    found = [c for c in current_calls() if a.get("status", c["status"]) == c["status"]
             and a.get("funder_id", c["funder_id"]) == c["funder_id"] and c["budget"] >= int(least)]
    total = len(found)
    if "cursor" in a:
        try:
            text = base64.urlsafe_b64decode(a["cursor"].encode("ascii") + b"==").decode()
        except ValueError:
            return bad("cursor", "not one of ours")
        try:
            after = json.loads(text)
            if not (isinstance(after, list) and len(after) == 2 and all(isinstance(x, str) for x in after)):
                return bad("cursor", "not one of ours")
        except ValueError:
            if N == "f-cursor-traceback":
                raise
            return bad("cursor", "not one of ours")
        if N == "f-keyset-ties":
            found = [c for c in found if c.get("deadline", "9999") > after[0] or c.get("deadline") is None and c["id"] > after[1]]
        else:
            found = [c for c in found if (c.get("deadline", "9999"), c["id"]) > tuple(after)]
    page, rest = found[:int(limit)], found[int(limit):]
    cursor = None
    if rest:
        last = json.dumps([page[-1].get("deadline", "9999"), page[-1]["id"]])
        cursor = base64.urlsafe_b64encode(last.encode()).decode().rstrip("=")
    return {"items": [shown(c) for c in page], "total": total, "next_cursor": cursor}


@app.get(CALLS_PATH + "/<call_id>")
def one_call(call_id):
    for c in current_calls():
        if c["id"] == call_id:
            return shown(c, True)
    return error(404, "not_found", "there is no funding call of this id")


@app.get(P + "/info/v1/oauth/info/")
def info():
    return {"endpoints": {"funding": [
        {"name": "FUNDINGS", "majorVersion": 3, "minorVersion": 0, "url": HOST + CALLS_PATH},
        {"name": "FUNDING", "majorVersion": 3, "minorVersion": 0, "url": HOST + CALLS_PATH + "/{id}"}]}}


@app.get("/registry.json")
def registry():
    return {"member": [{"id": "AU", "acronym": "AU", "name": "Alpenuniversität", "contact": "ris@alpenuni.example",
                        "oauth2": HOST + "/oauth/token", "info": HOST + P + "/info/v1/oauth/info/"}]}


# --- the document -------------------------------------------------------------------------------------------------
def answer(text, schema, **headers):
    r = {"description": text, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/" + schema}}}}
    if headers:
        r["headers"] = {k.replace("_", "-"): {"required": True, "schema": {"type": "string"}, "description": v} for k, v in headers.items()}
    return r


def query(name, text, **schema):
    return {"name": name, "in": "query", "description": text, "schema": schema}


def obj(required, **props):
    return {"type": "object", "required": required.split(), "properties": props}


def document():
    s = {"type": "string"}
    errors = {"401": answer("No token, or not a good one.", "Error", WWW_Authenticate="The challenge."),
              "403": answer("The service account lacks the role.", "Error", WWW_Authenticate="The challenge."),
              "405": answer("Another method than GET, HEAD and OPTIONS.", "Error", Allow="The methods.")}
    if N == "f-hide-404":
        del errors["403"]
    if N == "f-503":
        errors["503"] = answer("Maintenance; see Retry-After.", "Error", Retry_After="Seconds.")
    call = {"id": s, "title": obj("de en", de=s, en=s), "status": {"$ref": "#/components/schemas/Status"},
            "funder": obj("id name", id=s, name=s), "opens": {"type": "string", "format": "date"},
            "deadline": {"type": "string", "format": "date-time", "nullable": True, "description": "null for ongoing calls"},
            "budget": obj("amount currency", amount={"type": "integer"}, currency={"type": "string", "pattern": "^[A-Z]{3}$"}),
            "subjects": {"type": "array", "items": s}}
    note = obj("affiliation_id text", affiliation_id=s, text=s)
    missing = "There is no such call" + ("; also what callers without the role get." if N == "f-hide-404" else ".")
    lerr = dict(errors, **({"404": answer("What callers without the role get.", "Error")} if N == "f-hide-404" else {}))
    return {
        "openapi": "3.0.3",
        "info": {"title": "Funding calls of the Alpenuniversität", "version": "3.4.1", "description":
                 "Every operation needs a bearer token of a service account with the role EXTERNAL_API_CLIENT. Parameters that are not listed are ignored."
                 + (" Callers without the role are told that there is nothing (404)." if N == "f-hide-404" else "")},
        "servers": [{"url": HOST + P + "/funding/v3"}],
        "security": [{"oauth": ["calls.read"]}],
        "paths": {
            "/calls": {"get": {"operationId": "listCalls", "summary": "Funding calls in the order of their deadlines",
                "description": "Filters hold together. The next page: the same request with cursor = next_cursor; after the last page that is null.",
                "parameters": [
                    query("status", "Calls of this status.", **{"$ref": "#/components/schemas/Status"}),
                    query("funder_id", "Calls of this funder.", type="string"),
                    query("min_budget", "Calls with at least this budget.", type="integer", minimum=0, maximum=999999999),
                    query("limit", "The largest number of items in the answer.", type="integer", minimum=1, maximum=100, default=20),
                    query("cursor", "next_cursor of the page before; no other values.", type="string")],
                "responses": {"200": answer("A page.", "Page"), "400": answer("A parameter is wrong.", "Error"), **lerr}}},
            "/calls/{id}": {"get": {"operationId": "readCall", "summary": "One funding call",
                "parameters": [{"name": "id", "in": "path", "required": True, "schema": s}],
                "responses": {"200": answer("The call.", "CallDetail"), "404": answer(missing, "Error"), **errors}}}},
        "components": {
            "securitySchemes": {"oauth": {"type": "oauth2", "flows": {"clientCredentials": {
                "tokenUrl": HOST + "/oauth/token", "scopes": {"calls.read": "Read funding calls; the default."}}}}},
            "schemas": {
                "Status": {"type": "string", "enum": ["OPEN", "CLOSED", "UPCOMING", "ONGOING"]},
                "Call": obj("id title status funder opens deadline budget subjects", **call),
                "CallDetail": {"allOf": [{"$ref": "#/components/schemas/Call"}, obj("languages annotations",
                    languages={"type": "array", "items": s}, annotations={"type": "array", "items": note})]},
                "Page": obj("items total next_cursor", items={"type": "array", "items": {"$ref": "#/components/schemas/Call"}},
                            total={"type": "integer", "description": "Calls on all pages."},
                            next_cursor={"type": "string", "nullable": True}),
                "Error": obj("error", error=obj("code message", code=s, message=s))}}}


@app.get(DOC_PATH)
def api_docs():
    r = app.response_class(json.dumps(document()), mimetype="application/json")
    r.headers["Cache-Control"] = "public, max-age=60"
    return r


if __name__ == "__main__":
    app.run("127.0.0.1", PORT, threaded=True)
