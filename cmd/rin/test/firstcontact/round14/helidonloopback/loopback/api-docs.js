'use strict';
const {TARGET_GROUPS, SUBJECTS, KINDS} = require('./data');

const schema = name => ({$ref: `#/components/schemas/${name}`});
const text = {type: 'string'};
const error = description => ({description, content: {'application/json': {schema: schema('Error')}}});
const parameter = (name, description, s, more = {}) => ({name, in: 'query', description, required: false, schema: s, ...more});

const errors = {
  304: {description: 'The representation has not changed (If-None-Match).'},
  400: {$ref: '#/components/responses/BadRequest'}, 401: {$ref: '#/components/responses/Unauthorized'}, 403: {$ref: '#/components/responses/Forbidden'},
  405: {$ref: '#/components/responses/MethodNotAllowed'}, 406: {$ref: '#/components/responses/NotAcceptable'},
  412: {$ref: '#/components/responses/PreconditionFailed'}, 429: {$ref: '#/components/responses/TooManyRequests'}, 500: {$ref: '#/components/responses/Internal'},
};
const headers = {
  'ETag': {description: 'Entity tag of the representation.', schema: text}, 'Content-Language': {description: 'de or en', schema: text},
  'Vary': {schema: text}, 'Cache-Control': {description: 'private, no-cache', schema: text},
};
const ok = (description, body, more = {}) => ({description, headers: {...headers, ...more}, content: {'application/json': {schema: body}}});
const language = {
  name: 'Accept-Language', in: 'header', required: false, schema: text,
  description: 'Titles, abstracts and names are German (de) or English (en), as Accept-Language prefers; German if it prefers neither.',
};

module.exports = base => ({
  openapi: '3.0.3',
  info: {
    title: 'Funding API of the Technische Hochschule Wallsee',
    version: '3.0.4',
    description: `Annotated funding opportunities. Every operation needs a token with the scope \`funding\` of an account with the role EXTERNAL_API_CLIENT. A token lives 70 seconds.

Some opportunities are meant for the members of one affiliation (\`audience\`: affiliation). Only accounts of this affiliation see them; for all others they do not exist: not in lists, not in counts, and 404 when asked for.

An operation takes the query parameters listed here and no others, each once, except where it says otherwise; anything else is answered 400.

Responses above a certain size are compressed by gzip if Accept-Encoding allows it. An account that sends too many requests in a short time can be answered 429 with Retry-After. At the token endpoint, a client that failed to authenticate twelve times in a row is answered 429 for 20 seconds.`,
  },
  externalDocs: {description: 'Reference documentation with the try-out mode', url: `${base}/docs/thw`},
  servers: [{url: `${base}/api/thw/funding/v3`}],
  security: [{thw: ['funding']}],
  paths: {
    '/opportunities': {
      get: {
        operationId: 'listOpportunities',
        summary: 'Funding opportunities',
        description: 'All filters given must hold. Opportunities that are equal in the order asked for are ordered by `id` ascending; those without a deadline come last. A page has at most `limit` opportunities and may have fewer; the last page is the one without a link `next`.',
        parameters: [
          parameter('limit', 'The most opportunities on a page.', {type: 'integer', minimum: 1, maximum: 40, default: 15}),
          parameter('after', 'Cursor of a link `next`; it holds only for the filters and the order it was issued for.', text),
          parameter('target_group', 'Opportunities for any of these groups; may be repeated.', {type: 'array', items: schema('TargetGroup')}, {style: 'form', explode: true}),
          parameter('status', 'Opportunities that have this status now.', schema('Status')),
          parameter('agency', 'Opportunities of the agency with this id.', {type: 'string', minLength: 1, maxLength: 50}),
          parameter('subject', 'Opportunities with this subject.', schema('Subject')),
          parameter('min_budget', 'Opportunities whose budget has at least this maximum, whatever the currency.', {type: 'integer', minimum: 0, maximum: 1000000000}),
          parameter('deadline_from', 'Opportunities with a deadline at this moment or later.', {type: 'string', format: 'date-time'}),
          parameter('deadline_to', 'Opportunities with a deadline at this moment or earlier.', {type: 'string', format: 'date-time'}),
          parameter('order', 'The order; `-` is descending. Ids are compared by UTF-16 code units, deadlines as moments in time.', {type: 'string', enum: ['id', 'deadline', '-deadline'], default: 'id'}),
          language,
        ],
        responses: {
          200: ok('A page of opportunities', {type: 'array', maxItems: 40, items: schema('Opportunity')}, {
            'Link': {description: 'RFC 8288: first and, unless this is the last page, next. They keep the filters, the order and the limit.', schema: text},
            'X-Total-Count': {description: 'Number of opportunities that match, on all pages.', schema: {type: 'integer', minimum: 0}},
          }),
          ...errors,
        },
      },
    },
    '/opportunities/{opportunity_id}': {
      get: {
        operationId: 'getOpportunity',
        summary: 'One opportunity',
        parameters: [{name: 'opportunity_id', in: 'path', required: true, description: 'The id, percent-encoded.', schema: {type: 'string', minLength: 1}}, language],
        responses: {200: ok('The opportunity', schema('Opportunity')), 404: {$ref: '#/components/responses/NotFound'}, ...errors},
      },
    },
    '/agencies': {
      get: {operationId: 'listAgencies', summary: 'All agencies', parameters: [language], responses: {200: ok('The agencies', {type: 'array', items: schema('Agency')}), ...errors}},
    },
    '/target-groups': {
      get: {
        operationId: 'listTargetGroups', summary: 'All target groups, with the number of opportunities', parameters: [language],
        responses: {200: ok('The target groups', {type: 'array', items: schema('TargetGroupEntry')}), ...errors},
      },
    },
  },
  components: {
    securitySchemes: {
      thw: {type: 'oauth2', flows: {clientCredentials: {tokenUrl: `${base}/sso/oauth/token`, scopes: {funding: 'Read the funding API', info: 'Use the info endpoint'}}}},
    },
    responses: {
      BadRequest: error('A parameter is unknown, repeated or has a value that is not allowed.'),
      Unauthorized: {...error('The token is missing, invalid or has expired.'), headers: {'WWW-Authenticate': {schema: text}}},
      Forbidden: {...error('The account lacks the role, or the token the scope.'), headers: {'WWW-Authenticate': {schema: text}}},
      NotFound: error('There is no such opportunity for this account.'),
      MethodNotAllowed: {...error('Another method than GET and HEAD.'), headers: {Allow: {schema: text}}},
      NotAcceptable: error('Accept excludes application/json.'),
      PreconditionFailed: error('If-Match does not hold.'),
      TooManyRequests: {...error('Too many requests of this account.'), headers: {'Retry-After': {schema: {type: 'integer'}}}},
      Internal: error('A fault of the node.'),
    },
    schemas: {
      TargetGroup: {type: 'string', enum: Object.keys(TARGET_GROUPS)},
      Subject: {type: 'string', enum: SUBJECTS},
      Status: {type: 'string', enum: ['forthcoming', 'open', 'closed'], description: 'Before `opens_at`; from then up to and including `deadline`; after it.'},
      Opportunity: {
        type: 'object',
        required: ['id', 'kind', 'title', 'abstract', 'agency', 'target_groups', 'subjects', 'status', 'opens_at', 'deadline', 'audience'],
        properties: {
          id: {type: 'string', minLength: 1},
          kind: {type: 'string', enum: KINDS},
          title: text,
          abstract: text,
          agency: {type: 'string', description: 'Id of the agency.'},
          target_groups: {type: 'array', items: schema('TargetGroup')},
          subjects: {type: 'array', items: schema('Subject')},
          status: schema('Status'),
          opens_at: {type: 'string', format: 'date-time'},
          deadline: {type: 'string', format: 'date-time', nullable: true, description: 'null: there is no deadline.'},
          budget: {
            type: 'object', description: 'Missing if none is published.', required: ['maximum', 'currency'],
            properties: {maximum: {type: 'integer', minimum: 0}, currency: {type: 'string', pattern: '^[A-Z]{3}$'}},
          },
          audience: {type: 'string', enum: ['all', 'affiliation'], description: 'affiliation: only accounts of your affiliation see it.'},
        },
      },
      Agency: {type: 'object', required: ['id', 'name', 'homepage'], properties: {id: text, name: text, homepage: {type: 'string', format: 'uri'}}},
      TargetGroupEntry: {
        type: 'object', required: ['code', 'label', 'opportunities'],
        properties: {code: schema('TargetGroup'), label: text, opportunities: {type: 'integer', minimum: 0, description: 'Number of opportunities for this group that the account can see.'}},
      },
      Error: {
        type: 'object', required: ['error'],
        properties: {error: {type: 'object', required: ['code', 'message'], properties: {code: text, message: text, field: {type: 'string', description: 'The parameter that is at fault.'}}}},
      },
    },
  },
});
