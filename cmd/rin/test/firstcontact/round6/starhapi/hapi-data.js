'use strict';

// The catalogue of the node. The import of the national portal writes it every night; here it is built once.

const { createHash } = require('node:crypto');

const FUNDERS = [
    { id: 11, name: 'Danmarks Frie Forskningsfond', nameEn: 'Independent Research Fund Denmark', country: 'DK', type: 'PUBLIC' },
    { id: 12, name: 'Forskningsrådet', nameEn: 'Research Council of Norway', country: 'NO', type: 'PUBLIC' },
    { id: 14, name: 'Vetenskapsrådet', nameEn: 'Swedish Research Council', country: 'SE', type: 'PUBLIC' },
    { id: 17, name: 'Novo-stiftelsen', nameEn: 'Novo Foundation (sample)', country: 'DK', type: 'FOUNDATION' },
    { id: 21, name: 'Rannís', nameEn: 'Icelandic Centre for Research', country: 'IS', type: 'PUBLIC' },
    { id: 23, name: 'Suomen Akatemia', nameEn: 'Research Council of Finland', country: 'FI', type: 'PUBLIC' },
    { id: 29, name: 'Ålands kulturstiftelse', nameEn: 'Åland Cultural Foundation', country: 'FI', type: 'FOUNDATION' },
    { id: 31, name: 'Fjordbanken', nameEn: 'Fjord Bank', country: 'NO', type: 'COMPANY' }
];
const CURRENCY = { DK: 'DKK', NO: 'NOK', SE: 'SEK', IS: 'ISK', FI: 'EUR' };
const PROGRAMMES = [
    ['Postdokstipendium', 'Postdoctoral Fellowship'], ['Udstyrspulje', 'Equipment Pool'], ['Rejselegat', 'Travel Grant'],
    ['Centerbevilling', 'Centre of Excellence'], ['Ph.d.-skole', 'PhD School'], ['Frøbevilling', 'Seed Grant'], ['Åben videnskab', 'Open Science Award']
];
const TOPICS = [
    ['havforskning', 'marine research', 'NATURAL'], ['vindenergi', 'wind energy', 'TECHNICAL'], ['runologi', 'runology', 'HUMANITIES'],
    ['folkesundhed', 'public health', 'HEALTH'], ['velfærdsstat', 'welfare state', 'SOCIAL'], ['arktisk klima', 'Arctic climate', 'NATURAL'],
    ['fødevaresikkerhed', 'food safety', 'AGRICULTURAL'], ['robotteknologi', 'robotics', 'TECHNICAL'], ['demens', 'dementia', 'HEALTH'],
    ['sagalitteratur', 'saga literature', 'HUMANITIES'], ['skovbrug', 'forestry', 'AGRICULTURAL'], ['demokrati', 'democracy', 'SOCIAL'], ['algebra', 'algebra', 'NATURAL']
];

const generator = (seed) => () => {

    seed = (seed * 1103515245 + 12345) % 2147483648;
    return seed / 2147483648;
};

const day = (n) => new Date(Date.UTC(2026, 0, 1) + n * 86400000).toISOString().slice(0, 10);

exports.load = (now = new Date()) => {

    const random = generator(4711);
    const pick = (list) => list[Math.floor(random() * list.length)];
    const today = now.toISOString().slice(0, 10);
    const fundings = [];
    const contents = new Map();
    let id = 10200;

    for (const programme of PROGRAMMES) {
        for (const topic of TOPICS) {
            id += 1 + Math.floor(random() * 9);
            const number = fundings.length + 1;
            const funder = pick(FUNDERS);
            // most funders close at the end of a quarter
            const deadline = number % 10 === 0 ? null : pick(['2026-03-31', '2026-06-30', '2026-09-30', '2026-12-18', '2027-03-31', '2027-06-30', '2027-09-30', day(Math.floor(random() * 600))]);
            const start = deadline ? new Date(Date.parse(deadline) - (40 + Math.floor(random() * 120)) * 86400000).toISOString().slice(0, 10) : day(Math.floor(random() * 200));
            const status = deadline && deadline < today ? 'CLOSED' : start > today ? 'UPCOMING' : 'OPEN';
            const max = pick([75000, 120000, 300000, 950000, 2400000, 10000000]);
            const attachments = [];
            for (let n = 1; n <= 1 + (number % 2); ++n) {
                const name = n === 1 ? 'Opslag' : 'Budgetskema';
                const text = `${name}: ${programme[0]}, ${topic[0]}\n\n${funder.name} (${funder.country})\nDer kan søges om op til ${max} ${CURRENCY[funder.country]}.\n`;
                const attachment = { id: id * 10 + n, fileName: `${name.toLowerCase()}-${id}.txt`, mediaType: 'text/plain', bytes: Buffer.byteLength(text), md5: createHash('md5').update(text).digest('hex') };
                attachments.push(attachment);
                contents.set(attachment.id, { funding: id, text });
            }

            fundings.push({
                id,
                titles: [{ lang: 'da', value: `${programme[0]}: ${topic[0]}` }, { lang: 'en', value: `${programme[1]}: ${topic[1]}` }],
                abstract: `${funder.nameEn} invites proposals on ${topic[1]}. Successful projects start within a year.`,
                status,
                area: topic[2],
                funderId: funder.id,
                startDate: start,
                deadline,
                budget: { min: Math.round(max / 10), max, currency: CURRENCY[funder.country] },
                durationMonths: pick([6, 12, 24, 36, 60]),
                contact: number % 4 === 0 ? null : { name: pick(['Søren Ægidius', 'Þóra Jónsdóttir', 'Åsa Lindström', 'Mikko Mäkelä']), email: `opslag@funder${funder.id}.example` },
                keywords: [topic[1], ...(number % 3 ? [pick(['early career', 'interdisciplinary', 'industry partner'])] : [])],
                modified: new Date(Date.UTC(2026, 9, 1) - Math.floor(random() * 200 * 86400) * 1000).toISOString(),
                attachments
            });
        }
    }

    return { fundings, contents, funders: FUNDERS };
};
