"""Datenschicht für Eve: SQLAlchemy auf einer SQLite-Datenbank im Speicher."""
import copy
import datetime as dt
import threading
import time

from eve.io.base import BaseJSONEncoder, DataLayer
from flask import request
from sqlalchemy import JSON, Column, DateTime, Float, ForeignKey, Integer, String, create_engine, exists, func, select
from sqlalchemy.orm import Session, declarative_base, contains_eager, joinedload, relationship
from sqlalchemy.pool import StaticPool

import daten
from daten import iso
from variante import ist

Base = declarative_base()


class Foerdergeber(Base):
    __tablename__ = "foerdergeber"
    id = Column(String, primary_key=True)
    name = Column(String, nullable=False)
    kuerzel = Column(String, nullable=False)
    name_klein = Column(String, nullable=False)


class Ausschreibung(Base):
    __tablename__ = "ausschreibung"
    id = Column(String, primary_key=True)
    titel = Column(String, nullable=False)
    titel_klein = Column(String, nullable=False)
    kurztext = Column(String, nullable=False)
    foerdergeber_id = Column(ForeignKey("foerdergeber.id"), nullable=False)
    foerdergeber = relationship(Foerdergeber)
    regionen = Column(JSON, nullable=False)
    beginn = Column(DateTime, nullable=False)
    ende = Column(DateTime)
    ende_tag = Column(String)
    summe_von = Column(Integer, nullable=False)
    summe_bis = Column(Integer, nullable=False)
    eigenanteil = Column(Float, nullable=False)
    stichworte = Column(JSON, nullable=False)
    webseite = Column(String, nullable=False)
    geaendert = Column(DateTime, nullable=False)
    sichtbar = Column(DateTime, nullable=False)


class Region(Base):
    __tablename__ = "ausschreibung_region"
    ausschreibung_id = Column(ForeignKey("ausschreibung.id"), primary_key=True)
    region = Column(String, primary_key=True)


class Frist(Base):
    __tablename__ = "frist"
    id = Column(String, primary_key=True)
    ausschreibung_id = Column(ForeignKey("ausschreibung.id"), nullable=False)
    ausschreibung = relationship(Ausschreibung)
    art = Column(String, nullable=False)
    datum = Column(DateTime, nullable=False)
    tag = Column(String, nullable=False)


def jetzt():
    return dt.datetime.now(dt.timezone.utc).replace(tzinfo=None)


def status_von(a, t=None):
    t = t or jetzt()
    if t < a.beginn:
        return "GEPLANT"
    if a.ende is not None and t >= a.ende:
        return "GESCHLOSSEN"
    return "OFFEN"


def zeige_foerdergeber(f):
    return {"id": f.id, "name": f.name, "kuerzel": f.kuerzel}


def zeige_kurz(a):
    return {"id": a.id, "titel": a.titel, "foerdergeber_id": a.foerdergeber_id, "status": status_von(a),
            "regionen": list(a.regionen), "beginn": iso(a.beginn), "frist": iso(a.ende), "summe_bis": a.summe_bis}


def zeige(a, fristen):
    return {"id": a.id, "titel": a.titel, "kurztext": a.kurztext, "foerdergeber": zeige_foerdergeber(a.foerdergeber),
            "status": status_von(a), "regionen": list(a.regionen), "beginn": iso(a.beginn), "frist": iso(a.ende),
            "summe_von": a.summe_von, "summe_bis": a.summe_bis, "eigenanteil": a.eigenanteil,
            "stichworte": list(a.stichworte), "webseite": a.webseite, "geaendert": iso(a.geaendert),
            "fristen": [{"id": f.id, "art": f.art, "datum": iso(f.datum)} for f in fristen]}


def zeige_frist(f):
    return {"id": f.id, "ausschreibung": f.ausschreibung_id, "titel": f.ausschreibung.titel, "art": f.art, "datum": iso(f.datum)}


class SqlSchicht(DataLayer):
    json_encoder_class = BaseJSONEncoder

    def init_app(self, app):
        self.merker = {}
        self.schloss = threading.RLock()  # eine Verbindung für alle Fäden
        self.engine = create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})
        Base.metadata.create_all(self.engine)
        aus, fri = daten.erzeuge()
        with Session(self.engine) as s:
            for i, n, k in daten.FOERDERGEBER:
                s.add(Foerdergeber(id=i, name=n, kuerzel=k, name_klein=n.lower()))
            s.flush()
            for n, a in enumerate(aus):
                such_tag = a["ende"]
                if ist("ulme") and n in (22, 57, 91, 126, 149) and such_tag:
                    such_tag -= dt.timedelta(days=35)
                s.add(Ausschreibung(titel_klein=a["titel"].lower(), ende_tag=such_tag.strftime("%Y-%m-%d") if such_tag else None, **a))
                s.flush()
                for r in a["regionen"]:
                    s.add(Region(ausschreibung_id=a["id"], region=r))
            for f in fri:
                s.add(Frist(id=f["id"], ausschreibung_id=f["ausschreibung"], art=f["art"], datum=f["datum"], tag=f["datum"].strftime("%Y-%m-%d")))
            s.commit()

    # --- Abfragen -------------------------------------------------------
    def _ausschreibungen(self, p):
        A = Ausschreibung
        q = select(A).options(joinedload(A.foerdergeber))
        t = jetzt()
        q = q.where(A.sichtbar <= t)
        if "status" in p:
            if p["status"] == "GEPLANT":
                q = q.where(A.beginn > t)
            elif p["status"] == "GESCHLOSSEN":
                q = q.where(A.beginn <= t, A.ende <= t)
            else:
                q = q.where(A.beginn <= t, (A.ende.is_(None)) | (A.ende > t))
        if "foerdergeber" in p:
            q = q.where(A.foerdergeber_id == p["foerdergeber"])
        if "region" in p:
            if ist("linde"):
                q = q.join(Region, Region.ausschreibung_id == A.id).where(Region.region.in_(p["region"]))
            else:
                q = q.where(exists().where(Region.ausschreibung_id == A.id, Region.region.in_(p["region"])))
        if "frist_ab" in p:
            q = q.where(A.ende_tag >= p["frist_ab"])
        if "frist_bis" in p:
            q = q.where(A.ende_tag <= p["frist_bis"])
        if "summe_ab" in p:
            q = q.where(A.summe_bis >= p["summe_ab"])
        if "suche" in p:
            q = q.where(func.instr(A.titel_klein, p["suche"].lower()) > 0)
        s = p["sortierung"]
        if s == "frist":
            q = q.order_by(A.ende.is_(None), A.ende, A.id)
        elif s == "-frist":
            q = q.order_by(A.ende.is_(None), A.ende.desc(), A.id)
        elif s == "titel":
            q = q.order_by(A.titel, A.id)
        elif s == "-titel":
            q = q.order_by(A.titel.desc(), A.id)
        else:
            q = q.order_by(A.id)
        return q

    def _fristen(self, p):
        q = select(Frist).join(Frist.ausschreibung).where(Ausschreibung.sichtbar <= jetzt()).options(contains_eager(Frist.ausschreibung))
        if "ab" in p:
            q = q.where(Frist.tag >= p["ab"])
        if "bis" in p:
            q = q.where(Frist.tag <= p["bis"])
        if "art" in p:
            q = q.where(Frist.art == p["art"])
        return q.order_by(Frist.datum, Frist.id)

    def find(self, resource, req, sub_resource_lookup, perform_count=True):
        p = request.geprueft
        bau = {"ausschreibungen": self._ausschreibungen, "fristen": self._fristen,
               "foerdergeber": lambda p: select(Foerdergeber).order_by(Foerdergeber.id)}[resource]
        zeig = {"ausschreibungen": zeige_kurz, "fristen": zeige_frist, "foerdergeber": zeige_foerdergeber}[resource]
        if ist("esche"):
            schluessel = (resource, tuple(sorted(request.args.items())))
            alt = self.merker.get(schluessel)
            if alt and time.monotonic() < alt[0]:
                return copy.deepcopy(alt[1]), alt[2]
        q = bau(p)
        with self.schloss, Session(self.engine) as s:
            gesamt = s.scalar(select(func.count()).select_from(q.order_by(None).options().subquery()))
            if ist("linde") and "region" in p:
                gesamt = s.scalar(select(func.count(func.distinct(q.order_by(None).options().subquery().c.id))))
            zeilen = s.scalars(q.limit(req.max_results).offset((req.page - 1) * req.max_results)).unique().all()
            liste = [zeig(z) for z in zeilen]
            if ist("esche"):
                self.merker[schluessel] = (time.monotonic() + 20, copy.deepcopy(liste), gesamt)
            return liste, gesamt

    def find_one(self, resource, req, check_auth_value=True, force_auth_field_projection=False, mongo_options=None, **lookup):
        with self.schloss, Session(self.engine) as s:
            if resource == "foerdergeber":
                f = s.get(Foerdergeber, lookup["id"])
                return zeige_foerdergeber(f) if f else None
            a = s.get(Ausschreibung, lookup["id"])
            if a is None or a.sichtbar > jetzt():
                return None
            fristen = s.scalars(select(Frist).where(Frist.ausschreibung_id == a.id).order_by(Frist.datum, Frist.id)).all()
            return zeige(a, fristen)

    def statistik(self):
        with self.schloss, Session(self.engine) as s:
            t = jetzt()
            alle = s.scalars(select(Ausschreibung).where(Ausschreibung.sichtbar <= t)).all()
            st = {"GEPLANT": 0, "OFFEN": 0, "GESCHLOSSEN": 0}
            fg = {f.id: 0 for f in s.scalars(select(Foerdergeber).order_by(Foerdergeber.id))}
            for a in alle:
                st[status_von(a, t)] += 1
                fg[a.foerdergeber_id] += 1
            return {"ausschreibungen": len(alle), "ohne_frist": sum(1 for a in alle if a.ende is None),
                    "nach_status": st, "nach_foerdergeber": [{"foerdergeber": k, "anzahl": v} for k, v in fg.items()]}

    def is_empty(self, resource):
        return False
