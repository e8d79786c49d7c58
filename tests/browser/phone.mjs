// A student with a phone: from the first page to the transpose, the row of the tile from 32 to 33, the goal, and the link to it.
import { address, open, settled } from "./pages.mjs";

/// What of the first picture is on the screen, from 0 to 1.
const inView = (page) =>
  page.locator(".drawing svg").first().evaluate((svg) => {
    const { top, bottom, height } = svg.getBoundingClientRect();
    return Math.max(0, Math.min(bottom, innerHeight) - Math.max(top, 0)) / height;
  });

/// The slider is in reach of the picture, the funnel becomes a diagonal, and the address brings it back.
export async function phone() {
  const wrong = [];
  const page = await open("index.html", wrong);
  await page.setViewportSize({ width: 400, height: 800 });
  await page.locator('p a[href="transpose.html"]').click();
  await settled(page);
  const described = () => page.locator(".drawing svg").first().textContent();
  if (!(await described()).includes("32 wavefronts")) wrong.push(`at 32: ${await described()}`);
  // What the reader scrolls to still has the slider above it.
  await page.locator(".drawing").first().scrollIntoViewIfNeeded();
  const slider = page.locator('input[type="range"]');
  await page.locator('[data-slide="1"]').click();
  await page.waitForSelector('.goal[data-met="true"]');
  if (!(await described()).includes("1 wavefront:")) wrong.push(`at 33: ${await described()}`);
  const { top } = await slider.evaluate((it) => it.getBoundingClientRect());
  if (top < 0 || top > 800) wrong.push(`the slider is at ${top}`);
  if ((await inView(page)) < 0.6) wrong.push(`of the picture, ${await inView(page)} is on the screen`);
  await page.locator('.pane:first-child [data-step="1"]').click();
  await page.waitForFunction(() => location.search.includes("request0="));
  const [link, drawn] = [page.url(), await described()];
  const again = await open(link.slice(address.length), wrong);
  await settled(again);
  if ((await again.locator(".drawing svg").first().textContent()) !== drawn) wrong.push(`${link} shows something else`);
  for (const one of [page, again]) await one.context().close();
  return wrong;
}
