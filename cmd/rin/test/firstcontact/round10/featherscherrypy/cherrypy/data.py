"""Records of the node: made by rule, the same at every start."""
import datetime as dt
import json

TYPES = ["PROGRAMME", "CALL", "ONGOING_CALL", "AWARD", "GRANT", "SCHOLARSHIP"]
TARGETS = ["UNIVERSITY", "UNIVERSITY_OF_APPLIED_SCIENCES", "PRIVATE_UNIVERSITY", "RESEARCH_INSTITUTE", "COMPANY", "PRIVATE_NON_PROFIT",
           "INDEPENDENT_RESEARCHER"]
REGIONS = ["VIENNA", "BURGENLAND", "LOWER_AUSTRIA", "CARINTHIA", "UPPER_AUSTRIA", "SALZBURG", "STYRIA", "TYROL", "VORARLBERG"]
CHARACTERISTICS = ["INTERNATIONAL_PROGRAMME", "NATIONAL_PROGRAMME", "CONSORTIUM", "COOPERATIVE_PROGRAMME", "PERSONAL_GRANT", "INFRASTRUCTURE"]
THEMES = [("Ökologie alpiner Böden", "Ecology of alpine soils"), ("Übersetzung und Mehrsprachigkeit", "Translation and multilingualism"),
          ("Stahl ohne Kohlenstoff", "Steel without carbon"), ("Ältere Menschen im ländlichen Raum", "Older people in rural areas"),
          ("Hydrologie der Mur", "Hydrology of the Mur"), ("Grüne Chemie", "Green chemistry"), ("Straßenverkehr & Sicherheit", "Road traffic & safety"),
          ("Digitale Edition", "Digital editing"), ("Nanofasern", "Nanofibres")]
AFFILIATIONS = ["AFF-TUG-0031", "AFF-UNI-0007", "AFF-MUL-0112"]
FUNDERS = {}
for _n in range(9):
    FUNDERS[f"FG-{410 + _n * 3}"] = {
        "id": f"FG-{410 + _n * 3}",
        "name": [{"lang": "de", "trans": "O", "text": f"Zukunftsfonds Steiermark, Linie {_n + 1}"},
                 {"lang": "en", "trans": "H", "text": f"Styrian Future Fund, line {_n + 1}"}],
        "website": f"https://linie{_n + 1}.murau.example/"}

ROLE = "EXTERNAL_API_CLIENT"
CLIENTS = [
    {"id": "client-9c1e7f52-tugraz-forschungsservice", "secret": "Rk3%2Bx/Lq+8vT:m&Yd=5~hZ1pWc7NsJ4bGf9UeXa6Q",
     "account": "3f0a8f4e-9d20-4f5c-8a55-b0e4c2d17a01", "affiliation": AFFILIATIONS[0], "roles": [ROLE]},
    {"id": "client-40ad83b6-tugraz-testzugang-ohne", "secret": "hV8/Nc+2w%5Fr:K&Jx=7~tB4yMd9QsZ1fGp3LeUa6R",
     "account": "81c5d2b7-0e3f-47a9-b6d1-5a92fe07c302", "affiliation": AFFILIATIONS[0], "roles": ["EXTERNAL_API_GUEST"]},
    {"id": "client-e27f06cd-tugraz-projektdatenbank", "secret": "pX5+Wd/9k%7Et:L&Gb=2~nC8vQf3YsH6jRm1ZeTa4K",
     "account": "b4e97d10-6a8c-4d12-93f7-28c1ad650f03", "affiliation": AFFILIATIONS[0], "roles": [ROLE], "audience": "https://murau.example/projects"},
    {"id": "client-b85d214a-unigraz-forschungsportal", "secret": "wG6%3Dt/Fz+1yB:n&Kc=8~qD5rXh2VsM9kPj7LeNa3T",
     "account": "d9026be5-47f1-4c38-ae60-71b5f83c9e04", "affiliation": AFFILIATIONS[1], "roles": [ROLE]},
]
STAGING_CLIENTS = [
    {"id": "staging-7a90c3e1-testzugang", "secret": "yM4/Bq+7s%26P:v&Rd=3~kF9wTg6ZsX2hLn8CeJa5U",
     "account": "f17ac8d3-2b65-4e90-8d47-c6e30a94b205", "affiliation": AFFILIATIONS[0], "roles": [ROLE]},
]


def stamp(moment):
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def one(i, odd_ids=False):
    utc = dt.timezone.utc
    german, english = THEMES[i % len(THEMES)]
    programme = i % 12 == 0
    kind = "PROGRAMME" if programme else TYPES[1 + (i * 7 + i // 9) % 5]
    starts = dt.datetime(2026, 2, 2, 7, 0, tzinfo=utc) + dt.timedelta(days=(i * 29 % 90) * 9)
    ends = starts + dt.timedelta(days=40 + i % 5 * 35, hours=4 + i * 5 % 18)
    updated = dt.datetime(2025, 6, 1, 0, 20, 5, tzinfo=utc) + dt.timedelta(hours=(i * 61 % 145) * 73 + i % 7 * 3)
    restricted = i % 13 == 5
    identifier = (lambda n: f"MUR {n}/ä+{n % 7}%" if odd_ids and n % 3 == 0 else f"MUR-{n:05d}")
    targets = list(dict.fromkeys([TARGETS[i % 7], TARGETS[(i * 4 + 2) % 7]]))
    regions = list(dict.fromkeys([REGIONS[i % 9], REGIONS[(i * 5 + 3) % 9]]))
    body = {
        "characteristics": [CHARACTERISTICS[i % 6], CHARACTERISTICS[(i + 3) % 6]],
        "subjects": [{"fraction": 0.5, "value": str(102 + i % 8)}, {"fraction": 0.5, "value": str(203 + i % 5)}],
        "legalType": "PROJECT26" if i % 3 else "PROJECT27",
        "website": [f"https://www.murau.example/foerderung/{i + 1}"],
    }
    if i % 4 == 1:
        body["acronym"] = f"MURAU {i + 1}"
    return {
        "seq": i + 1, "id": identifier(1000 + i * 7), "type": kind,
        "name_de": f"{german} – {'Programm' if programme else 'Ausschreibung'} {i + 1}", "name_en": f"{english} – {'programme' if programme else 'call'} {i + 1}",
        "trans_en": "H" if i % 2 else "M", "funder_id": list(FUNDERS)[i * 2 % 9],
        "amount_cents": [2500000, 7999950, 12000000, 30050025, 99999999, 45000075][i * 5 % 6], "currency": "CHF" if i % 10 == 3 else "EUR",
        "starts": stamp(starts), "ends": stamp(ends), "updated": stamp(updated),
        "programme": None if programme else identifier(1000 + i // 12 * 12 * 7),
        "access": "RESTRICTED" if restricted else "OPEN", "affiliation": AFFILIATIONS[i // 13 % 3] if restricted else None,
        "targets": targets, "regions": regions, "body": json.dumps(body, ensure_ascii=False),
    }


def fundings(odd_ids=False):
    return [one(i, odd_ids) for i in range(145)]


def later_fundings():
    """Calls that are published while the node runs."""
    for i in range(145, 200):
        yield one(i)
