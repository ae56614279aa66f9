"""Generated records of the node. The seed is fixed: every start has the same data."""
import random
from datetime import date, timedelta

TYPES = ["CALL", "ONGOING_CALL", "PROGRAMME"]
STATES = ["FORTHCOMING", "OPEN", "CLOSED"]
REGIONS = ["BURGENLAND", "CARINTHIA", "LOWER_AUSTRIA", "SALZBURG", "STYRIA", "TYROL",
           "UPPER_AUSTRIA", "VIENNA", "VORARLBERG"]
FUNDERS = [
    ("F-01", "Österreichischer Wissenschaftsfonds", "PUBLIC"),
    ("F-02", "Land Salzburg – Abteilung 2", "PUBLIC"),
    ("F-03", "Halleiner Stiftung für Werkstoffe", "FOUNDATION"),
    ("F-04", "Fonds zur Förderung der Salzforschung", "FOUNDATION"),
    ("F-05", "Alpine Data Trust", "PRIVATE"),
    ("F-06", "Programme cadre « Montagne »", "PUBLIC"),
]
TOPICS = [("Erneuerbare Wärme", "Renewable heat"), ("Salz & Gesundheit", "Salt & health"),
          ("Quantensensorik", "Quantum sensing"), ("Straßenbau im Hochgebirge", "Alpine road building"),
          ("Archäologie der Dürrnberg-Kelten", "Archaeology of the Dürrnberg Celts"),
          ("Künstliche Intelligenz 100 %", "Artificial intelligence 100 %"),
          ("Gletscher_Monitoring", "Glacier_monitoring"), ("Sprachtechnologie", "Language technology"),
          ("Kreislaufwirtschaft", "Circular economy"), ("Frühe Karriere", "Early career")]
WORDS = ["climate", "data", "energy", "health", "heritage", "materials", "mobility", "water"]


def stamp(day, hour, minute):
    return f"{day.isoformat()}T{hour:02d}:{minute:02d}:00Z"


def build(count=63):
    rnd = random.Random(20261127)
    out = []
    for i in range(1, count + 1):
        de, en = TOPICS[i % len(TOPICS)]
        start = date(2024, 1, 8) + timedelta(days=rnd.randrange(0, 1000))
        end = None if i % 9 == 4 else start + timedelta(days=rnd.choice([30, 45, 60, 90, 180, 365]))
        funder = FUNDERS[rnd.randrange(len(FUNDERS))]
        rec = {
            "id": f"HAL-{i:04d}",
            "type": "ONGOING_CALL" if end is None else rnd.choice(["CALL", "CALL", "PROGRAMME"]),
            "status": rnd.choice(STATES),
            "name": [{"lang": "de", "trans": "O", "text": f"{de} {2024 + i % 4}/{i}"},
                     {"lang": "en", "trans": "H", "text": f"{en} {2024 + i % 4}/{i}"}],
            "funder": {"id": funder[0], "name": funder[1]},
            "opensAt": stamp(start, rnd.randrange(0, 12), 0),
            "closesAt": None if end is None else stamp(end, rnd.choice([0, 11, 12, 16, 21, 23]), rnd.choice([0, 30, 59])),
            "volume": None if i % 11 == 6 else {"amount": rnd.choice([5000, 12500.5, 80000, 250000, 250000, 1200000.75]),
                                                "currency": "EUR" if i % 7 else "CHF"},
            "regions": sorted(rnd.sample(REGIONS, rnd.randrange(0, 4))),
            "keywords": sorted(rnd.sample(WORDS, rnd.randrange(1, 4))),
            "updatedAt": stamp(date(2026, 1, 1) + timedelta(days=rnd.randrange(0, 300)), rnd.randrange(0, 24), rnd.randrange(0, 60)),
        }
        if i % 5 == 0:
            rec["acronym"] = f"H{i}X"
        out.append(rec)
    return out
