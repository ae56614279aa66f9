"""The funding calls that the university of Fjordvik has annotated."""

FUNDERS = {
    "NFR": ("Research Council of the North", "Nordens forskningsråd"),
    "KD": ("Ministry of Knowledge", "Kunnskapsdepartementet"),
    "NORDFOND": ("Nordic Fund for Joint Research", "Nordisk fond for fellesforskning"),
    "SJØ": ("Sea and Coast Foundation", "Stiftelsen Sjø og kyst"),
    "TEK.NO": ("Technology Fund", "Teknologifondet"),
    "H&S": ("Health & Society Trust", "Helse & samfunn"),
}
REGIONS = ["NO-03", "NO-11", "NO-15", "NO-18", "NO-34", "NO-42", "NO-46", "NO-50", "NO-55", "NO-56"]
TOPICS = ["climate", "energy", "health", "humanities", "ict", "ocean", "society", "training"]

# id | en | nb | funder | opensAt | closesAt | min | max | regions | topics | seen by (empty: whole network)
ROWS = """
FJV-101|Cold-water corals|Kaldtvannskoraller|SJØ|2026-01-12T08:00:00Z|2026-03-15T12:00:00Z|200000|1500000|NO-18,NO-55|ocean,climate|
FJV-102|Battery chemistry for ferries|Batterikjemi for ferger|TEK.NO|2026-02-01T08:00:00Z|2026-05-31T23:59:59Z|500000|8000000|NO-46,NO-15|energy|
FJV-103|Sámi language technology|Samisk språkteknologi|NFR|2026-08-15T08:00:00Z|2027-01-31T12:00:00Z|300000|4000000|NO-55,NO-56|ict,humanities|
FJV-104|Early career mobility|Mobilitet for unge forskere|NORDFOND|2025-01-01T00:00:00Z||10000|60000||training|
FJV-105|Avalanche warning with radar|Skredvarsling med radar|NFR|2026-10-01T08:00:00Z|2027-02-10T12:00:00Z|1000000|12000000|NO-46,NO-55,NO-56|climate,ict|
FJV-106|Nurses as researchers|Sykepleiere som forskere|H&S|2026-03-01T08:00:00Z|2026-06-01T00:00:00Z|50000|700000||health,training|
FJV-107|Medieval law codes|Middelalderens lover|KD|2026-04-10T08:00:00Z|2026-09-15T21:59:00Z|80000|900000|NO-50,NO-46|humanities|
FJV-108|Hydropower and salmon|Vannkraft og laks|SJØ|2026-01-05T08:00:00Z|2026-05-31T12:00:00Z|400000|5000000|NO-42,NO-11|energy,ocean|
FJV-109|Large infrastructure|Stor infrastruktur|KD|2026-11-01T08:00:00Z|2027-06-30T12:00:00Z|5000000|50000000||ict,health,energy|
FJV-110|Youth and screens|Ungdom og skjerm|H&S|2026-02-02T08:00:00Z|2026-04-20T12:00:00Z|100000|2000000|NO-03|health,society|
FJV-111|Carbon storage monitoring|Overvåking av karbonlager|TEK.NO|2026-09-01T08:00:00Z|2026-12-01T12:00:00Z|2000000|20000000|NO-46,NO-11|energy,climate|
FJV-112|Open textbooks|Åpne lærebøker|KD|2025-06-01T00:00:00Z||20000|250000||training|
FJV-113|Kelp farming|Taredyrking|SJØ|2026-05-20T08:00:00Z|2026-08-31T12:00:00Z|150000|1800000|NO-50,NO-18|ocean|
FJV-114|Dementia care at home|Demensomsorg hjemme|H&S|2026-09-10T08:00:00Z|2027-01-15T12:00:00Z|250000|3000000|NO-34|health|
FJV-115|Quantum sensing|Kvantesensorer|NFR|2026-12-15T08:00:00Z|2027-04-01T12:00:00Z|1000000|9000000|NO-50|ict|
FJV-116|Local democracy after mergers|Lokaldemokrati etter sammenslåing|KD|2026-01-20T08:00:00Z|2026-03-15T23:59:59Z|60000|800000|NO-34,NO-46|society|
FJV-117|Nordic welfare comparison|Nordisk velferdssammenlikning|NORDFOND|2026-03-01T08:00:00Z|2026-06-30T12:00:00Z|500000|6000000||society,health|
FJV-118|Polar night biology|Biologi i mørketida|NFR|2026-06-01T08:00:00Z|2026-10-15T12:00:00Z|300000|3500000|NO-55,NO-56|ocean,climate|
FJV-119|Industrial PhD|Nærings-ph.d.|TEK.NO|2025-01-01T00:00:00Z||600000|2100000||training,ict|
FJV-120|Wooden ships, modern methods|Treskip og moderne metoder|KD|2026-02-10T08:00:00Z|2026-05-31T00:00:00Z|40000|500000|NO-42|humanities|
FJV-121|Offshore wind and birds|Havvind og fugl|TEK.NO|2026-08-01T08:00:00Z|2026-11-30T12:00:00Z|800000|10000000|NO-11,NO-42|energy,ocean|
FJV-122|Antibiotic resistance|Antibiotikaresistens|H&S|2026-10-10T08:00:00Z|2027-02-01T00:00:00Z|1000000|7000000||health|
FJV-123|Research in museums|Forskning i museene|KD|2026-04-01T08:00:00Z|2026-06-30T23:59:59Z|30000|400000|NO-03,NO-46|humanities,society|
FJV-124|Arctic shipping law|Arktisk sjørett|NORDFOND|2026-07-01T08:00:00Z|2026-12-31T23:59:59Z|100000|1100000|NO-55|ocean,society|
FJV-125|Summer schools|Sommerskoler|NORDFOND|2025-10-01T08:00:00Z|2026-01-31T12:00:00Z|5000|75000||training|
FJV-126|Algorithms in public service|Algoritmer i offentlig sektor|NFR|2026-11-15T08:00:00Z|2027-03-31T21:59:59Z|200000|2500000|NO-03|ict,society|
FJV-127|Microplastics in fjords|Mikroplast i fjorder|SJØ|2026-01-10T08:00:00Z|2026-04-20T12:00:00Z|120000|1400000|NO-15,NO-46|ocean|
FJV-128|Green hydrogen pilots|Piloter for grønt hydrogen|TEK.NO|2026-02-20T08:00:00Z|2026-06-30T12:00:00Z|3000000|30000000|NO-15,NO-18|energy|
FJV-129|Rural general practice|Fastleger i distriktene|H&S|2026-05-01T08:00:00Z|2026-09-01T12:00:00Z|100000|1200000|NO-18,NO-34|health|
FJV-130|History of polar women|Polarkvinnenes historie|KD|2026-09-20T08:00:00Z|2026-12-01T12:00:00Z|25000|300000|NO-55|humanities|
FJV-131|Seed money for EU bids|Såkornmidler til EU-søknader|NFR|2025-01-15T00:00:00Z||15000|150000||training|
FJV-132|Reindeer and snow|Rein og snø|NFR|2026-03-03T08:00:00Z|2026-06-15T12:00:00Z|180000|1900000|NO-56,NO-55|climate|
FJV-133|Digital twins of harbours|Digitale tvillinger av havner|SJØ|2026-12-01T08:00:00Z|2027-05-31T12:00:00Z|700000|6500000|NO-11,NO-46|ict,ocean|
FJV-134|Loneliness among students|Ensomhet blant studenter|H&S|2026-08-20T08:00:00Z|2026-11-01T12:00:00Z|50000|600000||health,society|
FJV/135|Shared instruments, part 2/3|Delte instrumenter, del 2/3|KD|2026-02-15T08:00:00Z|2026-05-31T12:00:00Z|900000|11000000||ict|
FJV 136|Geothermal wells & heat|Geotermiske brønner & varme|TEK.NO|2026-10-20T08:00:00Z|2027-02-28T12:00:00Z|600000|7200000|NO-50|energy|
Ærfugl+137|Eider ducks, 100% local|Ærfugl, 100 % lokalt|SJØ|2026-04-04T08:00:00Z|2026-07-31T12:00:00Z|20000|220000|NO-18|ocean,climate|
50%-stilling:138|Half-time research posts|Forskerstillinger på halv tid|KD|2026-01-01T08:00:00Z|2026-12-31T12:00:00Z|300000|450000||training|
a?b#139|Questions from the public|Spørsmål fra folk|NFR|2026-05-05T08:00:00Z|2026-08-15T12:00:00Z|10000|90000|NO-03,NO-50|society|
FJV-140;v=2|Second round: marine genomics|Andre runde: marin genomikk|SJØ|2026-07-10T08:00:00Z|2026-10-31T12:00:00Z|450000|5500000|NO-46|ocean,health|
FJV-141|Campus Fjordvik: laboratory moves|Campus Fjordvik: flytting av laboratorier|KD|2026-06-01T08:00:00Z|2026-12-15T12:00:00Z|100000|1000000|NO-46|ict|NO-UIF
FJV-142|Campus Fjordvik: bridge funding|Campus Fjordvik: brofinansiering|NFR|2026-09-01T08:00:00Z||50000|350000|NO-46|training|NO-UIF
FJV-143|Campus Fjordvik: patents|Campus Fjordvik: patenter|TEK.NO|2026-03-01T08:00:00Z|2026-11-30T12:00:00Z|20000|120000|NO-46|energy,ict|NO-UIF
FJV-144|Havbukt college: start packages|Høgskolen i Havbukt: startpakker|NFR|2026-02-01T08:00:00Z|2026-12-20T12:00:00Z|80000|640000|NO-15|training|NO-HVB
FJV-145|Havbukt college: clinical cooperation|Høgskolen i Havbukt: klinisk samarbeid|H&S|2026-10-01T08:00:00Z|2027-03-01T12:00:00Z|150000|2200000|NO-15|health|NO-HVB
FJV-146|Havbukt college: sea laboratory|Høgskolen i Havbukt: sjølaboratorium|SJØ|2026-01-15T08:00:00Z|2026-04-30T12:00:00Z|300000|4100000|NO-15|ocean|NO-HVB
"""


def _load():
    calls = []
    for n, row in enumerate(ROWS.strip().split("\n")):
        call_id, en, nb, funder, opens, closes, low, high, regions, topics, affiliation = row.split("|")
        calls.append({
            "callId": call_id,
            "title": {"en": en, "nb": nb},
            "summary": {
                "en": f"{en}: the {FUNDERS[funder][0]} supports projects from {low} to {high} NOK.",
                "nb": f"{nb}: {FUNDERS[funder][1]} støtter prosjekter fra {low} til {high} kroner.",
            },
            "funder": funder,
            "opensAt": opens,
            "closesAt": closes or None,
            "budget": {"min": int(low), "max": int(high), "currency": "NOK"},
            "regions": [r for r in regions.split(",") if r],
            "topics": topics.split(","),
            "affiliation": affiliation or None,
            "maxMonths": 6 + (n * 7) % 43,
            "coFunding": round(((n * 13) % 11) / 20, 2),
            "contact": {"name": ["Åse Nygård", "Per-Ole Strand", "Ingebjørg Lie"][n % 3], "email": f"utlysning{n}@fjordvik.invalid"},
        })
    return calls


CALLS = _load()
