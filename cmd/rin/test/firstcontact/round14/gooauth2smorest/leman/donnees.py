"""Les appels à projets de l'Université du Léman."""

import itertools

LANGUES = ["fr", "en", "it"]
THEMES = ["agriculture", "droit", "eau", "energie", "medecine", "numerique", "patrimoine"]
PAYS = ["AT", "CH", "DE", "FR", "IT", "LI"]

BAILLEURS = {
    "FNL": {"nom": "Fonds national lémanique", "pays": "CH", "site": "https://fnl.example/"},
    "VAL": {"nom": "Fondation Valsorey", "pays": "CH", "site": "https://valsorey.example/"},
    "RHO": {"nom": "Agence Rhône & Alpes", "pays": "FR", "site": "https://rho.example/appels"},
    "PMT": {"nom": "Istituto Piemonte", "pays": "IT", "site": "https://pmt.example/"},
    "LIE": {"nom": "Fürstlicher Forschungsrat", "pays": "LI", "site": "https://lie.example/"},
    "ÉOL": {"nom": "Prix « Éole »", "pays": "CH", "site": "https://eole.example/"},
}

# français | anglais | italien | thème
SUJETS = """Vignes sans pesticides|Vineyards without pesticides|Vigne senza pesticidi|agriculture
Le droit à l'oubli|The right to be forgotten|Il diritto all'oblio|droit
Eaux souterraines karstiques|Karst groundwater|Acque sotterranee carsiche|eau
Barrages vieillissants|Ageing dams|Dighe che invecchiano|energie
Imagerie du cœur, l'avenir|Imaging of the heart, the future|Immagini del cuore, il futuro|medecine
Langages "sûrs"|"Safe" languages|Linguaggi "sicuri"|numerique
Fresques & humidité|Frescoes & humidity|Affreschi & umidità|patrimoine
Alpages; pâturages|Alps; pastures|Alpeggi; pascoli|agriculture
Arbitrage international|International arbitration|Arbitrato internazionale|droit
Micropolluants|Micropollutants|Microinquinanti|eau
Réseaux de chaleur|District heating|Reti di calore|energie
Santé à l'école|Health at school|Salute a scuola|medecine
Jumeaux numériques|Digital twins|Gemelli digitali|numerique
Châteaux du Chablais|Castles of the Chablais|Castelli dello Chablais|patrimoine
Blé d'altitude|High-altitude wheat|Grano d'alta quota|agriculture
Climat & tribunaux|Climate & courts|Clima & tribunali|droit
Poissons migrateurs|Migratory fish|Pesci migratori|eau
Biogaz à la ferme|Biogas on the farm|Biogas in fattoria|energie
Génomes rares|Rare genomes|Genomi rari|medecine
Données ouvertes <FAIR>|Open <FAIR> data|Dati aperti <FAIR>|numerique
Horlogerie: archives|Watchmaking: archives|Orologeria: archivi|patrimoine"""

REFS = {3: "LM 2027+04", 8: "LM-2026-é09", 15: "100%-eau", 20: "lm.2027:21", 26: "LM~27", 33: "(34)&co", 39: "LM=40?"}

CLOTURES = ["2026-02-28T12:00:00+01:00", "2026-06-30T17:00:00+02:00", "2026-10-01T00:00:00+02:00", "2026-12-31T23:59:59+01:00",
            "2027-03-31T17:00:00+02:00", "2027-03-31T23:59:59+02:00", "2027-04-01T12:00:00+02:00", None, "2027-09-15T17:00:00+02:00",
            "2028-02-29T17:00:00+01:00", "2027-01-01T00:00:00+01:00"]

MONTANTS = [15000.0, 50000.0, 50000.0, 80000.5, None, 200000.0, 1250000.0, 49999.95, 0.0]


def construire():
    appels, hasard = [], itertools.cycle([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8])
    sujets = [ligne.split("|") for ligne in SUJETS.split("\n")]
    for n in range(42):
        fr, en, it, theme = sujets[n % 21]
        tour, h = n // 21, next(hasard)
        cloture = CLOTURES[(n * 7 + h) % len(CLOTURES)]
        if n == 17:
            cloture = "9999-12-31T23:59:59+01:00"
        pays = sorted({PAYS[(n + h) % 6], PAYS[(n * h) % 6], "CH"}) if h % 4 else []
        condition = [None, 'Budget « tout compris », sans "frais généraux".', "Dossier complet;\nlettre d'intention exigée.", "Thèse, ou équivalent"][(n + h) % 4]
        appels.append({
            "ref": REFS.get(n, "LM-%d-%03d" % (2026 + tour, n + 1)),
            "intitule": {"fr": fr + [" II", ""][tour == 0], "en": en + [" II", ""][tour == 0], "it": it + [" II", ""][tour == 0]},
            "bailleur": list(BAILLEURS)[(n * 5 + h) % 6],
            "theme": theme,
            "pays": pays,
            "ouverture": "%d-%02d-%02d" % (2025, 1 + (n + h) % 12, [1, 15, 31][n % 3] if (n + h) % 12 in (0, 2, 4, 6, 7, 9, 11) else 28),
            "cloture": cloture,
            "dotation_chf": MONTANTS[(n * 2 + h) % len(MONTANTS)],
            "resume": {"fr": f"Soutien à la recherche : {fr.lower()}.", "en": f"Support for research: {en.lower()}.",
                       "it": f"Sostegno alla ricerca: {it.lower()}."},
            "conditions": condition,
            "modifie": "2026-%02d-%02dT%02d:15:00Z" % (1 + n % 10, 1 + (n * h) % 28, 6 + h),
        })
    return appels


APPELS = construire()

EXEMPLES = [dict(a, ref="EXEMPLE-%d" % (i + 1), intitule={x: "[essai] " + t for x, t in a["intitule"].items()})
            for i, a in enumerate(construire()[:3])]
