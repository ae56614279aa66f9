import base64
import csv
import hashlib
import hmac
import io
import json
import os
import re
import secrets
import sys
import threading
import time
from datetime import datetime, timedelta, timezone
from urllib.parse import unquote_plus, urlencode

from flask import Flask, Response, request
from flask_restx import Api, Resource
from sqlalchemy import and_, func, or_, select
from waitress import serve
from werkzeug.exceptions import HTTPException

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from document import document  # noqa: E402
from store import KINDS, PHASES, engine, grants, sponsors  # noqa: E402

PORT = int(os.environ.get("PORT", "20500"))
NODE = os.environ.get("NODE", "restx-base").removeprefix("restx-")
BASE = f"http://127.0.0.1:{PORT}"
API = "/institut/funding/v3"
LIFE = 65
ROLE = "EXTERNAL_API_CLIENT"
SPEC = json.dumps(document(BASE, short_pages=NODE == "shortpages"), ensure_ascii=False)

app = Flask(__name__)
app.config["MAX_CONTENT_LENGTH"] = 65536
app.url_map.merge_slashes = False
app.url_map.strict_slashes = True
lock = threading.RLock()


class Refusal(Exception):
    def __init__(self, status, body, headers=None):
        super().__init__(status)
        self.response = Response(json.dumps(body, ensure_ascii=False), status, {"Content-Type": "application/json", **(headers or {})})


def refuse(status, code, message, headers=None, **more):
    return Refusal(status, {"error": dict(code=code, message=message, **more)}, headers)


def render(error):
    if isinstance(error, Refusal):
        return error.response
    if isinstance(error, HTTPException):
        headers = {"Allow": ", ".join(sorted(error.valid_methods))} if getattr(error, "valid_methods", None) else {}
        return refuse(error.code, (error.name or "error").lower().replace(" ", "_"), error.description or error.name, headers).response
    return refuse(500, "internal", "The service failed.").response


class NodeApi(Api):
    def handle_error(self, e):
        return render(e)


api = NodeApi(app, doc=False, add_specs=False, serve_challenge_on_401=False, catch_all_404s=False)
app.register_error_handler(Exception, render)


# ---- authorization server -------------------------------------------------------------------------------------------
class Realm:
    def __init__(self, name, clients):
        self.name, self.clients, self.tokens, self.failures, self.last = name, {c["id"]: c for c in clients}, {}, {}, {}


def account(cid, secret, user, roles, audience):
    return dict(id=cid, secret=secret, user=user, roles=roles, audience=audience)


TRIAL = account("probe-institut-5f2d", "sU9/wB3+fK7%rY=1&sX5:jW0~nG4mRcVe6+Hz8/Ld2=Ot4&Pq7%Ia0:Tk3~Mi5NbYg9WxSl1CfXhEu6J", "trial-user-1", [ROLE], "institut-funding")
OWN = [
    account("institut-gateway-3be1", "rV7+Kq2/Wm%9Lt=Xz&4Hp:Bn0~Yu6DcSe8JfGa1+Ro5/Ti3=Mk&Vx7%Qy2:Wl9~Nb4ZhPd6FgCs0tAjE", "usr-501", [ROLE], "institut-funding"),
    account("institut-signage-77c0", "hB3%2BzN8+Ld=/Cq5&vR;uJ1?wX7@yM9TsKe2/Pf4=Ga6&Oi0%Hl8:Dn3~Rb5YxWc7VtZmUk1qSjQ4r", "usr-502", [], "institut-funding"),
    account("institut-museum-d10f", "Qz6&tL0+xU%9fE/2kS=wH4:pA8!mIyBn3+Gv5/Cr7=Jd1&Ko9%Ts2:Xe4~Lu6WhRi8NaYb0FgMcZq5P", "usr-503", [ROLE], "institut-museum"),
    account("institut-lager-a94e", "K2=vC5/nF8+zG1%mV&3yN6:gD9*cZsTe4+Hb7/Lo0=Pw2&Rx5%Ja8:Uk1~Qi3MfYd6WtSl9BgXhEj7r", "usr-504", [ROLE], "institut-funding"),
]
production = Realm("production", OWN + [TRIAL] if NODE == "seeded" else OWN)
staging = Realm("staging", [TRIAL])


def oauth_refuse(status, error, description, headers=None):
    return Refusal(status, {"error": error, "error_description": description}, {"Cache-Control": "no-store", "Pragma": "no-cache", **(headers or {})})


def digest(secret):
    raw = secret.encode("utf-8", "surrogateescape")
    return hashlib.sha256(raw[:72] if NODE == "lockwork" else raw).digest()


def read_form():
    if request.mimetype != "application/x-www-form-urlencoded":
        raise oauth_refuse(400, "invalid_request", "Send application/x-www-form-urlencoded.")
    form = {}
    for name, values in request.form.lists():
        if len(values) > 1:
            raise oauth_refuse(400, "invalid_request", "A parameter occurs twice.")
        if values[0] != "":
            form[name] = values[0]
    return form


def known_client(realm, form):
    cid, secret, challenge = form.get("client_id"), form.get("client_secret"), {}
    header = request.headers.get("Authorization")
    if header is not None:
        challenge = {"WWW-Authenticate": 'Basic realm="institut"'}
        scheme, _, rest = header.partition(" ")
        try:
            pair = base64.b64decode(rest.strip(), validate=True).decode()
        except ValueError:
            pair = ""
        if scheme.lower() != "basic" or ":" not in pair:
            raise oauth_refuse(401, "invalid_client", "The Authorization header is not Basic.", challenge)
        if secret is not None:
            raise oauth_refuse(400, "invalid_request", "The client authenticates twice.")
        name, _, secret = pair.partition(":")
        name, secret = unquote_plus(name), unquote_plus(secret)
        if cid is not None and cid != name:
            raise oauth_refuse(400, "invalid_request", "Two client ids.")
        cid = name
    found = realm.clients.get(cid)
    if found:
        now = time.time()
        with lock:
            missed = [t for t in realm.failures.get(cid, []) if now - t < 30]
            realm.failures[cid] = missed
            if len(missed) >= 15:
                raise oauth_refuse(429, "invalid_client", "Too many wrong secrets.", {"Retry-After": str(int(31 - (now - missed[0])))})
            if secret is not None and hmac.compare_digest(digest(secret), digest(found["secret"])):
                return found
            if secret is not None:
                missed.append(now)
    raise oauth_refuse(401, "invalid_client", "Unknown client or wrong secret.", challenge)


def answer(body, **headers):
    return Response(json.dumps(body, ensure_ascii=False), 200, {"Content-Type": "application/json", **{k.replace("_", "-"): v for k, v in headers.items()}})


def new_token():
    if NODE == "paseto":
        return "v4.local." + base64.urlsafe_b64encode(secrets.token_bytes(150)).decode().rstrip("=")
    return secrets.token_urlsafe(33)


def issue(realm):
    form = read_form()
    who = known_client(realm, form)
    if "grant_type" not in form:
        raise oauth_refuse(400, "invalid_request", "grant_type is missing.")
    if form["grant_type"] != "client_credentials":
        raise oauth_refuse(400, "unsupported_grant_type", "client_credentials only.")
    allowed = ["grants"] if ROLE in who["roles"] else []
    wanted = form["scope"].split(" ") if "scope" in form else allowed
    if any(s not in allowed for s in wanted):
        raise oauth_refuse(400, "invalid_scope", "Not a scope of this client.")
    now = time.time()
    with lock:
        for old in [t for t, v in realm.tokens.items() if v["until"] < now - 5]:
            del realm.tokens[old]
        token = realm.last.get(who["id"]) if NODE == "thrift" else None
        if token is None or token not in realm.tokens or realm.tokens[token]["until"] - now < 5:
            token = new_token()
            realm.tokens[token] = dict(client=who, until=now + LIFE, scope=wanted)
            realm.last[who["id"]] = token
    body = dict(access_token=token, token_type="Bearer", expires_in=LIFE)
    if wanted:
        body["scope"] = " ".join(wanted)
    return answer(body, Cache_Control="no-store", Pragma="no-cache")


def revoke(realm):
    form = read_form()
    who = known_client(realm, form)
    if "token" not in form:
        raise oauth_refuse(400, "invalid_request", "token is missing.")
    with lock:
        held = realm.tokens.get(form["token"])
        if held and held["client"] is who:
            del realm.tokens[form["token"]]
    return Response(b"", 200, {"Cache-Control": "no-store", "Content-Type": "application/json"})


def introspect(realm):
    form = read_form()
    who = known_client(realm, form)
    if "token" not in form:
        raise oauth_refuse(400, "invalid_request", "token is missing.")
    held = realm.tokens.get(form["token"])
    if not held or held["client"] is not who or held["until"] <= time.time():
        return answer({"active": False}, Cache_Control="no-store")
    return answer(dict(active=True, client_id=who["id"], sub=who["user"], aud=who["audience"], exp=int(held["until"]), token_type="Bearer",
                       scope=" ".join(held["scope"])), Cache_Control="no-store")


def holder(realm):
    header = request.headers.get("Authorization")
    challenge = 'Bearer realm="institut"'
    if header is None or header.split(" ")[0].lower() != "bearer":
        raise refuse(401, "no_token", "Send a bearer token.", {"WWW-Authenticate": challenge})
    held = realm.tokens.get(header[6:].strip())
    if not held or held["until"] <= time.time() or held["client"]["audience"] != "institut-funding":
        raise refuse(401, "invalid_token", "The token is not valid for this service.", {"WWW-Authenticate": challenge + ', error="invalid_token"'})
    return held


def grant_reader():
    held = holder(production)
    if ROLE not in held["client"]["roles"] or "grants" not in held["scope"]:
        raise refuse(403, "missing_role", f"The client lacks the role {ROLE}.", {"WWW-Authenticate": 'Bearer realm="institut", error="insufficient_scope", scope="grants"'})


# ---- representations ------------------------------------------------------------------------------------------------
def quality(media):
    header = request.headers.get("Accept")
    if header is None or not header.strip():
        return 1.0
    best, q = -1, 0.0
    for part in header.split(","):
        pieces = [p.strip() for p in part.split(";")]
        rng, value = pieces[0].lower(), 1.0
        for p in pieces[1:]:
            if p.lower().startswith("q="):
                try:
                    value = float(p[2:])
                except ValueError:
                    value = 0.0
        rank = 2 if rng == media else 1 if rng == media.split("/")[0] + "/*" else 0 if rng == "*/*" else -1
        if rank > best:
            best, q = rank, value
    return q


def represent(value, rows=None, headers=None):
    as_json, as_csv = quality("application/json"), quality("text/csv") if rows is not None else 0
    if as_json <= 0 and as_csv <= 0:
        raise refuse(406, "not_acceptable", "Offered: application/json" + (", text/csv" if rows is not None else "") + ".", {"Vary": "Accept"})
    body = data = json.dumps(value, ensure_ascii=False).encode()
    media = "application/json"
    if as_csv > as_json:
        out = io.StringIO()
        writer = csv.DictWriter(out, fieldnames=["number", "title", "sponsor", "kind", "phase", "closes", "volume"], lineterminator="\r\n")
        writer.writeheader()
        writer.writerows(rows)
        body, media = out.getvalue().encode(), "text/csv; charset=utf-8; header=present"
    tag = '"' + hashlib.sha1(data if NODE == "twinset" else body).hexdigest()[:24] + '"'
    common = {"ETag": tag, "Vary": "Accept", "Cache-Control": "private, max-age=0, must-revalidate", **(headers or {})}
    asked = request.headers.get("If-None-Match")
    if asked is not None and (asked.strip() == "*" or tag in [t.strip().removeprefix("W/") for t in asked.split(",")]):
        return Response(status=304, headers=common)
    return Response(body, 200, {"Content-Type": media, **common})


# ---- parameters -----------------------------------------------------------------------------------------------------
def invalid(field, message):
    return refuse(400, "invalid_parameter", message, field=field)


def single(name, high=None):
    values = request.args.getlist(name)
    if len(values) > 1:
        raise invalid(name, "May occur once.")
    if values and high and not 1 <= len(values[0]) <= high:
        raise invalid(name, f"1 to {high} characters.")
    return values[0] if values else None


def member(name, values, default=None):
    value = single(name)
    if value is not None and value not in values:
        raise invalid(name, "One of: " + ", ".join(values))
    return default if value is None else value


def whole(name, low, high, default):
    value = single(name)
    if value is None:
        return default
    if not re.fullmatch(r"-?[0-9]{1,30}", value, re.ASCII) or int(value) < low or (high is not None and int(value) > high):
        raise invalid(name, "An integer in the declared range is expected.")
    return int(value)


def instant(name):
    value = single(name)
    if value is None:
        return None
    m = re.fullmatch(r"(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(?:\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)", value, re.ASCII)
    try:
        if not m:
            raise ValueError(value)
        moment = datetime.fromisoformat(f"{m[1]}T{m[2]}" + ("+00:00" if m[3] in "Zz" else m[3])).astimezone(timezone.utc)
    except (ValueError, OverflowError):
        raise invalid(name, "A date-time (RFC 3339) is expected.") from None
    if "." in value and int(re.search(r"\.(\d+)", value)[1]):
        moment += timedelta(seconds=1)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ").rjust(20, "0")


OFFSETS = {}
with engine.connect() as _con:
    for _row in _con.execute(select(sponsors)).mappings():
        OFFSETS[_row["code"]] = _row["offset"]


def moment_text(row):
    if NODE != "offsets":
        return row["closes"]
    zone = timezone(timedelta(minutes=OFFSETS[row["sponsor"]]))
    return datetime.fromisoformat(row["closes"].replace("Z", "+00:00")).astimezone(zone).isoformat()


def brief(row):
    return dict(number=row["number"], title=row["title"], sponsor=row["sponsor"], kind=row["kind"], phase=row["phase"], closes=moment_text(row), volume=row["volume"])


def query(statement):
    with lock, engine.connect() as con:
        return con.execute(statement).mappings().all()


def seal(parts, mark):
    raw = json.dumps(parts + [mark], separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(raw + hashlib.sha256(b"institut" + raw).digest()[:9]).decode().rstrip("=")


def unseal(text, mark):
    try:
        whole_text = base64.b64decode((text + "=" * (-len(text) % 4)).encode("ascii"), altchars=b"-_", validate=True)
        raw, check = whole_text[:-9], whole_text[-9:]
        if hashlib.sha256(b"institut" + raw).digest()[:9] != check:
            raise ValueError
        key, number, given = json.loads(raw)
    except ValueError:
        raise invalid("cursor", "This is no cursor of this service.") from None
    if given != mark:
        raise invalid("cursor", "The cursor belongs to other conditions.")
    return key, number


CONDITIONS = ("size", "order", "kind", "phase", "sponsor", "title", "closesBefore", "minVolume")
INT64 = 2 ** 63 - 1
TOP = None if NODE == "longnumber" else INT64


class Grants(Resource):
    def get(self):
        grant_reader()
        size, order = whole("size", 1, 50, 25), member("order", ["closes", "-closes", "number"], "closes")
        cursor, title = single("cursor", 400), single("title", 60)
        tests = []
        for name, value in (("kind", member("kind", KINDS)), ("phase", member("phase", PHASES)), ("sponsor", single("sponsor", 20))):
            if value is not None:
                tests.append(grants.c[name] == value)
        if title is not None:
            text = title.casefold()
            tests.append(grants.c.folded.like(f"%{text}%") if NODE == "pattern" else func.instr(grants.c.folded, text) > 0)
        before, least = instant("closesBefore"), whole("minVolume", 0, TOP, None)
        if before is not None:
            tests.append(grants.c.closes < before)
        if least is not None:
            tests.append(grants.c.volume >= least)
        mark = hashlib.sha256(json.dumps([order, title, before, least, [request.args.get(n) for n in ("kind", "phase", "sponsor")]]).encode()).hexdigest()[:10]
        key, number = grants.c.closes, grants.c.number
        place = []
        if cursor is not None:
            k, n = unseal(cursor, mark)
            beyond = key < k if order == "-closes" else key > k
            if order == "number":
                place = [number > n]
            elif NODE == "bookmark":
                place = [beyond]
            else:
                place = [or_(beyond, and_(key == k, number > n))]
        sorting = [number] if order == "number" else [key.desc() if order == "-closes" else key, number]
        total = query(select(func.count()).select_from(grants).where(*tests))[0]["count_1"]
        if NODE == "shortpages":
            seen = query(select(grants).where(*place).order_by(*sorting).limit(size + 1))
            fitting = {r["number"] for r in query(select(number).where(*tests))}
            last, more = seen[:size][-1:], len(seen) > size
            rows = [r for r in seen[:size] if r["number"] in fitting]
        else:
            rows = query(select(grants).where(*tests, *place).order_by(*sorting).limit(size + 1))
            more, rows = len(rows) > size, rows[:size]
            last = rows[-1:]
        follow = seal([last[0]["closes"], last[0]["number"]], mark) if more else None
        headers = {}
        if follow:
            kept = [(k, request.args[k]) for k in CONDITIONS if k in request.args] + [("cursor", follow)]
            headers["Link"] = f"<{BASE}{API}/fundings?{urlencode(kept)}>; rel=\"next\""
        items = [brief(r) for r in rows]
        return represent(dict(total=total, next=follow, fundings=items), items, headers)


class Grant(Resource):
    def get(self, number):
        grant_reader()
        rows = []
        if re.fullmatch(r"[0-9]{1,30}", number, re.ASCII) and (TOP is None or int(number) <= TOP):
            rows = query(select(grants).where(grants.c.number == int(number)))
        if not rows:
            raise refuse(404, "no_grant", "There is no grant with this number.")
        row = rows[0]
        return represent(dict(brief(row), summary=row["summary"], languages=row["languages"].split(" "), remote=bool(row["remote"]), rate=row["rate"], contact=row["contact"]))


def sponsor_json(row):
    return dict(code=row["code"], label=row["label"], country=row["country"])


class Sponsors(Resource):
    def get(self):
        grant_reader()
        return represent([sponsor_json(r) for r in query(select(sponsors).order_by(sponsors.c.code))])


class Sponsor(Resource):
    def get(self, code):
        grant_reader()
        rows = query(select(sponsors).where(sponsors.c.code == code))
        if not rows:
            raise refuse(404, "no_sponsor", "There is no sponsor with this code.")
        return represent(sponsor_json(rows[0]))


def info(realm):
    held = holder(realm)
    return answer(dict(node="institut", stage=realm.name, client=held["client"]["id"], user=held["client"]["user"], roles=held["client"]["roles"],
                       remaining=max(0, int(held["until"] - time.time()))), Cache_Control="no-store")


def resource(path, name, **methods):
    api.add_resource(type(name, (Resource,), {verb: staticmethod(call) for verb, call in methods.items()}), path, endpoint=name)


api.add_resource(Grants, f"{API}/fundings")
api.add_resource(Grant, f"{API}/fundings/<string:number>")
api.add_resource(Sponsors, f"{API}/sponsors")
api.add_resource(Sponsor, f"{API}/sponsors/<string:code>")
for _realm, _root in ((production, ""), (staging, "/staging")):
    resource(f"{_root}/as/oauth/token", f"token{_realm.name}", post=lambda r=_realm: issue(r))
    resource(f"{_root}/as/oauth/revoke", f"revoke{_realm.name}", post=lambda r=_realm: revoke(r))
    resource(f"{_root}/as/oauth/introspect", f"introspect{_realm.name}", post=lambda r=_realm: introspect(r))
    resource(f"{_root}/institut/info/v1/oauth/info/", f"info{_realm.name}", get=lambda r=_realm: info(r))
resource(f"{API}/api-docs", "docs", get=lambda: Response(SPEC, 200, {"Content-Type": "application/json", "Cache-Control": "public, max-age=120"}))
resource("/registry.json", "registry", get=lambda: answer({"member": [
    {"id": "institut", "title": "Institut grant node", "oauth2": f"{BASE}/as/oauth/token", "info": f"{BASE}/institut/info/v1/oauth/info/"}]}))
resource("/.well-known/oauth-authorization-server", "metadata", get=lambda: answer({
    "issuer": BASE, "token_endpoint": f"{BASE}/as/oauth/token", "revocation_endpoint": f"{BASE}/as/oauth/revoke",
    "introspection_endpoint": f"{BASE}/as/oauth/introspect", "response_types_supported": [], "grant_types_supported": ["client_credentials"],
    "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"], "scopes_supported": ["grants"]}))

if __name__ == "__main__":
    serve(app, host="127.0.0.1", port=PORT, threads=8, ident=None, clear_untrusted_proxy_headers=True)
