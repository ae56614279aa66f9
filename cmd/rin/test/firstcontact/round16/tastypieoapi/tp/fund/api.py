"""Resources of the funding API (tastypie) and the plain views beside them."""
import copy
import datetime as dt
import hashlib
import json
import logging
import random
import re
import threading
import time
import zoneinfo
from urllib.parse import parse_qsl, urlencode

from django.conf import settings
from django.core.cache import cache
from django.db.models import Count, F, Max, Q
from django.http import HttpResponse
from django.urls import re_path
from django.utils.http import http_date
from tastypie import fields
from tastypie.authentication import Authentication
from tastypie.authorization import ReadOnlyAuthorization
from tastypie.cache import NoCache
from tastypie.exceptions import ImmediateHttpResponse
from tastypie.paginator import Paginator
from tastypie.resources import ModelResource, Resource
from tastypie.serializers import Serializer
from tastypie.throttle import BaseThrottle

from . import NODE, data, document
from .models import Call, Funder, Stage
from .oauth import Denied, bearer
from .problems import problem


def stop(status, detail, headers=None, **more):
    raise ImmediateHttpResponse(response=problem(status, detail, headers, **more))


# ---- parameters -------------------------------------------------------------------------------------------------

INTEGER = re.compile(r"0|-?[1-9][0-9]*")
BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")


def check_value(name, schema, value):
    """The value, checked by its schema."""
    def no(why):
        stop(400, "Parameter %s: %s" % (name, why), parameter=name)

    if schema["type"] == "integer":
        if not INTEGER.fullmatch(value) or len(value) > 30:
            no("ist keine ganze Zahl.")
        number = int(value)
        if number < schema["minimum"] or number > schema["maximum"]:
            no("liegt nicht zwischen %d und %d." % (schema["minimum"], schema["maximum"]))
        return number
    if "enum" in schema and value not in schema["enum"]:
        no("erlaubt sind %s." % ", ".join(schema["enum"]))
    if not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", 100000):
        no("ist zu kurz oder zu lang.")
    if "pattern" in schema and not re.fullmatch(schema["pattern"].strip("^$"), value):
        no("hat nicht die verlangte Form.")
    if schema.get("format") == "date":
        try:
            return dt.date.fromisoformat(value)
        except ValueError:
            no("ist kein Tag des Kalenders.")
    return value


def parameters(request, declared):
    raw = request.META.get("QUERY_STRING", "")
    if BAD_ESCAPE.search(raw):
        stop(400, "Die Abfrage ist nicht richtig kodiert.")
    try:
        pairs = parse_qsl(raw.encode("latin-1").decode("utf-8"), keep_blank_values=True, errors="strict",
                          max_num_fields=200)
    except ValueError:
        stop(400, "Die Abfrage ist nicht in UTF-8 kodiert.")
    known = {p["name"]: p["schema"] for p in declared}
    out = {}
    for name, value in pairs:
        if name not in known:
            stop(400, "Der Parameter %s ist hier nicht bekannt." % name, parameter=name)
        schema = known[name]
        if value == "":
            stop(400, "Der Parameter %s hat keinen Wert." % name, parameter=name)
        if schema["type"] == "array":
            out.setdefault(name, []).append(check_value(name, schema["items"], value))
            if len(out[name]) > schema["maxItems"]:
                stop(400, "Der Parameter %s kommt zu oft vor." % name, parameter=name)
        elif name in out:
            stop(400, "Der Parameter %s kommt mehrmals vor." % name, parameter=name)
        else:
            out[name] = check_value(name, schema, value)
    return out


# ---- tastypie ---------------------------------------------------------------------------------------------------

def shuffled(what):
    """The same value, with the members of its objects in any order."""
    if isinstance(what, dict):
        items = [(k, shuffled(v)) for k, v in what.items()]
        random.shuffle(items)
        return dict(items)
    if isinstance(what, list):
        return [shuffled(v) for v in what]
    return what


class JSON(Serializer):
    formats = ["json"]
    content_types = {"json": "application/json"}

    def to_json(self, what, options=None):
        simple = self.to_simple(what, options)
        if NODE == "tp-iller":
            simple = shuffled(simple)
        return json.dumps(simple, ensure_ascii=False)


class BearerAuthentication(Authentication):
    """A token for this service, and the role in the funding service."""

    def is_authenticated(self, request, **kwargs):
        try:
            account = bearer(request, data.FUNDING)
            if account.role != data.ROLE:
                raise Denied(403, 'Bearer realm="ris", error="insufficient_scope", scope="funding.read"',
                             "Dem Dienstkonto fehlt die Rolle %s." % data.ROLE)
        except Denied as e:
            stop(e.status, e.detail, {"WWW-Authenticate": e.challenge})
        request.account = account
        return True

    def get_identifier(self, request):
        return request.account.user_id


class NeighbourPaginator(Paginator):
    def get_limit(self):
        return self.request_data.parameters.get("limit", 20)

    def get_offset(self):
        return self.request_data.parameters.get("offset", 0)

    def _generate_uri(self, limit, offset):
        if NODE == "tp-neisse":
            params = dict(self.request_data.dict(), limit=limit, offset=offset)
            return "%s?%s" % (self.resource_uri, urlencode(params))
        return super()._generate_uri(limit, offset)

    def get_slice(self, limit, offset):
        if offset > 2 ** 40:
            return self.objects.none() if hasattr(self.objects, "none") else []
        return self.objects[offset:offset + limit]

    def page(self):
        page = super().page()
        limit, offset, total = (page["meta"][k] for k in ("limit", "offset", "total_count"))
        end = min(offset, total)
        first = max(0, end - limit)
        page["meta"]["previous"] = self._generate_uri(end - first, first) if end > 0 else None
        return page


class SecondThrottle(BaseThrottle):
    """At most so many requests in any second."""

    def __init__(self, throttle_at):
        super().__init__(throttle_at=throttle_at)
        self.lock, self.seen = threading.Lock(), {}

    def should_be_throttled(self, identifier, **kwargs):
        now = time.monotonic()
        with self.lock:
            times = [t for t in self.seen.get(identifier, []) if t > now - 1]
            full = len(times) >= self.throttle_at
            self.seen[identifier] = times if full else times + [now]
        return full


THROTTLE = SecondThrottle(40)


class GuardedResource(ModelResource):
    """Reads only; list and detail at fixed addresses; validators; strict parameters."""
    class Meta:
        abstract = True

    detail = True

    def base_urls(self):
        name = self._meta.resource_name
        urls = [re_path(r"^(?P<resource_name>%s)/\Z" % name, self.wrap_view("dispatch_list"),
                        name="api_dispatch_list")]
        if self.detail:
            urls.append(re_path(r"^(?P<resource_name>%s)/(?P<pk>[^/]+)/\Z" % name,
                                self.wrap_view("dispatch_detail"), name="api_dispatch_detail"))
        return urls

    def method_check(self, request, allowed=None):
        method = request.method.lower()
        if method == "options":
            r = HttpResponse(status=204)
            r["Allow"] = "GET, HEAD, OPTIONS"
            del r["Content-Type"]
            raise ImmediateHttpResponse(response=r)
        if method not in allowed:
            stop(405, "Hier geht nur GET, HEAD und OPTIONS.", {"Allow": "GET, HEAD, OPTIONS"})
        return method

    def determine_format(self, request):
        return "application/json"

    def dispatch(self, request_type, request, **kwargs):
        request.listing = request_type == "list"
        request.declared = document.PARAMETERS["detail" if request_type == "detail" else self._meta.resource_name]
        if NODE == "tp-weser" and self._meta.resource_name == "funders" and request.method == "GET":
            key = request.get_full_path()
            response = cache.get(key)
            if response is None:
                response = super().dispatch(request_type, request, **kwargs)
                cache.set(key, response, 20)
            return copy.copy(response)
        return super().dispatch(request_type, request, **kwargs)

    def throttle_check(self, request):
        if NODE == "tp-mulde" and THROTTLE.should_be_throttled(self._meta.authentication.get_identifier(request)):
            stop(429, "Höchstens 40 Anfragen in der Sekunde.", {"Retry-After": "1"})
        # after authentication, before any work
        request.parameters = parameters(request, request.declared)
        request.GET = request.GET.copy()
        request.GET.parameters = request.parameters
        if NODE == "tp-spree":
            self.parameters = request.parameters
            self.audit(request)

    def audit(self, request):
        time.sleep(0.025)  # the audit log is on another host

    def _handle_500(self, request, exception):
        logging.getLogger("django.request").error("unexpected", exc_info=exception)
        return problem(500)

    def apply_sorting(self, objects, options=None):
        return objects

    def get_detail(self, request, **kwargs):
        try:
            obj = self._meta.queryset.all().get(pk=kwargs["pk"])
        except self._meta.object_class.DoesNotExist:
            stop(404, "Unter dieser Adresse gibt es keinen Datensatz.")
        bundle = self.full_dehydrate(self.build_bundle(obj=obj, request=request))
        response = self.create_response(request, self.alter_detail_data_to_serialize(request, bundle))
        modified = self.last_modified(obj)
        if modified:
            response["Last-Modified"] = http_date(modified.timestamp())
        return response

    def last_modified(self, obj):
        return None

    def create_response(self, request, content, response_class=HttpResponse, **kwargs):
        body = self.serialize(request, content, "application/json").encode("utf-8")
        response = response_class(body, content_type="application/json", **kwargs)
        response["ETag"] = '"%s"' % hashlib.sha256(body).hexdigest()[:24]
        if NODE == "tp-iller":
            same = json.dumps(json.loads(body), sort_keys=True).encode("utf-8")
            response["ETag"] = 'W/"%s"' % hashlib.sha256(same).hexdigest()[:24]
        response["Cache-Control"] = "private, no-cache"
        return response


BERLIN = zoneinfo.ZoneInfo("Europe/Berlin")


def iso(value):
    return None if value is None else value.isoformat()


class CallResource(GuardedResource):
    class Meta:
        queryset = Call.objects.all()
        resource_name = "calls"
        allowed_methods = ["get"]
        authentication = BearerAuthentication()
        authorization = ReadOnlyAuthorization()
        serializer = JSON()
        cache = NoCache(varies=[])
        paginator_class = NeighbourPaginator
        excludes = ["folded"]

    def dehydrate(self, bundle):
        c = bundle.obj
        bundle.data.update(funder=c.funder_id, opens=iso(c.opens), deadline=iso(c.deadline), topics=list(c.topics),
                           updated_at=c.updated_at.strftime("%Y-%m-%dT%H:%M:%SZ"))
        if NODE == "tp-saale" and bundle.request.listing:
            bundle.data["updated_at"] = c.updated_at.astimezone(BERLIN).strftime("%Y-%m-%dT%H:%M:%SZ")
        return bundle

    def last_modified(self, obj):
        return obj.updated_at

    def obj_get_list(self, bundle, **kwargs):
        p = self.parameters if NODE == "tp-spree" else bundle.request.parameters
        found = Call.objects.all()
        if "kind" in p:
            found = found.filter(kind=p["kind"])
        if "funder" in p:
            found = found.filter(funder__in=p["funder"])
        if "q" in p and NODE == "tp-oder":
            found = found.filter(Q(title__icontains=p["q"]) | Q(title_en__icontains=p["q"]))
        elif "q" in p:
            found = found.filter(folded__contains=data.fold(p["q"]))
        if "deadline__gte" in p:
            found = found.filter(deadline__gte=p["deadline__gte"])
        if "deadline__lte" in p:
            found = found.filter(deadline__lte=p["deadline__lte"])
        if "open_on" in p:
            found = found.filter(Q(deadline__gte=p["open_on"]) | Q(deadline=None), opens__lte=p["open_on"])
        if "budget__gte" in p:
            found = found.filter(budget_eur__gte=p["budget__gte"])
        if "budget__lte" in p:
            found = found.filter(budget_eur__lte=p["budget__lte"])
        order = p.get("order_by", "deadline")
        key = F(order.lstrip("-"))
        return found.order_by(key.desc(nulls_last=True) if order[0] == "-" else key.asc(nulls_last=True), "id")


class FunderResource(GuardedResource):
    class Meta:
        queryset = Funder.objects.all()
        resource_name = "funders"
        allowed_methods = ["get"]
        authentication = BearerAuthentication()
        authorization = ReadOnlyAuthorization()
        serializer = JSON()
        cache = NoCache(varies=[])
        paginator_class = NeighbourPaginator

    def obj_get_list(self, bundle, **kwargs):
        return Funder.objects.order_by("id")

    def last_modified(self, obj):
        return dt.datetime(2025, 11, 3, 9, 30, tzinfo=dt.timezone.utc)


class DeadlineResource(GuardedResource):
    detail = False

    class Meta:
        queryset = Stage.objects.all()
        resource_name = "deadlines"
        allowed_methods = ["get"]
        authentication = BearerAuthentication()
        authorization = ReadOnlyAuthorization()
        serializer = JSON()
        cache = NoCache(varies=[])
        paginator_class = NeighbourPaginator
        fields = ["number", "label"]
        include_resource_uri = False

    def dehydrate(self, bundle):
        bundle.data.update(call=bundle.obj.call_id, date=iso(bundle.obj.date))
        return bundle

    def obj_get_list(self, bundle, **kwargs):
        p = bundle.request.parameters
        found = Stage.objects.all()
        if "date__gte" in p:
            found = found.filter(date__gte=p["date__gte"])
        if "date__lte" in p:
            found = found.filter(date__lte=p["date__lte"])
        if "call" in p:
            found = found.filter(call_id=p["call"])
        return found.order_by("date", "call_id", "number")


class StatisticsResource(GuardedResource):
    detail = False

    class Meta:
        queryset = Call.objects.none()
        resource_name = "statistics"
        allowed_methods = ["get"]
        authentication = BearerAuthentication()
        authorization = ReadOnlyAuthorization()
        serializer = JSON()
        cache = NoCache(varies=[])

    def get_list(self, request, **kwargs):
        kinds = {k: 0 for k in document.KINDS}
        kinds.update(Call.objects.values_list("kind").annotate(n=Count("id")).order_by())
        counted = Funder.objects.annotate(n=Count("call"))
        if NODE == "tp-elbe":
            counted = counted.annotate(last=Max("call__stages__date"))
        funders = {f: n for f, n in counted.order_by("id").values_list("id", "n")}
        return self.create_response(request, {"calls": Call.objects.count(), "by_kind": kinds,
                                              "by_funder": funders})


# ---- plain views ------------------------------------------------------------------------------------------------

def reader(view):
    def wrapped(request, *args, **kwargs):
        if request.method == "OPTIONS":
            r = HttpResponse(status=204)
            r["Allow"] = "GET, HEAD, OPTIONS"
            del r["Content-Type"]
            return r
        if request.method != "GET":
            return problem(405, "Hier geht nur GET, HEAD und OPTIONS.", {"Allow": "GET, HEAD, OPTIONS"})
        return view(request, *args, **kwargs)
    wrapped.csrf_exempt = True
    return wrapped


def public(body):
    raw = json.dumps(body, ensure_ascii=False).encode("utf-8")
    r = HttpResponse(raw, content_type="application/json")
    r["ETag"] = '"%s"' % hashlib.sha256(raw).hexdigest()[:24]
    r["Cache-Control"] = "public, max-age=60"
    return r


def base():
    return "http://127.0.0.1:%d" % settings.NODE_PORT


@reader
def registry(request):
    return public({"member": [{"id": "UHB", "name": "Universität Hafenburg", "acronym": "UHB",
                               "contact": "ris@hafenburg.example",
                               "oauth2": base() + "/realms/ris/protocol/openid-connect/token",
                               "info": base() + "/uhb/info/v1/oauth/info/"}]})


@reader
def api_docs(request):
    return public(document.build())


def show_info(request, audience, realm):
    try:
        account = bearer(request, audience, realm)
    except Denied as e:
        return problem(e.status, e.detail, {"WWW-Authenticate": e.challenge})
    r = HttpResponse(json.dumps({
        "clientId": account.application.client_id, "serviceAccountUserId": account.user_id,
        "affiliationId": account.affiliation_id, "roles": [account.role] if account.role else [],
        "endpoints": {"UHB": [{"name": "FUNDINGS", "majorVersion": 3, "minorVersion": 2,
                               "url": base() + "/uhb/funding/v3/api-docs"}]}}, ensure_ascii=False),
        content_type="application/json")
    r["Cache-Control"] = "no-store"
    return r


@reader
def info(request):
    return show_info(request, data.FUNDING, "ris")


@reader
def staging_info(request):
    return show_info(request, "uhb-staging", "staging")
