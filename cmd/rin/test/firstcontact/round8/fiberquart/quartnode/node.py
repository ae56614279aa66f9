"""A node of the research-information network (Quart): authorization servers, info, funding register."""
from __future__ import annotations

import sys

sys.dont_write_bytecode = True

import asyncio
import datetime as dt
import gzip
import hashlib
import os
import time
from dataclasses import dataclass
from urllib.parse import urlencode

from hypercorn.asyncio import serve
from hypercorn.config import Config
from quart import Quart, Response, g, jsonify, request
from sqlalchemy import func, or_, select
from werkzeug.exceptions import HTTPException

from bestand import UTC, WIEN, Ausschreibung, Bestand, Foerdergeber, Thema
from beschreibung import beschreibung
from zugang import ROLLE, Aussteller, konto, problem


@dataclass
class Schalter:
    """Switches of this program; NODE sets one of them."""
    basic_roh: bool = False
    falsche_reihenfolge: bool = False
    jti_merken: bool = False
    zweiter_knoten: bool = False
    mitternacht: bool = False
    tag_danach: bool = False
    hinter_proxy: bool = False
    wechselnde_schluessel: bool = False
    bewegt: bool = False
    gemach: bool = False


NODES = {
    "quart-base": "", "quart-basicraw": "basic_roh", "quart-decorder": "falsche_reihenfolge", "quart-jticache": "jti_merken",
    "quart-kid": "zweiter_knoten", "quart-lastday": "mitternacht", "quart-farfuture": "tag_danach", "quart-fwdhost": "hinter_proxy",
    "quart-rotate": "wechselnde_schluessel", "quart-churn": "bewegt", "quart-slow": "gemach",
}
schalter = Schalter(**({NODES[n]: True} if NODES[n := os.environ.get("NODE", "quart-base")] else {}))
PORT = int(os.environ["PORT"])
ROOT = f"http://127.0.0.1:{PORT}"
P = "/forschung/ris-sued"
V3 = P + "/funding/v3"
START = time.monotonic()

bestand = Bestand()
app = Quart(__name__)
app.json.ensure_ascii = schalter.gemach
app.json.sort_keys = False
app.config["MAX_CONTENT_LENGTH"] = 256 * 1024
app.url_map.strict_slashes = True

BEIDE = ["info", "foerderung"]
produktion = Aussteller("ris-sued", ROOT, "/anmeldung/realms/sued", "/anmeldung/realms/sued/protocol/openid-connect/token", "urn:ris-sued:foerderung", [
    konto("2986bace210339847f162cd5fbcdefded4bcc77c035e", "WCjOMnM1WUCnvByHtbhDKOtXooyAgI803BwlX+g3JIIi", "79deba02-39fe-4d8d-9617-65f5069c052e", "org-1200", "urn:ris-sued:foerderung", [ROLLE], BEIDE),
    konto("40c19ad0560754ccd0357db5829b3c0701d8d053bdf9", "xLg7yrSTYHUzqETbW6tDim0Non4DA+ZkdIKDt7YwzsWj", "fe7a32d5-ed00-4f7a-a0a7-0ece6d0df485", "org-1377", "urn:ris-sued:foerderung", [], BEIDE),
    konto("73c51cb3bce05315461f1965b2eb286bcf130b5c4765", "v1UaZB48zJ4bTo9x5u14r/FY1Uc1dvEzbBT9yNZqQeQr", "1a0c4e0d-5899-40b2-a767-e8591541b61b", "org-0021", "urn:ris-sued:projekte", [ROLLE], BEIDE),
    konto("d6d3c2843728273e8ae9133da9add34f094875988661", "Jagu5r9ipBzxua2N2OJfd8OflnJGHk5A+2NfmLVEj+ma", "0a0130b8-8d59-4304-b379-ba318557a173", "org-1200", "urn:ris-sued:foerderung", [ROLLE], BEIDE),
], schalter)
probe = Aussteller("ris-sued-probe", ROOT, "/probe/anmeldung", "/probe/anmeldung/oauth/token", "urn:ris-sued:probe", [
    konto("a759011abe78f344b2bc37d3cd85026b6337bf4496d7", "JJ7c9bm7xv3e2YGybAnyIFaMDngDpdPFxZaAmlXrbVSK", "f5579033-8370-4e1c-ac24-9a8149685349", "org-9999", "urn:ris-sued:probe", [ROLLE], ["info"]),
], schalter)
app.register_blueprint(produktion.bp)
app.register_blueprint(probe.bp)

mit_token = produktion.verlangen("foerderung")
mit_rolle = produktion.rolle(ROLLE)


# -- request and response hooks

@app.before_request
async def vorher():
    if schalter.gemach and request.path.startswith(P):
        await asyncio.sleep(1.4)
    if schalter.bewegt:
        soll = int((time.monotonic() - START) // 20)
        while getattr(app, "schritt", 0) < min(soll, 80):
            bestand.weiter(getattr(app, "schritt", 0))
            app.schritt = getattr(app, "schritt", 0) + 1


def mag_gzip() -> bool:
    if "Accept-Encoding" not in request.headers:
        return False
    return request.accept_encodings.quality("gzip") > 0


@app.after_request
async def nachher(r: Response) -> Response:
    r.headers["X-Content-Type-Options"] = "nosniff"
    if not request.path.startswith((P, "/probe" + P)):
        return r
    r.headers.setdefault("Cache-Control", "private, no-cache" if r.status_code == 200 else "no-store")
    r.headers["Vary"] = "Authorization, Accept-Encoding"
    if r.status_code != 200 or request.method not in ("GET", "HEAD"):
        return r
    inhalt = await r.get_data(as_text=False)
    r.set_etag(hashlib.sha256(inhalt).hexdigest()[:24], weak=True)
    wert = request.headers.get("If-None-Match", "")
    if wert and request.if_none_match.contains_weak(r.get_etag()[0]):
        r.status_code = 304
        r.set_data(b"")
        for k in ("Content-Type", "Content-Length"):
            r.headers.pop(k, None)
        return r
    if len(inhalt) > 600 and mag_gzip():
        r.set_data(gzip.compress(inhalt, 6, mtime=0))
        r.headers["Content-Encoding"] = "gzip"
    return r


@app.errorhandler(HTTPException)
async def http_fehler(e: HTTPException) -> Response:
    r = problem(e.code or 500, {404: "Unter dieser Adresse gibt es nichts.", 405: "Diese Methode gibt es hier nicht."}.get(e.code, "Die Anfrage ist nicht möglich."))
    if e.code == 405 and getattr(e, "valid_methods", None):
        r.headers["Allow"] = ", ".join(sorted(e.valid_methods))
    return r


@app.errorhandler(Exception)
async def fehler(e: Exception) -> Response:
    app.logger.error("unexpected: %r", e)
    return problem(500, "Interner Fehler.")


# -- answers

def adresse(pfad: str, **abfrage) -> str:
    root = ROOT
    if schalter.hinter_proxy and "X-Forwarded-Host" in request.headers:
        root = request.headers.get("X-Forwarded-Proto", "http") + "://" + request.headers["X-Forwarded-Host"].split(",")[-1].strip()
    return root + pfad + ("?" + urlencode(abfrage, doseq=True) if abfrage else "")


def ortszeit(t: dt.datetime) -> str:
    return t.replace(tzinfo=UTC).astimezone(WIEN).isoformat(timespec="seconds")


def stand(a: Ausschreibung, jetzt: dt.datetime) -> str:
    if a.frist < jetzt:
        return "beendet"
    return "offen" if a.beginn <= jetzt.replace(tzinfo=UTC).astimezone(WIEN).date() else "geplant"


def jetzt_utc() -> dt.datetime:
    return dt.datetime.now(UTC).replace(tzinfo=None)


def kurz(a: Ausschreibung) -> dict:
    return {
        "id": a.nummer, "bezeichnung": a.bezeichnung, "stand": stand(a, jetzt_utc()),
        "geber": {"id": a.geber.id, "bezeichnung": a.geber.bezeichnung},
        "beginn": a.beginn.isoformat(), "frist": ortszeit(a.frist),
        "summe": None if a.betrag is None else {"betrag": a.betrag, "waehrung": a.waehrung},
        "themen": [t.schluessel for t in a.themen],
    }


def lang(a: Ausschreibung) -> dict:
    return kurz(a) | {
        "kurztext": a.kurztext, "antragssprachen": a.sprachen.split(","), "geaendert": ortszeit(a.geaendert),
        "stufen": adresse(f"{V3}/ausschreibungen/{a.nummer}/stufen"), "selbst": adresse(f"{V3}/ausschreibungen/{a.nummer}"),
    }


def geber_json(f: Foerdergeber) -> dict:
    out = {"id": f.id, "bezeichnung": f.bezeichnung, "land": f.land}
    if f.ror:
        out["ror"] = f.ror
    return out


class FalscherWert(ValueError):
    pass


ERLAUBT = {"stand", "geber", "thema", "suche", "fristVon", "fristBis", "sortierung", "page", "size"}


def zahl(name: str, vorgabe: int, hoechstens: int) -> int:
    wert = request.args.get(name)
    if wert is None:
        return vorgabe
    if not (wert.isascii() and wert.isdigit() and len(wert) <= 9 and 1 <= int(wert) <= hoechstens):
        raise FalscherWert(name)
    return int(wert)


def tag(name: str) -> dt.date | None:
    wert = request.args.get(name)
    if wert is None:
        return None
    try:
        t = dt.date.fromisoformat(wert)
    except ValueError:
        raise FalscherWert(name) from None
    if len(wert) != 10 or t.isoformat() != wert:
        raise FalscherWert(name)
    return t


def tagesanfang(t: dt.date) -> dt.datetime:
    """Midnight in Vienna as naive UTC."""
    if not dt.date(1900, 1, 1) <= t <= dt.date(9000, 1, 1):  # far from every call, and zones cannot overflow
        return dt.datetime(t.year, t.month, t.day)
    return dt.datetime(t.year, t.month, t.day, tzinfo=WIEN).astimezone(UTC).replace(tzinfo=None)


def auswahl(s):
    """The SELECT for the query parameters of a list."""
    for name in request.args:
        if name not in ERLAUBT or (name != "thema" and len(request.args.getlist(name)) > 1):
            raise FalscherWert(name)
    q, jetzt = select(Ausschreibung), jetzt_utc()
    heute = jetzt.replace(tzinfo=UTC).astimezone(WIEN).date()
    if (wert := request.args.get("stand")) is not None:
        if wert == "beendet":
            q = q.where(Ausschreibung.frist < jetzt)
        elif wert == "offen":
            q = q.where(Ausschreibung.frist >= jetzt, Ausschreibung.beginn <= heute)
        elif wert == "geplant":
            q = q.where(Ausschreibung.frist >= jetzt, Ausschreibung.beginn > heute)
        else:
            raise FalscherWert("stand")
    if "geber" in request.args:
        q = q.where(Ausschreibung.geber_id == zahl("geber", 0, 999_999_999))
    if themen := request.args.getlist("thema"):
        bekannt = set(s.scalars(select(Thema.schluessel)))
        if not set(themen) <= bekannt:
            raise FalscherWert("thema")
        q = q.where(Ausschreibung.themen.any(Thema.schluessel.in_(themen)))
    if (wert := request.args.get("suche")) is not None:
        if not 2 <= len(wert) <= 100:
            raise FalscherWert("suche")
        treffer = [n for n, b in s.execute(select(Ausschreibung.nummer, Ausschreibung.bezeichnung)) if wert.casefold() in b.casefold()]
        q = q.where(Ausschreibung.nummer.in_(treffer))
    if von := tag("fristVon"):
        q = q.where(Ausschreibung.frist >= tagesanfang(von))
    if bis := tag("fristBis"):
        if schalter.mitternacht:
            q = q.where(Ausschreibung.frist <= tagesanfang(bis))
        elif schalter.tag_danach:
            q = q.where(Ausschreibung.frist < tagesanfang(bis + dt.timedelta(days=1)))
        elif bis < dt.date.max:
            q = q.where(Ausschreibung.frist < tagesanfang(bis + dt.timedelta(days=1)))
    ordnung = {
        "frist": (Ausschreibung.frist, Ausschreibung.nummer), "-frist": (Ausschreibung.frist.desc(), Ausschreibung.nummer.desc()),
        "nummer": (Ausschreibung.nummer,),
    }.get(request.args.get("sortierung", "frist"))
    if ordnung is None:
        raise FalscherWert("sortierung")
    return q, ordnung


@app.errorhandler(FalscherWert)
async def falscher_wert(e: FalscherWert) -> Response:
    name = str(e)
    if name not in ERLAUBT:
        return problem(400, "Ein Parameter ist unbekannt.")
    return problem(400, f"Der Wert von „{name}“ ist nicht erlaubt.")


@app.get(V3 + "/ausschreibungen")
@mit_token
@mit_rolle
async def ausschreibungen() -> Response:
    with bestand.session() as s:
        q, ordnung = auswahl(s)
        seite, anzahl = zahl("page", 1, 100_000), zahl("size", 20, 50)
        gesamt = s.scalar(select(func.count()).select_from(q.subquery()))
        inhalt = [kurz(a) for a in s.scalars(q.order_by(*ordnung).offset((seite - 1) * anzahl).limit(anzahl))]
    seiten = -(-gesamt // anzahl)
    antwort = {"items": inhalt, "page": seite, "size": anzahl, "total": gesamt, "pages": seiten, "next": None, "prev": None}
    abfrage = {k: request.args.getlist(k) for k in request.args if k != "page"}
    if seite < seiten:
        antwort["next"] = adresse(V3 + "/ausschreibungen", **abfrage, page=seite + 1)
    if 1 < seite <= seiten:
        antwort["prev"] = adresse(V3 + "/ausschreibungen", **abfrage, page=seite - 1)
    return jsonify(antwort)


@app.get(V3 + "/ausschreibungen/<nummer>")
@mit_token
@mit_rolle
async def ausschreibung(nummer: str) -> Response:
    with bestand.session() as s:
        a = s.get(Ausschreibung, nummer)
        return problem(404, "Diese Ausschreibung gibt es nicht.") if a is None else jsonify(lang(a))


async def stufen(nummer: str) -> Response:
    with bestand.session() as s:
        a = s.get(Ausschreibung, nummer)
        if a is None:
            return problem(404, "Diese Ausschreibung gibt es nicht.")
        return jsonify([{"nr": x.nr, "art": x.art, "bis": ortszeit(x.bis)} for x in a.stufen])


if schalter.falsche_reihenfolge:
    stufen = mit_rolle(app.get(V3 + "/ausschreibungen/<nummer>/stufen")(mit_token(stufen)))
else:
    stufen = app.get(V3 + "/ausschreibungen/<nummer>/stufen")(mit_token(mit_rolle(stufen)))


@app.get(V3 + "/foerdergeber")
@mit_token
@mit_rolle
async def alle_geber() -> Response:
    with bestand.session() as s:
        return jsonify([geber_json(f) for f in s.scalars(select(Foerdergeber).order_by(Foerdergeber.id))])


@app.get(V3 + "/foerdergeber/<id>")
@mit_token
@mit_rolle
async def ein_geber(id: str) -> Response:
    with bestand.session() as s:
        f = s.get(Foerdergeber, int(id)) if id.isascii() and id.isdigit() and len(id) < 10 else None
        return problem(404, "Diesen Fördergeber gibt es nicht.") if f is None else jsonify(geber_json(f))


def info_antwort(umgebung: str) -> Response:
    c = g.claims
    return jsonify(
        dienst="Forschungsförderung Süd", umgebung=umgebung, version="v1", servicekonto=c["sub"], zugehoerigkeit=c["affiliation_id"],
        rollen=c["roles"], scopes=c["scope"].split(" "), gueltigBis=dt.datetime.fromtimestamp(c["exp"], UTC).isoformat(),
        endpoints={"foerderung": [{"name": "FUNDINGS", "majorVersion": 3, "minorVersion": 1, "url": ROOT + V3 + "/ausschreibungen"}]},
    )


@app.get(P + "/info/v1/oauth/info/")
@produktion.verlangen("info")
async def info() -> Response:
    return info_antwort("produktion")


@app.get("/probe" + P + "/info/v1/oauth/info/")
@probe.verlangen("info")
async def probe_info() -> Response:
    return info_antwort("probe")


@app.get(V3 + "/api-docs")
async def api_docs() -> Response:
    r = jsonify(beschreibung(ROOT, V3, produktion.token_url))
    r.headers["Cache-Control"] = "public, max-age=30"
    return r


@app.get("/registry.json")
async def registry() -> Response:
    return jsonify(member=[{"id": "RSU", "acronym": "RIS-S", "name": "RIS Süd", "contact": "ris@sued.example", "oauth2": produktion.token_url, "info": ROOT + P + "/info/v1/oauth/info/"}])


if __name__ == "__main__":
    config = Config()
    config.bind = [f"127.0.0.1:{PORT}"]
    config.include_server_header = False
    config.graceful_timeout = 2
    config.accesslog = None
    asyncio.run(serve(app, config))
