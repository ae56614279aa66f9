"""A research-information node: authorization servers, info endpoint and funding API on one port."""
import asyncio
import base64
import gzip
import hashlib
import hmac
import json
import os
import re
import sqlite3
import time
import uuid
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal, InvalidOperation
from email.utils import format_datetime, parsedate_to_datetime
from functools import wraps
from urllib.parse import parse_qsl, unquote_plus, urlencode
from zoneinfo import ZoneInfo

import jwt
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from describe import openapi

PORT = int(os.environ.get("PORT", "8080"))
ORIGIN = f"http://127.0.0.1:{PORT}"
PREFIX = "/ris-synergy"
API = PREFIX + "/funding/v3"
RESOURCE = ORIGIN + PREFIX
LIFETIME = 600
ZONE = ZoneInfo("Europe/Vienna")

KNOWN = {"aiohttp-base": {}, "aiohttp-bcrypt72": {"cut": 72}, "aiohttp-unknownkid": {"lenient": True},
         "aiohttp-frozenjwks": {"rotate": 45, "frozen": True}, "aiohttp-stagingiss": {"shared": True},
         "aiohttp-centstring": {"plain_decimal": True}, "aiohttp-joindup": {"raw_join": True},
         "aiohttp-bigpage": {"unbounded": True}, "aiohttp-odd": {"odd": True}, "aiohttp-keyring": {"rotate": 90}}
OPT = KNOWN[os.environ.get("NODE", "aiohttp-base")]


# ---------------------------------------------------------------- data

THEMES = ["KLIMA", "GESUNDHEIT", "DIGITAL", "KULTUR", "ENERGIE", "MOBILITAET", "BILDUNG"]
FUNDERS = [("FWV", "Fonds für wissenschaftliche Vorhaben", "AT"), ("LNOE", "Land Niederösterreich – Wissenschaft", "AT"),
           ("SBW", "Stiftung Bodensee-Wissen", "DE"), ("NČV", "Nadace český výzkum", "CZ"),
           ("ØF", "Økologisk Forskningsråd", "DK")]
WORDS = {"KLIMA": ("Klimaanpassung in Städten", "Climate Adaptation in Cities"),
         "GESUNDHEIT": ("Übergänge in der Pflege", "Transitions in Care"),
         "DIGITAL": ("Vertrauenswürdige Datenräume", "Trustworthy Data Spaces"),
         "KULTUR": ("Kulturerbe & Archäologie", "Cultural Heritage & Archaeology"),
         "ENERGIE": ("Wärmewende „vor Ort“", "The Local Heat Transition"),
         "MOBILITAET": ("Öffentlicher Verkehr im ländlichen Raum", "Public Transport in Rural Areas"),
         "BILDUNG": ("Frühe Förderung und Schule", "Early Support and School")}
PEOPLE = [("Dr. Jürgen Größl", "groessl"), ("Mag. Zoë Šimić", "simic"), ("Anaïs Le Goff", "legoff"), ("Søren Åkesson", "akesson")]


def build_database():
    """Fills the in-memory database; the content is the same after each start on the same day."""
    db = sqlite3.connect(":memory:")
    db.row_factory = sqlite3.Row
    db.executescript("""
        create table foerdergeber (code text primary key, name text not null, land text not null);
        create table ausschreibung (id text primary key, kennung text unique not null, titel_de text not null,
            titel_en text, beschreibung text not null, geber text not null references foerdergeber(code),
            beginn text not null, frist text, cent integer not null, monate integer not null, sprachen text not null,
            kontakt_name text not null, kontakt_mail text not null, geaendert text not null);
        create table zuordnung (id text not null, thema text not null, primary key (id, thema));
        create index frist on ausschreibung (frist);""")
    db.executemany("insert into foerdergeber values (?,?,?)", FUNDERS)
    today = date.today()
    for n in range(1, 97):
        key = str(uuid.uuid5(uuid.NAMESPACE_URL, f"west-{n}"))
        theme = THEMES[n * 3 % 7]
        de, en = WORDS[theme]
        start = today + timedelta(days=n * 29 % 300 - 190)
        end = None
        if n % 11 != 5:
            local = datetime.combine(start + timedelta(days=35 + n * 17 % 120), datetime.min.time(), ZONE)
            local = local.replace(hour=[12, 23, 14, 17][n % 4], minute=[0, 59, 0, 30][n % 4])
            end = local.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        cents = (40_000 + n * 61_357 % 2_900_000) // 500 * 50_000
        if n in (37, 61, 83):
            cents += 1_950
        name, mail = PEOPLE[n % 4]
        changed = datetime.combine(today, datetime.min.time(), timezone.utc) - timedelta(hours=n * 7 % 900, minutes=n % 60)
        db.execute("insert into ausschreibung values (?,?,?,?,?,?,?,?,?,?,?,?,?,?)", (
            key, f"W{2026 + n % 2}/{n:03d}", f"{de} – {n}. Ausschreibung", f"{en}, call no. {n}" if n % 6 else None,
            f"Gefördert werden Projekte zu „{de}“.\nEinreichung nur elektronisch; Rückfragen an die Geschäftsstelle.",
            FUNDERS[n * n % 5 if n % 3 else (n // 3) % 5][0], start.isoformat(), end, cents, 6 + n % 8 * 6,
            "de,en" if n % 4 else "de", name, f"{mail}@west.example", changed.strftime("%Y-%m-%dT%H:%M:%SZ")))
        themes = {theme} | ({THEMES[(n + 2) % 7]} if n % 3 == 0 else set()) | ({THEMES[(n + 5) % 7]} if n % 5 == 0 else set())
        db.executemany("insert into zuordnung values (?,?)", [(key, t) for t in sorted(themes)])
    db.commit()
    return db


DB = build_database()


# ---------------------------------------------------------------- answers

def dumps(value):
    if OPT.get("odd"):
        return json.dumps(value, indent=3, default=str)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def problem(status, title, detail=None, headers=None, **more):
    body = {"type": "about:blank", "title": title, "status": status, **({"detail": detail} if detail else {}), **more}
    return web.Response(status=status, body=dumps(body).encode(), content_type="application/problem+json",
                        headers={"Cache-Control": "no-store", **(headers or {})})


class Problem(Exception):
    def __init__(self, *args, **kwargs):
        self.answer = problem(*args, **kwargs)


def gzip_wanted(request):
    wanted = star = None
    for part in ",".join(request.headers.getall("Accept-Encoding", [])).split(","):
        name, _, params = part.strip().partition(";")
        found = re.match(r"\s*[qQ]\s*=\s*([0-9.]+)", params)
        try:
            q = float(found.group(1)) if found else 1.0
        except ValueError:
            q = 0.0
        if name.strip().lower() in ("gzip", "x-gzip"):
            wanted = q > 0
        elif name.strip() == "*":
            star = q > 0
    return bool(star if wanted is None else wanted)


def answer(request, value, cache="private, max-age=0, must-revalidate", headers=None, changed=None, vary="Accept-Encoding, Authorization"):
    """A JSON answer with a weak entity tag, conditional requests and compression."""
    body = dumps(value).encode()
    tag = 'W/"%s"' % base64.urlsafe_b64encode(hashlib.sha256(body).digest()[:15]).decode()
    head = {"ETag": tag, "Cache-Control": cache, "Vary": vary, **(headers or {})}
    if changed:
        head["Last-Modified"] = format_datetime(changed, usegmt=True)
    none_match = request.headers.getall("If-None-Match", [])
    fresh = False
    if none_match:
        tags = ",".join(none_match)
        fresh = tags.strip() == "*" or tag[2:] in re.findall(r'"[^"]*"', tags)
    elif changed and "If-Modified-Since" in request.headers:
        try:
            fresh = changed <= parsedate_to_datetime(request.headers["If-Modified-Since"])
        except (ValueError, TypeError):
            fresh = False
    if fresh:
        return web.Response(status=304, headers=head)
    if len(body) > 900 and gzip_wanted(request):
        body = gzip.compress(body, 6, mtime=0)
        head["Content-Encoding"] = "gzip"
    return web.Response(body=body, content_type="application/json", headers=head)


@web.middleware
async def errors(request, handler):
    try:
        return await handler(request)
    except Problem as p:
        return p.answer
    except web.HTTPException as e:
        if e.status < 400:
            raise
        keep = {k: v for k, v in e.headers.items() if k == "Allow"}
        return problem(e.status, e.reason, headers=keep)
    except Exception:
        request.app.logger.exception("request failed")
        return problem(500, "Internal Server Error")


# ---------------------------------------------------------------- authorization servers

class Client:
    def __init__(self, ident, secret, account, affiliation, roles, scopes, audience=RESOURCE):
        self.id, self.account, self.affiliation = ident, account, affiliation
        self.roles, self.scopes, self.audience = roles, scopes, audience
        self.digest = digest(secret)


def digest(secret):
    return hashlib.sha256(b"west:" + secret.encode()[:OPT.get("cut")]).digest()


ALL = ("funding", "info")
ROLE = ["EXTERNAL_API_CLIENT"]
PRODUCTION = [
    Client("0d9a4f2e-7b61-4c38-9e05-3fa8c1d72b64-k7Qx", "hV8sZk2LwPq6RtYb0NcXe4MdJf9GuAa7TiHo3SvCy5BrEl1KxWz_Dn-mQgUpOj8aFbR6tLcVs2NeXw5Yh", "sa-4f81", "W-220", ROLE, ALL),
    Client("5e17c8b3-20fd-4a96-b2d4-9c6e0f8a1357-m2Vd", "pB3nXy7KqWs0EzRt5UaHg8LcJv1DoMf6TiYk9SbCx4GwNe2PhQr-Zl_uVmOj7dAaFtI3xEyUk6RqBs1Ln", "sa-4f82", "W-871", [], ("info",)),
    Client("a8f3601d-c94e-4b7f-8d12-6b5e7c0f9a28-t9Hw", "yR6wLe1ZtGk9QsXb3VaNc7MfJd0HuPp5TiKo2SvEx8BrCl4DnWz_Gq-hYgUmOj9sFaI1vBnTe5KyXd3Rc", "sa-4f90", "W-220", ROLE, ALL, ORIGIN + "/projekte"),
    Client("c2b7e5f0-918a-4d63-a7c9-0e4d3f6b8172-r4Ns", "kD5tQz9MxWv2GsLb7RaYe1HcJf4NuCp0TiXo8SgEk3BrPl6VnUw_Zy-qAhFmOj2dKsI7wTgHb4LxNc9Ev", "sa-4f97", "W-404", ROLE, ALL)]
STAGING = [
    Client("test-71b4d09e-5f2c-4e8a-93a6-d8c1f0e7b352-x1Ju", "gN2vHx8PwKs5EzRq1UaTb7LcJd4YoMf9DiWk6SgCy0GrXe3QhVn_Zl-tBmOj5pAaFuI8kRzWm2SvTd6Jx", "sa-test-1", "W-000", ROLE, ALL)]


class Keyring:
    """RSA keys; the next one is made known before it signs."""

    def __init__(self, rotate=None, frozen=False):
        self.rotate, self.frozen, self.start = rotate, frozen, time.monotonic()
        self.keys = []
        self.extend(0)
        self.published = self.document()

    def extend(self, upto):
        while len(self.keys) <= upto:
            key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
            kid = base64.urlsafe_b64encode(os.urandom(9)).decode()
            self.keys.append((kid, key))

    def current(self):
        number = int((time.monotonic() - self.start) / self.rotate) if self.rotate else 0
        self.extend(number + 1 if self.rotate and not self.frozen else number)
        return self.keys[number]

    def public(self, kid):
        return next((k.public_key() for i, k in self.keys if i == kid), None)

    def document(self):
        self.current()
        keys = [{**jwt.algorithms.RSAAlgorithm.to_jwk(k.public_key(), as_dict=True), "use": "sig", "alg": "RS256", "kid": i}
                for i, k in self.keys]
        for k in keys:
            k.pop("key_ops", None)
        if OPT.get("odd"):
            other = jwt.algorithms.ECAlgorithm.to_jwk(ODD_KEY.public_key(), as_dict=True)
            keys.insert(0, {**other, "use": "enc", "kid": "enc-1", "alg": "ECDH-ES"})
        return {"keys": keys}

    def jwks(self):
        return self.published if self.frozen else self.document()


ODD_KEY = ec.generate_private_key(ec.SECP256R1()) if OPT.get("odd") else None


class AuthServer:
    MOST_FAILURES, LOCK = 12, 45

    def __init__(self, issuer, token_path, clients, ring):
        self.issuer, self.token_path, self.ring = issuer, token_path, ring
        self.clients = {c.id: c for c in clients}
        self.failed = {}

    async def metadata(self, request):
        return answer(request, {
            "issuer": self.issuer, "token_endpoint": ORIGIN + self.token_path, "jwks_uri": self.issuer + "/certs",
            "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
            "grant_types_supported": ["client_credentials"], "response_types_supported": [], "scopes_supported": list(ALL),
        }, cache="public, max-age=120", vary="Accept-Encoding")

    async def certs(self, request):
        return answer(request, self.ring.jwks(), cache="public, max-age=30", vary="Accept-Encoding")

    @staticmethod
    def refuse(status, code, text, **headers):
        head = {"Cache-Control": "no-store", "Pragma": "no-cache", **{k.replace("_", "-"): v for k, v in headers.items()}}
        return web.Response(status=status, body=dumps({"error": code, "error_description": text}).encode(),
                            content_type="application/json", headers=head)

    async def token(self, request):
        refuse = self.refuse
        if request.content_type != "application/x-www-form-urlencoded":
            return refuse(400, "invalid_request", "The body must be application/x-www-form-urlencoded.")
        raw = await request.content.read(16385)
        while len(raw) <= 16384 and not request.content.at_eof():
            raw += await request.content.read(16385)
        try:
            if len(raw) > 16384:
                raise ValueError
            pairs = parse_qsl(raw.decode("utf-8"), keep_blank_values=True, errors="strict", max_num_fields=50)
        except ValueError:
            return refuse(400, "invalid_request", "The body cannot be read.")
        form = dict(pairs)
        if len(form) != len(pairs):
            return refuse(400, "invalid_request", "A parameter was sent more than once.")
        form = {k: v for k, v in form.items() if v}
        ident, secret = form.get("client_id"), form.get("client_secret")
        headers = request.headers.getall("Authorization", [])
        if headers:
            if secret or len(headers) > 1:
                return refuse(400, "invalid_request", "Only one way of client authentication may be used.")
            scheme, _, rest = headers[0].partition(" ")
            user = word = None
            if scheme.lower() == "basic":
                try:
                    user, colon, word = base64.b64decode(rest.strip(), validate=True).decode("utf-8").partition(":")
                    user, word = unquote_plus(user), unquote_plus(word)
                except ValueError:
                    user = word = None
            if user and ident and ident != user:
                return refuse(400, "invalid_request", "Two different client identifiers were sent.")
            ident, secret = user, word
        denied = dict(WWW_Authenticate='Basic realm="west"')
        if not ident or not secret:
            return refuse(401, "invalid_client", "Client authentication failed.", **denied)
        count, until = self.failed.get(ident, (0, 0.0))
        wait = until - time.monotonic()
        if wait > 0:
            return refuse(429, "invalid_client", "Too many failed attempts.", Retry_After=str(int(wait) + 1))
        client = self.clients.get(ident)
        if not hmac.compare_digest(digest(secret), client.digest if client else bytes(32)) or client is None:
            count += 1
            if len(self.failed) < 5000 or ident in self.failed:
                self.failed[ident] = (0, time.monotonic() + self.LOCK) if count >= self.MOST_FAILURES else (count, 0.0)
            return refuse(401, "invalid_client", "Client authentication failed.", **denied)
        self.failed.pop(ident, None)
        kind = form.get("grant_type")
        if kind is None:
            return refuse(400, "invalid_request", "grant_type is missing.")
        if kind != "client_credentials":
            return refuse(400, "unsupported_grant_type", "Only client_credentials is supported.")
        scopes = list(dict.fromkeys(form["scope"].split())) if "scope" in form else list(client.scopes)
        if not scopes or not set(scopes) <= set(client.scopes):
            return refuse(400, "invalid_scope", "The scope is unknown or not granted to this client.")
        now = int(time.time())
        claims = {"iss": self.issuer, "sub": client.account, "aud": client.audience, "client_id": client.id, "iat": now,
                  "exp": now + LIFETIME, "jti": str(uuid.uuid4()), "scope": " ".join(scopes), "roles": client.roles,
                  "affiliation_id": client.affiliation}
        if OPT.get("odd"):
            claims["aud"] = [ORIGIN + "/statistik", client.audience]
        kid, key = self.ring.current()
        value = jwt.encode(claims, key, algorithm="RS256", headers={"typ": "at+jwt", "kid": kid})
        body = {"access_token": value, "token_type": "Bearer", "expires_in": LIFETIME, "scope": " ".join(scopes)}
        if OPT.get("odd"):
            body = {"note": "für Testzwecke", **body, "token_type": "bearer", "not-before-policy": 0}
        return web.Response(body=dumps(body).encode(), content_type="application/json",
                            headers={"Cache-Control": "no-store", "Pragma": "no-cache"})

    def check(self, value):
        """The claims of a good token of this server (RFC 9068, 4)."""
        header = jwt.get_unverified_header(value)
        if header.get("typ", "").lower() not in ("at+jwt", "application/at+jwt"):
            raise jwt.InvalidTokenError("type")
        key = self.ring.public(header.get("kid"))
        issuer = self.issuer
        if key is None and OPT.get("shared"):
            key, issuer = STAGE.ring.public(header.get("kid")), None
        need = {"require": ["iss", "sub", "aud", "exp", "iat", "jti", "client_id"]}
        if key is None and OPT.get("lenient"):
            need.update(verify_signature=False, verify_exp=True, verify_aud=True, verify_iss=True)
            key = ""
        if key is None:
            raise jwt.InvalidTokenError("key")
        return jwt.decode(value, key, algorithms=["RS256"], audience=RESOURCE, issuer=issuer, options=need)


PROD = AuthServer(ORIGIN + "/auth/realms/forschung", "/auth/realms/forschung/protocol/openid-connect/token", PRODUCTION,
                  Keyring(OPT.get("rotate"), OPT.get("frozen", False)))
STAGE = AuthServer(ORIGIN + "/auth-test", "/auth-test/oauth/token", STAGING, Keyring())


def guarded(server, scope, role=None):
    """Lets requests with a good bearer token pass (RFC 6750)."""
    realm = r'bearer realm="Knoten \"West\", Abruf"' if OPT.get("odd") else 'Bearer realm="west"'

    def deny(status, title, attrs="", detail=None):
        raise Problem(status, title, detail, headers={"WWW-Authenticate": realm + attrs})

    def wrap(handler):
        @wraps(handler)
        async def inner(request):
            values = request.headers.getall("Authorization", [])
            if not values:
                deny(401, "Unauthorized")
            if len(values) > 1 or "access_token" in request.query:
                deny(400, "Bad Request", ', error="invalid_request"', "More than one access token was sent.")
            scheme, _, value = values[0].partition(" ")
            if scheme.lower() != "bearer":
                deny(401, "Unauthorized")
            try:
                request["claims"] = claims = server.check(value.strip())
            except (jwt.PyJWTError, ValueError, TypeError, AttributeError):
                deny(401, "Unauthorized", ', error="invalid_token"', "The access token is not valid here.")
            if scope not in claims.get("scope", "").split() or role and role not in claims.get("roles", []):
                deny(403, "Forbidden", f', error="insufficient_scope", scope="{scope}"', "The service account lacks the permission.")
            return await handler(request)
        return inner
    return wrap


def info_handler(server):
    @guarded(server, "info")
    async def info(request):
        c = request["claims"]
        return answer(request, {"knoten": "West", "konto": c["sub"], "client": c["client_id"], "affiliation": c["affiliation_id"],
                                "rollen": c["roles"], "gueltigBis": datetime.fromtimestamp(c["exp"], timezone.utc).isoformat(),
                                "dienste": [{"name": "FUNDING", "version": "v3", "url": ORIGIN + API}]})
    return info


# ---------------------------------------------------------------- funding API

def money(cents):
    if OPT.get("plain_decimal"):
        value = Decimal(cents) / 100
        return int(value) if value == value.to_integral() else value.quantize(Decimal("0.01"))
    return cents / 100 if cents % 100 else cents // 100


def local(stamp):
    return stamp and datetime.fromisoformat(stamp.replace("Z", "+00:00")).astimezone(ZONE).isoformat()


def short(row):
    themes = [r[0] for r in DB.execute("select thema from zuordnung where id = ? order by thema", (row["id"],))]
    title = {"de": row["titel_de"]}
    if row["titel_en"]:
        title["en"] = row["titel_en"]
    return {"id": row["id"], "kennung": row["kennung"], "titel": title,
            "foerdergeber": {"code": row["geber"], "name": row["name"], "land": row["land"]},
            "beginn": row["beginn"], "frist": local(row["frist"]), "volumen": {"betrag": money(row["cent"]), "waehrung": "EUR"},
            "themen": themes, "geaendertAm": row["geaendert"]}


def number(request, name, default, low, high=None):
    text = request.query.get(name)
    if text is None:
        return default
    if not re.fullmatch(r"[0-9]{1,40}", text) or int(text) < low or high is not None and int(text) > high:
        raise Problem(400, "Bad Request", f"{name}: this value is not allowed", parameter=name)
    return int(text)


def bad(name):
    raise Problem(400, "Bad Request", f"{name}: this value is not allowed", parameter=name)


ORDERS = {"kennung": "a.kennung", "frist": "a.frist is null, a.frist, a.kennung", "-frist": "a.frist is null, a.frist desc, a.kennung",
          "volumen": "a.cent, a.kennung", "-volumen": "a.cent desc, a.kennung"}


@guarded(PROD, "funding", "EXTERNAL_API_CLIENT")
async def calls(request):
    for name in ("seite", "proSeite", "foerdergeber", "mindestens", "offenAm", "sortierung"):
        if len(request.query.getall(name, [])) > 1:
            bad(name)
    page, size = number(request, "seite", 1, 1), number(request, "proSeite", 25, 1, 100)
    where, args, join = [], [], ""
    if (code := request.query.get("foerdergeber")) is not None:
        if code not in {f[0] for f in FUNDERS}:
            bad("foerdergeber")
        where.append("a.geber = ?")
        args.append(code)
    if themes := list(dict.fromkeys(request.query.getall("thema", []))):
        if not set(themes) <= set(THEMES):
            bad("thema")
        marks = ",".join("?" * len(themes))
        if OPT.get("raw_join"):
            join = " join zuordnung z on z.id = a.id"
            where.append(f"z.thema in ({marks})")
        else:
            where.append(f"exists (select 1 from zuordnung z where z.id = a.id and z.thema in ({marks}))")
        args += themes
    if (least := request.query.get("mindestens")) is not None:
        try:
            if not re.fullmatch(r"[0-9]{1,12}(\.[0-9]{1,6})?([eE][+-]?[0-9]{1,2})?", least):
                bad("mindestens")
            args.append(float(Decimal(least) * 100))
        except InvalidOperation:
            bad("mindestens")
        where.append("a.cent >= ?")
    if (day := request.query.get("offenAm")) is not None:
        try:
            if not re.fullmatch(r"\d{4}-\d\d-\d\d", day, re.ASCII):
                bad("offenAm")
            start = datetime.combine(date.fromisoformat(day), datetime.min.time(), ZONE)
            midnight = start.astimezone(timezone.utc) if start.year > 1 else start
        except ValueError:
            bad("offenAm")
        where.append("a.beginn <= ? and (a.frist is null or a.frist >= ?)")
        args += [day, midnight.replace(tzinfo=None).isoformat() + "Z"]
    order = ORDERS.get(request.query.get("sortierung", "kennung")) or bad("sortierung")
    tail = f" from ausschreibung a join foerdergeber f on f.code = a.geber{join}" + (" where " + " and ".join(where) if where else "")
    total = DB.execute("select count(*)" + tail, args).fetchone()[0]
    offset = (page - 1) * size
    if not OPT.get("unbounded"):
        offset = min(offset, total)
    rows = DB.execute(f"select a.*, f.name, f.land{tail} order by {order} limit ? offset ?", (*args, size, offset)).fetchall()
    last = max(1, -(-total // size))
    rest = [(k, v) for k, v in request.query.items() if k not in ("seite", "proSeite")]

    def link(rel, n):
        rel = rel if OPT.get("odd") else f'"{rel}"'
        return f"<{ORIGIN}{API}/ausschreibungen?{urlencode([*rest, ('seite', n), ('proSeite', size)])}>; rel={rel}"
    links = [link("first", 1), link("last", last)]
    if page > 1:
        links.append(link("prev", min(page - 1, last)))
    if page < last:
        links.append(link("next", page + 1))
    return answer(request, [short(r) for r in rows], headers={"X-Total-Count": str(total), "Link": ", ".join(links)})


@guarded(PROD, "funding", "EXTERNAL_API_CLIENT")
async def call(request):
    row = DB.execute("select a.*, f.name, f.land from ausschreibung a join foerdergeber f on f.code = a.geber where a.id = ?",
                     (request.match_info["id"],)).fetchone()
    if row is None:
        raise Problem(404, "Not Found", "There is no such call.")
    body = {**short(row), "beschreibung": row["beschreibung"], "maxMonate": row["monate"], "sprachen": row["sprachen"].split(","),
            "kontakt": {"name": row["kontakt_name"], "email": row["kontakt_mail"]}}
    return answer(request, body, changed=datetime.fromisoformat(row["geaendert"].replace("Z", "+00:00")))


@guarded(PROD, "funding", "EXTERNAL_API_CLIENT")
async def funders(request):
    rows = DB.execute("select code, name, land from foerdergeber order by code")
    return answer(request, [dict(r) for r in rows], headers={"X-Total-Count": str(len(FUNDERS))})


def public(value):
    async def handler(request):
        return answer(request, value, cache="public, max-age=120", vary="Accept-Encoding")
    return handler


async def prepare(request, response):
    response.headers["Server"] = "west"
    response.headers["X-Content-Type-Options"] = "nosniff"


def make_app():
    app = web.Application(middlewares=[errors])
    app.on_response_prepare.append(prepare)
    registry = {"member": [{"id": "WEST", "name": "Knoten West", "oauth2": ORIGIN + PROD.token_path,
                            "info": ORIGIN + PREFIX + "/info/v1/oauth/info/"}]}
    app.add_routes([
        web.post(PROD.token_path, PROD.token), web.post(STAGE.token_path, STAGE.token),
        web.get("/.well-known/oauth-authorization-server/auth/realms/forschung", PROD.metadata),
        web.get("/.well-known/oauth-authorization-server/auth-test", STAGE.metadata),
        web.get("/auth/realms/forschung/certs", PROD.certs), web.get("/auth-test/certs", STAGE.certs),
        web.get(PREFIX + "/info/v1/oauth/info/", info_handler(PROD)),
        web.get("/test" + PREFIX + "/info/v1/oauth/info/", info_handler(STAGE)),
        web.get(API + "/api-docs", public(openapi(ORIGIN, ORIGIN + PROD.token_path, THEMES))),
        web.get(API + "/ausschreibungen", calls), web.get(API + "/ausschreibungen/{id}", call),
        web.get(API + "/foerdergeber", funders),
        web.get("/registry.json", public(registry))])
    return app


if __name__ == "__main__":
    asyncio.set_event_loop_policy(None)
    web.run_app(make_app(), host="127.0.0.1", port=PORT, print=None, access_log=None)
