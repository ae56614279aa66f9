"""The node's data: an SQLite database in memory, filled at start."""
import datetime as dt
import os
import secrets
import sqlite3

PROFILE = os.environ.get("NODE", "").partition("-")[2]

FUNDERS = [
    # id, name, country, homepage, contract office, billing account
    ("aurora", "Aurora Fonds für Polarforschung", "DE", "https://aurora.example/", "i.brandt@intern.aurora.example", "DE02 1203 0000 0000 2020 51"),
    ("cenelec-r", "Fondation Cénélec pour la recherche", "FR", "https://cenelec-r.example/", "compta@intern.cenelec-r.example", "FR76 3000 6000 0112 3456 7890 189"),
    ("dunaj", "Nadácia Dunaj", "SK", "https://dunaj.example/", "zmluvy@intern.dunaj.example", "SK31 1200 0000 1987 4263 7541"),
    ("helvet", "Helvetische Gesellschaft für Innovation", "CH", "https://helvet.example/", "k.aebi@intern.helvet.example", "CH93 0076 2011 6238 5295 7"),
    ("sorbus", "Sorbus Trust", "IE", "https://sorbus.example/", "grants-office@intern.sorbus.example", "IE29 AIBK 9311 5212 3456 78"),
    ("wwtf-x", "Wiener Zukunftsfonds", "AT", "https://zukunftsfonds.example/", "vertrag@intern.zukunftsfonds.example", "AT61 1904 3002 3457 3201"),
]
TOPICS = ["agriculture", "climate", "culture", "digital", "health", "materials", "mobility", "society"]
TITLES = [
    ("de", "Übergänge in der Energieversorgung"), ("de", "Ökologie der Flüsse und Seen"), ("en", "Resilient coastal cities"),
    ("fr", "Écologie urbaine et santé"), ("en", "Trustworthy machine learning"), ("de", "Große Geräte für kleine Gruppen"),
    ("sk", "Ľudské zdravie a životné prostredie"), ("fr", "Œuvres et patrimoine numérique"), ("en", "Grants for postdocs: “first steps”"),
    ("de", "Ältere Menschen & Mobilität"), ("en", "Materials for a circular economy"), ("sk", "Šport, výživa a dáta"), ("en", "Naïve models, café culture"),
]

SCHEMA = """
CREATE TABLE funder (id TEXT PRIMARY KEY, name TEXT NOT NULL, country TEXT NOT NULL, homepage TEXT NOT NULL,
                     contract_office TEXT NOT NULL, billing_account TEXT NOT NULL);
CREATE TABLE call (id TEXT PRIMARY KEY, funder_id TEXT NOT NULL REFERENCES funder(id), title TEXT NOT NULL, language TEXT NOT NULL,
                   summary TEXT NOT NULL, description TEXT NOT NULL, state TEXT NOT NULL, opens_on TEXT NOT NULL, deadline TEXT,
                   amount_minor INTEGER NOT NULL, currency TEXT NOT NULL, months_min INTEGER NOT NULL, months_max INTEGER NOT NULL,
                   url TEXT NOT NULL, contact TEXT, updated_at TEXT NOT NULL);
CREATE TABLE call_topic (call_id TEXT NOT NULL REFERENCES call(id), topic TEXT NOT NULL, PRIMARY KEY (call_id, topic));
CREATE INDEX call_deadline ON call (deadline, id);
"""


def connect() -> sqlite3.Connection:
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.row_factory = sqlite3.Row
    db.create_function("holds", 2, lambda text, part: part.casefold() in text.casefold(), deterministic=True)
    db.executescript(SCHEMA)
    collation = "COLLATE NOCASE" if PROFILE == "collation" else ""
    db.execute(f"CREATE TABLE token (value TEXT {collation} PRIMARY KEY, client_id TEXT NOT NULL, env TEXT NOT NULL, expires REAL NOT NULL)")
    funders, count = (FUNDERS[4:5], 1) if PROFILE == "single" else (FUNDERS, 163)
    db.executemany("INSERT INTO funder VALUES (?,?,?,?,?,?)", funders)
    today = dt.date.today()
    for i in range(count):
        funder = funders[(i * 5 + i // 7) % len(funders)]
        language, title = TITLES[i % len(TITLES)]
        opens = dt.date(2025, 6, 2) + dt.timedelta(days=i * 4 + i % 5)
        month = opens.month - 1 + 2 + i % 5
        deadline = dt.date(opens.year + month // 12, month % 12 + 1, (15, 15, 28, 1)[i % 4])
        rolling = i % 14 == 13
        state = "forthcoming" if opens > today else "open" if rolling or deadline >= today else "closed"
        amount = (i * 6151 % 1900 + 50) * 100_000 + (i % 3) * 50
        if i % 31 == 22:
            amount = amount * 25 + 2_400_000_000  # large programmes
        cid = f"FC-{opens.year}-{(i * 37 + 11) % 1000:03d}"
        updated = dt.datetime(2026, 2, 1, 6, 30, tzinfo=dt.timezone.utc) + dt.timedelta(minutes=(i * i * 53) % 250_000)
        round_ = i // len(TITLES) + 1
        db.execute("INSERT INTO call VALUES (" + ",".join("?" * 16) + ")", (
            cid, funder[0], f"{title} ({round_})", language, f"Call {round_} of the programme “{title}”.",
            f"{title}: personnel, équipement, Reisen. Budget line {i + 1}; overheads up to 25 %. Proposals in English, français or Deutsch.",
            state, opens.isoformat(), None if rolling else deadline.isoformat(), amount,
            {"CH": "CHF"}.get(funder[2], "EUR"), 6 + i % 3 * 6, 24 + i % 4 * 12, f"{funder[3]}calls/{cid.lower()}",
            None if i % 6 == 5 else "calls@" + funder[3][8:-1], updated.strftime("%Y-%m-%dT%H:%M:%SZ")))
        for t in sorted({TOPICS[i % 8], TOPICS[(i * 3 + 1) % 8], TOPICS[(i // 8) % 8]}):
            db.execute("INSERT INTO call_topic VALUES (?,?)", (cid, t))
    return db


def new_token() -> str:
    if PROFILE == "odd":  # an appliance that wraps its session in a long reference
        return secrets.token_urlsafe(220) + "~" + secrets.token_hex(8) + "+/.-_=="
    return secrets.token_urlsafe(36)
