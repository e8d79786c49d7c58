// A page of questions: the reader gives a number, the simulator says whether it is right. What an access costs is drawn once that
// is known, before that only what the lanes ask for.
import { Simulator } from "./simulator.js";

const page = document.querySelector("main.predict");
const status = document.getElementById("status");
status.textContent = "Loading the simulator ...";
const simulator = new Simulator(`exercises/${page.dataset.exercise}.json`);
const forms = [...page.querySelectorAll("form.question")];

/// The answers are there again after a reload, in this tab alone: of each question the number, and whether the answer was told.
const KEPT = `predict ${page.dataset.exercise}`;
const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "{}");
function keep(form, text, explain) {
  kept[form.dataset.question] = { text, explain };
  sessionStorage.setItem(KEPT, JSON.stringify(kept));
}

function count() {
  const right = forms.filter((form) => form.dataset.state === "right").length;
  status.textContent = right === forms.length ? "Solved: all are right." : `${right} of ${forms.length} are right.`;
}

/// Draws a question's access beside its kernel.
function draw(form, picture) {
  form.closest(".kernel").querySelector(".drawing").innerHTML = picture ?? "";
}

/// Asks about what stands in a form, and shows the reply.
async function ask(form, explain) {
  const text = form.querySelector("input").value.trim().replace(",", ".");
  const predicted = text === "" ? null : Number(text);
  const said = form.querySelector(".said");
  if (Number.isNaN(predicted)) {
    said.textContent = "Give a number.";
    return;
  }
  const reply = await simulator.ask({ do: "predict", question: form.dataset.question, predicted, explain });
  if (reply.error) {
    status.textContent = reply.error;
    return;
  }
  if (predicted !== null) keep(form, text, explain);
  form.dataset.state = reply.right ? "right" : explain ? "told" : predicted === null ? "open" : "wrong";
  if (reply.says) said.innerHTML = reply.says;
  else said.textContent = predicted === null ? "" : `Not ${text}. Look at the picture, take a hint, and try again.`;
  form.querySelector(".tell").hidden = reply.right || predicted === null || explain;
  draw(form, reply.picture);
  count();
}

for (const form of forms) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    ask(form, false);
  });
  form.querySelector(".tell").addEventListener("click", () => ask(form, true));
  form.querySelector("input").addEventListener("focus", () => ["open", undefined].includes(form.dataset.state) && ask(form, false));
}
for (const form of forms) {
  const answer = kept[form.dataset.question];
  if (!answer) continue;
  form.querySelector("input").value = answer.text;
  await ask(form, answer.explain);
}
// Of each kernel, the access of its first question.
for (const kernel of page.querySelectorAll(".kernel")) {
  const first = kernel.querySelector("form.question");
  if (first && !first.dataset.state) await ask(first, false);
}
document.getElementById("results").setAttribute("aria-busy", "false");
