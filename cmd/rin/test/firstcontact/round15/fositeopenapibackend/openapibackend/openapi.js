'use strict';
const { ARTEN, THEMEN } = require('./daten');
const { LEBENSDAUER } = require('./tokens');

const ref = (art, n) => ({ $ref: `#/components/${art}/${n}` });
const S = (n) => ref('schemas', n);
const str = { type: 'string' }, datum = { type: 'string', format: 'date' }, zeit = { type: 'string', format: 'date-time' }, uri = { type: 'string', format: 'uri' };
const obj = (properties, mehr) => ({ type: 'object', required: Object.keys(properties), properties, ...mehr });
const liste = (items, mehr) => ({ type: 'array', items, ...mehr });

module.exports = function dokument(base) {
  const kopf = {
    ETag: { description: 'Schwacher Validator der Darstellung.', schema: { type: 'string', pattern: '^W/"[^"]+"$' } },
    Vary: { schema: { type: 'string' } },
    'Cache-Control': { schema: { const: 'private, no-cache' } },
  };
  const sprachkopf = { ...kopf, 'Content-Language': { description: 'Sprache der Texte.', schema: { type: 'string', enum: ['de', 'en'] } } };
  const detailkopf = { ...sprachkopf, 'Last-Modified': { description: 'Der Zeitpunkt des Feldes geaendert.', schema: str } };
  const listenkopf = {
    'X-Total-Count': { required: true, description: 'Zahl aller Treffer auf allen Seiten.', schema: { type: 'integer', minimum: 0 } },
    Link: { description: 'rel="first": die erste Seite; rel="next": die nächste Seite mit denselben Filtern, derselben Ordnung und derselben Seitengröße (fehlt auf der letzten Seite). RFC 8288.', schema: str },
  };
  const op = (operationId, summary, schema, headers, parameters, fehler, mehr) => ({ get: {
    operationId, summary, parameters, ...mehr,
    responses: {
      200: { description: 'Erfolg', headers, content: { 'application/json': { schema } } },
      304: { description: 'Die Darstellung des Clients ist aktuell (RFC 9110, 15.4.5).' },
      400: ref('responses', 'Anfragefehler'), 401: ref('responses', 'OhneToken'), 403: ref('responses', 'OhneRolle'),
      ...(fehler === 404 ? { 404: ref('responses', 'Unbekannt') } : {}),
      406: ref('responses', 'KeinJson'), 412: ref('responses', 'Vorbedingung'),
    } } });
  const q = (name, description, schema, mehr) => ({ name, in: 'query', description, schema, ...mehr });
  const kennung = { name: 'kennung', in: 'path', required: true, schema: str };
  const sprache = { name: 'Accept-Language', in: 'header', description: 'Gewünschte Sprache (RFC 9110, 12.5.4): de oder en; sonst de.', schema: str };
  const seite = [
    q('anzahl', 'Höchstzahl der Einträge einer Seite; Ziffern ohne führende Null.', { type: 'integer', minimum: 1, maximum: 50, default: 20 }),
    q('weiter', 'Fortsetzung aus dem Verweis rel="next". Gilt nur mit denselben Filtern und derselben Ordnung; anzahl darf sich ändern. Jeder andere Wert: 400.', { type: 'string', minLength: 1, maxLength: 200 }),
  ];
  const zeitfilter = { ...zeit, pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})$' };
  const problem = { 'application/problem+json': { schema: S('Problem') } };
  const challenge = { 'WWW-Authenticate': { description: 'Bearer (RFC 6750).', schema: str } };
  const kurz = {
    kennung: { type: 'string', pattern: '^MHS-[0-9]{2}-[0-9]{3}$' }, titel: { type: 'string', description: 'In der Sprache von Content-Language.' }, art: S('Art'),
    foerdergeber: obj({ kennung: str, name: str }), beginn: { ...datum, description: 'Erster Tag der Einreichung.' },
    stichtag: { type: ['string', 'null'], format: 'date', description: 'Letzter Tag der Einreichung; null genau bei der Art LAUFEND.' },
    betrag: { oneOf: [S('Betrag'), { type: 'null' }], description: 'null: nicht veröffentlicht.' },
    themen: liste(S('Thema'), { uniqueItems: true }), geaendert: zeit,
  };
  const frist = { nr: { type: 'integer', minimum: 1 }, bezeichnung: str, zeitpunkt: zeit };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Förderausschreibungen der Montanhochschule', version: '3.0.0',
      description: [
        'Alle Ressourcen sind nur lesbar: GET, HEAD und OPTIONS; jede andere Methode wird mit 405 und dem Feld Allow beantwortet. HEAD antwortet mit den Feldern von GET.',
        'Listen sind JSON-Arrays; geblättert wird mit dem Feld Link. Verschiedene Filter gelten gemeinsam (UND), mehrere Werte eines Filters wahlweise (ODER).',
        'Nicht deklarierte Abfrageparameter und ungültige Werte werden mit 400 beantwortet. Leere Werte sind ungültig.',
        'Fehler sind Problem Details (RFC 9457). Die Validatoren sind schwach: If-None-Match wird schwach verglichen, If-Match trifft nur mit *. If-Modified-Since und If-Unmodified-Since gelten, wo es Last-Modified gibt.',
        'Antworten sind JSON in UTF-8; ein Feld Accept, das application/json ausschließt, führt zu 406. gzip und br werden angeboten. Range wird nicht beachtet.',
        `Zugriffstoken (JWT, RFC 9068) gelten ${LEBENSDAUER} Sekunden. Nach 10 Fehlversuchen eines Clients binnen einer Minute antwortet der Token-Endpunkt für ihn 15 Sekunden lang mit 429 und Retry-After; eine gelungene Anmeldung setzt die Zählung zurück.`,
      ].join('\n\n'),
    },
    servers: [{ url: `${base}/mhs/funding/v3` }],
    security: [{ ris: ['ris.lesen'] }],
    paths: {
      '/ausschreibungen': op('ausschreibungenAuflisten', 'Ausschreibungen suchen', liste(S('Kurz'), { maxItems: 50 }), { ...sprachkopf, ...listenkopf }, [
        q('suche', 'Text im deutschen oder im englischen Titel, gleich welche die Sprache der Antwort ist; Groß- und Kleinschreibung (auch der Umlaute) sind gleich. Keine Platzhalter.', { type: 'string', minLength: 2, maxLength: 60 }),
        q('foerdergeber', 'Kennungen von Fördergebern; eine unbekannte trifft nichts.', liste({ type: 'string', minLength: 1 }, { minItems: 1, maxItems: 8 }), { style: 'form', explode: true }),
        q('art', 'Arten, durch Komma getrennt.', liste(S('Art'), { minItems: 1, maxItems: 4 }), { style: 'form', explode: false }),
        q('thema', 'Ausschreibungen zu diesem Thema.', S('Thema')),
        q('stichtagVon', 'Stichtag an diesem Tag oder später; laufende haben keinen und fehlen.', datum),
        q('stichtagBis', 'Stichtag an diesem Tag oder früher; laufende haben keinen und fehlen.', datum),
        q('geaendertSeit', 'Geändert zu diesem Zeitpunkt oder später.', zeitfilter),
        q('mindestbetrag', 'Betrag mindestens so hoch; ohne Exponent, höchstens zwei Nachkommastellen. Ausschreibungen ohne Betrag fehlen.', { type: 'number', minimum: 0, maximum: 100000000 }),
        q('ordnung', 'Ordnung; mit Minus absteigend. Einträge ohne den Wert stehen in beiden Richtungen am Ende. Gleiche stehen aufsteigend nach kennung.', { type: 'string', enum: ['kennung', 'stichtag', '-stichtag', 'betrag', '-betrag', 'geaendert', '-geaendert'], default: 'kennung' }),
        ...seite, sprache], 400),
      '/ausschreibungen/{kennung}': op('ausschreibungLesen', 'Eine Ausschreibung', S('Ausschreibung'), detailkopf, [kennung, sprache], 404),
      '/foerdergeber': op('foerdergeberAuflisten', 'Fördergeber, nach kennung', liste(S('Foerdergeber'), { maxItems: 50 }), { ...kopf, ...listenkopf }, [q('ort', 'Genau dieser Ort.', { type: 'string', minLength: 1 }), ...seite], 400),
      '/foerdergeber/{kennung}': op('foerdergeberLesen', 'Ein Fördergeber', S('Foerdergeber'), kopf, [kennung], 404),
      '/fristen': op('fristenAuflisten', 'Fristen aller Ausschreibungen', liste(S('FristEintrag'), { maxItems: 50 }), { ...kopf, ...listenkopf }, [
        q('von', 'Zu diesem Zeitpunkt oder später.', zeitfilter), q('bis', 'Zu diesem Zeitpunkt oder früher.', zeitfilter),
        q('ausschreibung', 'Nur Fristen dieser Ausschreibung; eine unbekannte trifft nichts.', { type: 'string', minLength: 1 }), ...seite], 400,
      { description: 'Nach zeitpunkt, dann ausschreibung, dann nr. Jede Frist jeder Ausschreibung ist ein Eintrag.' }),
      '/themen': op('themenZaehlen', 'Themen und Zahl ihrer Ausschreibungen', liste(obj({ thema: S('Thema'), anzahl: { type: 'integer', minimum: 0 } }), { description: 'Jedes Thema einmal, auch mit 0; alphabetisch.' }), kopf, [], 400),
    },
    components: {
      securitySchemes: { ris: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: `${base}/realms/mhs/protocol/openid-connect/token`, scopes: { 'ris.lesen': 'Lesen; das Dienstkonto braucht außerdem die Rolle EXTERNAL_API_CLIENT' } } } } },
      responses: {
        Anfragefehler: { description: 'Ein Parameter ist ungültig oder nicht deklariert, oder die Anfrage trägt mehrere Felder Authorization.', content: problem },
        OhneToken: { description: 'Kein gültiges Zugriffstoken für diese Ressource.', headers: challenge, content: problem },
        OhneRolle: { description: 'Dem Dienstkonto fehlt die Rolle EXTERNAL_API_CLIENT.', headers: challenge, content: problem },
        Unbekannt: { description: 'Es gibt keinen Eintrag mit dieser Kennung.', content: problem },
        KeinJson: { description: 'Accept schließt application/json aus.', content: problem },
        Vorbedingung: { description: 'If-Match oder If-Unmodified-Since trifft nicht zu.', content: problem },
      },
      schemas: {
        Art: { type: 'string', enum: ARTEN }, Thema: { type: 'string', enum: THEMEN },
        Betrag: obj({ waehrung: { const: 'EUR' }, wert: { type: 'number', minimum: 0 } }),
        Kurz: obj(kurz),
        Ausschreibung: obj({ ...kurz, beschreibung: { type: 'string', description: 'In der Sprache von Content-Language.' },
          fristen: liste(obj(frist), { description: 'Nach nr; leer bei der Art LAUFEND. Die letzte endet am Stichtag.' }), kontakt: obj({ name: str, email: { type: 'string', format: 'email' } }),
          verweis: uri, erstellt: { ...zeit, description: 'Nicht nach geaendert.' } }, { description: 'Die Felder von Kurz haben hier dieselben Werte.' }),
        Foerdergeber: obj({ kennung: str, name: str, ort: str, webseite: uri, ausschreibungen: { type: 'integer', minimum: 0, description: 'Zahl seiner Ausschreibungen.' } }),
        FristEintrag: obj({ ausschreibung: { type: 'string', description: 'Kennung der Ausschreibung.' }, ...frist }),
        Problem: { type: 'object', required: ['type', 'title', 'status', 'detail'], properties: { type: { type: 'string', format: 'uri-reference' }, title: str, status: { type: 'integer' }, detail: str } },
      },
    },
  };
};
