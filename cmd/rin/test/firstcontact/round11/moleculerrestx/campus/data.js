"use strict";
// Generated call records of the campus node; the seed is fixed.

function rng(seed) {
	let s = seed >>> 0;
	return () => {
		s = (s + 0x6d2b79f5) >>> 0;
		let t = Math.imul(s ^ (s >>> 15), 1 | s);
		t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
		return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
	};
}
const r = rng(20260411);
const pick = list => list[Math.floor(r() * list.length)];
const pad = (n, w) => String(n).padStart(w, "0");

const funders = [
	{ id: "fwf", name: "Fonds für Wissenschaft", country: "AT", website: "https://fwf.invalid/" },
	{ id: "ffg", name: "Forschungsagentur", country: "AT", website: "https://ffg.invalid/" },
	{ id: "erc", name: "European Research Board", country: "BE", website: "https://erc.invalid/" },
	{ id: "snf", name: "Nationalfonds Bern", country: "CH", website: "https://snf.invalid/" },
	{ id: "dfg", name: "Gemeinschaft Bonn", country: "DE", website: "https://dfg.invalid/" },
	{ id: "stadt", name: "Stadt Wien Kultur", country: "AT", website: "https://stadt.invalid/" }
];
const themes = ["Quantum Optics", "Urban Soils", "Ältere Sprachen", "Rare Diseases", "Alpine Water", "Open Science",
	"Digital Heritage", "Battery Chemistry", "Gender Studies", "Glacier Archives", "Legal History", "Robotics & Care"];
const forms = ["Starting Grant", "Network Call", "Mobility Award", "Pilot Projects", "Doctoral School", "Infrastructure"];
const tagNames = ["basic-research", "applied", "early-career", "international", "industry", "infrastructure", "mobility"];
const targets = ["UNIVERSITY", "RESEARCH_INSTITUTE", "COMPANY", "NGO"];

// Offset of Europe/Vienna on a day of 2026 or 2027 (daylight saving time changes on Sundays at 01:00 UTC).
function viennaOffset(date) {
	const sunday = (y, m) => {
		const d = new Date(Date.UTC(y, m + 1, 0));
		return new Date(Date.UTC(y, m, d.getUTCDate() - d.getUTCDay())).toISOString().slice(0, 10);
	};
	const y = Number(date.slice(0, 4));
	return date >= sunday(y, 2) && date < sunday(y, 9) ? 2 : 1;
}

const calls = [];
for (let i = 1; i <= 64; i++) {
	const day = new Date(Date.UTC(2026, 0, 12) + Math.floor(r() * 520) * 86400000).toISOString().slice(0, 10);
	const local = `${day}T${pick(["12:00:00", "17:00:00", "23:59:00"])}`;
	const published = new Date(Date.parse(day) - (40 + Math.floor(r() * 90)) * 86400000).toISOString().slice(0, 10);
	const status = day < "2026-09-01" ? "CLOSED" : published > "2026-11-20" ? "ANNOUNCED" : "OPEN";
	const funder = pick(funders);
	const theme = pick(themes), form = pick(forms);
	const first = Math.floor(r() * tagNames.length);
	calls.push({
		id: `cmp-${pad(1000 + i * 7, 4)}`,
		title: `${theme}: ${form} ${2026 + (i % 2)}`,
		funderId: funder.id,
		status,
		local,
		day,
		publishedOn: published,
		budget: { amount: (1 + Math.floor(r() * 60)) * 25000, currency: funder.id === "snf" ? "CHF" : "EUR" },
		tags: [...new Set([tagNames[first], tagNames[(first + 1 + Math.floor(r() * 3)) % tagNames.length]])].sort(),
		description: `${funder.name} supports ${form.toLowerCase()} proposals in the field “${theme}”.`,
		overheadPercent: i % 13 === 6 ? 0 : pick([5, 10, 15, 20, 25]),
		durationMonths: pick([6, 12, 24, 36, 48]),
		targetGroups: targets.filter((_, n) => n === i % 4 || r() < 0.35),
		contact: { name: pick(["A. Huber", "B. Novák", "C. O’Neill", "D. Weiß"]), email: `calls@${funder.id}.invalid` }
	});
}
for (const c of calls) {
	c.deadline = `${c.local}+0${viennaOffset(c.day)}:00`;
	c.instant = Date.parse(c.deadline);
}
module.exports = { calls, funders, tagNames, targets };
