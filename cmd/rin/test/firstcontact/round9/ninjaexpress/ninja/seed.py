"""Fills the database with made-up funding calls; the same data at every start."""
import datetime as dt
import random
from decimal import Decimal
from hashlib import sha256
from zoneinfo import ZoneInfo

from calls.models import ApiClient, Call, Funder, TargetGroup

UTC = dt.timezone.utc
VIENNA = ZoneInfo("Europe/Vienna")
GROUPS = ["UNIVERSITY", "UNIVERSITY_OF_APPLIED_SCIENCES", "PRIVATE_UNIVERSITY", "RESEARCH_INSTITUTE",
          "COMPANY", "PRIVATE_NON_PROFIT", "INDEPENDENT_RESEARCHER"]
FUNDERS = [
    ("fwf-demo", "Wissenschaftsfonds Österreich (Demo)", "AT", "https://wissenschaftsfonds.example/", "https://ror.org/00demo011"),
    ("ffg-demo", "Förderagentur für Forschung", "AT", "https://foerderagentur.example/", None),
    ("tirol", "Land Tirol – Abteilung Wissenschaft", "AT", "https://tirol.example/forschung", None),
    ("snf-demo", "Schweizerische Stiftung für Grundlagenforschung", "CH", "https://stiftung.example/de/", "https://ror.org/00demo044"),
    ("cz-agentura", "Česká agentura pro výzkum", "CZ", "https://agentura.example/vyzvy", None),
    ("mta-demo", "Magyar Kutatási Alapítvány – Győr", "HU", "https://alapitvany.example/", "https://ror.org/00demo066"),
]
THEMES = [
    ("Gletscherrückgang und Wasserhaushalt", "Glacier retreat and water balance"),
    ("Künstliche Intelligenz in der Pflege", "Artificial intelligence in nursing"),
    ("Quantenoptik über große Entfernungen", "Quantum optics over long distances"),
    ("Mehrsprachigkeit in Südtirol", "Multilingualism in South Tyrol"),
    ("Kreislaufwirtschaft im Baugewerbe", "Circular economy in construction"),
    ("Geschichte der Straßenbahnen", None),
    ("Seltene Erkrankungen bei Kindern", "Rare diseases in children"),
    ("Holzforschung „Fichte & Lärche“", "Timber research: spruce & larch"),
    ("Datenschutz und Öffentlichkeit", "Privacy and the public"),
    ("Präzisionsmedizin – Młoda Nauka", "Precision medicine – Młoda Nauka"),
]
KINDS = [("CALL", "Ausschreibung", "Call"), ("ONGOING_CALL", "Laufende Einreichung", "Ongoing call"),
         ("PROGRAMME", "Programm", "Programme"), ("SCHOLARSHIP", "Stipendium", "Scholarship"), ("AWARD", "Preis", "Award")]
PEOPLE = [("Jürgen Weiß", "weiss"), ("Zoë Müller", "mueller"), ("Ágnes Kővári", "kovari"), ("Łukasz Nowak", "nowak"),
          ("Marie-Thérèse Dvořák", "dvorak"), ("Søren Østergård", "ostergard")]


def fill(clients, how_many):
    rnd = random.Random(20260401)
    for slug, name, country, site, ror in FUNDERS:
        Funder.objects.create(slug=slug, name=name, country=country, website=site, ror=ror)
    groups = {code: TargetGroup.objects.create(code=code) for code in GROUPS}
    for n in range(1, how_many + 1):
        theme = rnd.choice(THEMES)
        kind = rnd.choice(KINDS) if n > len(KINDS) else KINDS[n - 1]
        opens = dt.date(2026, 1, 1) + dt.timedelta(days=rnd.randrange(0, 500))
        closes = None
        if kind[0] != "ONGOING_CALL":
            day = opens + dt.timedelta(days=rnd.randrange(30, 200))
            local = dt.datetime.combine(day, rnd.choice([dt.time(12), dt.time(23, 59), dt.time(0, 30), dt.time(17)]), VIENNA)
            closes = local.astimezone(UTC)
        who = rnd.choice(PEOPLE)
        call = Call.objects.create(
            reference=f"TIR-{opens.year}-{n:04d}", funder_id=rnd.choice(FUNDERS)[0], funding_type=kind[0],
            title_de=f"{kind[1]}: {theme[0]} ({n})", title_en=f"{kind[2]}: {theme[1]} ({n})" if theme[1] else None,
            summary_de=f"Gefördert werden Vorhaben zum Thema „{theme[0]}“. Nähere Auskünfte erteilt {who[0]}.\nÄnderungen vorbehalten.",
            opens_on=opens, closes_at=closes, amount=Decimal(rnd.randrange(50, 40000) * 100),
            own_share=Decimal(rnd.randrange(100000, 9000000)) / 100 if rnd.random() < 0.5 else None,
            currency="CHF" if n % 9 == 0 else "EUR", contact_name=who[0], contact_email=f"{who[1]}@kontakt.example",
            modified_at=dt.datetime(2026, 2, 1, 8, 0, tzinfo=UTC) + dt.timedelta(minutes=rnd.randrange(0, 300000)))
        call.target_groups.set([groups[code] for code in rnd.sample(GROUPS, rnd.randrange(1, 4))])
    for client in clients:
        ApiClient.objects.create(
            client_id=client["id"], secret_hash=sha256(client["secret"].encode()).hexdigest(), realm=client["realm"],
            audience=client["audience"], role=client["role"], affiliation=client["affiliation"])
