'use strict';
// The API document of Altenbruck's funding service.

const { TYPES, REGIONS, GROUPS } = require('./data.js');

const ref = (name) => ({ $ref: `#/components/schemas/${name}` });
const problem = (description, headers) => ({
  description,
  ...(headers ? { headers } : {}),
  content: { 'application/problem+json': { schema: ref('Problem') } },
});
const query = (name, schema, description, example) => ({
  name, in: 'query', required: false, description, schema, ...(example === undefined ? {} : { example }),
});
const challenge = { 'WWW-Authenticate': { description: 'Bearer challenge (RFC 6750)', required: true, schema: { type: 'string' } } };
const etag = { ETag: { description: process.env.NODE === 'ybbs' ? 'Weak entity tag' : 'Strong entity tag of this representation', schema: { type: 'string' } } };
const common = {
  304: { description: 'Not modified (If-None-Match or If-Modified-Since)' },
  400: problem('A parameter is not listed here, is repeated or is outside of its schema; or the request is malformed'),
  401: problem('No valid access token of this API', challenge),
  403: problem('The service account lacks the role EXTERNAL_API_CLIENT', challenge),
  406: problem('None of the offered media types is acceptable'),
  412: problem('If-Match or If-Unmodified-Since does not hold'),
};

module.exports = function openapi({ base, tokenUrl }) {
  return {
    openapi: '3.0.3',
    info: {
      title: 'Altenbruck funding calls',
      version: '3.2.0',
      description: 'Annotated funding calls of Universität Altenbruck for API clients of the network. '
        + 'Every operation needs a bearer token of the production authorization server and the role EXTERNAL_API_CLIENT. '
        + 'Errors are problem details (RFC 9457). '
        + 'A query parameter that is not listed, that is repeated or that is outside of its schema is answered with 400. '
        + 'Only GET, HEAD and OPTIONS are offered; other methods are answered with 405 and Allow.',
    },
    externalDocs: { description: 'Reference documentation', url: `${base}/ris/funding/v3/docs` },
    servers: [{ url: `${base}/ris/funding/v3` }],
    security: [{ clientCredentials: ['funding:read'] }],
    tags: [{ name: 'fundings' }, { name: 'funders' }],
    paths: {
      '/fundings': {
        get: {
          tags: ['fundings'],
          operationId: 'listFundings',
          summary: 'List funding calls',
          description: 'One page of the calls that satisfy all given filters. The whole number is in X-Total-Count, the other pages are in Link '
            + '(first, prev, next, last). A page after the last one is an empty array; its rel="prev" is then the last page. '
            + 'The items have no description; read the single call for it. '
            + 'As text/csv (RFC 4180, CRLF, UTF-8, header line) the columns are id, type, name_en, name_de, acronym, funder_id, funder_name, '
            + 'regions, target_groups (both separated by |), opens, deadline, amount, currency, updated; values are written as in JSON, an absent value is an empty field.',
          parameters: [
            query('page', { type: 'integer', minimum: 1, maximum: 1000, default: 1 }, 'Number of the page', 1),
            query('perPage', { type: 'integer', minimum: 1, maximum: 25, default: 10 }, 'Calls on a page', 10),
            query('sort', { type: 'string', enum: ['id', 'deadline', '-deadline', 'amount', '-amount', 'name', '-name', 'updated', '-updated'], default: 'id' },
              'Order; a minus sign means descending. name is the English name; amount is volume.amount without regard to currency. Texts are ordered by code point. '
              + 'Calls without a deadline come last in both directions. Equal calls are ordered by id, ascending.', '-deadline'),
            query('type', ref('FundingType'), 'Only calls of this type', 'CALL'),
            query('funderId', { type: 'string', minLength: 1, maxLength: 40 }, 'Only calls of the funder with exactly this id', 'F12'),
            query('region', ref('Region'), 'Only calls that name this region (calls for the whole country name none)', 'TYROL'),
            query('targetGroup', ref('TargetGroup'), 'Only calls for this group', 'UNIVERSITY'),
            query('runningCalls', { type: 'boolean' }, 'true: only calls that have opened and whose deadline is today or later or absent; false: only the other ones. Days are UTC.', true),
            query('deadlineFrom', { type: 'string', format: 'date' }, 'Only calls whose deadline is this day or later', '2026-01-31'),
            query('deadlineTo', { type: 'string', format: 'date' }, 'Only calls whose deadline is this day or earlier', '2026-12-31'),
            query('q', { type: 'string', minLength: 1, maxLength: 60 }, 'Text that occurs in a name (in any language) or in the acronym, without regard to case', 'alpine'),
          ],
          responses: {
            200: {
              description: 'One page',
              headers: {
                ...etag,
                'X-Total-Count': { description: 'Number of calls that satisfy the filters', required: true, schema: { type: 'integer', minimum: 0 } },
                Link: { description: 'Web links (RFC 8288) to other pages', required: true, schema: { type: 'string' } },
              },
              content: {
                'application/json': { schema: { type: 'array', maxItems: 25, items: ref('FundingSummary') } },
                'text/csv': { schema: { type: 'string' } },
              },
            },
            ...common,
          },
        },
      },
      '/fundings/{id}': {
        get: {
          tags: ['fundings'],
          operationId: 'getFunding',
          summary: 'Read one funding call',
          parameters: [{ name: 'id', in: 'path', required: true, description: 'Identifier of the call, percent-encoded; identifiers are case-sensitive', schema: { type: 'string' }, example: 'ALT-2026-0001' }],
          responses: {
            200: {
              description: 'The call',
              headers: { ...etag, 'Last-Modified': { description: 'The time in updated', schema: { type: 'string' } } },
              content: { 'application/json': { schema: ref('Funding') } },
            },
            ...common,
            404: problem('There is no call with this identifier'),
          },
        },
      },
      '/funders': {
        get: {
          tags: ['funders'],
          operationId: 'listFunders',
          summary: 'List all funders, ordered by id, with the number of their calls',
          responses: {
            200: { description: 'All funders', headers: etag, content: { 'application/json': { schema: { type: 'array', items: ref('FunderSummary') } } } },
            ...common,
          },
        },
      },
      '/deadlines': {
        get: {
          tags: ['fundings'],
          operationId: 'listDeadlines',
          summary: 'List the days on which calls end, in ascending order, with the ids of the calls, in ascending order',
          parameters: [
            query('from', { type: 'string', format: 'date' }, 'Only this day or later', '2026-01-01'),
            query('to', { type: 'string', format: 'date' }, 'Only this day or earlier', '2026-06-30'),
          ],
          responses: {
            200: { description: 'The days', headers: etag, content: { 'application/json': { schema: { type: 'array', items: ref('DeadlineDay') } } } },
            ...common,
          },
        },
      },
    },
    components: {
      securitySchemes: {
        clientCredentials: {
          type: 'oauth2',
          flows: { clientCredentials: { tokenUrl, scopes: { 'funding:read': 'Read funding calls' } } },
        },
      },
      schemas: {
        FundingType: { type: 'string', enum: TYPES },
        Region: { type: 'string', enum: REGIONS },
        TargetGroup: { type: 'string', enum: GROUPS },
        Text: {
          type: 'object', required: ['lang', 'value'],
          properties: { lang: { type: 'string', enum: ['en', 'de'] }, value: { type: 'string' } },
        },
        FunderRef: {
          type: 'object', required: ['id', 'name'],
          properties: { id: { type: 'string' }, name: { type: 'string' } },
        },
        FunderSummary: {
          type: 'object', required: ['id', 'name', 'country', 'fundings'],
          properties: {
            id: { type: 'string' }, name: { type: 'string' }, country: { type: 'string', pattern: '^[A-Z]{2}$' },
            fundings: { type: 'integer', minimum: 0, description: 'Number of calls with this funderId' },
          },
        },
        Volume: {
          type: 'object', required: ['amount', 'currency'],
          properties: { amount: { type: 'number', minimum: 0 }, currency: { type: 'string', enum: ['EUR', 'CHF'] } },
        },
        FundingSummary: {
          type: 'object', required: ['id', 'type', 'name', 'funder', 'regions', 'targetGroups', 'opens', 'deadline', 'volume', 'updated'],
          properties: {
            id: { type: 'string' },
            type: ref('FundingType'),
            name: { type: 'array', items: ref('Text') },
            acronym: { type: 'string' },
            funder: ref('FunderRef'),
            regions: { type: 'array', items: ref('Region') },
            targetGroups: { type: 'array', items: ref('TargetGroup') },
            opens: { type: 'string', format: 'date' },
            deadline: { type: 'string', format: 'date', nullable: true, description: 'null: applications at any time' },
            volume: ref('Volume'),
            updated: { type: 'string', format: 'date-time' },
          },
        },
        Funding: {
          allOf: [
            ref('FundingSummary'),
            {
              type: 'object', required: ['description', 'website', 'contact', 'applicationLanguages', 'maxProjectMonths', 'cofundingRequired'],
              properties: {
                description: { type: 'array', items: ref('Text') },
                website: { type: 'string', format: 'uri' },
                contact: { type: 'object', required: ['name', 'email'], properties: { name: { type: 'string' }, email: { type: 'string', format: 'email' } } },
                applicationLanguages: { type: 'array', items: { type: 'string' } },
                maxProjectMonths: { type: 'integer', minimum: 1 },
                cofundingRequired: { type: 'boolean' },
              },
            },
          ],
        },
        DeadlineDay: {
          type: 'object', required: ['date', 'fundings'],
          properties: { date: { type: 'string', format: 'date' }, fundings: { type: 'array', minItems: 1, items: { type: 'string' } } },
        },
        Problem: {
          type: 'object', required: ['type', 'title', 'status'],
          properties: {
            type: { type: 'string' }, title: { type: 'string' }, status: { type: 'integer' }, detail: { type: 'string' },
            parameter: { type: 'string', description: 'The query parameter that is wrong' },
          },
        },
      },
    },
  };
};
