"""A research-information node: Django Ninja on SQLite, opaque tokens, page-number paging."""
import base64
import datetime as dt
import gzip
import hashlib
import hmac
import json
import os
import secrets
import signal
import sys
import tempfile
import threading
import time
from collections import defaultdict, deque
from enum import Enum
from typing import Any, Dict, List, Optional
from urllib.parse import parse_qsl, unquote_plus

import django
from django.conf import settings

PORT = int(os.environ.get("PORT", "8000"))
MODE = os.environ.get("NODE", "base").split("-", 1)[-1]
ORIGIN = f"http://127.0.0.1:{PORT}"
WORK = tempfile.TemporaryDirectory(prefix="node-")
LIFETIME = 900
sys.dont_write_bytecode = True

settings.configure(
    DEBUG=False, SECRET_KEY=secrets.token_urlsafe(40), ALLOWED_HOSTS=["*"], ROOT_URLCONF="node", USE_TZ=True,
    TIME_ZONE="Europe/Vienna", INSTALLED_APPS=["calls"], APPEND_SLASH=False, NINJA_MAX_PER_PAGE_SIZE=50,
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": os.path.join(WORK.name, "node.sqlite3"),
                           "OPTIONS": {"timeout": 20, "transaction_mode": "IMMEDIATE"}}},
    CACHES={"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "TIMEOUT": 120,
                        "OPTIONS": {"MAX_ENTRIES": 20000}}},
    MIDDLEWARE=["node.HeadRequests", "node.Envelope", "node.Gzip",
                "django.middleware.http.ConditionalGetMiddleware", "django.middleware.common.CommonMiddleware",
                "node.Throttle", "node.ShortCache"],
    LOGGING={"version": 1, "disable_existing_loggers": True},
)
sys.modules.setdefault("node", sys.modules[__name__])
django.setup()

from django.core.cache import cache  # noqa: E402
from django.core.serializers.json import DjangoJSONEncoder  # noqa: E402
from django.db import connection  # noqa: E402
from django.http import HttpResponse, JsonResponse  # noqa: E402
from django.middleware.gzip import GZipMiddleware  # noqa: E402
from django.urls import path  # noqa: E402
from django.views.decorators.csrf import csrf_exempt  # noqa: E402
from ninja import NinjaAPI, Query, Schema  # noqa: E402
from ninja.errors import ValidationError  # noqa: E402
from ninja.pagination import PaginationBase, paginate  # noqa: E402
from ninja.renderers import JSONRenderer  # noqa: E402
from ninja.security import HttpBearer  # noqa: E402
from pydantic import AwareDatetime, Field  # noqa: E402

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import seed  # noqa: E402
from clients import CLIENTS, FUNDING  # noqa: E402
from calls.models import AccessToken, ApiClient, Call, Funder, TargetGroup  # noqa: E402

UTC = dt.timezone.utc

# --- errors ---------------------------------------------------------------------------------------------------------

TITLES = {400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
          429: "Too Many Requests", 500: "Internal Server Error"}


def problem(status, detail, headers=None, **members):
    body = {"type": "about:blank", "title": TITLES[status], "status": status, "detail": detail, **members}
    return HttpResponse(json.dumps(body, ensure_ascii=False), status=status, content_type="application/problem+json",
                        headers=headers)


class Refused(Exception):
    def __init__(self, status, detail, challenge=None):
        super().__init__(detail)
        self.status, self.detail, self.challenge = status, detail, challenge


class NotThere(Exception):
    pass


# --- authorization server -------------------------------------------------------------------------------------------

failures, failures_lock = defaultdict(deque), threading.Lock()


def locked(client_id):
    """Seconds for which a client stays locked after 20 wrong secrets within a minute."""
    with failures_lock:
        seen = failures[client_id] if client_id in failures else deque()
        while seen and seen[0] < time.monotonic() - 60:
            seen.popleft()
        return int(61 - (time.monotonic() - seen[0])) if len(seen) >= 20 else 0


def failed(client_id):
    with failures_lock:
        failures[client_id].append(time.monotonic())
        if len(failures) > 1000:
            failures.pop(next(iter(failures)))


def oauth_error(code, description, status=400, headers=None):
    response = JsonResponse({"error": code, "error_description": description}, status=status, headers=headers)
    response["Cache-Control"], response["Pragma"] = "no-store", "no-cache"
    return response


def basic_credentials(header):
    raw = base64.b64decode(header.split(" ", 1)[1].strip(), validate=True).decode("utf-8")
    user, sep, password = raw.partition(":")
    if not sep:
        raise ValueError("no colon")
    if MODE == "basic-raw":
        return user, password
    return unquote_plus(user), unquote_plus(password)


def token_endpoint(realm):
    challenge = {"WWW-Authenticate": f'Basic realm="{realm}"'}

    @csrf_exempt
    def view(request):
        if request.method != "POST":
            return oauth_error("invalid_request", "Use POST.", 405, {"Allow": "POST"})
        if request.content_type != "application/x-www-form-urlencoded":
            return oauth_error("invalid_request", "The body must be application/x-www-form-urlencoded.")
        if {"client_id", "client_secret"} & set(request.GET):
            return oauth_error("invalid_request", "Credentials do not belong in the request URI.")
        try:
            if len(request.body) > 20000:
                raise ValueError("long")
            pairs = parse_qsl(request.body.decode("utf-8"), keep_blank_values=True, max_num_fields=50, errors="strict")
        except ValueError:
            return oauth_error("invalid_request", "The body is not a proper form.")
        form = {name: value for name, value in pairs if value}
        if len({name for name, _ in pairs}) != len(pairs):
            return oauth_error("invalid_request", "A parameter is repeated.")
        header = request.headers.get("Authorization")
        if header is not None:
            if "client_secret" in form:
                return oauth_error("invalid_request", "Use one way of client authentication.")
            try:
                if not header.lower().startswith("basic "):
                    raise ValueError("scheme")
                client_id, secret = basic_credentials(header)
            except ValueError:
                return oauth_error("invalid_client", "The client is unknown or its secret is wrong.", 401, challenge)
            if form.get("client_id", client_id) != client_id:
                return oauth_error("invalid_request", "client_id differs from the Authorization header.")
        else:
            client_id, secret = form.get("client_id", ""), form.get("client_secret", "")
        if "grant_type" not in form:
            if MODE == "echo":
                got = ", ".join(f"{name}={value!r}" for name, value in form.items())
                return oauth_error("invalid_request", f"body.grant_type: Field required [type=missing, input: {got}]")
            return oauth_error("invalid_request", "grant_type is missing.")
        wait = locked(client_id)
        if wait:
            return oauth_error("invalid_client", "Too many wrong secrets. Wait.", 429, {"Retry-After": str(wait)})
        client = ApiClient.objects.filter(client_id=client_id.replace("\0", ""), realm=realm).first()
        digest = hashlib.sha256(secret.encode()).hexdigest()
        if not hmac.compare_digest(client.secret_hash if client else "-" * 64, digest):
            failed(client_id)
            return oauth_error("invalid_client", "The client is unknown or its secret is wrong.", 401, challenge)
        if form["grant_type"] != "client_credentials":
            return oauth_error("unsupported_grant_type", "Only client_credentials is supported.")
        if form.get("scope", "funding") != "funding":
            return oauth_error("invalid_scope", "The only scope is: funding")
        token = secrets.token_urlsafe(36)
        if MODE == "single":
            token = "v1~" + base64.b64encode(secrets.token_bytes(1100)).decode()
        key = hashlib.sha256(token.encode()).hexdigest()
        if MODE == "token-store":
            cache.set("token:" + key, client.client_id)
        else:
            AccessToken.objects.create(digest=key, client=client,
                                       expires_at=dt.datetime.now(UTC) + dt.timedelta(seconds=LIFETIME))
        answer = {"access_token": token, "token_type": "bearer" if MODE == "single" else "Bearer",
                  "expires_in": LIFETIME, "scope": "funding"}
        return JsonResponse(answer, headers={"Cache-Control": "no-store", "Pragma": "no-cache"})

    return view


class Bearer(HttpBearer):
    """Opaque bearer tokens (RFC 6750); a role is needed by the funding API only."""

    def __init__(self, realm="tirol", role=None):
        self.realm, self.role = realm, role
        super().__init__()

    def __call__(self, request):
        base = f'Bearer realm="{self.realm}"'
        value = request.headers.get("Authorization")
        if not value or value.split(" ")[0].lower() != "bearer":
            raise Refused(401, "An access token is needed.", base)
        client = self.authenticate(request, value[6:].strip(" "))
        if client is None:
            raise Refused(401, "The access token is unknown, expired or meant for another service.",
                          base + ', error="invalid_token", error_description="The access token is not valid here"')
        if self.role and client.role != self.role:
            raise Refused(403, f"The service account lacks the role {self.role}.",
                          base + ', error="insufficient_scope", scope="funding"')
        return client

    def authenticate(self, request, token):
        key = hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()
        if MODE == "token-store":
            client = ApiClient.objects.filter(client_id=cache.get("token:" + key, "")).first()
        else:
            found = AccessToken.objects.select_related("client").filter(digest=key).first()
            client = found.client if found and found.expires_at > dt.datetime.now(UTC) else None
        return client if client and client.realm == self.realm and client.audience == FUNDING else None


# --- middleware -----------------------------------------------------------------------------------------------------

class HeadRequests:
    """HEAD runs as GET and loses its body at the end."""

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        if request.method != "HEAD":
            return self.get_response(request)
        request.method = "GET"
        response = self.get_response(request)
        request.method = "HEAD"
        length = response.headers.get("Content-Length", str(len(response.content)))
        response.content = b""
        if response.status_code != 304:
            response["Content-Length"] = length
        return response


class Envelope:
    """Header fields of all API answers; the bare 405 of the framework becomes a problem."""

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        response = self.get_response(request)
        if response.status_code == 405 and "json" not in response.get("Content-Type", ""):
            allow = response["Allow"] + (", HEAD" if "GET" in response["Allow"] else "")
            response = problem(405, "The resource does not know this method.", {"Allow": allow})
        if "/ris-api/" in request.path and not response.has_header("Cache-Control"):
            response["Cache-Control"] = "private, no-cache"
        response["X-Content-Type-Options"] = "nosniff"
        return response


class Gzip(GZipMiddleware):
    max_random_bytes = 0

    def process_response(self, request, response):
        if "/oauth" in request.path or "openid-connect" in request.path:
            return response
        return super().process_response(request, response)


class ShortCache:
    """Answers the same detail request from memory for a minute."""

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        if MODE != "detail-cache" or request.method != "GET" or "/v3/calls/" not in request.path:
            return self.get_response(request)
        key = "page:" + hashlib.sha256(request.get_full_path().encode()).hexdigest()
        hit = cache.get(key)
        if hit is not None:
            return HttpResponse(hit, content_type="application/json; charset=utf-8")
        response = self.get_response(request)
        if response.status_code == 200:
            cache.set(key, response.content, 60)
        return response


class Throttle:
    """A quota of 10 API requests a second, in one of the modes."""
    recent, lock = deque(), threading.Lock()

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        if MODE == "throttled" and request.path.startswith("/ris-api/funding/v3/call"):
            with self.lock:
                now = time.monotonic()
                while self.recent and self.recent[0] < now - 1:
                    self.recent.popleft()
                if len(self.recent) >= 10:
                    return problem(429, "At most 10 requests a second.", {"Retry-After": "1"})
                self.recent.append(now)
            time.sleep(0.15)
        return self.get_response(request)


# --- schemas --------------------------------------------------------------------------------------------------------

class FundingType(str, Enum):
    PROGRAMME = "PROGRAMME"
    CALL = "CALL"
    ONGOING_CALL = "ONGOING_CALL"
    AWARD = "AWARD"
    SCHOLARSHIP = "SCHOLARSHIP"


class Group(str, Enum):
    UNIVERSITY = "UNIVERSITY"
    UNIVERSITY_OF_APPLIED_SCIENCES = "UNIVERSITY_OF_APPLIED_SCIENCES"
    PRIVATE_UNIVERSITY = "PRIVATE_UNIVERSITY"
    RESEARCH_INSTITUTE = "RESEARCH_INSTITUTE"
    COMPANY = "COMPANY"
    PRIVATE_NON_PROFIT = "PRIVATE_NON_PROFIT"
    INDEPENDENT_RESEARCHER = "INDEPENDENT_RESEARCHER"


class Problem(Schema):
    type: str
    title: str
    status: int
    detail: str
    errors: Optional[List[str]] = None


class FunderOut(Schema):
    id: str = Field(alias="slug")
    name: str
    country: str = Field(min_length=2, max_length=2)
    website: str = Field(json_schema_extra={"format": "uri"})
    ror: Optional[str]


class CallSummary(Schema):
    id: str = Field(alias="reference", description="Reference of the call, unique within the node")
    funding_type: FundingType
    title_de: str
    title_en: Optional[str]
    funder_id: str
    opens_on: dt.date
    closes_at: Optional[dt.datetime] = Field(description="Deadline (RFC 3339); null for ongoing calls")
    target_groups: List[Group]
    amount: float = Field(description="Volume of the call", ge=0)
    currency: str

    @staticmethod
    def resolve_target_groups(obj):
        return sorted(group.code for group in obj.target_groups.all())


class Contact(Schema):
    name: str
    email: str = Field(json_schema_extra={"format": "email"})


class CallDetail(CallSummary):
    summary_de: str
    own_share: Optional[float] = Field(description="Share that the applicant bears, in the same currency", ge=0)
    contact: Contact
    funder: FunderOut
    modified_at: dt.datetime

    @staticmethod
    def resolve_contact(obj):
        return {"name": obj.contact_name, "email": obj.contact_email}


class CallFilters(Schema):
    funding_type: Optional[FundingType] = Field(None, description="Only calls of this type")
    target_group: List[Group] = Field([], description="Only calls for one of these groups; may be repeated")
    funder_id: Optional[str] = Field(None, description="Only calls of this funder", max_length=40)
    closes_after: Optional[AwareDatetime] = Field(
        None, description="Only calls whose deadline lies at or after this instant (RFC 3339 with offset)")


class Endpoint(Schema):
    name: str
    majorVersion: int
    minorVersion: int
    url: str


class InfoOut(Schema):
    service: str
    client_id: str
    affiliation: Optional[str]
    roles: List[str]
    endpoints: Dict[str, List[Endpoint]]


# --- API ------------------------------------------------------------------------------------------------------------

class Renderer(JSONRenderer):
    media_type = "application/json"
    json_dumps_params = {"ensure_ascii": MODE == "odd-json"}

    def render(self, request, data, *, response_status):
        if MODE == "odd-json":
            text = json.dumps(data, cls=self.encoder_class, ensure_ascii=True, indent=3, separators=(" ,", " : "))
            return text.replace("/", "\\/") + "\r\n"
        return super().render(request, data, response_status=response_status)


class NodeAPI(NinjaAPI):
    """Problems have their own media type, also in the document."""

    def get_openapi_schema(self, **kwargs):
        schema = super().get_openapi_schema(**kwargs)
        for item in schema["paths"].values():
            for operation in item.values():
                for status, response in operation["responses"].items():
                    if int(status) >= 400:
                        response["description"] = TITLES[int(status)]
                        response["content"] = {"application/problem+json": response["content"]["application/json"]}
                    if int(status) in (401, 403):
                        response["headers"] = {"WWW-Authenticate": {"required": True, "schema": {"type": "string"}}}
                    if int(status) == 429:
                        response["headers"] = {"Retry-After": {"required": True, "schema": {"type": "integer"}}}
        return schema


def bounded(api):
    @api.exception_handler(Refused)
    def refused(request, error):
        return problem(error.status, error.detail, {"WWW-Authenticate": error.challenge})

    @api.exception_handler(NotThere)
    def not_there(request, error):
        return problem(404, "There is no such item.")

    @api.exception_handler(ValidationError)
    def invalid(request, error):
        return problem(400, "A parameter has a bad value.",
                       errors=[f"{'.'.join(str(part) for part in item['loc'][1:])}: {item['msg']}" for item in error.errors])

    @api.exception_handler(Exception)
    def broken(request, error):
        return problem(500, "Something went wrong.")
    return api


SERVERS = [{"url": ORIGIN}]
funding = bounded(NodeAPI(
    title="Förderausschreibungen Tirol", version="3.2.0", urls_namespace="funding", openapi_url="/api-docs", docs_url=None,
    description="Annotated funding calls for external API clients.", servers=SERVERS, renderer=Renderer(),
    auth=Bearer(role="EXTERNAL_API_CLIENT")))
REFUSALS = {400: Problem, 401: Problem, 403: Problem}
if MODE == "throttled":
    REFUSALS[429] = Problem


class EnvelopePagination(PaginationBase):
    items_attribute = "items"

    class Input(Schema):
        page: int = Field(1, ge=1, le=1000000, description="Number of the page, from 1")
        page_size: int = Field(25, ge=1, le=100, description="Items on a page, at most 100")

    class Output(Schema):
        items: List[Any]
        count: int = Field(description="Number of all items that match")
        page: int
        page_size: int
        pages: int

    def paginate_queryset(self, queryset, pagination, **params):
        size, count = pagination.page_size, queryset.count()
        start = (pagination.page - 1) * size
        rows = min(size, settings.NINJA_MAX_PER_PAGE_SIZE) if MODE == "page-clamp" else size
        return {"items": list(queryset[start:start + rows]), "count": count, "page": pagination.page, "page_size": size,
                "pages": -(-count // size)}


@funding.get("/calls", response={200: List[CallSummary], **REFUSALS}, operation_id="listCalls", tags=["Calls"], by_alias=False,
             summary="List the calls",
             description="All calls that match the filters, ordered by id. Every call is on exactly one page. "
                         "A page beyond the last one is empty.")
@paginate(EnvelopePagination)
def list_calls(request, filters: Query[CallFilters]):
    calls = Call.objects.prefetch_related("target_groups").order_by("reference")
    if filters.funding_type:
        calls = calls.filter(funding_type=filters.funding_type.value)
    if filters.target_group:
        calls = calls.filter(target_groups__in=[group.value for group in filters.target_group]).distinct()
    if filters.funder_id is not None:
        calls = calls.filter(funder_id=filters.funder_id)
    if filters.closes_after:
        instant = filters.closes_after
        if MODE == "offset-lost":
            instant = instant.replace(tzinfo=UTC)
        calls = calls.filter(closes_at__gte=instant)
    return calls


@funding.get("/calls/{call_id}", response={200: CallDetail, 404: Problem, **REFUSALS}, operation_id="getCall", tags=["Calls"],
             by_alias=False, summary="Read one call")
def get_call(request, call_id: str):
    call = Call.objects.select_related("funder").prefetch_related("target_groups").filter(reference=call_id).first()
    if call is None:
        raise NotThere()
    if MODE == "decimal-text":
        body = CallDetail.from_orm(call).model_dump()
        body["own_share"] = call.own_share
        return HttpResponse(json.dumps(body, cls=DjangoJSONEncoder, ensure_ascii=False),
                            content_type="application/json; charset=utf-8")
    return call


@funding.get("/funders", response={200: List[FunderOut], **REFUSALS}, operation_id="listFunders", tags=["Funders"], by_alias=False,
             summary="List all funders")
def list_funders(request):
    return Funder.objects.order_by("slug")


@funding.get("/funders/{funder_id}", response={200: FunderOut, 404: Problem, **REFUSALS}, operation_id="getFunder", tags=["Funders"],
             by_alias=False,
             summary="Read one funder")
def get_funder(request, funder_id: str):
    funder = Funder.objects.filter(slug=funder_id).first()
    if funder is None:
        raise NotThere()
    return funder


def info_api(realm, prefix):
    api = bounded(NodeAPI(title="Info", version="1.0", urls_namespace=f"info-{realm}", openapi_url="/api-docs", docs_url=None,
                          servers=SERVERS, renderer=Renderer(), auth=Bearer(realm=realm)))

    @api.get("/oauth/info/", response={200: InfoOut, 401: Problem}, operation_id="getInfo", summary="Test of the authorization")
    def info(request):
        client = request.auth
        return {"service": "RIS-Knoten Tirol", "client_id": client.client_id, "affiliation": client.affiliation,
                "roles": [client.role] if client.role else [],
                "endpoints": {"funding": [{"name": "FUNDINGS", "majorVersion": 3, "minorVersion": 2,
                                           "url": f"{ORIGIN}{prefix}/funding/v3/calls"}]}}
    return api


# --- public documents and URLs --------------------------------------------------------------------------------------

def metadata(realm, issuer, token):
    def view(request):
        if request.method != "GET":
            return problem(405, "The resource does not know this method.", {"Allow": "GET, HEAD"})
        return JsonResponse({
            "issuer": ORIGIN + issuer, "token_endpoint": ORIGIN + token, "response_types_supported": [],
            "grant_types_supported": ["client_credentials"], "scopes_supported": ["funding"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"]})
    return csrf_exempt(view)


@csrf_exempt
def registry(request):
    if request.method != "GET":
        return problem(405, "The resource does not know this method.", {"Allow": "GET, HEAD"})
    return JsonResponse({"member": [{"id": "TIROL", "acronym": "FIT", "name": "Forschungsinformation Tirol",
                                     "contact": "ris@tirol.example", "oauth2": ORIGIN + TOKEN, "info": ORIGIN + "/ris-api/info/v1/oauth/info/"}]})


def handler404(request, exception):
    return problem(404, "There is nothing here.")


def handler500(request):
    return problem(500, "Something went wrong.")


def handler400(request, exception):
    return problem(400, "The request is malformed.")


TOKEN, STAGING_TOKEN = "/realms/tirol/protocol/openid-connect/token", "/staging/oauth/token"
urlpatterns = [
    path("registry.json", registry),
    path(TOKEN[1:], token_endpoint("tirol")),
    path(STAGING_TOKEN[1:], token_endpoint("staging")),
    path(".well-known/oauth-authorization-server/realms/tirol", metadata("tirol", "/realms/tirol", TOKEN)),
    path(".well-known/oauth-authorization-server/staging", metadata("staging", "/staging", STAGING_TOKEN)),
    path("ris-api/funding/v3/", funding.urls),
    path("ris-api/info/v1/", info_api("tirol", "/ris-api").urls),
    path("staging/ris-api/info/v1/", info_api("staging", "/staging/ris-api").urls),
]


def main():
    from django.core.wsgi import get_wsgi_application
    from waitress import serve
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # removes the temporary folder
    with connection.schema_editor() as editor:
        for model in (Funder, TargetGroup, Call, ApiClient, AccessToken):
            editor.create_model(model)
    connection.cursor().execute("PRAGMA journal_mode=WAL")
    seed.fill(CLIENTS, 1 if MODE == "single" else 137)
    if MODE == "single":
        Funder.objects.exclude(calls__isnull=False).delete()
    serve(get_wsgi_application(), host="127.0.0.1", port=PORT, threads=4, ident=None)


if __name__ == "__main__":
    main()
