"""Les appels de l'Université des Hautes-Vallées."""

FINANCEURS = [
    {"code": "ANR", "nom": "Agence nationale de la recherche", "pays": "FR"},
    {"code": "FNS", "nom": "Fonds national suisse", "pays": "CH"},
    {"code": "RAURA", "nom": "Région Auvergne-Rhône-Alpes", "pays": "FR"},
    {"code": "VDA", "nom": "Regione autonoma Valle d'Aosta", "pays": "IT"},
    {"code": "L'Alpe", "nom": "Fondation « L'Alpe »", "pays": "FR"},
    {"code": "UE", "nom": "Union européenne", "pays": "BE"},
]

DOMAINES = ["agronomie", "climat", "droit", "genie", "lettres", "medecine", "physique", "sociologie"]

_THEMES = [
    ("Glaciers et ressources en eau", "Glaciers and water resources"),
    ("Médecine d'altitude", "High-altitude medicine"),
    ("Langues franco-provençales", "Franco-Provençal languages"),
    ("Risques d'avalanche", "Avalanche hazards"),
    ("Pastoralisme et élevage", "Pastoralism and husbandry"),
    ("Neutrinos sous la montagne", "Neutrinos under the mountain"),
    ("Tourisme hors saison", "Off-season tourism"),
    ("Hydroélectricité de demain", "Hydropower of tomorrow"),
    ("Droit des communs", "Law of the commons"),
    ("Forêts et sécheresse", "Forests and drought"),
    ("Mobilité en vallée", "Mobility in valleys"),
]

# Échéances avec le décalage horaire du financeur ; trois d'entre elles reviennent souvent.
_ECHEANCES = [
    "2026-10-01T00:30:00+02:00", "2026-09-30T23:00:00Z", "2026-09-30T17:00:00-06:00", None, "2027-01-31T17:00:00+01:00",
    "2026-12-15T12:00:00+01:00", "2026-12-15T12:00:00+01:00", "2027-03-28T02:30:00+02:00", "2026-12-15T11:00:00Z",
    "2028-02-29T23:59:59+01:00", "2026-12-31T23:59:59+01:00", "2027-01-01T00:00:00+02:00", "2026-12-15T12:00:00+01:00",
]


def charger():
    appels = []
    for i in range(42):
        fr, en = _THEMES[(i * 4) % len(_THEMES)]
        genre = [("Appel à projets", "Call for projects"), ("Bourse", "Grant"), ("Chaire", "Chair")][(i // 4) % 3]
        appels.append({
            "reference": "UHV-%d-%02d" % (2025 + i % 3, (i * 5) % 42 + 10),
            "intitule": {"fr": "%s : %s" % (genre[0], fr), "en": "%s: %s" % (genre[1], en)},
            "financeur": FINANCEURS[(i * 5 + i // 7) % len(FINANCEURS)]["code"],
            "domaines": sorted({DOMAINES[i % 8], DOMAINES[(i * 3 + 1) % 8]}),
            "ouverture": "202%d-%02d-%02d" % (4 + i % 3, i % 12 + 1, (i * 7) % 28 + 1),
            "echeance": _ECHEANCES[i % len(_ECHEANCES)],
            "montant_max": 15000 + (i * 7919) % 400000 + (0.5 if i % 6 == 0 else 0),
            "resume": "Soutien de %d à %d mois.\nThème : %s." % (6 + i % 5, 24 + i % 7, fr),
            "contact": "appels-%02d@hautes-vallees.example" % (i % 9),
            "mise_a_jour": "2026-%02d-%02dT0%d:00:00Z" % (i % 10 + 1, (i * 3) % 28 + 1, i % 10),
        })

    def special(reference, fr, en, financeur, domaines, ouverture, echeance, montant):
        appels.append({"reference": reference, "intitule": {"fr": fr, "en": en}, "financeur": financeur, "domaines": domaines,
                       "ouverture": ouverture, "echeance": echeance, "montant_max": montant, "resume": "Hors série.\n" + fr,
                       "contact": "hors-serie@hautes-vallees.example", "mise_a_jour": "2026-11-02T06:00:00Z"})

    special("UHV été 3", "École d'été, « sommets & sciences »", "Summer school, \"summits & sciences\"", "L'Alpe", ["lettres"], "2026-02-01", "2026-12-15T12:00:00+01:00", 9000)
    special("UHV+7", "Prix de thèse, 7e édition", "Thesis award, 7th edition", "FNS", ["droit", "sociologie"], "2020-02-29", "2024-02-29T23:59:59Z", 5000)
    special("UHV%41", "Bourse 100 % mobilité", "100 % mobility grant", "UE", ["genie"], "2026-06-01", "9999-12-31T23:59:59Z", 1234567.89)
    special("UHVA", "Archives alpines", "Alpine archives", "VDA", ["lettres"], "1999-12-31", "2000-01-01T00:00:00Z", 0)
    special("UHV;v=2", "Cœur & poumons ; seconde vague", "Heart & lungs; second wave", "ANR", ["medecine"], "2026-08-15", None, 250000)
    special("UHV-2026-~!@", "Énergie, réseaux, \"stockage\"", "Energy, grids, \"storage\"", "RAURA", ["genie", "physique"], "2026-04-04", "2027-06-30T23:59:59+02:00", 87654.32)
    return sorted(appels, key=lambda a: a["reference"])
