// The funding calls of the resource server: invented, and the same in every run but for the days, which lie around today.
export const kinds = ['CALL', 'PROGRAMME', 'AWARD'];

const titles = [
  ['Leise Städte', 'Quiet Cities'], ['Offene Methoden', 'Open Methods'], ['Alpine Klimadaten', 'Alpine Climate Data'],
  ['Digitales Erbe', 'Digital Heritage'], ['Junge Köpfe', 'Young Minds'],
];
const funders = [['F-1', 'Fonds für Grundlagen'], ['F-2', 'Agentur für Neues'], ['F-3', 'Jubiläumsstiftung']];
const subjects = ['101018', '102019', '503006', '601022'];

function day(offset) {
  return new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10);
}

export const calls = Array.from({ length: 63 }, (_, i) => {
  const [de, en] = titles[i % titles.length];
  const [id, name] = funders[i % funders.length];
  return {
    id: `call-${String(i + 1).padStart(3, '0')}`,
    kind: kinds[(i * 7) % kinds.length === 0 ? 0 : 1 + (i % 2)],
    title: { de: `${de} ${i + 1}`, en: `${en} ${i + 1}` },
    opens: day(i * 10 - 400),
    closes: i % 9 === 0 ? null : day(i * 10 - 310),
    budget: i % 4 === 0 ? null : (i + 1) * 12_500.5,
    funder: { id, name },
    subjects: subjects.slice(i % 3, 1 + (i % 4)),
    website: `https://calls.example/${i + 1}`,
  };
});
