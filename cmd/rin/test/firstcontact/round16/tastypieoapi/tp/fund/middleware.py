import re

from django.http import HttpResponse
from django.middleware.gzip import GZipMiddleware
from django.middleware.http import ConditionalGetMiddleware
from django.utils.http import parse_etags, parse_http_date_safe

from . import NODE
from .problems import problem


def wants_gzip(header):
    """Does Accept-Encoding allow gzip (RFC 9110, 12.5.3)?"""
    found = {}
    for item in header.lower().split(","):
        name, _, weight = item.partition(";")
        m = re.fullmatch(r"\s*q=([01](?:\.[0-9]{0,3})?)\s*", weight)
        found[name.strip()] = float(m.group(1)) if m else 1.0
    best = found.get("gzip", found.get("x-gzip", found.get("*", 0.0)))
    return best > 0 and best >= found.get("identity", 0.0)


class StableGZipMiddleware(GZipMiddleware):
    max_random_bytes = 0

    def process_response(self, request, response):
        if NODE == "tp-iller":
            return response  # the compressed size would vary with the order of the members
        header = request.META.get("HTTP_ACCEPT_ENCODING", "")
        request.META["HTTP_ACCEPT_ENCODING"] = "gzip" if wants_gzip(header) else "identity"
        return super().process_response(request, response)


class Conditions(ConditionalGetMiddleware):
    """304 and 412 by RFC 9110, 13.2.2: a date is ignored where there is no date of modification."""

    def process_response(self, request, response):
        if request.method != "GET" or not 200 <= response.status_code < 300:
            return response
        meta, etag = request.META, response.get("ETag")
        modified = parse_http_date_safe(response["Last-Modified"]) if response.has_header("Last-Modified") else None

        def date(name):
            return parse_http_date_safe(meta[name]) if name in meta else None

        def weak(tag):
            return tag[2:] if tag.startswith("W/") else tag

        if "HTTP_IF_MATCH" in meta:
            tags = parse_etags(meta["HTTP_IF_MATCH"])
            if tags != ["*"] and not (etag and not etag.startswith("W/") and etag in tags):
                return HttpResponse(status=412)
        elif modified is not None and date("HTTP_IF_UNMODIFIED_SINCE") is not None \
                and modified > date("HTTP_IF_UNMODIFIED_SINCE"):
            return HttpResponse(status=412)
        same = False
        if "HTTP_IF_NONE_MATCH" in meta:
            tags = parse_etags(meta["HTTP_IF_NONE_MATCH"])
            same = tags == ["*"] or bool(etag) and weak(etag) in map(weak, tags)
        elif modified is not None and date("HTTP_IF_MODIFIED_SINCE") is not None:
            same = modified <= date("HTTP_IF_MODIFIED_SINCE")
        if not same:
            return response
        answer = HttpResponse(status=304)
        del answer["Content-Type"]
        for name in ("Cache-Control", "ETag", "Last-Modified", "Vary"):
            if response.has_header(name):
                answer[name] = response[name]
        return answer


class EdgeMiddleware:
    """HEAD is GET without content; every error is a problem document; Date for all."""

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        request.encoding = "utf-8"  # whatever charset the Content-Type names
        request.META.pop("HTTP_X_HTTP_METHOD_OVERRIDE", None)
        head = request.method == "HEAD"
        if head:
            request.method = "GET"
        request.was_head = head
        response = self.get_response(request)
        if response.status_code >= 400 and not response.content:
            extra = {k: v for k, v in response.items() if k in ("Allow", "WWW-Authenticate", "Retry-After")}
            response = problem(response.status_code, None, extra)
        if response.status_code not in (204, 304):
            response["Content-Length"] = str(len(response.content))
        elif response.has_header("Content-Length"):
            del response["Content-Length"]
        if head:
            length = response.get("Content-Length")
            response.content = b""
            if length is not None:
                response["Content-Length"] = length
        return response
