"""Operations of the funding API and of the info endpoint (Connexion resolves them by name)."""
import functools
import math
import re
from datetime import datetime, timezone

from connexion.exceptions import ProblemException
from sqlalchemy import and_, func, or_, select
from sqlalchemy.orm import Session

from models import VIENNA, Funder, Funding, FundingRegion, engine
from settings import NODE, ORIGIN

DATE_TIME = re.compile(
    r"\d{4}-\d\d-\d\d[Tt]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,6})?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)\Z",
    re.ASCII)
SORT = {"id": Funding.id, "callStageStart": Funding.start, "updatedAt": Funding.updated_at}


def as_json(handler):
    """Connexion wants the media type named where an operation has several."""
    @functools.wraps(handler)
    async def wrapper(*args, **kwargs):
        return await handler(*args, **kwargs), 200, {"Content-Type": "application/json"}
    return wrapper


def bad_parameter(name):
    return ProblemException(status=400, title="Bad Request",
                            detail=f"The parameter {name} has a wrong value")


def not_found():
    return ProblemException(status=404, title="Not Found", detail="There is nothing with this id")


def local(instant):
    return instant.astimezone(VIENNA).isoformat()


def utc(instant):
    return instant.strftime("%Y-%m-%dT%H:%M:%SZ")


def texts(de, en):
    result = [{"lang": "de", "trans": "O", "text": de}]
    if en:
        result.append({"lang": "en", "trans": "H", "text": en})
    return result


def funding_json(funding):
    result = {
        "id": funding.id,
        "type": funding.type,
        "name": texts(funding.name_de, funding.name_en),
        "funder": {"id": funding.funder.id, "acronym": funding.funder.acronym},
        "regions": [region.code for region in funding.regions],
        "maxProjectVolume": {"currency": funding.currency, "amount": funding.volume},
        "callStageStart": local(funding.start),
        "fullyFunded": funding.fully_funded,
        "updatedAt": utc(funding.updated_at),
    }
    if funding.acronym:
        result["acronym"] = funding.acronym
    if funding.end:
        result["callStageEnd"] = local(funding.end)
    elif NODE == "connexion-null":
        result["callStageEnd"] = None
    return result


def funder_json(funder):
    return {"id": funder.id, "acronym": funder.acronym, "name": funder.name,
            "website": funder.website, "countryCode": funder.country_code}


def page(session, query, key, offset, limit, convert):
    total = session.scalar(select(func.count()).select_from(query.with_only_columns(key).subquery()))
    rows = session.scalars(query.offset(offset).limit(limit))
    return {"total": total, "offset": offset, "limit": limit,
            "items": [convert(row) for row in rows]}


def parse_instant(name, value):
    if not DATE_TIME.match(value):
        raise bad_parameter(name)
    try:
        return datetime.fromisoformat(value.upper()).astimezone(timezone.utc) \
            if NODE != "connexion-offset" else datetime.fromisoformat(value.upper())
    except (ValueError, OverflowError):
        raise bad_parameter(name)


@as_json
async def list_fundings(offset=0, limit=25, sort="id", fundingType=None, funderId=None, region=None,
                        runningCalls=None, minVolume=None, updatedSince=None, q=None):
    query = select(Funding)
    if fundingType is not None:
        query = query.where(Funding.type == fundingType)
    if funderId is not None:
        query = query.where(Funding.funder_id == funderId)
    if region is not None:
        if NODE == "connexion-join":
            query = query.join(FundingRegion).where(FundingRegion.code.in_(region))
        else:
            query = query.where(Funding.regions.any(FundingRegion.code.in_(region)))
    if runningCalls is not None:
        now = datetime.now(timezone.utc)
        running = and_(Funding.start <= now, or_(Funding.end.is_(None), Funding.end > now))
        query = query.where(running if runningCalls else ~running)
    if minVolume is not None:
        if not math.isfinite(minVolume):
            raise bad_parameter("minVolume")
        query = query.where(Funding.volume >= minVolume)
    if updatedSince is not None:
        query = query.where(Funding.updated_at >= parse_instant("updatedSince", updatedSince))
    if q is not None:
        query = query.where(Funding.search_text.contains(q.casefold(), autoescape=True))
    column = SORT[sort.lstrip("-")]
    query = query.order_by(column.desc() if sort.startswith("-") else column, Funding.id)
    with Session(engine) as session:
        return page(session, query, Funding.id, offset, limit, funding_json)


@as_json
async def get_funding(fundingId):
    with Session(engine) as session:
        funding = session.get(Funding, fundingId)
        if funding is None:
            raise not_found()
        kind = "laufend" if funding.end is None else "mit Frist"
        return {
            **funding_json(funding),
            "description": texts(
                f"„{funding.name_de}“ – Förderung durch {funding.funder.name} ({kind}).",
                f"“{funding.name_en}” – funded by {funding.funder.name}."
                if funding.name_en else None),
            "website": f"{funding.funder.website}calls/{funding.id}",
            "applicationLanguages": ["de", "en"] if funding.name_en else ["de"],
            "callVolumeProjects": funding.projects,
            "contacts": [{"name": funding.contact, "email": f"calls@{funding.funder_id}.example"}],
        }


@as_json
async def list_stages(fundingId):
    with Session(engine) as session:
        funding = session.get(Funding, fundingId)
        if funding is None:
            raise not_found()
        result = []
        for stage in funding.stages:
            item = {"number": stage.number, "start": local(stage.start), "end": local(stage.end)}
            if stage.note:
                item["note"] = stage.note
            result.append(item)
        return result


@as_json
async def list_funders(offset=0, limit=25):
    with Session(engine) as session:
        return page(session, select(Funder).order_by(Funder.id), Funder.id, offset, limit,
                    funder_json)


@as_json
async def get_funder(funderId):
    with Session(engine) as session:
        funder = session.get(Funder, funderId)
        if funder is None:
            raise not_found()
        return funder_json(funder)


@as_json
async def get_info():
    return {"endpoints": {"FUNDING": [{"name": "FUNDING", "majorVersion": 3, "minorVersion": 2,
                                       "url": f"{ORIGIN}/ris-synergy/funding/v3/fundings"}]}}
