"""The tables of the node: tokens and opportunities, in an SQLite database in memory."""
from datetime import datetime, timezone
from zoneinfo import ZoneInfo

from sqlalchemy import JSON, Float, Integer, String, create_engine, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column
from sqlalchemy.pool import StaticPool

VIENNA = ZoneInfo("Europe/Vienna")
KINDS = ["grant", "fellowship", "prize", "mobility", "equipment"]
COUNTRIES = ["AT", "CH", "DE", "HU", "IT", "SI"]
DISCIPLINES = ["arts", "engineering", "humanities", "law", "life-sciences", "medicine", "natural-sciences", "social-sciences"]

engine = create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})


class Base(DeclarativeBase):
    pass


class Token(Base):
    __tablename__ = "tokens"
    value: Mapped[str] = mapped_column(String, primary_key=True)
    environment: Mapped[str] = mapped_column(String)
    client: Mapped[str] = mapped_column(String)
    audience: Mapped[str] = mapped_column(String)
    expires: Mapped[float] = mapped_column(Float)


class Opportunity(Base):
    __tablename__ = "opportunities"
    number: Mapped[int] = mapped_column(Integer, primary_key=True)
    key: Mapped[str] = mapped_column(String, unique=True)
    kind: Mapped[str] = mapped_column(String)
    country: Mapped[str] = mapped_column(String)
    disciplines: Mapped[list] = mapped_column(JSON)
    title_de: Mapped[str] = mapped_column(String)
    title_en: Mapped[str] = mapped_column(String)
    abstract_de: Mapped[str] = mapped_column(String)
    abstract_en: Mapped[str] = mapped_column(String)
    budget: Mapped[int] = mapped_column(Integer)
    closing: Mapped[str | None] = mapped_column(String)  # in UTC, so that text sorts as time
    updated: Mapped[str] = mapped_column(String)

    @property
    def closing_local(self) -> datetime | None:
        if self.closing is None:
            return None
        return datetime.fromisoformat(self.closing).replace(tzinfo=timezone.utc).astimezone(VIENNA)


SUBJECTS = [
    ("Donauauen", "Danube floodplains"), ("Streichquartett", "String quartets"), ("Quantenoptik", "Quantum optics"),
    ("Ärztliche Ethik", "Medical ethics"), ("Völkerrecht", "International law"), ("Bahnwesen", "Railway systems"),
    ("Mittelalterliche Handschriften", "Medieval manuscripts"), ("Übergewicht im Alter", "Obesity in old age"), ("Bürgerräte", "Citizens' assemblies"),
    ("Alpine Geologie", "Alpine geology"), ("Mehrsprachigkeit", "Multilingualism"), ("Krebsforschung", "Cancer research"), ("Straßenkunst", "Street art"),
]
WORDS = {"grant": ("Förderung", "Grant"), "fellowship": ("Stipendium", "Fellowship"), "prize": ("Preis", "Prize"),
         "mobility": ("Reisebeihilfe", "Travel allowance"), "equipment": ("Geräteprogramm", "Equipment scheme")}
CLOSINGS = ["2026-12-31T22:59:59", "2027-01-15T11:00:00", "2027-03-28T00:30:00", "2027-06-30T21:59:00", "2027-06-30T22:30:00", "2028-02-29T12:00:00",
            "2027-01-15T11:00:00", "2027-10-31T00:30:00", "2027-10-31T01:30:00", "2099-12-31T22:59:59", "2026-02-02T16:00:00", "2027-07-01T10:00:00", "2027-01-15T11:00:00"]
BUDGETS = [0, 5000, 25000, 400000, 400000, 1250000, 9007199254740991, 75000, 99999, 400000, 3000000000]
ODD_KEYS = {3: "EU/2026/07", 8: "joint call α+β", 12: "50%", 17: "a b", 18: "a%20b", 25: "R&D;v=1", 33: "ü.json", 40: "~x'(!)*", 52: "ntu-0051", 60: "#60?"}


def fill() -> None:
    Base.metadata.create_all(engine)
    with Session(engine) as session:
        for n in range(1, 68):
            kind, (de, en) = KINDS[(n * 3 + n // 6) % 5], SUBJECTS[(n * 7) % 13]
            first, second = DISCIPLINES[(n * 5) % 8], DISCIPLINES[(n * n + 3) % 8]
            budget = BUDGETS[(n * 4) % 11]
            session.add(Opportunity(
                number=n, key=ODD_KEYS.get(n, f"NTU-{n:04d}"), kind=kind, country=COUNTRIES[(n * 5 + n // 4) % 6],
                disciplines=sorted({first, second}) if n % 7 else [],
                title_de=f"{WORDS[kind][0]} {de}" + (" 100 % \"Grün\"" if n % 11 == 4 else ""), title_en=f"{WORDS[kind][1]}: {en}",
                abstract_de=f"Die Ausschreibung unterstützt Vorhaben zum Thema {de}; Höchstbetrag {budget} Euro. " * (1 + n % 3),
                abstract_en=f"The call supports projects on {en}; at most {budget} euros. " * (1 + n % 3),
                budget=budget, closing=None if n % 9 == 5 else CLOSINGS[(n * 6) % 13],
                updated=f"2026-{1 + n % 10:02d}-{1 + (n * 11) % 28:02d}T{n % 24:02d}:{(n * 17) % 60:02d}:00"))
        session.commit()


def opportunity(key: str) -> Opportunity | None:
    with Session(engine, expire_on_commit=False) as session:
        return session.scalar(select(Opportunity).where(Opportunity.key == key))
