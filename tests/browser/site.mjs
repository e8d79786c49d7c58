// Opens the site in a browser, as `cargo xtask site --check` calls it: node site.mjs BROWSER ADDRESS [SCREENSHOTS [ONLY]]. Each
// lab's page must run, at two widths and in both schemes, with nothing on the console and nothing asked of other servers; its controls, steps,
// comparison and links must work; an endless run must end when it is cancelled; axe must find nothing. Prints a line for each
// page, and what is wrong below it; with ONLY `speed` how long the first page and each lab take, and how fast a kernel runs.

import { back, complete, responsive, speed, story, used } from "./labs.mjs";
import { address, browser, looks, open, settled, unchanged } from "./pages.mjs";
import { copied, endless, example, faults, others, reloaded } from "./own.mjs";
import { typed } from "./pattern.mjs";
import { phone } from "./phone.mjs";
import { predicted } from "./predict.mjs";
import { begun, played, slow, taken, without } from "./shared.mjs";

const only = process.argv[5] ?? "";
const front = await open("index.html", []);
const labs = await front.locator("ol.labs a").evaluateAll((all) => all.map((it) => it.getAttribute("href")));
await front.goto(`${address}predict.html`);
const exercises = await front.locator("ol.labs a").evaluateAll((all) => all.map((it) => it.getAttribute("href")));
await front.goto(`${address}book.html`);
const chapters = await front.locator("ol.chapters a").evaluateAll((all) => all.map((it) => it.getAttribute("href")));
await front.goto(`${address}index.html`);
await front.context().close();

/// What is to be done, in the order in which it is reported. A machine has time for several at once: pages wait more than they work.
const jobs = [];
const report = (name, check) => name.includes(only) && jobs.push({ name, check });
const AT_ONCE = 3;

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
report("links", dead);
report("index.html", () => looks("index.html", async () => {}));
report("predict.html", () => looks("predict.html", async () => {}));
for (const exercise of exercises) report(exercise, () => looks(exercise, settled, { then: predicted(exercise) }));
// The script has all chapters.
for (const page of ["book.html", "script.html", chapters[0]]) report(page, () => looks(page, async () => {}));
report("pattern.html", () => looks("pattern.html", settled));
report("pattern.html, an index that one types", typed);
report("own.html", () => looks("own.html", example));
report("own.html, a reload", reloaded);
report("own.html, PTX of other compilers", others);
report("own.html, a command to copy", copied);
report("own.html, faults", faults);
report("own.html, an endless kernel", endless);
report("transpose on a phone", phone);
report("the first page's slider", begun);
report("wavefronts that play", played);
report("links, a picture's file, a page without its frame", taken);
report("pages without JavaScript", () => without(labs));
report("Back, and the skip link", back);
report("32 to 33, a wrong value, a cancelled run", story);
for (const lab of labs) report(lab, () => looks(lab, complete, { then: used(lab) }));

report("the first picture over a slow line", () => slow(labs));

let failed = jobs.length === 0 && only !== "speed";
async function done({ name, check }) {
  const wrong = await check().catch((error) => [error.message.split("\n")[0]]);
  failed ||= wrong.length > 0;
  console.log([`${wrong.length === 0 ? "   ok" : "wrong"}  ${name}`, ...wrong.slice(0, 12).map((problem) => `       ${problem}`)].join("\n"));
}
const left = jobs.values();
await Promise.all(Array.from({ length: AT_ONCE }, async () => {
  for (const job of left) await done(job);
}));
// Measured alone, and where it is asked for alone.
if (only === "speed") {
  await unchanged();
  await done({ name: "speed", check: speed });
  await done({ name: "answers", check: () => responsive(labs) });
}
await browser.close();
process.exitCode = failed ? 1 : 0;
