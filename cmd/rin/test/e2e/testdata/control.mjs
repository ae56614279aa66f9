// Reads the page of a control listener while a client calls the node, and prints as JSON what a person sees.
//
//   node control.mjs CONTROL CHROMIUM FOLDER    TOKEN_URL, FUNDINGS_URL, CLIENT_ID and CLIENT_SECRET are in the environment
import { start } from "./browser.mjs";

const [, , control, executablePath, folder] = process.argv;
const { TOKEN_URL, FUNDINGS_URL, CLIENT_ID, CLIENT_SECRET } = process.env;
const { page, violations, end } = await start(executablePath, folder);
const seen = { errors: [] };
page.on("pageerror", (error) => seen.errors.push(String(error)));

await page.goto(control + "/?live");
seen.before = await page.locator("main").innerText();

const granted = await fetch(TOKEN_URL, {
  method: "POST",
  body: new URLSearchParams({ grant_type: "client_credentials", client_id: CLIENT_ID, client_secret: CLIENT_SECRET }),
});
const token = (await granted.json()).access_token;
await fetch(FUNDINGS_URL + "?region=MARS", { headers: { authorization: "Bearer " + token } });

// With live, the page reads again by itself.
const row = page.locator("tr", { has: page.locator("td a", { hasText: CLIENT_ID }) });
await row.waitFor();
await page.locator("td", { hasText: "CLT-19" }).first().waitFor();
seen.client = await row.locator("td").allInnerTexts();
seen.marked = await row.locator("td.bad").allInnerTexts();
seen.journal = await page.locator("tr", { hasText: "region=MARS" }).locator("td").allInnerTexts();
seen.widest = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
seen.controls = await page.locator("form, button, input, script").count();
const content = await page.content();
seen.secrets = [token, CLIENT_SECRET].filter((secret) => content.includes(secret)).length;
seen.violations = [...violations];
seen.change = await page.evaluate(() => fetch("/journal", { method: "DELETE" }).then((r) => String(r.status), () => "refused"));

await row.locator("a").click();
await page.waitForURL((url) => url.pathname === "/conduct");
seen.report = await page.locator("body").innerText();
seen.picture = folder + "/report.png";
await page.screenshot({ path: seen.picture });
seen.connections = await end();
console.log(JSON.stringify(seen));
