// Reads the public pages of a registry in the Chromium of this machine, at two widths and in both colour schemes, with all details open, and prints as JSON what
// axe-core and the keyboard found.
//
//   node accessible.mjs ORIGIN CHROMIUM FOLDER PATH...
import { start } from "./browser.mjs";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [, , origin, executablePath, folder, ...paths] = process.argv;
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const { page, violations, end } = await start(executablePath, folder);
const seen = { checks: [], overflows: [], keyboard: [], errors: [] };
page.on("pageerror", (error) => seen.errors.push(String(error)));

// check runs all rules of axe-core but the experimental ones. The pages forbid scripts, so axe-core comes in through the debugger.
const check = async (view) => {
  await page.evaluate(axe);
  const result = await page.evaluate(() => window.axe.run(document, {
    runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"], resultTypes: ["violations"],
  }));
  const found = result.violations.map((v) => `${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(" | ")}`);
  seen.checks.push({ view, passed: result.passes.map((p) => p.id), found });
};

// walk presses Tab until the focus leaves the page, at most 60 times, and lists stops that cannot be seen.
const walk = async (view) => {
  const stops = [];
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press("Tab");
    const stop = await page.evaluate(() => {
      const e = document.activeElement;
      if (!e || e === document.body) return null;
      const box = e.getBoundingClientRect();
      const style = getComputedStyle(e);
      const shown = box.width > 0 && box.height > 0 && box.right > 0 && box.bottom > 0 && box.left < innerWidth && box.top < innerHeight;
      return { html: e.outerHTML.slice(0, 120), shown, outlined: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0 };
    });
    if (!stop) break;
    stops.push(stop);
  }
  seen.keyboard.push({ view, stops: stops.length, first: stops[0]?.html ?? "", hidden: stops.filter((s) => !s.shown || !s.outlined).map((s) => s.html) });
};

for (const path of paths) {
  for (const width of [400, 1200]) {
    await page.setViewportSize({ width, height: 900 });
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme, media: "screen" });
      await page.goto(origin + path);
      await page.evaluate(() => document.querySelectorAll("details").forEach((d) => (d.open = true)));
      const view = `${path} ${width} ${colorScheme}`;
      await check(view);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      if (wide > 0) seen.overflows.push(`${view}: ${wide} px`);
    }
    await page.goto(origin + path);
    await walk(`${path} ${width}`);
  }
  await page.emulateMedia({ colorScheme: "dark", media: "print" });
  await page.goto(origin + path);
  await check(path + " print");
}

// The check is checked: a page with three mistakes.
await page.emulateMedia({ colorScheme: "light", media: "screen" });
await page.goto(origin + paths[0]);
await page.evaluate(() => {
  document.documentElement.removeAttribute("lang");
  document.querySelector("footer").style.color = "#ddd";
  document.querySelector("main").append(document.createElement("img"));
});
await check("with mistakes");
seen.violations = violations;
seen.connections = await end();
console.log(JSON.stringify(seen));
