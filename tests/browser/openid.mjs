// Signs in to a class with accounts of an identity provider, as `cargo xtask browser` calls it: node openid.mjs BROWSER ADDRESS
// SCREENSHOTS COURSE PROVIDER [ONLY]. The provider is `crates/learn/tests/class/provider`; to the browser it is another site.
// On the class's pages the console must stay empty, except for the statuses 401 and 403.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { check, ready, says, write } from "./exercises.mjs";
import { address, browser, looks } from "./pages.mjs";

const [course, provider, only = ""] = process.argv.slice(5);

/// A page whose class's pages are watched; the provider's are the provider's.
async function opened(wrong, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  context.setDefaultTimeout(180_000);
  // Fonts, which the provider's pages ask for.
  await context.route(/^https:/, (route) => route.fulfill({ contentType: "text/css", body: "" }));
  const page = await context.newPage();
  const noted = (what) => page.url().startsWith(address) && !/status of 40[13]/.test(what) && wrong.push(what);
  page.on("console", (message) => noted(`on the console: ${message.text()}`));
  page.on("pageerror", (error) => noted(`an error: ${error.message}`));
  return page;
}

/// Types a name at the provider, which the class has led to, and agrees.
async function typed(wrong, page, name) {
  await page.waitForSelector('input[name="login"]');
  if (!page.url().startsWith(provider)) wrong.push(`the provider is ${page.url()}`);
  await page.locator('input[name="login"]').fill(name);
  await page.locator('input[name="password"]').fill("any");
  await page.locator('button[type="submit"]').click();
  // Who has agreed before is not asked again.
  const agrees = page.locator('input[name="prompt"][value="consent"]');
  await agrees.or(page.locator("#content")).first().waitFor({ state: "attached" });
  if (await agrees.count()) await page.locator('button[type="submit"]').click();
  await page.waitForURL(`${address}**`);
  await page.waitForLoadState();
}

const toProvider = (page) => page.getByRole("link", { name: "Sign in with your account at" }).click();
const heading = (page) => page.locator("h1").textContent();

/// From an exercise to the provider and back; solved, submitted, signed out, and signed out it stays.
async function solved() {
  const wrong = [];
  const page = await opened(wrong);
  await page.goto(`${address}exercises/guard`);
  await toProvider(page);
  await typed(wrong, page, "anna");
  if (page.url() !== `${address}exercises/guard`) wrong.push(`one comes back to ${page.url()}`);
  await ready(page, "text");
  if (!(await page.locator("header").textContent()).includes("Anna")) wrong.push("the page does not say who is signed in");
  if ((await page.evaluate(() => document.cookie)) !== "") wrong.push("scripts can read a cookie");
  await write(page, "text", readFileSync(join(course, "guard/solution.rs"), "utf8"));
  await page.locator("#submit").click();
  await says(page, "Solved, and submitted.");
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByText("Please sign in").first().waitFor();
  await page.goto(`${address}exercises/guard`);
  if ((await heading(page)) !== "Please sign in") wrong.push("one is not signed out");
  // The next one at this machine is asked for a name.
  await toProvider(page);
  await typed(wrong, page, "anna");
  await page.locator("#state").getByText("solved").waitFor();
  await page.context().close();
  return wrong;
}

/// Accounts that the class does not know get one sentence, and may try another account.
async function refused() {
  const wrong = [];
  const page = await opened(wrong, { viewport: { width: 400, height: 800 } });
  await page.goto(address);
  for (const [name, title, sentence] of [
    ["unverified", "You are not signed in", "Confirm your address"],
    ["mallory", "You are not on the roster", "mallory@uni.edu, is not on the roster of this class. Tell your teacher."],
  ]) {
    await page.goto(address);
    await toProvider(page);
    await typed(wrong, page, name);
    const said = await page.getByRole("alert").allTextContents();
    if ((await heading(page)) !== title || said.length !== 1 || !said[0].includes(sentence)) wrong.push(`${name}: ${await heading(page)}: ${said}`);
    if (await page.getByRole("button", { name: "Sign out" }).count()) wrong.push(`${name} is signed in`);
  }
  await page.getByRole("link", { name: "Sign in with another account" }).click();
  await typed(wrong, page, "anna");
  await page.waitForSelector("main.map");
  // An answer of the provider counts once.
  const again = await page.goto(`${address}openid/back?code=x&state=${"0".repeat(64)}`);
  if (again.status() !== 400 || (await page.getByRole("alert").count()) !== 1) wrong.push(`a second answer: ${again.status()}`);
  wrong.splice(0, wrong.length, ...wrong.filter((it) => !/status of 400/.test(it)));
  await page.context().close();
  return wrong;
}

const jobs = {
  "an account signs in, solves and signs out": solved,
  "accounts that are refused": refused,
  "who is not signed in, its looks": async () =>
    (await looks("", () => {}, { name: "class-openid-in" })).filter((it) => !/status of 401/.test(it)),
};
await check("class, accounts", jobs, only, "openid.mjs");
