"""Erzeugte Beispieldaten des Knotens (immer dieselben, Tage relativ zum Start)."""
import datetime as dt
import random

from variante import ist

START = dt.datetime.now(dt.timezone.utc).replace(microsecond=0, tzinfo=None)
HEUTE = START.replace(hour=0, minute=0, second=0)

REGIONEN = ["BURGENLAND", "KAERNTEN", "NIEDEROESTERREICH", "OBEROESTERREICH", "SALZBURG",
            "STEIERMARK", "TIROL", "VORARLBERG", "WIEN"]
ARTEN = ["KURZANTRAG", "VOLLANTRAG"]
FOERDERGEBER = [
    ("FG-01", "Österreichischer Fonds für Grundlagenforschung", "OFG"),
    ("FG-02", "Jubiläumsstiftung der Länder", "JSL"),
    ("FG-03", "Gesellschaft für Überregionale Förderung", "GÜF"),
    ("FG-04", "Kärntner Zukunftsfonds", "KZF"),
    ("FG-05", "Stiftung Mensch & Umwelt", "SMU"),
    ("FG-06", "Bürgerfonds \"Großes Walsertal\"", "BGW"),
    ("FG-07", "Wiener Hochschulwerk", "WHW"),
    ("FG-08", "Europäische Brückenstiftung", "EBS"),
    ("FG-09", "Ärztekammer für Forschung", "ÄKF"),
    ("FG-10", "Tiroler Höhenforschung", "THF"),
    ("FG-11", "Fonds für Mäßigung & Maßarbeit", "FMM"),
    ("FG-12", "Zentrale für Öffentliche Übersetzung", "ZÖÜ"),
    ("FG-13", "Institut Grün", "IGR"),
    ("FG-14", "Werk für Straßen und Plätze", "WSP"),
]
VORN = ["Förderung", "Nachwuchsprogramm", "Übergangsstipendium", "Großgeräte", "Ärztliche Forschung",
        "Brückenprojekte", "Öffentliche Räume", "Doktoratskolleg", "Äquivalenzprüfung", "Kooperation",
        "Straßenforschung", "Übersetzungen", "Maßnahmenpaket", "Gründungszentrum"]
HINTEN = ["für Künstliche Intelligenz", "im Alpenraum", "zu Wasser & Böden", "der Länder", "für Frühförderung",
          "über Grenzen", "zur Energiewende (50 % Anteil)", "für Häuser von morgen", "der Süßwasserbiologie",
          "in Kärnten und Tirol", "für Frauen_in_der_Technik", "zur Lärmminderung", "für Jüngere"]
WORTE = ["Klima", "Gesundheit", "Böden", "Käfer", "Übersetzung", "Straße", "Quanten", "Recht", "Bühne", "Öl"]


def iso(t):
    return t.strftime("%Y-%m-%dT%H:%M:%SZ") if t is not None else None


def erzeuge():
    r = random.Random(20261)
    aus, fri = [], []
    for i in range(1, 163):
        beginn_tag = r.choice([x for x in range(-420, 200) if abs(x) > 3])
        dauer = r.randint(30, 260)
        ende_tag = beginn_tag + dauer
        if abs(ende_tag) <= 3:
            ende_tag += 8
        beginn = HEUTE + dt.timedelta(days=beginn_tag, hours=7)
        ende = HEUTE + dt.timedelta(days=ende_tag, hours=r.choice([10, 11, 15, 21]))
        if i % 13 == 0:
            ende = None
        unten = r.choice([0, 5000, 10000, 25000, 50000, 99999])
        oben = unten + r.choice([20000, 75000, 150000, 400000, 1250000])
        regionen = sorted(r.sample(REGIONEN, r.choice([1, 1, 2, 3, 5])))
        fg = r.choice(FOERDERGEBER)
        nummer = "%04d" % (1000 + i * 7)
        kennung = "GZ %s Ü+4%%" % nummer if ist("eiche") else "TUE-" + nummer
        titel = "%s %s" % (r.choice(VORN), r.choice(HINTEN))
        if i % 9 == 0:
            titel += " %d" % (2026 + i % 4)
        geaendert = HEUTE + dt.timedelta(days=-r.randint(5, 300), hours=r.randint(0, 23), minutes=r.randint(0, 59), seconds=r.randint(0, 59))
        a = dict(id=kennung, titel=titel,
                 kurztext="%s: Anträge zu „%s“ können Hochschulen stellen." % (fg[2], r.choice(WORTE)),
                 foerdergeber_id=fg[0], regionen=regionen, beginn=beginn, ende=ende,
                 summe_von=unten, summe_bis=oben, eigenanteil=r.choice([0, 0.1, 0.125, 0.25, 0.4]),
                 stichworte=r.sample(WORTE, r.randint(0, 3)),
                 webseite="https://tue.example/ausschreibung/" + nummer, geaendert=geaendert,
                 sichtbar=geaendert)
        if ist("ahorn") and i > 150:
            a["geaendert"] = a["sichtbar"] = START + dt.timedelta(seconds=20 * (i - 150))
        aus.append(a)
        if ende is not None:
            n = 1
            if i % 3 == 0:
                kurz = beginn + (ende - beginn) / 2
                kurz = kurz.replace(hour=12, minute=0, second=0, microsecond=0)
                fri.append(dict(id="F-%s-1" % nummer, ausschreibung=kennung, art="KURZANTRAG", datum=kurz))
                n = 2
            fri.append(dict(id="F-%s-%d" % (nummer, n), ausschreibung=kennung, art="VOLLANTRAG", datum=ende))
    return aus, fri
