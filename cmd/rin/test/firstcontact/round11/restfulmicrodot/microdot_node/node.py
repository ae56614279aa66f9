import asyncio
import base64
import csv
import hashlib
import hmac
import io
import json
import os
import random
import re
import time
import uuid
from datetime import datetime, timedelta, timezone
from email.utils import formatdate
from urllib.parse import parse_qsl, unquote_plus, urlencode

import jwt
import microdot.microdot as core
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm
from microdot import Microdot, Response

import document


class Fields(core.NoCaseDict):
    """Header fields; repeated request fields that are lists are joined."""

    def __setitem__(self, k, v):
        if k.lower() in ('authorization', 'accept', 'if-none-match') and k in self:
            v = self[k] + ', ' + v
        super().__setitem__(k, v)


core.NoCaseDict = Fields
core.Request.max_readline = 16 * 1024

NODE = os.environ.get('NODE', 'microdot-base').removeprefix('microdot-')
PORT = int(os.environ.get('PORT', '28200'))
ORIGIN = f'http://127.0.0.1:{PORT}'
LIFETIME = 75
ROLE = 'EXTERNAL_API_CLIENT'
AUDIENCE = 'urn:almenrausch:funding'
API = '/almenrausch/funding/v3'
SPELLED = NODE == 'primrose'
FIRST = 0 if NODE == 'oxlip' else 1
SPEC = document.build(ORIGIN, FIRST)

app = Microdot()


# ---------------------------------------------------------------- data

def make_data():
    rnd = random.Random(4711)
    subjects = ['Almwirtschaft', 'Gletscherkunde', 'Holzbau', 'Musikethnologie', 'Rechtsgeschichte', 'Sensorik', 'Pflegewissenschaft', 'Quelleneditionen']
    forms = ['Einzelprojekte', 'Doktoratskollegs', 'Tagungen', 'Sondierungen', 'Übersetzungen']
    regions = ['TIROL', 'SALZBURG', 'KAERNTEN', 'STEIERMARK', 'VORARLBERG', 'WIEN']
    programmes = {'GIPFEL': 'Gipfelforschung', 'TALFONDS': 'Talfonds', 'BRUECKE': 'Brücke Wissenschaft–Schule', 'AUFSTIEG': 'Aufstieg (Karriere)'}
    out = []
    for i in range(63):
        subject, form = rnd.choice(subjects), rnd.choice(forms)
        title = f'{subject} – {form}'
        if i % 9 == 2:
            title = f'{subject}, {form} und Transfer'
        elif i % 9 == 6:
            title = f'{form} „{subject}“ (Schiene "Neue Wege", {1 + i % 4}. Runde)'
        elif i % 9 == 4:
            title = f'{subject} 2.{i % 5} [{form}]'
        status = ('running', 'planned', 'running', 'ended')[i % 4]
        base = {'running': datetime(2027, 1, 31), 'planned': datetime(2027, 9, 15), 'ended': datetime(2026, 4, 30)}[status]
        deadline = None if i % 8 == 2 else (base + timedelta(days=31 * rnd.randrange(4))).date().isoformat()
        day, hour = 1 + rnd.randrange(27), (23, 22, 1, 0, 12, 9)[i % 6]
        modified = datetime(2026, 1 + rnd.randrange(10), day, hour, rnd.randrange(60), tzinfo=timezone.utc)
        out.append({
            'callNumber': f'AR-{2026 + i % 2}-{100 + i * 3}', 'title': title,
            'abstract': f'Förderung von {form} im Bereich {subject}.\nEinreichung elektronisch.' if i % 5 else '',
            'status': status, 'programme': rnd.choice(sorted(programmes)), 'regions': sorted(rnd.sample(regions, rnd.randint(1, 3))),
            'budget': {'max': rnd.randrange(10, 800) * 500, 'currency': 'EUR'}, 'deadline': deadline,
            'modifiedAt': modified.strftime('%Y-%m-%dT%H:%M:%SZ')})
    out.sort(key=lambda c: c['callNumber'])
    return out, programmes


CALLS, PROGRAMMES = make_data()
BY_NUMBER = {c['callNumber']: c for c in CALLS}


# ------------------------------------------------------------- answers

def answer(body, status=200, **fields):
    fields = {k.replace('_', '-'): v for k, v in fields.items()}
    fields.setdefault('Content-Type', 'application/json')
    if SPELLED:
        fields = {k.lower(): v for k, v in fields.items()}
        fields['content-type'] = fields['content-type'].replace('application/json', 'Application/JSON; charset="utf-8"')
        if fields.get('cache-control') == 'no-store':
            fields['cache-control'] = 'NO-STORE , max-age=0'
    if not isinstance(body, (bytes, str)):
        body = json.dumps(body, ensure_ascii=False)
    names = {200: 'OK', 304: 'Not Modified', 400: 'Bad Request', 401: 'Unauthorized', 403: 'Forbidden', 404: 'Not Found', 405: 'Method Not Allowed',
             406: 'Not Acceptable', 413: 'Content Too Large', 415: 'Unsupported Media Type', 429: 'Too Many Requests', 500: 'Internal Server Error'}
    return Response(body, status, fields, reason=names[status])


def fault(status, code, message, **fields):
    return answer({'errorCode': code, 'message': message, 'status': status, 'traceId': str(uuid.uuid4())}, status, Cache_Control='no-store', **fields)


def accepted(req, offers):
    """The offer that the client likes best, or None."""
    field = req.headers.get('Accept')
    if field is None or not field.strip():
        return offers[0]
    ranges = []
    for part in field.split(','):
        bits = [b.strip() for b in part.split(';')]
        q = 1.0
        for b in bits[1:]:
            k, _, v = b.partition('=')
            if k.strip().lower() == 'q':
                try:
                    q = float(v)
                except ValueError:
                    q = 0.0
        ranges.append((bits[0].lower(), q))
    best = (0.0, None)
    for offer in offers:
        for pattern in (offer, offer.split('/')[0] + '/*', '*/*'):
            qs = [q for r, q in ranges if r == pattern]
            if qs:
                if max(qs) > best[0]:
                    best = (max(qs), offer)
                break
    return best[1]


def represent(req, value, offers=('application/json',), link=None, text=None):
    kind = accepted(req, offers)
    if kind is None:
        return fault(406, 'NOT_ACCEPTABLE', 'offered: ' + ', '.join(offers))
    if kind == 'text/csv':
        body, ctype = text(value).encode(), 'text/csv; charset=utf-8; header=present'
    else:
        body, ctype = json.dumps(value, ensure_ascii=False).encode(), 'application/json'
    tag = '"' + hashlib.sha256(body + kind.encode()).hexdigest()[:20] + '"'
    fields = {'ETag': tag, 'Cache_Control': 'private, max-age=0, must-revalidate', 'Vary': 'Authorization, Accept'}
    if link:
        fields['Link'] = link
    known = req.headers.get('If-None-Match')
    if req.method in ('GET', 'HEAD') and known and (known.strip() == '*' or tag in [t.strip().removeprefix('W/') for t in known.split(',')]):
        return answer(b'', 304, Content_Type=ctype, Content_Length=str(len(body)), **fields)
    return answer(body, 200, Content_Type=ctype, **fields)


@app.after_request
@app.after_error_request
async def dated(req, res):
    if res.status_code == 204:
        res.status_code = 200
    res.headers['date' if SPELLED else 'Date'] = formatdate(usegmt=True)
    return res


class Refusal(Exception):
    def __init__(self, response):
        self.response = response


@app.errorhandler(Refusal)
async def refused(req, exc):
    return exc.response


@app.errorhandler(400)
async def bad_request(req):
    return fault(400, 'BAD_REQUEST', 'the request cannot be read')


@app.errorhandler(404)
async def not_found(req):
    return fault(404, 'NOT_FOUND', 'there is no such resource')


@app.errorhandler(405)
async def not_allowed(req):
    return fault(405, 'METHOD_NOT_ALLOWED', 'the resource does not know this method', Allow=app.default_options_handler(req)['Allow'])


@app.errorhandler(413)
async def too_large(req):
    return fault(413, 'TOO_LARGE', 'the body is larger than 16 KiB')


@app.errorhandler(500)
async def failed(req):
    return fault(500, 'INTERNAL', 'unexpected failure')


# ------------------------------------------------ authorization server

def new_key(kid, alg):
    if alg == 'ES256':
        key, name = ec.generate_private_key(ec.SECP256R1()), ECAlgorithm
    else:
        key, name = rsa.generate_private_key(public_exponent=65537, key_size=2048), RSAAlgorithm
    public = json.loads(name.to_jwk(key.public_key()))
    public.update(kid=kid, use='sig', alg=alg)
    public.pop('key_ops', None)
    return {'kid': kid, 'alg': alg, 'key': key, 'public': key.public_key(), 'jwk': public}


class Realm:
    def __init__(self, issuer, kids, clients):
        algs = ['ES256', 'RS256'] if NODE == 'nettle' and len(kids) > 1 else ['RS256'] * len(kids)
        self.issuer = ORIGIN + issuer
        self.keys = [new_key(k, a) for k, a in zip(kids, algs)]
        self.clients = clients
        self.issued = 0
        self.failures = {}

    def sign(self, cid):
        client, now = self.clients[cid], int(time.time())
        key = self.keys[-1 if self.issued % 4 == 3 else 0]
        self.issued += 1
        claims = {'iss': self.issuer, 'sub': client['account'], 'aud': client['audience'], 'client_id': cid, 'iat': now, 'exp': now + LIFETIME,
                  'jti': str(uuid.uuid4()), 'scope': 'funding:read', 'roles': client['roles'], 'affiliation_id': client['affiliation']}
        if NODE == 'nettle':
            claims.update(aud=['urn:almenrausch:account', client['audience'], self.issuer], nbf=now - 5, azp=cid, acr='0')
        return jwt.encode(claims, key['key'], key['alg'], headers={'kid': key['kid'], 'typ': 'at+jwt'})


def client(secret, account, affiliation, roles=(ROLE,), audience=AUDIENCE):
    return {'secret': secret, 'account': account, 'affiliation': affiliation, 'roles': list(roles), 'audience': audience}


PROD = Realm('/sso', ['ar-2026-b', 'ar-2026-c'], {
    'almenrausch-portal-6bc2': client('Tq8vW-3nZ_xK5mLd90RfYs2hJb7cPgUa', 'svc-501', 'ROR-0a1b2c'),
    'almenrausch-lesesaal-f04e': client('Nn4+eR9/uS=3yD%vB7&cG1:tH5~kX', 'svc-502', 'ROR-0a1b9z', ['PROJECT_READER']),
    'almenrausch-archiv-2a97': client('w8Lp%41Q+dZ=6/Mf2?jC0;bV9@nTs', 'svc-503', 'ROR-0a1b2c', audience='urn:almenrausch:archive'),
    'almenrausch-reserve-d815': client('gY3/oI7+aF1%zK=5&xE9:rU2!wM4_S', 'svc-504', 'ROR-0c7d7e')})
STAGE = Realm('/staging/sso', ['ar-stage-1'], {
    'almenrausch-probe-77e1': client('cX6/hB2+vO8%qJ=1&tN3:mA5~eL7_P', 'svc-901', 'ROR-000000')})


def oauth_error(status, code, text, **fields):
    return answer({'error': code, 'error_description': text}, status, Cache_Control='no-store', Pragma='no-cache', **fields)


def token_response(realm, req):
    invalid = lambda text: oauth_error(400, 'invalid_request', text)
    if (req.headers.get('Content-Type') or '').split(';')[0].strip().lower() != 'application/x-www-form-urlencoded':
        return invalid('the body must be a form')
    if req.query_string and re.search(r'(^|&)(client_id|client_secret|grant_type)=', req.query_string):
        return invalid('parameters belong in the body')
    try:
        pairs = parse_qsl(req.body.decode('utf-8'), keep_blank_values=True, errors='strict')
    except (UnicodeDecodeError, ValueError):
        return invalid('the form cannot be decoded')
    form = dict(pairs)
    if len(form) != len(pairs):
        return invalid('a parameter is repeated')
    cid, secret = form.get('client_id', ''), form.get('client_secret', '')
    header = req.headers.get('Authorization')
    if header is not None:
        if 'client_secret' in form:
            return invalid('two ways of client authentication')
        scheme, _, value = header.partition(' ')
        try:
            user, _, password = base64.b64decode(value.strip(), validate=True).decode().partition(':')
            if NODE != 'quince':
                user, password = unquote_plus(user, errors='strict'), unquote_plus(password, errors='strict')
        except ValueError:
            user = password = ''
        if scheme.lower() != 'basic':
            user = password = ''
        if 'client_id' in form and cid != user:
            return invalid('two different client identifiers')
        cid, secret = user, password
    known = realm.clients.get(cid)
    count, until = realm.failures.get(cid, (0, 0))
    if known and time.time() < until:
        return oauth_error(429, 'invalid_client', 'too many failed attempts', Retry_After=str(int(until - time.time()) + 1))
    if not known or not hmac.compare_digest(known['secret'].encode(), secret.encode('utf-8', 'replace')):
        if known:
            count += 1
            realm.failures[cid] = (0, time.time() + 20) if count >= 12 else (count, 0)
        return oauth_error(401, 'invalid_client', 'client authentication failed', WWW_Authenticate='Basic realm="almenrausch", charset="UTF-8"')
    realm.failures.pop(cid, None)
    grant = form.get('grant_type', '')
    if not grant:
        return invalid('grant_type is missing')
    if grant != 'client_credentials':
        return oauth_error(400, 'unsupported_grant_type', 'only client_credentials')
    if form.get('scope') and set(form['scope'].split(' ')) != {'funding:read'}:
        return oauth_error(400, 'invalid_scope', 'only funding:read')
    return answer({'access_token': realm.sign(cid), 'token_type': 'Bearer', 'expires_in': LIFETIME, 'scope': 'funding:read'}, Cache_Control='no-store', Pragma='no-cache')


@app.post('/sso/oauth/token')
async def token(req):
    return token_response(PROD, req)


@app.post('/staging/sso/oauth/token')
async def staging_token(req):
    return token_response(STAGE, req)


def metadata(realm):
    return {'issuer': realm.issuer, 'token_endpoint': realm.issuer + '/oauth/token', 'jwks_uri': realm.issuer + '/jwks.json', 'grant_types_supported': ['client_credentials'],
            'response_types_supported': [], 'scopes_supported': ['funding:read'], 'token_endpoint_auth_methods_supported': ['client_secret_basic', 'client_secret_post']}


@app.get('/.well-known/oauth-authorization-server/sso')
async def meta(req):
    return represent(req, metadata(PROD))


@app.get('/.well-known/oauth-authorization-server/staging/sso')
async def staging_meta(req):
    return represent(req, metadata(STAGE))


def key_set(realm):
    keys = [k['jwk'] for k in realm.keys]
    if NODE == 'rowan':
        keys = keys[:1]
    if NODE == 'nettle':
        extra = new_key('wrap-1', 'RS256')['jwk']
        extra.update(use='enc', alg='RSA-OAEP-256')
        keys = [extra] + keys
    return {'keys': keys}


SETS = {id(PROD): key_set(PROD), id(STAGE): key_set(STAGE)}


@app.get('/sso/jwks.json')
async def jwks(req):
    return represent(req, SETS[id(PROD)])


@app.get('/staging/sso/jwks.json')
async def staging_jwks(req):
    return represent(req, SETS[id(STAGE)])


# --------------------------------------------------------------- guard

def challenge(status, error, text):
    if SPELLED:
        value = 'bearer   error_description="' + text + '" , error=' + error + ' ,realm="almenrausch, \\"funding\\""' if error else 'BEARER realm="almenrausch, \\"funding\\""'
    else:
        value = 'Bearer realm="almenrausch"' + (f', error="{error}", error_description="{text}"' if error else '')
    return Refusal(fault(status, {400: 'BAD_REQUEST', 401: 'UNAUTHENTICATED', 403: 'FORBIDDEN'}[status], text, WWW_Authenticate=value))


def guard(req, realms=(PROD,), role=ROLE):
    header = req.headers.get('Authorization')
    if header is None:
        raise challenge(401, '', 'a bearer token is needed')
    scheme, _, tok = header.partition(' ')
    if scheme.lower() != 'bearer':
        raise challenge(401, '', 'a bearer token is needed')
    tok = tok.strip(' ')
    if not re.fullmatch(r'[A-Za-z0-9._~+/-]+=*', tok):
        raise challenge(400, 'invalid_request', 'the Authorization field is malformed')
    bad = challenge(401, 'invalid_token', 'the token is not valid here')
    try:
        head = jwt.get_unverified_header(tok)
        realm, key = next((r, k) for r in realms for k in r.keys if k['kid'] == head.get('kid'))
        claims = jwt.decode(tok, key['public'], algorithms=[key['alg']], audience=AUDIENCE, issuer=realm.issuer, options={'require': ['exp', 'iat', 'aud', 'iss']})
    except Exception:
        raise bad
    if str(head.get('typ', '')).lower() != 'at+jwt':
        raise bad
    if role and role not in claims.get('roles', []):
        raise challenge(403, 'insufficient_scope', 'the role ' + role + ' is needed')
    return claims


OPEN_TO = (PROD, STAGE) if NODE == 'sorrel' else (PROD,)


def info_body(claims):
    return {'clientId': claims['client_id'], 'account': claims['sub'], 'roles': claims['roles'], 'affiliationId': claims['affiliation_id'], 'tokenExpiresAt': claims['exp'],
            'endpoints': {'funding': [{'name': 'FUNDINGS', 'majorVersion': 3, 'minorVersion': 1, 'url': ORIGIN + API + '/funding-calls'}]}}


@app.get('/almenrausch/info/v1/oauth/info/')
async def info(req):
    return represent(req, info_body(guard(req, role=None)))


@app.get('/staging/almenrausch/info/v1/oauth/info/')
async def staging_info(req):
    return represent(req, info_body(guard(req, (STAGE,), role=None)))


@app.get('/registry.json')
async def registry(req):
    return represent(req, {'member': [{'id': 'almenrausch', 'acronym': 'AR', 'name': 'Hochschule Almenrausch', 'contact': 'ris@[127.0.0.1]',
                                       'oauth2': ORIGIN + '/sso/oauth/token', 'info': ORIGIN + '/almenrausch/info/v1/oauth/info/'}]})


@app.get(API + '/api-docs')
async def api_docs(req):
    return represent(req, SPEC)


# ----------------------------------------------------------------- API

def wrong(name, text):
    return Refusal(fault(400, 'INVALID_PARAMETER', f'{name}: {text}'))


def read_query(req):
    try:
        pairs = parse_qsl(req.query_string or '', keep_blank_values=True, errors='strict')
    except (UnicodeDecodeError, ValueError):
        raise wrong('query', 'cannot be decoded')
    out = {}
    for k, v in pairs:
        out.setdefault(k, []).append(v)
    for k, vs in out.items():
        if k in ('page', 'perPage', 'status', 'programme', 'minBudget', 'modifiedSince', 'q', 'sort') and len(vs) > 1:
            raise wrong(k, 'may be given once')
    return out


def whole(q, name, low, high, default):
    if name not in q:
        return default
    v = q[name][0]
    if not re.fullmatch(r'[0-9]{1,9}', v) or not low <= int(v) <= high:
        raise wrong(name, f'must be a whole number from {low} to {high}')
    return int(v)


def choice(q, name, values):
    for v in q.get(name, []):
        if v not in values:
            raise wrong(name, 'must be one of ' + ', '.join(values))
    return q.get(name, [])


def instant(text):
    if not re.fullmatch(r'\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)', text):
        raise wrong('modifiedSince', 'must be a date-time of RFC 3339')
    try:
        if NODE == 'tansy':
            return datetime.fromisoformat(re.sub(r'(Z|[+-]\d\d:\d\d)$', '', text.upper())).replace(tzinfo=timezone.utc)
        return datetime.fromisoformat(text.upper().replace('Z', '+00:00'))
    except ValueError:
        raise wrong('modifiedSince', 'must be a date-time of RFC 3339')


def matcher(text):
    if NODE == 'umbel':
        pattern = re.compile(text, re.IGNORECASE)
        return lambda title: pattern.search(title) is not None
    return lambda title: text.lower() in title.lower()


def selected(q):
    status, programme, regions = choice(q, 'status', ['planned', 'running', 'ended']), choice(q, 'programme', sorted(PROGRAMMES)), choice(q, 'region', document.REGIONS)
    budget = whole(q, 'minBudget', 0, 100000000, 0)
    since = instant(q['modifiedSince'][0]) if 'modifiedSince' in q else None
    text = q.get('q', [None])[0]
    if text is not None and not 1 <= len(text) <= 60:
        raise wrong('q', 'must have 1 to 60 characters')
    found = matcher(text) if text is not None else None
    order = choice(q, 'sort', document.ORDERS) or ['callNumber']
    hits = [c for c in CALLS if (not status or c['status'] in status) and (not programme or c['programme'] in programme)
            and (not regions or set(regions) & set(c['regions'])) and c['budget']['max'] >= budget
            and (since is None or datetime.fromisoformat(c['modifiedAt'].replace('Z', '+00:00')) >= since)
            and (found is None or found(c['title']))]
    field = order[0].lstrip('-')
    value = (lambda c: c['budget']['max']) if field == 'budget' else (lambda c: c[field])
    some, none = [c for c in hits if value(c) is not None], [c for c in hits if value(c) is None]
    some.sort(key=value, reverse=order[0].startswith('-'))
    return some + none


COLUMNS = ['callNumber', 'title', 'status', 'programme', 'regions', 'budgetMax', 'currency', 'deadline', 'modifiedAt']


def as_csv(page):
    rows = [COLUMNS] + [[c['callNumber'], c['title'], c['status'], c['programme'], ';'.join(c['regions']), c['budget']['max'], c['budget']['currency'], c['deadline'] or '', c['modifiedAt']]
                        for c in page['data']]
    if NODE == 'vetch':
        return ''.join(','.join(str(x) for x in row) + '\r\n' for row in rows)
    out = io.StringIO()
    csv.writer(out, lineterminator='\r\n').writerows(rows)
    return out.getvalue()


@app.get(API + '/funding-calls')
async def list_calls(req):
    guard(req, OPEN_TO)
    q = read_query(req)
    page, size = whole(q, 'page', FIRST, 100000, FIRST), whole(q, 'perPage', 1, 40, 15)
    hits = selected(q)
    pages = max(1, -(-len(hits) // size))
    start = (page - FIRST) * size

    def to(n, rel):
        pairs = [(k, v) for k, vs in q.items() if k not in ('page', 'perPage') for v in vs] + [('page', n), ('perPage', size)]
        return f'<{ORIGIN}{API}/funding-calls?{urlencode(pairs)}>; rel="{rel}"'

    final = pages - 1 + FIRST
    links = [to(FIRST, 'first'), to(final, 'last')]
    if page < final:
        links.append(to(page + 1, 'next'))
    if page > FIRST:
        links.append(to(min(page - 1, final), 'prev'))
    value = {'data': hits[start:start + size], 'paging': {'page': page, 'perPage': size, 'totalItems': len(hits), 'totalPages': pages}}
    return represent(req, value, ('application/json', 'text/csv'), ', '.join(links), as_csv)


@app.get(API + '/funding-calls/<number>')
async def one_call(req, number):
    guard(req, OPEN_TO)
    if number not in BY_NUMBER:
        return fault(404, 'NOT_FOUND', 'there is no such funding call')
    return represent(req, BY_NUMBER[number])


@app.post(API + '/funding-calls/search')
async def search(req):
    guard(req, OPEN_TO, role=None if NODE == 'woodruff' else ROLE)
    if (req.headers.get('Content-Type') or '').split(';')[0].strip().lower() != 'application/json':
        return fault(415, 'UNSUPPORTED_MEDIA_TYPE', 'the body must be application/json')
    try:
        body = json.loads(req.body.decode('utf-8'))
    except (ValueError, RecursionError):
        return fault(400, 'INVALID_BODY', 'the body is not JSON')
    wanted = body.get('callNumbers') if isinstance(body, dict) else None
    if not isinstance(wanted, list) or not 1 <= len(wanted) <= 50 or not all(isinstance(n, str) and len(n) <= 40 and not re.search('[\ud800-\udfff]', n) for n in wanted) or len(set(wanted)) != len(wanted):
        return fault(400, 'INVALID_BODY', 'callNumbers must be 1 to 50 different texts')
    return represent(req, {'data': [BY_NUMBER[n] for n in wanted if n in BY_NUMBER], 'unknown': [n for n in wanted if n not in BY_NUMBER]})


def programme_body(code):
    return {'code': code, 'name': PROGRAMMES[code], 'callNumbers': [c['callNumber'] for c in CALLS if c['programme'] == code]}


@app.get(API + '/programmes')
async def programmes(req):
    guard(req, OPEN_TO)
    return represent(req, [programme_body(c) for c in sorted(PROGRAMMES)])


@app.get(API + '/programmes/<code>')
async def programme(req, code):
    guard(req, OPEN_TO)
    if code not in PROGRAMMES:
        return fault(404, 'NOT_FOUND', 'there is no such programme')
    return represent(req, programme_body(code))


if __name__ == '__main__':
    asyncio.run(app.start_server(host='127.0.0.1', port=PORT))
