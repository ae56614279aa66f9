"""An authorization server with opaque tokens: token endpoint, revocation, check of bearer tokens."""
import base64
import binascii
import hmac
import re
import secrets

from wire import NODE, BadEncoding, Fault, dump, header, lines, now, pairs, send, unquote

LIFE, TRIES, LOCK, LIMIT = 60, 12, 15, 16384
SCOPES = ("funding:read", "info:read")
NO_STORE = [("Content-Type", "application/json"), ("Cache-Control", "no-store"), ("Pragma", "no-cache")]


class Refused(Exception):
    def __init__(self, status, error, text):
        self.status, self.error, self.text = status, error, text


class Server:
    def __init__(self, realm, audience, clients):
        self.realm, self.audience, self.clients = realm, audience, clients
        self.tokens, self.fails = {}, {}

    # token endpoint -----------------------------------------------------------------------------------------

    def form(self, request):
        if request.method != b"POST":
            raise Refused(405, "invalid_request", "Only POST is possible here")
        ctype = header(request, "Content-Type") or ""
        if ctype.split(";")[0].strip().lower() != "application/x-www-form-urlencoded":
            raise Refused(400, "invalid_request", "The content type must be application/x-www-form-urlencoded")
        request.content.seek(0)
        raw = request.content.read(LIMIT + 1)
        if len(raw) > LIMIT:
            raise Refused(413, "invalid_request", "The body is larger than 16 KiB")
        out = {}
        try:
            for k, v in pairs(raw):
                if k in out:
                    raise Refused(400, "invalid_request", "A parameter occurs twice")
                if v != "":
                    out[k] = v
            if NODE == "klein-kiefer":
                for k, v in pairs(request.uri.partition(b"?")[2]):
                    if v != "":
                        out.setdefault(k, v)
        except BadEncoding:
            raise Refused(400, "invalid_request", "The body is not well encoded")
        return out

    def client(self, request, form):
        given = lines(request, "Authorization")
        cid, secret = form.get("client_id"), form.get("client_secret")
        if len(given) > 1:
            raise Refused(400, "invalid_request", "Two Authorization headers")
        if given:
            if secret is not None:
                raise Refused(400, "invalid_request", "Use one way to authenticate the client, not two")
            scheme, _, value = given[0].strip().partition(" ")
            if scheme.lower() != "basic":
                raise Refused(401, "invalid_client", "Only Basic is possible in the Authorization header")
            try:
                user, colon, password = base64.b64decode(value.strip(), validate=True).partition(b":")
                if not colon:
                    raise ValueError()
                user, secret = unquote(user), unquote(password)
            except (ValueError, binascii.Error):
                raise Refused(401, "invalid_client", "The Basic credentials cannot be read")
            if cid is not None and cid != user:
                raise Refused(400, "invalid_request", "client_id and Authorization name different clients")
            cid = user
        if not cid or not secret:
            raise Refused(401, "invalid_client", "Client authentication is missing")
        known = self.clients.get(cid)
        if known is None:
            raise Refused(401, "invalid_client", "Unknown client or wrong secret")
        count, until = self.fails.get(cid, (0, 0))
        if until > now():
            raise Refused(429, "invalid_client", "Too many wrong secrets for this client")
        if not hmac.compare_digest(known["secret"].encode(), secret.encode()):
            count += 1
            self.fails[cid] = (0, now() + LOCK) if count >= TRIES else (count, 0)
            raise Refused(401, "invalid_client", "Unknown client or wrong secret")
        self.fails.pop(cid, None)
        return cid, known

    def refuse(self, request, e):
        heads = list(NO_STORE)
        if e.status == 401:
            heads.append(("WWW-Authenticate", 'Basic realm="%s"' % self.realm))
        if e.status == 405:
            heads.append(("Allow", "POST"))
        if e.status == 429:
            heads.append(("Retry-After", str(LOCK)))
        return send(request, e.status, dump({"error": e.error, "error_description": e.text}), heads)

    def token(self, request):
        try:
            form = self.form(request)
            cid, client = self.client(request, form)
            grant = form.get("grant_type")
            if grant is None:
                raise Refused(400, "invalid_request", "grant_type is missing")
            if grant != "client_credentials":
                raise Refused(400, "unsupported_grant_type", "This server knows client_credentials only")
            scopes = form["scope"].split(" ") if "scope" in form else list(SCOPES)
            if any(s not in SCOPES for s in scopes):
                raise Refused(400, "invalid_scope", "Known scopes: " + " ".join(SCOPES))
        except Refused as e:
            return self.refuse(request, e)
        value = "mt." + secrets.token_urlsafe(33)
        t = int(now())
        for old in [k for k, v in self.tokens.items() if v["exp"] <= t]:
            del self.tokens[old]
        scope = " ".join(s for s in SCOPES if s in scopes)
        self.tokens[value] = {"client": cid, "aud": client["audience"], "roles": client["roles"], "affiliation": client["affiliation"], "account": client["account"], "scope": scope, "iat": t, "exp": now() + LIFE}
        answer = {"access_token": value, "token_type": "Bearer", "expires_in": LIFE, "scope": scope}
        if NODE == "klein-fichte":
            answer = {"access_token": value, "refresh_expires_in": 0, "token_type": "bearer", "not-before-policy": 0, "scope": scope}
        return send(request, 200, dump(answer), NO_STORE)

    def revoke(self, request):
        try:
            form = self.form(request)
            cid, _ = self.client(request, form)
            if "token" not in form:
                raise Refused(400, "invalid_request", "The parameter token is missing")
            held = self.tokens.get(form["token"])
            if held is not None and held["client"] != cid:
                raise Refused(400, "unauthorized_client", "The token was issued to another client")
        except Refused as e:
            return self.refuse(request, e)
        if NODE != "klein-erle" or form.get("token_type_hint", "access_token") == "access_token":
            self.tokens.pop(form["token"], None)
        return send(request, 200, b"", [("Cache-Control", "no-store"), ("Pragma", "no-cache")])

    # resource server ----------------------------------------------------------------------------------------

    def bearer(self, request, scope, role=None, beside=None):
        given = lines(request, "Authorization")
        if not given:
            raise self.challenge(401, None, "An access token is needed")
        if len(given) > 1:
            raise self.challenge(400, "invalid_request", "Two Authorization headers")
        scheme, _, value = given[0].strip().partition(" ")
        if scheme.lower() != "bearer":
            raise self.challenge(401, None, "An access token is needed")
        value = value.strip()
        if not re.fullmatch(r"[A-Za-z0-9._~+/-]+=*", value):
            raise self.challenge(400, "invalid_request", "The Authorization header is malformed")
        t = self.tokens.get(value)
        other = beside.tokens.get(value) if beside and t is None else None
        if other is not None and other["exp"] > now():
            return other
        if t is None or t["exp"] <= now():
            raise self.challenge(401, "invalid_token", "The access token is unknown, revoked or has expired")
        if t["aud"] != self.audience:
            raise self.challenge(401, "invalid_token", "The access token is for another audience")
        if scope not in t["scope"].split(" "):
            raise self.challenge(403, "insufficient_scope", "The access token has not the scope", scope)
        if role and role not in t["roles"]:
            raise self.challenge(403, "insufficient_scope", "The client has not the role " + role, scope)
        return t

    def challenge(self, status, error, text, scope=None):
        value = 'Bearer realm="%s"' % self.realm
        if error:
            value += ', error="%s", error_description="%s"' % (error, text)
        if scope:
            value += ', scope="%s"' % scope
        code = {400: "bad_authorization", 401: "unauthorized", 403: "forbidden"}[status]
        return Fault(status, code, text, headers=[("WWW-Authenticate", value)])
