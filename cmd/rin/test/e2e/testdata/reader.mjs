// Reads the pages of a node as a developer does, in the Chromium of this machine, and prints what came of it as JSON:
// start page, reference, a call without a token, a refused one, the sign-in with the credentials of the start page, the same call again.
//
//   node reader.mjs ORIGIN CHROMIUM FOLDER     (pictures and the browser's own network log go to FOLDER)
import { start } from "./browser.mjs";
import { join } from "node:path";

const [, , origin, executablePath, folder] = process.argv;
const seen = { requests: [], errors: [], tokenRequests: [], pictures: [] };
const { page, violations, end } = await start(executablePath, folder);

page.on("request", (request) => {
  seen.requests.push(request.url());
  if (request.method() === "POST") {
    const form = new URLSearchParams(request.postData());
    seen.tokenRequests.push({ url: request.url(), fields: [...form.keys()], authorization: request.headers().authorization ?? "" });
  }
});
page.on("pageerror", (error) => seen.errors.push(error.message));

const picture = async (name) => {
  seen.pictures.push(join(folder, name + ".png"));
  await page.screenshot({ path: seen.pictures.at(-1), fullPage: true });
};

// call opens an operation, executes it, and gives the answer that the page then shows.
const call = async (operation) => {
  const block = page.locator(`#operations-${operation}`);
  if (!(await block.locator(".execute").isVisible())) await block.locator(".opblock-summary-control").click();
  await block.locator(".execute").waitFor();
  const [answer] = await Promise.all([page.waitForResponse((r) => r.url().includes("/funding/v3/fundings")), block.locator(".execute").click()]);
  const shown = block.locator(".live-responses-table .response", { has: page.getByText(String(answer.status()), { exact: true }) });
  const body = shown.locator(".highlight-code").first();
  await body.waitFor();
  return { url: answer.url(), status: answer.status(), shown: await body.locator("pre").innerText() };
};

await page.goto(origin + "/");
await picture("start");
seen.copyButtons = await page.getByRole("button", { name: "Copy" }).count();
const [id, secret] = await page.locator("dl").first().locator("code").allInnerTexts();
seen.clientID = id;

await page.getByRole("link", { name: "Reference with try-out" }).click();
await page.locator(".opblock").first().waitFor();
seen.first = await page.locator("nav [aria-current]").innerText();
seen.signInOffered = await page.locator(".btn.authorize").count();
seen.tried = await call("Fundings-findAll");
await picture("try-out");

await page.getByRole("link", { name: "Protected API" }).click();
await page.locator(".opblock").first().waitFor();
seen.refused = await call("Fundings-findAll");

await page.locator(".btn.authorize").first().click();
const dialog = page.locator(".modal-ux");
await dialog.locator("input[data-name=clientId]").first().fill(id);
await dialog.locator("input[data-name=clientSecret]").first().fill("not-the-secret");
const authorize = dialog.locator(".auth-container:has(input[data-name=clientId]) .auth-btn-wrapper .authorize").first();
await authorize.click();
seen.wrongSecret = await dialog.locator(".errors").first().innerText();
await dialog.locator("input[data-name=clientSecret]").first().fill(secret);
await picture("sign-in");
await authorize.click();
await dialog.locator("button", { hasText: "Logout" }).first().waitFor();
await dialog.locator(".close-modal").click();
seen.answered = await call("Fundings-findAll");
await picture("protected");

seen.kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]));
seen.keptSecret = seen.kept.includes(secret) || page.url().includes(secret) || seen.requests.some((url) => url.includes(secret));
seen.walk = violations.length;

// The positive control: what the policy forbids is forbidden, and would have been seen above.
seen.forbidden = await page.evaluate(async () => {
  const script = document.createElement("script");
  script.textContent = "window.ranInline = true";
  document.body.append(script);
  const abroad = await fetch("https://node.example/").then(() => "sent", () => "refused");
  return { inline: window.ranInline === true, abroad };
});
seen.control = violations.length - seen.walk;
seen.violations = violations;
seen.connections = await end();
console.log(JSON.stringify(seen));
