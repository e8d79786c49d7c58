// The labs' pages in a browser: their parts, their controls, a lecture's story, and how fast they are.
import { readFileSync, readdirSync } from "node:fs";
import { address, browser, open, set, setAll, settled, status } from "./pages.mjs";

/// A lab's page has all of its parts, and shows the line of its picture.
export async function complete(page, wrong) {
  await settled(page);
  for (const [part, selector] of [["a sentence", "#says p"], ["a picture", ".drawing svg"], ["a source", "#source .source"], ["a table", "#table table"]]) {
    if ((await page.locator(selector).count()) === 0) wrong.push(`there is not ${part}: ${await status(page)}`);
  }
  await lined(page, wrong);
}

/// The line of the picture's access is on the screen of its source, and no column is cut off.
async function lined(page, wrong) {
  const chosen = await page.locator(".pane:first-child select").nth(1).inputValue();
  const line = /, line (\d+)$/.exec(chosen)?.[1];
  if (!line) return;
  const seen = await page.locator("#source .scroll").first().evaluate((scroll, line) => {
    const [row, box] = [scroll.querySelector(`[data-line="${line}"]`)?.getBoundingClientRect(), scroll.getBoundingClientRect()];
    return { in: row && row.top >= box.top && row.bottom <= box.bottom, cut: scroll.scrollWidth - scroll.clientWidth };
  }, line);
  if (!seen.in) wrong.push(`line ${line} of the picture is not in sight in the source`);
  if (seen.cut > 1) wrong.push(`${seen.cut} pixels of the source are cut off`);
}

/// Sizes at which the controls of labs are tried that take seconds at their first setting.
const SMALL = {
  "order.html": "?m=32&n=32&k=32&entries=16384",
  "pipeline.html": "?size=16896",
  "stencil.html": "?volume=8,8,32",
  "transfer.html": "?size=4096&rounds=8",
};

/// What a reader does on a lab's page: reach its goals, and move its controls.
export const used = (path) => async (page, wrong) => {
  await goals(path, page, wrong);
  if (SMALL[path]) await begin(page, path);
  await controls(path, page, wrong);
};

/// Opens a lab's page as its controls are tried.
async function begin(page, path) {
  await page.goto(address + path + (SMALL[path] ?? ""));
  await settled(page);
}

/// Each control runs the lab, and the address holds the setting.
async function controls(path, page, wrong) {
  const boxes = await page.locator("#setting input[type=checkbox]").evaluateAll((all) =>
    all.map((box) => ({ name: box.name, before: box.checked, alone: box.checked && box.closest("fieldset").querySelectorAll(":checked").length === 1 })),
  );
  const said = () => page.locator("#command").textContent();
  const command = await said();
  // A box is set back when the next control is set: the page runs once for both.
  let back = {};
  for (const { name, before, alone } of boxes) {
    await setAll(page, { ...back, [name]: !before });
    if (alone) {
      // Where the only tick is taken away, what runs then is ticked.
      const ticked = await page.locator(`#setting [name="${name}"]`).evaluate((it) => it.closest("fieldset").querySelectorAll(":checked").length);
      if (ticked === 0) wrong.push(`without ${name} nothing is ticked`);
      await begin(page, path);
      back = {};
      continue;
    }
    if ((await said()) === command) wrong.push(`${name} changes nothing`);
    if (!page.url().includes(`${name}=`)) wrong.push(`the address has no ${name}: ${page.url()}`);
    back = { [name]: before };
  }
  // A block of Fermi has at most 48 KiB of shared memory.
  if (path === "shared.html") back.kilobytes = "32";
  await setAll(page, { ...back, device: "sim:fermi" });
  if (await page.locator("#status.cost").count()) wrong.push(`on fermi: ${await status(page)}`);
  await set(page, "beside", "sim:hopper");
  if ((await page.locator(".pane:nth-child(2) .drawing svg").count()) === 0) wrong.push("nothing beside it");
  const next = page.locator('.pane:first-child [data-step="1"]');
  if (await next.isEnabled()) {
    const step = () => page.locator(".pane:first-child .steps output").textContent();
    const before = await step();
    await next.click();
    await page.waitForFunction((before) => document.querySelector(".pane .steps output").textContent !== before, before);
    await page.waitForFunction(() => location.search.includes("request0="));
  }
  const drawn = () => page.locator(".drawing svg").first().textContent();
  const [kept, before] = [page.url(), await drawn()];
  await page.goto(kept);
  await settled(page);
  if ((await drawn()) !== before) wrong.push(`${kept} shows something else`);
}

/// 32 becomes 33, and the funnel a diagonal; a wrong value is refused in a line; a long run ends when it is cancelled, also before
/// the program is there.
export async function story() {
  const wrong = [];
  const page = await open("banks.html", wrong);
  await settled(page);
  const says = () => page.locator("#says").textContent();
  if (!(await says()).includes("32 wavefronts")) wrong.push(`at 32: ${await says()}`);
  await set(page, "stride", "33");
  if (!(await says()).includes("a load takes 1 wavefront.")) wrong.push(`at 33: ${await says()}`);
  if (!page.url().endsWith("?stride=33")) wrong.push(`the address is ${page.url()}`);
  await set(page, "rounds", "x");
  if (!(await status(page)).includes("give a whole number")) wrong.push(`no refusal: ${await status(page)}`);
  if (!(await says()).includes("give a whole number")) wrong.push(`the old sentence stands: ${await says()}`);
  if ((await page.locator('[name="rounds"]').getAttribute("aria-invalid")) !== "true") wrong.push("a wrong value is not marked");
  const box = await page.locator("#status").boundingBox();
  if (!box || box.y + box.height > 900) wrong.push(`the status is off the screen: ${JSON.stringify(box)}`);
  await set(page, "rounds", "8");
  if (await page.locator("[aria-invalid]").count()) wrong.push("a right value is marked");
  const cancel = page.locator("#cancel");
  for (const early of [false, true]) {
    let load;
    const clicked = new Promise((done) => (load = done));
    if (early) await page.route("**/web.wasm", (route) => clicked.then(() => route.continue()));
    await page.goto(`${address}matmul.html?m=768`);
    await cancel.waitFor({ state: "visible" });
    await cancel.click();
    load();
    await settled(page);
    if (!(await status(page)).startsWith("Cancelled")) wrong.push(`not cancelled: ${await status(page)}`);
  }
  await set(page, "m", "32");
  if (!(await status(page)).includes("warp instructions")) wrong.push(`no run after a cancelled one: ${await status(page)}`);
  await page.context().close();
  return wrong;
}

/// Back comes to the settings that were chosen, and not past them; one Tab and Enter skip the links of all pages.
export async function back() {
  const wrong = [];
  const page = await open("index.html", wrong);
  await page.goto(`${address}banks.html`);
  await settled(page);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  if (!page.url().endsWith("#content")) wrong.push(`the first Tab is no skip link: ${page.url()}`);
  await page.goBack();
  await settled(page);
  for (const stride of [31, 30]) {
    await page.locator('[data-slide="-1"]').click();
    await page.waitForFunction((stride) => location.search === `?stride=${stride}`, stride);
    await settled(page);
  }
  for (const search of ["?stride=31", ""]) {
    await page.goBack();
    await page.waitForFunction((search) => location.search === search, search);
    await settled(page);
    if (!page.url().includes("banks.html")) wrong.push(`Back leaves the page: ${page.url()}`);
  }
  await page.context().close();
  return wrong;
}

/// The goals of labs: a setting that does not reach one, with what the page says, and one that does.
const GOALS = {
  "transpose.html": ["tile-width", ["32", "Not yet: 31.0 conflicts a load."], ["33", "Done: no conflicts a load."]],
  "banks.html": ["stride", ["1", "Not yet: stride 1 does not count."], ["17", "Done: no conflicts a load."]],
  "offset.html": ["offset", ["12", "Not yet: 5.00 sectors on average, 1 too many."], ["40", "Done: 4.00 sectors on average."]],
  "launch.html": ["slide", ["0", "Not yet: 4.00 KiB in flight on a full multiprocessor, 7.54 too few."], ["2", "Done: 16.0 KiB in flight on a full multiprocessor."]],
  "vector.html": ["slide", ["1", "Not yet: 256 load requests, 128 too many."], ["2", "Done: 128 load requests."]],
  "gram.html": ["slide", ["1", "Not yet: 1024 bank conflicts."], ["3", "Done: 0 bank conflicts."]],
  "matmul.html": ["slide", ["1", "Not yet: 4.00 loads of each element, 2 too many."], ["2", "Done: 2.00 loads of each element."]],
  "reduce.html": ["slide", ["2", "Not yet: 26144 warp instructions, 5840 too many."], ["3", "Done: 14352 warp instructions."]],
  "dot.html": ["slide", ["0", "Not yet: 992 requests, 661 too many."], ["1", "Done: 272 requests."]],
  "rows.html": ["slide", ["2", "Not yet: 16.0 sectors a load, 12 too many."], ["1", "Done: 4.00 sectors a load."]],
  "layout.html": ["slide", ["1", "Not yet: 3.00 times the sectors of its words, 2 too many."], ["3", "Done: 1.00 times the sectors of its words."]],
  "constant.html": ["slide", ["1", "Not yet: 1.00 addresses a load, 7 too few."], ["2", "Done: 30.2 addresses a load."]],
  "table.html": ["slide", ["0", "Not yet: 3136 warp instructions, 1568 too many."], ["1", "Done: 1280 warp instructions."]],
  "texture.html": ["slide", ["0", "Not yet: 32.0 sectors of 32 texels, 16 too many."], ["1", "Done: 16.0 sectors of 32 texels."]],
  "cache.html": ["slide", ["2", "Not yet: 0 % of the sectors hit L1, 80 points too few."], ["1", "Done: 90.4 % of the sectors hit L1."]],
  "access.html": ["stride", ["3", "Not yet: 33.3 % of the loaded bytes are used, 8.3 points too many."], ["4", "Done: 25.0 % of the loaded bytes are used."]],
  "shared.html": ["kilobytes", ["64", "Not yet: 3 blocks at once, 1 too few."], ["56", "Done: 4 blocks at once."]],
  "atomics.html": ["distinct", ["16", "Not yet: 285 operations on one counter, 157 too many."], ["64", "Done: 82 operations on one counter."]],
  "consistency.html": ["launches", ["4", "Not yet: 0 of 4 orders, 1 too few."], ["100", "Done: 19 of 100 orders."]],
  "spill.html": ["slide", ["0", "Not yet: 40960 sectors of local memory."], ["2", "Done: 0 sectors of local memory."]],
  "scan.html": ["log-banks", ["4", "Not yet: 1040 bank conflicts."], ["5", "Done: 0 bank conflicts."]],
  "transfer.html": ["chunks", ["1", "Not yet: 52.0 us in four streams, 9 too many."], ["3", "Done: 42.6 us in four streams."]],
  "sparse.html": ["log-slice", ["5", "Not yet: 7.59 times the bytes needed, 1.59 too many."], ["3", "Done: 5.26 times the bytes needed."]],
  "stencil.html": ["slide", ["2", "Not yet: 5.00 loads of a warp for 32 results, 3 too many."], ["4", "Done: 1.25 loads of a warp for 32 results."]],
  "pipeline.html": ["slide", ["3", "Not yet: 16.0 KiB in flight on a multiprocessor, 7.1 too few."], ["4", "Done: 24.0 KiB in flight on a multiprocessor."]],
  "order.html": ["side", ["1", "Not yet: 5.44 times the bytes needed, 3.44 too many."], ["8", "Done: 1.00 times the bytes needed."]],
  "pitch.html": ["cols", ["120", "Not yet: 6.67 % more memory."], ["128", "Done: no more memory."]],
};

/// Each goal is open at first, and is reached by the right setting; the simulator judges. Then all is as it was, unless the page is
/// opened again.
async function goals(path, page, wrong) {
  if (!GOALS[path]) {
    wrong.push("it has no goal");
    return;
  }
  if ((await page.locator("#slider").count()) !== 1) wrong.push("it has no slider");
  const [name, ...settings] = GOALS[path];
  const goal = page.locator("#goals .goal").first();
  const first = await page.locator(`#setting [name="${name}"], #slider [name="${name}"]`).inputValue();
  if (await page.locator('#goals .goal[data-met="true"]').count()) wrong.push("a goal is reached at first");
  for (const [index, [value, says]] of settings.entries()) {
    await set(page, name, value);
    const met = await goal.getAttribute("data-met");
    const said = await goal.locator("p").last().textContent();
    if (met !== String(index === 1) || said !== says) wrong.push(`with ${name} ${value}: "${said}"`);
  }
  if (!SMALL[path]) await set(page, name, first);
}

/// How long a page takes from a control to all of its results, and how long its worker works for that: other programs may slow
/// down the first, but not the second, which only Linux says. In milliseconds.
async function answers(path) {
  const page = await open(path, []);
  await settled(page);
  const processes = await (await browser.newBrowserCDPSession()).send("SystemInfo.getProcessInfo");
  const renderers = processes.processInfo.filter(({ type }) => type === "renderer").map(({ id }) => id);
  const run = () =>
    page.evaluate(async () => {
      const results = document.getElementById("results");
      const begin = performance.now();
      document.getElementById("setting").elements.device.dispatchEvent(new Event("input", { bubbles: true }));
      for (const busy of ["true", "false"]) {
        while (results.getAttribute("aria-busy") !== busy) await new Promise((done) => setTimeout(done, 1));
      }
      return performance.now() - begin;
    });
  await run();
  const times = [];
  const before = worked(renderers);
  for (let round = 0; round < 7; round += 1) times.push(await run());
  const work = (worked(renderers) - before) / times.length;
  await page.context().close();
  times.sort((one, other) => one - other);
  return { answer: times[3], work };
}

/// The time that workers in these processes have run, in milliseconds; NaN where nobody says.
function worked(processes) {
  try {
    const tasks = processes.flatMap((id) => readdirSync(`/proc/${id}/task`).map((task) => `/proc/${id}/task/${task}`));
    const workers = tasks.filter((task) => readFileSync(`${task}/comm`, "utf8").startsWith("DedicatedWorker"));
    const nanoseconds = workers.map((task) => Number(readFileSync(`${task}/schedstat`, "utf8").split(" ")[0]));
    return nanoseconds.reduce((sum, one) => sum + one, 0) / 1e6;
  } catch {
    return NaN;
  }
}

/// A table of that for these pages.
export async function responsive(paths) {
  console.log("lab         control to results, ms   of which its worker works, ms");
  for (const path of paths) {
    const { answer, work } = await answers(path);
    console.log(`${path.replace(".html", "").padEnd(12)}${answer.toFixed(0).padStart(23)}${work.toFixed(0).padStart(32)}`);
  }
  return [];
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
