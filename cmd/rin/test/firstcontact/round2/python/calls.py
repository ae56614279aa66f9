"""About 60 generated funding calls, the same each day: neutral rows that each base shows in its own shape."""
from datetime import datetime, timedelta, timezone, time

TODAY = datetime.combine(datetime.now(timezone.utc).date(), time(0), timezone.utc)
FUNDERS = {"F-1": "Wissenschaftsfonds Mur", "F-2": "Jubiläumsfonds der Sparkasse", "F-10": "Land Steiermark, Abteilung 12",
           "F-11": "Austrian Climate Trust", "F-7": "Stiftung Übermorgen"}
DISCIPLINES = ["physics", "medicine", "law", "history", "climate", "arts"]
THEMES = [("Wärme und Strom", "Heat and Power"), ("Leise Städte", "Quiet Cities"), ("Alpine Klimadaten", "Alpine Climate Data"),
          ("Recht & Maschine", "Law & Machine"), ("Quanten am Übergang", "Quanta at the Edge"), ("Archive von morgen", "Tomorrow's Archives"),
          ("Gesunde Böden", "Healthy Soils")]


def rows(n=60):
    out = []
    funders = list(FUNDERS)
    for i in range(1, n + 1):
        de, en = THEMES[i % 7]
        start = TODAY + timedelta(days=(i * 13) % 150 - 110, hours=8)
        # four calls share each deadline: ties are normal, many funders close at the end of a month
        end = TODAY + timedelta(days=((i % 15) * 11) - 60, hours=11 + (i % 3), minutes=30)
        if end <= start:
            start = end - timedelta(days=60)
        now = datetime.now(timezone.utc)
        out.append({
            "n": i, "title": {"de": f"{de} {2026 + i % 3} (Nr. {i})", "en": f"{en} {2026 + i % 3} (no. {i})"},
            "summary": {"de": f"Gefördert werden Vorhaben zum Thema „{de}“.", "en": f"Projects on “{en}” are funded."},
            "funder": funders[(i * 3 + i // 7) % 5], "disciplines": sorted({DISCIPLINES[i % 6], DISCIPLINES[(i * i + 1) % 6]}),
            "opens": start, "deadline": end, "amount": 50000 + 12500 * (i % 9) + (0.5 if i % 19 == 0 else 0),
            "status": "upcoming" if now < start else "open" if now <= end else "closed",
            "years": 1 + i % 4, "url": f"https://calls.example/{i}"})
    return out
