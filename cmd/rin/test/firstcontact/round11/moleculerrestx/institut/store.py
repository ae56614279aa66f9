"""Generated grant records of the institut node, kept in SQLite; the seed is fixed."""
import random
from datetime import datetime, timedelta, timezone

from sqlalchemy import Boolean, Column, Integer, MetaData, String, Table, create_engine
from sqlalchemy.pool import StaticPool

rnd = random.Random(730219)
engine = create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})
meta = MetaData()
sponsors = Table("sponsors", meta,
                 Column("code", String, primary_key=True), Column("label", String), Column("country", String), Column("offset", Integer))
grants = Table("grants", meta,
               Column("number", Integer, primary_key=True), Column("title", String), Column("folded", String), Column("sponsor", String),
               Column("kind", String), Column("phase", String), Column("closes", String), Column("volume", Integer),
               Column("summary", String), Column("languages", String), Column("remote", Boolean), Column("rate", Integer), Column("contact", String))
meta.create_all(engine)

SPONSORS = [("ACAD", "Academy of Sciences", "AT", 60), ("BUND", "Federal Research Fund", "DE", 120), ("KATH", "Himalaya Trust", "NP", 345),
            ("NORD", "Nordic Council", "NO", 0), ("OVER", "Overseas Endowment", "US", -300)]
KINDS = ["PROJECT", "FELLOWSHIP", "TRAVEL", "EQUIPMENT", "PRIZE"]
PHASES = ["PLANNED", "OPEN", "REVIEW", "DONE"]
TOPICS = ["Marine biology", "Corpus linguistics", "Photonics", "Peace studies", "Übersetzung und Recht", "Soil carbon", "Child health",
          "Theory of computing", "Folk music", "Hydrogen", "Migration", "Palaeobotany"]
SUFFIX = ["seed money", "50% co-funding", "visiting chair", "phase_2", "young groups", "lab equipment", "summer school", "100% cost cover", "exchange"]


def fill():
    start = datetime(2026, 10, 1, 10, 0, tzinfo=timezone.utc)
    moments, at = [], start
    while len(moments) < 72:
        at += timedelta(days=rnd.randint(1, 9), hours=rnd.choice([0, 0, 3, 12]))
        moments.extend([at] * rnd.choice([1, 1, 1, 2, 3]))
    moments = moments[:72]
    for edge in (10, 20, 25, 40, 50):
        if moments[edge - 1] == moments[edge]:
            step = 1
            while moments[edge - 1 + step] == moments[edge] and step < 3:
                step += 1
            for n in range(edge, min(72, edge + step)):
                if moments[n] == moments[edge - 1]:
                    moments[n] += timedelta(hours=2)
    numbers = rnd.sample(range(3001, 3199), 72)
    rows = []
    for n, when in enumerate(moments):
        title = f"{rnd.choice(TOPICS)}, {rnd.choice(SUFFIX)}"
        kind, sponsor = rnd.choice(KINDS), rnd.choice(SPONSORS)
        rows.append(dict(number=numbers[n], title=title, folded=title.casefold(), sponsor=sponsor[0], kind=kind, phase=rnd.choice(PHASES),
                         closes=when.strftime("%Y-%m-%dT%H:%M:%SZ"), volume=rnd.randint(4, 900) * 1000,
                         summary=f"The {sponsor[1]} offers a {kind.lower()} for work on “{title}”.",
                         languages=rnd.choice(["de", "en", "de en", "en fr"]), remote=rnd.random() < 0.4, rate=rnd.choice([0, 25, 50, 75, 100]),
                         contact=f"{sponsor[0].lower()}-desk@institut.invalid"))
    with engine.begin() as con:
        con.execute(sponsors.insert(), [dict(zip(("code", "label", "country", "offset"), s)) for s in SPONSORS])
        con.execute(grants.insert(), rows)


fill()
