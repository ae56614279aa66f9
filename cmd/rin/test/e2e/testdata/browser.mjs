// Starts the Chromium of this machine, which finds no host but loopback, and tells afterwards whom it connected to.
import { chromium } from "playwright-core";
import { readFileSync } from "node:fs";
import { join } from "node:path";

export const start = async (executablePath, folder) => {
  const netLog = join(folder, "net-log.json");
  const browser = await chromium.launch({
    executablePath,
    args: [
      "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--log-net-log=" + netLog,
    ],
  });
  const context = await browser.newContext({ viewport: { width: 1100, height: 900 } });
  context.setDefaultTimeout(20_000);
  const page = await context.newPage();
  const violations = [];
  page.on("console", (message) => {
    if (message.text().includes("Content Security Policy")) violations.push(message.text());
  });

  // end closes the browser. The log of its network stack knows connections that no page asked for, too.
  const end = async () => {
    await browser.close();
    const log = JSON.parse(readFileSync(netLog, "utf8"));
    const attempt = log.constants.logEventTypes.TCP_CONNECT_ATTEMPT;
    return [...new Set(log.events.filter((e) => e.type === attempt && e.params?.address).map((e) => e.params.address))];
  };
  return { page, violations, end };
};
