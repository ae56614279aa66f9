"""The funding calls of both nodes: generated, the same at every start."""
from datetime import date, timedelta

FUNDERS = [("F-10", "Alpenfonds", "Alpine Fund"), ("F-11", "Wissenschaftsrat", "Science Council"),
           ("F-12", "Stadt Musterstadt", "City of Musterstadt"), ("F-13", "Brückenstiftung", "Bridge Foundation")]
TOPICS = [("Klima im Gebirge", "Mountain Climate"), ("Leise Städte", "Quiet Cities"), ("Wärme und Strom", "Heat and Power"),
          ("Digitale Archive", "Digital Archives"), ("Gesundes Altern", "Healthy Ageing"), ("Böden & Wasser", "Soil & Water"),
          ("Sprachen der Donau", "Languages of the Danube")]
SUBJECTS = ["101018", "105206", "107004", "202034", "207106", "211908", "303009", "602009"]
STATUS = ["OPEN", "CLOSED", "UPCOMING", "OPEN", "CLOSED"]
AFFILIATIONS = {"AFF-INN": "Vorgespräch mit dem Servicecenter nötig", "AFF-GRZ": "Interne Frist: zehn Tage vorher"}
# calls that share their deadline: positions in the order of deadlines
TIES = {10: 9, 30: 29, 31: 29, 46: 45}


def calls(prefix="FC"):
    out = []
    start = date(2027, 1, 15)
    for i in range(60):
        f = FUNDERS[(i * 3 + i // 7) % 4]
        t = TOPICS[(i * 5 + i // 9) % 7]
        day = start + timedelta(days=5 * TIES.get(i, i))
        status = STATUS[(i * 2 + i // 5) % 5]
        c = {"id": "%s-%04d" % (prefix, 1000 + (i * 37) % 997), "title_de": "%s %d" % (t[0], 2027 + i % 3),
             "title_en": "%s %d" % (t[1], 2027 + i % 3), "funder_id": f[0], "funder_de": f[1], "funder_en": f[2],
             "status": status, "opens": "2026-%02d-01" % (1 + i % 12), "deadline": day.isoformat() + "T12:00:00+01:00",
             "budget": 50000 + 12500 * ((i * 11) % 40),
             "subjects": sorted({SUBJECTS[(i * 3) % 8], SUBJECTS[(i + i // 8) % 8]}),
             "languages": ["de", "en"] if i % 3 else ["de"], "annotations": {}}
        if i % 6 == 1:
            for aff, note in AFFILIATIONS.items():
                c["annotations"][aff] = note
        out.append(c)
    for i in (53, 55, 58):  # ongoing: no deadline
        out[i]["status"] = "ONGOING"
        del out[i]["deadline"]
    return out
