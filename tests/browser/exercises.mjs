// What the tests of `cargo learn serve` (course.mjs, class.mjs) do with a page of an exercise, and how their checks run.

import { address, browser, status } from "./pages.mjs";

/// A page; what it writes to the console and asks of others goes to `wrong`.
export async function watched(wrong, patience, options) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  context.setDefaultTimeout(patience);
  const page = await context.newPage();
  page.on("console", (message) => wrong.push(`on the console: ${message.text()}`));
  page.on("pageerror", (error) => wrong.push(`an error: ${error.message}`));
  page.on("dialog", (dialog) => dialog.accept());
  page.on("request", (request) => {
    if (!/^(data:|blob:)/.test(request.url()) && !request.url().startsWith(address)) wrong.push(`it asks for ${request.url()}`);
  });
  return page;
}

/// Where one writes: in the editor that npm makes (`editor`), or in a plain text area (`text`).
export const area = (page, editor) => page.locator(editor === "text" ? "#text" : ".cm-content");

/// Waits until the page's script has joined its controls, and the editor is there. npm makes it, at first.
export async function ready(page, editor) {
  await page.locator("#work[data-ready]").waitFor({ state: "attached" });
  if (editor === "text") return;
  for (let tries = 0; (await page.locator(".editor").count()) === 0; tries += 1) {
    if (tries > 240) throw new Error("there is no editor");
    await page.waitForTimeout(500);
    await page.reload();
    await page.locator("#work[data-ready]").waitFor({ state: "attached" });
  }
}

/// Replaces the text in the editor, as by pasting.
export async function write(page, editor, text) {
  await area(page, editor).focus();
  await page.keyboard.press("Control+A");
  // Over a selection, Chromium would insert it with a style, which the policy forbids.
  await page.keyboard.press("Delete");
  await page.keyboard.insertText(text);
}

/// Waits until the page says this.
export async function says(page, words) {
  const said = page.waitForFunction((words) => document.getElementById("status").textContent.includes(words), words);
  await said.catch(async () => {
    throw new Error(`it does not say "${words}" but "${await status(page)}"`);
  });
}

/// Waits until something is the case, and notes after ten seconds that it is not.
export async function until(wrong, what, is) {
  for (let tries = 0; tries < 200; tries += 1) {
    if (await is()) return;
    await new Promise((done) => setTimeout(done, 50));
  }
  wrong.push(what);
}

/// A form of a page elsewhere, which saves a text while the browser has the cookie: the answer to it.
export async function savedFromElsewhere(page) {
  await page.route("http://elsewhere.test/", (route) =>
    route.fulfill({
      contentType: "text/html",
      body: `<form method="post" action="${address}exercises/guard/save"><input name="text" value="stolen"><input name="base" value=""></form>
             <script>document.forms[0].submit()</script>`,
    }),
  );
  const [answer] = await Promise.all([page.waitForResponse((it) => it.url().endsWith("/save")), page.goto("http://elsewhere.test/")]);
  return answer.status();
}

/// Runs the checks whose names have `only` in them, prints a line for each, and what is wrong below it.
export async function check(what, jobs, only, script) {
  let failed = false;
  for (const [name, job] of Object.entries(jobs).filter(([name]) => name.includes(only))) {
    const ours = (line) => /^\S/.test(line) || line.includes(script) || line.includes("exercises.mjs");
    const wrong = await job().catch((error) => [error.stack.split("\n").filter(ours).slice(0, 3).join(" ")]);
    failed ||= wrong.length > 0;
    console.log([`${wrong.length === 0 ? "   ok" : "wrong"}  ${what}: ${name}`, ...wrong.slice(0, 12).map((it) => `       ${it}`)].join("\n"));
  }
  await browser.close();
  process.exitCode = failed ? 1 : 0;
}
