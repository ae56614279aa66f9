"""Messages: decoding, conditional requests, content negotiation, answers."""
import gzip
import hashlib
import json
import os
import re
import time
from email.utils import parsedate_tz, mktime_tz, formatdate


NODE = os.environ.get("NODE", "klein-base")


class Fault(Exception):
    def __init__(self, status, code, message, fields=(), headers=()):
        self.status, self.code, self.message, self.fields, self.headers = status, code, message, list(fields), list(headers)


class BadEncoding(ValueError):
    pass


def unquote(raw, plus=True):
    if plus:
        raw = raw.replace(b"+", b" ")
    if re.search(rb"%(?![0-9A-Fa-f]{2})", raw):
        raise BadEncoding()
    raw = re.sub(rb"%([0-9A-Fa-f]{2})", lambda m: bytes([int(m[1], 16)]), raw)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise BadEncoding()


def pairs(raw):
    out = []
    for part in raw.split(b"&"):
        if part:
            k, _, v = part.partition(b"=")
            out.append((unquote(k), unquote(v)))
    return out


def lines(request, name):
    return [v.decode("latin-1") for v in request.requestHeaders.getRawHeaders(name.encode()) or []]


def header(request, name):
    values = lines(request, name)
    return ", ".join(values) if values else None


def weights(value):
    for element in value.split(","):
        name, *params = [x.strip().lower() for x in element.split(";")]
        q, good = 1.0, bool(name)
        for p in params:
            if p.startswith("q="):
                if re.fullmatch(r"q=(0(\.\d{0,3})?|1(\.0{0,3})?)", p):
                    q = float(p[2:])
                else:
                    good = False
        if good:
            yield name, q


def accepts(value, subtype="json"):
    if value is None or not value.strip():
        return True
    best, q = -1, 0.0
    for name, w in weights(value):
        rank = {"application/" + subtype: 2, "application/*": 1, "*/*": 0}.get(name, -1)
        if rank > best:
            best, q = rank, w
        elif rank == best >= 0:
            q = max(q, w)
    return best >= 0 and q > 0


def coding(value):
    """(gzip accepted, identity accepted)"""
    if value is None:
        return False, True
    found = {}
    for name, q in weights(value):
        name = {"x-gzip": "gzip"}.get(name, name)
        found[name] = max(q, found.get(name, 0.0))
    star = found.get("*")
    zipped = found.get("gzip", star or 0.0)
    plain = found.get("identity", 1.0 if star is None else star)
    return zipped > 0 and zipped >= (plain if "identity" in found else 0), plain > 0 or (star == 0 and found.get("identity", 0) > 0)


def tags(value):
    return re.findall(r'\*|(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"', value)


def http_date(value):
    if value is None:
        return None
    v = value.strip()
    if not re.fullmatch(r"[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT|[A-Z][a-z]+day, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}", v):
        return None
    try:
        return mktime_tz(parsedate_tz(v))
    except (TypeError, ValueError, OverflowError):
        return None


def send(request, status, body=None, headers=()):
    request.defaultContentType = None
    request.setResponseCode(status)
    for k, v in headers:
        request.setHeader(k, v)
    if body is None:
        return b""
    request.setHeader("Content-Length", str(len(body)))
    return body


def dump(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def fault(request, f):
    e = {"status": f.status, "code": f.code, "message": f.message}
    if f.fields:
        e["fields"] = f.fields
    return send(request, f.status, dump({"error": e}), [("Content-Type", "application/json"), ("Cache-Control", "no-store"), *f.headers])


def represent(request, value, cache, vary, modified=None, extra=()):
    body = dump(value)
    tag = hashlib.sha256(body).hexdigest()[:24]
    zipped, plain = coding(header(request, "Accept-Encoding"))
    packed = (zipped and len(body) >= 400) or not plain
    if packed and not zipped:
        raise Fault(406, "not_acceptable", "No acceptable content coding", headers=[("Vary", vary)])
    etag = '"%s%s"' % (tag, "-gz" if packed else "")
    weak = NODE == "klein-weide"
    if weak:
        etag = 'W/"%s"' % tag
    heads = [("ETag", etag), ("Cache-Control", cache), ("Vary", vary), *extra]
    if modified is not None:
        heads.append(("Last-Modified", formatdate(modified, usegmt=True)))
    match, none = header(request, "If-Match"), header(request, "If-None-Match")
    unmod, since = http_date(header(request, "If-Unmodified-Since")), http_date(header(request, "If-Modified-Since"))
    if match is not None:
        wrong = not any(t == "*" or (t == etag and not weak) for t in tags(match))
    else:
        wrong = unmod is not None and modified is not None and modified > unmod
    if wrong:
        raise Fault(412, "precondition_failed", "The state of the resource is another one", headers=[("Vary", vary)])
    if none is not None:
        same = any(t == "*" or t.removeprefix("W/") == etag.removeprefix("W/") for t in tags(none))
    else:
        same = since is not None and modified is not None and modified <= since
    if same:
        return send(request, 304, None, heads)
    if packed and NODE == "klein-ahorn" and request.method == b"HEAD":
        heads.append(("Content-Encoding", "gzip"))
    elif packed:
        body = gzip.compress(body, 6, mtime=0)
        heads.append(("Content-Encoding", "gzip"))
    return send(request, 200, body, [("Content-Type", "application/json"), *heads])


def now():
    return time.time()
