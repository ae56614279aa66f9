"""Funding node "Murau": CherryPy 18 with MethodDispatcher, SQLite in memory, PyJWT."""
import base64
import datetime as dt
import hashlib
import hmac
import json
import os
import re
import secrets
import sqlite3
import threading
import time
import types
import urllib.parse

import cherrypy
import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

import data
import document

NODE = os.environ.get("NODE", "cherrypy-base")
PORT = int(os.environ.get("PORT", "20001"))
ORIGIN = f"http://127.0.0.1:{PORT}"
PREFIX = "murau"
BASE = f"{ORIGIN}/{PREFIX}/funding/v3"
ROLE = "EXTERNAL_API_CLIENT"
LIFETIME = 60
PAGE_SIZE, MAX_PAGE_SIZE = 20, 100
DB_LOCK = threading.RLock()


def variant(name):
    return NODE == "cherrypy-" + name


# --------------------------------------------------------------------------- records

DB = sqlite3.connect(":memory:", check_same_thread=False)
DB.row_factory = sqlite3.Row


def fill():
    DB.executescript("""
        CREATE TABLE funding (seq INTEGER PRIMARY KEY, id TEXT UNIQUE, type TEXT, name_de TEXT, name_en TEXT, trans_en TEXT,
            funder_id TEXT, amount_cents INTEGER, currency TEXT, starts TEXT, ends TEXT, updated TEXT,
            programme TEXT, access TEXT, affiliation TEXT, body TEXT);
        CREATE TABLE target (funding TEXT, value TEXT);
        CREATE TABLE region (funding TEXT, value TEXT);
        CREATE INDEX target_value ON target (value);
    """)
    DB.create_function("fold", 1, str.casefold, deterministic=True)
    for row in data.fundings(odd_ids=variant("odd-ids")):
        insert(row)


def insert(row):
    with DB_LOCK:
        DB.execute("INSERT INTO funding VALUES (:seq,:id,:type,:name_de,:name_en,:trans_en,:funder_id,:amount_cents,:currency,"
                   ":starts,:ends,:updated,:programme,:access,:affiliation,:body)", row)
        DB.executemany("INSERT INTO target VALUES (?,?)", [(row["id"], v) for v in row["targets"]])
        DB.executemany("INSERT INTO region VALUES (?,?)", [(row["id"], v) for v in row["regions"]])


def rows(sql, args=()):
    with DB_LOCK:
        return DB.execute(sql, args).fetchall()


def values(table, funding):
    return [r["value"] for r in rows(f"SELECT value FROM {table} WHERE funding = ? ORDER BY rowid", (funding,))]


def amount(cents):
    """The amount in the main unit of the currency."""
    return cents // 100 if cents % 100 == 0 else cents / 100


def present(row, language, listed):
    funding = json.loads(row["body"])
    funding.update({
        "id": row["id"],
        "type": row["type"],
        "title": row["name_" + language],
        "name": [{"lang": "de", "trans": "O", "text": row["name_de"]},
                 {"lang": "en", "trans": row["trans_en"], "text": row["name_en"]}],
        "funder": [{"funderType": "EXECUTIVE_ORGANISATION", "funder": data.FUNDERS[row["funder_id"]]}],
        "targetGroups": values("target", row["id"]),
        "eligibleApplicantsRegions": values("region", row["id"]),
        "fundingScheme": row["type"],
        "callStages": [{"number": "1", "callStageStart": row["starts"], "callStageEnd": row["ends"]}],
        "amount": {"currency": row["currency"], "amount": amount(row["amount_cents"])},
        "updated": row["updated"],
        "access": row["access"],
    })
    if listed and variant("floored-cents"):
        funding["amount"]["amount"] = row["amount_cents"] // 100
    if row["programme"]:
        funding["partOf"] = row["programme"]
    if row["affiliation"]:
        funding["affiliation"] = row["affiliation"]
    return funding


# --------------------------------------------------------------------------- errors (RFC 9457)

TITLES = {400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
          406: "Not Acceptable", 412: "Precondition Failed", 413: "Content Too Large", 500: "Internal Server Error"}


def problem_body(status, detail, **more):
    return json.dumps({"type": "about:blank", "title": TITLES.get(status, "Error"), "status": status, "detail": detail, **more},
                      ensure_ascii=False).encode("utf-8")


class Problem(cherrypy.HTTPError):
    def __init__(self, status, detail, headers=None, **more):
        super().__init__(status, detail)
        self.body, self.more_headers = problem_body(status, detail, **more), headers or {}

    def set_response(self):
        response = cherrypy.serving.response
        for name in ("ETag", "Last-Modified", "Content-Language", "Link", "Content-Length"):
            response.headers.pop(name, None)
        response.status = self.status
        response.headers["Content-Type"] = "application/problem+json"
        response.headers["Cache-Control"] = "no-store"
        for name, value in self.more_headers.items():
            response.headers[name] = value
        response.body = self.body


def framework_error(status, message, traceback, version):
    """What CherryPy itself raises: unknown addresses, other methods, faults."""
    code = int(status.split()[0])
    cherrypy.response.headers["Content-Type"] = "application/problem+json"
    cherrypy.response.headers["Cache-Control"] = "no-store"
    detail = {404: "There is nothing at this address.", 405: "This method is not offered here."}.get(code, "The request was not served.")
    return problem_body(code, detail)


def unexpected():
    cherrypy.response.status = 500
    cherrypy.response.headers["Content-Type"] = "application/problem+json"
    cherrypy.response.headers["Cache-Control"] = "no-store"
    cherrypy.response.body = problem_body(500, "The request was not served.")


# --------------------------------------------------------------------------- authorization servers

class Server:
    def __init__(self, name, path, audience, clients):
        self.name, self.path, self.audience = name, path, audience
        self.issuer = ORIGIN + path.rsplit("/", 2)[0]
        self.kid = name + "-a1"
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.clients = {c["id"]: dict(c, digest=digest(c["id"], c["secret"])) for c in clients}


def digest(client, secret):
    word = f"{client}:{secret}".encode("utf-8")
    if variant("seventytwo-bytes"):
        word = word[:72]        # what bcrypt takes
    return hashlib.scrypt(word, salt=b"murau/2026", n=64, r=8, p=1)


PRODUCTION = Server("murau", "/auth/oauth/token", "https://murau.example/funding", data.CLIENTS)
STAGING = Server("murau-staging", "/staging/oauth/token", "https://murau.example/funding", data.STAGING_CLIENTS)
KEYS = {PRODUCTION.kid: PRODUCTION.key.public_key(), STAGING.kid: STAGING.key.public_key()}


class OAuthError(Exception):
    def __init__(self, status, error, description):
        super().__init__(description)
        self.status, self.error, self.description = status, error, description


def read_form(request):
    kind = request.headers.get("Content-Type", "").split(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise OAuthError(400, "invalid_request", "The body has to be application/x-www-form-urlencoded.")
    raw = request.rfile.read(int(request.headers.get("Content-Length") or 0)) if "Content-Length" in request.headers else request.rfile.read()
    try:
        pairs = urllib.parse.parse_qsl(raw.decode("utf-8"), keep_blank_values=True, errors="strict")
    except ValueError:
        raise OAuthError(400, "invalid_request", "The body is not a form in UTF-8.")
    form = {}
    for key, value in pairs:
        if key in form:
            raise OAuthError(400, "invalid_request", "A parameter is repeated.")
        form[key] = value
    return {k: v for k, v in form.items() if v != ""}


def basic_credentials(header):
    scheme, _, rest = header.partition(" ")
    try:
        if scheme.lower() != "basic":
            raise ValueError
        user, colon, password = base64.b64decode(rest.strip(), validate=True).decode("utf-8").partition(":")
        if not colon:
            raise ValueError
    except ValueError:
        raise OAuthError(401, "invalid_client", "The Authorization header does not hold Basic credentials.")
    return urllib.parse.unquote_plus(user), urllib.parse.unquote_plus(password)


def authenticate_client(server, request, form):
    client_id, secret = form.get("client_id"), form.get("client_secret")
    header = request.headers.get("Authorization")
    if header:
        if secret is not None:
            raise OAuthError(400, "invalid_request", "Use one way of client authentication only.")
        basic_id, secret = basic_credentials(header)
        if client_id not in (None, basic_id):
            raise OAuthError(400, "invalid_request", "Two different client identifiers.")
        client_id = basic_id
    if client_id is None or secret is None:
        raise OAuthError(401, "invalid_client", "Client authentication is missing.")
    client = server.clients.get(client_id)
    given = digest(client_id, secret)
    if not hmac.compare_digest(given, client["digest"] if client else bytes(64)) or not client:
        raise OAuthError(401, "invalid_client", "Unknown client or wrong secret.")
    return client


def issue(server, client):
    now = int(time.time())
    claims = {"iss": server.issuer, "sub": client["account"], "aud": client.get("audience", server.audience), "client_id": client["id"],
              "iat": now, "exp": now + LIFETIME, "jti": secrets.token_urlsafe(16), "scope": "funding",
              "roles": client["roles"], "affiliation": client["affiliation"]}
    return jwt.encode(claims, server.key, algorithm="RS256", headers={"kid": server.kid, "typ": "at+jwt"})


@cherrypy.expose
class Token:
    def __init__(self, server):
        self.server = server

    def POST(self, *path, **query):
        if path:
            raise cherrypy.NotFound()
        request, response = cherrypy.request, cherrypy.response
        response.headers.update({"Content-Type": "application/json", "Cache-Control": "no-store", "Pragma": "no-cache"})
        try:
            form = read_form(request)
            if "client_secret" in query:
                raise OAuthError(400, "invalid_request", "Credentials do not belong in the address.")
            client = authenticate_client(self.server, request, form)
            if "grant_type" not in form:
                raise OAuthError(400, "invalid_request", "The parameter grant_type is missing.")
            if form["grant_type"] != "client_credentials":
                raise OAuthError(400, "unsupported_grant_type", "Only client_credentials is offered.")
            if set(form.get("scope", "funding").split(" ")) != {"funding"}:
                raise OAuthError(400, "invalid_scope", "The only scope is funding.")
            answer = {"access_token": issue(self.server, client), "token_type": "Bearer", "expires_in": LIFETIME}
        except OAuthError as error:
            response.status = error.status
            answer = {"error": error.error, "error_description": error.description}
            if variant("quiet-refusals"):
                del answer["error_description"]
                if error.error == "invalid_client" and "Authorization" not in request.headers:
                    response.status = 400
            if response.status == 401:
                response.headers["WWW-Authenticate"] = f'Basic realm="{self.server.name}"'
        return json.dumps(answer).encode("ascii")


# --------------------------------------------------------------------------- tools of the API

def bearer(server, role=True):
    """Tool: the access token, and the role of its service account."""
    request = cherrypy.serving.request
    cherrypy.serving.response.headers["Vary"] = "Authorization, Accept-Language"
    header = request.headers.get("Authorization")
    if not header:
        raise Problem(401, "An access token is needed.", {"WWW-Authenticate": f'Bearer realm="{PREFIX}"'})
    refused = {"WWW-Authenticate": f'Bearer realm="{PREFIX}", error="invalid_token", error_description="The access token is not valid or has expired"'}
    match = re.fullmatch(r"(?i:bearer) +([A-Za-z0-9\-._~+/]+=*) *", header)
    if not match:
        raise Problem(401, "The Authorization header does not hold a bearer token.", refused)
    token = match[1]
    try:
        kid = jwt.get_unverified_header(token).get("kid")
        checks = {"audience": server.audience, "issuer": server.issuer}
        keys = {server.kid: KEYS[server.kid]}
        if variant("merged-keys"):
            # one key set for all our authorization servers; the key is found by its id
            keys = KEYS
            del checks["issuer"]
        claims = jwt.decode(token, keys[kid], algorithms=["RS256"], options={"require": ["exp", "iat", "iss", "aud", "client_id"]}, **checks)
    except (jwt.InvalidTokenError, KeyError, TypeError):
        raise Problem(401, "The access token is not valid or has expired.", refused)
    request.account = claims
    if role and ROLE not in claims["roles"]:
        if variant("quiet-refusals"):
            raise Problem(404, "There is nothing at this address for this client.")
        raise Problem(403, f"The service account needs the role {ROLE}.",
                      {"WWW-Authenticate": f'Bearer realm="{PREFIX}", error="insufficient_scope", scope="funding"'})


def negotiate():
    """Tool: JSON only, in German or English."""
    request, response = cherrypy.serving.request, cherrypy.serving.response
    accept = request.headers.get("Accept", "").strip()
    if accept:
        best = {}
        for element in request.headers.elements("Accept"):
            for rank, name in enumerate(("*/*", "application/*", "application/json")):
                if element.value.lower() == name:
                    best[rank] = element.qvalue
        if not best or best[max(best)] <= 0:
            raise Problem(406, "Only application/json is served.")
    language, quality = "en", 0.0
    asked = {}
    for element in request.headers.elements("Accept-Language") or []:
        asked.setdefault(element.value.lower().split("-")[0], element.qvalue)
    for code in ("en", "de"):
        q = asked.get(code, asked.get("*", 0.0))
        if q > quality:
            language, quality = code, q
    request.language = language
    response.headers["Content-Language"] = language


def validators():
    """Tool: ETag of the answer, and If-None-Match."""
    request, response = cherrypy.serving.request, cherrypy.serving.response
    if int(str(response.status or 200).split()[0]) != 200:
        return
    body = response.collapse_body()
    seed = body
    if variant("language-etag"):
        # the records make the tag, not their presentation
        seed = re.sub(rb'"title": "(?:[^"\\]|\\.)*", ', b"", body)
    tag = '"' + hashlib.blake2b(seed, digest_size=12).hexdigest() + '"'
    if variant("odd-ids"):
        tag = "W/" + tag
    response.headers["ETag"] = tag
    response.headers["Cache-Control"] = "private, no-cache"
    wanted = request.headers.get("If-None-Match")
    if wanted and request.method in ("GET", "HEAD"):
        tags = [t.strip().removeprefix("W/") for t in wanted.split(",")]
        if wanted.strip() == "*" or tag.removeprefix("W/") in tags:
            response.status = 304
            response.headers.pop("Content-Type", None)
            response.headers.pop("Content-Length", None)
            response.body = b""


cherrypy.tools.negotiate = cherrypy.Tool("before_handler", negotiate, priority=30)
cherrypy.tools.bearer = cherrypy.Tool("before_handler", bearer, priority=20)
cherrypy.tools.validators = cherrypy.Tool("before_finalize", validators, priority=75)


def answer(value):
    cherrypy.response.headers["Content-Type"] = "application/json"
    return json.dumps(value, ensure_ascii=variant("odd-ids")).encode("utf-8")


# --------------------------------------------------------------------------- query parameters

def refuse(name, why):
    raise Problem(400, f"The parameter {name} {why}.", errors=[{"parameter": name, "message": why}])


def single(query, name):
    value = query.get(name)
    if isinstance(value, list):
        refuse(name, "can be given once only")
    return value


def integer(query, name, default, low, high):
    value = single(query, name)
    if value is None:
        return default
    if not re.fullmatch(r"[0-9]{1,9}", value, re.ASCII) or not low <= int(value) <= high:
        refuse(name, f"has to be an integer from {low} to {high}")
    return int(value)


def choice(query, name, allowed, many=False):
    value = query.get(name)
    if value is None:
        return None
    if not many:
        value = single(query, name)
    for one in value if isinstance(value, list) else [value]:
        if one not in allowed:
            refuse(name, "has to be one of " + ", ".join(allowed))
    return value if isinstance(value, list) or not many else [value]


def instant(query, name):
    value = single(query, name)
    if value is None:
        return None
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)", value, re.ASCII):
        refuse(name, "has to be a date-time of RFC 3339 with its offset")
    try:
        moment = dt.datetime.fromisoformat(value.replace("Z", "+00:00")).astimezone(dt.timezone.utc)
    except (ValueError, OverflowError):
        refuse(name, "has to be a date-time of RFC 3339 with its offset")
    if variant("wallclock-filter"):
        return value[:19] + "Z"
    # the column holds whole seconds: the next one, when the fraction is not zero
    if moment.microsecond:
        moment = moment.replace(microsecond=0) + dt.timedelta(seconds=1)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ").rjust(20, "0")


def known(query, *names):
    for name in query:
        if name not in names:
            refuse(re.sub(r"[^\w$.\[\]-]", "?", name, flags=re.ASCII), "is not a parameter of this operation")


def page_of(select, where, args, order, query, url):
    number = integer(query, "page", 1, 1, 1000000)
    size = integer(query, "pageSize", PAGE_SIZE, 1, MAX_PAGE_SIZE)
    with DB_LOCK:
        total = rows(f"SELECT count(*) AS n FROM {select} WHERE {where}", args)[0]["n"]
        found = rows(f"SELECT * FROM {select} WHERE {where} ORDER BY {order} LIMIT ? OFFSET ?", [*args, size, (number - 1) * size])
        items = [present(r, cherrypy.request.language, True) for r in found]
    last = max(1, -(-total // size))
    plain = [(k, x) for k, v in query.items() if k not in ("page", "pageSize") for x in (v if isinstance(v, list) else [v])]

    def link(n, rel):
        return f'<{url}?{urllib.parse.urlencode(plain + [("page", n), ("pageSize", size)])}>; rel="{rel}"'
    links = [link(1, "first"), link(last, "last")]
    if number < last:
        links.append(link(number + 1, "next"))
    if 1 < number <= last:
        links.append(link(number - 1, "prev"))
    cherrypy.response.headers["Link"] = ", ".join(links)
    cherrypy.response.headers["X-Total-Count"] = str(total)
    return answer(items)


VISIBLE = "(access = 'OPEN' OR affiliation = ?)"
ORDERS = {"id": "seq", "-id": "seq DESC", "closes": "ends, seq", "-closes": "ends DESC, seq",
          "updated": "updated, seq", "-updated": "updated DESC, seq"}


# --------------------------------------------------------------------------- resources

@cherrypy.expose
class Fundings:
    def GET(self, *path, **query):
        own = cherrypy.request.account["affiliation"]
        if not path or path == ("",):
            return self.list(own, query)
        if len(path) == 2 and path[1] == "calls":
            return self.calls(own, path[0], query)
        if len(path) > 1:
            raise cherrypy.NotFound()
        known(query)
        row = self.one(own, path[0], every=variant("open-details"))
        return answer(present(row, cherrypy.request.language, False))

    def one(self, own, funding, every=False):
        if every:
            found = rows("SELECT * FROM funding WHERE id = ?", (funding,))
        else:
            found = rows(f"SELECT * FROM funding WHERE id = ? AND {VISIBLE}", (funding, own))
        if not found:
            raise Problem(404, "There is no funding with this id.")
        return found[0]

    def list(self, own, query):
        known(query, "page", "pageSize", "type", "target", "region", "funder", "search", "closesAfter", "updatedSince", "order")
        where, args = [VISIBLE], [own]
        kind, region = choice(query, "type", data.TYPES), choice(query, "region", data.REGIONS)
        targets = choice(query, "target", data.TARGETS, many=True)
        funder, search = single(query, "funder"), single(query, "search")
        closes, updated = instant(query, "closesAfter"), instant(query, "updatedSince")
        order = choice(query, "order", list(ORDERS)) or "id"
        if kind:
            where.append("type = ?")
            args.append(kind)
        if targets:
            where.append(f"id IN (SELECT funding FROM target WHERE value IN ({','.join('?' * len(targets))}))")
            args += targets
        if region:
            where.append("id IN (SELECT funding FROM region WHERE value = ?)")
            args.append(region)
        if funder is not None:
            where.append("funder_id = ?")
            args.append(funder)
        if search is not None:
            if not 1 <= len(search) <= 100:
                refuse("search", "has to be a text of 1 to 100 characters")
            where.append("(instr(fold(name_de), ?) > 0 OR instr(fold(name_en), ?) > 0)")
            args += [search.casefold()] * 2
        if closes:
            where.append("ends >= ?")
            args.append(closes)
        if updated:
            where.append("updated >= ?")
            args.append(updated)
        # one handler object serves the requests of all threads
        state = self if variant("shared-handler") else types.SimpleNamespace()
        state.criteria = (" AND ".join(where), args, ORDERS[order])
        with DB_LOCK:
            return page_of("funding", *state.criteria, query, BASE + "/fundings")

    def calls(self, own, programme, query):
        known(query, "page", "pageSize")
        self.one(own, programme)
        return page_of("funding", f"{VISIBLE} AND programme = ?", [own, programme], "seq", query,
                       f"{BASE}/fundings/{urllib.parse.quote(programme, safe='')}/calls")


@cherrypy.expose
class Statistics:
    def GET(self, *path, **query):
        if path:
            raise cherrypy.NotFound()
        known(query)
        found = rows(f"SELECT currency, count(*) AS n, sum(amount_cents) AS cents FROM funding WHERE {VISIBLE} GROUP BY currency ORDER BY currency",
                     (cherrypy.request.account["affiliation"],))
        return answer({"count": sum(r["n"] for r in found),
                       "volumes": [{"currency": r["currency"], "count": r["n"], "amount": amount(r["cents"])} for r in found]})


@cherrypy.expose
class Info:
    def __init__(self, funding_url):
        self.funding_url = funding_url

    def GET(self, *path, **query):
        if path and path != ("",):
            raise cherrypy.NotFound()
        account = cherrypy.request.account
        endpoints = {}
        if self.funding_url:
            endpoints["FUNDING"] = [{"name": "FUNDINGS", "majorVersion": 3, "minorVersion": 0, "url": self.funding_url}]
        return answer({"endpoints": endpoints,
                       "account": {"clientId": account["client_id"], "serviceAccountUserId": account["sub"],
                                   "affiliationId": account["affiliation"], "roles": account["roles"]}})


@cherrypy.expose
class Fixed:
    """A document that does not change while the node runs."""

    def __init__(self, make):
        self.make = make

    def GET(self, *path, **query):
        if path and path != ("",):
            raise cherrypy.NotFound()
        return answer(self.make())


class Node:
    """Only a step of a path."""

    def __init__(self, **children):
        for name, child in children.items():
            setattr(self, name.replace("-", "_"), child)


def registry():
    return [{"id": "murau", "name": "Forschungsknoten Murau", "acronym": "MUR", "prefix": PREFIX, "contact": "ris@murau.example",
             "oauth2": ORIGIN + PRODUCTION.path, "info": f"{ORIGIN}/{PREFIX}/info/v1/oauth/info/", "spec": BASE + "/api-docs"}]


def jwks(server):
    key = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(server.key.public_key()))
    return {"keys": [dict(key, kid=server.kid, use="sig", alg="RS256")]}


def grow():
    """Background job of the growing list: a new call at its end every 20 seconds."""
    for row in data.later_fundings():
        time.sleep(20)
        insert(row)


def main():
    fill()
    root = Fixed(lambda: {"node": "Murau", "registry": ORIGIN + "/registry.json"})
    setattr(root, "registry_json", Fixed(registry))
    root.auth = Node(oauth=Node(token=Token(PRODUCTION), jwks=Fixed(lambda: jwks(PRODUCTION))))
    info = Info(f"{ORIGIN}/{PREFIX}/funding/v3/fundings")
    funding = Node(fundings=Fundings(), statistics=Statistics(), api_docs=Fixed(
        lambda: document.specification(ORIGIN, PREFIX, ORIGIN + PRODUCTION.path, NODE)))
    setattr(root, PREFIX, Node(info=Node(v1=Node(oauth=Node(info=info))), funding=Node(v3=funding)))
    staging_info = Info(None)
    root.staging = Node(oauth=Node(token=Token(STAGING), jwks=Fixed(lambda: jwks(STAGING))))
    setattr(root.staging, PREFIX, Node(info=Node(v1=Node(oauth=Node(info=staging_info)))))

    def guarded(server, role):
        return {"tools.bearer.on": True, "tools.bearer.server": server, "tools.bearer.role": role, "tools.negotiate.on": True}
    config = {
        "/": {"request.dispatch": cherrypy.dispatch.MethodDispatcher(), "tools.validators.on": True, "tools.trailing_slash.on": False, "request.process_request_body": False,
              "error_page.default": framework_error, "request.error_response": unexpected, "request.show_tracebacks": False},
        "/auth/oauth/token": {"tools.validators.on": False},
        "/staging/oauth/token": {"tools.validators.on": False},
        f"/{PREFIX}/info/v1/oauth/info": guarded(PRODUCTION, False),
        f"/staging/{PREFIX}/info/v1/oauth/info": guarded(STAGING, False),
        f"/{PREFIX}/funding/v3/fundings": guarded(PRODUCTION, True),
        f"/{PREFIX}/funding/v3/statistics": guarded(PRODUCTION, True),
    }
    cherrypy.config.update({"server.socket_host": "127.0.0.1", "server.socket_port": PORT, "server.thread_pool": 8, "environment": "production",
                            "log.screen": False, "engine.autoreload.on": False, "response.headers.server": "murau",
                            "server.max_request_body_size": 65536, "checker.on": False})
    cherrypy.tree.mount(root, "/", config)
    if variant("growing-list"):
        threading.Thread(target=grow, daemon=True).start()
    engine = cherrypy.engine
    engine.signal_handler.handlers["SIGTERM"] = lambda: os._exit(0) if engine.state == engine.states.STARTING else engine.exit()
    engine.signal_handler.subscribe()
    cherrypy.engine.start()
    print(NODE, "on", PORT, flush=True)
    cherrypy.engine.block(interval=0.05)


if __name__ == "__main__":
    main()
