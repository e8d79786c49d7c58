// The page of an index: what one types is counted at once, a wrong index is said, a link and Back keep the setting.
import { address, open, settled } from "./pages.mjs";

const says = (page) => page.locator("#says").textContent();

async function type(page, index) {
  await page.locator('[name="index"]').fill(index);
  await settled(page);
}

/// From 32 to 33, a wrong index, a link.
export async function typed() {
  const wrong = [];
  const page = await open("pattern.html", wrong);
  const expect = async (what, words) => {
    const said = await says(page);
    if (!said.includes(words)) wrong.push(`${what}: ${said}`);
  };
  await expect("at once, before the program is there", "32 wavefronts");
  await settled(page);
  await type(page, "tile[x*33 + y]");
  await expect("at 33", "1 wavefront:");
  await type(page, "tile[x*33 + ");
  await expect("a wrong index", "column 13: the index ends too early");
  if ((await page.locator('[name="index"]').getAttribute("aria-invalid")) !== "true") wrong.push("a wrong index is not marked");
  if (await page.locator("main.stale").count() === 0) wrong.push("the old picture is not marked");
  await type(page, "a[3*i]");
  await page.locator('[name="memory"]').selectOption("global");
  await settled(page);
  await expect("with stride 3", "12 sectors");
  if (await page.locator("main.stale").count()) wrong.push("a right index is still marked");
  await page.waitForFunction(() => location.search.includes("memory=global"));
  const link = page.url();
  await page.locator('.examples [data-index="a[i]"]').first().click();
  await page.waitForFunction(() => !location.search.includes("3*i") && !location.search.includes("3%2Ai"));
  await page.goBack();
  await page.waitForFunction(() => document.querySelector('[name="index"]').value === "a[3*i]");
  const again = await open(link.slice(address.length), wrong);
  await settled(again);
  if (!(await says(again)).includes("12 sectors")) wrong.push(`the link shows ${await says(again)}`);
  if ((await again.locator("#lanes tr").count()) !== 32) wrong.push("the lanes are not listed");
  await again.context().close();
  await page.context().close();
  return wrong;
}
