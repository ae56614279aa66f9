"""A funding node on Bottle, served by waitress. One process: registry, authorization
server (client credentials, opaque tokens), info endpoint, OpenAPI document, funding API
and a staging environment. NODE chooses a variant; without it this is the plain base."""
import base64
import datetime
import hashlib
import hmac
import json
import logging
import os
import random
import re
import secrets
import sys
import threading
import time
import unicodedata
from urllib.parse import unquote_to_bytes, urlencode

import bottle
import waitress

PORT = int(os.environ.get("PORT", "8080"))
NODE = os.environ.get("NODE", "bottle-base")
ORIGIN = f"http://127.0.0.1:{PORT}"
API = "/bt/funding/v3"
BASE = ORIGIN + API
INFO_PATH = "/bt/info/v1/oauth/info/"
TOKEN_PATH = "/auth/realms/research/protocol/openid-connect/token"
STAGING_TOKEN_PATH = "/staging/auth/oauth/token"
ROLE = "EXTERNAL_API_CLIENT"
LIFETIME = 300


def is_node(name):
    return NODE == name


# ------------------------------------------------------------------ clients
draw_secret = random.Random(51877)
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


def new_secret():
    # letters and digits with a few signs that a form has to encode
    return "".join(draw_secret.choice("@,") if i in (9, 23, 31) else draw_secret.choice(ALPHABET) for i in range(40))


AUDIENCE = "bt-funding"
CLIENTS = {
    "bt.main": {"secret": new_secret(), "account": "svc-301", "aud": AUDIENCE},
    "bt.plain": {"secret": new_secret(), "account": "svc-302", "aud": AUDIENCE},
    "bt.orgunits": {"secret": new_secret(), "account": "svc-303", "aud": "bt-orgunits"},
    "bt.spare": {"secret": new_secret(), "account": "svc-304", "aud": AUDIENCE},
}
STAGING_CLIENTS = {"bt.trial": {"secret": new_secret(), "account": "svc-901", "aud": "bt-staging"}}
# The settings of the service accounts inside the funding service.
ACCOUNTS = {
    "svc-301": {"role": ROLE, "affiliation": "AFF-2001"},
    "svc-303": {"role": ROLE, "affiliation": "AFF-2003"},
    "svc-304": {"role": ROLE, "affiliation": "AFF-2004"},
}

# ------------------------------------------------------------------ data
REGIONS = ["VIENNA", "BURGENLAND", "LOWER_AUSTRIA", "CARINTHIA", "UPPER_AUSTRIA", "SALZBURG", "STYRIA", "TYROL", "VORARLBERG"]
LABELS = ["APPLIED", "BASIC", "COOPERATION", "INFRASTRUCTURE", "MOBILITY"]


def make_calls():
    rnd = random.Random(1848)
    topics = [("Ökologie der Flüsse", "Ecology of Rivers"), ("Übersetzung & Sprache", "Translation & Language"), ("Ärztliche Versorgung", "Medical Care"),
              ("Künstliche Intelligenz", "Artificial Intelligence"), ("Große Daten", "Large Data"), ("Mobilität", "Mobility"), ("Holzbau", "Timber Construction"),
              ("Jüdische Studien", "Jewish Studies"), ("Lawinenschutz", "Avalanche Protection"), ("Quantenoptik", "Quantum Optics")]
    out = []
    for i in range(66):
        de, en = topics[rnd.randrange(len(topics))]
        opens = datetime.date(2026, 9, 1) + datetime.timedelta(days=rnd.randrange(0, 240))
        closes = opens + datetime.timedelta(days=rnd.choice([30, 45, 60, 90, 120]))
        title = [{"lang": "de", "text": f"{de} {i + 1}"}]
        if rnd.random() < 0.65:
            title.append({"lang": "en", "text": f"{en} {i + 1}"})
        if rnd.random() < 0.08:
            title.append({"lang": "sl", "text": f"Razpis št. {i + 1}"})
        out.append({
            "id": f"c{rnd.randrange(16 ** 7):07x}",
            "title": title,
            "region": rnd.choice(REGIONS),
            "labels": sorted(rnd.sample(LABELS, rnd.randrange(1, 4))),
            "opens": opens.isoformat(),
            "closes": closes.isoformat(),
            "budget": f"{rnd.randrange(10000, 30000000)}.{rnd.randrange(100):02d}",
            "currency": "EUR",
            "website": f"https://fund.example/calls/{i + 1}",
        })
    out.sort(key=lambda c: (c["closes"], c["id"]))
    return out


CALLS = make_calls()
BY_ID = {c["id"]: c for c in CALLS}


def make_annotations():
    rnd = random.Random(1873)
    notes = ["Passt zum Schwerpunkt der Fakultät.", "Rücksprache mit dem Rektorat nötig.", "Für Nachwuchsgruppen geeignet.", "Deadline intern zwei Wochen früher.", "Eigenmittel prüfen: mindestens 20 %."]
    out = []
    for i in range(24):
        affiliation = ["AFF-2001", "AFF-2004", "AFF-2003"][[0, 0, 1, 2][i % 4]]
        # the first calls are annotated by several affiliations
        call = CALLS[(i // 4) * 3 % len(CALLS)]
        out.append({"id": f"n{4100 + i * 13}", "callId": call["id"], "affiliationId": affiliation, "text": rnd.choice(notes),
                    "createdAt": f"2026-{rnd.randrange(1, 11):02d}-{rnd.randrange(1, 29):02d}T{rnd.randrange(8, 18):02d}:{rnd.randrange(60):02d}:00Z"})
    return out


ANNOTATIONS = make_annotations()


# ------------------------------------------------------------------ requests
class Answer(Exception):
    """An answer that ends the handling of a request."""

    def __init__(self, status, body=None, headers=None):
        self.status, self.body, self.headers = status, body, headers or {}


def pairs(raw):
    """Names and values of a query or form: a dictionary of lists. ValueError where it cannot be decoded."""
    out = {}
    for part in raw.split("&"):
        if not part:
            continue
        name, _, value = part.partition("=")
        name, value = (strict_unquote(x) for x in (name, value))
        out.setdefault(name, []).append(value)
    return out


def strict_unquote(text):
    text = text.replace("+", " ")
    if re.search(r"%(?![0-9A-Fa-f]{2})", text):
        raise ValueError("bad percent encoding")
    return unquote_to_bytes(text.encode("latin-1", "strict")).decode("utf-8")


def query_of():
    return pairs(bottle.request.environ.get("QUERY_STRING", ""))


def write(status, body, headers):
    """The finished answer."""
    names = dict(headers)
    data = b""
    if body is not None:
        data = body if isinstance(body, bytes) else to_json(body)
        names.setdefault("Content-Type", "application/json")
        if not (is_node("bottle-escaped-json") and status == 200):
            names["Content-Length"] = str(len(data))
    names.setdefault("Cache-Control", "no-store")
    names["X-Content-Type-Options"] = "nosniff"
    if is_node("bottle-escaped-json") and status == 200:
        # in pieces, without a length
        half = len(data) // 2
        content = iter([data[:half], data[half:]])
        return bottle.HTTPResponse(content, status, **names)
    return bottle.HTTPResponse(data, status, **names)


def to_json(body):
    if is_node("bottle-escaped-json"):
        text = json.dumps(body, ensure_ascii=True, indent=2, sort_keys=True)
        return ("\r\n" + text.replace("/", "\\/") + "\n").encode("ascii")
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8")


def error(status, code, message, headers=None):
    return Answer(status, {"code": code, "message": message}, headers)


# ------------------------------------------------------------------ authorization server
class Environment:
    def __init__(self, clients):
        self.clients, self.tokens, self.failures, self.lock = clients, {}, {}, threading.Lock()

    @staticmethod
    def key(token):
        # a token table whose column compares without regard to case
        return token.lower() if is_node("bottle-token-any-case") else token

    def issue(self, name):
        token = secrets.token_urlsafe(32)
        now = time.time()
        with self.lock:
            for old in [t for t, v in self.tokens.items() if v["expires"] <= now]:
                del self.tokens[old]
            self.tokens[self.key(token)] = {"client": name, "expires": now + LIFETIME}
        return token

    def client_of(self, token):
        with self.lock:
            held = self.tokens.get(self.key(token))
        return self.clients[held["client"]] if held and held["expires"] > time.time() else None


if is_node("bottle-one-client-table"):
    PRODUCTION = Environment({**CLIENTS, **STAGING_CLIENTS})
else:
    PRODUCTION = Environment(CLIENTS)
STAGING = Environment(STAGING_CLIENTS)
MAX_FAILURES, LOCK_SECONDS = 10, 60


def token_endpoint(env):
    request = bottle.request
    no_cache = {"Cache-Control": "no-store", "Pragma": "no-cache"}

    def fail(status, code, text, **headers):
        return Answer(status, {"error": code, "error_description": text}, {**no_cache, **{k.replace("_", "-"): v for k, v in headers.items()}})

    def bad_client():
        return fail(401, "invalid_client", "Client authentication failed.", WWW_Authenticate='Basic realm="bt"')

    body = request.environ["wsgi.input"].read(65537)
    if len(body) > 65536:
        raise fail(413, "invalid_request", "The body is too large.")
    if request.environ.get("CONTENT_TYPE", "").split(";")[0].strip().lower() != "application/x-www-form-urlencoded":
        raise fail(400, "invalid_request", "The body must be application/x-www-form-urlencoded.")
    try:
        form, query = pairs(body.decode("utf-8")), query_of()
    except ValueError:
        raise fail(400, "invalid_request", "The parameters cannot be decoded.")
    if "client_id" in query or "client_secret" in query:
        raise fail(400, "invalid_request", "Client credentials do not belong in the URL.")
    if any(len(v) > 1 for v in form.values()):
        raise fail(400, "invalid_request", "A parameter is repeated.")

    # A parameter without a value counts as left out.
    def value(name):
        return form.get(name, [""])[0]

    name, given = value("client_id"), value("client_secret")
    field = request.environ.get("HTTP_AUTHORIZATION")
    if field is not None:
        found = re.fullmatch(r"(?i:basic) +([A-Za-z0-9+/]+=*) *", field)
        if not found:
            raise bad_client()
        if given:
            raise fail(400, "invalid_request", "Use one method of client authentication.")
        try:
            user, colon, word = base64.b64decode(found[1], validate=True).decode("utf-8").partition(":")
            if is_node("bottle-basic-not-decoded"):
                basic_name, given = user, word
            else:
                basic_name, given = strict_unquote(user), strict_unquote(word)
        except ValueError:
            raise bad_client()
        if name and name != basic_name:
            raise fail(400, "invalid_request", "client_id differs from the Authorization header.")
        name = basic_name
    client = env.clients.get(name)
    with env.lock:
        count, until = env.failures.get(name, (0, 0))
    if count >= MAX_FAILURES:
        left = until - time.time()
        if left > 0:
            raise fail(429, "invalid_client", "Too many failed attempts.", Retry_After=str(int(left) + 1))
        with env.lock:
            env.failures.pop(name, None)
    if not client or not given or not hmac.compare_digest(given.encode(), client["secret"].encode()):
        if client and given:
            with env.lock:
                env.failures[name] = (env.failures.get(name, (0, 0))[0] + 1, time.time() + LOCK_SECONDS)
        raise bad_client()
    with env.lock:
        env.failures.pop(name, None)
    if not value("grant_type"):
        raise fail(400, "invalid_request", "grant_type is missing.")
    if value("grant_type") != "client_credentials":
        raise fail(400, "unsupported_grant_type", "Only client_credentials is supported.")
    if value("scope"):
        raise fail(400, "invalid_scope", "This server has no scopes.")
    return Answer(200, {"access_token": env.issue(name), "token_type": "Bearer", "expires_in": LIFETIME}, no_cache)


# ------------------------------------------------------------------ guard
def guard(env, audience, need_role):
    """The query and the service account of a request that may go on; else raises its answer."""
    def challenge(code=None):
        return {"WWW-Authenticate": 'Bearer realm="bt"' + (f', error="{code}"' if code else "")}

    found = re.fullmatch(r"(?i:bearer) +(.+?) *", bottle.request.environ.get("HTTP_AUTHORIZATION", ""))
    if not found:
        raise error(401, "token_missing", "An access token is needed.", challenge())
    client = env.client_of(found[1])
    if not client or client["aud"] != audience and not (is_node("bottle-one-client-table") and client["aud"] == "bt-staging" and not need_role):
        raise error(401, "token_invalid", "The access token is not valid.", challenge("invalid_token"))
    try:
        query = query_of()
    except ValueError:
        raise error(400, "bad_query", "The query cannot be decoded.")
    if "access_token" in query:
        raise error(400, "bad_query", "The access token belongs in the Authorization header only.", challenge("invalid_request"))
    account = ACCOUNTS.get(client["account"], {})
    if need_role and account.get("role") != ROLE:
        if is_node("bottle-hides-behind-404"):
            raise error(404, "not_found", "There is nothing at this path.")
        raise error(403, "role_missing", f"The role {ROLE} is needed.", challenge("insufficient_scope"))
    return query, account


def single(query, names):
    for name in names:
        if len(query.get(name, [])) > 1:
            raise error(400, "bad_parameter", f"{name} is repeated.")
    return {name: query[name][0] for name in names if name in query}


def tag_listed(field, etag, weak_too):
    if field.strip() == "*":
        return True
    return any(tag == etag and (weak_too or not weak) for weak, tag in re.findall(r'(W/)?("[\x21\x23-\x7e\x80-\xff]*")', field))


def resource(body, headers=None):
    """A 200 of the API, with its entity tag and the conditions of the request."""
    data = to_json(body)
    etag = '"' + hashlib.sha256(data + repr(sorted((headers or {}).items())).encode()).hexdigest()[:20] + '"'
    validators = {"ETag": etag, "Cache-Control": "private, no-cache"}
    environ = bottle.request.environ
    match, none_match = environ.get("HTTP_IF_MATCH"), environ.get("HTTP_IF_NONE_MATCH")
    if match is not None and not tag_listed(match, etag, False):
        raise error(412, "precondition_failed", "The record has another entity tag.")
    if none_match is not None and tag_listed(none_match, etag, True):
        raise Answer(304, None, validators)
    return Answer(200, data, {**validators, **(headers or {})})


# ------------------------------------------------------------------ funding API
def folded(text):
    text = unicodedata.normalize("NFC", text)
    if is_node("bottle-search-ascii-only"):
        # what a database does whose lower() knows only ASCII
        return re.sub("[A-Z]", lambda m: m[0].lower(), text)
    return unicodedata.normalize("NFC", text.casefold())


def a_date(text):
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        raise ValueError
    return datetime.date.fromisoformat(text).isoformat()


def list_calls():
    query, _ = guard(PRODUCTION, AUDIENCE, True)
    given = single(query, ["limit", "cursor", "region", "openOn", "q"])
    limit = given.get("limit", "20")
    if not re.fullmatch(r"[1-9][0-9]?", limit) or int(limit) > 50:
        raise error(400, "bad_parameter", "limit must be a whole number from 1 to 50.")
    limit = int(limit)
    found = CALLS
    if "region" in given:
        if given["region"] not in REGIONS:
            raise error(400, "bad_parameter", "region must be one of " + ", ".join(REGIONS) + ".")
        found = [c for c in found if c["region"] == given["region"]]
    if "openOn" in given:
        try:
            day = a_date(given["openOn"])
        except ValueError:
            raise error(400, "bad_parameter", "openOn must be a date such as 2027-01-31.")
        found = [c for c in found if c["opens"] <= day <= c["closes"]]
    if "q" in given:
        if not 1 <= len(given["q"]) <= 100:
            raise error(400, "bad_parameter", "q must have 1 to 100 characters.")
        text = folded(given["q"])
        found = [c for c in found if any(text in folded(t["text"]) for t in c["title"])]
    total = len(found)
    if "cursor" in given:
        start = decode_cursor(given["cursor"])
        if is_node("bottle-empty-pages"):
            return scan_page(found, given, limit, start, total)
        found = [c for c in found if (c["closes"], c["id"]) > start]
        if is_node("bottle-total-is-the-rest"):
            total = len(found)
    elif is_node("bottle-empty-pages"):
        return scan_page(found, given, limit, ("", ""), total)
    page = found[:limit]
    headers = {"X-Total-Count": str(total)}
    if len(found) > limit:
        headers["Link"] = next_link(given, limit, page[-1])
    return resource(page, headers)


def scan_page(found, given, limit, start, total):
    """One page of a store that is read in slices of seven records, whether or not they match."""
    rest = [c for c in CALLS if (c["closes"], c["id"]) > start]
    piece = rest[:min(7, limit)]
    keep = {c["id"] for c in found}
    headers = {"X-Total-Count": str(total)}
    if len(rest) > len(piece):
        headers["Link"] = next_link(given, limit, piece[-1])
    return resource([c for c in piece if c["id"] in keep], headers)


def next_link(given, limit, after):
    mark = base64.urlsafe_b64encode(f"{after['closes']} {after['id']}".encode()).decode().rstrip("=")
    again = {name: given[name] for name in ("region", "openOn", "q") if name in given}
    return f'<{BASE}/calls?{urlencode({"limit": limit, "cursor": mark, **again})}>; rel="next"'


def decode_cursor(text):
    if is_node("bottle-cursor-crash"):
        base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode("ascii").split(" ")[1]
    try:
        if not re.fullmatch(r"[A-Za-z0-9_-]{1,100}", text):
            raise ValueError
        plain = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True).decode("ascii")
        closes, _, name = plain.partition(" ")
        if base64.urlsafe_b64encode(plain.encode()).decode().rstrip("=") != text or name not in BY_ID or BY_ID[name]["closes"] != closes:
            raise ValueError
        return closes, name
    except ValueError:
        raise error(400, "bad_parameter", "cursor must come from a Link of this list.")


def get_call(name):
    guard(PRODUCTION, AUDIENCE, True)
    if name not in BY_ID:
        raise error(404, "not_found", "There is no such call.")
    return resource(BY_ID[name])


def list_annotations():
    query, account = guard(PRODUCTION, AUDIENCE, True)
    given = single(query, ["callId"])
    mine = [a for a in ANNOTATIONS if a["affiliationId"] == account["affiliation"]]
    if "callId" in given:
        if not given["callId"]:
            raise error(400, "bad_parameter", "callId must not be empty.")
        source = ANNOTATIONS if is_node("bottle-filter-shows-others") else mine
        return resource([a for a in source if a["callId"] == given["callId"]])
    return resource(mine)


def get_annotation(name):
    _, account = guard(PRODUCTION, AUDIENCE, True)
    for note in ANNOTATIONS:
        if note["id"] == name and note["affiliationId"] == account["affiliation"]:
            return resource(note)
    raise error(404, "not_found", "There is no such annotation.")


# ------------------------------------------------------------------ info, registry
def info():
    guard(PRODUCTION, AUDIENCE, False)
    return Answer(200, {"endpoints": {"FUNDING": [{"name": "FUNDING", "majorVersion": 3, "minorVersion": 0, "url": BASE + "/calls"}]}})


def staging_info():
    guard(STAGING, "bt-staging", False)
    return Answer(200, {"endpoints": {}})


def registry():
    return Answer(200, {"member": [{"id": "BT", "acronym": "BT", "name": "Bottle Research Node", "contact": "ris@bt.example",
                                    "oauth2": ORIGIN + TOKEN_PATH, "info": ORIGIN + INFO_PATH}]})


# ------------------------------------------------------------------ document
def openapi():
    def ref(name):
        return {"$ref": "#/components/schemas/" + name}

    def use(name):
        return {"$ref": "#/components/responses/" + name}

    def header(text, required=True, kind="string"):
        return {"description": text, "required": required, "schema": {"type": kind}}

    etag = {"ETag": header("Entity tag of this answer, for If-None-Match and If-Match.")}
    bearer = {"WWW-Authenticate": header("Bearer challenge.")}

    def ok(schema, text, more=None):
        return {"description": text, "headers": {**etag, **(more or {})}, "content": {"application/json": {"schema": schema}}}

    def bad(text, headers=None):
        return {"description": text, **({"headers": headers} if headers else {}), "content": {"application/json": {"schema": ref("Error")}}}

    hidden = is_node("bottle-hides-behind-404")
    common = {"304": use("NotModified"), "400": use("BadRequest"), "401": use("Unauthorized"),
              **({"404": use("NotFound")} if hidden else {"403": use("Forbidden")}), "412": use("PreconditionFailed")}
    id_param = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
    pages = ("The page holds the first `limit` calls after the cursor." if not is_node("bottle-empty-pages") else
             "A page may hold fewer calls than `limit`, even none: the list ends only where an answer has no Link with rel=next.")
    refused = (" To a service account without this role the node answers 404 to every operation." if hidden else "")
    return {
        "openapi": "3.0.3",
        "info": {
            "title": "Funding API of node BT", "version": "3.0",
            "description": "Annotated funding calls, read only. Every operation needs an access token of the client credentials flow for a service account with the role EXTERNAL_API_CLIENT." + refused +
            " The staging environment is separate: its clients and tokens are not valid here. Query parameters that are not listed are ignored, except access_token, which is refused with 400; a listed one must not be repeated.",
        },
        "servers": [{"url": BASE}],
        "security": [{"oauth": []}],
        "tags": [{"name": "Calls"}, {"name": "Annotations"}],
        "paths": {
            "/calls": {"get": {
                "operationId": "listCalls", "tags": ["Calls"], "summary": "List funding calls",
                "description": "The calls that match all given filters, in the order of `closes` and then of `id`. An item is the same as the answer of getCall. " + pages,
                "parameters": [
                    {"name": "limit", "in": "query", "description": "Calls on a page at most.", "schema": {"type": "integer", "minimum": 1, "maximum": 50, "default": 20}},
                    {"name": "cursor", "in": "query", "description": "Place in the list, from the Link with rel=next of an answer; any other value is answered 400.", "schema": {"type": "string"}},
                    {"name": "region", "in": "query", "description": "Only calls of this region.", "schema": ref("Region")},
                    {"name": "openOn", "in": "query", "description": "Only calls that are open on this day: opens <= day <= closes.", "schema": {"type": "string", "format": "date"}},
                    {"name": "q", "in": "query", "description": "Only calls with this text in a title of any language. Capital and small letters count as the same, by Unicode case folding.", "schema": {"type": "string", "minLength": 1, "maxLength": 100}},
                ],
                "responses": {"200": ok({"type": "array", "maxItems": 50, "items": ref("Call")}, "One page of calls.", {
                    "X-Total-Count": header("Number of calls that match the filters, on all pages; the same on every page.", kind="integer"),
                    "Link": header("The next page with rel=next, with the same filters and limit (RFC 8288); absent on the last page.", False)}), **common},
            }},
            "/calls/{id}": {"get": {"operationId": "getCall", "tags": ["Calls"], "summary": "Read one funding call", "parameters": [id_param],
                                    "responses": {"200": ok(ref("Call"), "The call."), **common, "404": use("NotFound")}}},
            "/annotations": {"get": {
                "operationId": "listAnnotations", "tags": ["Annotations"], "summary": "List the annotations of the own affiliation",
                "description": "All annotations of the affiliation of the calling service account, and only those.",
                "parameters": [{"name": "callId", "in": "query", "description": "Only annotations of the call with this id. An unknown id gives an empty list.", "schema": {"type": "string", "minLength": 1}}],
                "responses": {"200": ok({"type": "array", "items": ref("Annotation")}, "The annotations."), **common}}},
            "/annotations/{id}": {"get": {"operationId": "getAnnotation", "tags": ["Annotations"], "summary": "Read one annotation",
                                          "description": "An annotation of another affiliation is answered like one that does not exist.", "parameters": [id_param],
                                          "responses": {"200": ok(ref("Annotation"), "The annotation."), **common, "404": use("NotFound")}}},
        },
        "components": {
            "securitySchemes": {"oauth": {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": ORIGIN + TOKEN_PATH, "scopes": {}}}}},
            "responses": {
                "NotModified": {"description": "The entity tag in If-None-Match is current.", "headers": etag},
                "BadRequest": bad("A parameter is not as described."),
                "Unauthorized": bad("The access token is missing or not valid.", bearer),
                "NotFound": bad("No record has this id, or the service account lacks the role." if hidden else "No record has this id."),
                "PreconditionFailed": bad("The entity tag in If-Match is not current."),
                **({} if hidden else {"Forbidden": bad("The service account lacks the role.", bearer)}),
            },
            "schemas": {
                "Region": {"type": "string", "enum": REGIONS},
                "Title": {"type": "object", "required": ["lang", "text"], "additionalProperties": False,
                          "properties": {"lang": {"type": "string", "enum": ["de", "en", "sl"]}, "text": {"type": "string", "minLength": 1}}},
                "Call": {
                    "type": "object", "additionalProperties": False,
                    "required": ["id", "title", "region", "labels", "opens", "closes", "budget", "currency", "website"],
                    "properties": {
                        "id": {"type": "string", "pattern": "^c[0-9a-f]{7}$"},
                        "title": {"type": "array", "minItems": 1, "description": "One title a language.", "items": ref("Title")},
                        "region": ref("Region"),
                        "labels": {"type": "array", "minItems": 1, "uniqueItems": True, "items": {"type": "string", "enum": LABELS}},
                        "opens": {"type": "string", "format": "date"},
                        "closes": {"type": "string", "format": "date", "description": "The last day of the call."},
                        "budget": {"type": "string", "pattern": "^[0-9]+\\.[0-9]{2}$", "description": "Exact amount, with two decimals."},
                        "currency": {"type": "string", "enum": ["EUR"]},
                        "website": {"type": "string", "format": "uri"},
                    }},
                "Annotation": {
                    "type": "object", "additionalProperties": False, "required": ["id", "callId", "affiliationId", "text", "createdAt"],
                    "properties": {"id": {"type": "string"}, "callId": {"type": "string", "description": "Id of a call."}, "affiliationId": {"type": "string"},
                                   "text": {"type": "string"}, "createdAt": {"type": "string", "format": "date-time"}}},
                "Error": {"type": "object", "required": ["code", "message"], "properties": {"code": {"type": "string"}, "message": {"type": "string"}}},
            },
        },
    }


DOCUMENT = openapi()

# ------------------------------------------------------------------ server
app = bottle.Bottle()


def route(path, handler, method="GET"):
    def run(**parts):
        try:
            answer = handler(**parts)
        except Answer as early:
            answer = early
        return write(answer.status, answer.body, answer.headers)
    app.route(path, method=method, callback=run)


route("/registry.json", registry)
route(TOKEN_PATH, lambda: token_endpoint(PRODUCTION), "POST")
route(STAGING_TOKEN_PATH, lambda: token_endpoint(STAGING), "POST")
route(INFO_PATH, info)
route("/staging" + INFO_PATH, staging_info)
route(API + "/api-docs", lambda: Answer(200, DOCUMENT, {"Cache-Control": "no-cache"}))
route(API + "/calls", list_calls)
route(API + "/calls/<name>", get_call)
route(API + "/annotations", list_annotations)
route(API + "/annotations/<name>", get_annotation)


def framework_error(failure):
    """What the framework refuses, in the error shape of this node."""
    codes = {400: "bad_request", 404: "not_found", 405: "method_not_allowed"}
    texts = {400: "The request cannot be read.", 404: "There is nothing at this path.", 405: "This method is not supported here."}
    status = failure.status_code
    bottle.response.content_type = "application/json"
    bottle.response.set_header("Cache-Control", "no-store")
    bottle.response.set_header("X-Content-Type-Options", "nosniff")
    allow = failure.get_header("Allow")
    if allow:
        methods = {a.strip() for a in allow.split(",")}
        if "GET" in methods:
            methods.add("HEAD")
        bottle.response.set_header("Allow", ", ".join(sorted(methods)))
    return json.dumps({"code": codes.get(status, "internal"), "message": texts.get(status, "Something went wrong here.")})


if is_node("bottle-cursor-crash"):
    # what the framework shows by itself, with the page it makes for an uncaught exception
    for status in (400, 404, 405):
        app.error(status)(framework_error)
else:
    app.default_error_handler = framework_error

if __name__ == "__main__":
    if sys.argv[1:] == ["inputs"]:
        print(json.dumps({"clients": CLIENTS, "stagingClients": STAGING_CLIENTS}))
    else:
        logging.getLogger("waitress.queue").setLevel(logging.ERROR)
        waitress.serve(app, host="127.0.0.1", port=PORT, threads=4, ident="bt", max_request_body_size=1048576, _quiet=True)
