"""The fundings of the University of Vest; the same on every start."""
from datetime import datetime, timedelta, timezone
from decimal import Decimal

TARGET_GROUPS = ["UNIVERSITY", "UNIVERSITY_OF_APPLIED_SCIENCES", "PRIVATE_UNIVERSITY", "RESEARCH_INSTITUTE", "COMPANY",
                 "PRIVATE_NON_PROFIT", "INDEPENDENT_RESEARCHER", "GOVERNMENT"]
REGIONS = ["VIENNA", "BURGENLAND", "LOWER_AUSTRIA", "CARINTHIA", "UPPER_AUSTRIA", "SALZBURG", "STYRIA", "TYROL", "VORARLBERG"]
FUNDING_TYPES = ["PROGRAMME", "CALL", "ONGOING_CALL", "RESEARCH_CONTRACT", "AWARD", "GRANT", "SCHOLARSHIP"]
SCOPES = ["NATIONAL", "REGIONAL"]
FUNDERS = [("vest-rf", "Vest Research Fund", "VRF"), ("bodensee", "Bodensee-Stiftung für Forschung", "BSF"),
           ("helv", "Helvetische Brückenförderung", "HBF"), ("stadt", "Stadt Vest, Kultur & Wissenschaft", "SKW")]
TOPICS = ["Glaciology", "Textile Robotics", "Health Data Spaces", "Lake Ecology", "Medieval Manuscripts", "Battery Recycling", "Cross-border Care"]


def build(count=84):
    """Yields dicts that fit the tables of node.py. Times are UTC, without tzinfo, as the database keeps them."""
    for i in range(1, count + 1):
        fid, fname, acronym = FUNDERS[(i * 5 + i // 6) % 4]
        call = i % 5 != 2
        row = dict(id=f"UV{2000 + i}-{(i * 7919) % 9973:04d}", seq=i, type="CALL" if call else "PROGRAMME", funder_id=fid,
                   funder_name=fname, funder_acronym=acronym, title=f"{TOPICS[i % 7]} {2021 + i % 6}", title_de=f"Förderlinie {TOPICS[i % 7]} – Runde {i % 6 + 1}",
                   acronym=f"{acronym}-{i}" if i % 8 else None, legal_type=["PROJECT26", "PROJECT27"][i % 2],
                   target_groups=",".join(dict.fromkeys([TARGET_GROUPS[i % 8], TARGET_GROUPS[(i * 3) % 8]])), regions="", scope=None)
        if call:
            start = datetime(2024 + i % 3, 1 + i % 12, 1 + i % 20, 6, 0)
            month, year = 1 + (i * 5) % 12, 2025 + (i * 7) % 5
            offset = 2 if 4 <= month <= 10 else 1
            local_end = datetime(year, month, 5 + i % 22, 23, 59, 59) if i % 3 else datetime(year, month, 5 + i % 22, 12, 0)
            end = local_end - timedelta(hours=offset)
            if end <= start:
                end = start + timedelta(days=75, hours=16)
            row.update(starts_at=start, ends_at=end, scope=SCOPES[i % 2], regions=",".join(dict.fromkeys([REGIONS[i % 9], REGIONS[(i * 2) % 9]])),
                       currency="CHF" if fid == "helv" else "EUR", min_volume=Decimal(4000 + 125 * i) + Decimal("0.50") * (i % 2), max_volume=Decimal(60000 + 1500 * i) + Decimal("0.25") * (i % 4),
                       fully_funded=i % 4 == 1, min_inkind=Decimal(i % 3) * Decimal("12.5"), max_overheads=Decimal(i % 6) * 5)
        else:
            row.update(starts_at=datetime(2018 + i % 6, 1, 1, 11, 0), ends_at=None if i % 10 == 2 else datetime(2030 + i % 3, 12, 31, 11, 0))
        yield row


def local(when):
    """A time as the clocks in Vest show it, with its offset (summer time kept by the month)."""
    if when is None:
        return None
    tz = timezone(timedelta(hours=2 if 4 <= when.month <= 10 else 1))
    return when.replace(tzinfo=timezone.utc).astimezone(tz).isoformat()
