"""The funding calls of the node: a fixed catalogue, as the nightly import leaves it."""
import base64
import hashlib
import random
from datetime import datetime, timedelta, timezone

FUNDERS = [
    ("fwf", "Wissenschaftsfonds FWF", "Austrian Science Fund", "AT"),
    ("ffg", "Forschungsförderungsgesellschaft FFG", "Austrian Research Promotion Agency", "AT"),
    ("dfg", "Deutsche Forschungsgemeinschaft", "German Research Foundation", "DE"),
    ("snf", "Schweizerischer Nationalfonds", "Swiss National Science Foundation", "CH"),
    ("nkfih", "Nationales Forschungsamt Ungarns", "National Research Office of Hungary", "HU"),
    ("jsps", "Japanische Gesellschaft zur Förderung der Wissenschaft", "Japan Society for the Promotion of Science", "JP"),
    ("erc", "Europäischer Forschungsrat", "European Research Council", "BE"),
    ("oeaw", "Österreichische Akademie der Wissenschaften", "Austrian Academy of Sciences", "AT"),
    ("vws", "VolkswagenStiftung", "Volkswagen Foundation", "DE"),
]
CURRENCY = {"AT": "EUR", "DE": "EUR", "BE": "EUR", "CH": "CHF", "HU": "HUF", "JP": "JPY"}
RATE = {"EUR": 1, "CHF": 1, "HUF": 400, "JPY": 160}
KINDS = [
    ("Forschungsgruppe", "Research Group"), ("Doktoratsprogramm", "Doctoral Programme"),
    ("Mobilitätsstipendium", "Mobility Fellowship"), ("Startförderung", "Starting Grant"),
    ("Ausschreibung für Infrastruktur", "Infrastructure Call"), ("Netzwerkförderung", "Networking Grant"),
]
TOPICS = [
    ("Quantenoptik", "Quantum Optics", "physics"), ("Gletscherforschung", "Glacier Research", "earth-sciences"),
    ("Frühneuhochdeutsch", "Early New High German", "humanities"), ("Impfstoffe", "Vaccines", "medicine"),
    ("Künstliche Intelligenz", "Artificial Intelligence", "computer-science"),
    ("Kreislaufwirtschaft", "Circular Economy", "economics"), ("Holzbau", "Timber Engineering", "engineering"),
    ("Bodenökologie", "Soil Ecology", "biology"), ("Zahlentheorie", "Number Theory", "mathematics"),
    ("Migration und Recht", "Migration and Law", "law"), ("Batteriechemie", "Battery Chemistry", "chemistry"),
    ("Musikwissenschaft", "Musicology", "humanities"), ("Seltene Krankheiten", "Rare Diseases", "medicine"),
]
DISCIPLINES = sorted({t[2] for t in TOPICS})


def _id(text, n=8):
    return base64.b32encode(hashlib.sha256(text.encode()).digest()).decode().lower()[:n]


def _rfc3339(moment):
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def load(now=None):
    rnd = random.Random(20260301)
    now = now or datetime.now(timezone.utc)
    calls, texts = [], {}
    number = 0
    for k, kind in enumerate(KINDS):
        for t, topic in enumerate(TOPICS):
            number += 1
            funder = FUNDERS[rnd.randrange(len(FUNDERS))]
            currency = CURRENCY[funder[3]]
            published = datetime(2025, 9, 1, 8, tzinfo=timezone.utc) + timedelta(days=rnd.randrange(300), minutes=rnd.randrange(600))
            opens = published + timedelta(days=rnd.randrange(10, 260))
            deadline = None if number % 11 == 0 else datetime(2026, 1 + rnd.randrange(12), 15, 11, tzinfo=timezone.utc) + timedelta(days=365 * rnd.randrange(2))
            if deadline and deadline <= opens:
                opens = deadline - timedelta(days=60)
                published = min(published, opens - timedelta(days=5))
            status = "closed" if deadline and deadline <= now else ("forthcoming" if opens > now else "open")
            disciplines = [topic[2]]
            other = DISCIPLINES[rnd.randrange(len(DISCIPLINES))]
            if other not in disciplines and number % 3:
                disciplines.append(other)
            call_id = "fc_" + _id(f"call {number}")
            documents = []
            for d in range(1 + number % 3):
                title = ("Guidelines", "Budget notes", "Evaluation criteria")[d]
                text = f"# {title}\n\n{kind[1]}: {topic[1]}\n\nIssued by {funder[2]}. Applications are assessed by two reviewers; résumés are limited to {d + 2} pages.\n"
                doc_id = "d-" + _id(f"document {number} {d}", 6)
                documents.append({"id": doc_id, "name": title, "mediaType": "text/markdown",
                                  "size": len(text.encode()), "sha256": hashlib.sha256(text.encode()).hexdigest()})
                texts[call_id, doc_id] = text
            calls.append({
                "id": call_id,
                "title": {"de": f"{kind[0]} {topic[0]}", "en": f"{kind[1]} {topic[1]}"},
                "description": {
                    "de": f"{funder[1]} fördert Vorhaben zum Thema „{topic[0]}“. Anträge werden laufend geprüft.",
                    "en": f"{funder[2]} funds projects on “{topic[1]}”. Applications are checked on arrival."},
                "status": status,
                "funder": funder[0],
                "disciplines": disciplines,
                "publishedAt": _rfc3339(published),
                "opensAt": _rfc3339(opens),
                "deadline": _rfc3339(deadline) if deadline else None,
                "amount": {"currency": currency, "max": rnd.choice([50_000, 120_000, 400_000, 1_500_000, 9_000_000] if currency != "HUF" else [9_000_000, 12_000_000]) * RATE[currency]},
                "fundingRate": rnd.choice([0.5, 0.75, 0.8, 1]),
                "contact": None if number % 7 == 0 else {"name": rnd.choice(["Dr. Lena Öllinger", "Jonas Weiß", "Mária Kovács", "François Aebi"]),
                                                       "email": f"calls@{funder[0]}.example"},
                "annotations": [{"affiliation": a, "note": n} for a, n in [("AT-0042", "Internal deadline two weeks earlier"), ("AT-0107", "Co-funding possible")][: number % 3]],
                "documents": documents,
            })
    rnd.shuffle(calls)
    return calls, texts
