"""Base A: a node on Django (one file of settings, runserver's HTTP server), opaque tokens in a table of the process."""
import base64, binascii, hmac, json, os, re, secrets, sys, time
from datetime import date
from decimal import Decimal
from urllib.parse import parse_qsl, unquote_plus, urlencode
from zoneinfo import ZoneInfo

import django
from django.conf import settings

PORT, NODE = int(os.environ.get("PORT", "18201")), os.environ.get("NODE", "")
BASE = f"http://127.0.0.1:{PORT}"
settings.configure(DEBUG=False, SECRET_KEY="not-used-for-anything", ALLOWED_HOSTS=["*"], ROOT_URLCONF=__name__, USE_TZ=True,
                   APPEND_SLASH=False, MIDDLEWARE=[f"{__name__}.outermost", "django.middleware.common.CommonMiddleware", "django.middleware.security.SecurityMiddleware"],
                   LOGGING_CONFIG=None)
django.setup()
from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpResponse
from django.urls import path
from django.views.debug import technical_500_response
from calls import FUNDERS, DISCIPLINES, rows

# --- accounts and tokens -------------------------------------------------------------------------------------------
CLIENTS = {"uni-mur-portal": ("p7:Kq+w/9z=Lm%2B4&xT", "EXTERNAL_API_CLIENT"), "uni-mur-second": ("second-0c1f7e55d2", "EXTERNAL_API_CLIENT"),
           "uni-mur-norole": ("norole-92ab01fe77", None)}
STAGING_CLIENTS = {"uni-mur-staging": ("staging-4410cafe", "EXTERNAL_API_CLIENT")}
TOKENS, STAGING_TOKENS, LIFETIME = {}, {}, 600
INTROSPECTED, PAGES, COUNT = {}, {}, {"n": 0}


def answer(data, status=200, **headers):
    r = HttpResponse(json.dumps(data, cls=DjangoJSONEncoder, ensure_ascii=False), status=status, content_type="application/json")
    for k, v in headers.items():
        r[k.replace("_", "-")] = v
    return r


def oauth_error(code, text, status=400, **headers):
    return answer({"error": code, "error_description": text}, status, Cache_Control="no-store", Pragma="no-cache", **headers)


def refused():
    return oauth_error("invalid_client", "client authentication failed", 401, WWW_Authenticate='Basic realm="mur-sso"')


def token(request, clients=None, tokens=None):
    clients, tokens = (CLIENTS, TOKENS) if clients is None else (clients, tokens)
    if request.method == "OPTIONS":
        return HttpResponse(status=204, headers={"Allow": "POST, OPTIONS"})
    if request.method != "POST":
        return oauth_error("invalid_request", "use POST", 405, Allow="POST, OPTIONS")
    if (request.content_type or "").lower() != "application/x-www-form-urlencoded":
        return oauth_error("invalid_request", "the body must be application/x-www-form-urlencoded")
    try:
        pairs = parse_qsl(request.body.decode(), keep_blank_values=True, strict_parsing=False, max_num_fields=100)
    except ValueError:
        return oauth_error("invalid_request", "the body cannot be read")
    names = [k for k, v in pairs]
    unique = names
    if NODE == "w-scope-twice":
        unique = [k for k in names if k in ("grant_type", "client_id", "client_secret")]
    if len(set(unique)) != len(unique):
        return oauth_error("invalid_request", "a parameter is repeated")
    form = {k: v for k, v in pairs if v != ""}
    header = request.headers.get("Authorization")
    if header is not None:
        scheme, _, value = header.partition(" ")
        if scheme.lower() != "basic":
            return refused()
        try:
            cid, colon, secret = base64.b64decode(value.strip(), validate=True).decode().partition(":")
        except (binascii.Error, ValueError):
            return refused()
        if NODE != "w-basic-raw":
            cid, secret = unquote_plus(cid), unquote_plus(secret)
        if "client_secret" in form or form.get("client_id", cid) != cid:
            return oauth_error("invalid_request", "more than one way of client authentication")
    else:
        cid, secret = form.get("client_id"), form.get("client_secret")
        if cid is None or secret is None:
            return refused()
    known = clients.get(cid)
    if not hmac.compare_digest((known[0] if known else "-").encode(), secret.encode()) or known is None:
        return refused()
    grant = form.get("grant_type")
    if grant is None:
        return oauth_error("invalid_request", "grant_type is missing")
    if grant != "client_credentials":
        if NODE == "w-description-chars":
            return oauth_error("unsupported_grant_type", f'Der Grant-Type "{grant}" wird nicht unterstützt')
        return oauth_error("unsupported_grant_type", "only client_credentials is supported")
    if not set(form.get("scope", "funding.read").split(" ")) <= {"funding.read"}:
        return oauth_error("invalid_scope", "the only scope is funding.read")
    t = secrets.token_urlsafe(32)
    if NODE == "r-long-token":
        t = secrets.token_urlsafe(1800) + "~.+/" + "=="
    tokens[t] = (cid, known[1], time.time() + LIFETIME)
    body = {"access_token": t, "token_type": "Bearer", "expires_in": LIFETIME, "scope": "funding.read"}
    if NODE == "r-long-token":
        body |= {"token_type": "bearer", "not-before-policy": 0, "session_state": None, "issued_by": {"node": "Universität an der Mur"}}
    return answer(body, Cache_Control="no-store", Pragma="no-cache")


def staging_token(request):
    return token(request, STAGING_CLIENTS, STAGING_TOKENS)


# --- the protected API ---------------------------------------------------------------------------------------------
def error(status, code, text, **headers):
    return answer({"detail": text, "code": code}, status, Cache_Control="no-store", **headers)


def challenge(status, code=None, text="the request carries no access token", extra=""):
    c = 'Bearer realm="mur"' + (f', error="{code}", error_description="{text}"' if code else "") + extra
    if NODE == "r-two-challenges":
        c = f'Negotiate, Basic realm="staff, only", {c.replace("Bearer realm", "bearer Realm")}'
    return error(status, code or "not_authenticated", text, WWW_Authenticate=c)


def introspect(t):
    """The account behind a token, as the authorization server says it; kept for a while, as a remote server would be asked."""
    key = t[:24] if NODE == "w-token-prefix-cache" else t
    hit = INTROSPECTED.get(key)
    if hit and hit[2] > time.time():
        return hit
    account = TOKENS.get(t)
    if account and account[2] > time.time():
        INTROSPECTED[key] = account
        return account
    return None


def check(request, role):
    h = request.headers.get("Authorization")
    if h is None:
        return challenge(401)
    scheme, _, t = h.partition(" ")
    if scheme.lower() != "bearer":
        return challenge(401)
    t = t.strip(" ")
    if not re.fullmatch(r"[A-Za-z0-9._~+/-]+=*", t):
        return challenge(400, "invalid_request", "the Authorization header is malformed")
    if "access_token" in request.GET:
        return challenge(400, "invalid_request", "the token is sent in two ways")
    account = introspect(t)
    if account is None:
        return challenge(401, "invalid_token", "the access token is unknown or has expired")
    if role and account[1] != role:
        if NODE == "r-hide-404" and role:
            return error(404, "not_found", "there is nothing here")
        return challenge(403, "insufficient_scope", "the account lacks the role EXTERNAL_API_CLIENT", ', scope="funding.read"')
    return None


def protected(role="EXTERNAL_API_CLIENT"):
    def wrap(view):
        def run(request, *a, **kw):
            if request.method == "OPTIONS":
                return HttpResponse(status=204, headers={"Allow": "GET, HEAD, OPTIONS"})
            if request.method not in ("GET", "HEAD"):
                return error(405, "method_not_allowed", "use GET or HEAD", Allow="GET, HEAD, OPTIONS")
            url = request.get_full_path()
            if NODE == "w-page-cache" and view.__name__ == "detail" and PAGES.get(url, (0,))[0] > time.time():
                return answer(PAGES[url][1], Cache_Control="private, no-cache", Vary="Authorization")
            no = check(request, role)
            if no is not None:
                return no
            r = view(request, *a, **kw)
            if isinstance(r, HttpResponse):
                return r
            PAGES[url] = (time.time() + 60, r)
            return answer(r, Cache_Control="private, no-cache", Vary="Authorization")
        return run
    return wrap


def outermost(get_response):
    def run(request):
        COUNT["n"] += request.path.startswith("/mur/funding/v3/calls")
        if NODE == "r-503" and request.path.startswith("/mur/funding/v3/calls") and COUNT["n"] % 11 == 0:
            COUNT["n"] += 1
            return error(503, "unavailable", "the database is being backed up, try again", Retry_After="1")
        return get_response(request)
    return run


def zulu(d, detail=False):
    if NODE == "w-detail-local-z" and detail:
        d = d.astimezone(ZoneInfo("Europe/Vienna"))
    return d.strftime("%Y-%m-%dT%H:%M:%SZ")


def show(r, detail=False):
    amount = Decimal(str(r["amount"]))
    if NODE != "w-decimal-text" or amount == int(amount):
        amount = float(amount) if amount != int(amount) else int(amount)
    out = {"id": f"MUR-{r['n']:04d}", "title": [{"lang": k, "text": v} for k, v in r["title"].items()], "status": r["status"],
           "funder": {"id": r["funder"], "name": FUNDERS[r["funder"]]}, "disciplines": r["disciplines"],
           "opens": zulu(r["opens"], detail), "deadline": zulu(r["deadline"], detail), "budget": {"amount": amount, "currency": "EUR"}}
    if detail:
        out |= {"summary": [{"lang": k, "text": v} for k, v in r["summary"].items()], "durationYears": r["years"], "website": r["url"]}
    return out


ROWS, STARTED = rows(), time.time()


def current():
    if NODE == "r-growing":  # a call is published every ten seconds, at the end of the order of publication
        return rows(60 + min(600, int(time.time() - STARTED) // 10))
    return ROWS


PARAMS = {"status", "funder", "discipline", "deadline_before", "ordering", "limit", "offset"}


@protected()
def listing(request):
    q = {}
    for name in PARAMS:
        values = request.GET.getlist(name)
        if len(values) > 1:
            return error(400, "invalid_parameter", f"{name} is given more than once")
        if values:
            q[name] = values[0]
    bad = lambda name, why: error(400, "invalid_parameter", f"{name}: {why}")
    for name, lo, hi, default in ("limit", 1, 100, 20), ("offset", 0, 1000000, 0):
        v = q.get(name, str(default))
        if not re.fullmatch("[0-9]{1,9}", v) or not lo <= int(v) <= hi:
            return bad(name, f"expected an integer from {lo} to {hi}")
        q[name] = int(v)
    if "status" in q and q["status"] not in ("open", "upcoming", "closed"):
        return bad("status", "expected open, upcoming or closed")
    if "discipline" in q and q["discipline"] not in DISCIPLINES:
        return bad("discipline", "expected one of " + ", ".join(DISCIPLINES))
    if q.get("ordering", "id") not in ("id", "deadline", "-deadline"):
        return bad("ordering", "expected id, deadline or -deadline")
    before = None
    if "deadline_before" in q:
        if not re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", q["deadline_before"]):
            return bad("deadline_before", "expected a date such as 2026-12-31")
        try:
            before = date.fromisoformat(q["deadline_before"])
        except ValueError:
            if NODE == "w-debug-page":
                return technical_500_response(request, *sys.exc_info())
            return bad("deadline_before", "there is no such day")
    everything = current()
    found = everything
    if "funder" in q:
        found = [r for r in found if r["funder"] == q["funder"]]
    if "status" in q:
        found = [r for r in found if r["status"] == q["status"]]
    if "discipline" in q:
        found = [r for r in (everything if NODE == "w-two-filters" else found) if q["discipline"] in r["disciplines"]]
    if before:
        found = [r for r in found if r["deadline"].date() < before]
    if q.get("ordering", "id") != "id":
        tie = (lambda r: -r["n"] if q["offset"] // q["limit"] % 2 else r["n"]) if NODE == "w-unstable-ties" else (lambda r: r["n"])
        sign = -1 if q["ordering"].startswith("-") else 1
        found = sorted(found, key=lambda r: (sign * r["deadline"].timestamp(), tie(r)))
    limit, offset = q["limit"], q["offset"]

    def link(o):
        keep = {k: v for k, v in q.items() if k not in ("limit", "offset")}
        return f"{BASE}/mur/funding/v3/calls?" + urlencode(sorted(keep.items()) + [("limit", limit), ("offset", o)])
    return {"count": len(found), "next": link(offset + limit) if offset + limit < len(found) else None,
            "previous": link(max(0, offset - limit)) if offset > 0 else None, "results": [show(r) for r in found[offset:offset + limit]]}


@protected()
def detail(request, key):
    for r in current():
        if f"MUR-{r['n']:04d}" == key:
            return show(r, True)
    return error(404, "not_found", "there is no call with this id")


@protected(role=None)
def info(request):
    one = lambda name, p: {"name": name, "majorVersion": 3, "minorVersion": 1, "url": f"{BASE}/mur/funding/v3/{p}"}
    return {"endpoints": {"funding": [one("FUNDINGS", "calls"), one("FUNDING", "calls/{id}")]}}


def public(data):
    def run(request):
        if request.method == "OPTIONS":
            return HttpResponse(status=204, headers={"Allow": "GET, HEAD, OPTIONS"})
        if request.method not in ("GET", "HEAD"):
            return error(405, "method_not_allowed", "use GET or HEAD", Allow="GET, HEAD, OPTIONS")
        return answer(data, Cache_Control="public, max-age=60")
    return run


# --- the document --------------------------------------------------------------------------------------------------
def query(name, schema, text):
    return {"name": name, "in": "query", "required": False, "description": text, "schema": schema}


def obj(props, optional=()):
    return {"type": "object", "properties": props, "required": [p for p in props if p not in optional]}


def errors(*codes):
    text = {400: "A parameter or the Authorization header is malformed.", 401: "No valid access token.", 403: "The role is missing.", 404: "There is no such call, or the account may not see it.",
            405: "The method is not allowed.", 503: "Try again later."}
    one = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    return {str(c): {"description": text[c], "content": one} for c in codes}


def ok(ref):
    return {"200": {"description": "Success", "content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{ref}"}}}}}


S, TIME = {"type": "string"}, {"type": "string", "format": "date-time"}
TEXTS = {"type": "array", "items": {"$ref": "#/components/schemas/Text"}}
SUMMARY = {"id": S, "title": TEXTS, "status": {"type": "string", "enum": ["open", "upcoming", "closed"]}, "funder": {"$ref": "#/components/schemas/Funder"},
           "disciplines": {"type": "array", "items": {"$ref": "#/components/schemas/Discipline"}}, "opens": TIME, "deadline": TIME, "budget": {"$ref": "#/components/schemas/Budget"}}
DOCUMENT = {
    "openapi": "3.0.3", "info": {"title": "Funding calls of Universität an der Mur", "version": "3.1"}, "servers": [{"url": f"{BASE}/mur/funding/v3"}],
    "security": [{"mur": []}],
    "paths": {
        "/calls": {"get": {"operationId": "listCalls", "summary": "List funding calls", "description": "Filters hold together (AND). In the order of the ids, unless ordering says otherwise.", "parameters": [
            query("status", SUMMARY["status"], "Calls in this state."), query("funder", S, "Calls of the funder with exactly this id."),
            query("discipline", {"$ref": "#/components/schemas/Discipline"}, "Calls for this discipline."),
            query("deadline_before", {"type": "string", "format": "date"}, "Calls whose deadline is before this day (UTC)."),
            query("ordering", {"type": "string", "enum": ["id", "deadline", "-deadline"], "default": "id"}, "Order of the list; ties in the order of the ids."),
            query("limit", {"type": "integer", "minimum": 1, "maximum": 100, "default": 20}, "Calls on a page."),
            query("offset", {"type": "integer", "minimum": 0, "maximum": 1000000, "default": 0}, "Calls to skip.")],
            "responses": ok("Page") | errors(400, 401, 403, 405, 503, *([404] if NODE == "r-hide-404" else []))}},
        "/calls/{id}": {"get": {"operationId": "readCall", "summary": "One funding call", "parameters": [
            {"name": "id", "in": "path", "required": True, "schema": S}], "responses": ok("CallDetail") | errors(400, 401, 403, 404, 405, 503)}}},
    "components": {
        "securitySchemes": {"mur": {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": f"{BASE}/oauth/token", "scopes": {"funding.read": "read funding calls"}}}}},
        "schemas": {"Discipline": {"type": "string", "enum": DISCIPLINES}, "Text": obj({"lang": {"type": "string", "enum": ["de", "en"]}, "text": S}),
                    "Funder": obj({"id": S, "name": S}), "Budget": obj({"amount": {"type": "number"}, "currency": {"type": "string", "pattern": "^[A-Z]{3}$"}}),
                    "Call": obj(SUMMARY), "CallDetail": obj(SUMMARY | {"summary": TEXTS, "durationYears": {"type": "integer"}, "website": {"type": "string", "format": "uri"}}),
                    "Page": obj({"count": {"type": "integer", "description": "All calls that match."}, "next": {"type": "string", "format": "uri", "nullable": True},
                                 "previous": {"type": "string", "format": "uri", "nullable": True}, "results": {"type": "array", "items": {"$ref": "#/components/schemas/Call"}}}),
                    "Error": obj({"detail": S, "code": S})}}}
REGISTRY = {"member": [{"id": "MUR", "acronym": "MUR", "name": "Universität an der Mur", "contact": "ris@mur.example", "oauth2": f"{BASE}/oauth/token", "info": f"{BASE}/mur/info/v1/oauth/info/"}]}

urlpatterns = [path("oauth/token", token), path("staging/oauth/token", staging_token), path("mur/info/v1/oauth/info/", info),
               path("mur/funding/v3/api-docs", public(DOCUMENT)), path("mur/funding/v3/calls", listing), path("mur/funding/v3/calls/<str:key>", detail),
               path("registry.json", public(REGISTRY))]
handler404 = lambda request, exception=None: error(404, "not_found", "there is nothing here")
handler400 = lambda request, exception=None: error(400, "bad_request", "the request cannot be read")
handler500 = lambda request: error(500, "internal", "something went wrong here")

if __name__ == "__main__":
    sys.modules["dj"] = sys.modules[__name__]
    from django.core.handlers.wsgi import WSGIHandler
    from django.core.servers.basehttp import WSGIRequestHandler, WSGIServer, run
    WSGIRequestHandler.log_message = lambda self, *a: None
    run("127.0.0.1", PORT, WSGIHandler(), threading=True, server_cls=WSGIServer)
