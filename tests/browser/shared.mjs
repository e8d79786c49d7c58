// What readers take from a page, and what they see first: wavefronts that play, links, pictures as files, pages without
// their frame, the first page's slider, and the first picture over a slow line.
import { readFileSync } from "node:fs";
import { address, browser, open, set, settled } from "./pages.mjs";

/// The wavefronts of a column: they step, they play to the end, and stop; a drawing with one has no such buttons.
export async function played() {
  const wrong = [];
  const page = await open("banks.html", wrong);
  await settled(page);
  const pane = page.locator(".pane").first();
  const says = () => pane.locator(".passes output").textContent();
  const faint = () => pane.locator("[data-lanes].faint-pass").count();
  const expect = async (what, words, count) => {
    if ((await says()) !== words || (await faint()) !== count) wrong.push(`${what}: "${await says()}", ${await faint()} faint words`);
  };
  await expect("at first", "32 wavefronts", 0);
  await pane.locator('[data-pass-step="1"]').click();
  await expect("a step", "wavefront 1 of 32", 31);
  await pane.locator('[data-pass-step="1"]').click();
  await expect("another", "wavefront 2 of 32", 31);
  for (let step = 0; step < 2; step += 1) await pane.locator('[data-pass-step="-1"]').click();
  await expect("back", "32 wavefronts", 0);
  // Each text that the play shows, however short: a busy machine skips frames.
  await page.evaluate(() => {
    const output = document.querySelector(".passes output");
    window.shown = [];
    new MutationObserver(() => window.shown.push(output.textContent)).observe(output, { childList: true, characterData: true, subtree: true });
  });
  await pane.locator(".play").click();
  for (const words of ["wavefront 3 of 32", "wavefront 32 of 32", "32 wavefronts"]) {
    await page.waitForFunction((words) => window.shown.includes(words), words);
  }
  await expect("played", "32 wavefronts", 0);
  await pane.locator(".play").click();
  await pane.locator(".play").click();
  await expect("stopped", "32 wavefronts", 0);
  await set(page, "stride", "33");
  if (await pane.locator(".passes").isVisible()) wrong.push("a drawing with one wavefront can be played");
  await page.context().close();
  return wrong;
}

/// The link to the setting, with and without the frame; the picture as a file.
export async function taken() {
  const wrong = [];
  const page = await open("banks.html?stride=2", wrong);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await settled(page);
  for (const [button, expected] of [["copy", "banks.html?stride=2"], ["copy-embedded", "banks.html?stride=2&embed=1"]]) {
    await page.locator(`#${button}`).click();
    await page.waitForFunction((button) => document.getElementById(button).textContent === "Copied", button);
    const link = await page.evaluate(() => navigator.clipboard.readText());
    if (link !== address + expected) wrong.push(`${button} copies ${link}`);
  }
  const [download] = await Promise.all([page.waitForEvent("download"), page.locator("#save").click()]);
  if (download.suggestedFilename() !== "banks.svg") wrong.push(`the file is ${download.suggestedFilename()}`);
  const file = readFileSync(await download.path(), "utf8");
  if (!file.startsWith("<svg") || !file.includes("2 wavefronts") || !file.includes(".picture .word")) wrong.push(`the file: ${file.slice(0, 200)}`);
  await page.goto(`${address}banks.html?stride=2&embed=1`);
  await settled(page);
  for (const selector of [".top", ".turn", "#lines"]) {
    if (await page.locator(selector).isVisible()) wrong.push(`${selector} is in the frameless page`);
  }
  for (const selector of ["#slider", "#says", ".drawing svg"]) {
    if (!(await page.locator(selector).first().isVisible())) wrong.push(`${selector} is not in the frameless page`);
  }
  await set(page, "stride", "3");
  if (!page.url().endsWith("?stride=3&embed=1")) wrong.push(`a moved slider leaves the frameless page: ${page.url()}`);
  await page.context().close();
  return wrong;
}

/// Without JavaScript a page has what it begins with, and says what it lacks; nothing seems to run.
export async function without(labs) {
  const wrong = [];
  const context = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  for (const path of ["transpose.html", "own.html", "pattern.html", "index.html", "predict_banks.html"]) {
    await page.goto(address + path);
    const shown = await page.locator("main").innerText();
    if (/Running|Loading/.test(shown)) wrong.push(`${path} seems to run`);
    if (!shown.includes("by JavaScript and WebAssembly")) wrong.push(`${path} does not say what it lacks`);
    const drawn = (await page.locator(".drawing svg").count()) > 0;
    if (drawn === ["own.html", "predict_banks.html"].includes(path)) wrong.push(`${path}: a picture: ${drawn}`);
    if (path === "transpose.html" && !(await page.locator("#says").innerText()).includes("32 wavefronts")) wrong.push(`${path} has no sentence`);
  }
  for (const path of labs) {
    await page.goto(address + path);
    for (const [part, selector] of [["sentence", "#says p"], ["picture", ".drawing svg"], ["table", "#table tbody tr"]]) {
      if ((await page.locator(selector).count()) === 0) wrong.push(`${path} has no ${part} of its first setting`);
    }
  }
  await context.close();
  return wrong;
}

/// The first page: the transpose's picture, its slider, and what was measured.
export async function begun() {
  const wrong = [];
  const page = await open("index.html", wrong);
  const drawn = () => page.locator("#drawing svg").textContent();
  if (!(await drawn()).includes("32 wavefronts")) wrong.push(`at first: ${await drawn()}`);
  const said = await page.locator("#start p").first().textContent();
  if (!/\d\.\d\d ms become \d\.\d\d ms, measured on an H200 with 16384 x 16384 floats/.test(said)) wrong.push(`the sentence: ${said}`);
  await page.locator('[data-slide="1"]').click();
  await page.waitForFunction(() => document.querySelector("#drawing svg").textContent.includes("1 wavefront:"));
  if ((await page.locator("#start output").first().textContent()) !== "33") wrong.push("the slider does not say 33");
  await page.context().close();
  return wrong;
}

/// The sentence and the picture of a page are there before the program is: over a line of 1.6 Mbit/s and with a processor that
/// is six times slower, the page's own file is all that they need. The time is the browser's, and is printed; what is judged are
/// the bytes that come before the picture, which no other program on the machine changes.
export async function slow(labs) {
  const wrong = [];
  for (const path of labs) {
    const { headers } = await fetch(address + path, { method: "HEAD", headers: { "Accept-Encoding": "deflate" } });
    if (headers.get("content-encoding") !== "deflate") wrong.push(`${path} is not compressed`);
    if (!(Number(headers.get("content-length")) < 100_000)) wrong.push(`${path} has ${headers.get("content-length")} bytes`);
  }
  const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
  context.setDefaultTimeout(600_000);
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.emulateNetworkConditions", { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 94_000 });
  await session.send("Emulation.setCPUThrottlingRate", { rate: 6 });
  let bytes = 0;
  let late = false;
  const needed = new Map();
  session.on("Network.requestWillBeSent", ({ requestId, request }) => needed.set(requestId, request.url));
  session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    if (!late && /\.(html|css)$/.test(needed.get(requestId))) bytes += encodedDataLength;
  });
  await page.goto(`${address}transpose.html`, { waitUntil: "commit" });
  await page.waitForSelector(".drawing svg");
  await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint").length > 0);
  late = true;
  const painted = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime);
  const busy = await page.locator('#results[aria-busy="true"]').count();
  if (!busy) wrong.push("the program came before the picture: nothing was slow");
  // 1.6 Mbit/s for 1.5 s, of the 2 s that a reader waits; the round trips take the rest.
  if (bytes > 300_000) wrong.push(`${bytes} bytes come before the picture`);
  if (!(await page.locator("#says").textContent()).includes("wavefronts")) wrong.push("there is no sentence");
  console.log(`first picture over 1.6 Mbit/s, six times slower: ${painted.toFixed(0)} ms, after ${bytes} bytes`);
  await context.close();
  return wrong;
}
