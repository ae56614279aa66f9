'use strict';
const { base } = require('./tokens');
const node = process.env.NODE || '';
const { REGIONS, STATUS, SORTS } = require('./params');
const ref = (n) => ({ $ref: '#/components/schemas/' + n });
const hdr = (n) => ({ $ref: '#/components/headers/' + n });
const json = (schema) => ({ 'application/json': { schema } });
const err = (n) => ({ $ref: '#/components/responses/' + n });
const errors = (...codes) => Object.fromEntries(codes.map((c) => [c, err({ 304: 'NotModified', 400: 'BadRequest', 401: 'Unauthorized', 403: 'Forbidden', 404: 'NotFound', 405: 'MethodNotAllowed', 412: 'PreconditionFailed' }[c])]));
const ok = (description, schema, more) => ({ description, headers: { ETag: hdr('ETag'), 'Cache-Control': hdr('Cache-Control'), Vary: hdr('Vary'), ...more }, content: json(schema) });
const security = [{ clientCredentials: ['funding'] }];
const q = (name, description, schema, more) => ({ name, in: 'query', required: false, description, schema, ...more });
const idParam = (example) => ({ name: 'id', in: 'path', required: true, description: 'Kennung', schema: { type: 'string' }, example });
const day = (example) => ({ type: 'string', format: 'date', example });
const callProps = {
  id: { type: 'string', example: 'UDN-01007' },
  title: { type: 'string' }, summary: { type: 'string' },
  funder: { type: 'string', description: 'Kennung der Förderstelle, siehe /funders/{id}', example: 'FWF' },
  status: { type: 'string', enum: STATUS, description: 'Von der Redaktion gesetzt; wird nicht aus den Daten errechnet.' },
  regions: { type: 'array', minItems: 1, items: { type: 'string', enum: REGIONS } },
  keywords: { type: 'array', items: { type: 'string' } },
  opens: { ...day('2026-03-01'), description: 'Beginn der Einreichung; 0001-01-01, wenn er nicht bekannt ist.' },
  deadline: { ...day('2026-09-30'), description: 'Letzter Tag der Einreichung; 9999-12-31 bei laufender Einreichung.' },
  amount: { type: 'number', nullable: true, minimum: 0, description: 'Gesamtsumme; null, wenn keine genannt ist.' },
  currency: { type: 'string', enum: ['EUR'] },
  modified: { type: 'string', format: 'date-time', description: 'Letzte Änderung, UTC.' },
};
const obj = (properties, extra) => ({ type: 'object', required: Object.keys(properties), properties, ...extra });
module.exports = {
  openapi: '3.0.3',
  info: {
    title: 'Förderausschreibungen der Universität an der Donau', version: '3.2.0',
    description: [
      'Lesender Zugriff auf annotierte Förderausschreibungen für Dienstkonten mit der Rolle EXTERNAL_API_CLIENT.',
      '**Token**: OAuth 2.0, client credentials; JWT nach RFC 9068, 75 Sekunden gültig (`expires_in`).' + (node === 'sails-kamp' ? ' Wer binnen 15 Sekunden noch einmal eines anfordert, erhält dasselbe Token; `expires_in` nennt dann die verbleibende Zeit.' : '') + ' Nach 10 falschen Geheimnissen eines Clients binnen einer Minute (ohne Erfolg dazwischen) antwortet der Token-Endpunkt für diesen Client 20 Sekunden lang mit 429 und `Retry-After`.',
      '**Parameter**: Nicht beschriebene Abfrageparameter, mehrfach angegebene (außer `funder`) und ungültige Werte werden mit 400 beantwortet; das Mitglied `errors` nennt jeden. Parameternamen und Aufzählungswerte unterscheiden Groß- und Kleinschreibung.',
      '**Seiten**: `skip` und `limit`; `total` ist die Zahl aller Treffer, `next` der Verweis auf die nächste Seite (mit denselben Filtern und derselben Ordnung) oder null auf der letzten. Ein `skip` hinter dem Ende gibt eine leere Seite.' + (node === 'sails-lech' ? ' Eine Seite kann weniger Ausschreibungen enthalten, als `limit` zulässt, auch wenn noch welche folgen: maßgeblich ist `next`, nicht die Länge der Seite.' : ''),
      '**Filter** werden mit UND verknüpft; mehrere Werte eines Filters mit ODER.',
      '**Bedingte Anfragen**: Jede Antwort 200 trägt ein starkes `ETag`, das je Inhaltskodierung (identity, gzip) verschieden ist; `If-None-Match` und `If-Match` werden ausgewertet, bei einzelnen Ausschreibungen auch `If-Modified-Since` und `If-Unmodified-Since` gegen `Last-Modified` (= `modified`). HEAD gibt die Felder von GET ohne Inhalt.',
      '**Fehler**: `application/problem+json` (RFC 9457), `detail` auf Deutsch. Andere Methoden als GET, HEAD und OPTIONS (soweit sie bei der IANA eingetragen sind und der Server sie kennt) werden mit 405 und `Allow` beantwortet.',
    ].join('\n\n'),
  },
  servers: [{ url: base + '/udn/funding/v3' }],
  security,
  tags: [{ name: 'Ausschreibungen' }, { name: 'Förderstellen' }, { name: 'Statistik' }],
  paths: {
    '/calls': { get: {
      operationId: 'listCalls', tags: ['Ausschreibungen'], summary: 'Ausschreibungen suchen', security,
      parameters: [
        q('limit', 'Größte Zahl von Ausschreibungen auf einer Seite; Ziffern ohne Vorzeichen und führende Nullen.', { type: 'integer', minimum: 1, maximum: 50, default: 20 }),
        q('skip', 'Zahl der übersprungenen Treffer; Ziffern ohne Vorzeichen und führende Nullen.', { type: 'integer', minimum: 0, maximum: 100000, default: 0 }),
        q('sort', 'Ordnung. `title` ordnet nach Unicode-Codepunkten; bei Gleichheit entscheidet in jeder Ordnung die Kennung, aufsteigend.', { type: 'string', enum: SORTS, default: 'deadline ASC' }),
        q('funder', 'Kennung der Förderstelle, genau verglichen; darf mehrfach stehen. Eine unbekannte Kennung trifft nichts.', { type: 'array', items: { type: 'string', minLength: 1, maxLength: 40 } }, { style: 'form', explode: true, example: ['FWF'] }),
        q('region', 'Bundesländer, durch Komma getrennt: trifft, was wenigstens eines davon nennt.', { type: 'array', minItems: 1, items: { type: 'string', enum: REGIONS } }, { style: 'form', explode: false, example: ['WIEN', 'TIROL'] }),
        q('status', 'Stand.', { type: 'string', enum: STATUS }),
        q('deadlineFrom', 'Frist an diesem Tag oder später. Liegt er nach `deadlineTo`, trifft nichts.', { type: 'string', format: 'date' }, { example: '2026-06-01' }),
        q('deadlineTo', 'Frist an diesem Tag oder früher.', { type: 'string', format: 'date' }, { example: '2027-12-31' }),
        q('minAmount', 'Gesamtsumme von wenigstens diesem Betrag; Ausschreibungen ohne Summe werden nicht getroffen. Dezimalzahl ohne Vorzeichen und Exponent, höchstens 15 Stellen vor und 6 nach dem Punkt.', { type: 'number', minimum: 0 }, { example: 500000 }),
        q('q', 'Zeichenfolge im Titel, ohne Unterscheidung von Groß- und Kleinbuchstaben (auch Ä/ä, Ö/ö, Ü/ü).', { type: 'string', minLength: 1, maxLength: 80 }, { example: 'förder' }),
      ],
      responses: { 200: ok('Eine Seite der Treffer', ref('CallPage')), ...errors(304, 400, 401, 403, 405, 412) },
    } },
    '/calls/{id}': { get: {
      operationId: 'getCall', tags: ['Ausschreibungen'], summary: 'Eine Ausschreibung', security, parameters: [idParam('UDN-01007')],
      responses: { 200: ok('Die Ausschreibung', ref('Call'), { 'Last-Modified': hdr('Last-Modified') }), ...errors(304, 400, 401, 403, 404, 405, 412) },
    } },
    '/funders': { get: {
      operationId: 'listFunders', tags: ['Förderstellen'], summary: 'Alle Förderstellen, nach Kennung geordnet (Codepunkte)', security,
      responses: { 200: ok('Alle Förderstellen', obj({ funders: { type: 'array', items: ref('Funder') } })), ...errors(304, 400, 401, 403, 405, 412) },
    } },
    '/funders/{id}': { get: {
      operationId: 'getFunder', tags: ['Förderstellen'], summary: 'Eine Förderstelle', security, parameters: [idParam('FWF')],
      responses: { 200: ok('Die Förderstelle', ref('Funder')), ...errors(304, 400, 401, 403, 404, 405, 412) },
    } },
    '/statistics': { get: {
      operationId: 'getStatistics', tags: ['Statistik'], summary: 'Zahlen über alle Ausschreibungen', security,
      responses: { 200: ok('Die Zahlen', ref('Statistics')), ...errors(304, 400, 401, 403, 405, 412) },
    } },
  },
  components: {
    securitySchemes: { clientCredentials: { type: 'oauth2', description: 'Client-Anmeldung mit HTTP Basic oder im Formular.', flows: { clientCredentials: { tokenUrl: base + '/realms/forschung/protocol/openid-connect/token', scopes: { funding: 'Förderausschreibungen lesen' } } } } },
    headers: {
      ETag: { schema: { type: 'string' }, description: 'Starker Validator dieser Darstellung.' },
      'Last-Modified': { schema: { type: 'string' }, description: 'Wie `modified`.' },
      'Cache-Control': { schema: { type: 'string' } },
      Vary: { schema: { type: 'string' } },
      'WWW-Authenticate': { schema: { type: 'string' }, description: 'Challenge nach RFC 6750.' },
      Allow: { schema: { type: 'string' } },
    },
    responses: {
      NotModified: { description: 'Unverändert', headers: { ETag: hdr('ETag'), 'Cache-Control': hdr('Cache-Control'), Vary: hdr('Vary') } },
      BadRequest: { description: 'Ungültige Anfrage', content: { 'application/problem+json': { schema: ref('Problem') } } },
      Unauthorized: { description: 'Kein gültiges Zugriffstoken', headers: { 'WWW-Authenticate': hdr('WWW-Authenticate') }, content: { 'application/problem+json': { schema: ref('Problem') } } },
      Forbidden: { description: 'Rolle EXTERNAL_API_CLIENT fehlt', headers: { 'WWW-Authenticate': hdr('WWW-Authenticate') }, content: { 'application/problem+json': { schema: ref('Problem') } } },
      NotFound: { description: 'Kennung unbekannt', content: { 'application/problem+json': { schema: ref('Problem') } } },
      MethodNotAllowed: { description: 'Methode nicht erlaubt', headers: { Allow: hdr('Allow') }, content: { 'application/problem+json': { schema: ref('Problem') } } },
      PreconditionFailed: { description: 'Vorbedingung nicht erfüllt', content: { 'application/problem+json': { schema: ref('Problem') } } },
    },
    schemas: {
      CallSummary: obj(callProps),
      Call: obj({ ...callProps, description: { type: 'string' }, contact: obj({ name: { type: 'string' }, email: { type: 'string' } }), website: { type: 'string', format: 'uri' } }),
      CallPage: obj({
        total: { type: 'integer', minimum: 0 }, skip: { type: 'integer', minimum: 0 }, limit: { type: 'integer', minimum: 1, maximum: 50 },
        next: { type: 'string', format: 'uri-reference', nullable: true, description: 'Verweis auf die nächste Seite, relativ zur Adresse der Anfrage.' },
        calls: { type: 'array', maxItems: 50, items: ref('CallSummary') },
      }),
      Funder: obj({ id: { type: 'string' }, name: { type: 'string' }, city: { type: 'string' }, website: { type: 'string', format: 'uri' }, callCount: { type: 'integer', minimum: 0, description: 'Zahl der Ausschreibungen dieser Förderstelle.' } }),
      Statistics: obj({
        total: { type: 'integer', minimum: 0 },
        byStatus: { type: 'object', description: 'Zahl der Ausschreibungen je Stand.', required: STATUS, properties: Object.fromEntries(STATUS.map((s) => [s, { type: 'integer', minimum: 0 }])) },
        byFunder: { type: 'array', description: 'Zahl der Ausschreibungen je Förderstelle, nach Kennung geordnet.', items: obj({ funder: { type: 'string' }, calls: { type: 'integer', minimum: 0 } }) },
      }),
      Problem: { type: 'object', required: ['type', 'title', 'status', 'code'], properties: {
        type: { type: 'string', format: 'uri-reference' }, title: { type: 'string' }, status: { type: 'integer' }, detail: { type: 'string' }, code: { type: 'string' },
        errors: { type: 'array', items: { type: 'object', required: ['parameter', 'message'], properties: { parameter: { type: 'string' }, message: { type: 'string' } } } },
      } },
    },
  },
};
