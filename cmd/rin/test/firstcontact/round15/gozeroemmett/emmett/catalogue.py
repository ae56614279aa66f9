"""The generated calls and funders of the node."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from fractions import Fraction

DISCIPLINES = {
    "natural_sciences": ("Naturwissenschaften", "Natural sciences"),
    "engineering": ("Technische Wissenschaften", "Engineering"),
    "medicine": ("Humanmedizin und Gesundheit", "Medicine and health"),
    "agriculture": ("Agrarwissenschaften", "Agriculture"),
    "social_sciences": ("Sozialwissenschaften", "Social sciences"),
    "humanities": ("Geisteswissenschaften", "Humanities"),
}
STATUSES = ["forthcoming", "open", "closed"]
IMPORTED = 1795154400  # 2026-11-20T06:00:00Z, the last import

sys.set_int_max_str_digits(100_000)  # for fractions of a second
_RFC3339 = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(\.\d+)?([Zz]|[+-]\d{2}:\d{2})", re.ASCII
)


def _days(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01 in the proleptic Gregorian calendar, for the years 0000 to 9999."""
    y = year - (month <= 2)
    era = y // 400
    yoe = y - era * 400
    doy = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146097 + yoe * 365 + yoe // 4 - yoe // 100 + doy - 719468


def _month_length(year: int, month: int) -> int:
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 or year % 400 == 0) else 28
    return 30 if month in (4, 6, 9, 11) else 31


def instant(text: str):
    """Seconds since the epoch of an RFC 3339 date-time (with the fraction), or ValueError."""
    m = _RFC3339.fullmatch(text)
    if not m:
        raise ValueError(text)
    year, month, day, hour, minute, second = (int(m.group(i)) for i in range(1, 7))
    if not (1 <= month <= 12 and 1 <= day <= _month_length(year, month) and hour < 24 and minute < 60 and second <= 60):
        raise ValueError(text)
    zone = m.group(8)
    offset = 0
    if zone not in "Zz":
        zh, zm = int(zone[1:3]), int(zone[4:6])
        if zh > 23 or zm > 59:
            raise ValueError(text)
        offset = (zh * 60 + zm) * (60 if zone[0] == "+" else -60)
    whole = _days(year, month, day) * 86400 + hour * 3600 + minute * 60 + second - offset
    if second == 60 and whole % 86400:  # a leap second ends a day in UTC
        raise ValueError(text)
    digits = (m.group(7) or ".")[1:].rstrip("0")
    return whole + Fraction(int(digits), 10 ** len(digits)) if digits else whole


_HTTP_DATES = [
    re.compile(r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (?P<d>\d\d) (?P<m>[A-Z][a-z]{2}) (?P<y>\d{4}) (?P<t>\d\d:\d\d:\d\d) GMT", re.ASCII),
    re.compile(r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (?P<d>\d\d)-(?P<m>[A-Z][a-z]{2})-(?P<y>\d\d) (?P<t>\d\d:\d\d:\d\d) GMT", re.ASCII),
    re.compile(r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?P<m>[A-Z][a-z]{2}) (?P<d>[ \d]\d) (?P<t>\d\d:\d\d:\d\d) (?P<y>\d{4})", re.ASCII),
]
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


def http_date(text: str, this_year: int):
    """Seconds since the epoch of an HTTP-date in any of its three forms (RFC 9110, 5.6.7), or None."""
    m = next((m for m in (p.fullmatch(text) for p in _HTTP_DATES) if m), None)
    if not m or m["m"] not in _MONTHS:
        return None
    year, month, day = int(m["y"]), _MONTHS.index(m["m"]) + 1, int(m["d"])
    if len(m["y"]) == 2:
        year += this_year // 100 * 100
        if year > this_year + 50:
            year -= 100
    hour, minute, second = map(int, m["t"].split(":"))
    if not (1 <= day <= _month_length(year, month) and hour < 24 and minute < 60 and second <= 60):
        return None
    return _days(year, month, day) * 86400 + hour * 3600 + minute * 60 + second


@dataclass(frozen=True)
class Funder:
    id: str
    name: tuple[str, str]
    country: str
    homepage: str


@dataclass(frozen=True)
class Call:
    id: str
    title: tuple[str, str]
    abstract: tuple[str, str]
    status: str
    funder: str
    disciplines: tuple[str, ...]
    opens_on: str
    closes_at: str | None
    amount: int | None
    contact: dict = field(compare=False)

    @property
    def closes(self):
        return None if self.closes_at is None else instant(self.closes_at)

    @property
    def key(self):
        c = self.closes
        return (1, 0, self.id) if c is None else (0, c, self.id)


FUNDERS = [
    Funder("ost", ("Forschungsförderung Ost", "Research Fund East"), "AT", "https://ost.example/"),
    Funder("goe", ("Göttinger Stiftungsverbund", "Göttingen Trust Group"), "DE", "https://goettingen.example/"),
    Funder("zue", ("Zürcher Hochschulfonds", "Zürich University Fund"), "CH", "https://zuerich.example/"),
    Funder("nrw", ("Nordwest-Förderbank", "North-West Promotional Bank"), "DE", "https://nordwest.example/"),
    Funder("bur", ("Burgenländische Wissenschaftsagentur", "Burgenland Science Agency"), "AT", "https://bgld.example/"),
    Funder("ems", ("Stiftung Große Emsländer", "Great Emsland Foundation"), "DE", "https://emsland.example/"),
    Funder("lie", ("Fürstliche Akademie", "Princely Academy"), "LI", "https://akademie.example/"),
]

_THEMES = [
    ("Böden und Gewässer", "Soils and waters"),
    ("Gedächtnis und Öffentlichkeit", "Memory and the public"),
    ("leise Flugzeuge", "quiet aircraft"),
    ("Früherkennung bei Kindern", "early diagnosis in children"),
    ("Sprachen der Grenzräume", "languages of border regions"),
    ("Holz in großen Gebäuden", "timber in large buildings"),
    ("künftige Stromnetze", "future power grids"),
    ("Ernährung & Gerechtigkeit", "nutrition & justice"),
    ("Süßwasserfische", "freshwater fish"),
    ("Musik des Übergangs", "music of transition"),
    ("Übersetzungen aus dem Rätischen", "translations from Rhaetian"),
]
_FORMS = [
    ("Doktoratskolleg", "Doctoral college"),
    ("Einzelprojekte", "Stand-alone projects"),
    ("Überbrückungsstipendien", "Bridging grants"),
    ("Großgeräte", "Large equipment"),
    ("Kooperationsprogramm", "Cooperation programme"),
    ("Jubiläumspreis", "Anniversary award"),
]


def _generate() -> list[Call]:
    calls = []
    codes = list(DISCIPLINES)
    for i in range(1, 119):
        form, theme = _FORMS[(i * 5) % 6], _THEMES[(i * 3) % 11]
        suffix = f" {2020 + i % 8}" if i % 9 == 4 else ""
        title = (f"{form[0]}: {theme[0]}{suffix}", f"{form[1]}: {theme[1]}{suffix}")
        month, day, hour = 1 + (i * 7) % 12, 1 + (i * 11) % 28, (12, 14, 17, 23)[i % 4]
        zone = "+02:00" if 4 <= month <= 10 else "+01:00"
        if i % 5 in (0, 2):
            status, opens, year = "closed", f"2024-{month:02}-{day:02}", 2025
        elif i % 5 == 4:
            status, opens, year = "forthcoming", f"2027-{1 + (i * 5) % 6 + 1:02}-{day:02}", 2028
        else:
            status, opens, year = "open", f"2026-{1 + (i * 3) % 9:02}-{day:02}", 2027
            month = 2 + month % 11
            zone = "+02:00" if 4 <= month <= 10 else "+01:00"
        minute = 59 if hour == 23 else 0
        closes = f"{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:00{zone}"
        if i % 29 == 0 or i % 12 == 7:
            closes = "2025-06-30T12:00:00+02:00" if status == "closed" else f"{year}-11-15T17:00:00+01:00"
        if i in (23, 51, 76, 98):
            closes = None
            status, opens = "open", "2026-01-15"
        if i == 61:
            closes = "9999-12-31T23:59:59Z"
        funder = FUNDERS[(i * 3 + i // 5) % 6]  # the academy has no calls
        picked = tuple(sorted({codes[i % 6], codes[(i * 5 + 2) % 6]}))
        abstract = (
            f"Gefördert werden Vorhaben zu „{theme[0]}“. Anträge sind elektronisch bei „{funder.name[0]}“ einzureichen.",
            f"Funding for work on “{theme[1]}”. Applications go to {funder.name[1]}.",
        )
        amount = None if i % 13 == 6 else ((i * 41) % 97 + 3) * 12500
        contact = {"name": ("Jörg Weiß", "Änne Müßig", "Zoë Strauß")[i % 3], "email": f"stelle{i % 7}@{funder.id}.example"}
        calls.append(
            Call(f"{funder.id}-{2000 + i * 7}", title, abstract, status, funder.id, picked, opens, closes, amount, contact)
        )
    return sorted(calls, key=lambda c: c.key)


CALLS = _generate()
CALL_BY_ID = {c.id: c for c in CALLS}
FUNDER_BY_ID = {f.id: f for f in FUNDERS}
