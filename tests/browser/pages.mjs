// Pages of the site in a browser: open one, set a control, look at it in all ways. `site.mjs` and its parts use it.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { chromium } from "playwright-core";

const [executablePath, site, screenshots] = process.argv.slice(2);
/// The site's address.
export const address = site;
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const LOOKS = [[1280, "light"], [1280, "dark"], [400, "light"], [400, "dark"]];
/// Those in which a page is checked, if there are no screenshots: both widths and both schemes are among them.
const CHECKED = [LOOKS[0], LOOKS[3]];
const launched = (flags) => chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", ...flags] });
/// The browser, which `site.mjs` closes. V8 compiles WebAssembly with its baseline compiler alone: pages run too briefly for the
/// optimising one to pay.
export let browser = await launched(["--js-flags=--liftoff-only"]);

/// Restarts the browser with V8's default flags, for measurements.
export async function unchanged() {
  await browser.close();
  browser = await launched([]);
}

/// Waits until the page shows what its setting says.
export const settled = (page) => page.waitForSelector('#results[aria-busy="false"]');
export const status = (page) => page.locator("#status").textContent();

/// Sets a control, as a reader does, and waits until the page has run what it says: the page is busy, and then no more.
export const set = (page, name, value) => setAll(page, { [name]: value });

/// Sets controls at once, which are run once.
export async function setAll(page, values) {
  await page.evaluate(
    (values) => {
      const results = document.getElementById("results");
      const ran = new Promise((done) => {
        let began = false;
        const observer = new MutationObserver((records) => {
          const states = [...records.slice(1).map(({ oldValue }) => oldValue), results.getAttribute("aria-busy")];
          began ||= states.includes("true");
          if (!began || states.at(-1) !== "false") return;
          observer.disconnect();
          done();
        });
        observer.observe(results, { attributeFilter: ["aria-busy"], attributeOldValue: true });
      });
      for (const [name, value] of Object.entries(values)) {
        const control = document.getElementById("setting").elements[name];
        control[control.type === "checkbox" ? "checked" : "value"] = value;
        control.dispatchEvent(new Event("input", { bubbles: true }));
      }
      return ran;
    },
    values,
  );
}

/// A page of its own, which reports what goes wrong on it.
export async function open(path, wrong) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  // Ends what hangs, and nothing on a busy machine.
  context.setDefaultTimeout(600_000);
  const page = await context.newPage();
  page.on("console", (message) => wrong.push(`on the console: ${message.text()}`));
  page.on("pageerror", (error) => wrong.push(`an error: ${error.message}`));
  page.on("request", (request) => {
    if (!/^(data:|blob:)/.test(request.url()) && !request.url().startsWith(address)) wrong.push(`it asks for ${request.url()}`);
  });
  await page.goto(address + path);
  return page;
}

/// What sticks out of the page.
const wide = (page) =>
  page.evaluate(() => {
    const wrong = [];
    if (document.documentElement.scrollWidth > innerWidth) wrong.push(`the page is ${document.documentElement.scrollWidth} pixels wide`);
    for (const element of document.querySelectorAll("main *")) {
      const box = element.getBoundingClientRect();
      if (box.width === 0 || element.closest("svg, .scroll, .editor")) continue;
      if (innerWidth <= 400 && element.matches("#source") && [...element.querySelectorAll(".scroll")].some((it) => it.scrollWidth > it.clientWidth + 1)) {
        wrong.push("the source scrolls sideways");
      }
      if (box.right > innerWidth + 1 || box.left < -1) wrong.push(`<${element.tagName}> sticks out: "${element.textContent.trim().slice(0, 60)}"`);
    }
    return wrong;
  });

/// What axe finds. Rows and drawings repeat: axe sees some of them.
async function accessible(page) {
  const options = { resultTypes: ["violations"], preload: false };
  const { violations } = await page.evaluate((options) => globalThis.axe.run(document, options), options);
  return violations.map(({ id, help, nodes }) => `axe: ${id}: ${help}: ${nodes[0].html.slice(0, 160)}`);
}

async function thin(page) {
  await page.evaluate(() => {
    for (const row of document.querySelectorAll(".source tbody tr:nth-child(n + 30)")) row.remove();
    for (const drawing of document.querySelectorAll("svg")) drawing.replaceChildren();
  });
  await page.evaluate(axe);
}

/// A page at every width and in every scheme: when it is ready, how wide it is, and, after all else that is done with it, what axe
/// finds. Its screenshots have its name.
export async function looks(path, ready, { name = path.replace(".html", ""), then = async () => {} } = {}) {
  const wrong = [];
  const page = await open(path, wrong);
  await ready(page, wrong);
  const look = async ([width, colorScheme]) => {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
  };
  const each = async (looks, check) => {
    for (const [width, colorScheme] of looks) {
      await look([width, colorScheme]);
      const found = await check(`${name}-${width}-${colorScheme}.png`);
      wrong.push(...found.map((problem) => `at ${width} pixels, ${colorScheme}: ${problem}`));
    }
  };
  await each(screenshots ? LOOKS : CHECKED, async (file) => {
    if (screenshots) await page.screenshot({ path: join(screenshots, file), fullPage: true });
    return wide(page);
  });
  await look(LOOKS[0]);
  await then(page, wrong);
  await thin(page);
  await each(CHECKED, () => accessible(page));
  await page.context().close();
  return [...new Set(wrong)];
}
