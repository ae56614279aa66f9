'use strict';
// The opportunities of the Technische Hochschule Wallsee. `audience`: the affiliation that alone may see it, or null.

const TARGET_GROUPS = {
  students: ['Studierende', 'Students'],
  doctoral: ['Doktorandinnen und Doktoranden', 'Doctoral researchers'],
  postdoc: ['Postdocs', 'Postdoctoral researchers'],
  senior: ['Etablierte Forschende', 'Senior researchers'],
  sme: ['Kleine und mittlere Unternehmen', 'Small and medium-sized enterprises'],
  public_body: ['Öffentliche Stellen', 'Public bodies'],
};

const AGENCIES = [
  ['bww', 'Bundeswerk Wissenschaft', 'Federal Works of Science'],
  ['bww.2', 'Bundeswerk Wissenschaft, Außenstelle Linz', 'Federal Works of Science, Linz office'],
  ['donau-stiftung', 'Donaustiftung', 'Danube Foundation'],
  ['F&E/OÖ', 'Forschung & Entwicklung Oberösterreich', 'Research & Development Upper Austria'],
  ['Haus Enns', 'Haus Enns für angewandte Forschung', 'Enns House of Applied Research'],
  ['nordlicht+', 'Nordlicht plus', 'Northern Light plus'],
].map(([id, de, en]) => ({id, name: {de, en}, homepage: `https://agenturen.example/${encodeURIComponent(id)}`}));

const TOPICS = [
  ['Wasserkraft im Kleinen', 'small-scale hydropower'], ['Ziegel aus Klärschlamm', 'bricks from sewage sludge'], ['Sichere Software für Bahnen', 'safe railway software'],
  ['Donauschifffahrt', 'Danube shipping'], ['Textilrecycling', 'textile recycling'], ['Fernwärme', 'district heating'], ['Lawinenvorhersage', 'avalanche forecasting'],
  ['Drohnen in der Landwirtschaft', 'drones in agriculture'], ['Hörgeräte', 'hearing aids'], ['Keramische Werkstoffe', 'ceramic materials'],
  ['Digitale Denkmalpflege', 'digital heritage'], ['Mikroplastik', 'microplastics'], ['Batteriealterung', 'battery ageing'],
];
const KINDS = [['grant', 'Projektförderung', 'Project grant'], ['fellowship', 'Forschungsaufenthalt', 'Fellowship'], ['prize', 'Preis', 'Prize'], ['voucher', 'Innovationsscheck', 'Innovation voucher']];
const SUBJECTS = ['energy', 'materials', 'transport', 'health', 'culture', 'water'];
const GROUPS = Object.keys(TARGET_GROUPS);

/** A time of day in Wallsee, with the offset that holds there. */
function local(day, time) {
  const summer = day.slice(5) >= '03-31' && day.slice(5) < '10-25';
  return `${day}T${time}${summer ? '+02:00' : '+01:00'}`;
}
const day = (from, days) => new Date(Date.parse(from) + days * 86400000).toISOString().slice(0, 10);

const OPPORTUNITIES = [];
let n = 0;
for (const [de, en] of TOPICS) {
  for (const [kind, kindDe, kindEn] of KINDS) {
    n++;
    const opens = day('2025-03-01', (n * 23) % 640);
    const closes = n % 7 === 0 ? '2027-01-29' : day(opens, 45 + (n * 31) % 420);
    OPPORTUNITIES.push({
      id: `thw-${String(n * 37 % 1000).padStart(3, '0')}${n % 4 === 0 ? '.b' : ''}`,
      kind,
      title: {de: `${kindDe}: ${de}`, en: `${kindEn}: ${en}`},
      abstract: {
        de: `Für Arbeiten über „${de}“ an Hochschulen und in Betrieben. Größere Vorhaben sind möglich, wenn zwei Häuser gemeinsam einreichen.`,
        en: `For work on “${en}” at universities and in companies. Larger projects are possible if two houses apply together.`,
      },
      agency: AGENCIES[(n * 5) % AGENCIES.length].id,
      target_groups: n % 3 === 0 ? [GROUPS[n % 6], GROUPS[(n + 2) % 6], GROUPS[(n + 3) % 6]] : [GROUPS[n % 6], GROUPS[(n + 1) % 6]],
      subjects: [SUBJECTS[n % 6], SUBJECTS[(n * 2 + 1) % 6]].filter((s, i, all) => all.indexOf(s) === i),
      opens_at: local(opens, '00:00:00'),
      deadline: n % 10 === 4 ? null : n % 6 === 5 ? `${closes}T23:59:59Z` : local(closes, n % 2 ? '12:00:00' : '17:00:00'),
      budget: n % 8 === 3 ? null : {maximum: 5000 + n * n * 375, currency: n % 12 === 5 ? 'NOK' : 'EUR'},
      audience: n % 16 === 9 ? 'ror.org/04thw0a1' : n % 16 === 2 ? 'ror.org/05don0b2' : n % 16 === 13 ? 'ror.org/09kei0c3' : null,
    });
  }
}
const odd = (id, titleDe, titleEn, opens_at, deadline, maximum) => OPPORTUNITIES.push({
  id, kind: 'grant', title: {de: titleDe, en: titleEn}, abstract: {de: `${titleDe}.`, en: `${titleEn}.`}, agency: 'F&E/OÖ', target_groups: ['senior'],
  subjects: ['culture'], opens_at, deadline, budget: {maximum, currency: 'EUR'}, audience: null,
});
odd('1871/Nr. 4', 'Kaiserliche Widmung', 'Imperial endowment', '1871-05-04T00:00:00+01:00', '1918-11-11T12:00:00+01:00', 0);
odd('a+b', 'Summe & Rest', 'Sum & remainder', '2026-01-01T00:00:00Z', '2028-02-29T23:59:59+14:00', 1000000000);
odd('ewig%20', 'Ewiger Fonds', 'Perpetual fund', '1000-01-01T00:00:00Z', '9999-12-31T23:59:59Z', 1);
odd('Ö?=7', 'Sonderprogramm „Öl“', 'Special programme “oil”', '2027-06-01T00:00:00+02:00', '2027-09-30T12:00:00-05:00', 77);
OPPORTUNITIES.sort((a, b) => (a.id < b.id ? -1 : 1));

module.exports = {TARGET_GROUPS, AGENCIES, OPPORTUNITIES, SUBJECTS, KINDS: KINDS.map(k => k[0])};
