"""Token endpoints: django-oauth-toolkit, with a strict door in front."""
import base64
import binascii
import datetime
import hashlib
import json
import re
import threading
from urllib.parse import parse_qsl, unquote_plus

from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.core.exceptions import RequestDataTooBig
from django.http import HttpResponse, HttpResponseNotAllowed
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.views.decorators.csrf import csrf_exempt
from oauth2_provider.models import AccessToken
from oauth2_provider.scopes import BaseScopes
from oauth2_provider.views import TokenView

from . import NODE
from .models import ServiceAccount


class FastPBKDF2(PBKDF2PasswordHasher):
    """Client secrets are long and random: few rounds are enough."""
    algorithm = "fast_pbkdf2"
    iterations = 3000

    def encode(self, password, salt, iterations=None):
        # HMAC pads its key with NULs: hash the secret first, so that no two secrets are alike
        return super().encode(hashlib.sha256(password.encode("utf-8")).hexdigest(), salt, iterations)


class AccountScopes(BaseScopes):
    def _own(self, application):
        if application is None:
            return ["funding.read", "staging"]
        return ["staging"] if application.account.realm == "staging" else ["funding.read"]

    def get_all_scopes(self):
        return {"funding.read": "read funding calls", "staging": "try the flow"}

    def get_available_scopes(self, application=None, request=None, *args, **kwargs):
        return self._own(application)

    def get_default_scopes(self, application=None, request=None, *args, **kwargs):
        return self._own(application)


def answer(status, body, challenge=None):
    r = HttpResponse(json.dumps(body), status=status, content_type="application/json")
    r["Cache-Control"] = "no-store"
    r["Pragma"] = "no-cache"
    if challenge:
        r["WWW-Authenticate"] = challenge
    return r


def refuse(error, text, status=400, realm="ris"):
    return answer(status, {"error": error, "error_description": text},
                  'Basic realm="%s", charset="UTF-8"' % realm if status == 401 else None)


ISSUED = {}  # client id -> its present token
LOCK = threading.Lock()
SINGLE = ("grant_type", "client_id", "client_secret", "scope")


@method_decorator(csrf_exempt, name="dispatch")
class RealmTokenView(TokenView):
    realm = "ris"

    def dispatch(self, request, *args, **kwargs):
        if request.method == "OPTIONS":
            r = HttpResponse(status=204)
            r["Allow"] = "OPTIONS, POST"
            del r["Content-Type"]
            return r
        if request.method != "POST" or request.was_head:
            r = answer(405, {"error": "invalid_request", "error_description": "use POST"})
            r["Allow"] = "OPTIONS, POST"
            return r
        return self.post(request, *args, **kwargs)

    def post(self, request, *args, **kwargs):
        kind = request.META.get("CONTENT_TYPE", "").split(";")[0].strip().lower()
        if kind != "application/x-www-form-urlencoded":
            return refuse("invalid_request", "the body must be application/x-www-form-urlencoded")
        if request.META.get("QUERY_STRING"):
            return refuse("invalid_request", "parameters belong into the body")
        request.META["CONTENT_TYPE"] = kind  # always UTF-8 (RFC 6749, appendix B)
        request.content_params = {}
        try:
            request.body
        except RequestDataTooBig:
            return refuse("invalid_request", "the body is too long")
        try:
            pairs = parse_qsl(request.body.decode("utf-8"), keep_blank_values=True, errors="strict",
                              max_num_fields=50)
        except ValueError:
            return refuse("invalid_request", "the body cannot be read")
        names = [n for n, _ in pairs]
        if any(names.count(n) > 1 for n in names):
            return refuse("invalid_request", "a parameter is there more than once")
        if any(ord(c) < 32 for n, v in pairs for c in n + v):
            return refuse("invalid_request", "control characters are not allowed")
        form = {n: v for n, v in pairs if v != ""}
        header = request.META.get("HTTP_AUTHORIZATION")
        if header is not None:
            scheme, _, rest = header.partition(" ")
            if scheme.lower() != "basic":
                return refuse("invalid_client", "use Basic or the form", 401, self.realm)
            try:
                cid, colon, secret = base64.b64decode(rest.strip(), validate=True).decode("utf-8").partition(":")
            except (binascii.Error, ValueError):
                return refuse("invalid_client", "the Basic header cannot be read", 401, self.realm)
            if not colon:
                return refuse("invalid_client", "the Basic header cannot be read", 401, self.realm)
            cid = unquote_plus(cid)
            if "client_secret" in form:
                return refuse("invalid_request", "one way of authentication, not two")
            if form.get("client_id", cid) != cid:
                return refuse("invalid_request", "client_id differs from the one in the Basic header")
        else:
            cid = form.get("client_id")
            if not cid or "client_secret" not in form:
                return refuse("invalid_client", "client authentication is missing", 401, self.realm)
        if "grant_type" not in form:
            return refuse("invalid_request", "grant_type is missing")
        if form["grant_type"] != "client_credentials":
            return refuse("unsupported_grant_type", "only client_credentials")
        if not ServiceAccount.objects.filter(application__client_id=cid, realm=self.realm).exists():
            return refuse("invalid_client", "unknown client or wrong secret", 401, self.realm)
        # hand the cleaned form on: parameters without a value are as if they were omitted
        request.META["HTTP_AUTHORIZATION"] = "Basic " + header.partition(" ")[2].strip() if header else ""
        if not header:
            request.META.pop("HTTP_AUTHORIZATION")
        post = request.POST.copy()
        for name in list(post):
            if name not in form or name not in SINGLE:
                del post[name]
        request._post = post
        request.__dict__.pop("headers", None)
        url, headers, body, status = self.create_token_response(request)
        data = json.loads(body)
        if status != 200:
            error = data.get("error", "invalid_request")
            if error == "invalid_client":
                return refuse(error, "unknown client or wrong secret", 401, self.realm)
            return refuse(error, data.get("error_description", error), 400)
        if NODE == "tp-isar":
            now = timezone.now()
            with LOCK:
                token, end = ISSUED.get(cid, ("", now))
                if (end - now).total_seconds() < 30:
                    token = data["access_token"]
                    end = AccessToken.objects.get(token_checksum=hashlib.sha256(token.encode()).hexdigest()).expires
                    ISSUED[cid] = (token, end)
            if token != data["access_token"]:
                data["access_token"], data["expires_in"] = token, int((end - now).total_seconds())
        return answer(200, {"access_token": data["access_token"], "token_type": "Bearer",
                            "expires_in": data["expires_in"], "scope": data["scope"]})


class StagingTokenView(RealmTokenView):
    realm = "staging"


BEARER = re.compile(r"^bearer +([A-Za-z0-9\-._~+/]+=*) *$", re.I)


class Denied(Exception):
    def __init__(self, status, challenge, detail):
        self.status, self.challenge, self.detail = status, challenge, detail


def bearer(request, audience, realm="ris"):
    """The service account behind the bearer token, or Denied."""
    header = request.META.get("HTTP_AUTHORIZATION")
    plain = 'Bearer realm="%s"' % realm
    if header is None or header.partition(" ")[0].lower() != "bearer":
        raise Denied(401, plain, "Es fehlt ein Bearer-Token.")
    found = BEARER.match(header)
    bad = plain + ', error="invalid_token", error_description="unknown, expired or not for this service"'
    if not found:
        raise Denied(401, bad, "Das Token ist nicht lesbar.")
    checksum = hashlib.sha256(found.group(1).encode()).hexdigest()
    token = AccessToken.objects.select_related("application__account").filter(token_checksum=checksum).first()
    if token is None or token.is_expired():
        raise Denied(401, bad, "Das Token ist unbekannt oder abgelaufen.")
    if NODE == "tp-havel" and token.expires - timezone.now() < datetime.timedelta(seconds=30):
        token.expires = timezone.now() + datetime.timedelta(seconds=75)
        AccessToken.objects.filter(pk=token.pk).update(expires=token.expires)
    account = token.application.account
    if account.audience != audience or account.realm != realm:
        raise Denied(401, bad, "Das Token gilt nicht für diesen Dienst.")
    account.token = token
    return account
