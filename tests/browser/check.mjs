// Opens pages in a browser, as `cargo xtask browser` calls it: node check.mjs BROWSER FOLDER [SCREENSHOTS]. Each page of
// the folder must load with nothing on the console; its tables must sort by click and key, its drawings go step by step, and
// all of it unfold; at 1280 and at 400 pixels nothing may overlap or stick out; axe finds nothing, light and dark. Prints a
// line for each page, and what is wrong below it. Reads the folder, and writes screenshots if a folder for them is named.

import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [executablePath, folder, screenshots] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/// Widths and colours in which pages are looked at.
const LOOKS = [[1280, "light"], [1280, "dark"], [400, "light"]];
const pages = readdirSync(folder).filter((name) => name.endsWith(".html")).sort();

/// Each table sorts by its columns, in both directions, by click and by key.
async function sorts(page) {
  return page.evaluate(() => {
    const wrong = [];
    for (const table of document.querySelectorAll(".sortable")) {
      const name = table.closest("[aria-label]").getAttribute("aria-label");
      for (const head of table.tHead.rows[0].cells) {
        const values = () => [...table.tBodies[0].rows].map((row) => row.cells[head.cellIndex].dataset.value);
        const button = head.querySelector("button");
        for (const order of ["ascending", "descending"]) {
          button.click();
          const numbers = values().filter((value) => value !== undefined).map(Number);
          const sign = order === "ascending" ? 1 : -1;
          const sorted = numbers.every((number, index) => index === 0 || sign * (number - numbers[index - 1]) >= 0);
          const said = table.querySelectorAll(`[aria-sort=${order}]`).length === 1;
          if (!sorted || !said || head.getAttribute("aria-sort") !== order) {
            wrong.push(`"${name}" does not sort by "${button.textContent}", ${order}`);
          }
        }
      }
    }
    return wrong;
  });
}

/// The first heading sorts by the keyboard, too.
async function sortsByKey(page) {
  const button = page.locator(".sortable th button").first();
  if ((await button.count()) === 0) return [];
  const order = () => button.locator("..").getAttribute("aria-sort");
  const before = await order();
  await button.evaluate((it) => it.closest("details:not([open])")?.setAttribute("open", ""));
  await button.focus();
  await page.keyboard.press("Enter");
  return (await order()) === before ? ["the Enter key does not sort"] : [];
}

/// A drawing that plays goes on by a step, by the keyboard, and back to where it plays.
async function steps(page) {
  const wrong = [];
  for (const figure of await page.locator("figure:has(.playback)").all()) {
    const said = () => figure.locator("output").textContent();
    const later = () => figure.locator(".later").count();
    await figure.getByRole("button", { name: "One step on" }).focus();
    await page.keyboard.press("Enter");
    if (!/^1 of \d+$/.test(await said()) || (await later()) === 0) wrong.push(`the first step says "${await said()}"`);
    await figure.getByRole("button", { name: "One step back" }).click();
    if ((await said()) !== "" || (await later()) > 0) wrong.push("a step back from the first shows not all");
  }
  return wrong;
}

/// Unfolds one part by key, and then all.
async function unfolds(page) {
  const closed = page.locator("details:not([open]) > summary");
  const before = await closed.count();
  if (before > 0) {
    await closed.first().focus();
    await page.keyboard.press("Enter");
    if ((await closed.count()) >= before) return ["the Enter key does not unfold"];
  }
  // Each lab has a page of its own: on the course's page, two are enough.
  await page.evaluate(() => {
    for (const lab of [...document.querySelectorAll(".lab")].slice(2)) lab.remove();
    for (const part of document.querySelectorAll("details")) part.open = true;
  });
  return [];
}

/// What sticks out of the page or of what holds it, and which texts of a drawing overlap.
async function overlaps(page) {
  return page.evaluate(() => {
    const wrong = [];
    const shown = (text) => text.trim().replace(/\s+/g, " ").slice(0, 60);
    if (document.documentElement.scrollWidth > innerWidth) {
      wrong.push(`the page is ${document.documentElement.scrollWidth} pixels wide`);
    }
    for (const element of document.querySelectorAll("main *, header *")) {
      if (element.closest("svg") && element.tagName !== "svg") continue;
      const box = element.getBoundingClientRect();
      if (box.width === 0 || element.closest(".scroll") !== null) continue;
      const outer = (element.closest("figure, .card") ?? document.body).getBoundingClientRect();
      if (box.right > outer.right + 1 || box.left < outer.left - 1) {
        wrong.push(`<${element.tagName}> sticks out: "${shown(element.textContent)}"`);
      }
    }
    for (const cell of document.querySelectorAll("th, td")) {
      if (cell.clientWidth > 0 && cell.scrollWidth > cell.clientWidth + 1) wrong.push(`a cell overflows: "${shown(cell.textContent)}"`);
    }
    // Neighbours in the flow of the page do not cover each other.
    for (const parent of document.querySelectorAll("main, .card, .plots")) {
      const boxes = [...parent.children].map((child) => [child, child.getBoundingClientRect()]).filter(([, box]) => box.height > 0);
      for (const [index, [one, first]] of boxes.entries()) {
        const [other, second] = boxes[index + 1] ?? [];
        const apart = !other || first.bottom <= second.top + 1 || first.right <= second.left + 1;
        if (!apart) wrong.push(`<${one.tagName}> covers <${other.tagName}>: "${shown(other.textContent)}"`);
      }
    }
    for (const drawing of document.querySelectorAll("svg")) {
      const frame = drawing.getBoundingClientRect();
      const texts = [...drawing.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect()]);
      const visible = texts.filter(([, box]) => box.width > 0).sort(([, one], [, other]) => one.left - other.left);
      const title = drawing.querySelector("title").textContent;
      for (const [index, [text, box]] of visible.entries()) {
        if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 1) {
          wrong.push(`"${text}" sticks out of "${title}"`);
        }
        for (const [other, next] of visible.slice(index + 1)) {
          if (next.left > box.right - 1) break;
          // Letters fill about two thirds of their boxes' height.
          const height = Math.min(box.bottom, next.bottom) - Math.max(box.top, next.top);
          if (height > 0.4 * Math.min(box.height, next.height)) wrong.push(`"${text}" and "${other}" overlap in "${title}"`);
        }
      }
    }
    return [...new Set(wrong)];
  });
}

/// Leaves out what axe would take long to look at, and what is like the rest. A drawing is an image with a text of its own: what it
/// is made of is not read out. Of a listing, the first lines and those with findings are enough.
function shorten() {
  for (const drawing of document.querySelectorAll("svg")) drawing.replaceChildren();
  for (const row of document.querySelectorAll(".source tbody tr:nth-child(n + 30)")) {
    if (row.querySelector(".finding") === null) row.remove();
  }
}

/// What axe finds.
async function accessible(page, rules) {
  const runOnly = rules && { type: "rule", values: rules };
  const options = { resultTypes: ["violations"], preload: false, ...(runOnly && { runOnly }) };
  const { violations } = await page.evaluate((options) => globalThis.axe.run(document, options), options);
  return violations.map(({ id, help, nodes }) => `axe: ${id}: ${help}: ${nodes[0].html.slice(0, 160)}`);
}

/// Writes screenshots of a page's beginning, as it opens.
async function photograph(page, name) {
  for (const [width, colorScheme] of LOOKS) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 2400 });
    await page.screenshot({ path: join(screenshots, `${basename(name, ".html")}-${width}-${colorScheme}.png`) });
  }
}

async function check(browser, name) {
  const wrong = [];
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  page.on("console", (message) => wrong.push(`on the console: ${message.text()}`));
  page.on("pageerror", (error) => wrong.push(`an error: ${error.message}`));
  page.on("request", (request) => request.url().startsWith("file:") || wrong.push(`it asks for ${request.url()}`));
  await page.goto(pathToFileURL(resolve(folder, name)).href);
  if (screenshots) await photograph(page, name);
  wrong.push(...(await unfolds(page)), ...(await sorts(page)), ...(await sortsByKey(page)), ...(await steps(page)));
  const at = ([width, colorScheme], problems) => problems.map((it) => `at ${width} pixels, ${colorScheme}: ${it}`);
  const look = async ([width, colorScheme]) => {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 900 });
  };
  for (const one of LOOKS.filter(([, colorScheme]) => colorScheme === "light")) {
    await look(one);
    wrong.push(...at(one, await overlaps(page)));
  }
  await page.evaluate(axe);
  await page.evaluate(shorten);
  for (const one of LOOKS) {
    await look(one);
    // All rules once; what depends on colours and width again.
    const [width, colorScheme] = one;
    const rules = colorScheme === "dark" ? ["color-contrast"] : width < 1280 ? ["scrollable-region-focusable"] : undefined;
    wrong.push(...at(one, await accessible(page, rules)));
  }
  await context.close();
  return [...new Set(wrong)];
}

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
let failed = 0;
const left = [...pages];
/// Opens one page after the other, as long as there are any.
async function work() {
  for (let name = left.shift(); name !== undefined; name = left.shift()) {
    const started = performance.now();
    const wrong = await check(browser, name);
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    const lines = wrong.slice(0, 12).map((problem) => `       ${problem}`);
    if (wrong.length > 12) lines.push(`       and ${wrong.length - 12} more`);
    console.log([`${wrong.length === 0 ? "   ok" : "wrong"}  ${name}, ${seconds} s`, ...lines].join("\n"));
    failed += wrong.length > 0 ? 1 : 0;
  }
}
await Promise.all([work(), work()]);
await browser.close();
console.log(`${pages.length - failed} of ${pages.length} pages are right.`);
process.exitCode = failed === 0 && pages.length > 0 ? 0 : 1;
