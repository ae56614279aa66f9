'use strict';
// Generated funding calls, the same at every start.
function zufall(seed) { // mulberry32
  return (n) => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return (((t ^ (t >>> 14)) >>> 0) % n);
  };
}
const z = zufall(20261128);
const ARTEN = ['AUSSCHREIBUNG', 'LAUFEND', 'PREIS', 'STIPENDIUM'];
const THEMEN = ['gesundheit', 'klima', 'kunst', 'mobilität', 'sprache', 'technik'];
const foerdergeber = [
  ['fg-01', 'Österreichische Mikrobenstiftung', 'Wien'], ['fg-02', 'Förderverein Großglockner', 'Lienz'], ['fg-03', 'Mürztaler Innovationsfonds', 'Mürzzuschlag'],
  ['fg-04', 'Bundesländerstelle für Forschung', 'Wien'], ['fg-05', 'Stiftung „Schöne Künste“', 'Salzburg'], ['fg-06', 'Ärztekammer, Wissenschaftsfonds', 'Graz'],
  ['fg-07', 'Weiß & Söhne Privatstiftung', 'Steyr'], ['fg-08', 'Universitätsrat', 'Innsbruck'], ['fg-09', 'Fonds Übermorgen', 'Dornbirn'],
].map(([kennung, name, ort]) => ({ kennung, name, ort, webseite: `https://${kennung}.example/` }));
const was = [['Förderprogramm', 'Funding programme'], ['Nachwuchspreis', 'Early career prize'], ['Reisestipendium', 'Travel grant'], ['Gerätebeschaffung', 'Equipment'], ['Großprojekt', 'Large project'], ['Öffentlichkeitsarbeit', 'Public relations']];
const wofuer = [['Gewässerschutz', 'water protection'], ['mündliche Überlieferung', 'oral tradition'], ['Straßenbahnen', 'tramways'], ['Herz-Kreislauf-Erkrankungen', 'cardiovascular diseases'],
  ['Höhlenmalerei', 'cave painting'], ['50 % weniger CO₂', '50 % less CO₂'], ['„offene“ Daten & Software', '“open” data & software'], ['Käferarten', 'beetles'], ['Fuß_Verkehr', 'foot_traffic']];
const tag = (ms) => new Date(ms).toISOString().slice(0, 10);
const sek = (ms) => new Date(ms).toISOString().replace('.000Z', 'Z');
const TAG = 86400000;
const bezeichnungen = ['Skizze', 'Vollantrag', 'Präsentation'];
const ausschreibungen = [];
for (let i = 1; i <= 143; i++) {
  const [wd, we] = was[z(was.length)], [fd, fe] = wofuer[z(wofuer.length)];
  const fg = foerdergeber[z(8)];
  const art = ARTEN[z(ARTEN.length)];
  const beginn = Date.UTC(2026, 0, 12) + z(400) * TAG;
  const stichtag = art === 'LAUFEND' ? null : beginn + (30 + z(10) * 10) * TAG;
  const erstellt = Math.min(beginn - 40 * TAG, Date.UTC(2026, 9, 1)) - z(86400 * 20) * 1000;
  const geaendert = erstellt + z(86400 * 30) * 1000;
  const fristen = [];
  if (stichtag !== null) {
    const n = 1 + z(3);
    // the last one ends on the closing day at 11:00 UTC
    for (let k = 1; k <= n; k++) fristen.push({ nr: k, bezeichnung: bezeichnungen[k - 1], zeitpunkt: sek(stichtag - (n - k) * 21 * TAG + 11 * 3600000) });
  }
  ausschreibungen.push({
    kennung: `MHS-${tag(beginn).slice(2, 4)}-${String(i * 3).padStart(3, '0')}`,
    titel: { de: `${wd} ${fd}`, en: `${we}: ${fe}` },
    beschreibung: {
      de: `${fg.name} fördert Vorhaben zum Gegenstand ${fd}. Anträge sind ausschließlich elektronisch möglich.`,
      en: `${fg.name} supports projects on ${fe}. Applications are possible in electronic form only.`,
    },
    art,
    foerdergeber: { kennung: fg.kennung, name: fg.name },
    beginn: tag(beginn),
    stichtag: stichtag === null ? null : tag(stichtag),
    betrag: z(8) === 0 ? null : { waehrung: 'EUR', wert: z(5) === 0 ? (z(9000000) + 100) / 100 : (1 + z(120)) * 2500 },
    themen: THEMEN.filter(() => z(3) === 0),
    fristen,
    kontakt: { name: ['Jörg Müller', 'Renée Weiß', 'Anna Größl', 'Zoë Šimić'][z(4)], email: `anfragen@${fg.kennung}.example` },
    verweis: `https://${fg.kennung}.example/ausschreibungen/${i * 3}`,
    erstellt: sek(erstellt),
    geaendert: sek(geaendert),
  });
}
ausschreibungen.sort((a, b) => (a.kennung < b.kennung ? -1 : 1));
const fristen = ausschreibungen.flatMap((a) => a.fristen.map((f) => ({ ausschreibung: a.kennung, ...f })));
fristen.sort((a, b) => cmp(a.zeitpunkt, b.zeitpunkt) || cmp(a.ausschreibung, b.ausschreibung) || a.nr - b.nr);
function cmp(a, b) { return a < b ? -1 : a > b ? 1 : 0; }
module.exports = { ARTEN, THEMEN, ausschreibungen, foerdergeber, fristen, cmp };
