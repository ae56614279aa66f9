"""Generated records (fixed seed) and calendar arithmetic."""
import random
import re
from fractions import Fraction

TYPES = ["CALL", "ONGOING_CALL", "AWARD", "GRANT", "SCHOLARSHIP"]
GROUPS = ["UNIVERSITY", "COMPANY", "NGO", "SCHOOL"]
THEMES = [("Holzbau", "timber construction"), ("Gletscherforschung", "glacier research"), ("Künstliche Intelligenz", "artificial intelligence"), ("Barrierefreiheit", "accessibility"),
          ("Wasserstoff", "hydrogen"), ("Frühgeschichte", "early history"), ("Öffentliche Gesundheit", "public health"), ("Robotik", "robotics"), ("Rechtsinformatik", "legal informatics")]
PROGRAMMES = [("pg-alpha", "Murtal Basis", "Murtal basic"), ("pg-ost", "Brücken nach Osten", "Bridges to the East"), ("pg-klima", "Klima & Region", "Climate & region"), ("pg-start", "Startbahn", "Runway"), ("pg-frei", "Freie Projekte", "Free projects")]
DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})", re.ASCII)
STAMP = re.compile(r"(\d{4}-\d{2}-\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(\.\d+)?(?:[Zz]|([+-])(\d{2}):(\d{2}))", re.ASCII)


def day(text):
    """Days since 1970-01-01 of a full-date (RFC 3339), or None."""
    m = DATE.fullmatch(text)
    if not m:
        return None
    y, mo, d = map(int, m.groups())
    leap = y % 4 == 0 and (y % 100 != 0 or y % 400 == 0)
    if not 1 <= mo <= 12 or not 1 <= d <= [31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][mo - 1]:
        return None
    y -= mo <= 2
    era = y // 400
    yoe = y - era * 400
    doy = (153 * (mo + (-3 if mo > 2 else 9)) + 2) // 5 + d - 1
    return era * 146097 + yoe * 365 + yoe // 4 - yoe // 100 + doy - 719468


LEAPS = {day(d) + 1 for d in [y + "-06-30" for y in "1972 1981 1982 1983 1985 1992 1993 1994 1997 2012 2015".split()]
         + [y + "-12-31" for y in "1972 1973 1974 1975 1976 1977 1978 1979 1987 1989 1990 1995 1998 2005 2008 2016".split()]}


def moment(text):
    """Seconds since 1970 of a date-time (RFC 3339), or None."""
    m = STAMP.fullmatch(text)
    if not m:
        return None
    d, h, mi, s = day(m[1]), int(m[2]), int(m[3]), int(m[4])
    oh, om = int(m[7] or 0), int(m[8] or 0)
    if d is None or h > 23 or mi > 59 or s > 60 or oh > 23 or om > 59:
        return None
    offset = (oh * 3600 + om * 60) * (-1 if m[6] == "-" else 1)
    at = d * 86400 + h * 3600 + mi * 60 + s - offset
    if s == 60 and (at % 86400 != 0 or at // 86400 not in LEAPS):
        return None
    return at + (Fraction(m[5]) if m[5] else 0)


def stamp(seconds):
    import datetime
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def build():
    r = random.Random(4711)
    out, seen = [], set()
    base = moment("2024-02-01T07:00:00Z")
    for n in range(1, 74):
        fid = "mt-%06x" % r.randrange(1 << 24)
        assert fid not in seen
        seen.add(fid)
        kind, theme, pg = r.choice(TYPES), r.choice(THEMES), r.choice(PROGRAMMES)
        opens = base + r.randrange(0, 900) * 86400 + r.randrange(0, 24) * 3600
        closes = None if kind == "ONGOING_CALL" or r.random() < 0.1 else opens + r.randrange(10, 300) * 86400 + 14 * 3600
        amount = r.randrange(4, 8000) * 250 + r.choice([0, 0, 0, 0.5, 0.25])
        rec = {"id": fid, "type": kind, "name": {"de": "%s %d: %s" % (theme[0], 2024 + n % 4, pg[1]), "en": "%s %d: %s" % (theme[1].capitalize(), 2024 + n % 4, pg[2])},
               "programmeId": pg[0], "targetGroups": sorted(r.sample(GROUPS, r.randrange(1, 4))), "opensAt": stamp(opens), "closesAt": None if closes is None else stamp(closes),
               "amount": amount, "currency": "EUR", "changedAt": stamp(moment("2025-03-01T00:00:00Z") + r.randrange(0, 5000) * 10007 % 46000000)}
        if r.random() < 0.4:
            rec["acronym"] = theme[1][:2].upper() + str(n)
        more = {"description": {"de": "Förderung zu %s. Anträge sind jederzeit über das Portal möglich, solange die Ausschreibung läuft." % theme[0], "en": "Funding for %s. Proposals can be handed in through the portal while the call runs." % theme[1]},
                "contacts": [{"name": "Förderstelle Murtal", "email": "funding%02d@murtal.invalid" % (n % 7)}], "website": "https://murtal.invalid/f/" + fid, "twoStage": r.random() < 0.3}
        out.append((rec, {**rec, **more}))
    return out
