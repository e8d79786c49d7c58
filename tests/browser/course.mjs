// Opens the pages of `cargo learn serve` in a browser, as `cargo xtask browser` calls it: node course.mjs BROWSER ADDRESS
// SCREENSHOTS TOKEN COURSE EDITOR [ONLY], where EDITOR is `text` or `editor`. A student solves exercises there, with one hand on the
// files of the course: what one does in the page shows on the disk, and the other way round. Nothing may be on the console, and
// axe must find nothing. Prints a line for each check, and what is wrong below it.

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { area, check, ready, savedFromElsewhere, says, until, watched, write } from "./exercises.mjs";
import { address, browser, looks, status } from "./pages.mjs";

const [token, course, editor, only = ""] = process.argv.slice(5);
const file = (name) => join(course, name);
const read = (name) => readFileSync(file(name), "utf8");
const starter = (name) => read(`${name}/starter.rs`);

/// A page of an exercise, of a browser that has the cookie.
async function open(wrong, name, options = {}) {
  const page = await watched(wrong, 120_000, options);
  await enter(page);
  await page.goto(`${address}exercises/${name}`);
  if (options.javaScriptEnabled !== false) await ready(page, editor);
  return page;
}

async function enter(page) {
  await page.goto(`${address}?token=${token}`);
  await page.waitForSelector(".map");
}

/// Without the token there is nothing to see, for scripts of other pages neither.
async function closed() {
  const wrong = [];
  const answers = { "no cookie": await fetch(address), "another token": await fetch(`${address}?token=${token}0`) };
  for (const [what, answer] of Object.entries(answers)) {
    if (answer.status !== 403 || /padding/.test(await answer.text())) wrong.push(`${what}: ${answer.status}`);
  }
  // A page elsewhere sends a form; the browser has the cookie.
  const page = await open([], "guard");
  const before = read("guard/kernel.rs");
  const answer = await savedFromElsewhere(page);
  if (answer !== 403 || read("guard/kernel.rs") !== before) wrong.push(`a form of another page: ${answer}`);
  await page.context().close();
  return wrong;
}

/// From the map to a wrong run, its lines, and the solution, by the keyboard.
async function solved() {
  const wrong = [];
  rmSync(file("padding/kernel.rs"), { force: true });
  const page = await open(wrong, "padding");
  await page.keyboard.press("Control+Enter");
  await says(page, "Not solved yet. One line to look at.");
  if ((await page.locator("#results svg").count()) === 0) wrong.push("nothing is drawn");
  const button = page.locator("#problems button").first();
  await button.focus();
  await page.keyboard.press("Enter");
  if (editor === "editor") {
    if ((await page.locator(".cm-lint-marker-error").count()) === 0) wrong.push("no line is marked");
    if (!(await page.locator(".cm-activeLine").textContent()).includes("(*tile)[x][line]")) wrong.push("the cursor is on another line");
  } else {
    const line = await page.locator("#text").evaluate((it) => it.value.slice(0, it.selectionStart).split("\n").length);
    if (`line ${line}` !== (await button.textContent())) wrong.push(`the cursor is on line ${line}`);
  }
  await write(page, editor, starter("padding").replace("WIDTH: usize = 32", "WIDTH: usize = \"33\""));
  await page.keyboard.press("Control+Enter");
  await says(page, "Not solved yet. One line to look at.");
  const problem = await page.locator("#problems").textContent();
  if (!problem.includes("mismatched types: expected `usize`, found `&str`")) wrong.push(`the compiler's error: ${problem}`);
  await write(page, editor, starter("padding").replace("WIDTH: usize = 32", "WIDTH: usize = 33"));
  await page.keyboard.press("Control+Enter");
  await says(page, "Solved.");
  await until(wrong, "the page does not count it as solved", async () => (await page.locator("#state").textContent()) === "solved");
  if (!read("padding/kernel.rs").includes("WIDTH: usize = 33")) wrong.push("the file has another text");
  if (!(await page.locator("#problems").isHidden())) wrong.push("there are problems left");
  await page.keyboard.press("Control+Enter");
  await page.getByText("This text has been judged before").waitFor();
  await page.getByText("Run again, with other data").click();
  await page.waitForFunction(() => !document.getElementById("results").textContent.includes("judged before"));
  await says(page, "Solved.");
  await page.getByRole("link", { name: "The solution" }).click();
  await page.getByText("const WIDTH: usize = 33").waitFor();
  await page.goto(address);
  if (!(await page.locator("li.solved").textContent()).includes("padding")) wrong.push("the map does not count it as solved");
  await page.context().close();
  return wrong;
}

/// The file changes on the disk, then in both places.
async function changed() {
  const wrong = [];
  writeFileSync(file("guard/kernel.rs"), "// one\n");
  const page = await open(wrong, "guard");
  writeFileSync(file("guard/kernel.rs"), "// two\n");
  await says(page, "was changed on the disk, and is read again");
  const text = async () => (editor === "text" ? page.locator("#text").inputValue() : (await area(page, editor).innerText()).trimEnd() + "\n");
  if ((await text()) !== "// two\n") wrong.push(`the page has ${await text()}`);
  await write(page, editor, "// mine\n");
  await page.keyboard.press("Control+S");
  await says(page, "Saved.");
  if (read("guard/kernel.rs") !== "// mine\n") wrong.push(`saved: ${read("guard/kernel.rs")}`);
  for (const [choice, expected] of [["#mine", "// mine, #mine\n"], ["#theirs", "// theirs\n"]]) {
    await write(page, editor, `// mine, ${choice}\n`);
    writeFileSync(file("guard/kernel.rs"), "// theirs\n");
    await page.locator("#conflict").waitFor();
    await page.keyboard.press("Control+S");
    if (read("guard/kernel.rs") !== "// theirs\n") wrong.push("it was overwritten without a question");
    await page.locator(choice).click();
    await until(wrong, `${choice}: ${read("guard/kernel.rs")}`, async () => read("guard/kernel.rs") === expected && (await text()) === expected);
    if (await page.locator("#conflict").isVisible()) wrong.push(`${choice}: the question stays`);
  }
  await page.locator("#reset").click();
  await says(page, "is the starter again");
  if (read("guard/kernel.rs") !== starter("guard")) wrong.push("reset has left another text");
  for (const number of [1, 2]) {
    await page.locator("#hint").click();
    await page.getByRole("heading", { name: `Hint ${number} of` }).waitFor();
  }
  await page.context().close();
  return wrong;
}

/// A run that would never end is stopped, and so is one whose page is closed.
async function stopped() {
  const wrong = [];
  const page = await open(wrong, "guard");
  const endless = "#[allow(long_running_const_eval)]\nconst X: u64 = { let mut i = 0u64; while i < 1 << 60 { i += 1; } i };";
  await write(page, editor, `${starter("guard")}\n${endless}\n#[kernel]\npub unsafe fn other(o: *mut u64) {\n    *o = X;\n}\n`);
  await page.locator("#run").click();
  await page.locator('#steps li.now[data-step="compiling"]').waitFor();
  await page.locator("#stop").click();
  await says(page, "Stopped.");
  if (await page.locator("#stop").isVisible()) wrong.push("it can be stopped again");
  await page.locator("#reset").click();
  await says(page, "is the starter again");
  await page.context().close();
  return wrong;
}

/// The keyboard reaches all, and leaves the editor.
async function byKeyboard() {
  const wrong = [];
  const page = await open(wrong, "guard");
  const reached = [];
  const focused = () => page.evaluate(() => document.activeElement?.id || document.activeElement?.className || document.activeElement?.textContent?.trim());
  for (let presses = 0; presses < 30; presses += 1) {
    if (/cm-content/.test(await focused())) await page.keyboard.press("Escape");
    await page.keyboard.press("Tab");
    reached.push(String(await focused()));
  }
  for (const wanted of ["skip", "run", "save", "reset", editor === "text" ? "text" : "cm-content", "Options"]) {
    if (!reached.some((it) => it.includes(wanted))) wrong.push(`the keyboard does not reach '${wanted}': ${reached.join(", ")}`);
  }
  if (editor === "editor") {
    await write(page, editor, "fn a() {\n}");
    await page.keyboard.press("Control+Home");
    await page.keyboard.press("Tab");
    if (!(await area(page, editor).innerText()).startsWith("    fn a()")) wrong.push("Tab does not indent");
  }
  await page.context().close();
  return wrong;
}

/// Numbers are typed beside their questions, and are in the file.
async function predicted() {
  const wrong = [];
  const page = await open(wrong, "predict_banks");
  const answers = [...read("predict_banks/solution.toml").matchAll(/^(\w+) = (\S+)/gm)];
  for (const [, name, value] of answers) await page.locator(`[data-question="${name}"]`).fill(value);
  await page.locator("#run").click();
  await says(page, "Solved.");
  const text = read("predict_banks/predict.toml");
  for (const [line] of answers) if (!text.includes(line)) wrong.push(`the file has no ${line}`);
  // The other way round.
  writeFileSync(file("predict_banks/predict.toml"), text.replace("stride_8 = 8", "stride_8 = 7"));
  await until(wrong, "the field does not follow the file", async () => (await page.locator('[data-question="stride_8"]').inputValue()) === "7");
  await page.context().close();
  return wrong;
}

/// Without scripts, forms do the same.
async function withoutScripts() {
  const wrong = [];
  writeFileSync(file("padding/kernel.rs"), starter("padding"));
  const page = await open(wrong, "padding", { javaScriptEnabled: false });
  await page.locator("#text").fill(read("padding/solution.rs"));
  await page.locator("#run").click();
  await page.locator(".says").getByText("Solved.").waitFor();
  if (read("padding/kernel.rs") !== read("padding/solution.rs")) wrong.push("the file has another text");
  await page.locator("#text").fill("// mine\n");
  writeFileSync(file("padding/kernel.rs"), "// theirs\n");
  await page.locator("#save").click();
  if (!(await page.locator("#conflict").textContent()).includes("// theirs")) wrong.push("no conflict is shown");
  await page.locator("#mine").click();
  if (read("padding/kernel.rs") !== "// mine\n") wrong.push("the decision has no effect");
  await page.context().close();
  return wrong;
}

/// A page before and after a run, at every width and in every scheme. The address has the token at first.
async function looksOf(name) {
  const path = `?token=${token}`;
  return looks(
    path,
    async (page) => {
      await page.waitForSelector(".map");
      if (name === "map") return;
      await page.goto(`${address}exercises/${name}`);
      await ready(page, editor);
      await page.locator("#run").click();
      await page.waitForSelector("#results section");
      for (const summary of await page.locator("details:not([open]) > summary").all()) if (await summary.isVisible()) await summary.click();
      if (!(await status(page))) throw new Error("no status");
    },
    { name: `course-${editor}-${name}` },
  );
}

const jobs = {
  "only with the token": closed,
  "a wrong run, its lines, the solution": solved,
  "a file that changes in both places": changed,
  "a run that is stopped": stopped,
  "by the keyboard": byKeyboard,
  "predictions": predicted,
  ...(editor === "text" ? { "without scripts": withoutScripts } : {}),
  ...Object.fromEntries(["map", "padding", "predict_banks"].map((name) => [`${name}, its looks`, () => looksOf(name)])),
};
await check(`course, ${editor}`, jobs, only, "course.mjs");
