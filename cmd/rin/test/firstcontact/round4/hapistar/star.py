"""A node of the network on Starlette: opaque tokens in memory, introspected with a cache; keyset paging with Link headers and bare arrays."""
import base64, binascii, hashlib, hmac, json, os, re, secrets, sys, time, traceback
from datetime import datetime, timedelta, timezone
from urllib.parse import parse_qsl, unquote_plus, urlencode

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

V = os.environ.get("NODE", "star-base")
PORT = int(os.environ.get("PORT", "18502"))
ORIGIN = f"http://127.0.0.1:{PORT}"
BASE = ORIGIN + "/seeadler"
STARTED = time.time()


def v(name):
    return V == name


# ---- clients
def client(secret, account, role=True, aff="AFF-MUERITZ-1", aud="seeadler"):
    return {"secret": secret, "sub": account, "roles": ["EXTERNAL_API_CLIENT"] if role else [], "affiliation": aff, "aud": aud}


CLIENTS = {
    "seeadler-portal": client("Horst_im_Kiefernwald=42&Spannweite:2,4m", "sa-11"),
    "seeadler-kiosk": client("w8KqZ3nVb6TxYc1RmLp5SdHf0GjUeAo7XiQ2NtBz", "sa-12", aff="AFF-USEDOM-2"),
    "seeadler-gast": client("r2JmXv7QbNc5LpTz9KsWd4HgYf1UaEo8RiV6BxCn", "sa-13", role=False),
    "seeadler-projekte": client("t6GnYb3WcVx9MqRz1LpKs7JdHf5UeAo2TiN4ZvXm", "sa-14", aud="projekte"),
    "seeadler-ersatz": client("y9HbNv2XcQw6ZrTm4KpLs8GdJf3UaEo5YiR1VxBn", "sa-15"),
}
STAGING_CLIENTS = {"probe-portal": client("q5FdSa8ZxCv2WeRt6LkJh9GbNm3UiOp7YqT1XcVz", "sa-91", aff="AFF-PROBE")}
SCOPES = {"info": "Call the info endpoint.", "funding": "Read the funding API."}
TTL = 600

# ---- data
GROUPS = ["UNIVERSITY", "RESEARCH_INSTITUTE", "COMPANY", "NGO", "ARTIST"]
REGIONS = ["MUERITZ", "USEDOM", "RUEGEN", "SCHWERIN", "UECKERMARK"]
TYPES = ["CALL", "ONGOING_CALL", "PROGRAMME"]
FUNDERS = [("O-10", "Seenstiftung", "Lakes Foundation"), ("O-20", "Ostfonds Forschung", "East Research Fund"), ("O-30", "Bürgerstiftung Größe & Maß", "Citizens' Trust"), ("O-40", "Kulturerbe e. V.", "Heritage Association")]
TOPICS = [("Vogelzug", "Bird Migration"), ("Süßwasser", "Freshwater"), ("Öffentliche Archive", "Public Archives"), ("Robotik", "Robotics"), ("Ländlicher Raum", "Rural Areas"), ("Klangkunst", "Sound Art"), ("Gesundheitsdaten", "Health Data")]


def text(de, en):
    return [{"lang": "de", "text": de}, {"lang": "en", "text": en}]


def stamp(t):
    return t.strftime("%Y-%m-%dT%H:%M:%SZ")


def make(n):
    de, en = TOPICS[n % 7]
    f = FUNDERS[(n * 3 + n // 9) % 4]
    # several fundings share a deadline: the quarter days of the foundation
    end = datetime(2027, 1, 15, 11, 0, tzinfo=timezone.utc) + timedelta(days=14 * ((n * 5) % 13))
    start = end - timedelta(days=60 + n % 40)
    stages = [{"number": "1", "start": stamp(start), "end": stamp(end)}]
    if n % 4 == 0:
        stages.append({"number": "2", "start": stamp(end + timedelta(days=30)), "end": stamp(end + timedelta(days=75))})
    kind = TYPES[0] if n % 6 else TYPES[1 + (n // 6) % 2]
    groups = [g for k, g in enumerate(GROUPS) if (n * (1, 2, 3, 4, 6)[k] + k) % 5 < 2] or ["UNIVERSITY"]
    return {
        "id": f"SA27-{n:04d}", "type": kind, "name": text(f"{de} – Förderung {n}", f"{en}, grant {n}"), "funder": {"id": f[0], "name": text(f[1], f[2])},
        "region": REGIONS[(n + n // 5) % 5], "targetGroups": groups, "opens": stamp(start), "deadline": stamp(end), "amount": {"currency": "EUR", "value": 5000 * n + (n % 3) * 0.5},
        "fullyFunded": n % 3 == 0, "website": f"https://seeadler.example/f/{n}", "contact": {"email": f"call{n}@seeadler.example"}, "stageCount": len(stages), **({"acronym": f"SEE{n}"} if n % 2 else {}),
    }, stages


MADE = [make(n) for n in range(1, 65)]
FUNDINGS = [m[0] for m in MADE]
STAGES = {m[0]["id"]: m[1] for m in MADE}


def fundings():
    if v("live-list"):  # a new funding every 15 seconds
        while len(FUNDINGS) < 64 + int((time.time() - STARTED) / 15) and len(FUNDINGS) < 500:
            f, s = make(len(FUNDINGS) + 1)
            FUNDINGS.append(f)
            STAGES[f["id"]] = s
    return FUNDINGS


VOCABULARIES = {"regions": REGIONS, "target-groups": GROUPS, "types": TYPES}


# ---- the OpenAPI document
def s(kind, **extra):
    return {"type": kind, **extra}


def ref(name):
    return {"$ref": f"#/components/schemas/{name}"}


def obj(required, **props):
    return s("object", required=required.split(), properties=props)


CHALLENGE = {"WWW-Authenticate": {"required": True, "schema": s("string"), "description": "The challenge (RFC 6750)."}}


def problem(description, headers=None):
    return {"description": description, "content": {"application/problem+json": {"schema": ref("Problem")}}, **({"headers": headers} if headers else {})}


def operation(name, summary, schema, params=(), public=False, scope="funding", missing=False, link=False):
    ok = {"description": "The answer.", "content": {"application/json": {"schema": schema}}}
    if link:
        ok["headers"] = {"Link": {"schema": s("string"), "description": "rel=first, and rel=next unless this is the last page (RFC 8288)."}}
    r = {"200": ok, "405": problem("Only GET and HEAD are offered.", {"Allow": {"required": True, "schema": s("string")}}), "406": problem("Only application/json is offered.")}
    if not public or params:
        r["400"] = problem("The request is malformed.")
    if not public:
        r["401"] = problem("No access token, or not a good one.", CHALLENGE)
        r["403"] = problem("The token lacks the scope, or the client the role.", CHALLENGE)
    if missing:
        r["404"] = problem("There is nothing of this name.")
    if v("now-and-then-503"):
        r["503"] = problem("Overloaded for a moment.", {"Retry-After": {"required": True, "schema": s("string")}})
    return {"get": {"operationId": name, "summary": summary, "parameters": list(params), "security": [] if public else [{"nodeTokens": [scope]}], "responses": r}}


def query(name, schema, description):
    return {"name": name, "in": "query", "required": False, "description": description, "schema": schema}


PARAMS = [
    query("limit", s("integer", minimum=1, maximum=40, default=20), "At most so many fundings."),
    query("after", s("string", minLength=1, maxLength=300), "Where the page starts: taken from the Link header of the page before; it goes with the same sort."),
    query("sort", s("string", enum=["id", "deadline"], default="id"), "By id, or by deadline and then id; ascending."),
    query("type", s("string", enum=TYPES), "Only fundings of this type."),
    query("region", s("string", enum=REGIONS), "Only fundings of this region."),
    query("targetGroup", s("string", enum=GROUPS), "Only fundings with this group among their targetGroups."),
    query("funderId", s("string", minLength=1, maxLength=40), "Only fundings of the funder with exactly this id."),
    query("fullyFunded", s("boolean"), "Only fundings that are (true) or are not (false) fully funded."),
    query("deadlineUntil", s("string", format="date"), "Only fundings whose deadline (UTC) is on this day or earlier."),
]
PATH_ID = {"name": "id", "in": "path", "required": True, "schema": s("string", minLength=1)}


def document():
    date = s("string", format="date-time")
    funding = obj("id type name funder region targetGroups opens deadline amount fullyFunded website contact stageCount", id=s("string"), type=s("string", enum=TYPES), name=s("array", items=ref("Text")),
                  funder=obj("id name", id=s("string"), name=s("array", items=ref("Text"))), region=s("string", enum=REGIONS), targetGroups=s("array", minItems=1, items=s("string", enum=GROUPS)), opens=date, deadline=date,
                  amount=obj("currency value", currency=s("string", enum=["EUR"]), value=s("number", minimum=0)), fullyFunded=s("boolean"), website=s("string", format="uri"), contact=obj("email", email=s("string", format="email")),
                  stageCount=s("integer", minimum=1), acronym=s("string"))
    entry = obj("name majorVersion minorVersion url", name=s("string"), majorVersion=s("integer"), minorVersion=s("integer"), url=s("string"))
    return {
        "openapi": "3.0.1",
        "info": {"title": "Seeadler funding API", "version": "3.0.4", "description": "Read with a token of the client credentials grant in the header Authorization (Bearer). Filters hold together. Unknown parameters are ignored; a bad value or a repeated parameter is answered with 400. A funding read by its id is the object of the list."},
        "servers": [{"url": BASE}],
        "paths": {
            "/info/v1/oauth/info/": operation("info", "Test of a token", obj("endpoints", endpoints=s("object", additionalProperties=s("array", items=entry))), scope="info"),
            "/funding/v3/api-docs": operation("apiDocs", "This document", s("object"), public=True),
            "/funding/v3/fundings": operation("findAll", "Fundings", s("array", items=ref("Funding")), PARAMS, link=True),
            "/funding/v3/fundings/{id}": operation("findByKey", "One funding", ref("Funding"), [PATH_ID], missing=True),
            "/funding/v3/fundings/{id}/stages": operation("stages", "The stages of a funding", s("array", items=obj("number start end", number=s("string"), start=date, end=date)), [PATH_ID], missing=True),
            "/funding/v3/vocabularies/{name}": operation("vocabulary", "The values of a vocabulary; public", s("array", items=s("string")), [{"name": "name", "in": "path", "required": True, "schema": s("string", enum=list(VOCABULARIES))}], public=True, missing=True),
        },
        "components": {
            "securitySchemes": {"nodeTokens": {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": ORIGIN + "/oauth/token", "scopes": SCOPES}}}},
            "schemas": {
                "Text": obj("lang text", lang=s("string", enum=["de", "en"]), text=s("string")),
                "Funding": funding,
                "Problem": obj("type title status", type=s("string"), title=s("string"), status=s("integer"), detail=s("string")),
            },
        },
    }


# ---- answers
TITLES = {400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 406: "Not Acceptable", 500: "Internal Server Error", 503: "Service Unavailable"}
GERMAN = {400: "Ungültige Anfrage", 401: "Nicht angemeldet", 403: "Verboten", 404: "Nicht gefunden", 405: "Methode nicht erlaubt", 406: "Nicht annehmbar", 500: "Interner Fehler"}


class Fault(Exception):
    def __init__(self, status, detail, headers=None):
        self.status, self.detail, self.headers = status, detail, headers or {}


def fault_response(request, f):
    body = {"type": "about:blank", "title": TITLES.get(f.status, "Error"), "status": f.status, "detail": f.detail}
    headers = {"Cache-Control": "no-store", **f.headers}
    if v("gateway-german"):
        body.update(title=GERMAN.get(f.status, "Fehler"), detail=GERMAN.get(f.status, "Fehler") + " – bitte prüfen Sie Ihre Anfrage.")
        headers["Content-Language"] = "de"
    response = Response(json.dumps(body, ensure_ascii=False), f.status, headers, media_type="application/problem+json")
    if f.status == 401 and v("two-challenges"):
        bearer = response.headers["www-authenticate"]
        del response.headers["www-authenticate"]
        response.raw_headers.append((b"www-authenticate", b'DPoP algs="ES256 EdDSA", realm="seeadler, nord"'))
        response.raw_headers.append((b"www-authenticate", b"Negotiate, " + bearer.encode()))
    return response


def acceptable(request):
    got = request.headers.getlist("accept")
    if not got or not ",".join(got).strip():
        return True
    best, found = {}, False
    for part in ",".join(got).split(","):
        bits = [b.strip().lower() for b in part.split(";")]
        rank = {"*/*": 1, "application/*": 2, "application/json": 3}.get(bits[0])
        if rank is None:
            continue
        weight = next((b[2:] for b in bits[1:] if b.startswith("q=")), "1")
        try:
            best[rank] = float(weight)
        except ValueError:
            best[rank] = 1.0
    return bool(best) and best[max(best)] > 0


def answer(request, body, headers=None, public=False):
    headers = {"Cache-Control": "public, max-age=60" if public else "private, no-store", "Vary": "Accept", **(headers or {})}
    if v("chunked-pretty"):
        pretty = json.dumps(body, indent=3).replace("/", "\\/") + "\n"

        async def parts():
            for i in range(0, len(pretty), 700):
                yield pretty[i:i + 700]
        return StreamingResponse(parts(), 200, headers, media_type="Application/JSON; charset=UTF-8")
    return Response(json.dumps(body, ensure_ascii=False), 200, headers, media_type="application/json")


# ---- tokens: the authorization server keeps them; the API asks it and remembers the answer for a while
TOKENS, STAGING_TOKENS, CACHE = {}, {}, {}


def digest(token):
    return hashlib.sha256(token.encode()).hexdigest()


def introspect(token, store):
    record = store.get(digest(token))
    return record if record and record["exp"] > time.time() else None


def lookup(token, store):
    key = token[:24] if v("cache-token-prefix") else digest(token)
    hit = CACHE.get((id(store), key))
    if hit and hit[0] > time.time() and hit[1]["exp"] > time.time():
        return hit[1]
    record = introspect(token, store)
    if record:
        if len(CACHE) > 5000:
            CACHE.clear()
        CACHE[(id(store), key)] = (time.time() + 20, record)
    return record


def challenge(error=None, description=None, scope=None):
    parts = ['realm="seeadler"'] + [f'{k}="{val}"' for k, val in (("error", error), ("error_description", description), ("scope", scope)) if val]
    return {"WWW-Authenticate": "Bearer " + ", ".join(parts)}


def authenticate(request, store, aud):
    got = request.headers.getlist("authorization")
    if not got:
        raise Fault(401, "The request has no access token.", challenge())
    if len(got) > 1:
        raise Fault(400, "More than one Authorization header.", challenge("invalid_request", "more than one Authorization header"))
    if not re.match(r"(?i)bearer(\s|$)", got[0]):
        raise Fault(401, "Use the scheme Bearer.", challenge())
    m = re.fullmatch(r"(?i:bearer) +([A-Za-z0-9\-._~+/]+=*)", got[0])
    if not m:
        raise Fault(400, "The credentials are malformed.", challenge("invalid_request", "malformed credentials"))
    record = lookup(m[1], store)
    if not record or record["client"]["aud"] != aud:
        raise Fault(401, "The access token is not valid here.", challenge("invalid_token", "the access token is not valid here"))
    return record


COUNT = {"funding": 0}
RESPONSES = {}


def protected(handler, scope, store=TOKENS, aud="seeadler"):
    async def endpoint(request):
        if v("now-and-then-503") and scope == "funding":
            COUNT["funding"] += 1
            if COUNT["funding"] in (40, 41):
                raise Fault(503, "Overloaded for a moment.", {"Retry-After": "1"})
        if v("head-open") and request.method == "HEAD":
            return handler(request)
        record = authenticate(request, store, aud)
        url = str(request.url)
        if v("cache-before-role") and request.method == "GET" and request.path_params:
            hit = RESPONSES.get(url)
            if hit and hit[0] > time.time():
                return hit[1]
        if scope not in record["scope"]:
            raise Fault(403, f"The token lacks the scope {scope}.", challenge("insufficient_scope", "the token lacks the scope", scope))
        if scope == "funding" and (not record["client"]["affiliation"] or "EXTERNAL_API_CLIENT" not in record["client"]["roles"]):
            raise Fault(403, "The client lacks the role EXTERNAL_API_CLIENT.", challenge("insufficient_scope", "the role EXTERNAL_API_CLIENT is missing"))
        if not acceptable(request):
            raise Fault(406, "Only application/json is offered.")
        response = handler(request)
        if v("cache-before-role") and request.method == "GET" and request.path_params:
            RESPONSES[url] = (time.time() + 30, response)
        return response
    return endpoint


def public(handler):
    async def endpoint(request):
        if not acceptable(request):
            raise Fault(406, "Only application/json is offered.")
        return handler(request)
    return endpoint


# ---- token endpoint
def token_endpoint(clients, store):
    async def endpoint(request):
        no_store = {"Cache-Control": "no-store", "Pragma": "no-cache"}

        def fail(status, error, description):
            headers = {**no_store, **({"WWW-Authenticate": 'Basic realm="seeadler clients", charset="UTF-8"'} if status == 401 else {})}
            return Response(json.dumps({"error": error, "error_description": description}), status, headers, media_type="application/json")

        if request.headers.get("content-type", "").split(";")[0].strip().lower() != "application/x-www-form-urlencoded":
            return fail(400, "invalid_request", "the body must be application/x-www-form-urlencoded")
        raw = await request.body()
        if len(raw) > 65536:
            return fail(400, "invalid_request", "the body is too long")
        pairs = parse_qsl(raw.decode("utf-8", "replace"), keep_blank_values=True)
        names = [k for k, _ in pairs]
        checked = [n for n in names if n in ("grant_type", "client_id", "scope")] if v("dup-secret") else names
        if len(set(checked)) != len(checked):
            return fail(400, "invalid_request", "a parameter is given more than once")
        form = {k: val for k, val in pairs if val}
        ident, secret = form.get("client_id"), form.get("client_secret")
        auth = request.headers.getlist("authorization")
        if auth:
            m = re.fullmatch(r"(?i:basic) +([A-Za-z0-9+/]+=*)", auth[0])
            try:
                user, colon, password = base64.b64decode(m[1], validate=True).decode().partition(":") if m and len(auth) == 1 else ("", "", "")
            except (binascii.Error, UnicodeDecodeError):
                colon = ""
            if not colon:
                return fail(401, "invalid_client", "the Authorization header is not Basic credentials")
            if secret:
                return fail(400, "invalid_request", "two ways of client authentication in one request")
            user, secret = unquote_plus(user), unquote_plus(password)
            if ident and ident != user:
                return fail(400, "invalid_request", "client_id differs from the Authorization header")
            ident = user
        known = clients.get(ident or "")
        if not known or not hmac.compare_digest(known["secret"].encode(), (secret or "").encode("utf-8", "replace")):
            return fail(401, "invalid_client", "client authentication failed")
        if "grant_type" not in form:
            return fail(400, "invalid_request", "grant_type is missing")
        if form["grant_type"] != "client_credentials":
            return fail(400, "unsupported_grant_type", "only client_credentials is supported")
        wanted = form.get("scope", "").split() or list(SCOPES)
        if not set(wanted) <= set(SCOPES):
            return fail(400, "invalid_scope", "the scopes are: info funding")
        granted = list(dict.fromkeys(wanted))
        body = {"token_type": "Bearer", "expires_in": TTL, "scope": " ".join(granted)}
        if v("scope-widened") and len(granted) < len(SCOPES):  # grants the default set of the client, and does not say so
            granted = list(SCOPES)
            del body["scope"]
        token = secrets.token_urlsafe(40)
        store[digest(token)] = {"client": known, "client_id": ident, "scope": granted, "exp": time.time() + TTL}
        return Response(json.dumps({"access_token": token, **body}), 200, no_store, media_type="application/json")
    return endpoint


# ---- the API
def bad(name, why):
    return Fault(400, f"{name}: {why}")


def read_params(request):
    out = {}
    for p in PARAMS:
        name, schema = p["name"], p["schema"]
        got = request.query_params.getlist(name)
        if len(got) > 1:
            raise bad(name, "given more than once")
        if not got:
            out[name] = schema.get("default")
            continue
        val = got[0]
        if schema["type"] == "integer":
            if not re.fullmatch(r"[0-9]{1,6}", val) or not schema["minimum"] <= int(val) <= schema["maximum"]:
                raise bad(name, f"a whole number from {schema['minimum']} to {schema['maximum']}")
            val = int(val)
        elif schema["type"] == "boolean":
            if val not in ("true", "false"):
                raise bad(name, "true or false")
            val = val == "true"
        elif "enum" in schema and val not in schema["enum"]:
            raise bad(name, "one of " + ", ".join(schema["enum"]))
        elif schema.get("format") == "date":
            try:
                if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", val):
                    raise ValueError
                datetime.strptime(val, "%Y-%m-%d")
            except ValueError:
                raise bad(name, "a date such as 2027-01-31") from None
        elif "minLength" in schema and not schema["minLength"] <= len(val) <= schema["maxLength"]:
            raise bad(name, "too short or too long")
        out[name] = val
    return out


def order(f, sort):
    return [f["deadline"], f["id"]] if sort == "deadline" else [f["id"]]


def read_cursor(p):
    if p["after"] is None:
        return None
    try:
        raw = base64.urlsafe_b64decode(p["after"] + "=" * (-len(p["after"]) % 4))
    except (binascii.Error, ValueError):
        raise bad("after", "not a cursor of this list") from None
    try:
        sort, where = json.loads(raw)
        if sort != p["sort"] or not isinstance(where, list) or len(where) != (2 if sort == "deadline" else 1) or not all(isinstance(x, str) for x in where):
            raise TypeError
        return where
    except (ValueError, TypeError):
        if v("stack-trace"):
            raise
        raise bad("after", "not a cursor of this list") from None


def find_all(request):
    p = read_params(request)
    where = read_cursor(p)
    tests = [
        lambda f: p["type"] is None or f["type"] == p["type"],
        lambda f: p["region"] is None or f["region"] == p["region"],
        lambda f: p["targetGroup"] is None or p["targetGroup"] in f["targetGroups"],
        lambda f: p["funderId"] is None or f["funder"]["id"] == p["funderId"],
        lambda f: p["fullyFunded"] is None or f["fullyFunded"] == p["fullyFunded"],
        lambda f: p["deadlineUntil"] is None or f["deadline"][:10] <= p["deadlineUntil"],
    ]
    rows = sorted((f for f in fundings() if all(t(f) for t in tests)), key=lambda f: order(f, p["sort"]))
    if where and v("keyset-tie"):
        rows = [f for f in rows if order(f, p["sort"])[0] > where[0]]
    elif where:
        rows = [f for f in rows if order(f, p["sort"]) > where]
    page = rows[:p["limit"]]
    origin = ORIGIN
    if v("forwarded-host") and request.headers.get("x-forwarded-host"):
        origin = f"{request.headers.get('x-forwarded-proto', 'http')}://{request.headers['x-forwarded-host']}"
    dropped = ("after", "targetGroup") if v("next-loses-filter") else ("after",)
    keep = [(k, val) for k, val in request.query_params.multi_items() if k not in dropped]
    here = origin + "/seeadler/funding/v3/fundings"
    first = [(k, val) for k, val in request.query_params.multi_items() if k != "after"]
    links = [f'<{here}{"?" if first else ""}{urlencode(first)}>; rel="first"']
    if len(rows) > len(page):
        cursor = json.dumps([p["sort"], order(page[-1], p["sort"])], separators=(",", ":")).encode()
        keep.append(("after", base64.urlsafe_b64encode(cursor).decode().rstrip("=")))
        links.append(f'<{here}?{urlencode(keep)}>; rel="next"')
    return answer(request, page, {"Link": ", ".join(links)})


def find_by_key(request):
    for f in fundings():
        if f["id"] == request.path_params["id"]:
            return answer(request, f)
    raise Fault(404, "There is no funding with this id.")


def stages(request):
    fundings()
    if request.path_params["id"] not in STAGES:
        if v("404-text"):
            return PlainTextResponse("Not Found", 404)
        raise Fault(404, "There is no funding with this id.")
    return answer(request, STAGES[request.path_params["id"]])


def vocabulary(request):
    if request.path_params["name"] not in VOCABULARIES:
        raise Fault(404, "There is no vocabulary of this name.")
    return answer(request, VOCABULARIES[request.path_params["name"]], public=True)


def info(request):
    here = BASE + "/funding/v3/fundings"
    return answer(request, {"endpoints": {"funding": [{"name": n, "majorVersion": 3, "minorVersion": 0, "url": u} for n, u in (("FUNDINGS", here), ("FUNDING", here + "/{id}"))]}})


def registry(request):
    return answer(request, {"member": [{"id": "SEEADLER", "acronym": "SEA", "name": "Forschungsverbund Seeadler", "contact": "ris@seeadler.example", "oauth2": ORIGIN + "/oauth/token", "info": BASE + "/info/v1/oauth/info/"}]}, public=True)


async def on_http(request, exc):
    allow = exc.headers and exc.headers.get("Allow")
    return fault_response(request, Fault(exc.status_code, "There is nothing here." if exc.status_code == 404 else f"{TITLES.get(exc.status_code, 'Error')}.", {"Allow": ", ".join(sorted(allow.split(", ")))} if allow else {}))


async def on_fault(request, exc):
    return fault_response(request, exc)


async def on_error(request, exc):
    if v("stack-trace"):
        return PlainTextResponse("".join(traceback.format_exception(exc)), 500)
    return fault_response(request, Fault(500, "Something went wrong."))


R = Route
ROUTES = [
    R("/oauth/token", token_endpoint(CLIENTS, TOKENS), methods=["POST"]),
    R("/staging/oauth/token", token_endpoint(STAGING_CLIENTS, STAGING_TOKENS), methods=["POST"]),
    R("/staging/seeadler/info/v1/oauth/info/", protected(info, "info", STAGING_TOKENS)),
    R("/seeadler/info/v1/oauth/info/", protected(info, "info")),
    R("/seeadler/funding/v3/api-docs", public(lambda r: answer(r, document(), public=True))),
    R("/seeadler/funding/v3/fundings", protected(find_all, "funding")),
    R("/seeadler/funding/v3/fundings/{id}", protected(find_by_key, "funding")),
    R("/seeadler/funding/v3/fundings/{id}/stages", protected(stages, "funding")),
    R("/seeadler/funding/v3/vocabularies/{name}", public(vocabulary)),
    R("/registry.json", public(registry)),
]


class Gateway:
    """For gateway-german: what a normalising gateway in front does: one spelling of each path, headers of its own."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        raw = scope["raw_path"].split(b"?")[0].decode("latin-1")
        path = re.sub(r"/{2,}", "/", raw)
        if path.endswith("/oauth/info"):
            path += "/"
        if path != raw and path != "/":
            target = path + ("?" + scope["query_string"].decode("latin-1") if scope["query_string"] else "")
            return await Response("", 308, {"Location": target})(scope, receive, send)

        async def add(message):
            if message["type"] == "http.response.start":
                message["headers"] = list(message["headers"]) + [(b"via", b"1.1 gw.seeadler.example"), (b"x-request-id", secrets.token_hex(8).encode())]
            await send(message)
        return await self.app(scope, receive, add)


app = Starlette(routes=ROUTES, exception_handlers={HTTPException: on_http, Fault: on_fault, Exception: on_error})
app.router.redirect_slashes = False
if v("gateway-german"):
    app = Gateway(app)

if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=PORT, log_level="critical", access_log=False, server_header=False)
    sys.exit(0)
