// An exercise to explain, in a browser.
import { readFileSync } from "node:fs";
import { status } from "./pages.mjs";

/// A wrong answer is not explained before it is asked for; right ones solve the exercise.
export const predicted = (path) => async (page, wrong) => {
  const said = (form) => form.locator(".said").textContent();
  const name = path.replace(".html", "");
  const solution = readFileSync(new URL(`../../exercises/${name}/solution.toml`, import.meta.url), "utf8");
  const right = [...solution.matchAll(/^(\w+) = (\S+)$/gm)].map(([, question, value]) => [question, value]);
  const answer = async (question, value) => {
    const form = page.locator(`[data-question="${question}"]`);
    await form.locator("input").fill(value);
    await form.locator("input").press("Enter");
    await form.locator(".said:not(:empty)").waitFor();
    return form;
  };
  const [[first, value]] = right;
  const form = await answer(first, String(Number(value) + 1));
  if (!(await said(form)).startsWith("Not ")) wrong.push(`a wrong answer: ${await said(form)}`);
  await form.locator(".tell").click();
  await page.waitForSelector('[data-state="told"]');
  const answers = [`The simulator counts ${value}.`, `PTX's memory model says ${value}.`];
  const told = await said(form);
  const ruled = /^By the rules it is ([\d.]+)\. /.exec(told)?.[1];
  if (!answers.some((answer) => told.startsWith(answer)) && Number(ruled) !== Number(value)) wrong.push(`the answer: ${told}`);
  for (const [question, value] of right) {
    await answer(question, value);
    await page.waitForSelector(`[data-question="${question}"][data-state="right"]`);
  }
  if (!(await status(page)).startsWith("Solved")) wrong.push(`not solved: ${await status(page)}`);
};
