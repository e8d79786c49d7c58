// The page of one's own PTX in a browser: what other compilers emit runs, a fault is shown at its line, an endless kernel ends when
// it is cancelled.
import { fileURLToPath } from "node:url";
import { open, settled, status } from "./pages.mjs";

const wild = (name) => fileURLToPath(new URL(`../wild/${name}`, import.meta.url));
/// It changes a register, or the simulator would say at once that it never ends.
const ENDLESS = `.version 7.8
.target sm_75
.address_size 64
.visible .entry endless()
{
.reg .u64 %turns;
again:
add.u64 %turns, %turns, 1;
bra again;
}
`;

const STOPPED = `.version 7.8
.target sm_75
.address_size 64
.visible .entry stopped()
{
trap;
}
`;

/// Fills the form, and runs; waits for the end, unless the run has none.
async function run(page, { files, text, ...fields }, ends = true) {
  if (files) {
    await page.locator('[name="file"]').setInputFiles(files);
    await page.waitForFunction(() => document.getElementById("setting").elements.kernel.options[0]?.text !== "race");
  }
  if (text) await page.locator('[name="ptx"]').fill(text);
  for (const [name, value] of Object.entries(fields)) await page.locator(`[name="${name}"]`).fill(value);
  await page.locator('button[type="submit"]').click();
  if (ends) await settled(page);
}

/// The example, which has a race.
export async function example(page, wrong) {
  await run(page, {});
  const says = await page.locator("#says").textContent();
  if (!says.includes("race")) wrong.push(`the example's race is not found: ${says}`);
  for (const part of [".drawing svg", "#source .source", "#table table"]) {
    if ((await page.locator(part).count()) === 0) wrong.push(`there is no ${part}`);
  }
}

/// A link can fill the form with anything; the command that is there to be copied has it as words, which no shell takes apart.
export async function copied() {
  const wrong = [];
  const values = "u32[64];id $(touch${IFS}x) `ls` 'a'";
  const page = await open(`own.html?values=${encodeURIComponent(values)}&grid=${encodeURIComponent("2;id")}`, wrong);
  await settled(page);
  const command = await page.locator("#command").textContent();
  const expected = "'u32[64];id' '$(touch${IFS}x)' '`ls`' ''\\''a'\\''' --grid '2;id'";
  if (!command.includes(expected)) wrong.push(`the command is ${command}, without ${expected}`);
  await page.context().close();
  return wrong;
}

/// PTX of nvcc and of Triton.
export async function others() {
  const wrong = [];
  for (const [name, fields] of [
    ["ptx/histogram.sm_90.ptx", { values: "u8[300]=rand:1 u32:300 u32[16]", grid: "3", block: "40", shared: "64" }],
    ["ptx/rows.sm_90.softmax.ptx", { values: "f32[60]=ramp f32[60] u32:20 u64:0 u64:0", grid: "3", block: "128", shared: "1K" }],
  ]) {
    const page = await open("own.html", wrong);
    await run(page, { files: [wild(name)], ...fields });
    if (!(await status(page)).includes("warp instructions")) wrong.push(`${name}: ${await status(page)}`);
    if (await page.locator("#says .finding").count()) wrong.push(`${name}: ${await page.locator("#says").textContent()}`);
    if ((await page.locator(".drawing svg").count()) === 0) wrong.push(`${name}: no picture`);
    await page.context().close();
  }
  return wrong;
}

/// A buffer too short: the line of the source that reads beyond it. Then words that are no argument, and text that is no PTX.
export async function faults() {
  const wrong = [];
  const page = await open("own.html", wrong);
  const files = ["ptx/stencil.debug.ptx", "stencil.cu"].map(wild);
  await run(page, { files, values: "i32[100] i32[117] i32:13 i32:9", grid: "2,2", block: "8,8" });
  const says = await page.locator("#says").textContent();
  if (!says.includes("stencil.cu:7")) wrong.push(`the fault: ${says}`);
  const parts = await page.locator("#says .fault").first().locator("dt").allTextContents();
  for (const part of ["kind", "line", "thread", "address", "instruction"]) {
    if (!parts.includes(part)) wrong.push(`of the fault, ${part} is not said: ${parts.join(", ")}`);
  }
  const line = await page.locator('#source tr:has(.finding) code').first().textContent();
  if (!line.includes("in[y * width + x]")) wrong.push(`its line: ${line}`);
  await run(page, { values: "i33[100]" });
  if (!(await status(page)).includes("i33[100]")) wrong.push(`a wrong argument: ${await status(page)}`);
  await run(page, { values: "", text: STOPPED });
  if ((await status(page)) !== "A fault stopped the kernel.") wrong.push(`a trap: ${await status(page)}`);
  const stopped = await page.locator("#says .fault").textContent();
  if (!stopped.includes("trap") || !stopped.includes("(0, 0, 0) of block (0, 0, 0)")) wrong.push(`a trap: ${stopped}`);
  await run(page, { values: "", text: ".version 7.8\n.target sm_75\n.entry k() { what; }\n" });
  if (!(await status(page)).includes(":3:")) wrong.push(`wrong PTX: ${await status(page)}`);
  const headline = await page.locator("#says").textContent();
  if (!headline.includes(":3:") || headline.includes("trap")) wrong.push(`the headline of wrong PTX: ${headline}`);
  await page.context().close();
  return wrong;
}

/// What one has typed is there again after a reload.
export async function reloaded() {
  const wrong = [];
  const page = await open("own.html", wrong);
  await settled(page);
  await run(page, { text: STOPPED, values: "" });
  await page.reload();
  await settled(page);
  if ((await page.locator('[name="ptx"]').inputValue()) !== STOPPED) wrong.push("the text is lost");
  if ((await status(page)) !== "A fault stopped the kernel.") wrong.push(`after a reload: ${await status(page)}`);
  await page.context().close();
  return wrong;
}

/// An endless kernel ends when it is cancelled, and another runs after it.
export async function endless() {
  const wrong = [];
  const page = await open("own.html", wrong);
  const example = await page.locator('[name="ptx"]').inputValue();
  await run(page, { text: ENDLESS, values: "" }, false);
  await page.waitForTimeout(500);
  await page.locator("#cancel").click();
  await settled(page);
  if (!(await status(page)).startsWith("Cancelled")) wrong.push(`not cancelled: ${await status(page)}`);
  await run(page, { text: example, values: "u32[64]" });
  if (!(await status(page)).includes("found 2 faults")) wrong.push(`no run after a cancelled one: ${await status(page)}`);
  await page.context().close();
  return wrong;
}
