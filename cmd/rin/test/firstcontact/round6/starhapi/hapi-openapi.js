'use strict';

// The OpenAPI document of the funding API, kept by hand beside the routes.

const ref = (name, kind = 'schemas') => ({ $ref: `#/components/${kind}/${name}` });
const error = (description, headers) => ({ description, headers, content: { 'application/json': { schema: ref('Error') } } });

const description = `Funding opportunities of the Nordic portal, with the annotations of the node.

## Access

All operations need a bearer token of the production authorization server (client credentials; opaque tokens, valid for 600 seconds). A token is sent in the
Authorization field only; tokens elsewhere in the request are not looked at. Tokens that are unknown, expired, issued by the staging server or meant for another API are refused with 401
and \`error="invalid_token"\`. Access is decided before parameters are looked at.

The scope \`funding:read\` is needed for every operation here (else 403). The authorization server grants it to service accounts with the role EXTERNAL_API_CLIENT.
A client that requests a smaller scope gets a token that can do no more than that: with the scope \`info\` alone the operations answer 403.

The info endpoint \`/ris/info/v1/oauth/info/\` tests authorization: it answers 200 to a valid token with the scope \`info\`, whatever the role, and 401 to a request without a valid token.

## Lists

\`GET /fundings\` is paged by cursor. The answer is a bare array; the next page is the target of the link with the relation \`next\` (Link, RFC 8288), and the last page has none. Following the links
from the first page yields every selected funding opportunity once. X-Total-Count is the number of all that are selected, on every page.

## Requests

A query parameter that is not described, is repeated, or does not fit its schema is answered with 400. Answers are JSON in UTF-8, compressed with gzip for clients that accept it; they carry an ETag, and
conditional requests are answered with 304.

## Try-out

The reference at \`/reference\` has a try-out mode; its sample data at \`/reference/try-out/fundings\` need no token.
`;

exports.build = (origin, node) => {

    const challenge = { 'WWW-Authenticate': { required: true, description: 'The Bearer challenge (RFC 6750).', schema: { type: 'string' } } };
    const headers = { ETag: ref('ETag', 'headers'), 'Cache-Control': ref('CacheControl', 'headers') };
    const ok = (text, schema, more = {}) => ({ description: text, headers: { ...headers, ...more }, content: { 'application/json': { schema } } });
    const answers = (success, ...codes) => {

        const all = { 304: ref('NotModified', 'responses'), 400: ref('BadRequest', 'responses'), 401: ref('Unauthorized', 'responses'), 403: ref('Forbidden', 'responses'), 404: ref('NotFound', 'responses'), 429: ref('TooManyRequests', 'responses') };
        const out = { 200: success };
        for (const code of [304, 400, 401, 403, ...codes].sort()) {
            out[code] = all[code];
        }

        return out;
    };

    const more = node === 'hapi-rate-limit' ? [429] : [];
    const multilingual = { type: 'array', minItems: 1, items: ref('Text') };
    const brief = {
        id: { type: 'integer', format: 'int64', minimum: 1 },
        titles: multilingual,
        status: ref('Status'),
        area: ref('Area'),
        funder: { type: 'object', required: ['id', 'name'], properties: { id: { type: 'integer' }, name: { type: 'string' } } },
        startDate: { type: 'string', format: 'date' },
        deadline: { type: ['string', 'null'], format: 'date', description: 'Last day of application; null when applications are always welcome.' },
        budget: ref('Budget')
    };
    const full = {
        ...brief,
        abstract: { type: 'string' },
        durationMonths: { type: 'integer', minimum: 1 },
        contact: { anyOf: [ref('Contact'), { type: 'null' }], description: 'Null when the funder names nobody.' },
        keywords: { type: 'array', items: { type: 'string' } },
        modified: { type: 'string', format: 'date-time' }
    };
    const object = (properties) => ({ type: 'object', required: Object.keys(properties), properties, additionalProperties: false });
    const fundingId = { name: 'fundingId', in: 'path', required: true, description: 'Id of a funding opportunity.', schema: { type: 'integer', format: 'int64', minimum: 1 } };
    const query = (name, schema, text) => ({ name, in: 'query', description: text, schema });

    const doc = {
        openapi: '3.1.0',
        info: { title: 'Fjord node, funding', version: '3.1.2', description, contact: { name: 'Fjord operations', email: 'drift@fjord.example' } },
        servers: [{ url: `${origin}/ris/funding/v3` }],
        externalDocs: { url: `${origin}/reference` },
        security: [{ clientCredentials: ['funding:read'] }],
        paths: {
            '/fundings': {
                get: {
                    operationId: 'findFundings',
                    summary: 'Find funding opportunities',
                    parameters: [
                        query('limit', { type: 'integer', minimum: 1, maximum: 50, default: 25 }, 'Most entries of a page.'),
                        query('cursor', { type: 'string', minLength: 1, maxLength: 400 }, 'Taken from a next link; it belongs to the filters and the order of that link. Others are answered with 400.'),
                        query('status', ref('Status'), 'Only those in this status.'),
                        query('area', ref('Area'), 'Only those of this area.'),
                        query('country', { type: 'string', pattern: '^[A-Z]{2}$' }, 'Only those whose funder is in this country (ISO 3166).'),
                        query('minBudget', { type: 'integer', minimum: 0, maximum: 1000000000 }, 'Only those whose `budget.max` is at least this, whatever the currency.'),
                        query('keyword', { type: 'string', minLength: 1, maxLength: 60 }, 'Only those that have exactly this keyword.'),
                        query('sort', { type: 'string', enum: ['deadline', 'budget', 'id'], default: 'deadline' }, 'What to order by: the deadline (none comes after all others), `budget.max`, or the id. Equals are in ascending order of their ids.'),
                        query('order', { type: 'string', enum: ['asc', 'desc'], default: 'asc' }, 'Direction of the order. With `desc` entries without deadline come first.')
                    ],
                    responses: answers(ok('A page of funding opportunities.', { type: 'array', maxItems: 50, items: ref('FundingBrief') }, {
                        Link: { description: 'The next page, rel="next"; absent on the last.', schema: { type: 'string' } },
                        'X-Total-Count': { required: true, description: 'Number of all selected.', schema: { type: 'integer', minimum: 0 } }
                    }), ...more)
                }
            },
            '/fundings/{fundingId}': {
                get: { operationId: 'getFunding', summary: 'One funding opportunity', parameters: [fundingId], responses: answers(ok('The funding opportunity.', ref('Funding')), 404, ...more) }
            },
            '/fundings/{fundingId}/attachments': {
                get: { operationId: 'getAttachments', summary: 'Attachments of a funding opportunity', parameters: [fundingId], responses: answers(ok('All attachments.', { type: 'array', items: ref('Attachment') }), 404, ...more) }
            },
            '/funders': {
                get: {
                    operationId: 'getFunders', summary: 'All funders', parameters: [query('type', ref('FunderType'), 'Only funders of this type.')],
                    responses: answers(ok('The funders, by id.', { type: 'array', items: ref('Funder') }), ...more)
                }
            },
            '/funders/{funderId}': {
                get: {
                    operationId: 'getFunder', summary: 'One funder', parameters: [{ name: 'funderId', in: 'path', required: true, schema: { type: 'integer', minimum: 1 } }],
                    responses: answers(ok('The funder.', ref('Funder')), 404, ...more)
                }
            }
        },
        components: {
            securitySchemes: {
                clientCredentials: {
                    type: 'oauth2',
                    flows: { clientCredentials: { tokenUrl: `${origin}/auth/oauth/token`, scopes: { info: 'The info endpoint', 'funding:read': 'The funding API' } } }
                }
            },
            headers: {
                ETag: { description: 'Entity tag of the representation.', schema: { type: 'string' } },
                CacheControl: { description: 'Private; to be revalidated after a minute.', schema: { type: 'string' } }
            },
            responses: {
                NotModified: { description: 'The client has the current representation.' },
                BadRequest: error('The request does not fit this document.'),
                Unauthorized: error('No token, or none that is valid here.', challenge),
                Forbidden: error('The token does not have the scope.', challenge),
                NotFound: error('No such thing.')
            },
            schemas: {
                Status: { type: 'string', enum: ['UPCOMING', 'OPEN', 'CLOSED'] },
                Area: { type: 'string', enum: ['NATURAL', 'TECHNICAL', 'HUMANITIES', 'HEALTH', 'SOCIAL', 'AGRICULTURAL'] },
                FunderType: { type: 'string', enum: ['PUBLIC', 'FOUNDATION', 'COMPANY'] },
                Text: object({ lang: { type: 'string', enum: ['da', 'en'] }, value: { type: 'string', minLength: 1 } }),
                Budget: object({ min: { type: 'integer', minimum: 0 }, max: { type: 'integer', minimum: 0 }, currency: { type: 'string', enum: ['DKK', 'NOK', 'SEK', 'ISK', 'EUR'] } }),
                Contact: object({ name: { type: 'string' }, email: { type: 'string', format: 'email' } }),
                FundingBrief: object(brief),
                Funding: object(full),
                Attachment: object({ id: { type: 'integer' }, fileName: { type: 'string' }, mediaType: { type: 'string' }, bytes: { type: 'integer', minimum: 0 }, md5: { type: 'string', pattern: '^[0-9a-f]{32}$' } }),
                Funder: object({ id: { type: 'integer' }, name: { type: 'string' }, nameEn: { type: 'string' }, country: { type: 'string', pattern: '^[A-Z]{2}$' }, type: ref('FunderType') }),
                Error: object({ error: { type: 'object', required: ['code', 'message'], properties: { code: { type: 'string' }, message: { type: 'string' }, fields: { type: 'array', items: { type: 'string' } } } } })
            }
        }
    };

    if (node === 'hapi-rate-limit') {
        doc.components.responses.TooManyRequests = error('More requests than the client may send. Retry-After says when to come back.', { 'Retry-After': { required: true, description: 'Seconds to wait.', schema: { type: 'integer', minimum: 1 } } });
        doc.info.description += '\n## Rate limit\n\nA client may send 20 requests to this API at once and 10 a second on average; more are answered with 429, and nothing is done for them. Token endpoint and info endpoint have no such limit.\n';
    }

    if (node === 'hapi-same-token') {
        doc.info.description += '\n## Token reuse\n\nWhile a token of a client and scope has more than 60 of its 600 seconds left, the token endpoint gives the same token again; `expires_in` is what is left of its lifetime.\n';
    }

    if (node === 'hapi-short-pages') {
        doc.info.description = doc.info.description.replace('and the last page has none.', 'and the last page has none. A page may have fewer entries than `limit`, even none, although a next link follows: the server looks through `limit` records and gives those that are selected. Only the absence of the link is the end.');
        doc.paths['/fundings'].get.parameters[0].description = 'Most entries of a page; a page may have fewer, see above.';
    }

    return doc;
};
