import json
from http import HTTPStatus

from django.http import HttpResponse

TITLES = {400: "Ungültige Anfrage", 401: "Anmeldung nötig", 403: "Keine Berechtigung", 404: "Nicht gefunden",
          405: "Methode nicht erlaubt", 412: "Vorbedingung nicht erfüllt", 429: "Zu viele Anfragen",
          500: "Interner Fehler"}


def problem(status, detail=None, headers=None, **more):
    body = {"type": "about:blank", "title": TITLES.get(status) or HTTPStatus(status).phrase, "status": status}
    if detail:
        body["detail"] = detail
    body.update(more)
    r = HttpResponse(json.dumps(body, ensure_ascii=False), status=status, content_type="application/problem+json")
    r["Cache-Control"] = "no-store"
    r["Content-Language"] = "de"
    for k, v in (headers or {}).items():
        r[k] = v
    return r


def not_found(request, exception=None):
    return problem(404, "Unter dieser Adresse gibt es nichts.")


def server_error(request):
    return problem(500)


def bad_request(request, exception=None):
    return problem(400)
