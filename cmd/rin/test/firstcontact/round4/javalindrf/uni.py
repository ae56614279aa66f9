"""Node UNI: Django REST framework, RS256 tokens with published keys, page numbers with next and previous."""
import base64, datetime as dt, hashlib, hmac, json, os, re, sys, time, urllib.parse, uuid

import django, jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from django.conf import settings

N = os.environ.get("NODE", "base")
PORT = int(os.environ.get("PORT", "9102"))
BASE = f"http://127.0.0.1:{PORT}"
API, INFO, TTL = "/uni/funding/v3", "/uni/info/v1/oauth/info/", 300


def v(*names):
    return N in names


CHARSET = "latin-1" if v("latin1-secret") else "utf-8"

settings.configure(
    SECRET_KEY="x" * 50, ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"], DEBUG=False, USE_TZ=True, TIME_ZONE="UTC", USE_I18N=False,
    INSTALLED_APPS=["rest_framework"], APPEND_SLASH=True, CACHES={"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}},
    MIDDLEWARE=["django.middleware.security.SecurityMiddleware", "uni.edge", "django.middleware.http.ConditionalGetMiddleware", "django.middleware.common.CommonMiddleware"],
    REST_FRAMEWORK={"DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"], "UNAUTHENTICATED_USER": None, "EXCEPTION_HANDLER": "uni.on_error",
                    "URL_FORMAT_OVERRIDE": None, "DEFAULT_AUTHENTICATION_CLASSES": [], "DEFAULT_PERMISSION_CLASSES": []})
sys.modules.setdefault("uni", sys.modules[__name__])
django.setup()

from django.http import HttpResponse, JsonResponse  # noqa: E402
from django.urls import path  # noqa: E402
from django.utils.cache import patch_vary_headers  # noqa: E402
from rest_framework import exceptions, permissions, status  # noqa: E402
from rest_framework.authentication import BaseAuthentication  # noqa: E402
from rest_framework.pagination import PageNumberPagination  # noqa: E402
from rest_framework.response import Response  # noqa: E402
from rest_framework.views import APIView  # noqa: E402

# ---------------------------------------------------------------- clients and keys
CLIENTS = {  # id: secret, realm, role, affiliation, audience
    "uni-collector": ("c0ll&ector=+%41/ß9", "uni", True, "AFF-UNI-7", "funding"),
    "uni-mirror": ("m1rror-Secret_42~x", "uni", True, "AFF-UNI-8", "funding"),
    "uni-visitor": ("v1sitor-Secret_43~y", "uni", False, None, "funding"),
    "uni-projects": ("pr0jects-Secret_44~z", "uni", True, "AFF-UNI-7", "projects"),
    "uni-tester": ("t3ster-Secret_45~w", "uni-test", True, "AFF-UNI-7", "funding"),
}
KEYS = {realm: rsa.generate_private_key(public_exponent=65537, key_size=2048) for realm in ("uni", "uni-test")}
KEY2 = rsa.generate_private_key(public_exponent=65537, key_size=3072) if v("right-two-keys") else None
KID = {"uni": "uni-2026-1", "uni-test": "uni-test-2026-1"}


def iss(realm):
    return f"{BASE}/realms/{realm}"


def aud(which):
    return f"{BASE}/uni/{which}"


def account(client_id):
    c = CLIENTS.get(client_id)
    return {"client_id": client_id, "account": str(uuid.uuid5(uuid.NAMESPACE_DNS, client_id)), "role": c[2], "affiliation": c[3]} if c else None


# ---------------------------------------------------------------- data
CATEGORIES = ["BASIC_RESEARCH", "APPLIED_RESEARCH", "MOBILITY", "INFRASTRUCTURE", "NETWORKING"]
COUNTRIES = ["AT", "DE", "CH", "IT", "SI"]
STAGES = ["DOCTORAL", "POSTDOC", "SENIOR"]
THEMES = [("Émigration und Gedächtnis", "Émigration and memory", ["history", "migration"]), ("Bodenökologie", "Soil ecology", ["soil", "climate"]),
          ("Öffentliche Gesundheit", "Public health", ["health", "data"]), ("Photonik", "Photonics", ["light", "quantum"]),
          ("Robotik in der Pflege", "Robotics in care", ["health", "robotics"]), ("Zeitreihen & Klima", "Time series & climate", ["climate", "data"])]


def _calls():
    out = []
    for i in range(1, 121 if v("right-list-grows") else 61):
        de, en, kw = THEMES[i % 6]
        pub = dt.date(2025, 6, 1) + dt.timedelta(days=i * 29 % 560)
        low = 10000 + i * 7000 % 190000
        out.append({
            "id": (9007199254740993 if v("right-big-ids") else 7000) + i * 13, "de": f"{de} – Ausschreibung {i}", "en": f"{en} – call {i}", "category": CATEGORIES[i * 2 % 5], "country": COUNTRIES[i * 3 % 5],
            "published": pub.isoformat(), "deadline": None if i % 9 == 0 else (pub + dt.timedelta(days=60 + i * 41 % 500)).isoformat(),
            "budget_min": low, "budget_max": low * (2 + i % 3), "currency": "CHF" if COUNTRIES[i * 3 % 5] == "CH" else "EUR",
            "keywords": kw + (["open-science"] if i % 4 == 0 else []), "career_stages": [s for k, s in enumerate(STAGES) if (i + k) % 3 or k == 2],
            "url": f"https://foerderung.uni.example/{i}", "updated": f"2026-{1 + i % 10:02d}-{10 + i % 18}T{i % 24:02d}:05:00Z",
            "sde": f"Antworten auf Fragen zu {de} gibt die Stelle {i}.", "sen": f"Questions on {en} go to office {i}.", "phone": f"+43 1 555 {1000 + i}",
        })
    return out


CALLS = _calls()
LANGS = ["en", "de"]


STARTED = time.time()


def calls_now():
    """the calls; on right-list-grows one more is published every ten seconds"""
    n = len(CALLS) if not v("right-list-grows") else 60 + min(60, int(time.time() - STARTED) // 10)
    return CALLS[:n]


def language(request):
    """the best of en and de, RFC 9110 section 12.5.4; en if none fits"""
    best, q0 = "en", 0.0
    for n, part in enumerate(request.headers.get("Accept-Language", "").split(",")):
        bits = [b.strip() for b in part.split(";")]
        q = 1.0
        for b in bits[1:]:
            if b.lower().startswith("q="):
                try:
                    q = float(b[2:])
                except ValueError:
                    q = 0.0
        tag = bits[0].lower().split("-")[0]
        if tag in LANGS and q > q0:
            best, q0 = tag, q
    return best


def summary(c, lang, who):
    out = {"id": c["id"], "title": c[lang]}
    for k in ("category", "country", "published", "deadline", "budget_min", "budget_max", "currency", "keywords", "career_stages", "url", "updated"):
        out[k] = c[k]
    out["annotation"] = f"{who['affiliation']}: contact the research office first" if c["id"] % 4 == 0 and who["affiliation"] else None
    return out


def detail(c, lang, who):
    return {**summary(c, lang, who), "summary": c["s" + lang], "contact": {"phone": None if v("phone-null") and c["country"] == "CH" else c["phone"], "email": f"call{c['id']}@uni.example"}}


# ---------------------------------------------------------------- errors
class Problem(exceptions.APIException):
    def __init__(self, code, name, text, headers=None):
        self.status_code, self.name, self.headers = code, name, headers or {}
        super().__init__(text)


TITLES = {400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 406: "Not Acceptable", 500: "Internal Server Error", 501: "Not Implemented"}


def problem(code, name, text, headers=None):
    r = HttpResponse(json.dumps({"type": f"https://uni.example/problems/{name}", "title": TITLES.get(code, "Error"), "status": code, "detail": text}),
                     status=code, content_type="application/problem+json")
    r["Cache-Control"] = "no-store"
    for k, x in (headers or {}).items():
        r[k] = x
    return r


def on_error(exc, context):
    if isinstance(exc, Problem):
        return problem(exc.status_code, exc.name, str(exc.detail), exc.headers)
    if isinstance(exc, exceptions.MethodNotAllowed):
        return problem(405, "method-not-allowed", "this resource is read only", {"Allow": ", ".join(context["view"].allowed_methods)})
    if isinstance(exc, exceptions.APIException):
        return problem(exc.status_code, "request", str(exc.detail))
    return None


def edge(get_response):
    """the outermost layer: unknown methods, unexpected errors, JSON for what Django itself answers"""
    def middleware(request):
        if request.method not in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"):
            return problem(501, "not-implemented", "this method is unknown here")
        r = get_response(request)
        if r.status_code >= 400 and r.get("Content-Type", "").startswith("text/html"):
            return problem(r.status_code, "error", "there is nothing here" if r.status_code == 404 else "the request cannot be answered")
        return r
    return middleware


# ---------------------------------------------------------------- token endpoint
def token_error(code, error, text, basic=False):
    r = JsonResponse({"error": error, "error_description": text}, status=code)
    r["Cache-Control"], r["Pragma"] = "no-store", "no-cache"
    if code == 401:
        r["WWW-Authenticate"] = 'Basic realm="uni"'
    if code == 405:
        r["Allow"] = "POST"
    return r


def token(request, realm):
    if request.method != "POST":
        return token_error(405, "invalid_request", "use POST")
    if request.content_type != "application/x-www-form-urlencoded":
        return token_error(400, "invalid_request", "the body must be a form")
    try:
        pairs = urllib.parse.parse_qsl(request.body.decode("utf-8"), keep_blank_values=True, errors="strict")
    except ValueError:
        return token_error(400, "invalid_request", "the form is not UTF-8")
    f = dict(pairs)
    if len(f) != len(pairs):
        return token_error(400, "invalid_request", "a parameter is repeated")
    f = {k: x for k, x in f.items() if x}
    client, secret = f.get("client_id"), f.get("client_secret")
    header = request.headers.get("Authorization")
    if header is not None:
        if secret:
            return token_error(400, "invalid_request", "two ways of client authentication")
        try:
            kind, value = header.split(" ", 1)
            if kind.lower() != "basic":
                raise ValueError
            user, _, pw = base64.b64decode(value.strip(), validate=True).decode("utf-8").partition(":")
            user, secret = urllib.parse.unquote_plus(user, errors="strict"), urllib.parse.unquote_plus(pw, errors="strict")
        except ValueError:
            return token_error(401, "invalid_client", "client authentication failed", True)
        if client and client != user:
            return token_error(400, "invalid_request", "two clients")
        client = user
    c = CLIENTS.get(client)
    if not c or not secret or not hmac.compare_digest(c[0].encode(CHARSET), secret.encode(CHARSET)) or c[1] != realm:
        return token_error(401, "invalid_client", "client authentication failed")
    grant = f.get("grant_type")
    if not grant:
        return token_error(400, "invalid_request", "grant_type is missing")
    if grant != "client_credentials":
        return token_error(400, "unsupported_grant_type", "only client_credentials")
    scope = f.get("scope", "calls.read")
    if any(s not in ("calls.read", "profile") for s in scope.split(" ")):
        return token_error(400, "invalid_scope", "the scopes are calls.read and profile")
    t = issue(client, realm, scope)
    if v("cached-expires-in"):  # a token is handed out again until half a minute before its end
        old = ISSUED.get((client, scope))
        if old and old[1] > time.time() + 30:
            t = old[0]
        else:
            ISSUED[client, scope] = (t, time.time() + TTL)
    r = JsonResponse({"access_token": t, "token_type": "Bearer", "expires_in": TTL, "scope": scope, "not-before-policy": 0})
    r["Cache-Control"], r["Pragma"] = "no-store", "no-cache"
    return r


ISSUED = {}
SERIAL = iter(range(10**9))


def issue(client, realm, scope):
    now = int(time.time())
    c = CLIENTS[client]
    claims = {"iss": iss(realm), "aud": aud(c[4]), "sub": account(client)["account"], "client_id": client, "azp": client, "iat": now, "exp": now + TTL, "jti": str(uuid.uuid4()), "scope": scope}
    if v("right-two-keys") and realm == "uni" and next(SERIAL) % 2:
        return jwt.encode(claims, KEY2, algorithm="RS256", headers={"kid": "uni-2026-2", "typ": "at+jwt"})
    return jwt.encode(claims, KEYS[realm], algorithm="RS256", headers={"kid": KID[realm], "typ": "at+jwt"})


def b64(n):
    return base64.urlsafe_b64encode(n.to_bytes((n.bit_length() + 7) // 8, "big")).rstrip(b"=").decode()


def certs(request, realm):
    keys = [(KID[realm], KEYS[realm])] + ([("uni-2026-2", KEY2)] if KEY2 and realm == "uni" else [])
    out = []
    for kid, key in keys:
        n = key.public_key().public_numbers()
        out.append({"kty": "RSA", "use": "sig", "alg": "RS256", "kid": kid, "n": b64(n.n), "e": b64(n.e)})
    return JsonResponse({"keys": out})


def metadata(request, realm):
    i = iss(realm)
    return JsonResponse({"issuer": i, "token_endpoint": i + "/protocol/openid-connect/token", "jwks_uri": i + "/protocol/openid-connect/certs", "grant_types_supported": ["client_credentials"],
                         "response_types_supported": [], "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"], "scopes_supported": ["calls.read", "profile"]})


# ---------------------------------------------------------------- bearer
class Account:
    is_authenticated = True

    def __init__(self, acc, claims):
        self.acc, self.claims = acc, claims


def refuse(text):
    return Problem(401, "token", text, {"WWW-Authenticate": f'Bearer realm="uni", error="invalid_token", error_description="{text}"'})


class Bearer(BaseAuthentication):
    def authenticate(self, request):
        h = request.META.get("HTTP_AUTHORIZATION")
        if h is None or not re.match(r"bearer( |$)", h, re.I):
            raise Problem(401, "token", "an access token is needed", {"WWW-Authenticate": 'Bearer realm="uni"'})
        m = re.fullmatch(r"bearer +([A-Za-z0-9._~+/-]+=*)", h, re.I)
        if not m:
            raise Problem(400, "token", "the Authorization header is malformed", {"WWW-Authenticate": 'Bearer realm="uni", error="invalid_request"'})
        claims = self.check(m[1])
        acc = account(claims.get("client_id"))
        if not acc:
            raise refuse("the client is unknown")
        return Account(acc, claims), m[1]

    audience = aud("funding")

    def key(self, head):
        if v("jwk-header") and "jwk" in head:
            return jwt.PyJWK(head["jwk"], "RS256").key
        if KEY2 and head.get("kid") == "uni-2026-2":
            return KEY2.public_key()
        return KEYS["uni"].public_key() if head.get("kid") == KID["uni"] else None

    def check(self, t):
        try:
            head = jwt.get_unverified_header(t)
            if head.get("typ", "").lower() not in ("at+jwt", "application/at+jwt") or not self.key(head):
                raise refuse("the token is not one of this node")
            return jwt.decode(t, self.key(head), algorithms=["RS256"], audience=self.audience, issuer=iss("uni"), options={"require": ["exp", "iat", "sub", "aud", "iss"]})
        except jwt.PyJWTError:
            raise refuse("the token is invalid or has expired")

    def authenticate_header(self, request):
        return 'Bearer realm="uni"'


class HasRole(permissions.BasePermission):
    def has_permission(self, request, view):
        if not request.user.acc["role"] or not request.user.acc["affiliation"]:
            raise Problem(403, "role", "the role EXTERNAL_API_CLIENT is needed", {"WWW-Authenticate": 'Bearer realm="uni", error="insufficient_scope"'})
        if v("scope-detail") and isinstance(view, Call):
            return True
        if "calls.read" not in request.user.claims.get("scope", "").split():
            raise Problem(403, "scope", "the scope calls.read is needed", {"WWW-Authenticate": 'Bearer realm="uni", error="insufficient_scope", scope="calls.read"'})
        return True


# ---------------------------------------------------------------- API
def bad(name, why):
    return Problem(400, "parameter", f"{name}: {why}")


def one(request, name):
    got = request.query_params.getlist(name)
    if len(got) > 1:
        raise bad(name, "may be given once")
    return got[0] if got else None


def number(request, name, low, high, default=None):
    s = one(request, name)
    if s is None:
        return default
    if not re.fullmatch(r"[0-9]{1,9}", s) or not low <= int(s) <= high:
        raise bad(name, f"a whole number from {low} to {high}")
    return int(s)


def date(request, name):
    s = one(request, name)
    if s is None:
        return None
    try:
        if not re.fullmatch(r"\d{4}-\d\d-\d\d", s, re.A):
            raise ValueError
        return dt.date.fromisoformat(s).isoformat()
    except ValueError:
        raise bad(name, "a date such as 2026-03-01")


def choice(request, name, allowed):
    s = one(request, name)
    if s is not None and s not in allowed:
        raise bad(name, "one of " + ", ".join(allowed))
    return s


class Pages(PageNumberPagination):
    page_size, page_size_query_param, max_page_size = 10, "page_size", 100

    def paginate_queryset(self, queryset, request, view=None):
        number(request, "page", 1, 999999999)
        number(request, "page_size", 1, 100)
        return super().paginate_queryset(queryset, request, view)


ORDERS = ["id", "deadline", "-deadline", "budget", "-budget", "title", "-title"]


class Read(APIView):
    authentication_classes = [Bearer]
    permission_classes = [HasRole]

    def finalize_response(self, request, response, *args, **kwargs):
        r = super().finalize_response(request, response, *args, **kwargs)
        if r.status_code < 400 and not r.get("Cache-Control"):
            r["Cache-Control"] = "private, no-cache" if self.authentication_classes else "public, max-age=60"
        patch_vary_headers(r, ["Authorization"] if self.authentication_classes else [])
        return r

    def options(self, request, *args, **kwargs):
        return Response(status=204, headers={"Allow": ", ".join(self.allowed_methods)})


def select(request, lang):
    """filters and order of a list of calls"""
    cs = calls_now()
    cat, country = choice(request, "category", CATEGORIES), choice(request, "country", COUNTRIES)
    after, before, on = date(request, "deadline_after"), date(request, "deadline_before"), date(request, "open_on")
    low, q, words = number(request, "min_budget", 0, 999999999), one(request, "q"), request.query_params.getlist("keyword")
    order = choice(request, "ordering", ORDERS) or "id"
    if cat:
        cs = [c for c in cs if c["category"] == cat]
    if country:
        cs = [c for c in cs if c["country"] == country]
    if after:
        cs = [c for c in cs if c["deadline"] and c["deadline"] >= after]
    if before:
        cs = [c for c in cs if c["deadline"] and c["deadline"] <= before]
    if on:
        cs = [c for c in cs if c["published"] <= on and (c["deadline"] >= on if c["deadline"] else not v("open-on-null"))]
    if low is not None:
        cs = [c for c in cs if c["budget_max"] >= low]
    if q is not None:
        cs = [c for c in cs if q.casefold() in c["de"].casefold() or q.casefold() in c["en"].casefold()]
    for w in words:
        cs = [c for c in cs if w in c["keywords"]]
    return sort(cs, order, lang)


def sort(cs, order, lang):
    cs = sorted(cs, key=lambda c: c["id"])
    down, name = order.startswith("-"), order.lstrip("-")
    if name == "deadline":  # rolling calls come last, in both directions
        return sorted([c for c in cs if c["deadline"]], key=lambda c: c["deadline"], reverse=down) + [c for c in cs if not c["deadline"]]
    key = {"id": lambda c: c["id"], "budget": lambda c: c["budget_max"], "title": lambda c: c[lang].casefold()}[name]
    return sorted(cs, key=key, reverse=down)


def spoken_text(request, lang):
    """the texts are found under the exact tag, else in English"""
    tag = request.headers.get("Accept-Language", "").split(",")[0].split(";")[0].strip().lower()
    return "en" if v("lang-region") and "-" in tag else lang


def who(request):
    return request.user.acc if request.user else {"affiliation": None}


def spoken(data, lang, st=200):
    r = Response(data, status=st, headers={"Content-Language": lang})
    patch_vary_headers(r, ["Accept-Language"])
    return r


class Calls(Read):
    if v("right-public-list"):
        authentication_classes, permission_classes = [], []

    def get(self, request):
        lang = language(request)
        cs, p = select(request, lang), Pages()
        if v("sort-in-page"):
            cs = sorted(cs, key=lambda c: c["id"])
        items = p.paginate_queryset(cs, request, self)
        if v("sort-in-page"):
            items = sort(items, one(request, "ordering") or "id", lang)
        text = spoken_text(request, lang)
        r = p.get_paginated_response([summary(c, text, who(request)) for c in items])
        return spoken(r.data, lang)


def find(pk):
    if v("id-overflow") and pk >= 2**63:
        raise Problem(500, "internal", f"OverflowError: Python int too large to convert to SQLite INTEGER; SELECT * FROM calls_call WHERE id = {pk} LIMIT 21; /srv/uni/calls/views.py:88")
    for c in calls_now():
        if c["id"] == pk:
            return c
    raise Problem(404, "not-found", "there is no such call")


class Call(Read):
    def get(self, request, pk):
        lang = language(request)
        return spoken(detail(find(pk), spoken_text(request, lang), request.user.acc), lang)


class Documents(Read):
    def get(self, request, pk):
        c = find(pk)
        return Response([{"name": f"guide-{c['id']}-{k}.pdf", "bytes": 1000 * k + c["id"]} for k in range(1, 2 + c["id"] % 3)])


class Categories(Read):
    authentication_classes, permission_classes = [], []

    def get(self, request):
        return Response([{"code": c, "label": c.replace("_", " ").capitalize()} for c in CATEGORIES])


class AnyService(Bearer):
    audience = [aud("funding"), aud("projects")]


class Info(Read):
    permission_classes = []
    if v("aud-info"):
        authentication_classes = [AnyService]

    def get(self, request):
        a = request.user.acc
        return Response({"node": "UNI", "client": a["client_id"], "service_account": a["account"], "affiliation": a["affiliation"], "roles": ["EXTERNAL_API_CLIENT"] if a["role"] else [],
                         "endpoints": {"funding": [{"name": "FUNDINGS", "majorVersion": 3, "minorVersion": 0, "url": f"{BASE}{API}/calls"}]}})


# ---------------------------------------------------------------- document
def P(name, schema, text, where="query", **kw):
    return {"name": name, "in": where, "description": text, "required": where == "path", "schema": schema, **kw}


def R(*errors, schema):
    out = {"200": {"description": "OK", "content": {"application/json": {"schema": schema}}}, "304": {"description": "Not modified"}}
    return {**out, **{str(e): {"$ref": "#/components/responses/Problem"} for e in errors}}


def ref(n):
    return {"$ref": f"#/components/schemas/{n}"}


DATE, STR, INT = {"type": "string", "format": "date"}, {"type": "string"}, {"type": "integer"}
PK = P("id", {"type": "integer", "minimum": 1}, "id of the call", "path")
CALL = {"id": INT, "title": {"type": "string", "description": "in the language of Content-Language"}, "category": ref("Category"), "country": ref("Country"), "published": DATE, "deadline": {**DATE, "nullable": True, "description": "null: a rolling call"},
        "budget_min": INT, "budget_max": INT, "currency": {"type": "string", "enum": ["EUR", "CHF"]}, "keywords": {"type": "array", "items": STR}, "career_stages": {"type": "array", "items": {"type": "string", "enum": STAGES}, "minItems": 1},
        "url": {"type": "string", "format": "uri"}, "updated": {"type": "string", "format": "date-time"}, "annotation": {"type": "string", "nullable": True, "description": "note of the caller's affiliation"}}


def document():
    d = document30()
    if v("right-public-list"):
        d["paths"]["/calls"]["get"]["security"] = []
        d["info"]["description"] += " The list is public; it has no annotations (null), they are in the details."
    if v("right-big-ids"):
        d["components"]["schemas"]["CallSummary"]["properties"]["id"] = {"type": "integer", "format": "int64"}
    if v("right-openapi31"):
        d["openapi"], d["servers"] = "3.1.0", [{"url": "https://uni.example/elsewhere"}]
        for p in d["paths"].values():
            p["servers"] = [{"url": BASE + "/{service}/funding/v3", "variables": {"service": {"default": "uni", "enum": ["uni"]}}}]
        d["paths"]["/calls"]["get"]["parameters"][1]["schema"] = {"type": ["integer"], "minimum": 1, "exclusiveMaximum": 101, "default": 10, "examples": [25]}
        d = unnull(d)
    return d


def unnull(x):
    """nullable of OpenAPI 3.0 as the type null of 3.1"""
    if isinstance(x, list):
        return [unnull(y) for y in x]
    if not isinstance(x, dict):
        return x
    x = {k: unnull(y) for k, y in x.items()}
    if x.pop("nullable", False):
        x["type"] = [x["type"], "null"]
    return x


def document30():
    url = {"type": "string", "format": "uri", "nullable": True}
    lang = P("Accept-Language", STR, "en or de", "header")
    return {
        "openapi": "3.0.3", "info": {"title": "UNI funding calls", "version": "3.4.1", "description": "Read-only. Unknown query parameters are ignored, a parameter that is given twice is refused, but for keyword."},
        "servers": [{"url": API}], "security": [{"realm": ["calls.read"]}],
        "paths": {
            "/calls": {"get": {"operationId": "calls_list", "summary": "Funding calls, by id unless ordered", "parameters": [
                P("page", {"type": "integer", "minimum": 1, "maximum": 999999999, "default": 1}, "number of the page; beyond the last page the answer is 404"), P("page_size", {"type": "integer", "minimum": 1, "maximum": 100, "default": 10}, "calls in a page"),
                P("category", ref("Category"), "calls of this category"), P("country", ref("Country"), "calls of this country"), P("keyword", {"type": "array", "items": STR}, "calls with all of these keywords", style="form", explode=True),
                P("deadline_after", DATE, "calls with a deadline on this day or later, no rolling ones"), P("deadline_before", DATE, "calls with a deadline on this day or earlier, no rolling ones"),
                P("open_on", DATE, "calls that are published and not closed on this day"), P("min_budget", {"type": "integer", "minimum": 0, "maximum": 999999999}, "calls whose budget_max is at least this"),
                P("q", STR, "calls with this text in the title, in any language and case"), P("ordering", {"type": "string", "enum": ORDERS}, "order; budget means budget_max, rolling calls come last by deadline, ties are by id"), lang],
                "responses": R(400, 401, 403, 404, 406, schema=ref("CallPage"))}},
            "/calls/{id}": {"get": {"operationId": "calls_retrieve", "summary": "One call", "parameters": [PK, lang], "responses": R(401, 403, 404, 406, schema=ref("Call"))}},
            "/calls/{id}/documents": {"get": {"operationId": "calls_documents", "summary": "Papers of a call", "parameters": [PK], "responses": R(401, 403, 404, 406, schema={"type": "array", "items": ref("Paper")})}},
            "/categories": {"get": {"operationId": "categories_list", "summary": "The categories; public", "security": [], "responses": R(406, schema={"type": "array", "items": ref("Label")})}},
        },
        "components": {
            "securitySchemes": {"realm": {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": iss("uni") + "/protocol/openid-connect/token", "scopes": {"calls.read": "read calls", "profile": "read the own account"}}}}},
            "responses": {"Problem": {"description": "An error", "content": {"application/problem+json": {"schema": ref("Problem")}}}},
            "schemas": {
                "Category": {"type": "string", "enum": CATEGORIES}, "Country": {"type": "string", "enum": COUNTRIES},
                "Problem": {"type": "object", "required": ["type", "title", "status", "detail"], "properties": {"type": {"type": "string", "format": "uri"}, "title": STR, "status": INT, "detail": STR}},
                "CallSummary": {"type": "object", "required": list(CALL), "properties": CALL},
                "Call": {"allOf": [ref("CallSummary"), {"type": "object", "required": ["summary", "contact"], "properties": {"summary": STR, "contact": {"type": "object", "required": ["email"], "properties": {"phone": STR, "email": {"type": "string", "format": "email"}}}}}]},
                "CallPage": {"type": "object", "required": ["count", "next", "previous", "results"], "properties": {"count": INT, "next": url, "previous": url, "results": {"type": "array", "items": ref("CallSummary")}}},
                "Paper": {"type": "object", "required": ["name", "bytes"], "properties": {"name": STR, "bytes": INT}}, "Label": {"type": "object", "required": ["code", "label"], "properties": {"code": ref("Category"), "label": STR}},
            }}}


def api_docs(request):
    if request.method not in ("GET", "HEAD"):
        return problem(405, "method-not-allowed", "this resource is read only", {"Allow": "GET, HEAD"})
    return JsonResponse(document(), headers={"Cache-Control": "public, max-age=60"})


def registry(request):
    return JsonResponse({"member": [{"id": "UNI", "acronym": "UNI", "name": "Universität Süd", "contact": "ris@uni.example", "oauth2": iss("uni") + "/protocol/openid-connect/token", "info": BASE + INFO}]})


def realm_urls(realm):
    p = f"realms/{realm}"
    return [path(p + "/protocol/openid-connect/token", token, {"realm": realm}), path(p + "/protocol/openid-connect/certs", certs, {"realm": realm}),
            path(p + "/.well-known/openid-configuration", metadata, {"realm": realm})]


a = API[1:]
urlpatterns = [path("registry.json", registry), *realm_urls("uni"), *realm_urls("uni-test"), path(INFO[1:], Info.as_view()), path(f"{a}/api-docs", api_docs),
               path(f"{a}/calls", Calls.as_view()), path(f"{a}/calls/<int:pk>", Call.as_view()), path(f"{a}/calls/<int:pk>/documents", Documents.as_view()), path(f"{a}/categories", Categories.as_view())]


def serve():
    from django.core.servers import basehttp
    from django.core.wsgi import get_wsgi_application
    import logging
    logging.disable(logging.CRITICAL)
    basehttp.run("127.0.0.1", PORT, get_wsgi_application(), threading=True)


if __name__ == "__main__":
    serve()
