"""Generated funding calls; a fixed seed keeps them the same at every start."""
import random
from datetime import date, datetime, timedelta, timezone

SCHEMES = ["BASIC_RESEARCH", "APPLIED_RESEARCH", "MOBILITY", "INFRASTRUCTURE", "PRIZE"]
STATES = ["ANNOUNCED", "RUNNING", "ENDED"]
DISCIPLINES = ["1.01", "1.02", "1.05", "2.03", "2.11", "3.02", "4.01", "5.04", "6.02", "6.05"]
SPONSORS = {"BMBWF": "Bundesministerium für Bildung", "OSTT": "Land Tirol – Osttirol-Fonds", "TEF": "Tauern Energy Foundation",
            "ERA": "Alliance européenne « Alpes »", "NPH": "Nationalpark Hohe Tauern"}
SUBJECTS = ["Lawinenforschung", "Permafrost & Felssturz", "Mehrsprachigkeit in Tälern", "Wasserkraft 2.0", "Almwirtschaft", "Bergmedizin",
            "Straßen- und Wegenetze", "Demenz-Pflege zu Hause", "Digitale Archive", "Ökologie der Quellen", "Holzbau 50 %", "Start_up-Förderung"]


def build(count=57):
    rnd = random.Random("lienz-1997")
    rows = []
    for n in range(1, count + 1):
        number = 100 + 3 * n
        start = date(2023, 11, 2) + timedelta(days=rnd.randrange(0, 1100))
        end = None if n % 8 == 3 else start + timedelta(days=rnd.choice([14, 28, 61, 92, 180, 400]))
        sponsor = rnd.choice(sorted(SPONSORS))
        subject = SUBJECTS[n % len(SUBJECTS)]
        changed = date(2026, 2, 1) + timedelta(days=rnd.randrange(0, 260))
        rows.append({
            "callId": number, "reference": f"LZ/{start.year}/{n:03d}", "title": f"{subject}, Ausschreibung {n}",
            "scheme": rnd.choice(SCHEMES), "state": rnd.choice(STATES),
            "openFrom": start.isoformat(), "openUntil": end and end.isoformat(),
            "maximumGrant": None if n % 10 == 7 else rnd.choice([1500, 20000, 20000, 95000, 300000, 1250000]),
            "lastChanged": f"{changed.isoformat()}T{rnd.randrange(0, 24):02d}:{rnd.randrange(0, 60):02d}:{rnd.randrange(0, 60):02d}Z",
            "currency": "EUR", "abstract": f"Gefördert werden Vorhaben zu „{subject}“ in der Region.",
            "sponsor": {"code": sponsor, "label": SPONSORS[sponsor]},
            "disciplines": sorted(rnd.sample(DISCIPLINES, rnd.randrange(1, 4))),
        })
    return rows


def spread(rows):
    """Write lastChanged with the offset of the place where the call was edited."""
    for n, row in enumerate(rows):
        minutes = [0, 120, -300, 330, 60][n % 5]
        moment = datetime.strptime(row["lastChanged"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc)
        row["lastChanged"] = moment.astimezone(timezone(timedelta(minutes=minutes))).isoformat()
