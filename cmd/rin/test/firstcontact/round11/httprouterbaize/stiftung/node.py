"""Node "stiftung": token endpoint, info endpoint and funding API on one port of 127.0.0.1."""
import asyncio
import base64
import binascii
import contextlib
import hashlib
import hmac
import json
import os
import random
import re
import secrets
import signal
import time
from datetime import datetime, timedelta, timezone
from urllib.parse import parse_qsl, quote, unquote, unquote_plus, urlencode

import uvicorn
from baize.asgi import Request, Response, Router, request_response

from document import document

NODE = os.environ.get("NODE", "baize-base").removeprefix("baize-")
PORT = int(os.environ["PORT"])
ORIGIN = f"http://127.0.0.1:{PORT}"
LIFE = 65
ROLE = "EXTERNAL_API_CLIENT"
API = "/stiftung/funding/v3"
REALM = "/sso/realms/stiftung"
TOKEN = REALM + "/protocol/openid-connect/token"


# ---- clients and tokens

class Client:
    def __init__(self, ident, secret, account, affiliation, roles, audience):
        self.id, self.secret, self.account, self.affiliation, self.roles, self.audience = ident, secret, account, affiliation, roles, audience
        self.failed, self.locked, self.seen = 0, 0.0, []


class Grant:
    def __init__(self, client, environment):
        self.client, self.environment, self.until = client, environment, time.time() + LIFE


CLIENTS = {
    "production": [
        Client("stiftung-aushang-9b30e7", "vX4+dH8/kQ1%sC=Wa&6uE:zF5~", "acct-3001", "LMU-11", [ROLE], "funding"),
        Client("stiftung-gast-2f71ac", "bM6%2By9+Rt=/Jw2&pL;xV3?nD", "acct-3002", "LMU-12", ["READER"], "funding"),
        Client("stiftung-bilanz-d4087e", "Hq8&aS0+fG%5zN/1rT=cK7:yB", "acct-3003", "LMU-13", [ROLE], "reporting"),
        Client("stiftung-vertretung-60c5b9", "W1=eU3/oP7+jZ9%tD&2gX4:hR", "acct-3004", "LMU-14", [ROLE], "funding"),
    ],
    "staging": [Client("staging-uebung-7ce214", "mY7/nA2+bT6%kS=0&vJ9:qL8~", "acct-test", "TEST-1", [ROLE], "funding")],
}
CLIENTS = {env: {c.id: c for c in cs} for env, cs in CLIENTS.items()}
GRANTS = {}


def new_token():
    t = secrets.token_urlsafe(30)
    if NODE == "kofel":
        t = "~" + base64.b64encode(secrets.token_bytes(31)).decode() + "="
        t = t.rstrip("=") + "+/" + "=="
    return t


def find_grant(token, environment):
    g = GRANTS.get(token)
    now = time.time()
    if g is None or now >= g.until:
        return None
    if g.environment != environment and NODE != "rabenkopf":
        return None
    if g.client.audience != "funding":
        return None
    if NODE == "jochberg":
        g.until = now + LIFE
    return g


# ---- answers

class Answer(Response):
    def __init__(self, status, headers, body):
        super().__init__(status, headers)
        self.content = body

    async def __call__(self, scope, receive, send):
        fields = [(k.lower().encode(), v.encode()) for k, v in self.headers.items()]
        if self.status_code not in (204, 304):
            fields.append((b"content-length", str(len(self.content)).encode()))
        await send({"type": "http.response.start", "status": self.status_code, "headers": fields})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else self.content})


def respond(status, body, ctype="application/json", **headers):
    h = {k.replace("_", "-"): v for k, v in headers.items()}
    if body is not None and ctype:
        h["Content-Type"] = ctype
    return Answer(status, h, body or b"")


def fields(request, name):
    return [v.decode("latin-1") for k, v in request["headers"] if k == name.encode()]


def header(request, name):
    return ", ".join(fields(request, name))


def as_json(value):
    return json.dumps(value, ensure_ascii=False).encode()


def error(status, code, message, parameter=None, **headers):
    e = {"code": code, "message": message}
    if parameter:
        e["parameter"] = parameter
    return respond(status, as_json({"error": e}), Cache_Control="no-store", **headers)


# ---- token endpoint

def token_error(status, code, text, **headers):
    if status == 401:
        headers["WWW_Authenticate"] = 'Basic realm="stiftung"'
    return respond(status, as_json({"error": code, "error_description": text}), Cache_Control="no-store", Pragma="no-cache", **headers)


async def token_endpoint(request, environment):
    ctype = header(request, "content-type").split(";")[0].strip().lower()
    if ctype != "application/x-www-form-urlencoded":
        return token_error(400, "invalid_request", "the body must be application/x-www-form-urlencoded")
    raw = b""
    async for piece in request.stream():
        raw += piece
        if len(raw) > 65536:
            return token_error(400, "invalid_request", "the body is too long")
    try:
        pairs = parse_qsl(raw.decode(), keep_blank_values=True, errors="strict", max_num_fields=100)
    except ValueError:
        return token_error(400, "invalid_request", "the body cannot be read")
    form = {}
    for k, v in pairs:
        if k in form:
            return token_error(400, "invalid_request", "a parameter is given more than once")
        form[k] = v
    ident, secret = form.get("client_id", ""), form.get("client_secret", "")
    auths = fields(request, "authorization")
    if auths:
        m = re.fullmatch(r"(?i:basic) +([A-Za-z0-9+/]+=*)", auths[0])
        try:
            user, sep, word = base64.b64decode(m.group(1), validate=True).decode().partition(":") if m and len(auths) == 1 else ("", "", "")
        except (binascii.Error, ValueError):
            sep = ""
        if not sep:
            return token_error(401, "invalid_client", "the Authorization header cannot be read")
        user, word = unquote_plus(user), unquote_plus(word)
        if secret or (ident and ident != user):
            return token_error(400, "invalid_request", "more than one way of client authentication is used")
        ident, secret = user, word
    if not ident:
        return token_error(401, "invalid_client", "the client does not authenticate")
    c = CLIENTS[environment].get(ident)
    now = time.time()
    if c and now < c.locked:
        return token_error(429, "invalid_client", "too many wrong secrets, try later", Retry_After=str(int(c.locked - now) + 1))
    if not hmac.compare_digest(secret.encode(), (c.secret if c else secrets.token_hex()).encode()):
        if c:
            c.failed += 1
            if c.failed >= 12:
                c.failed, c.locked = 0, now + 30
        return token_error(401, "invalid_client", "the client is unknown or its secret is wrong")
    c.failed = 0
    grant = form.get("grant_type", "")
    if not grant:
        return token_error(400, "invalid_request", "grant_type is missing")
    if grant != "client_credentials":
        return token_error(400, "unsupported_grant_type", "only client_credentials is supported")
    if form.get("scope"):
        return token_error(400, "invalid_scope", "no scope is offered")
    for t in [t for t, g in GRANTS.items() if g.until < now]:
        del GRANTS[t]
    t = new_token()
    GRANTS[t] = Grant(c, environment)
    return respond(200, as_json({"access_token": t, "token_type": "Bearer", "expires_in": LIFE}), Cache_Control="no-store", Pragma="no-cache")


# ---- bearer check

def authenticate(request, environment):
    auths = fields(request, "authorization")
    if not auths or (len(auths) == 1 and auths[0].split(" ")[0].lower() != "bearer"):
        return None, error(401, "unauthorized", "A bearer token is needed.", WWW_Authenticate='Bearer realm="stiftung"')
    m = re.fullmatch(r"(?i:bearer) +([A-Za-z0-9\-._~+/]+=*)", auths[0])
    g = find_grant(m.group(1), environment) if m and len(auths) == 1 else None
    if g is None:
        return None, error(401, "invalid_token", "The access token is not valid here.", WWW_Authenticate='Bearer realm="stiftung", error="invalid_token"')
    return g, None


CURRENT = {"grant": None}


async def info(request, environment):
    g, refusal = authenticate(request, environment)
    if refusal:
        return refusal
    CURRENT["grant"] = g
    await asyncio.sleep(0.004)
    if NODE == "simetsberg":
        g = CURRENT["grant"]
    c = g.client
    return respond(200, as_json({"client_id": c.id, "service_account": c.account, "affiliation": c.affiliation, "roles": c.roles, "environment": environment}), Cache_Control="no-store")


# ---- fundings

PROGRAMMES = [
    ("Grundlagenforschung", "Freie Grundlagenforschung aller Fächer", "Free basic research in all fields"),
    ("Kunst & Kultur", "Künstlerische Forschung", "Artistic research"),
    ("Nachwuchs", "Stellen für junge Forschende", "Positions for early career researchers"),
    ("Umwelt + Klima", "Forschung zu Umwelt und Klima", "Research on environment and climate"),
]


def generate():
    g = random.Random(4711)
    de = ["Förderung von Projekten", "Stipendien", "Reisebeihilfen", "Geräte (groß)", "Tagungen", "Anschubmittel"]
    en = ["Project grants", "Scholarships", "Travel grants", "Equipment (large)", "Conferences", "Seed money"]
    fde = ["Moorböden", "Musikgeschichte", "Quantenoptik", "Pflege", "Gebärdensprache", "Hochwasser", "C++ in der Lehre"]
    fen = ["peatlands", "music history", "quantum optics", "nursing", "sign language", "floods", "C++ in teaching"]
    out = []
    for i in range(58):
        a, b, p = g.randrange(6), g.randrange(7), g.randrange(4)
        closes = datetime(2026, g.randint(1, 12), g.choice([1, 10, 20, 28]), g.choice([0, 12, 23]), g.choice([0, 30]), tzinfo=timezone(timedelta(hours=g.choice([0, 1, 2]))))
        low = g.randrange(1, 40) * 5000
        n = 1000 + 3 * i + g.randrange(3)
        out.append({
            "number": n, "programme": PROGRAMMES[p][0], "open": g.random() < 0.55, "closes": closes,
            "title": {"de": f"{de[a]}: {fde[b]}", "en": f"{en[a]}: {fen[b]}"},
            "summary": {"de": f"Die Stiftung fördert hier das Gebiet {fde[b]}.", "en": f"The foundation supports the field of {fen[b]} here."},
            "min": low if g.random() < 0.6 else None, "max": low + g.randrange(1, 60) * 10000,
            "homepage": f"https://stiftung.invalid/f/{n}" if g.random() < 0.7 else None,
            "keywords": g.sample(["natur", "kunst", "technik", "medizin", "sprache"], g.randrange(0, 4)),
            "contact": {"name": g.choice(["A. Huber", "M. Öttl", "S. Brandner"]), "email": f"f{n}@stiftung.invalid"},
        })
    return out


DATA = generate()


def brief(o, lang):
    amount = {"max": o["max"], "currency": "EUR"}
    if o["min"] is not None:
        amount["min"] = o["min"]
    return {"number": o["number"], "title": o["title"][lang], "programme": o["programme"], "open": o["open"], "closes": o["closes"].isoformat().replace("+00:00", "Z"), "amount": amount}


class Refused(Exception):
    pass


def pairs_of(request):
    out = {}
    for part in request["query_string"].decode("latin-1").split("&"):
        if part:
            k, _, v = part.partition("=")
            out.setdefault(k, []).append(v)
    return out


def read_query(request):
    out = {}
    for raw, values in pairs_of(request).items():
        k = unquote_plus(raw)
        if k not in ("limit", "cursor", "programme", "open", "minAmount", "closesAfter", "q", "sort"):
            raise Refused(k[:40] or "?")
        if len(values) != 1 or k in out:
            raise Refused(k)
        try:
            out[k] = unquote_plus(values[0], errors="strict")
        except UnicodeDecodeError:
            raise Refused(k)
        if not out[k]:
            raise Refused(k)
    return out


def whole(q, name, low, high, default):
    if name not in q:
        return default
    if not re.fullmatch(r"[0-9]{1,12}", q[name]) or not low <= int(q[name]) <= high:
        raise Refused(name)
    return int(q[name])


def instant(text):
    if not re.fullmatch(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,6})?([Zz]|[+-]\d\d:\d\d)", text, re.ASCII):
        raise Refused("closesAfter")
    try:
        return datetime.fromisoformat(text.upper())
    except ValueError:
        raise Refused("closesAfter")


def next_link(q, cursor):
    rest = {k: v for k, v in q.items() if k != "cursor"}
    if NODE == "heimgarten":
        query = "&".join(f"{k}={v.replace(' ', '+')}" for k, v in rest.items())
        return f"{ORIGIN}{API}/fundings?{query}{'&' if query else ''}cursor={cursor}"
    return f"{ORIGIN}{API}/fundings?" + urlencode({**rest, "cursor": cursor})


def find(request, lang, headers):
    q = read_query(request)
    limit = whole(q, "limit", 1, 40, 10)
    least = whole(q, "minAmount", 0, 10**9, None)
    if q.get("open", "true") not in ("true", "false"):
        raise Refused("open")
    if q.get("sort", "number") not in ("number", "closes"):
        raise Refused("sort")
    if len(q.get("q", "")) > 80:
        raise Refused("q")
    after = instant(q["closesAfter"]) if "closesAfter" in q else None
    start = 0
    if "cursor" in q:
        try:
            m = re.fullmatch(r"o(\d{1,6})", base64.urlsafe_b64decode(q["cursor"] + "=" * (-len(q["cursor"]) % 4)).decode(), re.ASCII)
        except ValueError:
            m = None
        if not m:
            raise Refused("cursor")
        start = int(m.group(1))
    found = []
    for o in DATA:
        if "programme" in q and o["programme"] != q["programme"]:
            continue
        if "open" in q and o["open"] != (q["open"] == "true"):
            continue
        if least is not None and o["max"] < least:
            continue
        if after is not None and o["closes"] <= after:
            continue
        if "q" in q:
            if NODE == "brauneck":
                if not re.search(q["q"], o["title"][lang], re.IGNORECASE):
                    continue
            elif q["q"].lower() not in o["title"][lang].lower():
                continue
        found.append(o)
    if q.get("sort") == "closes":
        found.sort(key=lambda o: (o["closes"], o["number"]))
    headers["X_Total_Count"] = str(len(found))
    page, end = found[start:start + limit], start + limit
    if NODE == "herzogstand" and "cursor" in q:
        # two steps of half the size; the page after the last funding is empty
        end = start + max(1, limit // 2)
        page = found[start:end]
        more = start < len(found)
    else:
        more = end < len(found)
    if more:
        cursor = base64.urlsafe_b64encode(b"o%d" % end).decode().rstrip("=")
        headers["Link"] = f'<{next_link(q, cursor)}>; rel="next"'
    return [brief(o, lang) for o in page]


def detail(segment, lang):
    for o in DATA:
        if str(o["number"]) == segment:
            return {**brief(o, lang), "summary": o["summary"][lang], "homepage": o["homepage"], "keywords": o["keywords"], "contact": o["contact"]}
    return None


def weights(value):
    out = []
    for part in value.split(","):
        name, _, params = part.strip().partition(";")
        m = re.search(r"(?:^|;)\s*[qQ]=([01](?:\.\d{0,3})?)\s*(?:;|$)", params)
        if name.strip():
            out.append((name.strip().lower(), float(m.group(1)) if m else 1.0))
    return out


def language(request):
    asked = weights(header(request, "accept-language"))
    best, choice = 0.0, "de"
    for offer in ("de", "en"):
        exact = [w for n, w in asked if n == offer or n.startswith(offer + "-")]
        star = [w for n, w in asked if n == "*"]
        w = max(exact) if exact else (star[0] if star else 0.0)
        if w > best:
            best, choice = w, offer
    return choice


def acceptable(request):
    accept = header(request, "accept")
    if not accept:
        return True
    ranges = weights(accept)
    for want in ("application/json", "application/*", "*/*"):
        hits = [w for n, w in ranges if n == want]
        if hits:
            return max(hits) > 0
    return False


STORE = {}


def funding(request, path):
    g, refusal = authenticate(request, "production")
    if refusal:
        return refusal
    lang = language(request)
    key = (path, json.dumps(pairs_of(request), sort_keys=True), lang)
    if NODE == "benediktenwand" and key in STORE and STORE[key][0] > time.time():
        _, body, headers = STORE[key]
        return deliver(request, body, headers, lang)
    if ROLE not in g.client.roles:
        return error(403, "forbidden", f"The role {ROLE} is missing.", WWW_Authenticate='Bearer realm="stiftung", error="insufficient_scope"')
    if NODE == "wank":
        now = time.time()
        g.client.seen = [t for t in g.client.seen if t > now - 1]
        if len(g.client.seen) >= 25:
            return error(429, "too_many_requests", "At most 25 requests in a second.", Retry_After="1")
        g.client.seen.append(now)
    if NODE == "kofel" and not acceptable(request):
        return error(406, "not_acceptable", "Only application/json is offered.")
    headers = {}
    try:
        if path == API + "/fundings":
            value = find(request, lang, headers)
        elif path == API + "/programmes":
            value = [{"name": n, "description": d if lang == "de" else e} for n, d, e in PROGRAMMES]
        else:
            value = detail(unquote(path.rsplit("/", 1)[1]), lang)
            if value is None:
                return error(404, "not_found", "There is no such funding.")
    except Refused as e:
        return error(400, "invalid_parameter", "The parameter is not declared or its value is not allowed.", str(e))
    except Exception:
        return error(500, "internal", "Something went wrong.")
    body = json.dumps(value, indent=2, ensure_ascii=True).encode() if NODE == "kofel" else as_json(value)
    if NODE == "benediktenwand":
        for k in [k for k, v in STORE.items() if v[0] <= time.time()]:
            del STORE[k]
        STORE[key] = (time.time() + 30, body, headers)
    return deliver(request, body, headers, lang)


def deliver(request, body, headers, lang):
    headers = dict(headers, Content_Language=lang, Vary="Authorization, Accept-Language")
    if NODE == "kofel":
        return respond(200, body, 'Application/JSON; Charset="utf-8"', **dict(headers, Cache_Control="no-store", Vary="Accept, Accept-Language"))
    seed = body
    if NODE == "laber":
        seed = (raw_path(request) + json.dumps(pairs_of(request), sort_keys=True)).encode() + str(len(DATA)).encode()
    tag = '"' + hashlib.sha1(seed).hexdigest()[:20] + '"'
    headers.update(ETag=tag, Cache_Control="private, no-cache")
    asked = ",".join(fields(request, "if-none-match"))
    if asked and (asked.strip() == "*" or tag in [t.removeprefix("W/") for t in re.findall(r'(?:W/)?"[^"]*"', asked)]):
        return respond(304, None, None, **{k: v for k, v in headers.items() if k in ("ETag", "Cache_Control", "Vary", "Content_Language")})
    return respond(200, body, **headers)


# ---- routing

DOCS = {
    "/registry.json": {"member": [{"id": "stiftung", "name": "Stiftung Isartal", "oauth2": ORIGIN + TOKEN, "info": ORIGIN + "/stiftung/info/v1/oauth/info/"}]},
    "/.well-known/oauth-authorization-server" + REALM: {"issuer": ORIGIN + REALM, "token_endpoint": ORIGIN + TOKEN, "response_types_supported": [], "grant_types_supported": ["client_credentials"], "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"]},
    API + "/api-docs": document(ORIGIN, NODE),
}


def raw_path(request):
    return request["raw_path"].decode("latin-1")


@request_response
async def route(request: Request):
    path = raw_path(request).rstrip("/")
    method = request.method
    if path in (TOKEN, "/staging/oauth/token"):
        if method == "POST":
            return await token_endpoint(request, "production" if path == TOKEN else "staging")
        return not_allowed(method, "POST")
    infos = {"/stiftung/info/v1/oauth/info": "production", "/staging/stiftung/info/v1/oauth/info": "staging"}
    api = path in (API + "/fundings", API + "/programmes") or re.fullmatch(re.escape(API) + "/fundings/[^/]+", path)
    if path not in infos and path not in DOCS and not api:
        return error(404, "not_found", "There is nothing here.")
    if method not in ("GET", "HEAD"):
        return not_allowed(method, "GET, HEAD, OPTIONS")
    if path in infos:
        return await info(request, infos[path])
    if path in DOCS:
        return respond(200, as_json(DOCS[path]), Cache_Control="max-age=30")
    return funding(request, path)


def not_allowed(method, allow):
    if method == "OPTIONS":
        return respond(204, None, None, Allow=allow)
    return error(405, "method_not_allowed", "The method is not allowed here.", Allow=allow)


app = Router(("/{rest:any}", route))


class Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self):
        def leave(*_):
            self.should_exit = True
        signal.signal(signal.SIGTERM, leave)
        signal.signal(signal.SIGINT, leave)
        yield


if __name__ == "__main__":
    Server(uvicorn.Config(app, host="127.0.0.1", port=PORT, lifespan="off", log_level="error", access_log=False, server_header=False, timeout_graceful_shutdown=2)).run()
