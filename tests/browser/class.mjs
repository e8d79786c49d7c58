// Opens the pages of `cargo learn serve --class` in a browser, as `cargo xtask browser` calls it: node class.mjs BROWSER ADDRESS
// SCREENSHOTS COURSE EDITOR ANNA BEN TEACHER [ONLY], where the last ones are the secrets of links. Students sign in, solve and
// submit; the teacher looks at what they did. Nothing may be on the console, and axe must find nothing.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { check, ready, savedFromElsewhere, says, until, watched, write } from "./exercises.mjs";
import { address, browser, looks, status } from "./pages.mjs";

const [course, editor, anna, ben, teacher, only = ""] = process.argv.slice(5);
const read = (name) => readFileSync(join(course, name), "utf8");
const solution = (name) => read(`${name}/solution.rs`);
const starter = (name) => read(`${name}/starter.rs`);

/// A page of someone who has signed in by a link.
async function open(wrong, secret, path = "", options = {}) {
  const page = await watched(wrong, 180_000, options);
  await enter(page, secret);
  await page.goto(`${address}${path}`);
  if (path.startsWith("exercises/") && options.javaScriptEnabled !== false) await ready(page, editor);
  return page;
}

async function enter(page, secret) {
  await page.goto(`${address}enter/${secret}`);
  await page.getByRole("button", { name: "Sign in as" }).click();
  await page.waitForSelector("main.map, main.class");
}

/// A link opens the class, and nothing else does.
async function signedIn() {
  const wrong = [];
  for (const path of ["", "exercises/guard", "class/students/anna", "runs/1"]) {
    const answer = await fetch(`${address}${path}`);
    if (answer.status !== 401 || /guard/.test(await answer.text())) wrong.push(`without a session, /${path}: ${answer.status}`);
  }
  const page = await open(wrong, anna, "", { locale: "en-US", timezoneId: "America/New_York" });
  const due = (await page.locator("main").textContent()).replaceAll("\u202f", " ");
  if (!due.includes("due Dec 1, 2999, 6:59 PM EST")) wrong.push(`the deadline of the map: ${due}`);
  if ((await page.evaluate(() => document.cookie)) !== "") wrong.push("scripts can read the cookie");
  // A page elsewhere sends a form; the browser has the cookie.
  const before = wrong.length;
  const answer = await savedFromElsewhere(page);
  wrong.splice(before);
  if (![401, 403].includes(answer)) wrong.push(`a form of another page: ${answer}`);
  await page.goto(address);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.waitForLoadState();
  wrong.splice(before);
  if (!(await page.locator("main").textContent()).includes("Please sign in")) wrong.push("one is not signed out");
  await page.context().close();
  return wrong;
}

/// A wrong run and its lines, the solution, and what is submitted: by the keyboard.
async function solved() {
  const wrong = [];
  const page = await open(wrong, anna, "exercises/guard");
  await write(page, editor, starter("guard").replace("unwrap();", "unwrap() + 1;"));
  await page.keyboard.press("Control+Enter");
  await says(page, "to look at.");
  if ((await page.locator("#problems button").count()) === 0) wrong.push("the compiler's error has no line");
  await write(page, editor, starter("guard"));
  await page.keyboard.press("Control+Enter");
  await says(page, "Running ...");
  await says(page, "Not solved yet.");
  const button = page.locator("#problems button").first();
  await button.focus();
  await page.keyboard.press("Enter");
  if (editor === "editor" && (await page.locator(".cm-lint-marker-error").count()) === 0) wrong.push("no line is marked");
  await write(page, editor, solution("guard"));
  await page.keyboard.press("Control+Enter");
  await says(page, "Solved. Submit it: only what is submitted counts.");
  await page.locator("#submit").focus();
  await page.keyboard.press("Enter");
  await says(page, "Solved, and submitted.");
  await until(wrong, "the page does not count it as solved", async () => (await page.locator("#state").textContent()) === "solved");
  // Another window has another text.
  const other = await page.context().newPage();
  await other.goto(`${address}exercises/guard`);
  await ready(other, editor);
  await write(other, editor, "// theirs\n");
  await other.keyboard.press("Control+S");
  await says(other, "Saved.");
  await write(page, editor, "// mine\n");
  await page.keyboard.press("Control+S");
  await page.locator("#conflict").waitFor();
  wrong.splice(0, wrong.length, ...wrong.filter((it) => !/409/.test(it)));
  await page.locator("#mine").click();
  await says(page, "Saved.");
  await other.close();
  await page.locator("#reset").click();
  await says(page, "The starter is in the editor.");
  await page.keyboard.press("Control+S");
  await says(page, "Saved.");
  await page.getByRole("link", { name: "Your history" }).click();
  const rows = await page.locator("table.runs tbody tr").count();
  if (rows < 3) wrong.push(`the history has ${rows} runs`);
  if (!(await page.locator("table.runs tbody tr").first().textContent()).includes("submitted")) wrong.push("the history does not say what was submitted");
  await page.getByRole("link", { name: /^Run / }).nth(1).click();
  await page.waitForSelector(".diff .added");
  await page.goto(address);
  const tile = await page.locator("li.solved").first().textContent();
  if (!tile.includes("guard") || !tile.includes("2 of 2 points")) wrong.push(`the map says: ${tile}`);
  await page.context().close();
  return wrong;
}

/// Numbers are typed beside their questions; another student sees nothing of the first.
async function predicted() {
  const wrong = [];
  const page = await open(wrong, ben, "exercises/predict_banks");
  const answers = [...read("predict_banks/solution.toml").matchAll(/^(\w+) = (\S+)/gm)];
  for (const [, name, value] of answers) await page.locator(`[data-question="${name}"]`).fill(name === "stride_8" ? "7" : value);
  await page.locator("#submit").click();
  await says(page, "Not solved yet.");
  await page.goto(`${address}exercises/guard/history`);
  if (!(await page.locator("main").textContent()).includes("There are none.")) wrong.push("a student sees runs of another");
  await page.context().close();
  return wrong;
}

/// What the teacher sees of it.
async function taught() {
  const wrong = [];
  const page = await open(wrong, teacher);
  const cell = page.getByRole("link", { name: "Anna, guard: solved" });
  if ((await cell.textContent()) !== "2") wrong.push("the table has no points");
  await cell.click();
  await page.waitForSelector("table.runs");
  await page.getByRole("link", { name: "Exercise", exact: true }).click();
  if ((await page.locator(".chart rect.solved").count()) === 0) wrong.push("no run is drawn");
  if ((await page.locator("table.lines tbody tr").count()) === 0) wrong.push("there are no lines where most fail");
  await page.getByRole("button", { name: "Judge all submissions again" }).click();
  await page.getByText("1 runs are judged again").waitFor();
  await page.goto(`${address}class/exercises/predict_banks`);
  if (!(await page.locator(".answered").filter({ hasText: "Stride 8" }).or(page.locator(".answered .wrong")).first().textContent()).match(/7/)) wrong.push("the wrong answer is not shown");
  await page.goto(address);
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Canvas" }).click()]);
  const table = readFileSync(await download.path(), "utf8");
  if (!table.includes("\nanna,,,anna,,2,")) wrong.push(`the marks are ${table}`);
  if (/^[=+@-]/m.test(table)) wrong.push(`a cell is a formula: ${table}`);
  await page.context().close();
  return wrong;
}

/// The keyboard reaches all, and leaves the editor.
async function byKeyboard() {
  const wrong = [];
  const page = await open(wrong, ben, "exercises/guard");
  const reached = [];
  const focused = () => page.evaluate(() => document.activeElement?.id || document.activeElement?.className || document.activeElement?.textContent?.trim());
  for (let presses = 0; presses < 30; presses += 1) {
    if (/cm-content/.test(await focused())) await page.keyboard.press("Escape");
    await page.keyboard.press("Tab");
    reached.push(String(await focused()));
  }
  for (const wanted of ["skip", "Sign out", "run", "save", "submit", "reset", editor === "text" ? "text" : "cm-content", "Your history"]) {
    if (!reached.some((it) => it.includes(wanted))) wrong.push(`the keyboard does not reach '${wanted}': ${reached.join(", ")}`);
  }
  await page.context().close();
  return wrong;
}

/// Without scripts, forms do the same, and a page that waits loads itself again.
async function withoutScripts() {
  const wrong = [];
  const page = await open(wrong, ben, "exercises/padding", { javaScriptEnabled: false });
  await page.locator("#text").fill(solution("padding"));
  await page.locator("#submit").click();
  await page.waitForURL(/runs/);
  await page.locator(".says").getByText("Solved.").waitFor();
  await page.locator("main").getByText("submitted").first().waitFor();
  await page.goto(`${address}exercises/padding`);
  if ((await page.locator("#text").inputValue()) !== solution("padding")) wrong.push("the text is not kept");
  await page.locator("#reset").click();
  if ((await page.locator("#text").inputValue()) !== starter("padding")) wrong.push("the starter is not in the editor");
  await page.context().close();
  return wrong;
}

/// A page at every width and in every scheme.
const pagesOf = {
  map: [anna, ""],
  exercise: [anna, "exercises/guard"],
  history: [anna, "exercises/guard/history"],
  run: [anna, "runs/3"],
  table: [teacher, ""],
  student: [teacher, "class/students/anna"],
  lines: [teacher, "class/exercises/guard"],
  answers: [teacher, "class/exercises/predict_banks"],
};
async function looksOf(name) {
  const [secret, path] = pagesOf[name];
  return looks(
    `enter/${secret}`,
    async (page) => {
      await page.getByRole("button", { name: "Sign in as" }).click();
      await page.waitForSelector("main.map, main.class");
      await page.goto(`${address}${path}`);
      if (name === "exercise") await ready(page, editor);
      await page.waitForLoadState("networkidle");
    },
    { name: `class-${editor}-${name}` },
  );
}

const jobs = {
  "only by a link": signedIn,
  "a wrong run, the solution, what is submitted": solved,
  predictions: predicted,
  "what the teacher sees": taught,
  "by the keyboard": byKeyboard,
  ...(editor === "text" ? { "without scripts": withoutScripts } : {}),
  ...Object.fromEntries(Object.keys(pagesOf).map((name) => [`${name}, its looks`, () => looksOf(name)])),
};
await check(`class, ${editor}`, jobs, only, "class.mjs");
