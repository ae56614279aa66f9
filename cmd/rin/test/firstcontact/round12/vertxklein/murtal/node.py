"""The node "murtal": registry, authorization servers, info and the funding API, on one port."""
import base64
import hashlib
import hmac
import json
import os
import re
import sys
from decimal import Decimal
from urllib.parse import quote

from klein import Klein
from klein._resource import KleinResource
from twisted.internet import reactor
from twisted.internet.endpoints import TCP4ServerEndpoint
from twisted.web.http import HTTPChannel
from twisted.web.server import Request, Site
from werkzeug.exceptions import HTTPException

import document
import records
from grants import Server
from wire import NODE, BadEncoding, Fault, accepts, dump, fault, header, lines, represent, send, unquote

PORT = int(os.environ.get("PORT", "20200"))
ORIGIN = "http://127.0.0.1:%d" % PORT
API, REALM = "/murtal/funding/v3", "/idp/realms/murtal"
ROLE = "EXTERNAL_API_CLIENT"
PRIVATE, PUBLIC, VARY = "private, no-cache", "public, max-age=120", "Accept, Accept-Encoding, Authorization"


def account(secret, audience, roles, affiliation, name):
    return {"secret": secret, "audience": audience, "roles": roles, "affiliation": affiliation, "account": name}


PRODUCTION = Server("murtal", "murtal-funding", {
    "murtal:uni/graz": account("Tz%41+k9&Lp=3/vR~h!2wQ:m7X", "murtal-funding", [ROLE], "aff-31", "service-account-31"),
    "murtal:gast": account("e5=Uy+%2Fd8&Nb/j1:Wc~6sZ?P", "murtal-funding", [], "aff-32", "service-account-32"),
    "murtal:depot": account("R7/m+xK4&qJ=%20f9:tV~3bL!H", "murtal-depot", [ROLE], "aff-31", "service-account-33"),
    "murtal:reserve": account("a8&Gp=+%s6/Yk:2nD~5vC?zM!E", "murtal-funding", [ROLE], "aff-31", "service-account-34")})
STAGING = Server("murtal-staging", "murtal-staging", {"staging:probe": account("u4+Fw/%7E9&hB=c:X1~rS!6jT", "murtal-staging", [ROLE], "aff-test", "service-account-test")})
RECORDS = records.build()
if NODE == "klein-tanne":
    for n in (11, 37, 58):
        RECORDS[n][1]["twoStage"] = None
BY_ID = {e["id"]: (e, f) for e, f in RECORDS}
DOCUMENT = document.build(ORIGIN + REALM + "/protocol/openid-connect/token", RECORDS[0][0]["id"])
KEY = b"murtal cursor key 1"
app = Klein()
app.url_map.strict_slashes = True
app.url_map.merge_slashes = False
app.url_map.redirect_defaults = False


# parameters -----------------------------------------------------------------------------------------------------

def bad(name, why):
    return Fault(400, "invalid_parameter", "%s: %s" % (name, why), [name])


def parameters(request, known):
    out = {}
    for part in request.uri.partition(b"?")[2].split(b"&"):
        raw, _, value = part.partition(b"=")
        try:
            k = unquote(raw)
        except BadEncoding:
            continue
        if k in known:
            if k in out:
                raise bad(k, "occurs twice")
            try:
                out[k] = unquote(value)
            except BadEncoding:
                raise bad(k, "it is not well encoded")
    return out


def integer(p, name, low, high, default):
    if name not in p:
        return default
    if not re.fullmatch(r"-?[0-9]{1,15}", p[name]) or not low <= int(p[name]) <= high:
        raise bad(name, "an integer from %d to %d is needed" % (low, high))
    return int(p[name])


def amount(p, name):
    if name not in p:
        return None
    if not re.fullmatch(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?", p[name]) or not 0 <= Decimal(p[name]) <= 1000000000:
        raise bad(name, "a number from 0 to 1000000000 is needed")
    return Decimal(p[name])


def choice(p, name, values, default=None):
    if name not in p:
        return default
    if p[name] not in values:
        raise bad(name, "one of %s is needed" % ", ".join(values))
    return p[name]


def words(p, name, low, high):
    if name in p and not low <= len(p[name]) <= high:
        raise bad(name, "%d to %d characters are needed" % (low, high))
    return p.get(name)


# lists ----------------------------------------------------------------------------------------------------------

def contains(text, part):
    if NODE == "klein-pappel":
        return re.search("".join({"%": ".*", "_": "."}.get(c, re.escape(c)) for c in part.casefold()), text.casefold()) is not None
    return part.casefold() in text.casefold()


def matching(f):
    for e, _ in RECORDS:
        if f.get("types") and e["type"] not in f["types"]:
            continue
        if f.get("group") and f["group"] not in e["targetGroups"]:
            continue
        if f.get("programme") is not None and e["programmeId"] != f["programme"]:
            continue
        if f.get("day") is not None:
            if records.day(e["opensAt"][:10]) > f["day"] or (e["closesAt"] and records.day(e["closesAt"][:10]) < f["day"]):
                continue
        if f.get("since") is not None and records.moment(e["changedAt"]) < f["since"]:
            continue
        value = Decimal(str(e["amount"]))
        if f.get("min") is not None and value < f["min"] or f.get("max") is not None and value > f["max"]:
            continue
        if f.get("search") is not None and not any(contains(t, f["search"]) for t in (e["name"]["de"], e["name"]["en"], e.get("acronym", ""))):
            continue
        yield e


def ordered(entries, by, direction):
    entries = sorted(entries, key=lambda e: e["id"])
    first = [e for e in entries if e[by] is not None]
    last = [e for e in entries if e[by] is None]
    first.sort(key=lambda e: e[by], reverse=direction == "desc")
    return first + last


def seal(mark, fid):
    raw = (mark + ":" + fid).encode()
    return base64.urlsafe_b64encode(hmac.digest(KEY, raw, "sha256")[:9] + raw).decode().rstrip("=")


def unseal(cursor):
    try:
        raw = base64.urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4))
        mark, _, fid = raw[9:].decode().partition(":")
        if seal(mark, fid) == cursor:
            return mark, fid
    except ValueError:
        pass
    raise bad("cursor", "it does not come from this API")


def page(f, by, direction, limit, cursor, where):
    mark = hashlib.sha256(repr((where, sorted((k, str(v.normalize() if isinstance(v, Decimal) else v)) for k, v in f.items() if v is not None), by, direction)).encode()).hexdigest()[:10]
    entries = ordered(matching(f), by, direction)
    start = 0
    if cursor is not None:
        m, fid = unseal(cursor)
        if m != mark:
            raise bad("cursor", "it belongs to other filters or another order")
        start = next((i + 1 for i, e in enumerate(entries) if e["id"] == fid), 0)
    rows = entries[start:start + limit]
    more = start + limit < len(entries)
    if NODE == "klein-linde" and start and entries[start - 1][by] is None:
        rows, more = [], False
    if NODE == "klein-birke":
        every = ordered((e for e, _ in RECORDS), by, direction)
        start = 0 if cursor is None else [e["id"] for e in every].index(unseal(cursor)[1]) + 1
        window, wanted = every[start:start + limit], {e["id"] for e in entries}
        rows, more = [e for e in window if e["id"] in wanted], start + limit < len(every)
        return {"data": rows, "meta": {"total": len(entries), "limit": limit, "nextCursor": seal(mark, window[-1]["id"]) if more else None}}
    return {"data": rows, "meta": {"total": len(entries), "limit": limit, "nextCursor": seal(mark, rows[-1]["id"]) if more else None}}


NAMES = ["limit", "cursor", "type", "targetGroup", "programmeId", "runningOn", "changedSince", "minAmount", "maxAmount", "search", "orderBy", "direction"]


def find(request, _):
    p = parameters(request, NAMES)
    limit, cursor = integer(p, "limit", 1, 100, 25), words(p, "cursor", 1, 200)
    f = {"group": choice(p, "targetGroup", records.GROUPS), "programme": words(p, "programmeId", 1, 60), "min": amount(p, "minAmount"), "max": amount(p, "maxAmount"), "search": words(p, "search", 2, 80)}
    if "type" in p:
        f["types"] = sorted(set(p["type"].split(",")))
        if not all(t in records.TYPES for t in f["types"]):
            raise bad("type", "only %s, with commas between them" % ", ".join(records.TYPES))
    if "runningOn" in p:
        f["day"] = records.day(p["runningOn"])
        if f["day"] is None:
            raise bad("runningOn", "a date (RFC 3339) is needed")
    if "changedSince" in p:
        f["since"] = records.moment(p["changedSince"])
        if f["since"] is None:
            raise bad("changedSince", "a date-time (RFC 3339) is needed")
    by, direction = choice(p, "orderBy", ["changedAt", "closesAt", "amount", "id"], "changedAt"), choice(p, "direction", ["asc", "desc"], "desc")
    return represent(request, page(f, by, direction, limit, cursor, "list"), PRIVATE, VARY)


def unique(items):
    out = {}
    for k, v in items:
        if k in out:
            raise ValueError("a member occurs twice")
        out[k] = v
    return out


def constant(_):
    raise ValueError("not a number of JSON")


def search(request, _):
    ctype = (header(request, "Content-Type") or "").split(";")[0].strip().lower()
    if ctype != "application/json":
        raise Fault(415, "unsupported_media_type", "The body must be application/json")
    request.content.seek(0)
    raw = request.content.read(65537)
    if len(raw) > 65536:
        raise Fault(413, "too_large", "The body is larger than 64 KiB")
    try:
        b = json.loads(raw.decode("utf-8"), object_pairs_hook=unique, parse_constant=constant, parse_float=Decimal)
    except (ValueError, ArithmeticError, RecursionError):
        raise Fault(400, "invalid_body", "The body is not JSON")
    if not isinstance(b, dict):
        raise Fault(400, "invalid_body", "The body must be an object")
    for k in b:
        if k not in ("types", "search", "minAmount", "maxAmount", "limit", "cursor"):
            raise Fault(400, "invalid_parameter", "The member is not described", [k[:60].encode("utf-8", "replace").decode()])

    def number(v):
        return isinstance(v, (int, Decimal)) and not isinstance(v, bool)

    types = b.get("types")
    if "types" in b and not (isinstance(types, list) and 1 <= len(types) <= 5 and all(isinstance(t, str) and t in records.TYPES for t in types)):
        raise bad("types", "an array of 1 to 5 types is needed")
    if "search" in b and not (isinstance(b["search"], str) and 2 <= len(b["search"]) <= 80):
        raise bad("search", "2 to 80 characters are needed")
    for n in ("minAmount", "maxAmount"):
        if n in b and not (number(b[n]) and 0 <= b[n] <= 1000000000):
            raise bad(n, "a number from 0 to 1000000000 is needed")
    limit = b.get("limit", 25)
    if not number(limit) or not 1 <= limit <= 100 or limit != int(limit):
        raise bad("limit", "an integer from 1 to 100 is needed")
    if "cursor" in b and not isinstance(b["cursor"], str):
        raise bad("cursor", "a string is needed")
    f = {"types": sorted(set(types)) if types else None, "search": b.get("search"), "min": Decimal(b["minAmount"]) if "minAmount" in b else None, "max": Decimal(b["maxAmount"]) if "maxAmount" in b else None}
    body = dump(page(f, "changedAt", "desc", int(limit), b.get("cursor"), "search"))
    return send(request, 200, body, [("Content-Type", "application/json"), ("Cache-Control", "no-store"), ("Vary", VARY)])


def one(request, fid):
    if fid not in BY_ID:
        raise Fault(404, "not_found", "There is no funding with this id")
    full = BY_ID[fid][1]
    return represent(request, full, PRIVATE, VARY, int(records.moment(full["changedAt"])))


def programme(p):
    return {"id": p[0], "name": {"de": p[1], "en": p[2]}, "fundingCount": sum(e["programmeId"] == p[0] for e, _ in RECORDS)}


def programmes(request, _):
    return represent(request, [programme(p) for p in sorted(records.PROGRAMMES)], PRIVATE, VARY)


def one_programme(request, pid):
    for p in records.PROGRAMMES:
        if p[0] == pid:
            return represent(request, programme(p), PRIVATE, VARY)
    raise Fault(404, "not_found", "There is no programme with this id")


# routes ---------------------------------------------------------------------------------------------------------

def route(path, reply, methods=("GET", "HEAD"), server=None, scope=None, role=None):
    def handler(request, **kw):
        try:
            method = request.method.decode("latin-1")
            allow = ", ".join([*methods, "OPTIONS"])
            if method == "OPTIONS":
                return send(request, 204, None, [("Allow", allow)])
            if method not in methods:
                raise Fault(405, "method_not_allowed", "This resource has other methods", headers=[("Allow", allow)])
            if server is not None:
                request.setHeader("Vary", VARY)
                kw["token"] = server.bearer(request, scope, role, STAGING if NODE == "klein-eibe" and path.startswith(API + "/programmes") else None)
                if not accepts(header(request, "Accept")):
                    raise Fault(406, "not_acceptable", "Only application/json is available")
            return reply(request, kw.get("id"), *([kw["token"]] if reply is info else []))
        except Fault as f:
            return fault(request, f)
    handler.__name__ = re.sub(r"\W", "_", path)
    app.route(path, endpoint=path)(handler)


def info(request, _, token):
    server = STAGING if request.path.startswith(b"/staging/") else PRODUCTION
    return represent(request, {"realm": server.realm, "client": token["client"], "serviceAccount": token["account"], "affiliation": token["affiliation"], "roles": token["roles"], "scope": token["scope"],
                               "issuedAt": records.stamp(token["iat"]), "endpoints": {"funding": [{"name": "FUNDINGS", "majorVersion": 3, "minorVersion": 0, "url": ORIGIN + API + "/fundings"}]}}, PRIVATE, VARY)


def constant_document(value):
    return lambda request, _: represent(request, value, PUBLIC, "Accept-Encoding")


METADATA = {"issuer": ORIGIN + REALM, "token_endpoint": ORIGIN + REALM + "/protocol/openid-connect/token", "revocation_endpoint": ORIGIN + REALM + "/protocol/openid-connect/revoke", "response_types_supported": ["none"],
            "grant_types_supported": ["client_credentials"], "scopes_supported": ["funding:read", "info:read"], "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
            "revocation_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"]}
route("/registry", constant_document({"member": [{"id": "murtal", "acronym": "MURTAL", "name": "Forschungsverbund Murtal", "contact": "ris@murtal.invalid", "oauth2": METADATA["token_endpoint"], "info": ORIGIN + "/murtal/info/v1/oauth/info/"}]}))
route("/.well-known/oauth-authorization-server" + REALM, constant_document(METADATA))
route(API + "/api-docs", constant_document(DOCUMENT))
route(API + "/fundings", find, server=PRODUCTION, scope="funding:read", role=ROLE)
route(API + "/fundings/search", search, ("POST",), server=PRODUCTION, scope="funding:read", role=ROLE)
route(API + "/fundings/<id>", one, server=PRODUCTION, scope="funding:read", role=ROLE)
route(API + "/programmes", programmes, server=PRODUCTION, scope="funding:read", role=ROLE)
route(API + "/programmes/<id>", one_programme, server=PRODUCTION, scope="funding:read", role=ROLE)
route("/murtal/info/v1/oauth/info/", info, server=PRODUCTION, scope="info:read")
route("/staging/murtal/info/v1/oauth/info/", info, server=STAGING, scope="info:read")


@app.route(REALM + "/protocol/openid-connect/token")
def token(request):
    return PRODUCTION.token(request)


@app.route(REALM + "/protocol/openid-connect/revoke")
def revoke(request):
    return PRODUCTION.revoke(request)


@app.route("/idp-staging/oauth/token")
def staging_token(request):
    return STAGING.token(request)


@app.handle_errors(HTTPException)
def no_route(request, failure):
    return fault(request, Fault(404, "not_found", "There is nothing at this address"))


@app.handle_errors(Exception)
def broken(request, failure):
    failure.printTraceback(sys.stderr)
    return fault(request, Fault(500, "internal_error", "The request could not be answered"))


class Front(KleinResource):
    def render(self, request):
        if request.clientproto == b"HTTP/1.1" and len(lines(request, "Host")) != 1:
            return fault(request, Fault(400, "bad_request", "One Host header is needed"))
        try:
            unquote(request.path, plus=False)
        except BadEncoding:
            return fault(request, Fault(400, "bad_address", "The path is not well encoded"))
        return super().render(request)


class Lines(Request):
    def process(self):
        absolute = re.match(rb"(?i)https?://[^/?]*(.*)", self.uri, re.DOTALL)
        if absolute:
            self.uri = absolute[1] if absolute[1].startswith(b"/") else b"/" + absolute[1]
            self.path = self.uri.partition(b"?")[0]
        super().process()


HTTPChannel.MAX_LENGTH, HTTPChannel.totalHeadersSize = 1 << 16, 1 << 17

if __name__ == "__main__":
    TCP4ServerEndpoint(reactor, PORT, interface="127.0.0.1").listen(Site(Front(app), requestFactory=Lines))
    print("listening on", PORT, flush=True)
    reactor.run()
