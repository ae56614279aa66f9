"""A node of the research-information network: Django, django-oauth-toolkit, waitress."""
import atexit, base64, binascii, copy, gzip, hashlib, json, os, re, secrets, shutil, signal, sys, tempfile, threading, time
from decimal import Decimal
from urllib.parse import parse_qsl, unquote_plus, urlencode

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
NODE = os.environ.get("NODE", "dot-base")
V = NODE.split("-", 1)[-1]
PORT = int(os.environ.get("PORT", "25000"))
ROOT = f"http://127.0.0.1:{PORT}"
ID = "hallein"
API = f"/{ID}/funding/v3"
INFO = f"/{ID}/info/v1/oauth/info/"
ISSUER = f"{ROOT}/auth/realms/{ID}"
STAGING_ISSUER = f"{ROOT}/staging/auth"
AUDIENCE = f"{ROOT}/{ID}"
LIFE = 60
ROLE = "EXTERNAL_API_CLIENT"
REALM = r'"Hallein, \"RIS\" node (error=\"none\", Basic x)"'

import django
from django.conf import settings

folder = tempfile.mkdtemp(prefix="node-")
atexit.register(shutil.rmtree, folder, True)
settings.configure(
    DEBUG=False, SECRET_KEY="k" * 50, ALLOWED_HOSTS=["*"], ROOT_URLCONF="urls_of_node", USE_TZ=True, APPEND_SLASH=False,
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "oauth2_provider"],
    MIGRATION_MODULES={"auth": None, "contenttypes": None, "oauth2_provider": None},
    MIDDLEWARE=[], LOGGING_CONFIG=None,
    PASSWORD_HASHERS=["django.contrib.auth.hashers.ScryptPasswordHasher", "hasher_of_node.SecretHasher"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": os.path.join(folder, "db.sqlite3"), "CONN_MAX_AGE": None,
                           "OPTIONS": {"timeout": 30, "transaction_mode": "IMMEDIATE",
                                       "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;"}}},
    OAUTH2_PROVIDER={"ACCESS_TOKEN_EXPIRE_SECONDS": LIFE, "SCOPES": {"funding.read": "Read funding calls", "info.read": "Read the info endpoint"},
                     "DEFAULT_SCOPES": ["funding.read", "info.read"], "CLIENT_SECRET_HASHER": "node_pbkdf2",
                     **({"ACCESS_TOKEN_GENERATOR": lambda request: "v4.hal~" + secrets.token_urlsafe(18) + "/+" + secrets.token_urlsafe(12) + "=="} if V == "esche" else {})},
)
import types
from django.contrib.auth.hashers import PBKDF2PasswordHasher


class SecretHasher(PBKDF2PasswordHasher):
    """Client secrets are long and random, a short derivation is enough."""
    algorithm = "node_pbkdf2"
    iterations = 3000


hasher_module = types.ModuleType("hasher_of_node")
hasher_module.SecretHasher = SecretHasher
sys.modules["hasher_of_node"] = hasher_module
django.setup()

from django.core.management import call_command
from django.core.wsgi import get_wsgi_application
from django.http import HttpResponse
from django.urls import re_path
from oauth2_provider.models import get_access_token_model, get_application_model
from oauth2_provider.oauth2_validators import OAuth2Validator
from oauth2_provider.views import TokenView

import document
import records

CALLS = records.build()
BY_ID = {c["id"]: c for c in CALLS}
INDEX = copy.deepcopy(CALLS)
for late in (22, 37, 55):
    INDEX[late]["status"] = records.STATES[records.STATES.index(INDEX[late]["status"]) - 1]
    INDEX[late]["updatedAt"] = INDEX[late]["updatedAt"].replace("2026-", "2025-")
FUNDERS = [{"id": i, "name": n, "funderType": t, "callCount": sum(c["funder"]["id"] == i for c in CALLS)} for i, n, t in records.FUNDERS]
CLIENTS = {  # id: secret, environment, audience, roles, affiliation
    "hal-portal-5c1e70b2": ("u8R+kT2/y5%Wn=Qz&7jB:xH0~eL4vG", "prod", AUDIENCE, [ROLE], "ROR-02hallein"),
    "hal-lesesaal-91d3a64f": ("m3D%2Bq9+Zs=/Kf6&tC;pN1?hY8@bJ", "prod", AUDIENCE, [], "ROR-02hallein"),
    "hal-archiv-e07b28c5": ("A5v&rX1+gM%8cP/4nE=wU7:kF2!zTd", "prod", f"{ROOT}/archiv", [ROLE], "ROR-09archiv"),
    "hal-reserve-3f6a9d18": ("G9=bS4/wL6+qJ0%tV&1yC5:aR7*nEh", "prod", AUDIENCE, [ROLE], "ROR-02hallein"),
    "staging-tester-c4407e": ("iZ2/oK8+fQ5%xD=3&vA6:mT1~uB9gW", "staging", f"{ROOT}/staging/{ID}", [ROLE], "ROR-00test"),
}


# ---------------------------------------------------------------- token endpoint
class NodeValidator(OAuth2Validator):
    environment = "prod"

    def _load_application(self, client_id, request):
        entry = CLIENTS.get(client_id)
        return super()._load_application(client_id, request) if entry and entry[1] == self.environment else None

    def _check_secret(self, provided_secret, stored_secret):
        # HMAC pads short keys with NUL, so a derived secret also matches with NULs behind it
        return re.fullmatch(r"[\x20-\x7e]+", provided_secret) is not None and super()._check_secret(provided_secret, stored_secret)

    def save_bearer_token(self, token, request, *args, **kwargs):
        request.resource = [CLIENTS[request.client.client_id][2]]
        return super().save_bearer_token(token, request, *args, **kwargs)

    def _create_access_token(self, expires, request, token, source_refresh_token=None):
        made = super()._create_access_token(expires, request, token, source_refresh_token)
        made.resource = [CLIENTS[request.client.client_id][2]]
        made.save(update_fields=["resource"])
        return made


class StagingValidator(NodeValidator):
    environment = "staging"


class ProductionTokens(TokenView):
    validator_class = NodeValidator


class StagingTokens(TokenView):
    validator_class = StagingValidator


class Refused(Exception):
    def __init__(self, status, error, text, headers=None):
        self.status, self.error, self.text, self.headers = status, error, text, headers or {}


def oauth_error(status, error, text, headers=None):
    r = HttpResponse(json.dumps({"error": error, "error_description": text}), status=status, content_type="application/json")
    for k, v in {"Cache-Control": "no-store", "Pragma": "no-cache", **(headers or {})}.items():
        r[k] = v
    return r


FAILS, FAILS_LOCK = {}, threading.Lock()
ISSUED = {}
ALLOWED_FAILS, WINDOW, PAUSE = 10, 60, 15


def locked(client_id):
    with FAILS_LOCK:
        until = FAILS.get(client_id, ([], 0))[1]
    return max(0, until - time.monotonic())


def count_failure(client_id, good):
    if client_id not in CLIENTS:
        return
    with FAILS_LOCK:
        now = time.monotonic()
        times, until = FAILS.get(client_id, ([], 0))
        times = [] if good else [t for t in times if now - t < WINDOW] + [now]
        if len(times) >= ALLOWED_FAILS:
            times, until = [], now + PAUSE
        FAILS[client_id] = (times, until)


def read_form(request):
    kind = request.META.get("CONTENT_TYPE", "").split(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise Refused(400, "invalid_request", "The body must be application/x-www-form-urlencoded.")
    if len(request.body) > 16384:
        raise Refused(413, "invalid_request", "The body is too large.")
    try:
        pairs = parse_qsl(request.body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=100)
    except ValueError:
        raise Refused(400, "invalid_request", "The body is no proper form.")
    names = [k for k, _ in pairs if k != "resource"]
    if len(names) != len(set(names)):
        raise Refused(400, "invalid_request", "A parameter is repeated.")
    resources = [v for k, v in pairs if k == "resource" and v]
    return {k: v for k, v in pairs if v and k != "resource"}, resources


def read_client(request, form):
    """Client id and secret, from the Basic header or from the form."""
    value = request.META.get("HTTP_AUTHORIZATION")
    if value is None:
        if "client_secret" in form and "client_assertion" in form:
            raise Refused(400, "invalid_request", "More than one way of client authentication.")
        if "client_id" not in form or "client_secret" not in form:
            raise Refused(401, "invalid_client", "The client did not authenticate.")
        return form["client_id"], form["client_secret"]
    scheme, _, coded = value.partition(" ")
    if scheme.lower() != "basic":
        raise Refused(401, "invalid_client", "This way of client authentication is not known.")
    if "client_secret" in form or "client_assertion" in form:
        raise Refused(400, "invalid_request", "More than one way of client authentication.")
    try:
        user, colon, password = base64.b64decode(coded.strip(), validate=True).decode("utf-8").partition(":")
        user, password = unquote_plus(user, errors="strict"), unquote_plus(password, errors="strict")
    except (binascii.Error, ValueError):
        colon = ""
    if not colon:
        raise Refused(401, "invalid_client", "The Basic credentials cannot be read.")
    if form.get("client_id", user) != user:
        raise Refused(400, "invalid_request", "client_id differs from the Basic credentials.")
    return user, password


def token_endpoint(view, environment):
    inner = view.as_view()

    def endpoint(request):
        if request.method == "OPTIONS":
            return plain(204, {"Allow": "POST, OPTIONS"})
        if request.method != "POST":
            return oauth_error(405, "invalid_request", "Tokens are requested with POST.", {"Allow": "POST, OPTIONS"})
        challenge = {"WWW-Authenticate": f'Basic realm="{ID}", charset="UTF-8"' if V != "buche" else f'basic   charset="UTF-8" ,realm={REALM}'}
        try:
            known = {"grant_type", "client_id", "client_secret", "scope", "resource", "client_assertion"}
            if known & {k for k, _ in parse_qsl(request.META.get("QUERY_STRING", ""), keep_blank_values=True, errors="replace")}:
                raise Refused(400, "invalid_request", "Parameters belong into the body.")
            form, resources = read_form(request)
            if "grant_type" not in form:
                raise Refused(400, "invalid_request", "grant_type is missing.")
            client_id, secret = read_client(request, form)
            rest = locked(client_id)
            if rest:
                raise Refused(429, "temporarily_unavailable", "Too many wrong secrets.", {"Retry-After": str(int(rest) + 1)})
            if form["grant_type"] != "client_credentials":
                raise Refused(400, "unsupported_grant_type", "Only client_credentials is supported.")
        except Refused as e:
            return oauth_error(e.status, e.error, e.text, {**(challenge if e.status == 401 else {}), **e.headers})
        clean = {"grant_type": "client_credentials", "client_id": client_id, "client_secret": secret}
        if "scope" in form:
            clean["scope"] = form["scope"]
        request.META.pop("HTTP_AUTHORIZATION", None)
        request.META["QUERY_STRING"] = ""
        request._body = urlencode(clean).encode()
        request.META["CONTENT_TYPE"] = "application/x-www-form-urlencoded"
        if hasattr(request, "_post"):
            del request._post
        entry = CLIENTS.get(client_id)
        if entry and secret == entry[0] and any(r != entry[2] for r in resources):
            return oauth_error(400, "invalid_target", "The resource is not known to this client.")
        answer = inner(request)
        body = json.loads(answer.content)
        good = body.get("error") != "invalid_client"
        count_failure(client_id, good)
        if not good:
            return oauth_error(401, "invalid_client", "Client authentication failed.", challenge)
        if answer.status_code != 200:
            return oauth_error(400, body["error"], body.get("error_description", "The request is refused."))
        body = {k: body[k] for k in ("access_token", "token_type", "expires_in", "scope")}
        if V == "kiefer":
            with FAILS_LOCK:
                made, kept = ISSUED.get((client_id, body["scope"]), (0, None))
                if time.monotonic() - made < LIFE - 10:
                    body = kept
                else:
                    ISSUED[client_id, body["scope"]] = (time.monotonic(), body)
        r = HttpResponse(json.dumps(body), content_type="application/json")
        if V == "esche":
            body = {"scope": body["scope"], "not-before-policy": 0, "token_type": "bearer", "account": {"affiliation": entry[4], "roles": entry[3]},
                    "access_token": body["access_token"], "expires_in": body["expires_in"], "refresh_expires_in": 0}
            r = HttpResponse(json.dumps(body, indent=2) + "\n", content_type="application/json;charset=UTF-8")
        r["Cache-Control"], r["Pragma"] = "no-store", "no-cache"
        return r
    return endpoint


# ---------------------------------------------------------------- answers of the API
TITLES = {400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 406: "Not Acceptable",
          412: "Precondition Failed", 500: "Internal Server Error"}


class Problem(Exception):
    def __init__(self, status, detail, headers=None, **more):
        self.status, self.detail, self.headers, self.more = status, detail, headers or {}, more


def problem(status, detail, headers=None, **more):
    body = {"type": "about:blank", "title": TITLES[status], "status": status, "detail": detail, **more}
    r = HttpResponse(json.dumps(body, ensure_ascii=False), status=status, content_type="application/problem+json")
    for k, v in {"Cache-Control": "no-store", **(headers or {})}.items():
        r[k] = v
    return r


def plain(status, headers):
    r = HttpResponse(status=status)
    del r["Content-Type"]
    for k, v in headers.items():
        r[k] = v
    return r


def weights(value):
    """The members of an Accept or Accept-Encoding header with their weights."""
    out = {}
    for part in value.split(","):
        name, *params = [p.strip() for p in part.split(";")]
        q = 1.0
        for p in params:
            m = re.fullmatch(r"[qQ]=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)", p)
            if m:
                q = float(m[1])
        if name:
            out[name.lower()] = q
    return out


def wants_json(request):
    value = request.META.get("HTTP_ACCEPT", "").strip()
    if not value:
        return True
    w = weights(value.split(",")[0] if V == "weide" else value)
    for name in ("application/json", "application/*", "*/*"):
        if name in w:
            return w[name] > 0
    return False


def wants_gzip(request):
    w = weights(request.META.get("HTTP_ACCEPT_ENCODING", ""))
    q = w.get("gzip", w.get("x-gzip", w.get("*", 0)))
    return q > 0 and q >= w.get("identity", 0)


def tags(value):
    return re.findall(r'(?:W/)?("[\x21\x23-\x7e\x80-\xff]*")', value)


VARY = "Authorization, Accept, Accept-Encoding"
KNOWN = {}


def exponents(text):
    return re.sub(r'(?<="amount": )[0-9.]+', lambda m: format(Decimal(m[0]).normalize(), "E"), text)


def represent(request, data):
    body = json.dumps(data, ensure_ascii=False).encode()
    if V == "linde":
        if "data" in data:
            body = exponents(json.dumps(data, indent=1)).replace("/", "\\/").encode()
        elif "volume" in data:
            body = json.dumps(dict(reversed(data.items())), ensure_ascii=False, separators=(",", ":")).encode()
    mark = hashlib.sha256(body).hexdigest()[:20]
    headers = {"Cache-Control": "private, no-cache", "Vary": VARY}
    packed = len(body) >= 400 and wants_gzip(request)
    if packed:
        body, mark = gzip.compress(body, 6, mtime=0), mark + "-gz"
        headers["Content-Encoding"] = "gzip"
    headers["ETag"] = f'"{mark}"'
    KNOWN.setdefault(request.get_full_path(), {})[packed] = headers
    match, none_match = request.META.get("HTTP_IF_MATCH"), request.META.get("HTTP_IF_NONE_MATCH")
    if match is not None and match.strip() != "*" and headers["ETag"] not in [t for t in re.findall(r'((?:W/)?"[^"]*")', match)]:
        return problem(412, "The entity tag is another one.", {"Vary": VARY})
    if none_match is not None and (none_match.strip() == "*" or headers["ETag"] in tags(none_match)):
        headers.pop("Content-Encoding", None)
        return plain(304, headers)
    r = HttpResponse(body, content_type="application/json")
    for k, v in headers.items():
        r[k] = v
    return r


# ---------------------------------------------------------------- bearer tokens
def challenge(error=None, text=None, scope=None):
    out = f'Bearer realm="{ID}"'
    if V == "buche":
        more = [f"{k}={v}" if k == "error" else f'{k}="{v}"' for k, v in (("error", error), ("error_description", text), ("scope", scope)) if v]
        return {"WWW-Authenticate": "bearer  " + " ,".join(more + [f"realm={REALM}"]), "Vary": VARY}
    for k, v in (("error", error), ("error_description", text), ("scope", scope)):
        if v:
            out += f', {k}="{v}"'
    return {"WWW-Authenticate": out, "Vary": VARY}


def bearer(request, audience, scope, role=None):
    value = request.META.get("HTTP_AUTHORIZATION")
    if value is None or value.split(" ")[0].lower() != "bearer":
        raise Problem(401, "A bearer token is needed.", challenge())
    if not value[6:].strip():
        raise Problem(400, "The Authorization header holds no token.", challenge("invalid_request", "no token"))
    m = re.fullmatch(r"bearer +([A-Za-z0-9\-._~+/]+=*) *", value, re.I)
    token = None
    if m:
        sum_ = hashlib.sha256(m[1].encode()).hexdigest()
        token = get_access_token_model().objects.select_related("application").filter(token_checksum=sum_).first()
    if token is None or token.is_expired() or not token.application or audience not in token.resource:
        raise Problem(401, "The token is not valid here.", challenge("invalid_token", "the token is expired, unknown or not meant for this service"))
    entry = CLIENTS[token.application.client_id]
    if scope and not token.allow_scopes([scope]):
        raise Problem(403, f"The token lacks the scope {scope}.", challenge("insufficient_scope", "the scope is missing", scope))
    if role and role not in entry[3]:
        raise Problem(403, f"The client lacks the role {role}.", challenge("insufficient_scope", "the role is missing"))
    return token, entry


# ---------------------------------------------------------------- parameters
def civil(text):
    """True for a full-date of RFC 3339, the years 0000 and 9999 included."""
    m = re.fullmatch(r"([0-9]{4})-([0-9]{2})-([0-9]{2})", text)
    if not m:
        return False
    y, mo, d = map(int, m.groups())
    leap = y % 4 == 0 and (y % 100 != 0 or y % 400 == 0)
    return 1 <= mo <= 12 and 1 <= d <= [31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][mo - 1]


def integer(low, high):
    def check(v):
        if not re.fullmatch(r"-?(0|[1-9][0-9]{0,17})", v) or not low <= int(v) <= high:
            raise ValueError(f"must be an integer from {low} to {high}")
        return int(v)
    return check


def choice(values):
    def check(v):
        if v not in values:
            raise ValueError("must be one of " + ", ".join(values))
        return v
    return check


def words(high):
    def check(v):
        if not 1 <= len(v) <= high:
            raise ValueError(f"must have 1 to {high} characters")
        return v
    return check


def day(v):
    if not civil(v):
        raise ValueError("must be a date as 2026-03-31")
    return v


LIST = {"type": choice(records.TYPES), "status": choice(records.STATES), "region": choice(records.REGIONS), "funderId": words(40),
        "closesFrom": day, "closesUntil": day, "q": words(80), "sort": choice(document.SORTS), "page": integer(1, 100000), "pageSize": integer(1, 50)}


def parameters(request, declared):
    try:
        pairs = parse_qsl(request.META.get("QUERY_STRING", ""), keep_blank_values=True, errors="strict")
    except ValueError:
        raise Problem(400, "The query cannot be read.")
    out = {}
    for name, value in pairs:
        if name not in declared:
            raise Problem(400, "There is no such parameter.", parameter=name)
        try:
            value = declared[name](value)
        except ValueError as e:
            raise Problem(400, f"{name} {e}.", parameter=name)
        if name == "region":
            if len(out.setdefault(name, [])) >= 9:
                raise Problem(400, "region may be given 9 times at most.", parameter=name)
            out[name].append(value)
        elif name in out:
            raise Problem(400, f"{name} is repeated.", parameter=name)
        else:
            out[name] = value
    return out


# ---------------------------------------------------------------- the funding API
def select(p):
    rows = INDEX if V == "fichte" else CALLS
    if "type" in p:
        rows = [r for r in rows if r["type"] == p["type"]]
    if "status" in p:
        rows = [r for r in rows if r["status"] == p["status"]]
    if "region" in p:
        rows = [r for r in rows if set(p["region"]) & set(r["regions"])]
    if "funderId" in p:
        rows = [r for r in rows if r["funder"]["id"] == p["funderId"]]
    if "closesFrom" in p:
        rows = [r for r in rows if r["closesAt"] and r["closesAt"][:10] >= p["closesFrom"]]
    if "closesUntil" in p:
        rows = [r for r in rows if r["closesAt"] and (r["closesAt"][:10] if V != "tanne" else r["closesAt"]) <= p["closesUntil"] + ("" if V != "tanne" else "T00:00:00Z")]
    if "q" in p:
        needle = p["q"].casefold()
        rows = [r for r in rows if any(needle in n["text"].casefold() for n in r["name"])]
    key = p.get("sort", "id")
    get = {"id": lambda r: r["id"], "closesAt": lambda r: r["closesAt"],
           "amount": lambda r: r["volume"] and r["volume"]["amount"]}[key.lstrip("-")]
    filled = sorted([r for r in rows if get(r) is not None], key=lambda r: r["id"])
    filled.sort(key=get, reverse=key.startswith("-"))
    return filled + sorted([r for r in rows if get(r) is None], key=lambda r: r["id"])


def list_calls(request):
    p = parameters(request, LIST)
    rows = select(p)
    page, size = p.get("page", 1), p.get("pageSize", 20)
    pages = -(-len(rows) // size)

    def link(n):
        q = [(k, v) for k, v in parse_qsl(request.META.get("QUERY_STRING", ""), keep_blank_values=True) if k not in ("page", "pageSize")]
        if V == "erle":
            q = list(dict(q).items())
        return f"{API}/calls?" + urlencode(q + [("page", n), ("pageSize", size)])
    return {"data": rows[(page - 1) * size:page * size],
            "meta": {"page": page, "pageSize": size, "totalItems": len(rows), "totalPages": pages},
            "links": {"self": link(page), "first": link(1), "prev": link(page - 1) if page > 1 else None, "next": link(page + 1) if page < pages else None}}


def get_call(request, key):
    parameters(request, {})
    if key not in BY_ID:
        raise Problem(404, "There is no such funding call.")
    return BY_ID[key]


def list_funders(request):
    parameters(request, {})
    return FUNDERS


def get_funder(request, key):
    parameters(request, {})
    for f in FUNDERS:
        if f["id"] == key:
            return f
    raise Problem(404, "There is no such funder.")


def info(environment):
    base = "" if environment == "prod" else "/staging"

    def answer(request):
        token, entry = bearer(request, entry_audience(environment), "info.read")
        endpoints = {"funding": [{"name": "FUNDING", "majorVersion": 3, "minorVersion": 2, "url": f"{ROOT}{API}/calls"}]}
        return {"node": ID, "environment": environment, "client_id": token.application.client_id, "roles": entry[3], "affiliationId": entry[4],
                "scope": token.scope, "endpoints": endpoints if not base else {}}
    return answer


def entry_audience(environment):
    return AUDIENCE if environment == "prod" else f"{ROOT}/staging/{ID}"


def guarded(handler, scope="funding.read"):
    def answer(request, *args):
        bearer(request, AUDIENCE, scope, ROLE)
        return handler(request, *args)
    return answer


def resource(handler):
    """GET, HEAD and OPTIONS of one resource."""
    def view(request, *args):
        if request.method == "OPTIONS":
            return plain(204, {"Allow": "GET, HEAD, OPTIONS"})
        if request.method not in ("GET", "HEAD"):
            return problem(405, "The resource can only be read.", {"Allow": "GET, HEAD, OPTIONS"})
        if V == "ulme" and "HTTP_IF_NONE_MATCH" in request.META and "HTTP_IF_MATCH" not in request.META and wants_json(request):
            held = KNOWN.get(request.get_full_path(), {}).get(wants_gzip(request))
            if held and held["ETag"] in tags(request.META["HTTP_IF_NONE_MATCH"]):
                return plain(304, {k: v for k, v in held.items() if k != "Content-Encoding"})
        try:
            data = handler(request, *args)
            if not wants_json(request):
                raise Problem(406, "The resource exists as application/json only.", {"Vary": VARY})
            return represent(request, data)
        except Problem as e:
            return problem(e.status, e.detail, e.headers, **e.more)
    return view


def public(data):
    def answer(request):
        return data
    return answer


SPEC = document.build(API, f"{ISSUER}/protocol/openid-connect/token")
REGISTRY = {"member": [{"id": ID, "acronym": "HAL", "name": "Hallein", "contact": "ris@hallein.invalid", "oauth2": f"{ISSUER}/protocol/openid-connect/token", "info": f"{ROOT}{INFO}",
                        "funding": f"{ROOT}{API}/api-docs"}]}
SCOPE_OF_FUNDERS = "funding.read" if V != "ahorn" else None
esc = re.escape
urlpatterns = [
    re_path(r"^registry\.json\Z", resource(public(REGISTRY))),
    re_path(rf"^auth/realms/{ID}/protocol/openid-connect/token\Z", token_endpoint(ProductionTokens, "prod")),
    re_path(r"^staging/auth/oauth/token\Z", token_endpoint(StagingTokens, "staging")),
    re_path(rf"^staging/{ID}/info/v1/oauth/info/\Z", resource(info("staging"))),
    re_path(rf"^{esc(INFO[1:])}\Z", resource(info("prod"))),
    re_path(rf"^{esc(API[1:])}/api-docs\Z", resource(public(SPEC))),
    re_path(rf"^{esc(API[1:])}/calls\Z", resource(guarded(list_calls))),
    re_path(rf"^{esc(API[1:])}/calls/([^/]+)\Z", resource(guarded(get_call))),
    re_path(rf"^{esc(API[1:])}/funders\Z", resource(guarded(list_funders, SCOPE_OF_FUNDERS))),
    re_path(rf"^{esc(API[1:])}/funders/([^/]+)\Z", resource(guarded(get_funder, SCOPE_OF_FUNDERS))),
]
urls = types.ModuleType("urls_of_node")
urls.urlpatterns = urlpatterns
urls.handler404 = lambda request, exception=None: problem(404, "There is nothing at this address.")
urls.handler400 = lambda request, exception=None: problem(400, "The request cannot be read.")
urls.handler500 = lambda request: problem(500, "The node failed.")
sys.modules["urls_of_node"] = urls


def outer(app):
    """What the HTTP server leaves to the application: Host, and the body of HEAD."""
    def run(environ, start_response):
        host = environ.get("HTTP_HOST", "")
        if (environ.get("SERVER_PROTOCOL") == "HTTP/1.1" and not host) or not re.fullmatch(r"[A-Za-z0-9.\-_\[\]:]*", host):
            start_response("400 Bad Request", [("Content-Type", "text/plain"), ("Content-Length", "13"), ("Connection", "close")])
            return [b"No good Host."]
        head = environ["REQUEST_METHOD"] == "HEAD"

        def start(status, headers, exc=None):
            length = any(k.lower() == "content-length" for k, _ in headers)
            if not length and status[:3] not in ("204", "304"):
                headers = headers + [("Content-Length", str(sum(map(len, parts))))]
            start_response(status, headers + ([("Connection", "close")] if head else []))
        parts, held = [], []
        answer = app(environ, lambda s, h, e=None: held.append((s, h)))
        parts = [b"".join(answer)]
        if hasattr(answer, "close"):
            answer.close()
        start(*held[0])
        return [] if head else parts
    return run


def main():
    signal.signal(signal.SIGTERM, lambda *a: sys.exit(0))
    call_command("migrate", run_syncdb=True, verbosity=0)
    Application = get_application_model()
    for client_id, (secret, *_rest) in CLIENTS.items():
        Application.objects.create(client_id=client_id, client_secret=secret, name=client_id, client_type=Application.CLIENT_CONFIDENTIAL,
                                   authorization_grant_type=Application.GRANT_CLIENT_CREDENTIALS)
    import waitress.task
    from waitress import serve
    waitress.task.hop_by_hop = waitress.task.hop_by_hop - {"connection"}  # outer() says when a connection ends
    serve(outer(get_wsgi_application()), host="127.0.0.1", port=PORT, threads=8, ident=None, max_request_body_size=1 << 20, max_request_header_size=32768)


if __name__ == "__main__":
    main()
