// Reads the reference of an API whose document was written by somebody who means harm, and prints as JSON what came of it.
//
//   node stranger.mjs ORIGIN CHROMIUM FOLDER
import { start } from "./browser.mjs";

const [, , origin, executablePath, folder] = process.argv;
const { page, violations, end } = await start(executablePath, folder);
const seen = { answers: [], dialogs: [] };
page.on("response", (response) => seen.answers.push(response.url()));
page.on("dialog", (dialog) => {
  seen.dialogs.push(dialog.message());
  dialog.dismiss();
});

await page.goto(origin + "/docs?document=described-try-out");
await page.locator(".opblock-summary-control").first().click();
await page.locator(".execute").first().click();
await page.locator(".live-responses-table").waitFor();
seen.scriptLinks = await page.evaluate(() => [...document.querySelectorAll("a")].filter((a) => a.protocol === "javascript:").length);
seen.shown = await page.locator("#reference").innerText();
seen.violations = violations;
seen.connections = await end();
console.log(JSON.stringify(seen));
