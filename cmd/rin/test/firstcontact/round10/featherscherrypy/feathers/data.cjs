// Records of the node: made by rule, the same at every start.
'use strict'
const types = ['PROGRAMME', 'CALL', 'ONGOING_CALL', 'RESEARCH_CONTRACT', 'AWARD', 'GRANT', 'SCHOLARSHIP']
const targetGroups = ['UNIVERSITY', 'UNIVERSITY_OF_APPLIED_SCIENCES', 'PRIVATE_UNIVERSITY', 'RESEARCH_INSTITUTE', 'COMPANY', 'PRIVATE_NON_PROFIT', 'INDEPENDENT_RESEARCHER', 'GOVERNMENT']
const regions = ['VIENNA', 'BURGENLAND', 'LOWER_AUSTRIA', 'CARINTHIA', 'UPPER_AUSTRIA', 'SALZBURG', 'STYRIA', 'TYROL', 'VORARLBERG']
const characteristics = ['INTERNATIONAL_PROGRAMME', 'NATIONAL_PROGRAMME', 'INDIVIDUAL_PROJECT', 'CONSORTIUM', 'PERSONAL_GRANT', 'NETWORKING']
const sorts = ['id', '-id', 'deadline', '-deadline', 'volume', '-volume']
const themes = [
  ['Alpine Wasserkreisläufe', 'Alpine water cycles'], ['Quantensensorik', 'Quantum sensing'], ['Seltene Erkrankungen', 'Rare diseases'],
  ['Mehrsprachigkeit in der Schule', 'Multilingualism at school'], ['Holzbau & Kreislaufwirtschaft', 'Timber construction & circular economy'],
  ['Gletscherrückzug', 'Glacier retreat'], ['Künstliche Intelligenz in der Pflege', 'Artificial intelligence in care'], ['Öffentliche Archive', 'Public archives'],
  ['Lawinenprognose', 'Avalanche forecasting'], ['Grüner Wasserstoff', 'Green hydrogen']
]
const affiliations = ['AFF-0471-UIBK', 'AFF-0822-MUI', 'AFF-0390-FHK']
const funders = Array.from({ length: 34 }, (_, i) => ({
  id: 'ORG' + String(301 + i * 7),
  name: [
    { lang: 'de', trans: 'O', text: ['Tiroler Forschungsfonds', 'Stiftung Bergwissen', 'Land Tirol, Abteilung Wissenschaft', 'Alpenraum-Förderverein'][i % 4] + ' ' + (i + 1) },
    { lang: 'en', trans: 'H', text: ['Tyrolean Research Fund', 'Mountain Knowledge Foundation', 'State of Tyrol, Science Department', 'Alpine Support Association'][i % 4] + ' ' + (i + 1) }
  ],
  website: `https://funder-${i + 1}.nordkette.example/`
}))
const iso = (ms) => new Date(ms).toISOString().replace('.000Z', 'Z')
const day = 86400000
const fundings = Array.from({ length: 127 }, (_, i) => {
  const theme = themes[i % themes.length]
  const type = types[(i * 5 + (i >> 3)) % types.length]
  const start = Date.UTC(2026, 0, 5, 8) + ((i * 37) % 60) * 14 * day
  const end = start + (45 + (i % 4) * 60) * day + 9 * 3600000
  const changed = Date.UTC(2025, 2, 1, 6, 30, 15) + ((i * 53) % 127) * 4 * day + (i % 24) * 3600000
  const funder = funders[(i * 3) % 12]
  const restricted = i % 11 === 6
  const record = {
    id: 'NK' + String(20000 + i * 13),
    type,
    name: [
      { lang: 'de', trans: 'O', text: `${theme[0]} – Ausschreibung ${i + 1}` },
      { lang: 'en', trans: i % 3 ? 'H' : 'M', text: `${theme[1]} – call ${i + 1}` }
    ],
    funder: [{ funderType: 'EXECUTIVE_ORGANISATION', funder }],
    characteristics: [characteristics[i % 6], characteristics[(i + 2) % 6]],
    targetGroups: [targetGroups[i % 8], targetGroups[(i * 3 + 1) % 8]].filter((x, n, all) => all.indexOf(x) === n),
    eligibleApplicantsRegions: [regions[(i * 2) % 9], regions[(i * 2 + 4) % 9]],
    subjects: [{ fraction: 0.75, value: String(101 + (i % 9)) }, { fraction: 0.25, value: String(201 + (i % 7)) }],
    fundingScheme: type,
    legalType: i % 2 ? 'PROJECT26' : 'PROJECT27',
    callStages: [{ number: '1', callStageStart: iso(start), callStageEnd: iso(end) }],
    amount: { currency: 'EUR', amount: [25000, 60000.5, 120000, 250000, 749999.99, 1500000][(i * i + i) % 11 % 6] },
    fullyFunded: i % 5 !== 0,
    applicationLanguages: i % 4 ? ['de', 'en'] : ['en'],
    website: [`https://www.nordkette.example/foerderung/${i + 1}`],
    updatedAt: iso(changed),
    access: restricted ? 'RESTRICTED' : 'OPEN',
    sortKeys: { id: i, start, end, changed, funder: funder.id }
  }
  if (i % 3 === 0) record.acronym = 'NK-' + (i + 1)
  if (restricted) record.affiliationId = affiliations[Math.floor(i / 11) % 3]
  return record
})
const role = 'EXTERNAL_API_CLIENT'
const clients = [
  { id: 'ris-ext-uibk-8f41c6d27a93', secret: 'Zq7+Vw/2k%E9:tR&x4=Lm~Hc81pYd3GsNvB6', serviceAccount: '5be0d7b2-61d4-4b13-9d2d-0f6a83a1c501', affiliation: affiliations[0], roles: ['default-roles', role] },
  { id: 'ris-ext-trial-20cc7714be5d', secret: 'mJ9%40hT+r3/QwXe:7Kp&Vb=5sUzF~2LyNdA', serviceAccount: '77a1f0c9-2b4e-4d7f-8a3a-19e2c0f4d602', affiliation: affiliations[0], roles: ['default-roles', 'EXTERNAL_API_TRIAL'] },
  { id: 'ris-ext-proj-b7de03915f2a', secret: 'cD4/Gy+8n%25W:zP&j6=Xt~Rb39mKs5QvHfE', serviceAccount: 'a90c2f3e-8c57-4f0b-b6c4-3cf1b0a7e703', affiliation: affiliations[0], roles: ['default-roles', role], audience: 'nordkette-projects' },
  { id: 'ris-ext-mui-61a9e2f8c07b', secret: 'uF2+Kx/5v%7Eq:Bn&g8=Wd~Ty64hSc1ZrJmP', serviceAccount: 'c3d8b6a1-0e92-4a6d-9f15-6e7d2b98a804', affiliation: affiliations[1], roles: ['default-roles', role] }
]
const stagingClients = [
  { id: 'ris-staging-test-3e58d0a7', secret: 'sT6/Hp+1w%3DRy:Ve&k9=Gm~Qb27xLc4NfZd', serviceAccount: 'e6f1a2d4-73b8-4c09-8e21-92a0c7b5f905', affiliation: affiliations[0], roles: ['default-roles', role] }
]
module.exports = { types, targetGroups, regions, characteristics, sorts, funders, fundings, clients, stagingClients }
