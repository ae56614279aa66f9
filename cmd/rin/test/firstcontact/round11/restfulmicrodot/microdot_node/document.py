REGIONS = ['TIROL', 'SALZBURG', 'KAERNTEN', 'STEIERMARK', 'VORARLBERG', 'WIEN']
ORDERS = ['callNumber', '-callNumber', 'deadline', '-deadline', 'modifiedAt', '-modifiedAt', 'budget', '-budget']

TEXT = """Förderausschreibungen der Hochschule Almenrausch, annotated for partners.

Access: a JWT of our authorization server (client credentials, 75 seconds), as a bearer token. Every operation is open only to clients
whose service account has the role EXTERNAL_API_CLIENT and whose token is issued by the production server for this API; others get 403 or 401.
The key set of the authorization server (jwks_uri of its metadata) holds every key by which a valid token may be signed.
Twelve wrong secrets in a row lock a client for 20 seconds (429 with Retry-After).

Errors have an errorCode, which is stable, and a message for people. Parameters that this document does not know are ignored."""

PAGES = """`paging.totalItems` counts all calls that match and `paging.totalPages` the pages (at least 1). A page beyond the last is empty.
Pages are counted from %d. The pages together hold every matching call exactly once. The Link header holds the addresses of the first, last, next and previous page.
With `Accept: text/csv` the same page is given as a table by RFC 4180, one record for each call, with a header line of the nine columns
callNumber, title, status, programme, regions (joined by semicolons), budgetMax, currency, deadline, modifiedAt."""


def ref(name):
    return {'$ref': '#/components/schemas/' + name}


def error(text, challenge=False):
    out = {'description': text, 'content': {'application/json': {'schema': ref('Error')}}}
    if challenge:
        out['headers'] = {'WWW-Authenticate': {'schema': {'type': 'string'}}}
    return out


def operation(oid, summary, schema, codes, params=(), body=None, text=None):
    answers = {'200': {'description': summary, 'headers': {'ETag': {'schema': {'type': 'string'}}}, 'content': {'application/json': {'schema': schema}}}}
    for c in codes.split():
        answers[c] = {'$ref': '#/components/responses/E' + c} if c != '304' else {'description': 'Not modified since the given ETag.'}
    out = {'operationId': oid, 'summary': summary, 'parameters': list(params), 'responses': answers}
    if body:
        out['requestBody'] = {'required': True, 'content': {'application/json': {'schema': body}}}
    if text:
        out['description'] = text
    return out


def query(name, schema, text, **more):
    return dict({'name': name, 'in': 'query', 'required': False, 'schema': schema, 'description': text}, **more)


def build(origin, first):
    status = {'type': 'string', 'enum': ['planned', 'running', 'ended']}
    region = {'type': 'string', 'enum': REGIONS}
    code = {'type': 'string', 'enum': ['AUFSTIEG', 'BRUECKE', 'GIPFEL', 'TALFONDS']}
    number = {'type': 'string', 'pattern': '^AR-20[0-9]{2}-[0-9]{3}$'}
    path = lambda name, schema: [{'name': name, 'in': 'path', 'required': True, 'schema': schema}]
    calls = operation('findFundingCalls', 'Funding calls', ref('CallPage'), '304 400 401 403 406', [
        query('page', {'type': 'integer', 'minimum': first, 'maximum': 100000, 'default': first}, 'Number of the page.'),
        query('perPage', {'type': 'integer', 'minimum': 1, 'maximum': 40, 'default': 15}, 'Calls on a page.'),
        query('status', status, 'Only calls of this status.'),
        query('programme', code, 'Only calls of this programme.'),
        query('region', {'type': 'array', 'items': region}, 'Only calls that are open to at least one of these regions.', style='form', explode=True),
        query('minBudget', {'type': 'integer', 'minimum': 0, 'maximum': 100000000}, 'Only calls whose budget.max is this or more.'),
        query('modifiedSince', {'type': 'string', 'format': 'date-time'}, 'Only calls that were modified at this instant (RFC 3339, any offset) or later.'),
        query('q', {'type': 'string', 'minLength': 1, 'maxLength': 60}, 'Only calls whose title contains this text. It is taken literally, no character has a special meaning; upper and lower case are the same.'),
        query('sort', {'type': 'string', 'enum': ORDERS, 'default': 'callNumber'}, 'Order; a minus sign means descending. Calls without a deadline come last in both directions.'),
    ], text=PAGES % first)
    good = calls['responses']['200']
    good['headers']['Link'] = {'schema': {'type': 'string'}, 'description': 'RFC 8288'}
    good['content']['text/csv'] = {'schema': {'type': 'string'}}
    return {
        'openapi': '3.0.3', 'info': {'title': 'Förder-API Almenrausch', 'version': '3.1.0', 'description': TEXT},
        'servers': [{'url': origin + '/almenrausch/funding/v3'}], 'security': [{'sso': ['funding:read']}],
        'paths': {
            '/funding-calls': {'get': calls},
            '/funding-calls/{callNumber}': {'get': operation('readFundingCall', 'One funding call, the same object as in the list', ref('FundingCall'), '304 401 403 404 406', path('callNumber', number))},
            '/funding-calls/search': {'post': operation('searchFundingCalls', 'Several calls by their numbers', ref('SearchResult'), '400 401 403 406 413 415', body=ref('SearchRequest'),
                                                        text='Reads only. `data` holds the calls that exist, in the order of the request; `unknown` the other numbers.')},
            '/programmes': {'get': operation('findProgrammes', 'All programmes', {'type': 'array', 'items': ref('Programme')}, '304 401 403 406')},
            '/programmes/{code}': {'get': operation('readProgramme', 'One programme', ref('Programme'), '304 401 403 404 406', path('code', code))},
        },
        'components': {
            'securitySchemes': {'sso': {'type': 'oauth2', 'flows': {'clientCredentials': {'tokenUrl': origin + '/sso/oauth/token', 'scopes': {'funding:read': 'Read funding calls'}}}}},
            'responses': {
                'E400': error('A parameter or the body is wrong.'), 'E401': error('No token, or not a valid one for this API.', True),
                'E403': error('The role EXTERNAL_API_CLIENT is missing.', True), 'E404': error('Not found.'),
                'E406': error('None of the representations is acceptable.'), 'E413': error('The body is larger than 16 KiB.'), 'E415': error('The body is not JSON.')},
            'schemas': {
                'CallPage': {'type': 'object', 'required': ['data', 'paging'], 'properties': {'data': {'type': 'array', 'items': ref('FundingCall')}, 'paging': ref('Paging')}},
                'Paging': {'type': 'object', 'required': ['page', 'perPage', 'totalItems', 'totalPages'], 'properties': {
                    'page': {'type': 'integer', 'minimum': first}, 'perPage': {'type': 'integer', 'minimum': 1}, 'totalItems': {'type': 'integer', 'minimum': 0}, 'totalPages': {'type': 'integer', 'minimum': 1}}},
                'FundingCall': {'type': 'object', 'additionalProperties': False,
                                'required': ['callNumber', 'title', 'abstract', 'status', 'programme', 'regions', 'budget', 'deadline', 'modifiedAt'], 'properties': {
                                    'callNumber': number, 'title': {'type': 'string', 'minLength': 1}, 'abstract': {'type': 'string'}, 'status': status, 'programme': code,
                                    'regions': {'type': 'array', 'minItems': 1, 'uniqueItems': True, 'items': region},
                                    'budget': {'type': 'object', 'required': ['max', 'currency'], 'properties': {'max': {'type': 'integer', 'minimum': 0}, 'currency': {'type': 'string', 'enum': ['EUR']}}},
                                    'deadline': {'type': 'string', 'format': 'date', 'nullable': True, 'description': 'null: applications at any time'},
                                    'modifiedAt': {'type': 'string', 'format': 'date-time'}}},
                'SearchRequest': {'type': 'object', 'required': ['callNumbers'], 'properties': {'callNumbers': {'type': 'array', 'minItems': 1, 'maxItems': 50, 'uniqueItems': True, 'items': {'type': 'string', 'maxLength': 40}}}},
                'SearchResult': {'type': 'object', 'required': ['data', 'unknown'], 'properties': {'data': {'type': 'array', 'items': ref('FundingCall')}, 'unknown': {'type': 'array', 'items': {'type': 'string'}}}},
                'Programme': {'type': 'object', 'required': ['code', 'name', 'callNumbers'], 'properties': {'code': code, 'name': {'type': 'string'}, 'callNumbers': {'type': 'array', 'items': number, 'description': 'Every call of the programme.'}}},
                'Error': {'type': 'object', 'required': ['errorCode', 'message', 'status', 'traceId'], 'properties': {
                    'errorCode': {'type': 'string'}, 'message': {'type': 'string'}, 'status': {'type': 'integer'}, 'traceId': {'type': 'string', 'format': 'uuid'}}},
            }}}
