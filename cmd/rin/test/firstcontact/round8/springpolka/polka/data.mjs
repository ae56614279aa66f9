// Sample data of the node: funders and funding calls, built once at start.
import { createHash } from 'node:crypto';

export const REGIONS = ['VIENNA', 'BURGENLAND', 'LOWER_AUSTRIA', 'CARINTHIA', 'UPPER_AUSTRIA', 'SALZBURG', 'STYRIA', 'TYROL', 'VORARLBERG'];
export const TARGETS = ['UNIVERSITY', 'UNIVERSITY_OF_APPLIED_SCIENCES', 'NON_UNIVERSITY_RESEARCH', 'SME', 'LARGE_ENTERPRISE', 'INDIVIDUAL'];

const T = (de, en) => [{ language: 'de', text: de }, { language: 'en', text: en }];

export const FUNDERS = [
  { id: 'at-fwz', names: T('Fonds für Wissenschaft und Zukunft', 'Fund for Science and the Future'), country: 'AT', website: 'https://fwz.example/' },
  { id: 'at-loe', names: T('Land Oberösterreich, Forschungsförderung', 'Province of Upper Austria, Research Funding'), country: 'AT', website: 'https://foerderung.ooe.example/' },
  { id: 'at-wiss', names: T('Wiener Stiftung für Grundlagenforschung', 'Vienna Foundation for Basic Research'), country: 'AT', website: 'https://wsg.example/' },
  { id: 'si-ars', names: [{ language: 'sl', text: 'Agencija za raziskave in študije' }, ...T('Agentur für Forschung und Studien', 'Agency for Research and Studies')], country: 'SI', website: 'https://ars.example/' },
  { id: 'cz-gaz', names: [{ language: 'cs', text: 'Grantová agentura Západ' }, ...T('Förderagentur West', 'Grant Agency West')], country: 'CZ', website: 'https://gaz.example/' },
  { id: 'hu-kut', names: [{ language: 'hu', text: 'Kutatási Alap Győr' }, ...T('Forschungsfonds Győr', 'Research Fund of Győr')], country: 'HU', website: 'https://kutatas.example/' },
];

const TOPICS = [
  ['Künstliche Intelligenz', 'Artificial Intelligence', 'KI'], ['Grüner Wasserstoff', 'Green Hydrogen', 'H2'],
  ['Alpine Ökosysteme', 'Alpine Ecosystems', 'ALP'], ['Quantensensorik', 'Quantum Sensing', 'QS'],
  ['Gesundheit im höheren Alter', 'Health in Later Life', 'AGE'], ['Digitale Geisteswissenschaften', 'Digital Humanities', 'DH'],
  ['Kreislaufwirtschaft', 'Circular Economy', 'CIRC'], ['Seltene Krankheiten', 'Rare Diseases', 'RARE'],
  ['Mobilität im ländlichen Raum', 'Rural Mobility', 'MOB'], ['Bodenschutz & Wasser', 'Soil Protection & Water', 'SOIL'],
  ['Mehrsprachigkeit', 'Multilingualism', 'LANG'], ['Gletscher und Permafrost', 'Glaciers and Permafrost', 'ICE'],
];
const FORMS = [
  ['Einzelprojekte', 'Stand-alone Projects'], ['Doktoratskolleg', 'Doctoral School'], ['Kooperative Forschung', 'Collaborative Research'],
  ['Sondierung', 'Exploratory Study'], ['Brückenprogramm Österreich–Mitteleuropa', 'Bridge Programme Austria–Central Europe'],
  ['Forschungsinfrastruktur', 'Research Infrastructure'], ['Nachwuchsförderung „Weiterdenken“', 'Early Career Support “Thinking Ahead”'], ['Förderlinie größere Vorhaben', 'Funding Line for Larger Projects'],
];
const PEOPLE = ['Jörg Müßig', 'Žana Kovačič', 'Eliška Nováková', 'Gyöngyvér Őry', 'Anna Größl', 'Łukasz Wójcik', 'María Núñez', 'Øyvind Aas', 'Çağla Yılmaz'];

// A small repeatable generator, so that every start has the same data.
function random(seed) {
  let s = seed >>> 0;
  return (n) => { s = (Math.imul(s, 1664525) + 1013904223) >>> 0; return Math.floor((s / 4294967296) * n); };
}
const DAY = 86400000;

export function makeCall(i, count, updated) {
  const rnd = random(7919 * (i + 3));
  const topic = TOPICS[i % TOPICS.length];
  const form = FORMS[Math.floor(i / TOPICS.length) % FORMS.length];
  const year = 2026 + (i % 2);
  const funder = FUNDERS[rnd(11) % FUNDERS.length];
  const id = 'fd-' + createHash('sha256').update('call ' + i).digest('hex').slice(0, 12);
  // Opening and closing are far from the day of the start in either direction.
  const opens = Date.UTC(2026, 0, 12, 8) + rnd(520) * DAY;
  const closes = opens + (40 + rnd(260)) * DAY + 14 * 3600000 + 59 * 60000 + 59000; // 22:59:59Z, the end of the day in Vienna (winter)
  const targets = TARGETS.filter(() => rnd(3) === 0);
  const regions = rnd(4) === 0 ? REGIONS.filter(() => rnd(3) === 0) : [];
  const stages = [{ number: 1, opens, closes }];
  if (rnd(3) === 0) stages.push({ number: 2, opens: closes + 30 * DAY, closes: closes + 75 * DAY });
  let budget = (50 + rnd(2400)) * 2500;
  if (i === 58) budget = 2750000000;
  return {
    id, updated, opens, closes,
    acronym: `${topic[2]}-${year}-${String(i + 1).padStart(2, '0')}`,
    names: T(`${topic[0]}: ${form[0]} ${year}`, `${topic[1]}: ${form[1]} ${year}`),
    descriptions: T(
      `Die Ausschreibung fördert Vorhaben zum Thema „${topic[0]}“. Anträge können auf Deutsch oder Englisch gestellt werden; die Förderquote beträgt höchstens ${50 + rnd(50)} %.`,
      `The call supports work on “${topic[1]}”. Applications may be written in German or English.`),
    funderId: funder.id,
    budget: i % 13 === 5 ? null : { amount: budget, currency: 'EUR' },
    fundingRate: (50 + rnd(101) / 2) / 100,
    targetGroups: targets.length ? targets : ['UNIVERSITY'],
    regions, stages,
    contact: { name: PEOPLE[rnd(PEOPLE.length)], email: `calls@${funder.website.slice(8, -1)}` },
    website: `${funder.website}calls/${id}`,
  };
}

export function makeCalls(count) {
  const list = [];
  for (let i = 0; i < count; i++) {
    // The calls 44 to 52 came with one import and share the time of their last change.
    const step = i >= 44 && i <= 52 ? 44 : i;
    const updated = Date.UTC(2026, 10, 20, 6, 30, 15, 250) - step * (19 * 3600000 + 7 * 60000 + 131);
    list.push(makeCall(i, count, updated));
  }
  return list;
}
