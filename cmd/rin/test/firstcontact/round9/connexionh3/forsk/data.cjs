'use strict';
// Sample data: calls and providers, in memory.
const PROVIDERS = [
  ['nordforsk', 'Nordisk forskningsråd', 'NO'], ['aalesund', 'Stiftelsen Ålesunds Vitenskap', 'NO'],
  ['tiede', 'Suomen Tiedesäätiö', 'FI'], ['frodskapur', 'Fróðskaparráð Føroya', 'FO'],
  ['zinatne', 'Rīgas Zinātnes fonds', 'LV'], ['teadus', 'Tartu Ülikooli Teadusfond', 'EE'],
  ['dnf', 'Deutsch-Nordische Forschungsstiftung „Brücke“', 'DE'],
].map(([provider_id, name, country], i) => ({ provider_id, name, country,
  founded: 1921 + 13 * i, homepage: `https://${provider_id}.example/` }));

const TOPICS = [
  ['Havforskning', 'Ocean research', 'ocean'], ['Språkvitenskap', 'Linguistics', 'humanities'],
  ['Fornybar energi', 'Renewable energy', 'energy'], ['Fjellskred', 'Rock avalanches', 'geo'],
  ['Kjønnsforskning', 'Gender studies', 'humanities'], ['Maskinlæring', 'Machine learning', 'ict'],
  ['Torskefiske', 'Cod fishery', 'ocean'], ['Nordlys', 'Northern lights', 'space'],
  ['Folkehelse', 'Public health', 'health'], ['Øyøkologi', 'Island ecology', 'geo'],
  ['Samisk kultur', 'Sámi culture', 'humanities'], ['Bølgekraft', 'Wave power', 'energy'],
];
const KINDS = [['stipend', 'fellowship', 'fellowship'], ['prosjektstøtte', 'project grant', 'project'],
  ['nettverk', 'network', 'network'], ['reisestøtte', 'travel grant', 'travel'],
  ['forskerskole', 'research school', 'project']];
const DEADLINES = ['2025-02-14', '2025-09-01', '2026-03-15', '2026-09-01', '2026-12-15',
  '2027-02-15', '2027-04-30', '2027-09-01', '2028-02-29', '2028-10-05'];

function addDays(date, days) {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * 86400000).toISOString().slice(0, 10);
}

function makeCall(i) {
  const topic = TOPICS[(i * 5) % TOPICS.length];
  const kind = KINDS[(i * 3 + (i >> 2)) % KINDS.length];
  const shared = DEADLINES[(i * 7 + (i >> 3)) % DEADLINES.length];
  const deadline = i % 6 === 5 ? addDays(shared, i % 40) : shared;
  const opens_on = addDays(deadline, -30 - (i * 29) % 200);
  const year = deadline.slice(0, 4);
  return {
    call_id: 41003 + i * 7,
    title: { nb: `${topic[0]} – ${kind[0]} ${year}`, en: `${topic[1]} – ${kind[1]} ${year}` },
    summary: {
      nb: `Støtte til «${topic[0].toLowerCase()}». Søkere får hjelp på norsk og engelsk.`,
      en: `Support for “${topic[1].toLowerCase()}”. Applicants get help in Norwegian and English.`,
    },
    provider_id: PROVIDERS[(i * i + 2 * i) % PROVIDERS.length].provider_id,
    opens_on,
    deadline,
    tags: [...new Set([topic[2], kind[2], ...(i % 4 === 0 ? ['nordic'] : [])])],
    budget_nok: [250000, 1200000, 75000, 18000000, 3500000][(i * 11) % 5] + (i % 7) * 1000,
    success_rate: i % 5 === 0 ? null : Math.round(((i * 37) % 60) + 5) / 100,
    updated: new Date(Date.UTC(2026, 9, 1 + (i * 17) % 50, (i * 5) % 24, (i * 13) % 60, i % 60, 250))
      .toISOString(),
    contact_email: `utlysning+${41003 + i * 7}@${PROVIDERS[(i * i + 2 * i) % PROVIDERS.length].provider_id}.example`,
    eligibility: ['university', ...(i % 2 ? ['institute'] : []), ...(i % 3 ? [] : ['company'])],
    documents: Array.from({ length: i % 4 }, (_, n) => ({ document_id: `${41003 + i * 7}-${n + 1}`,
      filename: ['Vilkår.pdf', 'Søknadsskjema.docx', 'Budsjettmal.xlsx'][n],
      bytes: 20480 + i * 997 + n * 4096 })),
  };
}

const calls = Array.from({ length: 96 }, (_, i) => makeCall(i));
module.exports = { calls, makeCall, providers: PROVIDERS };
