'use strict';
const { REGIONS } = require('./params');
let seed = 20261;
const rnd = (n) => { seed = (seed * 48271) % 2147483647; return seed % n; };
const pick = (a) => a[rnd(a.length)];
const funders = [
  { id: 'FWF', name: 'Fonds zur Förderung der wissenschaftlichen Forschung', city: 'Wien' },
  { id: 'FFG', name: 'Forschungsförderungsgesellschaft', city: 'Wien' },
  { id: 'ÖAW', name: 'Akademie der Wissenschaften', city: 'Wien' },
  { id: 'NÖ-GFF', name: 'Gesellschaft für Forschungsförderung Niederösterreich', city: 'St. Pölten' },
  { id: 'ZUK-STMK', name: 'Zukunftsfonds Steiermark', city: 'Graz' },
  { id: 'TWF', name: 'Wissenschaftsförderung Tirol', city: 'Innsbruck' },
  { id: 'JUB', name: 'Jubiläumsstiftung für Kärntner Geschichte & Kultur', city: 'Klagenfurt am Wörthersee' },
].map((f) => ({ ...f, website: 'https://' + f.id.toLowerCase().replace(/ö/g, 'oe').replace(/[^a-z]/g, '') + '.invalid/' }));
const kinds = ['Ausschreibung', 'Förderpreis', 'Stipendium', 'Sonderprogramm', 'Anschubförderung', 'Öffnungsrunde', 'Übergangsförderung'];
const topics = ['Quantenphysik', 'Ökologie der Flüsse', 'Künstliche Intelligenz', 'Mittelalterliche Handschriften', 'Gesundheit im Alter', 'Straßenverkehr & Lärm', 'Bodenkunde', 'Zähe Werkstoffe', 'Müllvermeidung', 'Alpine Gefahren', 'Bürgerbeteiligung', 'Frühförderung', 'Energiespeicher', 'Römische Archäologie', 'Süßwasserbiologie', 'Äußere Sicherheit', 'Übersetzungswissenschaft'];
const groups = ['Nachwuchs', 'Konsortien', 'Einzelvorhaben', 'Großgeräte', 'Tagungen', 'Gastaufenthalte'];
const iso = (t) => new Date(t).toISOString();
const today = Date.UTC(2026, 0, 15);
const calls = [];
for (let i = 1; i <= 137; i++) {
  const id = 'UDN-' + String(1000 + i * 7).padStart(5, '0');
  const topic = pick(topics);
  const status = pick(['OPEN', 'OPEN', 'CLOSED', 'PLANNED']);
  const opensT = today + (status === 'PLANNED' ? 400 + rnd(300) : status === 'CLOSED' ? -900 + rnd(300) : -200 + rnd(100)) * 86400000;
  let opens = iso(opensT).slice(0, 10);
  let deadline = iso(opensT + (status === 'CLOSED' ? 30 + rnd(60) : 600 + rnd(400)) * 86400000).slice(0, 10);
  if (i % 29 === 0) { deadline = '9999-12-31'; }
  if (i % 41 === 0) { opens = '0001-01-01'; }
  const funder = pick(funders);
  const regions = REGIONS.filter(() => rnd(4) === 0);
  if (!regions.length) regions.push(pick(REGIONS));
  const amount = i % 13 === 0 ? null : i % 5 === 0 ? 10000 * (1 + rnd(400)) + 0.5 : 10000 * (1 + rnd(400));
  const title = `${pick(kinds)} „${topic}“ für ${pick(groups)} ${2026 + rnd(3)}`;
  calls.push({
    id, title, funder: funder.id, status, regions, opens, deadline, amount, currency: 'EUR',
    summary: `Gefördert werden Vorhaben zum Thema ${topic}.`,
    description: `Mit dieser Ausschreibung fördert die Einrichtung ${funder.name} Vorhaben zum Thema ${topic}. Anträge sind in deutscher oder englischer Sprache möglich; die Begutachtung erfolgt schriftlich. Für Rückfragen steht die Geschäftsstelle in ${funder.city} zur Verfügung – bitte nennen Sie stets die Kennung ${id}.`,
    keywords: [topic, pick(groups)],
    contact: { name: pick(['Dr. Jörg Müßig', 'Mag. Änne Öllinger', 'Zoë Kürşat', 'Łukasz Grün', 'Ines O’Hara']), email: 'auskunft@' + funder.website.slice(8, -1) },
    website: funder.website + 'ausschreibungen/' + id,
    modified: iso(Date.UTC(2025, rnd(12), 1 + rnd(28), rnd(24), rnd(60), rnd(60))).replace('.000Z', 'Z'),
  });
}
module.exports = { funders, calls };
