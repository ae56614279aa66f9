"""Generated data: the same at every start."""
import datetime as dt
import random
import unicodedata

from oauth2_provider.models import Application

from .models import Call, Funder, ServiceAccount, Stage

FUNDING = "uhb-funding"
ROLE = "EXTERNAL_API_CLIENT"

CLIENTS = [
    # client id, secret, service account, realm, audience, role, affiliation
    ("uhb-import", "Ku?+s7=t/e%2F&n:~W!9qZ", "svc-8801", "ris", FUNDING, ROLE, "ror-03hafen11"),
    ("uhb-gast", "G+a%s&t=1:/~!Mowe%41", "svc-8802", "ris", FUNDING, None, "ror-03hafen12"),
    ("uhb-projekte", "Pr/o&j=e:k%te+~!77%2B", "svc-8803", "ris", "uhb-projects", ROLE, "ror-03hafen13"),
    ("uhb-reserve", "R%es:e+r=v/e&~!%3A42", "svc-8804", "ris", FUNDING, ROLE, "ror-03hafen14"),
    ("uhb-probe", "St%a:g=i+n/g&~!%26xy", "svc-9901", "staging", "uhb-staging", ROLE, "ror-03hafen15"),
]

FUNDERS = [
    ("HBF", "Hafenburger Fonds für Forschung", "Hafenburg", "DE"),
    ("DSG", "Dübener Stiftungsgesellschaft", "Bad Düben", "DE"),
    ("OEW", "Österreichisches Wissenschaftswerk", "Wien", "AT"),
    ("SBK", "Schweizer Bildungskasse", "Zürich", "CH"),
    ("EUR", "Europäischer Rat für Umweltfragen", "Brüssel", "BE"),
    ("NMK", "Nördliche Küstenmittel", "Tromsø", "NO"),
    ("GAI", "Gesellschaft für angewandte Ideen", "Köln", "DE"),
]
KINDS = ["CALL", "PROGRAMME", "AWARD", "SCHOLARSHIP", "MOBILITY"]
TOPICS = ["Ökologie", "Werkstoffe", "Mobilität", "Gesundheit", "Küstenschutz", "Künstliche Intelligenz",
          "Geschichte", "Straßenbau", "Bürgerwissenschaft"]
FIRST = ["Förderung", "Ausschreibung", "Zuschuss", "Wettbewerb", "Stipendium", "Anschubmittel", "Preis"]
LAST = ["für junge Forscherinnen", "zur Energiewende", "im Küstenraum", "für größere Geräte", "zwischen Städten",
        "gegen Müll im Meer", "für Übersetzungen", "mit Schulen", "& Museen: „offene Türen“", "100 % digital"]
FIRST_EN = ["Funding", "Call", "Grant", "Contest", "Scholarship", "Seed money", "Prize"]
LAST_EN = ["for young researchers", "for the energy transition", "on the coast", "for larger devices",
           "between cities", "against marine litter", "for translations", "with schools",
           "& museums: \"open doors\"", "100 % digital"]


def fold(text):
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def load():
    for cid, secret, svc, realm, aud, role, aff in CLIENTS:
        app = Application.objects.create(
            client_id=cid, client_secret=secret, name=cid, client_type=Application.CLIENT_CONFIDENTIAL,
            authorization_grant_type=Application.GRANT_CLIENT_CREDENTIALS)
        ServiceAccount.objects.create(application=app, user_id=svc, realm=realm, audience=aud, role=role,
                                      affiliation_id=aff)
    rnd = random.Random(1604)
    Funder.objects.bulk_create([
        Funder(id=i, name=n, city=c, country=k, website="https://%s.example/foerderung" % i.lower())
        for i, n, c, k in FUNDERS])
    calls, stages = [], []
    start = dt.date(2024, 3, 1)
    for n in range(1, 138):
        a, b = rnd.randrange(len(FIRST)), rnd.randrange(len(LAST))
        topics = sorted(rnd.sample(TOPICS, rnd.randint(1, 3)))
        opens = start + dt.timedelta(days=rnd.randrange(1100))
        deadline = None if n % 11 == 5 else opens + dt.timedelta(days=rnd.randint(20, 200))
        if n == 40:
            opens, deadline = dt.date(1, 1, 3), dt.date(9999, 12, 31)
        title = "%s %s" % (FIRST[a], LAST[b]) + (" %d" % (2024 + n % 5) if n % 3 == 0 else "")
        title_en = None if n % 4 == 2 else "%s %s" % (FIRST_EN[a], LAST_EN[b])
        budget = None if n % 13 == 7 else rnd.choice([0, 25000, 80000, 150000, 400000, 1250000, 30000000]) + \
            rnd.choice([0, 0, 500])
        calls.append(Call(
            id="HB-%d-%04d" % (2024 + n % 4, n), kind=rnd.choice(KINDS), title=title, title_en=title_en,
            summary="%s. Schwerpunkte: %s. Anträge über das Portal; Rückfragen an förderung@hafenburg.example."
                    % (title, ", ".join(topics)),
            folded=fold(title) + "\n" + fold(title_en or ""),
            funder_id=FUNDERS[rnd.randrange(len(FUNDERS) - 1)][0], opens=opens, deadline=deadline,
            budget_eur=budget, topics=topics,
            updated_at=dt.datetime(2026, 1, 5, 6, 0, tzinfo=dt.timezone.utc)
            + dt.timedelta(seconds=rnd.randrange(20000000))))
        if deadline:
            if n % 3 == 1 and deadline - opens > dt.timedelta(days=40) and n != 40:
                stages.append(Stage(call_id=calls[-1].id, number=1, label="Skizze",
                                    date=deadline - dt.timedelta(days=rnd.randint(10, 19))))
                stages.append(Stage(call_id=calls[-1].id, number=2, label="Vollantrag", date=deadline))
            else:
                stages.append(Stage(call_id=calls[-1].id, number=1, label="Antrag", date=deadline))
    Call.objects.bulk_create(calls)
    Stage.objects.bulk_create(stages)
