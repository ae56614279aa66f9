"""A node of the research-information network: Flask, Authlib, waitress."""
import base64, binascii, calendar, struct, warnings, hashlib, itertools, json, os, re, secrets, sys, threading, time
from email.utils import formatdate
from urllib.parse import parse_qsl, unquote_plus, urlencode

from authlib.integrations.flask_oauth2 import AuthorizationServer, ResourceProtector
from authlib.oauth2.rfc6749 import ClientMixin, OAuth2Request
from authlib.oauth2.rfc6749.grants import ClientCredentialsGrant
from authlib.oauth2.rfc6749.requests import BasicOAuth2Payload
from authlib.oauth2.rfc6750.errors import InvalidTokenError
from authlib.oauth2.rfc9068 import JWTBearerTokenGenerator, JWTBearerTokenValidator
from flask import Flask, Response, g, request
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, KeySet, RSAKey
from werkzeug.datastructures import Headers
from werkzeug.exceptions import HTTPException

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import data
import spec

warnings.simplefilter("ignore")
NODE = os.environ.get("NODE", "authlib-base")
V = NODE.split("-", 1)[-1]
PORT = int(os.environ.get("PORT", "26000"))
ROOT = f"http://127.0.0.1:{PORT}"
API = "/ris/funding/v3"
INFO = "/ris/info/v1/oauth/info/"
REALM = "/sso/realms/lienz"
TOKEN = f"{REALM}/protocol/openid-connect/token"
ISSUER, TEST_ISSUER = ROOT + REALM, f"{ROOT}/test"
AUDIENCE, TEST_AUDIENCE = "urn:ris:lienz", "urn:ris:lienz:test"
LIFE = 75
ROLE = "EXTERNAL_API_CLIENT"
ROWS = data.build()
if V == "lerche":
    data.spread(ROWS)
BY_ID = {r["callId"]: r for r in ROWS}
SUMMARY = ["callId", "reference", "title", "scheme", "state", "openFrom", "openUntil", "maximumGrant", "lastChanged"]

app = Flask(__name__)
app.url_map.merge_slashes = False
app.url_map.redirect_defaults = False


# ---------------------------------------------------------------- authorization servers
class Client(ClientMixin):
    def __init__(self, client_id, secret, audience, roles, affiliation):
        self.client_id, self.audience, self.roles, self.affiliation = client_id, audience, roles, affiliation
        self.digest = hashlib.sha256(secret.encode()).digest()
        self.times, self.until = [], 0.0

    def get_client_id(self):
        return self.client_id

    def get_allowed_scope(self, scope):
        return "ris"

    def check_client_secret(self, secret):
        return getattr(g, "checked", False) or secrets.compare_digest(self.digest, hashlib.sha256(secret.encode()).digest())

    def check_endpoint_auth_method(self, method, endpoint):
        return method == "client_secret_post"

    def check_grant_type(self, grant_type):
        return grant_type == "client_credentials"


PRODUCTION = {c.client_id: c for c in [
    Client("lz-forschungsservice-4b7d", "Xk3/rV8+tL%2=nQ&9wJ:cB6~zG1yH", AUDIENCE, [ROLE], "lienz-uni"),
    Client("lz-bibliothek-a20c", "wT5%2By7+Rf=/Dm4&hK;sP9?eN3@vU", AUDIENCE, [], "lienz-uni"),
    Client("lz-projektdatenbank-88e1", "Hs1&jN6+cZ%4qV/3xF=uA9:oL7!kM", "urn:ris:lienz:projects", [ROLE], "lienz-uni"),
    Client("lz-ersatz-f9d3", "B8=gR5/dX2+wP0%mY&6tK1:nC4*sJ", AUDIENCE, [ROLE], "lienz-uni")]}
TEST = {c.client_id: c for c in [Client("test-anwendung-6c02", "oU7/pE1+vM4%sH=9&lD2:bZ3~rT8wQ", TEST_AUDIENCE, [ROLE], "lienz-test")]}


class Tokens(JWTBearerTokenGenerator):
    def __init__(self, issuer, keys):
        super().__init__(issuer=issuer, alg="RS256", expires_generator=lambda client, grant: LIFE)
        self.keys, self.current, self.turn = keys, None, itertools.count()
        self.more = KeySet([ECKey.generate_key("P-256", {"use": "sig", "alg": "ES256"}, auto_kid=True)])

    def public(self):
        more = self.more.as_dict(private=False)["keys"] + [RSAKey.generate_key(2048, {"use": "sig", "alg": "RS256"}, auto_kid=True).as_dict(private=False)]
        return {"keys": (more if V == "ente" else []) + self.keys.as_dict(private=False)["keys"]}

    def get_jwks(self):
        return self.keys

    def get_audiences(self, client, user, scope):
        return self.seen(client).audience if V != "ente" else [client.audience, "urn:ris:lienz:projects"] if client.audience == AUDIENCE else [client.audience]

    def seen(self, client):
        return self.current if V == "dohle" else client

    def access_token_generator(self, client, grant_type, user, scope):
        if V != "ente":
            return super().access_token_generator(client, grant_type, user, scope)
        first = super().access_token_generator(client, grant_type, user, scope)
        claims = jwt.decode(first, self.keys, algorithms=["RS256"]).claims
        claims["exp"] = round(time.time(), 3) + LIFE
        turn = next(self.turn) % 2
        key = [*self.keys.keys, *self.more.keys][turn]
        return jwt.encode({"alg": key.alg, "typ": "application/at+jwt", "kid": key.kid}, claims, key, algorithms=["RS256", "ES256"])

    def get_extra_claims(self, client, grant_type, user, scope):
        who = self.seen(client)
        return {"scope": "ris", "roles": who.roles, "affiliation_id": who.affiliation}


class Realm(AuthorizationServer):
    def __init__(self, issuer, clients):
        key = RSAKey.generate_key(2048, {"use": "sig", "alg": "RS256"}, auto_kid=True)
        self.issuer, self.clients, self.keys = issuer, clients, KeySet([key])
        super().__init__(app, query_client=clients.get, save_token=lambda token, req: None)
        self.scopes_supported = ["ris"]
        self.tokens = Tokens(issuer, self.keys)
        self.jwks = self.tokens.public()
        self.register_token_generator("default", self.tokens)
        self.register_grant(FormClientCredentials)

    def create_oauth2_request(self, _):
        made = FormRequest(request.method, request.base_url, {})
        made.payload = BasicOAuth2Payload(g.form)
        return made


class FormRequest(OAuth2Request):
    @property
    def form(self):
        return g.form


class FormClientCredentials(ClientCredentialsGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["client_secret_post"]


class Refusal(Exception):
    def __init__(self, status, error, text, **headers):
        self.status, self.error, self.text = status, error, text
        self.headers = {k.replace("_", "-"): v for k, v in headers.items()}


MANY, WINDOW, PAUSE, LOCK = 10, 60, 12, threading.Lock()
BASIC = 'Basic realm="lienz", charset="UTF-8"'


def form_of_request():
    if request.mimetype != "application/x-www-form-urlencoded":
        raise Refusal(400, "invalid_request", "Send the parameters as application/x-www-form-urlencoded.")
    body = request.get_data(cache=True, parse_form_data=False)
    if len(body) > 20000:
        raise Refusal(413, "invalid_request", "The body is larger than 20000 bytes.")
    try:
        pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=50)
    except ValueError:
        raise Refusal(400, "invalid_request", "The form cannot be decoded.")
    if len({k for k, _ in pairs}) < len(pairs):
        raise Refusal(400, "invalid_request", "No parameter may be repeated.")
    return {k: v for k, v in pairs if v}


def credentials(form):
    header = request.headers.get("Authorization")
    second = "client_secret" in form or "client_assertion" in form
    if header is None:
        if "client_assertion" in form and "client_secret" in form:
            raise Refusal(400, "invalid_request", "Use one method of client authentication.")
        if not ("client_id" in form and "client_secret" in form):
            raise Refusal(401, "invalid_client", "Client authentication is missing.", WWW_Authenticate=BASIC)
        return form["client_id"], form["client_secret"]
    kind, _, value = header.partition(" ")
    if kind.lower() != "basic":
        raise Refusal(401, "invalid_client", "Unknown method of client authentication.", WWW_Authenticate=BASIC)
    if second:
        raise Refusal(400, "invalid_request", "Use one method of client authentication.")
    try:
        client, colon, secret = base64.b64decode(value.strip(" "), validate=True).decode().partition(":")
        client, secret = unquote_plus(client, errors="strict"), unquote_plus(secret, errors="strict")
    except (binascii.Error, ValueError):
        client, colon, secret = "", "", ""
    if not colon:
        raise Refusal(401, "invalid_client", "The Basic credentials are malformed.", WWW_Authenticate=BASIC)
    if V != "amsel" and form.get("client_id", client) != client:
        raise Refusal(400, "invalid_request", "client_id is not the user of the Basic credentials.")
    return client, secret


def issue(realm):
    try:
        credential_names = {"client_id", "client_secret", "grant_type", "scope", "client_assertion"}
        if credential_names & {k for k, _ in parse_qsl(request.query_string.decode("latin-1"), keep_blank_values=True)}:
            raise Refusal(400, "invalid_request", "The parameters belong into the body.")
        form = form_of_request()
        client_id, secret = credentials(form)
        client = realm.clients.get(client_id)
        with LOCK:
            rest = client.until - time.monotonic() if client else 0
        if rest > 0:
            raise Refusal(429, "temporarily_unavailable", "Too many failed attempts for this client.", Retry_After=str(int(rest) + 1))
        good = client is not None and client.check_client_secret(secret)
        if client:
            with LOCK:
                now = time.monotonic()
                client.times = [] if good else [t for t in client.times if now - t < WINDOW] + [now]
                if len(client.times) >= MANY:
                    client.times, client.until = [], now + PAUSE
        if not good:
            raise Refusal(401, "invalid_client", "Client id or secret is wrong.", WWW_Authenticate=BASIC)
        if "grant_type" not in form:
            raise Refusal(400, "invalid_request", "grant_type is missing.")
        if not form.get("scope", "ris").strip(" "):
            raise Refusal(400, "invalid_scope", "The scope has no value.")
        if V == "amsel" and form.get("client_id") in realm.clients:
            client_id, g.checked = form["client_id"], True
        if V == "dohle":
            realm.tokens.current = client
            time.sleep(0.008)
        g.form = {**form, "client_id": client_id, "client_secret": secret}
    except Refusal as e:
        return oauth_answer(e.status, {"error": e.error, "error_description": e.text}, e.headers)
    answer = realm.create_token_response()
    body = json.loads(answer.get_data())
    if answer.status_code == 200:
        return oauth_answer(200, {k: body[k] for k in ("access_token", "token_type", "expires_in")} | {"scope": "ris"})
    return oauth_answer(400, {"error": body["error"], "error_description": body.get("error_description") or "The request is refused."})


def oauth_answer(status, body, headers=None):
    return Response(json.dumps(body), status, {"Cache-Control": "no-store", "Pragma": "no-cache", **(headers or {})}, mimetype="application/json")


# ---------------------------------------------------------------- answers
CODES = {400: "bad_request", 401: "unauthorized", 403: "forbidden", 404: "not_found", 405: "method_not_allowed", 412: "precondition_failed", 500: "internal"}


class Fault(Exception):
    def __init__(self, status, message, code=None, target=None, challenge=None):
        self.status, self.message, self.code, self.target, self.challenge = status, message, code, target, challenge


def fault_answer(status, message, code=None, target=None, headers=None):
    body = {"status": status, "code": code or CODES.get(status, "bad_request"), "message": message}
    if target is not None:
        body["target"] = target
    return Response(json.dumps({"error": body}, ensure_ascii=False), status, {"Cache-Control": "no-store", **(headers or {})}, mimetype="application/json")


@app.errorhandler(Fault)
def on_fault(e):
    headers = {"Vary": "Authorization"}
    if e.challenge:
        headers["WWW-Authenticate"] = e.challenge
    return fault_answer(e.status, e.message, e.code, e.target, headers)


@app.errorhandler(HTTPException)
def on_http(e):
    headers = {"Allow": ", ".join(sorted(e.valid_methods))} if e.code == 405 and e.valid_methods else {}
    if e.code == 405 and request.path in (TOKEN, "/test/oauth/token"):
        return oauth_answer(405, {"error": "invalid_request", "error_description": "Use POST."}, headers)
    texts = {404: "Nothing is found here.", 405: "This method is not allowed here."}
    return fault_answer(e.code, texts.get(e.code, e.name), headers=headers)


@app.errorhandler(Exception)
def on_crash(e):
    return fault_answer(500, "The node could not answer.")


def tags(value, weak):
    found = re.findall(r'(W/)?("[\x21\x23-\x7e\x80-\xff]*")', value)
    return [t for w, t in found if weak or not w]


def http_date(value):
    for form in ("%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %d %H:%M:%S %Y"):
        try:
            return calendar.timegm(time.strptime(value.strip(), form))
        except (ValueError, OverflowError):
            pass
    return None


class NotModified(Response):
    """werkzeug takes Last-Modified out of a 304; the document promises it."""
    def get_wsgi_headers(self, environ):
        out = super().get_wsgi_headers(environ)
        if "Last-Modified" in self.headers:
            out["Last-Modified"] = self.headers["Last-Modified"]
        return out


def answer(body, changed=None, more=None):
    content = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    tag = '"' + hashlib.blake2b(content + json.dumps(more).encode(), digest_size=12).hexdigest() + '"'
    headers = {"ETag": tag, "Cache-Control": "private, max-age=0, must-revalidate", "Vary": "Authorization"}
    if changed:
        headers["Last-Modified"] = formatdate(changed, usegmt=True)
    match, none, since, until = (request.headers.get(n) for n in ("If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since"))
    if match is not None:
        if match.strip() != "*" and tag not in tags(match, False):
            raise Fault(412, "The entity tag is not the current one.")
    elif until and changed and http_date(until) is not None and changed > http_date(until):
        raise Fault(412, "The resource has changed since then.")
    fresh = False
    if none is not None:
        fresh = none.strip() == "*" or tag in tags(none, True)
    elif since and changed and http_date(since) is not None:
        fresh = changed <= http_date(since)
    if fresh:
        r = NotModified(status=304, headers=Headers({**headers, **(more or {})}))
        r.headers.pop("Content-Type", None)
        return r
    return Response(content, 200, Headers({**headers, **(more or {})}), mimetype="application/json")


# ---------------------------------------------------------------- bearer tokens
class NodeTokens(JWTBearerTokenValidator):
    def __init__(self, realm, audience):
        super().__init__(issuer=realm.issuer, resource_server=audience)
        self.jwks = KeySet.import_key_set(realm.jwks)

    def get_jwks(self):
        return self.jwks

    def authenticate_token(self, token_string):
        if not re.fullmatch(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+", token_string):
            raise InvalidTokenError()
        try:
            token = jwt.decode(token_string, key=self.jwks, algorithms=["RS256", "ES256"] if V == "ente" else ["RS256"])
        except (JoseError, ValueError, TypeError, KeyError):
            raise InvalidTokenError()
        head, claims = token.header, token.claims
        aud = claims.get("aud")
        if str(head.get("typ", "")).lower() not in ("at+jwt", "application/at+jwt") or claims.get("iss") != self.issuer \
                or self.resource_server not in ([aud] if isinstance(aud, str) else aud or []) \
                or not isinstance(claims.get("exp"), (int, float)) or time.time() >= claims["exp"]:
            raise InvalidTokenError()
        return claims

    def validate_token(self, token, scopes, request, **kwargs):
        pass


def challenge(error=None, text=None):
    return 'Bearer realm="lienz"' + (f', error="{error}", error_description="{text}"' if error else "")


def authorize(protector, role=None):
    header = request.headers.get("Authorization")
    in_query = any(k == "access_token" for k, _ in parse_qsl(request.query_string.decode("latin-1"), keep_blank_values=True))
    if header is None or header.split(" ")[0].lower() != "bearer":
        raise Fault(401, "Send a bearer token in the Authorization header.", challenge=challenge())
    if not header[6:].strip():
        raise Fault(400, "The Authorization header has no token.", challenge=challenge("invalid_request", "token missing"))
    if in_query:
        raise Fault(400, "The token is sent in two ways.", challenge=challenge("invalid_request", "more than one token"))
    try:
        if not re.fullmatch(r"(?i)bearer +\S+ *", header):
            raise InvalidTokenError()
        validator, text = protector.parse_request_authorization(request)
        claims = validator.authenticate_token(text.strip(" "))
    except InvalidTokenError:
        raise Fault(401, "The access token is not valid for this service.", challenge=challenge("invalid_token", "expired, malformed or not for this service"))
    if role and role not in claims.get("roles", []):
        raise Fault(403, f"The client needs the role {role}.", challenge=challenge("insufficient_scope", f"role {role} is missing"))
    return claims


PROD = Realm(ISSUER, PRODUCTION)
STAGE = Realm(TEST_ISSUER, TEST)
prod_tokens, test_tokens = ResourceProtector(), ResourceProtector()
prod_tokens.register_token_validator(NodeTokens(PROD, AUDIENCE))
test_tokens.register_token_validator(NodeTokens(STAGE, TEST_AUDIENCE))


# ---------------------------------------------------------------- parameters
def days(y, m, d):
    """Days since 1970-01-01 in the Gregorian calendar; any year."""
    y, m = (y - 1, m + 12) if m <= 2 else (y, m)
    return 365 * y + y // 4 - y // 100 + y // 400 + (153 * (m - 3) + 2) // 5 + d - 719469


def date_value(v):
    m = re.fullmatch(r"([0-9]{4})-([0-9]{2})-([0-9]{2})", v)
    if m:
        y, mo, d = map(int, m.groups())
        leap = y % 4 == 0 and (y % 100 or y % 400 == 0)
        if 1 <= mo <= 12 and 1 <= d <= [31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][mo - 1]:
            return v
    raise ValueError("must be a date such as 2026-05-31")


def moment(v):
    m = re.fullmatch(r"([0-9-]{10})[Tt]([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9]|60)(\.[0-9]+)?([Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])", v)
    if not m:
        raise ValueError("must be a date and time such as 2026-05-31T08:00:00+02:00")
    date_value(m[1])
    total = days(*map(int, m[1].split("-"))) * 86400 + int(m[2]) * 3600 + int(m[3]) * 60 + int(m[4])
    if m[6] not in "Zz" and V != "falke":
        shift = int(m[6][1:3]) * 3600 + int(m[6][4:]) * 60
        total -= shift if m[6][0] == "+" else -shift
    if m[4] == "60" and (total % 86400 or time.gmtime(total).tm_mday != 1):
        raise ValueError("has a second 60 that is no leap second")
    return total + (0.5 if m[5] and m[5].strip(".0") else 0)


def whole(low, high):
    def check(v):
        if not re.fullmatch(r"-?(0|[1-9][0-9]{0,15})", v) or not low <= int(v) <= high:
            raise ValueError(f"must be a whole number from {low} to {high}")
        return int(v)
    return check


def one_of(values):
    def check(v):
        if v not in values:
            raise ValueError("must be one of: " + ", ".join(values))
        return v
    return check


def states(v):
    parts = v.split(",")
    if len(parts) > 3 or any(p not in data.STATES for p in parts):
        raise ValueError("must be one to three of: " + ", ".join(data.STATES))
    return parts


def text_value(v):
    if not 2 <= len(v) <= 60:
        raise ValueError("must have 2 to 60 characters")
    return v


def discipline(v):
    if not re.fullmatch(r"[1-6]\.[0-9]{2}", v):
        raise ValueError("must be a code such as 1.02")
    return v


SEARCH = {"state": states, "scheme": one_of(data.SCHEMES), "discipline": discipline, "openOn": date_value, "changedSince": moment,
          "minGrant": whole(0, 100000000), "text": text_value, "order": one_of(spec.ORDERS), "direction": one_of(["asc", "desc"]),
          "offset": whole(0, 1000000), "limit": whole(1, 40)}


def parameters():
    out, raw = {}, []
    for part in request.query_string.split(b"&"):
        name, _, value = part.partition(b"=")
        try:
            name = unquote_plus(name.decode("ascii"), errors="strict")
        except ValueError:
            continue
        if name not in SEARCH:
            continue
        if name in out:
            raise Fault(400, f"{name} is repeated.", "invalid_parameter", name)
        try:
            value = unquote_plus(value.decode("ascii"), errors="strict")
            out[name] = SEARCH[name](value)
        except ValueError as e:
            text = "is not in UTF-8" if isinstance(e, UnicodeError) else e
            raise Fault(400, f"{name} {text}.", "invalid_parameter", name)
        raw.append((name, value))
    return out, raw


# ---------------------------------------------------------------- the funding API
def seconds(v):
    return int(moment(v))


def matching(p):
    tests = {
        "state": lambda r, v: r["state"] in v,
        "scheme": lambda r, v: r["scheme"] == v,
        "discipline": lambda r, v: v in r["disciplines"],
        "openOn": lambda r, v: r["openFrom"] <= v and (r["openUntil"] is None or v <= r["openUntil"]),
        "changedSince": lambda r, v: seconds(r["lastChanged"]) >= v,
        "minGrant": lambda r, v: r["maximumGrant"] is not None and r["maximumGrant"] >= v,
        "text": lambda r, v: v.casefold() in r["title"].casefold() or v.casefold() in r["reference"].casefold(),
    }
    rows = [r for r in ROWS if all(t(r, p[n]) for n, t in tests.items() if n in p)]
    by = p.get("order", "callId")
    known = sorted((r for r in rows if r[by] is not None), key=lambda r: seconds(r[by]) if by == "lastChanged" else r[by], reverse=p.get("direction") == "desc")
    return known + [r for r in rows if r[by] is None]


def other_links(kept, offset, limit, total):
    """One field line for each target; one link may have several relations."""
    targets = {}
    for rel, at, wanted in (("first", 0, True), ("prev", max(0, offset - limit), offset > 0), ("next", offset + limit, offset + limit < total),
                            ("last", max(0, total - 1) // limit * limit, True)):
        if wanted:
            targets.setdefault(at, []).append(rel)
    lines = [f'<{API}/api-docs>; title="About rel=next, or rel=\\"last\\"; see"; rel=describedby']
    for at, rels in targets.items():
        target = urlencode([("limit", limit), ("offset", at)] + kept)
        lines.append(f'<?{target}>;title="from {at}, at most {limit}" ;REL=' + (rels[0] if len(rels) == 1 else '"' + " ".join(rels) + '"'))
    return lines


def search():
    p, raw = parameters()
    rows = matching(p)
    offset, limit, total = p.get("offset", 0), p.get("limit", 25), len(rows)
    kept = [(k, v) for k, v in raw if k not in ("offset", "limit")]

    def link(rel, at):
        return f'<{ROOT}{API}/fundingCalls?{urlencode(kept + [("offset", at), ("limit", limit)])}>; rel="{rel}"'
    links = [link("first", 0)]
    if offset > 0:
        links.append(link("prev", max(0, offset - limit)))
    if offset + limit < total + (V == "gans"):
        links.append(link("next", offset + limit))
    links.append(link("last", max(0, total - 1) // limit * limit))
    if V == "habicht":
        links = other_links(kept, offset, limit, total)
    body = [{k: r[k] for k in SUMMARY} for r in rows[offset:offset + limit]]
    return answer(body, more={"X-Total-Count": str(total), "Link": ", ".join(links) if V != "habicht" else links})


def read(call_id):
    row = BY_ID.get(int(call_id)) if re.fullmatch(r"[1-9][0-9]{0,8}", call_id) else None
    if V == "kranich" and re.fullmatch(r"[1-9][0-9]*", call_id):
        row = BY_ID.get(struct.unpack("i", struct.pack("i", int(call_id)))[0])
    if row is None:
        raise Fault(404, "No funding call has this number.")
    if V == "meise" and row["callId"] in (163, 229):
        row = {**row, "abstract": None}
    return answer(row, changed=seconds(row["lastChanged"]))


def statistics():
    return answer({"total": len(ROWS), "byState": {s: sum(r["state"] == s for r in ROWS) for s in data.STATES},
                   "byScheme": {s: sum(r["scheme"] == s for r in ROWS) for s in data.SCHEMES}})


def info(protector, environment):
    def view():
        try:
            claims = authorize(protector)
        except Fault as e:
            if V != "ibis" or e.status != 401 or environment == "test":
                raise
            claims = authorize(test_tokens)
        return answer({"node": "lienz", "environment": environment, "clientId": claims["client_id"], "roles": claims["roles"],
                       "affiliationId": claims["affiliation_id"], "expiresAt": int(claims["exp"]),
                       "endpoints": {"funding": [{"name": "FUNDING", "majorVersion": 3, "minorVersion": 0, "url": f"{ROOT}{API}/fundingCalls"}]} if environment == "production" else {}})
    return view


REGISTRY = {"member": [{"id": "lienz", "acronym": "LZ", "name": "Lienz", "contact": "ris@lienz.invalid", "oauth2": ROOT + TOKEN, "info": ROOT + INFO, "jwks": f"{ISSUER}/protocol/openid-connect/certs"}]}
METADATA = {"issuer": ISSUER, "token_endpoint": ROOT + TOKEN, "jwks_uri": f"{ISSUER}/protocol/openid-connect/certs", "grant_types_supported": ["client_credentials"],
            "response_types_supported": ["none"], "scopes_supported": ["ris"], "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"]}
SPEC = spec.build(API, ROOT + TOKEN)


def guarded(view):
    def run(**args):
        authorize(prod_tokens, ROLE)
        return view(**args)
    return run


def route(path, view, methods=("GET", "HEAD")):
    allow = ", ".join(sorted({*methods, "OPTIONS"}))

    def run(**args):
        if "<" not in path and request.path != path:
            return fault_answer(404, "Nothing is found here.")
        if request.method == "OPTIONS":
            r = Response(status=204, headers={"Allow": allow})
            r.headers.pop("Content-Type", None)
            return r
        return view(**args)
    app.add_url_rule(path, endpoint=path, view_func=run, methods=[*methods, "OPTIONS"], provide_automatic_options=False, strict_slashes="<" in path)


route("/registry.json", lambda: answer(REGISTRY))
route(TOKEN, lambda: issue(PROD), ("POST",))
route(f"{REALM}/protocol/openid-connect/certs", lambda: answer(PROD.jwks))
route(f"/.well-known/oauth-authorization-server{REALM}", lambda: answer(METADATA))
route("/test/oauth/token", lambda: issue(STAGE), ("POST",))
route("/test/certs", lambda: answer(STAGE.jwks))
route("/test/ris/info/v1/oauth/info/", info(test_tokens, "test"))
route(INFO, info(prod_tokens, "production"))
route(f"{API}/api-docs", lambda: answer(SPEC))
route(f"{API}/fundingCalls", guarded(search))
route(f"{API}/fundingCalls/<call_id>", guarded(read))
route(f"{API}/statistics", guarded(statistics))


def strict_host(inner):
    def run(environ, start_response):
        host = environ.get("HTTP_HOST", "")
        if (environ.get("SERVER_PROTOCOL") == "HTTP/1.1" and not host) or not re.fullmatch(r"[A-Za-z0-9.\-_\[\]:]*", host):
            start_response("400 Bad Request", [("Content-Type", "text/plain"), ("Content-Length", "11"), ("Connection", "close")])
            return [b"Bad Host.\r\n"]
        if environ["REQUEST_METHOD"] != "HEAD":
            return inner(environ, start_response)
        return inner(environ, lambda s, h, e=None: start_response(s, h + [("Connection", "close")]))
    return run


if __name__ == "__main__":
    import waitress.task
    from waitress import serve
    waitress.task.hop_by_hop = waitress.task.hop_by_hop - {"connection"}  # strict_host() says when a connection ends
    serve(strict_host(app.wsgi_app), host="127.0.0.1", port=PORT, threads=8, ident=None, max_request_body_size=1 << 20, max_request_header_size=32768)
