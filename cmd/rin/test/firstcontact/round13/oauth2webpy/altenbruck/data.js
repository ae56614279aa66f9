'use strict';
// The calls that the research office of Altenbruck has annotated.

const FUNDERS = [
  { id: 'F1', name: 'Forschungsfonds Altenbruck', country: 'AT' },
  { id: 'F10', name: 'Österreichische Akademie für Quellenkunde', country: 'AT' },
  { id: 'F12', name: 'Danube Research Council', country: 'AT' },
  { id: 'R&D-Fonds', name: 'R&D-Fonds der Wirtschaft', country: 'AT' },
  { id: 'EU/HE', name: 'European Union, Horizon programmes', country: 'BE' },
  { id: 'Brücke+', name: 'Stiftung „Brücke"', country: 'DE' },
  { id: 'snf-bern', name: 'Swiss Alpine Science Fund', country: 'CH' },
];
const TYPES = ['PROGRAMME', 'CALL', 'ONGOING_CALL', 'AWARD', 'GRANT', 'SCHOLARSHIP'];
const REGIONS = ['VIENNA', 'BURGENLAND', 'LOWER_AUSTRIA', 'CARINTHIA', 'UPPER_AUSTRIA', 'SALZBURG', 'STYRIA', 'TYROL', 'VORARLBERG'];
const GROUPS = ['UNIVERSITY', 'UNIVERSITY_OF_APPLIED_SCIENCES', 'RESEARCH_INSTITUTE', 'COMPANY', 'NON_PROFIT'];

// en | de | acronym | type | funder | regions | groups | opens | deadline | amount | currency
const ROWS = `
Glacier retreat and alpine water|Gletscherschwund und alpines Wasser|GLAW|CALL|snf-bern|7,5|0,2|2026-01-15|2026-04-30|450000|CHF
Quantum materials for cold electronics|Quantenmaterialien für kalte Elektronik|QUMA|CALL|F12|0,6|0,2|2026-02-01|2026-06-30|1250000.5|EUR
Doctoral school in digital humanities|Doktoratsschule Digitale Geisteswissenschaften||SCHOLARSHIP|F10|0|0|2025-09-01|2025-12-15|96000|EUR
Start-up bridge for young researchers|Gründungsbrücke für junge Forschende|SUB|GRANT|Brücke+|0,2,4|0,1|2026-03-01|2027-03-01|75000|EUR
Open laboratory infrastructure|Offene Laborinfrastruktur|OLI|PROGRAMME|F1||0,1,2|2025-01-01||3000000|EUR
Industrial doctorates "in situ"|Industriedissertationen „vor Ort"|INDO|CALL|R&D-Fonds|4,6|0,3|2026-05-04|2026-10-02|240000|EUR
Soil carbon in vineyards, wetlands and pastures|Bodenkohlenstoff in Weingärten, Mooren und Weiden|SOCA|CALL|F12|1,2|0,2|2026-01-10|2026-04-30|380000|EUR
Award for reproducible research|Preis für reproduzierbare Forschung||AWARD|F10||0,1,2|2026-06-01|2026-09-30|15000|EUR
Mission ocean and waters|Mission Ozean und Gewässer|MOW|CALL|EU/HE||0,2,3|2026-02-17|2026-09-16|8500000|EUR
Rolling mobility grants|Laufende Mobilitätszuschüsse|ROMO|ONGOING_CALL|F1|3,5,7|0|2024-01-01||2500|EUR
Small languages of the Danube|Kleine Sprachen an der Donau|SLD|CALL|F12|0,1,2,4|0,4|2026-07-01|2026-12-01|210000.75|EUR
Battery recycling pilots|Pilotanlagen für Batterierecycling|BARE|CALL|R&D-Fonds|6|3|2026-02-01|2026-06-30|1900000|EUR
Musicology fellowships|Stipendien für Musikwissenschaft||SCHOLARSHIP|Brücke+|0|0|2026-01-01|2026-01-31|42000|EUR
Health data spaces|Gesundheitsdatenräume|HDS|CALL|EU/HE||0,1,2,3|2026-10-01|2027-02-17|6000000|EUR
Citizen science in Tyrol|Citizen Science in Tirol|CST|CALL|F1|7|0,4|2026-11-01|2027-01-31|60000|EUR
Women in engineering chairs|Professuren für Frauen in der Technik|WINE|PROGRAMME|F10|6,0|0|2025-05-05|2028-12-31|1600000|EUR
Equipment vouchers|Geräteschecks||ONGOING_CALL|R&D-Fonds||1,3|2025-03-01||10000|EUR
Alpine permafrost sensing|Permafrostmessung in den Alpen|APS|CALL|snf-bern|7,3|2|2026-03-15|2026-04-30|510000|CHF
Machine learning for archives|Maschinelles Lernen für Archive|MLA|CALL|F10|0,5|0,2,4|2026-01-15|2026-02-28|130000|EUR
Rare diseases network|Netzwerk Seltene Erkrankungen|RDN|CALL|EU/HE||0,2|2026-04-01|2026-09-16|4000000|EUR
Timber construction beyond eight storeys|Holzbau über acht Geschosse|TIMB|CALL|R&D-Fonds|8,7,3|1,3|2026-02-02|2026-06-30|720000|EUR
Young curators prize|Preis für junge Kuratierende||AWARD|Brücke+|0,6|4|2026-05-01|2026-05-31|5000|EUR
Return grants|Rückkehrstipendien|RET|GRANT|F1||0,2|2026-01-01|2026-12-31|180000|EUR
Plasma physics beam time|Strahlzeit Plasmaphysik|PLAB|GRANT|F12|0|0,2|2026-08-01|2026-11-30|0|EUR
Flood forecasting on small rivers|Hochwasserprognose an kleinen Flüssen|FLOOD|CALL|F12|2,4|0,2,3|2026-09-01|2026-12-01|330000|EUR
Ethics of automated decisions|Ethik automatisierter Entscheidungen|EAD|CALL|F10|0|0,1|2026-10-15|2027-01-15|99000.25|EUR
Apprentice to researcher|Von der Lehre in die Forschung|A2R|SCHOLARSHIP|R&D-Fonds|4|1,3|2026-02-01|2026-03-31|18000|EUR
Heritage in danger|Kulturerbe in Gefahr|HID|CALL|EU/HE||0,4|2026-01-20|2026-09-16|2000000|EUR
Particle detectors, series B|Teilchendetektoren, Serie B|PADE|CALL|F12|0|0,2|2025-11-01|2026-01-31|2750000|EUR
Bilateral programme Austria–Slovenia|Bilaterales Programm Österreich–Slowenien|ATSI|PROGRAMME|F1|3,6|0,2|2025-10-01|2026-02-28|120000|EUR
Food chains without plastics|Lebensmittelketten ohne Plastik|FCP|CALL|R&D-Fonds|2,4|0,3|2026-11-15|2027-04-15|640000|EUR
Lecture series grants|Zuschüsse für Vortragsreihen||ONGOING_CALL|Brücke+||0,1,4|2023-06-01||1500|EUR
Hydrogen in steel making|Wasserstoff in der Stahlerzeugung|HYST|CALL|R&D-Fonds|4,6|0,2,3|2026-01-07|2026-06-30|5200000|EUR
Early modern prints|Drucke der frühen Neuzeit|EMP|CALL|F10|0,5|0,4|2026-03-01|2026-08-31|88000|EUR
Snow and avalanche models|Schnee- und Lawinenmodelle|SAM|CALL|snf-bern|7,8,5|0,2|2026-06-15|2026-10-31|295000|CHF
Nursing research|Pflegeforschung|NURS|CALL|F1|5,6,7|1,2|2026-09-15|2026-12-31|150000|EUR
Distinguished visitor grant|Gastprofessuren|DVG|GRANT|F12||0|2026-01-01|2026-12-31|54000|EUR
Bio-based polymers|Biobasierte Polymere|BBP|CALL|EU/HE||0,2,3|2026-05-06|2026-09-16|7300000|EUR
Urban heat islands|Städtische Hitzeinseln|UHI|CALL|F12|0,6,4|0,1|2026-11-28|2027-03-31|410000|EUR
Teaching innovation award|Preis für innovative Lehre||AWARD|F10||0,1|2026-02-15|2026-04-15|7500|EUR
Microscopy for all|Mikroskopie für alle|MICA|GRANT|F1|0|0,2|2025-12-01|2026-01-31|33000|EUR
Rural mobility tests|Mobilitätstests im ländlichen Raum|RUMO|CALL|R&D-Fonds|1,2,3|1,3,4|2026-08-20|2026-12-01|275000|EUR
Arctic stations access|Zugang zu arktischen Stationen|ARC|CALL|snf-bern||0,2|2026-09-09|2026-11-29|47000|CHF
Postdoc tandem|Postdoc-Tandem|TAND|SCHOLARSHIP|F10|0,7|0|2026-10-01|2026-12-15|132000|EUR
Green chemistry seed money|Anschubfinanzierung Grüne Chemie|GCS|GRANT|R&D-Fonds|6,4|0,1|2026-01-01|2026-03-31|20000|EUR
Border regions history|Geschichte der Grenzregionen|BRH|CALL|F12|1,3|0,4|2026-04-04|2026-07-31|69000|EUR
Satellite payload studies|Studien für Satellitennutzlasten|SPS|CALL|EU/HE||0,2,3|2026-03-24|2026-08-27|1500000|EUR
`.trim().split('\n');

// ids as the office has given them over the years
const ODD = {
  3: 'ALT/2026/4', 8: '100%-Preis', 12: 'Käfer & Co', 17: 'a+b=c', 21: 'FLUSS;27', 24: 'q?x#y', 30: 'ALT-30b', 31: 'ALT-30B',
  33: "O'Hara:7", 38: 'x%2Fy', 42: 'ALT 2026 42', 45: '~tilde_1',
};
const pick = (list, s) => (s === '' ? [] : s.split(',').map((i) => list[Number(i)]));

const FUNDINGS = ROWS.map((row, i) => {
  const [en, de, acronym, type, funderId, regions, groups, opens, deadline, amount, currency] = row.split('|');
  const n = i + 1;
  const funder = FUNDERS.find((f) => f.id === funderId);
  const record = {
    id: ODD[n] || `ALT-2026-${String(n).padStart(4, '0')}`,
    type,
    name: [{ lang: 'en', value: en }, { lang: 'de', value: de }],
    funder: { id: funder.id, name: funder.name },
    regions: pick(REGIONS, regions),
    targetGroups: pick(GROUPS, groups),
    opens,
    deadline: deadline || null,
    volume: { amount: Number(amount), currency },
    updated: new Date(Date.UTC(2026, i % 11, 1 + (i * 7) % 27, (i * 5) % 24, (i * 13) % 60, (i * 17) % 60)).toISOString().replace('.000Z', 'Z'),
  };
  if (acronym) record.acronym = acronym;
  const detail = {
    description: [
      { lang: 'en', value: `${en}.\nApplications go to ${funder.name}${deadline ? ` until ${deadline}` : ' at any time'}.` },
      { lang: 'de', value: `${de}.\nAnträge gehen an: ${funder.name}${deadline ? `, bis ${deadline}` : ', jederzeit'}.` },
    ],
    website: `https://altenbruck.invalid/calls/${n}`,
    contact: { name: n % 3 ? 'Büro für Forschungsförderung' : 'Mag.ᵃ Ilse Wörgötter', email: `funding+${n}@altenbruck.invalid` },
    applicationLanguages: n % 4 === 0 ? ['de'] : ['en', 'de'],
    maxProjectMonths: 6 * (1 + (n * 5) % 8),
    cofundingRequired: type !== 'AWARD' && n % 2 === 0,
  };
  return { record, detail };
});

module.exports = { FUNDERS, TYPES, REGIONS, GROUPS, FUNDINGS };
