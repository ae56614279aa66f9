"""ASGI middleware around everything: HEAD, OPTIONS, validators, gzip, rate limit."""
import gzip
import hashlib
import json
import re
import time
from collections import deque

from settings import NODE

GET_PATHS = re.compile(
    r"/(registry\.json|\.well-known/oauth-authorization-server/(realms/alpen|staging)"
    r"|realms/alpen/protocol/openid-connect/certs|staging/oauth/jwks"
    r"|(staging/)?ris-synergy/info/v1/oauth/info/"
    r"|ris-synergy/funding/v3/(api-docs|fundings(/[^/]+(/stages)?)?|funders(/[^/]+)?))\Z")
POST_PATHS = re.compile(r"/(realms/alpen/protocol/openid-connect|staging/oauth)/token\Z")


def allowed(path):
    if POST_PATHS.match(path):
        return "POST, OPTIONS"
    if GET_PATHS.match(path):
        return "GET, HEAD, OPTIONS"
    return None


def accepts_gzip(header):
    """RFC 9110, section 12.5.3."""
    weights = {}
    for part in header.split(","):
        coding, *params = [p.strip().lower() for p in part.split(";")]
        weight = 1.0
        for param in params:
            name, _, value = param.partition("=")
            if name.strip() == "q":
                try:
                    weight = float(value)
                except ValueError:
                    weight = 0.0
        weights[coding] = weight
    return weights.get("gzip", weights.get("x-gzip", weights.get("*", 0.0))) > 0


def matches(if_none_match, etag):
    if if_none_match.strip() == "*":
        return True
    opaque = etag.removeprefix("W/")
    return opaque in re.findall(r'(?:W/)?("[^"]*")', if_none_match)


class Edge:
    def __init__(self, app):
        self.app = app
        self.recent = deque()

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        method, path = scope["method"], scope["path"]
        request = {}
        for name, value in scope["headers"]:
            name = name.decode("latin-1")
            value = value.decode("latin-1")
            request[name] = f"{request[name]}, {value}" if name in request else value
        if method == "OPTIONS" and allowed(path):
            await self.send(send, method, 204, [("Allow", allowed(path))], b"")
            return
        if NODE == "connexion-rotate" and self.too_many():
            body = json.dumps({"type": "about:blank", "title": "Too Many Requests", "status": 429})
            await self.send(send, method, 429, [("Retry-After", "1"), ("Cache-Control", "no-store"),
                                                ("Content-Type", "application/problem+json")],
                            body.encode())
            return
        inner = dict(scope)
        if method == "HEAD" and not POST_PATHS.match(path):
            inner["method"] = "GET"
        start, chunks = {}, []

        async def capture(message):
            if message["type"] == "http.response.start":
                start.update(message)
            else:
                chunks.append(message.get("body", b""))

        await self.app(inner, receive, capture)
        status, body = start["status"], b"".join(chunks)
        headers = [(n.decode("latin-1"), v.decode("latin-1")) for n, v in start["headers"]
                   if n.lower() != b"content-length"]
        if status == 405 and allowed(path):
            headers = [h for h in headers if h[0].lower() != "allow"] + [("Allow", allowed(path))]
        names = {name.lower() for name, _ in headers}
        if status >= 400 and "cache-control" not in names:
            headers.append(("Cache-Control", "no-store"))
        if status == 200 and inner["method"] == "GET":
            etag = f'W/"{hashlib.sha256(body).hexdigest()[:24]}"'
            extra = [("ETag", etag), ("Cache-Control", "private, no-cache"),
                     ("Vary", "Accept-Encoding")]
            if "if-none-match" in request and matches(request["if-none-match"], etag):
                await self.send(send, method, 304, extra, b"")
                return
            headers += extra
            if len(body) > 800 and accepts_gzip(request.get("accept-encoding", "")):
                body = gzip.compress(body, 6, mtime=0)
                headers.append(("Content-Encoding", "gzip"))
        await self.send(send, method, status, headers, body)

    @staticmethod
    async def send(send, method, status, headers, body):
        if status not in (204, 304):
            headers = headers + [("Content-Length", str(len(body)))]
        await send({"type": "http.response.start", "status": status,
                    "headers": [(n.lower().encode("latin-1"), v.encode("latin-1"))
                                for n, v in headers]})
        await send({"type": "http.response.body", "body": b"" if method == "HEAD" else body})

    def too_many(self):
        now = time.monotonic()
        while self.recent and now - self.recent[0] > 1:
            self.recent.popleft()
        if len(self.recent) >= 10:
            return True
        self.recent.append(now)
        return False
