"""Data model and data of the funding register (SQLAlchemy on an in-memory SQLite)."""
from __future__ import annotations

import datetime as dt
from decimal import Decimal
from zoneinfo import ZoneInfo

from sqlalchemy import Column, ForeignKey, Table, create_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship
from sqlalchemy.pool import StaticPool

WIEN = ZoneInfo("Europe/Vienna")
UTC = dt.timezone.utc


class Base(DeclarativeBase):
    pass


ausschreibung_thema = Table(
    "ausschreibung_thema",
    Base.metadata,
    Column("nummer", ForeignKey("ausschreibung.nummer"), primary_key=True),
    Column("schluessel", ForeignKey("thema.schluessel"), primary_key=True),
)


class Foerdergeber(Base):
    __tablename__ = "foerdergeber"
    id: Mapped[int] = mapped_column(primary_key=True)
    bezeichnung: Mapped[str]
    land: Mapped[str]
    ror: Mapped[str | None]


class Thema(Base):
    __tablename__ = "thema"
    schluessel: Mapped[str] = mapped_column(primary_key=True)
    bezeichnung: Mapped[str]


class Ausschreibung(Base):
    __tablename__ = "ausschreibung"
    nummer: Mapped[str] = mapped_column(primary_key=True)
    bezeichnung: Mapped[str]
    kurztext: Mapped[str]
    geber_id: Mapped[int] = mapped_column(ForeignKey("foerdergeber.id"))
    beginn: Mapped[dt.date]
    frist: Mapped[dt.datetime]  # UTC, naive: SQLite knows no zones
    betrag_cent: Mapped[int | None]
    waehrung: Mapped[str]
    sprachen: Mapped[str]
    geaendert: Mapped[dt.datetime]
    geber: Mapped[Foerdergeber] = relationship(lazy="joined")
    themen: Mapped[list[Thema]] = relationship(secondary=ausschreibung_thema, lazy="selectin", order_by=Thema.schluessel)
    stufen: Mapped[list["Stufe"]] = relationship(lazy="selectin", order_by="Stufe.nr")

    @property
    def betrag(self) -> str | None:
        return None if self.betrag_cent is None else str((Decimal(self.betrag_cent) / 100).quantize(Decimal("0.01")))


class Stufe(Base):
    __tablename__ = "stufe"
    nummer: Mapped[str] = mapped_column(ForeignKey("ausschreibung.nummer"), primary_key=True)
    nr: Mapped[int] = mapped_column(primary_key=True)
    art: Mapped[str]
    bis: Mapped[dt.datetime]


GEBER = [
    (11, "Fonds für Grundlagenforschung Österreich", "AT", "https://ror.org/0a1b2c301"),
    (14, "Land Kärnten – Wissenschaftsreferat", "AT", None),
    (23, "Bäuerle-Stiftung für Straßenbauforschung", "DE", "https://ror.org/0a1b2c319"),
    (31, "Fondation Étoile du Léman", "CH", "https://ror.org/0a1b2c327"),
    (47, "Jubiläumsfonds der Žilina-Gesellschaft", "SK", None),
]
THEMEN = [
    ("1010", "Mathematik"), ("1020", "Informatik"), ("1050", "Geowissenschaften"), ("2010", "Bauwesen"),
    ("3010", "Medizinisch-theoretische Wissenschaften"), ("4010", "Land- und Forstwirtschaft"),
    ("5020", "Wirtschaftswissenschaften"), ("6020", "Sprach- und Literaturwissenschaften"), ("6050", "Kunstwissenschaften"),
]
GEGENSTAND = [
    "Lawinenschutz & Waldökologie", "Übersetzungskulturen", "Zahlentheorie", "Herzinsuffizienz im höheren Alter", "Erklärbare KI",
    "Recycling von Asphalt", "Jüdisches Leben in Kärnten", "Bienengesundheit", "Volksmusik – „Jodeln heute“", "Größenordnungen: Skalengesetze",
    "Œuvres inédites", "Müllvermeidung in Gemeinden", "Grundwasser unter Städten", "Ältere Arbeitnehmer:innen", "Sôňa-Čechová-Lesungen",
    "Façaden & Denkmalpflege", "Töne, Geräusche, Stille",
]
FORMAT = ["Einzelprojekt", "Verbundprojekt", "Reisestipendium", "Forschungspreis", "Gastprofessur", "Doktoratskolleg"]
BETRAEGE = [4_800_00, 25_000_00, 99_999_99, 240_000_00, 750_000_50, 2_400_000_00, None, 45_000_000_00]


def utc(day: dt.date, hour: int, minute: int) -> dt.datetime:
    """A local time of the office as naive UTC."""
    return dt.datetime(day.year, day.month, day.day, hour, minute, tzinfo=WIEN).astimezone(UTC).replace(tzinfo=None)


def neue_ausschreibung(i: int, tag: dt.date) -> Ausschreibung:
    stunde, minute = [(12, 0), (14, 0), (23, 59), (17, 30), (0, 0)][i % 5]
    frist = utc(tag, stunde, minute)
    geber = GEBER[(i * 3 + i // 11) % len(GEBER)]
    thema = GEGENSTAND[i % len(GEGENSTAND)]
    art = FORMAT[(i // 3) % len(FORMAT)]
    a = Ausschreibung(
        nummer=f"A{26 + i % 2}-{1000 + (i * 389) % 9000:04d}", bezeichnung=f"{thema} ({art})",
        kurztext=f"{geber[1]}: {art} zum Gegenstand »{thema}«. Eingereicht wird über das Portal; maßgeblich ist die Ortszeit in Wien.",
        geber_id=geber[0], beginn=tag - dt.timedelta(days=40 + (i * 13) % 80), frist=frist,
        betrag_cent=BETRAEGE[(i * 5 + i // 9) % len(BETRAEGE)], waehrung="CHF" if geber[2] == "CH" else "EUR",
        sprachen=["de", "de,en", "en", "de,sl", "fr,de"][i % 5],
        geaendert=utc(tag - dt.timedelta(days=130), 8, i % 60),
    )
    a.stufen = [Stufe(nr=1, art="SKIZZE" if i % 4 == 0 else "ANTRAG", bis=frist)]
    if i % 4 == 0:
        a.stufen.append(Stufe(nr=2, art="VOLLANTRAG", bis=utc(tag + dt.timedelta(days=75), 12, 0)))
    return a


class Bestand:
    def __init__(self, anzahl: int = 112):
        self.engine = create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})
        Base.metadata.create_all(self.engine)
        with Session(self.engine) as s:
            s.add_all(Foerdergeber(id=i, bezeichnung=n, land=l, ror=r) for i, n, l, r in GEBER)
            themen = [Thema(schluessel=k, bezeichnung=n) for k, n in THEMEN]
            s.add_all(themen)
            for i in range(anzahl):
                a = neue_ausschreibung(i, dt.date(2026, 9, 21) + dt.timedelta(days=(i * 47 + 5) % 397))
                a.themen = [themen[(i * 2) % 9]] + ([themen[(i * 2 + 3) % 9]] if i % 3 == 1 else [])
                s.add(a)
            s.commit()

    def session(self) -> Session:
        return Session(self.engine)

    def weiter(self, k: int) -> None:
        """Life goes on: a new call behind all others, and an older text is edited."""
        with self.session() as s:
            i = 112 + k
            s.add(neue_ausschreibung(i, dt.date(2028, 1, 10) + dt.timedelta(days=k)))
            alt = s.get(Ausschreibung, neue_ausschreibung((k * 7) % 112, dt.date(2027, 1, 1)).nummer)
            alt.kurztext += f" Hinweis {k + 1}: Frist unverändert."
            alt.geaendert = dt.datetime.now(UTC).replace(tzinfo=None, microsecond=0)
            s.commit()
