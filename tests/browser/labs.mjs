// The labs' pages in a browser: their parts, their controls, a lecture's story, and how fast they are.
import { address, open, set, settled, status } from "./pages.mjs";

/// A lab's page has all of its parts.
export async function complete(page, wrong) {
  await settled(page);
  for (const [part, selector] of [["a sentence", "#says p"], ["a picture", ".drawing svg"], ["a source", "#source .source"], ["a table", "#table table"]]) {
    if ((await page.locator(selector).count()) === 0) wrong.push(`there is not ${part}: ${await status(page)}`);
  }
}

/// Each control runs the lab, and the address holds the setting.
export async function controls(path) {
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
export async function story() {
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
export async function speed() {
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
