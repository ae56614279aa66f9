"""Data model and sample data."""
import random
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

from sqlalchemy import (Boolean, DateTime, ForeignKey, Integer, Numeric, String, create_engine)
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship
from sqlalchemy.pool import StaticPool
from sqlalchemy.types import TypeDecorator

from settings import NODE

VIENNA = ZoneInfo("Europe/Vienna")
REGIONS = ["VIENNA", "BURGENLAND", "LOWER_AUSTRIA", "CARINTHIA", "UPPER_AUSTRIA", "SALZBURG",
           "STYRIA", "TYROL", "VORARLBERG"]


class UtcDateTime(TypeDecorator):
    """Keeps instants as UTC: SQLite has no type with an offset."""
    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value, dialect):
        if value is None or NODE == "connexion-offset":
            return value
        return value.astimezone(timezone.utc).replace(tzinfo=None)

    def process_result_value(self, value, dialect):
        return None if value is None else value.replace(tzinfo=timezone.utc)


class Base(DeclarativeBase):
    pass


class Funder(Base):
    __tablename__ = "funder"
    id: Mapped[str] = mapped_column(String(40), primary_key=True)
    acronym: Mapped[str] = mapped_column(String(20))
    name: Mapped[str] = mapped_column(String(200))
    website: Mapped[str] = mapped_column(String(200))
    country_code: Mapped[str] = mapped_column(String(2))


class FundingRegion(Base):
    __tablename__ = "funding_region"
    funding_id: Mapped[str] = mapped_column(ForeignKey("funding.id"), primary_key=True)
    code: Mapped[str] = mapped_column(String(20), primary_key=True)


class Stage(Base):
    __tablename__ = "stage"
    funding_id: Mapped[str] = mapped_column(ForeignKey("funding.id"), primary_key=True)
    number: Mapped[int] = mapped_column(Integer, primary_key=True)
    start: Mapped[datetime] = mapped_column(UtcDateTime)
    end: Mapped[datetime] = mapped_column(UtcDateTime)
    note: Mapped[str | None] = mapped_column(String(200))


class Funding(Base):
    __tablename__ = "funding"
    id: Mapped[str] = mapped_column(String(40), primary_key=True)
    type: Mapped[str] = mapped_column(String(20))
    name_de: Mapped[str] = mapped_column(String(200))
    name_en: Mapped[str | None] = mapped_column(String(200))
    search_text: Mapped[str] = mapped_column(String(400))
    acronym: Mapped[str | None] = mapped_column(String(20))
    funder_id: Mapped[str] = mapped_column(ForeignKey("funder.id"))
    volume: Mapped[float] = mapped_column(Numeric(12, 2, asdecimal=False))
    currency: Mapped[str] = mapped_column(String(3))
    start: Mapped[datetime] = mapped_column(UtcDateTime)
    end: Mapped[datetime | None] = mapped_column(UtcDateTime)
    fully_funded: Mapped[bool] = mapped_column(Boolean)
    projects: Mapped[int] = mapped_column(Integer)
    contact: Mapped[str] = mapped_column(String(80))
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime)

    funder: Mapped[Funder] = relationship(lazy="selectin")
    regions: Mapped[list[FundingRegion]] = relationship(lazy="selectin",
                                                        order_by=FundingRegion.code)
    stages: Mapped[list[Stage]] = relationship(order_by=Stage.number)


FUNDERS = [
    ("oeaff", "ÖAFF", "Österreichischer Alpenforschungsfonds", "AT"),
    ("zft", "ZFT", "Zukunftsfonds Tirol & Vorarlberg", "AT"),
    ("fic", "FIC", "Fundação Ibérica para a Ciência", "PT"),
    ("lfn", "ŁFN", "Łódzki Fundusz Nauki", "PL"),
    ("cnv", "ČNV", "Český nadační fond pro vědu", "CZ"),
    ("irs", "ÍRS", "Íslenski rannsóknasjóðurinn", "IS"),
]
TOPICS = [
    ("Gletscherrückgang", "Glacier retreat"), ("Künstliche Intelligenz", "Artificial intelligence"),
    ("Quantenphysik", "Quantum physics"), ("Bodenökologie", "Soil ecology"),
    ("Mehrsprachigkeit", "Multilingualism"), ("Höhenmedizin", "High-altitude medicine"),
    ("Wasserstoff & Energie", "Hydrogen & energy"), ("Frühe Neuzeit", "Early modern history"),
    ("Naturgefahren", "Natural hazards"), ("Holzbau", "Timber construction"),
    ("Pflegewissenschaft", "Nursing science"), ("Bäuerliche Kultur", "Rural culture"),
    ("Datenschutz", "Data protection"), ("100 % erneuerbar", "100 % renewable"),
]
FORMATS = [("Einzelprojekte", "Single projects"), ("Nachwuchsgruppen", "Junior groups"),
           ("Verbünde", "Consortia"), ("Übersetzungskosten", "Translation costs"),
           ("Großgeräte", "Large equipment")]
CONTACTS = ["Jürgen Größl", "Zoë Müller-Weiß", "Małgorzata Żak", "Þóra Jónsdóttir",
            "João Gonçalves", "Jiří Dvořák"]

engine = create_engine("sqlite://", poolclass=StaticPool,
                       connect_args={"check_same_thread": False})


def fill():
    Base.metadata.create_all(engine)
    rnd = random.Random(20261)
    with Session(engine) as session:
        for id_, acronym, name, country in FUNDERS:
            session.add(Funder(id=id_, acronym=acronym, name=name, country_code=country,
                               website=f"https://{id_}.example/"))
        for i in range(140):
            de, en = TOPICS[i % len(TOPICS)]
            form_de, form_en = FORMATS[(i // 3) % len(FORMATS)]
            year = 2024 + i % 5
            type_ = ("ONGOING_CALL" if i % 35 == 12 else
                     rnd.choice(["CALL", "CALL", "CALL", "AWARD", "SCHOLARSHIP"]))
            start = datetime(year, 1 + (i * 7) % 12, 1 + (i * 5) % 28, 9, 0, tzinfo=VIENNA)
            end = None
            if type_ != "ONGOING_CALL":
                day = start.date() + timedelta(days=rnd.choice([42, 90, 180, 365]))
                end = datetime(day.year, day.month, day.day, 14, 0, tzinfo=VIENNA)
            name_de = f"{de}: {form_de} {year}"
            name_en = f"{en}: {form_en} {year}" if i % 4 else None
            updated = (datetime(2026, 11, 9, 22, 10, 0, tzinfo=timezone.utc)
                       - timedelta(minutes=37 * ((i * 53) % 140)
                                   + (60 * 24 * 60 if i % 3 == 0 else 0)))
            start = start.astimezone(timezone.utc)
            end = end and end.astimezone(timezone.utc)
            id_ = f"AF-{year}-{i + 1:04d}"
            session.add(Funding(
                id=id_, type=type_, name_de=name_de, name_en=name_en,
                search_text=f"{name_de}\n{name_en or ''}".casefold(),
                acronym=f"{de[:3].upper()}{i + 1}" if i % 3 else None,
                funder_id=FUNDERS[(i * i + i // 5) % len(FUNDERS)][0],
                volume=rnd.choice([5000, 12500.5, 80000, 249999.99, 1000000, 3500000]),
                currency="ISK" if i % 29 == 0 else "EUR", start=start, end=end,
                fully_funded=bool(i % 2), projects=rnd.randint(1, 60),
                contact=rnd.choice(CONTACTS), updated_at=updated,
                regions=[FundingRegion(code=code)
                         for code in rnd.sample(REGIONS, rnd.choice([0, 1, 1, 2, 3, 5, 9]))]))
            if end is not None:
                middle = start + (end - start) / 2
                middle = middle.replace(hour=12, minute=0)
                stages = [(start, end, None)] if i % 3 else [
                    (start, middle, "Kurzantrag"), (middle, end, "Vollantrag (auf Einladung)")]
                for number, (a, b, note) in enumerate(stages, 1):
                    session.add(Stage(funding_id=id_, number=number, start=a, end=b, note=note))
        session.commit()
