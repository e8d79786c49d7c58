// An exercise's page: joins the editor, the file, the questions and the run.
import { fileOf } from "./file.js";
import { joinQuestions } from "./predict.js";
import { runOf } from "./run.js";
import "./time.js";

const [form, status, problems] = ["work", "status", "problems"].map((id) => document.getElementById(id));
const { editorOf } = await import(`./${form.dataset.editor}`).catch(() => import("./text.js"));
const editor = editorOf(document.getElementById("text"));

const say = (text, bad = false) => {
  status.textContent = text;
  status.classList.toggle("cost", bad);
};

const file = fileOf(form, editor, say);

/** Marks the places of a verdict, and lists them. */
const show = (places) => {
  editor.mark(places);
  problems.hidden = places.length === 0;
  problems.replaceChildren(
    ...places.map(({ line, column, message }) => {
      const item = document.createElement("li");
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = `line ${line}`;
      button.addEventListener("click", () => editor.show(line, column ?? 1));
      item.append(button, ` ${message}`);
      return item;
    }),
  );
};

const run = runOf(form, file, say, show);

const hint = async () => {
  const response = await file.send("hint");
  if (!response) return;
  const { text, digest, html } = await response.json();
  file.know({ text, digest });
  const hints = document.getElementById("hints");
  hints.innerHTML = html;
  const last = [...hints.querySelectorAll(".hint h3")].pop();
  if (!last) return;
  last.tabIndex = -1;
  last.focus();
};

const reset = async () => {
  const { title } = document.getElementById("reset");
  if (!confirm(`Replace ${form.dataset.name} with the starter? ${title}.`)) return;
  const response = await file.send("reset");
  if (!response) return;
  const { text, digest, status: done, starter } = await response.json();
  editor.text = starter ?? text;
  file.know({ text, digest });
  show([]);
  document.getElementById("results").replaceChildren();
  // In a class, what was solved stays solved.
  if (starter !== undefined) return say(done);
  const state = document.getElementById("state");
  state.className = "state open";
  state.textContent = "open";
  say(done);
};

const actions = { save: file.save, reset, hint, submit: () => run({}, "submit") };
// The hints' button is outside of the form, and is made anew.
form.addEventListener("submit", (event) => {
  event.preventDefault();
  (actions[event.submitter?.id] ?? (() => run()))();
});
document.addEventListener("keydown", (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
  if (event.key.toLowerCase() === "s") {
    event.preventDefault();
    file.save();
  } else if (event.key === "Enter") {
    event.preventDefault();
    run();
  }
});

const questions = document.getElementById("questions");
if (questions) {
  const read = joinQuestions(questions, editor);
  const whole = document.getElementById("whole");
  whole.open = false;
  // The file may have been changed on the disk, or reset.
  new MutationObserver(read).observe(status, { childList: true });
} else {
  const lines = editor.text.split("\n");
  editor.begin(1 + Math.max(0, lines.findIndex((line) => !line.startsWith("//!") && line !== "")));
}
// All controls work from here on.
form.dataset.ready = "";
