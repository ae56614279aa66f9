'use strict';
// In-memory repository of funding calls, filled with made-up data.

const FUNDERS = [
  { id: 'f-101', name: 'Nordische Stiftung für Meeresforschung', country: 'DE', homepage: 'https://meer.example/' },
  { id: 'f-102', name: 'Ministerium für Bildung – Referat 4', country: 'DE', homepage: 'https://ministerium.example/foerderung' },
  { id: 'f-103', name: 'Fundación Española de Ciencia', country: 'ES', homepage: 'https://fundacion.example/' },
  { id: 'f-104', name: 'Agence de l’innovation régionale', country: 'FR', homepage: 'https://agence.example/appels' },
  { id: 'f-105', name: 'Íslenski rannsóknasjóðurinn', country: 'IS', homepage: 'https://sjodur.example/' },
];
const KINDS = ['CALL', 'ONGOING_CALL', 'PROGRAMME', 'GRANT', 'AWARD'];
const REGIONS = ['COAST', 'NORTH', 'WEST', 'EAST', 'SOUTH'];
const TOPICS = [
  ['Algenblüten in der Ostsee', 'Algal blooms in the Baltic Sea'],
  ['Straßenlärm und Gesundheit', 'Road noise and health'],
  ['Windkraft auf See', 'Offshore wind power'],
  ['Übersetzungsgeschichte', 'History of translation'],
  ['Große Sprachmodelle für kleine Sprachen', 'Large language models for small languages'],
  ['Moorböden als Kohlenstoffspeicher', 'Peat soils as carbon stores'],
  ['Denkmalpflege – Rømø bis Łeba', 'Preservation of monuments – Rømø to Łeba'],
];
const WORDS = {
  CALL: ['Ausschreibung', 'Call'], ONGOING_CALL: ['Fortlaufende Förderung', 'Ongoing funding'],
  PROGRAMME: ['Programm', 'Programme'], GRANT: ['Zuwendung', 'Grant'], AWARD: ['Preis', 'Award'],
};
// Submission days: most funders use the same ends of months.
const DAYS = ['2026-12-31', '2027-01-15', '2027-01-31', '2027-02-28', '2027-03-15', '2027-03-31', '2027-04-30', '2027-05-15',
  '2027-06-30', '2027-09-15', '2027-09-30', '2027-12-31'];
const VOLUMES = [5000, 8500, 12000, 25000, 40000, 75000, 90000, 120000, 250000, 400000, 900000, 1500000, 2000000];

function generator(seed) {
  let state = seed;
  return (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 4294967296) * n);
  };
}

class Store {
  constructor(count) {
    this.calls = new Map();
    this.funders = new Map(FUNDERS.map((funder) => [funder.id, funder]));
    this.next = generator(20261126);
    for (let n = 1; n <= count; n += 1) this.add(n);
  }

  add(n) {
    const { next } = this;
    const kind = KINDS[next(KINDS.length)];
    const topic = TOPICS[next(TOPICS.length)];
    const deadline = DAYS[next(DAYS.length)];
    const first = next(REGIONS.length);
    const regions = REGIONS.filter((_, i) => i === first || next(4) === 0);
    const id = `${((n * 2654435761) >>> 0).toString(16).padStart(8, '0')}-${String(n).padStart(3, '0')}`;
    const call = {
      id,
      kind,
      title: { de: `${WORDS[kind][0]} „${topic[0]}“ Nr. ${n}`, en: `${WORDS[kind][1]} “${topic[1]}” no. ${n}` },
      abstract: {
        de: `Gefördert werden Vorhaben zum Thema ${topic[0]}. Rückfragen beantwortet die Geschäftsstelle.`,
        en: `Funding for projects about: ${topic[1]}. The office answers questions.`,
      },
      funderId: FUNDERS[next(FUNDERS.length)].id,
      regions,
      deadline,
      volume: VOLUMES[next(VOLUMES.length)],
      quota: Number((10 + next(80) + next(10) / 10).toFixed(1)),
      stages: Array.from({ length: 1 + next(2) }, (_, i) => ({
        number: i + 1, opens: '2026-10-01T06:00:00Z', closes: `${deadline}T${10 + next(8)}:00:00+01:00`,
      })),
      version: 1 + next(9),
      updatedAt: new Date(Date.UTC(2026, next(10), 1 + next(28), next(24), next(60))).toISOString(),
    };
    this.calls.set(id, call);
    return call;
  }
}

module.exports = { Store, KINDS, REGIONS };
