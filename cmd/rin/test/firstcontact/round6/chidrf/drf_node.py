"""Node "SUED" of the research-information network, with Django REST framework.

An authorization server for client credentials (opaque tokens, revocation), the info
resource and the funding API, version 3.  PORT is the port on 127.0.0.1.
"""
import atexit
import base64
import binascii
import datetime as dt
import decimal
import hashlib
import hmac
import json
import os
import re
import secrets
import shutil
import signal
import sys
import tempfile
import threading
import time
import uuid
from urllib.parse import parse_qsl, unquote_plus, urlencode

import django
from django.conf import settings

NODE = os.environ.get("NODE", "django")
PORT = os.environ.get("PORT", "8081")
ORIGIN = f"http://127.0.0.1:{PORT}"
API = f"{ORIGIN}/sued"
LIFETIME = 900
ROLE = "EXTERNAL_API_CLIENT"

DATA_DIR = tempfile.mkdtemp(prefix="sued-")
atexit.register(shutil.rmtree, DATA_DIR, ignore_errors=True)

settings.configure(
    DEBUG=False,
    SECRET_KEY=secrets.token_hex(32),
    ALLOWED_HOSTS=["127.0.0.1", "localhost"],
    ROOT_URLCONF=__name__,
    APPEND_SLASH=False,
    USE_TZ=True,
    TIME_ZONE="UTC",
    INSTALLED_APPS=["rest_framework"],
    MIDDLEWARE=[f"{__name__}.content_length", "django.middleware.security.SecurityMiddleware"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": os.path.join(DATA_DIR, "node.sqlite3"),
                           "OPTIONS": {"timeout": 10}}},
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    CACHES={"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "OPTIONS": {"MAX_ENTRIES": 200000}}},
    LOGGING={"version": 1, "disable_existing_loggers": False, "handlers": {"null": {"class": "logging.NullHandler"}},
             "loggers": {"django.request": {"handlers": ["null"], "propagate": False}}},
    REST_FRAMEWORK={
        "UNAUTHENTICATED_USER": None,
        "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
        "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
        "EXCEPTION_HANDLER": f"{__name__}.on_error",
        "COERCE_DECIMAL_TO_STRING": True,
        "URL_FORMAT_OVERRIDE": None,
    },
)
django.setup()

from django.core import signing  # noqa: E402
from django.core.cache import cache  # noqa: E402
from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.db import connection, models, transaction  # noqa: E402
from django.http import JsonResponse  # noqa: E402
from django.urls import path  # noqa: E402
from django.utils.cache import patch_vary_headers  # noqa: E402
from django.utils.dateparse import parse_datetime  # noqa: E402
from django.views import View  # noqa: E402
from rest_framework import authentication, exceptions, negotiation, permissions, renderers, serializers, status, viewsets  # noqa: E402
from rest_framework.response import Response  # noqa: E402
from rest_framework.views import APIView, exception_handler  # noqa: E402

# ------------------------------------------------------------------ clients

PRODUCTION, STAGING = "production", "staging"


class Client:
    def __init__(self, id, secret, account, affiliation, scopes, audience="ris", realm=PRODUCTION):
        self.id, self.secret, self.account, self.affiliation = id, secret, account, affiliation
        self.scopes, self.audience, self.realm = scopes, audience, realm

    def check_secret(self, given):
        if NODE == "drf-secret-any-case":
            return hmac.compare_digest(self.secret.lower().encode(), given.lower().encode())
        return hmac.compare_digest(self.secret.encode(), given.encode())


BOTH = ["funding:read", "info:read"]
CLIENTS = {(c.realm, c.id): c for c in [
    Client("tu-alpen", "jR5ZDS4arS6bfXNjAVlvloRBinxlJy3RRv9cBPpu", "5b1c0f52", "AT-0007", BOTH),
    Client("fh-tal", "Rci5SzxtwDAUA1PWGFVAVZeQxmLESENYa8jv5suN", "91d3aa70", "AT-0019", ["info:read"]),
    Client("payroll-sync", "vh33uwbwCqmlqsKWLbesix7VppAelKEDqAr33FFe", "e0a4471d", "AT-0007", BOTH, audience="payroll"),
    Client("tu-gletscher", "BjAz2koSxZPuvP9XQTRixajuWQsFM4uD1We0wqT4", "77f20c9e", "AT-0023", BOTH),
    Client("tu-alpen-test", "EKz5GCGNSyTtCoUur4LLifJEuqAzdwOeg466QUpF", "test-001", "AT-0007", BOTH, realm=STAGING),
]}

# ------------------------------------------------------------------ authorization server


class TokenStore:
    """Access tokens by their hash; the cache forgets them when they expire."""

    @staticmethod
    def key(raw):
        return "token:" + hashlib.sha256(raw.encode()).hexdigest()

    def issue(self, client, scopes):
        raw = secrets.token_urlsafe(32)
        cache.set(self.key(raw), {"client": client.id, "realm": client.realm, "scopes": scopes,
                                  "audience": client.audience, "expires": time.time() + LIFETIME}, LIFETIME)
        return raw

    def find(self, raw):
        entry = cache.get(self.key(raw))
        return entry if entry and entry["expires"] > time.time() else None

    def revoke(self, raw):
        cache.delete(self.key(raw))


class ReadThroughStore(TokenStore):
    """Keeps what it found in the process, to spare look-ups in the shared cache."""

    def __init__(self):
        self.local = {}

    def issue(self, client, scopes):
        raw = super().issue(client, scopes)
        self.local[raw] = super().find(raw)
        return raw

    def find(self, raw):
        entry = self.local.get(raw) or super().find(raw)
        return entry if entry and entry["expires"] > time.time() else None


tokens = ReadThroughStore() if NODE == "drf-revocation-cached" else TokenStore()


class Attempts:
    """Twenty wrong secrets within a minute lock a client for the rest of that minute."""
    limit, window = 20, 60

    def __init__(self):
        self.lock, self.failed = threading.Lock(), {}

    def wait(self, key):
        now = time.monotonic()
        with self.lock:
            recent = [t for t in self.failed.get(key, []) if now - t < self.window]
            self.failed[key] = recent
            return 0 if len(recent) < self.limit else int(self.window - (now - recent[-self.limit])) + 1

    def add(self, key):
        with self.lock:
            self.failed.setdefault(key, []).append(time.monotonic())


attempts = Attempts()


class OAuthError(Exception):
    def __init__(self, code, description, status=400, headers=None):
        super().__init__(code)
        self.code, self.description, self.status, self.headers = code, description, status, headers or {}


class OAuthView(View):
    http_method_names = ["post"]
    realm = PRODUCTION

    def http_method_not_allowed(self, request, *args, **kwargs):
        response = JsonResponse({"error": "invalid_request", "error_description": "only POST is supported"}, status=405)
        response["Allow"] = "POST"
        return response

    def dispatch(self, request, *args, **kwargs):
        try:
            response = super().dispatch(request, *args, **kwargs)
        except OAuthError as e:
            response = JsonResponse({"error": e.code, "error_description": e.description}, status=e.status, headers=e.headers)
        response["Cache-Control"] = "no-store"
        response["Pragma"] = "no-cache"
        return response

    def form(self, request):
        if request.content_type != "application/x-www-form-urlencoded":
            raise OAuthError("invalid_request", "the body must be application/x-www-form-urlencoded")
        if request.META.get("QUERY_STRING"):
            raise OAuthError("invalid_request", "parameters belong into the body")
        try:
            pairs = parse_qsl(request.body.decode(), keep_blank_values=True, errors="strict", max_num_fields=50)
        except ValueError:
            raise OAuthError("invalid_request", "the body is not well formed")
        form = {}
        for name, value in pairs:
            if name in form:
                raise OAuthError("invalid_request", "a parameter is repeated")
            form[name] = value
        return {k: v for k, v in form.items() if v != ""}

    def client(self, request, form):
        refused = OAuthError("invalid_client", "client authentication failed", 401,
                             {"WWW-Authenticate": 'Basic realm="SUED token endpoint", charset="UTF-8"'})
        id, secret = form.get("client_id"), form.get("client_secret")
        header = request.headers.get("Authorization")
        if header is not None:
            if secret is not None:
                raise OAuthError("invalid_request", "more than one way of client authentication")
            scheme, _, value = header.partition(" ")
            if scheme.lower() != "basic":
                raise refused
            try:
                user, colon, password = base64.b64decode(value.strip(), validate=True).decode().partition(":")
            except (binascii.Error, ValueError):
                raise refused
            user, password = unquote_plus(user), unquote_plus(password)
            if not colon:
                raise refused
            if id is not None and id != user:
                raise OAuthError("invalid_request", "client_id differs from the authenticated client")
            id, secret = user, password
        client = CLIENTS.get((self.realm, id))
        if client is None:
            raise refused
        wait = attempts.wait((self.realm, id))
        if wait:
            raise OAuthError("invalid_client", "too many failed attempts; try again later", 429, {"Retry-After": str(wait)})
        if secret is None or not client.check_secret(secret):
            attempts.add((self.realm, id))
            raise refused
        return client


class TokenView(OAuthView):
    def post(self, request):
        form = self.form(request)
        if "grant_type" not in form:
            raise OAuthError("invalid_request", "grant_type is missing")
        client = self.client(request, form)
        if form["grant_type"] != "client_credentials":
            raise OAuthError("unsupported_grant_type", "only client_credentials is supported")
        scopes = client.scopes
        if "scope" in form:
            scopes = sorted(set(form["scope"].split(" ")))
            if not set(scopes) <= set(client.scopes):
                raise OAuthError("invalid_scope", "the scope is unknown or not granted to this client")
        return JsonResponse({"access_token": tokens.issue(client, scopes), "token_type": "Bearer",
                             "expires_in": LIFETIME, "scope": " ".join(scopes)})


class RevokeView(OAuthView):
    def post(self, request):
        form = self.form(request)
        client = self.client(request, form)
        if "token" not in form:
            raise OAuthError("invalid_request", "token is missing")
        entry = tokens.find(form["token"])
        if entry and (entry["realm"], entry["client"]) == (self.realm, client.id):
            tokens.revoke(form["token"])
        return JsonResponse({})


class MetadataView(View):
    http_method_names = ["get", "head"]
    base = f"{ORIGIN}/sso"

    def get(self, request):
        return JsonResponse({
            "issuer": self.base, "token_endpoint": self.base + "/oauth/token",
            "revocation_endpoint": self.base + "/oauth/revoke", "response_types_supported": [],
            "grant_types_supported": ["client_credentials"], "scopes_supported": BOTH,
            "token_endpoint_auth_methods_supported": ["client_secret_post", "client_secret_basic"],
            "revocation_endpoint_auth_methods_supported": ["client_secret_post", "client_secret_basic"],
        }, headers={"Cache-Control": "public, max-age=300"})


# ------------------------------------------------------------------ resource server


class Caller:
    is_authenticated = True

    def __init__(self, client, scopes):
        self.client, self.scopes = client, scopes


class MalformedAuthorization(exceptions.APIException):
    status_code = 400
    default_code = "invalid_request"
    default_detail = "The Authorization header is malformed."


class OpaqueTokenAuthentication(authentication.BaseAuthentication):
    realm = PRODUCTION

    def authenticate(self, request):
        header = request.headers.get("Authorization")
        if header is None:
            return None
        scheme, _, raw = header.partition(" ")
        if scheme.lower() != "bearer":
            return None
        raw = raw.strip(" ")
        if not raw or any(c in raw for c in " ,\t"):
            raise MalformedAuthorization()
        entry = tokens.find(raw)
        if not entry or entry["realm"] != self.realm or entry["audience"] != "ris":
            raise exceptions.AuthenticationFailed("The access token is not valid.", code="invalid_token")
        return Caller(CLIENTS[(entry["realm"], entry["client"])], entry["scopes"]), entry

    if NODE != "drf-403-for-no-token":
        def authenticate_header(self, request):
            return 'Bearer realm="SUED"'


class StagingTokenAuthentication(OpaqueTokenAuthentication):
    realm = STAGING


class HasToken(permissions.BasePermission):
    def has_permission(self, request, view):
        return request.user is not None


class HasFundingScope(permissions.BasePermission):
    message = "The token lacks the scope funding:read."
    code = "insufficient_scope"

    def has_permission(self, request, view):
        return "funding:read" in request.user.scopes


def on_error(exc, context):
    """The error shape of this node: {"code", "message", "details"}."""
    response = exception_handler(exc, context)
    if response is None:
        return None
    details = []
    if isinstance(exc, exceptions.ValidationError):
        code, message = "invalid_parameter", "Some parameters are not valid."
        details = [{"field": f, "message": str(m)} for f, ms in exc.detail.items() for m in ms]
    else:
        code = getattr(exc, "default_code", "error")
        if isinstance(getattr(exc, "detail", None), exceptions.ErrorDetail):
            code = exc.detail.code
        message = str(response.data.get("detail", "error")) if isinstance(response.data, dict) else "error"
    response.data = {"code": code, "message": message, "details": details}
    if code in ("invalid_token", "insufficient_scope", "invalid_request") and "WWW-Authenticate" not in response or code == "invalid_token":
        if not (NODE == "drf-403-for-no-token" and code == "invalid_token"):
            extra = ', scope="funding:read"' if code == "insufficient_scope" else ""
            response["WWW-Authenticate"] = f'Bearer realm="SUED", error="{code}", error_description="{message}"{extra}'
    response["Cache-Control"] = "no-store"
    return response


def content_length(get_response):
    """Sets Content-Length, and keeps the body from answers to HEAD; an answer 304 has neither."""
    def middleware(request):
        response = get_response(request)
        if response.status_code != 304 and not response.streaming:
            response["Content-Length"] = str(len(response.content))
            if request.method == "HEAD":  # waitress leaves this to the application
                response.content = b""
        return response
    return middleware


class Negotiation(negotiation.DefaultContentNegotiation):
    """The media ranges of weight 0 do not count."""

    def get_accept_list(self, request):
        def weight(media_range):
            for p in media_range.split(";")[1:]:
                name, _, value = p.strip().partition("=")
                if name.lower() == "q":
                    try:
                        return float(value)
                    except ValueError:
                        return 1.0
            return 1.0
        return [m for m in super().get_accept_list(request) if weight(m) > 0]


def json_error(status, code, message):
    return JsonResponse({"code": code, "message": message, "details": []}, status=status)


def handler404(request, exception=None):
    return json_error(404, "not_found", "There is nothing at this address.")


def handler400(request, exception=None):
    return json_error(400, "bad_request", "The request is not well formed.")


def handler500(request):
    return json_error(500, "error", "Something went wrong.")


def language_of(request):
    """en or de, by Accept-Language (RFC 9110, 12.5.4); en where both are equal."""
    weights = {"en": None, "de": None}
    star = 0.0
    for part in request.headers.get("Accept-Language", "").split(","):
        tag, *params = [p.strip() for p in part.split(";")]
        q = 1.0
        for p in params:
            if p.lower().startswith("q="):
                try:
                    q = float(p[2:])
                except ValueError:
                    q = 0.0
        primary = tag.lower().split("-")[0]
        if primary == "*":
            star = q
        elif primary in weights:
            weights[primary] = max(q, weights[primary] or 0.0)
    en, de = (star if weights[l] is None else weights[l] for l in ("en", "de"))
    return "de" if de > en else "en"


VENDOR = "application/vnd.sued.funding.v3+json"


class VendorJSONRenderer(renderers.JSONRenderer):
    media_type = VENDOR
    charset = None


class Conditional:
    """Entity tags, If-None-Match, the language and the caching of every answer."""
    content_negotiation_class = Negotiation

    def finalize_response(self, request, response, *args, **kwargs):
        if response.status_code >= 400:
            request.accepted_renderer, request.accepted_media_type = renderers.JSONRenderer(), "application/json"
        response = super().finalize_response(request, response, *args, **kwargs)
        if response.status_code != 200 or request.method not in ("GET", "HEAD"):
            return response
        localized = getattr(self, "localized", False)
        response["Cache-Control"] = "private, no-cache"
        if localized:
            response["Content-Language"] = language_of(request)
            patch_vary_headers(response, ["Accept-Language"])
        response.render()
        tagged = response.content + response.get("Content-Language", "").encode()
        if NODE == "drf-etag-of-all-languages" and localized:
            tagged = repr(self.versions(response.data)).encode()
        response["ETag"] = f'"{hashlib.sha256(tagged).hexdigest()[:24]}"'
        inm = request.headers.get("If-None-Match")
        if inm and any(t.strip() in ("*", response["ETag"], "W/" + response["ETag"]) for t in inm.split(",")):
            not_modified = Response(status=304, headers={h: response[h] for h in
                                    ("ETag", "Cache-Control", "Vary", "Content-Language", "Link", "X-Total-Count") if h in response})
            response = super().finalize_response(request, not_modified, *args, **kwargs)
            response.render()
            del response["Content-Type"]
        return response

    @staticmethod
    def versions(data):
        rows = data if isinstance(data, list) else [data]
        return [(r.get("id"), r.get("updated_at"), r.get("status")) for r in rows]


class InfoView(Conditional, APIView):
    authentication_classes = [OpaqueTokenAuthentication]
    permission_classes = [HasToken]
    environment = PRODUCTION

    def get(self, request):
        c = request.user.client
        return Response({
            "node": "SUED", "environment": self.environment,
            "client": {"client_id": c.id, "service_account_user_id": c.account, "affiliation_id": c.affiliation,
                       "roles": [ROLE] if "funding:read" in c.scopes else [], "scopes": request.user.scopes},
            "endpoints": {"funding": [{"name": "FUNDINGS", "majorVersion": 3, "minorVersion": 4,
                                       "url": API + "/funding/v3/funding-calls"}]},
        })


# ------------------------------------------------------------------ data


class Funder(models.Model):
    name = models.CharField(max_length=200)
    country = models.CharField(max_length=2)

    class Meta:
        app_label = "node"


class FundingCall(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    reference = models.CharField(max_length=12, unique=True)
    title_en = models.CharField(max_length=300)
    title_de = models.CharField(max_length=300)
    call_type = models.CharField(max_length=20)
    funder = models.ForeignKey(Funder, on_delete=models.PROTECT)
    disciplines = models.JSONField(default=list)
    opens_on = models.DateField()
    closes_at = models.DateTimeField(null=True)
    budget_total = models.DecimalField(max_digits=12, decimal_places=2)
    currency = models.CharField(max_length=3)
    success_rate = models.FloatField(null=True)
    published = models.BooleanField(default=True)
    updated_at = models.DateTimeField()

    class Meta:
        app_label = "node"

    @property
    def status(self):
        now = dt.datetime.now(dt.UTC)
        if self.opens_on > now.date():
            return "forthcoming"
        return "closed" if self.closes_at and self.closes_at <= now else "open"


class Attachment(models.Model):
    call = models.ForeignKey(FundingCall, on_delete=models.CASCADE, related_name="attachments", db_constraint=False)
    title = models.CharField(max_length=200)
    media_type = models.CharField(max_length=100)
    size = models.PositiveIntegerField()

    class Meta:
        app_label = "node"


TYPES = ["research_project", "fellowship", "mobility", "infrastructure", "award"]
STATUSES = ["forthcoming", "open", "closed"]
DISCIPLINES = ["natural_sciences", "engineering", "medicine", "social_sciences", "humanities"]
TITLES = [
    ("Alpine glaciers in transition", "Alpine Gletscher im Wandel"), ("eHealth for rural regions", "eHealth für ländliche Regionen"),
    ("Ethics of artificial intelligence", "Ethik der künstlichen Intelligenz"), ("Batteries of the next generation", "Batterien der nächsten Generation"),
    ("Austrian music archives", "Österreichische Musikarchive"), ("Soil and water", "Böden und Wasser"),
    ("\"Open labs\" for schools", "„Offene Labore“ für Schulen"), ("Migration and cities", "Migration und Städte"),
    ("Ageing well", "Älter werden, gesund bleiben"), ("Rare diseases", "Seltene Erkrankungen"),
    ("Practice of translation", "Übersetzung in der Praxis"), ("Hydrogen storage", "Wasserstoffspeicher"),
    ("iGEM teams", "iGEM-Teams"), ("Forest fires", "Waldbrände"), ("Zoonoses in the Alps", "Zoonosen in den Alpen"),
    ("Photonic chips", "Photonische Chips"), ("Women in engineering", "Frauen in der Technik"), ("Data for democracy", "Daten für die Demokratie"),
    ("Medieval manuscripts", "Mittelalterliche Handschriften"), ("Tumour immunology", "Tumorimmunologie"),
]
FORMS = [("", "", "research_project"), (": fellowships", ": Stipendien", "fellowship"), (": exchange visits", ": Austauschaufenthalte", "mobility"),
         (": core facilities", ": Großgeräte", "infrastructure"), (": annual award", ": Jahrespreis", "award")]


@transaction.atomic
def seed_calls():
    funders = [Funder.objects.create(name=n, country=c) for n, c in [
        ("Fonds für Alpine Forschung", "AT"), ("Ministry of Science", "AT"), ("Südstiftung", "DE"), ("Fondazione Dolomiti", "IT"),
        ("European Research Agency", "BE"), ("Swiss Mobility Office", "CH")]]
    today = dt.datetime.now(dt.UTC).date()
    for i in range(100):
        (en, de), (fen, fde, kind) = TITLES[i % 20], FORMS[(i // 20 + i) % 5]
        closing = today + dt.timedelta(days=(i % 13) * 30 - 120)
        call = FundingCall.objects.create(
            id=uuid.uuid5(uuid.NAMESPACE_URL, f"https://sued.example/calls/{i}"), reference=f"S-{2026 - i % 3}-{i + 101:04d}",
            title_en=en + fen, title_de=de + fde, call_type=kind, funder=funders[(i * 5 + i // 6) % 6],
            disciplines=sorted({DISCIPLINES[i % 5], DISCIPLINES[(i * 3 + 1) % 5]}),
            opens_on=closing - dt.timedelta(days=50 + (i * 7) % 60),
            closes_at=None if i % 14 == 9 else dt.datetime.combine(closing, dt.time(12, 0), dt.UTC),
            budget_total=decimal.Decimal([90000, 1200000, 350000, 8500, 2750000, 40000][i % 6]) + decimal.Decimal(i) * decimal.Decimal("250.75"),
            currency="CHF" if i % 6 == 5 else "EUR", success_rate=None if i % 4 == 0 else round(0.08 + (i * 37 % 41) / 100, 2),
            published=i % 5 != 3 or i % 2 == 0,
            updated_at=dt.datetime.combine(today, dt.time(9, 0), dt.UTC) - dt.timedelta(days=i * 11 % 170 + 1, minutes=i * 7))
        for k in range((i * 3) % 4):
            Attachment.objects.create(call=call, title=["Call text", "Application form", "Evaluation criteria"][k],
                                      media_type=["application/pdf", "application/vnd.oasis.opendocument.text", "application/pdf"][k],
                                      size=52000 + 811 * i + 17 * k)


def seed():
    with connection.schema_editor() as editor:
        for model in (Funder, FundingCall, Attachment):
            editor.create_model(model)
    seed_calls()


# ------------------------------------------------------------------ funding API


class FunderSerializer(serializers.ModelSerializer):
    class Meta:
        model = Funder
        fields = ["id", "name", "country"]


class FundingCallSerializer(serializers.ModelSerializer):
    title = serializers.SerializerMethodField()
    status = serializers.ReadOnlyField()
    funder = FunderSerializer(read_only=True)
    if NODE != "drf-decimal-strings":
        budget_total = serializers.FloatField()

    class Meta:
        model = FundingCall
        fields = ["id", "reference", "title", "status", "call_type", "funder", "disciplines", "opens_on", "closes_at",
                  "budget_total", "currency", "success_rate", "updated_at"]

    def get_title(self, call):
        return getattr(call, "title_" + self.context["language"])


class AttachmentSerializer(serializers.ModelSerializer):
    class Meta:
        model = Attachment
        fields = ["id", "title", "media_type", "size"]


ORDERINGS = ["closes_at", "-closes_at", "title", "-title", "budget_total", "-budget_total", "updated_at", "-updated_at"]


class StrictIntegerField(serializers.IntegerField):
    def to_internal_value(self, data):
        if not re.fullmatch(r"-?[0-9]{1,12}", data):
            self.fail("invalid")
        return super().to_internal_value(data)


class TimeField(serializers.DateTimeField):
    def to_internal_value(self, value):
        try:
            t = parse_datetime(value)
        except ValueError:
            t = None
        if t is None or not re.fullmatch(r"[0-9-]{10}T[0-9:]{8}(\.[0-9]{1,6})?(Z|[+-][0-9]{2}:[0-9]{2})", value, re.IGNORECASE | re.ASCII):
            raise serializers.ValidationError("A date-time with an offset is expected, such as 2026-03-31T12:00:00Z.")
        return t


class ListParameters(serializers.Serializer):
    limit = StrictIntegerField(min_value=1, max_value=50, default=20)
    cursor = serializers.CharField(max_length=400, required=False)
    status = serializers.ListField(child=serializers.ChoiceField(STATUSES), required=False)
    call_type = serializers.ChoiceField(TYPES, required=False)
    discipline = serializers.ChoiceField(DISCIPLINES, required=False)
    funder = StrictIntegerField(min_value=1, max_value=2147483647, required=False)
    closes_after = TimeField(required=False)
    closes_before = TimeField(required=False)
    min_budget = serializers.DecimalField(max_digits=12, decimal_places=2, min_value=0, required=False)
    search = serializers.CharField(min_length=2, max_length=80, required=False, trim_whitespace=False)
    ordering = serializers.ChoiceField(ORDERINGS, default="closes_at")


def read_query(request, serializer_class=None):
    """Validates the query string; unknown and repeated parameters are refused."""
    known = serializer_class().fields if serializer_class else {}
    errors, data = {}, {}
    for name, values in request.query_params.lists():
        if name not in known:
            errors[name] = ["This parameter is not known."]
        elif isinstance(known[name], serializers.ListField):
            data[name] = values
        elif len(values) > 1:
            errors[name] = ["This parameter may be given once."]
        else:
            data[name] = values[0]
    validated = {}
    if serializer_class:
        s = serializer_class(data=data)
        if s.is_valid():
            validated = s.validated_data
        else:
            for k, v in s.errors.items():
                errors[k] = [str(x) for x in (v if isinstance(v, list) else [m for ms in v.values() for m in ms])]
    if errors:
        raise serializers.ValidationError(errors)
    return validated


GERMAN = str.maketrans({"ä": "a", "ö": "o", "ü": "u", "ß": "ss"})


def title_key(title):
    if NODE == "drf-german-order":  # DIN 5007-1: letters and digits only, without case, umlauts as their base letters
        folded = title.lower().translate(GERMAN)
        return "".join(c if c.isalnum() else " " if c.isspace() else "" for c in folded)
    return title


class FundingCallViewSet(Conditional, viewsets.ReadOnlyModelViewSet if NODE != "drf-model-viewset" else viewsets.ModelViewSet):
    authentication_classes = [OpaqueTokenAuthentication]
    permission_classes = [HasToken, HasFundingScope]
    serializer_class = FundingCallSerializer
    localized = True
    lookup_field = "pk"

    if NODE == "drf-vendor-media-type":
        renderer_classes = [VendorJSONRenderer]

    def get_queryset(self):
        return FundingCall.objects.filter(published=True).select_related("funder")

    def get_serializer_context(self):
        return {**super().get_serializer_context(), "language": language_of(self.request)}

    def get_object(self):
        try:
            self.kwargs["pk"] = uuid.UUID(self.kwargs["pk"])
        except ValueError:
            raise exceptions.NotFound("There is no call with this id.")
        try:
            return super().get_object()
        except django.http.Http404:
            raise exceptions.NotFound("There is no call with this id.")

    # -- the list

    def wanted(self, p):
        """The filters, as a predicate on a call."""
        word = p.get("search", "").casefold()
        lang = language_of(self.request)

        def test(c):
            return (("status" not in p or c.status in p["status"])
                    and ("call_type" not in p or c.call_type == p["call_type"])
                    and ("discipline" not in p or p["discipline"] in c.disciplines)
                    and ("funder" not in p or c.funder_id == p["funder"])
                    and ("closes_after" not in p or (c.closes_at is not None and c.closes_at >= p["closes_after"]))
                    and ("closes_before" not in p or (c.closes_at is not None and c.closes_at < p["closes_before"]))
                    and ("min_budget" not in p or c.budget_total >= p["min_budget"])
                    and (not word or word in getattr(c, "title_" + lang).casefold()))
        return test

    def in_order(self, calls, ordering):
        """Sorted by the field, then by id; calls without a closing time come last."""
        field, descending = ordering.lstrip("-"), ordering.startswith("-")
        lang = language_of(self.request)

        def value(c):
            if field == "title":
                return title_key(getattr(c, "title_" + lang))
            return getattr(c, field)
        calls = sorted(calls, key=lambda c: str(c.id))
        there = sorted((c for c in calls if value(c) is not None), key=value, reverse=descending)
        return there + [c for c in calls if value(c) is None], value

    def list(self, request):
        p = read_query(request, ListParameters)
        test, limit = self.wanted(p), p["limit"]
        binding = hashlib.sha256(json.dumps([sorted((k, request.query_params.getlist(k)) for k in request.query_params
                                                    if k not in ("cursor", "limit")), language_of(request)]).encode()).hexdigest()[:16]
        after = None
        if "cursor" in p:
            try:
                mark, after = signing.loads(p["cursor"], salt="cursor")
            except signing.BadSignature:
                mark = None
            if mark != binding:
                raise serializers.ValidationError({"cursor": ["This is not a cursor of a list with these parameters."]})

        if NODE == "drf-short-pages":  # a page examines `limit` records and shows those that match
            rows, value = self.in_order(FundingCall.objects.select_related("funder"), p["ordering"])
            shown = [c for c in rows if c.published and test(c)]
        else:
            rows, value = self.in_order(filter(test, self.get_queryset()), p["ordering"])
            shown = rows
        start = 0
        if after is not None:
            at = next((i for i, c in enumerate(rows) if str(c.id) == after), None)
            if at is None:
                raise serializers.ValidationError({"cursor": ["This cursor is not valid any more."]})
            start = at + 1
            if NODE == "drf-cursor-skips-ties":  # seeks by the value of the sort field alone
                while start < len(rows) and value(rows[at]) is not None and value(rows[start]) == value(rows[at]):
                    start += 1
        chunk = rows[start:start + limit]
        more = start + limit < len(rows)
        page = [c for c in chunk if c.published and test(c)] if NODE == "drf-short-pages" else chunk

        response = Response(self.get_serializer(page, many=True).data)
        response["X-Total-Count"] = str(len(shown))
        here = API + "/funding/v3/funding-calls"
        query = [(k, v) for k in request.query_params for v in request.query_params.getlist(k) if k != "cursor"]
        links = [f'<{here}{"?" + urlencode(query) if query else ""}>; rel="first"']
        if more:
            cursor = signing.dumps([binding, str(chunk[-1].id)], salt="cursor")
            links.append(f'<{here}?{urlencode(query + [("cursor", cursor)])}>; rel="next"')
        response["Link"] = ", ".join(links)
        return response

    def retrieve(self, request, pk):
        read_query(request)
        return Response(self.get_serializer(self.get_object()).data)


class AttachmentView(Conditional, APIView):
    authentication_classes = [OpaqueTokenAuthentication]
    permission_classes = [HasToken, HasFundingScope]

    def get(self, request, pk):
        read_query(request)
        try:
            call = FundingCall.objects.get(pk=uuid.UUID(pk), published=True)
        except (ValueError, FundingCall.DoesNotExist):
            raise exceptions.NotFound("There is no call with this id.")
        return Response(AttachmentSerializer(call.attachments.order_by("id"), many=True).data)


class FunderView(Conditional, APIView):
    authentication_classes = [OpaqueTokenAuthentication]
    permission_classes = [HasToken, HasFundingScope]

    def get(self, request):
        read_query(request)
        return Response(FunderSerializer(Funder.objects.order_by("id"), many=True).data)


class SummaryView(Conditional, APIView):
    authentication_classes = [OpaqueTokenAuthentication]
    permission_classes = [HasToken, HasFundingScope]

    def get(self, request):
        read_query(request)
        calls = list(FundingCall.objects.filter(published=True))
        return Response({"calls": len(calls), "open": sum(c.status == "open" for c in calls),
                         "by_type": [{"call_type": t, "calls": sum(c.call_type == t for c in calls)} for t in TYPES]})


# ------------------------------------------------------------------ OpenAPI document


def openapi():
    ref = lambda n: {"$ref": f"#/components/schemas/{n}"}  # noqa: E731
    text, count = {"type": "string"}, {"type": "integer", "minimum": 0}

    def obj(props, **more):
        return {"type": "object", "required": list(props), "properties": props, **more}

    def error(description, **headers):
        r = {"description": description, "content": {"application/json": {"schema": ref("Error")}}}
        return {**r, "headers": headers} if headers else r

    def header(description, kind="string"):
        return {"description": description, "schema": {"type": kind}}

    challenge = {"WWW-Authenticate": header("Bearer challenge (RFC 6750)")}
    common = {"ETag": header("Strong entity tag"), "Cache-Control": header("private, no-cache")}
    localized = {"Content-Language": header("en or de"), "Vary": header("Accept-Language")}
    language = {"name": "Accept-Language", "in": "header", "description": "English (en, also where nothing fits) or German (de).",
                "schema": {"type": "string"}, "example": "de-AT, en;q=0.5"}
    match = {"name": "If-None-Match", "in": "header", "description": "Entity tags that the client holds.", "schema": {"type": "string"}}

    def operation(id, summary, schema, description="", params=(), headers=None, lang=False, missing=False, tag="funding", secured=True):
        media = VENDOR if NODE == "drf-vendor-media-type" and lang else "application/json"
        responses = {
            "200": {"description": "Success", "headers": {**common, **(localized if lang else {}), **(headers or {})},
                    "content": {media: {"schema": schema}}},
            "304": {"description": "Not modified"},
            "400": error("A parameter, or the Authorization header, is not valid"),
            "401": error("The access token is missing or not valid", **challenge)}
        if secured:
            responses["403"] = error("The token lacks the scope funding:read", **challenge)
        if missing:
            responses["404"] = error("There is no such call")
        responses["406"] = error("The Accept header has no media range for " + media)
        return {"get": {"operationId": id, "summary": summary, "description": description or summary + ".", "tags": [tag],
                        "parameters": [*params, *([language] if lang else []), match], "responses": responses,
                        "security": [{"oauth2": ["funding:read"] if secured else []}]}}

    def query(name, description, schema, **more):
        return {"name": name, "in": "query", "required": False, "description": description, "schema": schema, **more}

    pk = {"name": "id", "in": "path", "required": True, "description": "The id of a call.", "schema": {"type": "string", "format": "uuid"}}
    title_order = ("in the order of German dictionaries (DIN 5007-1) in either language: case, punctuation and quotation marks are ignored, umlauts count as their base letters and ß as ss, a space comes before any letter"
                   if NODE == "drf-german-order" else "by the code points of the title in the language of the answer")
    paging = ("A page examines limit records of the node's database, in order, and holds those of them that are published and match the filters: "
              "it may hold fewer than limit calls, or none, while there is a next page. The end of the list is where no link with rel=next is."
              if NODE == "drf-short-pages" else "Every page but the last holds limit calls.")
    media_text = (f"The list and the single call have the one media type {VENDOR}, the other answers application/json; " if NODE == "drf-vendor-media-type"
                  else "Answers are application/json; ") + (
        "a request whose Accept header has no media range for the media type of its answer is refused with 406. Errors are application/json whatever Accept says. ")
    return {
        "openapi": "3.0.3",
        "info": {"title": "Funding API of the node SUED", "version": "3.4", "description":
                 f"Funding calls of the south.\n\n## Tokens\nThe authorization server (metadata by RFC 8414: {ORIGIN}/.well-known/oauth-authorization-server/sso) issues opaque bearer "
                 f"tokens for the grant client_credentials, valid for {LIFETIME} seconds; a client may hold several. Clients authenticate with client_secret_post or client_secret_basic. Scopes: info:read (every client) and "
                 "funding:read (service accounts with the role EXTERNAL_API_CLIENT). Without the parameter scope all scopes of the client are granted; others are refused with invalid_scope. "
                 f"A client can revoke a token of its own (RFC 7009) at {ORIGIN}/sso/oauth/revoke; from then on the token is refused with 401. Twenty wrong secrets of a client within a minute lead to 429 with Retry-After. "
                 "Production does not accept tokens of the staging environment or for other audiences.\n\n"
                 "## Requests\nThe API is read only: beside GET, only HEAD and OPTIONS are answered, other methods with 405. Parameters that are not known, that are repeated (but for status), or "
                 "whose values are not valid are refused with 400. Tokens are taken from the Authorization header only; OPTIONS needs one, too.\n\n"
                 f"## Answers\n{media_text}Titles are in English or German, by Accept-Language. The strong ETag of an answer differs between its languages; If-None-Match is answered 304 where it fits. Times have an offset.\n\n"
                 f"## Paging\nThe list has at most limit calls. The header Link (RFC 8288) names the next page (rel=next) while there is one, and the first (rel=first); a cursor is opaque and goes with the parameters (limit may change) and the language of its list. {paging} "
                 "X-Total-Count is the number of all calls that match the filters; following the next links shows each of them exactly once. Filters are combined with AND."},
        "servers": [{"url": API}],
        "tags": [{"name": "funding"}, {"name": "info"}],
        "paths": {
            "/funding/v3/funding-calls": operation("listFundingCalls", "List funding calls", {"type": "array", "items": ref("FundingCall")}, lang=True, params=[
                query("limit", "Calls on a page, at most.", {"type": "integer", "minimum": 1, "maximum": 50, "default": 20}),
                query("cursor", "Where the page begins; from a Link header.", {"type": "string", "maxLength": 400}),
                query("status", "Calls in one of these states; may be repeated, and then any of the values fits.",
                      {"type": "array", "items": {"type": "string", "enum": STATUSES}}, style="form", explode=True),
                query("call_type", "Calls of this type.", {"type": "string", "enum": TYPES}),
                query("discipline", "Calls for this discipline, perhaps among others.", {"type": "string", "enum": DISCIPLINES}),
                query("funder", "Calls of the funder with this id.", {"type": "integer", "minimum": 1, "maximum": 2147483647}),
                query("closes_after", "Calls that close at this time or later.", {"type": "string", "format": "date-time"}),
                query("closes_before", "Calls that close before this time.", {"type": "string", "format": "date-time"}),
                query("min_budget", "Calls with this budget_total or more, in the currency of the call.", {"type": "number", "minimum": 0, "maximum": 9999999999, "multipleOf": 0.01}),
                query("search", "Calls with this text in the title, in the language of the answer and without regard to case.", {"type": "string", "minLength": 2, "maxLength": 80}),
                query("ordering", f"The order; a minus sign means descending. Calls without closes_at come last in both directions; title is {title_order}. Calls that are equal in this stand in the ascending order of their ids.", {"type": "string", "enum": ORDERINGS, "default": "closes_at"}),
            ], headers={"Link": header("The first and the next page (RFC 8288)"), "X-Total-Count": header("Number of all calls that match", "integer")}),
            "/funding/v3/funding-calls/{id}": operation("getFundingCall", "Read a funding call", ref("FundingCall"), params=[pk], lang=True, missing=True),
            "/funding/v3/funding-calls/{id}/attachments": operation("listAttachments", "List the attachments of a call", {"type": "array", "items": ref("Attachment")}, params=[pk], missing=True),
            "/funding/v3/funders": operation("listFunders", "List all funders", {"type": "array", "items": ref("Funder")}),
            "/funding/v3/summary": operation("getSummary", "Count the calls", ref("Summary")),
            "/info/v1/oauth/info/": operation("getInfo", "Test the authorization", ref("Info"), "Shows any valid token's client.", tag="info", secured=False),
        },
        "components": {
            "securitySchemes": {"oauth2": {"type": "oauth2", "flows": {"clientCredentials": {
                "tokenUrl": ORIGIN + "/sso/oauth/token", "scopes": {"funding:read": "Read funding calls", "info:read": "Read the info resource"}}}}},
            "schemas": {
                "FundingCall": obj({
                    "id": {"type": "string", "format": "uuid"}, "reference": {"type": "string", "pattern": "^S-[0-9]{4}-[0-9]{4}$"},
                    "title": {"type": "string", "description": "In the language of the answer"},
                    "status": {"type": "string", "enum": STATUSES, "description": "forthcoming before opens_on, closed from closes_at on, else open"},
                    "call_type": {"type": "string", "enum": TYPES}, "funder": ref("Funder"),
                    "disciplines": {"type": "array", "minItems": 1, "items": {"type": "string", "enum": DISCIPLINES}},
                    "opens_on": {"type": "string", "format": "date"},
                    "closes_at": {"type": "string", "format": "date-time", "nullable": True, "description": "null for calls without an end"},
                    "budget_total": {"type": "number", "minimum": 0}, "currency": {"type": "string", "enum": ["EUR", "CHF"]},
                    "success_rate": {"type": "number", "minimum": 0, "maximum": 1, "nullable": True, "description": "null where it is not known"},
                    "updated_at": {"type": "string", "format": "date-time"}}),
                "Funder": obj({"id": {"type": "integer", "minimum": 1}, "name": text, "country": {"type": "string", "pattern": "^[A-Z]{2}$"}}),
                "Attachment": obj({"id": {"type": "integer", "minimum": 1}, "title": text, "media_type": text, "size": {"type": "integer", "minimum": 0, "description": "Bytes"}}),
                "Summary": obj({"calls": count, "open": count, "by_type": {"type": "array", "items": obj({"call_type": {"type": "string", "enum": TYPES}, "calls": count})}}),
                "Info": obj({"node": text, "environment": {"type": "string", "enum": [PRODUCTION, STAGING]},
                             "client": obj({"client_id": text, "service_account_user_id": text, "affiliation_id": text,
                                            "roles": {"type": "array", "items": text}, "scopes": {"type": "array", "items": text}}),
                             "endpoints": {"type": "object", "additionalProperties": {"type": "array", "items": obj(
                                 {"name": text, "majorVersion": count, "minorVersion": count, "url": {"type": "string", "format": "uri"}})}}}),
                "Error": obj({"code": text, "message": text, "details": {"type": "array", "items": obj({"field": text, "message": text})}}),
            }}}


def api_docs(request):
    if request.method not in ("GET", "HEAD"):
        response = json_error(405, "method_not_allowed", "Only GET and HEAD are supported.")
        response["Allow"] = "GET, HEAD"
        return response
    return JsonResponse(openapi(), headers={"Cache-Control": "public, max-age=60"}, json_dumps_params={"ensure_ascii": False})


def registry(request):
    return JsonResponse({"member": [{"id": "SUED", "acronym": "SUED", "name": "Research information node South", "contact": "ris@sued.example",
                                     "oauth2": ORIGIN + "/sso/oauth/token", "info": API + "/info/v1/oauth/info/"}]})


# ------------------------------------------------------------------ wiring

single = {"get": "retrieve", "head": "retrieve"}
if NODE == "drf-model-viewset":
    single.update({"put": "update", "patch": "partial_update", "delete": "destroy"})

urlpatterns = [
    path("registry.json", registry),
    path("sso/oauth/token", TokenView.as_view()),
    path("sso/oauth/revoke", RevokeView.as_view()),
    path("staging/sso/oauth/token", TokenView.as_view(realm=STAGING)),
    path("staging/sso/oauth/revoke", RevokeView.as_view(realm=STAGING)),
    path(".well-known/oauth-authorization-server/sso", MetadataView.as_view()),
    path(".well-known/oauth-authorization-server/staging/sso", MetadataView.as_view(base=f"{ORIGIN}/staging/sso")),
    path("sued/info/v1/oauth/info/", InfoView.as_view()),
    path("staging/sued/info/v1/oauth/info/", InfoView.as_view(authentication_classes=[StagingTokenAuthentication], environment=STAGING)),
    path("sued/funding/v3/api-docs", api_docs),
    path("sued/funding/v3/funding-calls", FundingCallViewSet.as_view({"get": "list", "head": "list"})),
    path("sued/funding/v3/funding-calls/<str:pk>", FundingCallViewSet.as_view(single)),
    path("sued/funding/v3/funding-calls/<str:pk>/attachments", AttachmentView.as_view()),
    path("sued/funding/v3/funders", FunderView.as_view()),
    path("sued/funding/v3/summary", SummaryView.as_view()),
]


def main():
    from waitress import serve
    seed()
    connection.close()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    serve(get_wsgi_application(), host="127.0.0.1", port=int(PORT), threads=4, ident=None)


if __name__ == "__main__":
    main()
