'use strict';
const { is } = require('./variant');

let seed = 20260917;
const rnd = () => {
  seed |= 0; seed = (seed + 0x6D2B79F5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
};
const int = (a, b) => a + Math.floor(rnd() * (b - a + 1));
const pick = (list) => list[int(0, list.length - 1)];
const day = (n) => new Date(Date.UTC(2025, 0, 1) + n * 86400000).toISOString().slice(0, 10);

const TYPES = ['CALL', 'ONGOING_CALL', 'SCHOLARSHIP', 'AWARD', 'GRANT'];
const REGIONS = ['BURGENLAND', 'CARINTHIA', 'LOWER_AUSTRIA', 'SALZBURG', 'STYRIA', 'TYROL', 'UPPER_AUSTRIA', 'VIENNA', 'VORARLBERG'];
const GROUPS = ['UNIVERSITY', 'UNIVERSITY_OF_APPLIED_SCIENCES', 'RESEARCH_INSTITUTE', 'COMPANY', 'PRIVATE_NON_PROFIT', 'INDEPENDENT_RESEARCHER'];

const funders = [
  ['ffg', 'Österreichische Forschungsförderungsgesellschaft', 'Austrian Research Promotion Agency'],
  ['fwf', 'Fonds zur Förderung der wissenschaftlichen Forschung', 'Austrian Science Fund'],
  ['oeaw', 'Österreichische Akademie der Wissenschaften', 'Austrian Academy of Sciences'],
  ['ludwig', 'Förderverein Ludwig Größinger', 'Ludwig Größinger Association'],
  ['wwtf', 'Wiener Wissenschafts- und Technologiefonds', 'Vienna Science and Technology Fund'],
  ['noe', 'Gesellschaft für Forschungsförderung Niederösterreich', 'Lower Austria Research Promotion'],
  ['stmk', 'Zukunftsfonds Steiermark', 'Future Fund Styria'],
  ['ktn', 'Kärntner Wirtschaftsförderungsfonds', 'Carinthian Business Promotion Fund'],
  ['ooe', 'Oberösterreichische Zukunftsstiftung', 'Upper Austrian Future Foundation'],
  ['tirol', 'Tiroler Wissenschaftsförderung', 'Tyrolean Science Fund'],
  ['vlbg', 'Stiftung „Ländle forscht“', 'Foundation "Ländle Research"'],
  ['jub', 'Jubiläumsfonds der Nationalbank', 'Anniversary Fund of the National Bank'],
  ['koerner', 'Theodor-Körner-Fonds', 'Theodor Körner Fund'],
  ['ruhe', 'Stiftung Übermorgen (ruhend)', 'Day After Tomorrow Foundation (dormant)'],
].map(([id, de, en], i) => ({
  id,
  name: [{ lang: 'de', text: de }, { lang: 'en', text: en }],
  website: `https://${id}.example/`,
  foundedOn: i === 2 ? '1847-05-14' : day(-int(3000, 20000)),
}));

const WHAT = [['Förderung', 'Funding'], ['Ausschreibung', 'Call'], ['Sonderprogramm', 'Special programme'], ['Anschubfinanzierung', 'Seed money'],
  ['Brückenförderung', 'Bridge funding'], ['Nachwuchspreis', 'Early career award'], ['Reisestipendium', 'Travel grant']];
const TOPIC = [['Höchstleistungsrechnen', 'high performance computing'], ['Gewässerökologie', 'freshwater ecology'], ['künstliche Intelligenz', 'artificial intelligence'],
  ['Märchen- und Erzählforschung', 'fairy tale studies'], ['Straßenverkehr und Lärm', 'road traffic and noise'], ['Grünlandwirtschaft', 'grassland farming'],
  ['Mühlen und Wasserkraft', 'mills and hydropower'], ['Übersetzungswissenschaft', 'translation studies'], ['Gefäßchirurgie', 'vascular surgery'],
  ['Quantenoptik', 'quantum optics'], ['alpine Naturgefahren', 'alpine hazards'], ['Völkerrecht', 'international law'], ['Blütenbiologie', 'floral biology']];
const KEYWORDS = ['Nachhaltigkeit', 'Kooperation', 'Grundlagenforschung', 'Schülerinnen und Schüler', 'Öffentlichkeit', 'Prüfverfahren', 'Größe', 'Äquator', 'Energie', 'Daten'];

const calls = [];
for (let n = 1; n <= 137; n++) {
  const type = n % 17 === 0 ? 'ONGOING_CALL' : pick(TYPES.filter((t) => t !== 'ONGOING_CALL'));
  const published = int(0, 900);
  const opens = published + int(0, 40);
  const [wde, wen] = pick(WHAT); const [tde, ten] = pick(TOPIC);
  const funder = funders[int(0, funders.length - 2)];
  const stages = [];
  if (type !== 'ONGOING_CALL') {
    let d = opens + int(20, 200);
    for (let s = 1, k = int(1, 3); s <= k; s++, d += int(15, 120)) {
      stages.push({ number: s, label: [{ lang: 'de', text: s === k ? 'Vollantrag' : s === 1 ? 'Skizze' : 'Kurzantrag (überarbeitet)' }, { lang: 'en', text: s === k ? 'full proposal' : s === 1 ? 'outline' : 'short proposal (revised)' }], closesOn: day(d) });
    }
    if (n === 64) stages.push({ number: stages.length + 1, label: [{ lang: 'de', text: 'Bis auf Widerruf' }, { lang: 'en', text: 'until further notice' }], closesOn: '9999-12-31' });
  }
  const regions = REGIONS.filter(() => rnd() < 0.25);
  calls.push({
    id: `DNB-${day(published).slice(0, 4)}-${String(n * 7 % 1000).padStart(4, '0')}`,
    type,
    title: [{ lang: 'de', text: `${wde} ${tde} ${int(1, 9)}` }, { lang: 'en', text: `${wen}: ${ten} ${n}` }],
    acronym: n % 5 === 0 ? null : 'ÄÖÜßNRW'.charAt(n % 7) + tde.slice(0, 2).toUpperCase() + n,
    funder: { id: funder.id, name: funder.name },
    regions,
    publishedOn: day(published),
    opensOn: day(opens),
    deadline: stages.length ? stages[stages.length - 1].closesOn : null,
    budget: n % 11 === 0 ? null : { amount: n % 23 === 0 ? 0 : int(1, 4000) * 500, currency: 'EUR' },
    description: [{ lang: 'de', text: `Gefördert werden Vorhaben im Bereich „${tde}“. Anträge sind vollständig einzureichen; für Rückfragen genügt ein Anruf.` }, { lang: 'en', text: `Projects in the field of ${ten} are supported.` }],
    targetGroups: GROUPS.filter((g, i) => i === n % 6 || rnd() < 0.3),
    keywords: KEYWORDS.filter(() => rnd() < 0.3),
    stages,
    contact: { name: pick(['Jörg Müßig', 'Zoë Händl', 'Käthe Grün', 'Björn Österreicher', 'Anna Weiß']), email: `${funder.id}@foerderung.example`, phone: n % 4 === 0 ? null : `+43 1 ${int(1000000, 9999999)}` },
    website: `https://${funder.id}.example/calls/${n}`,
    updatedAt: new Date(Date.UTC(2026, 9, 1) + n * 31337000).toISOString().slice(0, 19) + 'Z',
  });
}

const summary = ({ id, type, title, acronym, funder, regions, publishedOn, opensOn, deadline, budget }) =>
  ({ id, type, title, acronym, funder, regions, publishedOn, opensOn, deadline, budget });

const fold = (s) => s.normalize('NFC').toLowerCase();
const byId = (a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

const KEYS = {
  deadline: (c) => c.deadline,
  publishedOn: (c) => c.publishedOn,
  budget: (c) => (c.budget ? c.budget.amount : null),
};

function findCalls(f) {
  let list = calls.filter((c) => {
    if (f.funder !== undefined && c.funder.id !== f.funder) return false;
    if (f.type !== undefined && c.type !== f.type) return false;
    if (f.region !== undefined && !c.regions.includes(f.region)) return false;
    if (f.deadlineFrom !== undefined && !(c.deadline !== null && c.deadline >= f.deadlineFrom)) return false;
    if (f.deadlineTo !== undefined && !(c.deadline !== null && c.deadline <= f.deadlineTo)) return false;
    if (f.ongoing !== undefined && (c.deadline === null) !== f.ongoing) return false;
    if (f.minBudget !== undefined && !(c.budget !== null && c.budget.amount >= f.minBudget)) return false;
    if (f.q !== undefined && !c.title.some((t) => fold(t.text).includes(fold(f.q)))) return false;
    return true;
  });
  const sort = f.sort || 'deadline';
  const down = sort.startsWith('-');
  const key = KEYS[down ? sort.slice(1) : sort];
  list.sort((a, b) => {
    const x = key(a); const y = key(b);
    if (x === null || y === null) return (x === null) - (y === null) || byId(a, b);
    if (x !== y) return (x < y ? -1 : 1) * (down ? -1 : 1);
    return byId(a, b);
  });
  return list.map(summary);
}

const findCall = (id) => calls.find((c) => c.id === id);

const dayAfter = (date) => new Date(Date.parse(date) + 86400000).toISOString().slice(0, 10);

function findDeadlines(f) {
  const end = is('rc-mur') && f.to !== undefined ? dayAfter(f.to) : undefined;
  const out = [];
  for (const c of calls) {
    for (const s of c.stages) {
      if (f.from !== undefined && s.closesOn < f.from) continue;
      if (end !== undefined ? s.closesOn >= end : f.to !== undefined && s.closesOn > f.to) continue;
      out.push({ closesOn: s.closesOn, callId: c.id, stage: s.number, label: s.label });
    }
  }
  return out.sort((a, b) => (a.closesOn < b.closesOn ? -1 : a.closesOn > b.closesOn ? 1 : byId({ id: a.callId }, { id: b.callId }) || a.stage - b.stage));
}

const withCount = (f) => ({ ...f, calls: calls.filter((c) => c.funder.id === f.id).length });
const findFunders = () => [...funders].sort(byId).map(withCount);
const findFunder = (id) => { const f = funders.find((x) => x.id === id); return f && withCount(f); };

function statistics() {
  return {
    calls: calls.length,
    byType: TYPES.map((type) => ({ type, calls: calls.filter((c) => c.type === type).length })),
    byRegion: REGIONS.map((region) => ({ region, calls: calls.filter((c) => c.regions.includes(region)).length })),
    budget: { amount: calls.reduce((s, c) => s + (c.budget ? c.budget.amount : 0), 0), currency: 'EUR' },
  };
}

module.exports = { TYPES, REGIONS, GROUPS, SORTS: Object.keys(KEYS).flatMap((k) => [k, '-' + k]), findCalls, findCall, findDeadlines, findFunders, findFunder, statistics, count: calls.length, calls };
