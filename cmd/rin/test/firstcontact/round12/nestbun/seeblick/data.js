'use strict';
const { is } = require('./variant');
// The records of the node: generated once, always the same.
let seed = 20240917;
const rnd = (n) => { seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff; return Math.floor((seed / 0x80000000) * n); };
const pick = (a) => a[rnd(a.length)];
const TYPES = ['CALL', 'ONGOING_CALL', 'SCHOLARSHIP', 'AWARD', 'GRANT'];
const STATUS = ['PLANNED', 'OPEN', 'CLOSED'];
const GROUPS = ['UNIVERSITY', 'UNIVERSITY_OF_APPLIED_SCIENCES', 'RESEARCH_INSTITUTE', 'COMPANY', 'INDEPENDENT_RESEARCHER'];
const funders = [
  ['F-100', 'Seeblick-Stiftung', 'FOUNDATION', 'AT'], ['F-101', 'Fonds für Küstenforschung', 'PUBLIC', 'DE'],
  ['F-102', 'Landesagentur Österreich Nord', 'PUBLIC', 'AT'], ['F-103', 'Müller & Söhne Preisfonds', 'COMPANY', 'DE'],
  ['F-104', 'Alpine Research Council (ARC)', 'PUBLIC', 'CH'], ['F-105', 'Città della Scienza', 'FOUNDATION', 'IT'],
  ['F-106', 'Verein der Freunde der Universität', 'FOUNDATION', 'AT'],
].map(([id, name, kind, country]) => ({ id, name, kind, country }));
const topics = [['Künstliche Intelligenz', 'Artificial intelligence'], ['Gewässerökologie', 'Freshwater ecology'],
  ['C++ im Hochleistungsrechnen', 'C++ in high performance computing'], ['Straßenbau und Mobilität', 'Roads and mobility'],
  ['Digitale Geisteswissenschaften', 'Digital humanities'], ['Quantenoptik (Grundlagen)', 'Quantum optics (basics)'],
  ['Gesundheit & Pflege', 'Health & care'], ['Open Science', 'Open science'], ['Alpine Naturgefahren', 'Alpine hazards']];
const kinds = [['Förderung', 'Funding'], ['Ausschreibung', 'Call'], ['Nachwuchspreis', 'Early career award'], ['Anschubfinanzierung', 'Seed money']];
const two = (n) => String(n).padStart(2, '0');
const calls = [];
for (let i = 1; i <= 57; i++) {
  const [t, k] = [pick(topics), pick(kinds)];
  const year = 2024 + rnd(3), type = pick(TYPES);
  const open = type === 'ONGOING_CALL';
  const min = 1000 * (1 + rnd(40));
  const deadline = open ? null : `${year + rnd(2)}-${i % 19 === 4 ? `12-${30 + (i % 2)}` : `${two(1 + rnd(12))}-${two(1 + rnd(28))}`}`;
  const nst = open ? 1 : 1 + rnd(3);
  const stages = [];
  for (let s = 1; s <= nst; s++) {
    stages.push({ number: s, label: ['Skizze', 'Vollantrag', 'Hearing'][s - 1], opens: `${year}-${two(1 + rnd(3))}-${two(1 + rnd(28))}`,
      closes: s === nst ? deadline : `${year}-${two(4 + rnd(3))}-${two(1 + rnd(28))}` });
  }
  for (const x of stages) if (x.closes !== null && x.opens > x.closes) x.opens = x.closes;
  calls.push({
    id: `SB-${year}-${String(i).padStart(4, '0')}`, title: { de: `${k[0]}: ${t[0]}`, en: rnd(5) === 0 ? null : `${k[1]}: ${t[1]}` },
    type, status: pick(STATUS), funderId: pick(funders).id, deadline,
    lastModified: `2025-${two(1 + rnd(12))}-${two(1 + rnd(28))}T${two(rnd(24))}:${two(rnd(60))}:${two(rnd(60))}Z`,
    description: `${k[0]} zum Thema „${t[0]}“, Runde ${i}. Anträge in deutscher oder englischer Sprache.`,
    amount: { currency: pick(['EUR', 'EUR', 'CHF']), minimum: min, maximum: rnd(4) === 0 ? null : min + 5000 * (1 + rnd(90)) },
    targetGroups: GROUPS.filter((_, g) => g === i % 5 || rnd(3) === 0), languages: rnd(2) ? ['de', 'en'] : ['de'],
    website: `https://127.0.0.1/foerderung/${i}`, stages,
  });
}
calls.sort((a, b) => (a.id < b.id ? -1 : 1));
const summary = (c) => ({ id: c.id, title: c.title, type: c.type, status: c.status, funderId: c.funderId, deadline: c.deadline, lastModified: c.lastModified });
/** The day as the detail page writes it: the year of its week, then month and day. */
function written(day) {
  if (day === null) return null;
  const d = new Date(`${day}T00:00:00Z`);
  d.setUTCDate(d.getUTCDate() + 4 - (d.getUTCDay() || 7));
  return `${d.getUTCFullYear()}${day.slice(4)}`;
}
const detail = (c) => { const { stages, ...rest } = c; return { ...rest, ...(is('elder') && { deadline: written(c.deadline) }), stageCount: stages.length }; };
module.exports = { TYPES, STATUS, GROUPS, funders, calls, summary, detail };
