// Opens the site in a browser, as `cargo xtask site --check` calls it: node site.mjs BROWSER ADDRESS [SCREENSHOTS]. Each lab's page must
// run, at two widths and in both schemes, with nothing on the console and nothing asked of other servers; its controls, steps,
// comparison and links must work; an endless run must end when it is cancelled; axe must find nothing. Prints a line for each
// page, and what is wrong below it; then how long the first page takes, and how fast a kernel runs.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { chromium } from "playwright-core";

const [executablePath, address, screenshots] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const LOOKS = [[1280, "light"], [1280, "dark"], [400, "light"], [400, "dark"]];
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });

/// Waits until the page shows what its setting says.
const settled = (page) => page.waitForSelector('#results[aria-busy="false"]', { timeout: 60_000 });
const status = (page) => page.locator("#status").textContent();

/// Sets a control, as a reader does, and waits for what the page says.
async function set(page, name, value) {
  await page.evaluate(
    ([name, value]) => {
      const control = document.getElementById("setting").elements[name];
      control[control.type === "checkbox" ? "checked" : "value"] = value;
      control.dispatchEvent(new Event("input", { bubbles: true }));
    },
    [name, value],
  );
  await page.waitForTimeout(450);
  await settled(page);
}

/// A page of its own, which reports what goes wrong on it.
async function open(path, wrong, width = 1280, colorScheme = "light") {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
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
      if (box.width === 0 || element.closest("svg, .scroll")) continue;
      if (box.right > innerWidth + 1 || box.left < -1) wrong.push(`<${element.tagName}> sticks out: "${element.textContent.trim().slice(0, 60)}"`);
    }
    return wrong;
  });

async function accessible(page) {
  await page.evaluate(() => {
    for (const row of document.querySelectorAll(".source tbody tr:nth-child(n + 30)")) row.remove();
    for (const drawing of document.querySelectorAll("svg")) drawing.replaceChildren();
  });
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"], preload: false }));
  return violations.map(({ id, help, nodes }) => `axe: ${id}: ${help}: ${nodes[0].html.slice(0, 160)}`);
}

/// A page at every width and in every scheme.
async function looks(path, ready) {
  const wrong = [];
  for (const [width, colorScheme] of LOOKS) {
    const page = await open(path, wrong, width, colorScheme);
    await ready(page, wrong);
    if (screenshots) {
      const file = join(screenshots, `${path.replace(".html", "")}-${width}-${colorScheme}.png`);
      await page.screenshot({ path: file, fullPage: true });
    }
    const found = [...(await wide(page)), ...(await accessible(page))];
    wrong.push(...found.map((problem) => `at ${width} pixels, ${colorScheme}: ${problem}`));
    await page.context().close();
  }
  return [...new Set(wrong)];
}

/// A lab's page has all of its parts.
async function complete(page, wrong) {
  await settled(page);
  for (const [part, selector] of [["a sentence", "#says p"], ["a picture", ".drawing svg"], ["a source", "#source .source"], ["a table", "#table table"]]) {
    if ((await page.locator(selector).count()) === 0) wrong.push(`there is not ${part}: ${await status(page)}`);
  }
}

/// Each control runs the lab, and the address holds the setting.
async function controls(path) {
  const wrong = [];
  const page = await open(path, wrong);
  await complete(page, wrong);
  const names = await page.locator("#setting input[type=checkbox]").evaluateAll((all) => all.map(({ name }) => name));
  for (const name of names) {
    const command = await page.locator("#command").textContent();
    const before = await page.locator(`#setting [name="${name}"]`).isChecked();
    await set(page, name, !before);
    if ((await page.locator("#command").textContent()) === command) wrong.push(`${name} changes nothing`);
    if (!page.url().includes(`${name}=`)) wrong.push(`the address has no ${name}: ${page.url()}`);
    await set(page, name, before);
  }
  await set(page, "device", "sim:fermi");
  if (await page.locator("#status.cost").count()) wrong.push(`on fermi: ${await status(page)}`);
  await set(page, "beside", "sim:hopper");
  if ((await page.locator(".pane:nth-child(2) .drawing svg").count()) === 0) wrong.push("nothing beside it");
  const next = page.locator('.pane:first-child [data-step="1"]');
  if (await next.isEnabled()) {
    const step = () => page.locator(".pane:first-child .steps output").textContent();
    const before = await step();
    await next.click();
    await page.waitForFunction((before) => document.querySelector(".pane .steps output").textContent !== before, before);
  }
  const drawn = () => page.locator(".drawing").first().innerHTML();
  const kept = page.url();
  await page.goto(kept);
  await settled(page);
  const one = await drawn();
  const again = await open(kept.slice(address.length), wrong);
  await settled(again);
  if (one !== (await again.locator(".drawing").first().innerHTML())) wrong.push("the same address shows something else");
  await again.context().close();
  await page.context().close();
  return wrong;
}

/// 32 becomes 33, and the funnel a diagonal; a wrong value is refused in a line; a long run ends when it is cancelled.
async function story() {
  const wrong = [];
  const page = await open("banks.html", wrong);
  await settled(page);
  const says = () => page.locator("#says").textContent();
  if (!(await says()).includes("32 wavefronts")) wrong.push(`at 32: ${await says()}`);
  await set(page, "stride", "33");
  if (!(await says()).includes("1 wavefront:")) wrong.push(`at 33: ${await says()}`);
  if (!page.url().endsWith("?stride=33")) wrong.push(`the address is ${page.url()}`);
  await set(page, "rounds", "x");
  if (!(await status(page)).includes("give a whole number")) wrong.push(`no refusal: ${await status(page)}`);
  await page.goto(`${address}matmul.html?m=768`);
  const cancel = page.locator("#cancel");
  await cancel.waitFor({ state: "visible" });
  await cancel.click();
  await settled(page);
  if (!(await status(page)).startsWith("Cancelled")) wrong.push(`not cancelled: ${await status(page)}`);
  await set(page, "m", "32");
  if (!(await status(page)).includes("warp instructions")) wrong.push(`no run after a cancelled one: ${await status(page)}`);
  await page.context().close();
  return wrong;
}

/// How long the first page takes when the browser has all files, and how fast a kernel runs.
async function speed() {
  const wrong = [];
  const page = await open("banks.html", wrong);
  await settled(page);
  await page.reload();
  await page.waitForSelector(".drawing svg");
  const first = await page.evaluate(() => performance.now());
  const rate = await page.evaluate(async () => {
    const { Simulator } = await import("./simulator.js");
    const simulator = new Simulator("labs/transpose.json");
    const line = (rows) => ["transpose", "--padded", "--rows", rows, "--device", "sim"];
    let best = 0;
    for (let round = 0; round < 4; round += 1) {
      const { output, took, messages } = await simulator.ask({ do: "text", arguments: [...line("1024"), "--format", "json"] });
      if (!output) return messages;
      const counters = JSON.parse(output).variants[0].counters;
      const small = await simulator.ask({ do: "text", arguments: line("32") });
      best = Math.max(best, counters["ptx__inst_executed.sum"] / (took - small.took) / 1e3);
    }
    return best.toFixed(1);
  });
  await page.context().close();
  console.log(`first picture, files cached: ${first.toFixed(0)} ms; padded transpose 1024 x 1024: ${rate} million warp instructions a second, all of a lab's work counted`);
  return wrong;
}

const front = await open("index.html", []);
const labs = await front.locator("ol.labs a").evaluateAll((all) => all.map((it) => it.getAttribute("href")));
const links = await front.locator("a").evaluateAll((all) => all.map((it) => it.getAttribute("href")));
await front.context().close();

let failed = labs.length === 0 ? 1 : 0;
async function report(name, check) {
  const wrong = await check.catch((error) => [error.message.split("\n")[0]]);
  console.log([`${wrong.length === 0 ? "   ok" : "wrong"}  ${name}`, ...wrong.slice(0, 12).map((problem) => `       ${problem}`)].join("\n"));
  failed += wrong.length > 0 ? 1 : 0;
}
const dead = async () => {
  const replies = await Promise.all([...new Set(links)].map(async (link) => [link, (await fetch(address + link)).status]));
  return replies.filter(([, code]) => code !== 200).map(([link, code]) => `${link}: ${code}`);
};
await report("links", dead());
await report("index.html", looks("index.html", async () => {}));
await report("32 to 33, a wrong value, a cancelled run", story());
for (const lab of labs) {
  await report(lab, looks(lab, complete));
  await report(`${lab}, its controls`, controls(lab));
}
await report("speed", speed());
await browser.close();
process.exitCode = failed === 0 ? 0 : 1;
