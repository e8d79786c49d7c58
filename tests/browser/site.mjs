// Opens the site in a browser, as `cargo xtask site --check` calls it: node site.mjs BROWSER ADDRESS [SCREENSHOTS [ONLY]]. Each lab's page must
// run, at two widths and in both schemes, with nothing on the console and nothing asked of other servers; its controls, steps,
// comparison and links must work; an endless run must end when it is cancelled; axe must find nothing. Prints a line for each
// page, and what is wrong below it; then how long the first page takes, and how fast a kernel runs.

import { complete, controls, speed, story } from "./labs.mjs";
import { address, browser, looks, open, settled } from "./pages.mjs";
import { endless, example, faults, others } from "./own.mjs";
import { predicted } from "./predict.mjs";

const only = process.argv[5] ?? "";
const front = await open("index.html", []);
const labs = await front.locator("ol.labs a").evaluateAll((all) => all.map((it) => it.getAttribute("href")));
await front.goto(`${address}predict.html`);
const exercises = await front.locator("ol.labs a").evaluateAll((all) => all.map((it) => it.getAttribute("href")));
await front.goto(`${address}book.html`);
const chapters = await front.locator("ol.chapters a").evaluateAll((all) => all.map((it) => it.getAttribute("href")));
await front.goto(`${address}index.html`);
await front.context().close();

let failed = labs.length === 0 ? 1 : 0;
async function report(name, check) {
  if (!name.includes(only)) return;
  const wrong = await check().catch((error) => [error.message.split("\n")[0]]);
  console.log([`${wrong.length === 0 ? "   ok" : "wrong"}  ${name}`, ...wrong.slice(0, 12).map((problem) => `       ${problem}`)].join("\n"));
  failed += wrong.length > 0 ? 1 : 0;
}
/// The links of all pages that lead nowhere.
async function dead() {
  const hrefs = async (page) => [...(await (await fetch(address + page)).text()).matchAll(/<a [^>]*href="([^"#]+)"/g)].map(([, href]) => href);
  const known = new Set(["index.html"]);
  const wrong = [];
  for (const page of known) {
    const code = (await fetch(address + page)).status;
    if (code !== 200) wrong.push(`${page}: ${code}`);
    for (const href of await hrefs(page)) known.add(href);
  }
  return wrong;
}
await report("links", dead);
await report("index.html", () => looks("index.html", async () => {}));
await report("predict.html", () => looks("predict.html", async () => {}));
for (const exercise of exercises) {
  await report(exercise, () => looks(exercise, settled));
  await report(`${exercise}, its answers`, () => predicted(exercise));
}
// The script has all chapters.
for (const page of ["book.html", "script.html", chapters[0]]) await report(page, () => looks(page, async () => {}));
await report("own.html", () => looks("own.html", example));
await report("own.html, PTX of other compilers", others);
await report("own.html, faults", faults);
await report("own.html, an endless kernel", endless);
await report("32 to 33, a wrong value, a cancelled run", story);
for (const lab of labs) {
  await report(lab, () => looks(lab, complete));
  await report(`${lab}, its controls`, () => controls(lab));
}
await report("speed", speed);
await browser.close();
process.exitCode = failed === 0 ? 0 : 1;
