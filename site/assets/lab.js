// A lab's page: each change of a control runs the lab, and shows what the program says.
import { command } from "./command.js";
import { Form } from "./form.js";
import { link } from "./lines.js";
import { Pane } from "./pane.js";
import { share } from "./share.js";
import { Simulator } from "./simulator.js";

/// A run that takes longer than this, in milliseconds, can be cancelled, and is when its setting changes.
const LONG = 400;

/// What an address sets: all but how the page is shown.
const plain = (search) => search.replace(/[?&]embed=1/, "");

const page = document.querySelector("main.lab");
const part = (name) => document.getElementById(name);
const { lab, slider } = page.dataset;
const simulator = new Simulator(`labs/${lab}.json`);
const sections = [...page.querySelectorAll(".pane")];
const form = new Form(part("setting"), sections.flatMap((section) => [...section.querySelectorAll("select, .steps output")]));
const panes = sections.map((section) => new Pane(section, simulator, changed));
const beside = form.control("beside");
const steps = form.control("slide");
if (page.dataset.beside && !plain(location.search)) beside.value = "row";

part("settings").open = !matchMedia("(max-width: 820px)").matches;

// What stands there was computed for the setting that the page begins with, not for that of the address.
if (plain(location.search)) page.classList.add("stale");

let turn = 0;
/// The last sweep, and the command line that made it.
let swept = {};
let began = 0;
let waiting;

/// What is said, and whether it is an error.
function say(text, wrong) {
  part("status").textContent = text;
  part("status").classList.toggle("cost", wrong);
}

/// What was chosen in a picture goes into the address bar; the source is that of the first picture's row.
async function changed(pane, row) {
  form.follow("change", () => false);
  form.write();
  form.done();
  speak();
  if (row && pane === panes[0]) follow(pane.row);
  if (row && pane === panes[0]) await showSource();
  else if (pane === panes[0]) look(pane.line);
}

/// The row to which the slider has been moved; undefined if it moves a flag, or there is none.
function stepped() {
  return steps?.dataset.rows.split("|")[steps.value];
}

/// Moves the slider to the row that was chosen beside the picture, if it is one of the slider's.
function follow({ value }) {
  const at = steps?.dataset.rows.split("|").indexOf(value) ?? -1;
  if (at < 0) return;
  steps.value = at;
  form.slid();
  judge();
}

/// Shows the goals: of a slider through rows those of its row.
function judge() {
  const { goals, goals_of_steps: ofSteps } = panes[0].overview;
  if (part("goals")) part("goals").innerHTML = (steps && ofSteps[steps.value]) || goals;
}

/// Draws the row to which the slider has been moved, of the run that is there.
async function step() {
  const mine = ++turn;
  part("results").setAttribute("aria-busy", "true");
  for (const choice of [panes[0].row, panes[0].access, panes[0].steps]) delete choice.dataset.chosen;
  await panes[0].show(0, panes[0].overview, [stepped()], page.dataset.access);
  if (mine !== turn) return;
  judge();
  speak();
  form.write();
  await showSource();
  if (mine !== turn) return;
  part("results").setAttribute("aria-busy", "false");
  form.done();
}

/// The lab's sentences; where it has none, what the picture shows.
function speak() {
  part("says").innerHTML = panes[0].overview.says || panes[0].sentence;
}

async function showSource() {
  const { source } = await simulator.ask({ do: "source", slot: 0, row: Math.max(panes[0].index, 0) });
  part("source").innerHTML = source ?? "";
  part("lines").hidden = !source;
  look(panes[0].line);
}

/// Brings a line into view, in the source and in its PTX.
function look(line) {
  for (const scroll of part("source").querySelectorAll(".scroll")) {
    const row = scroll.querySelector(`[data-line="${line}"]`);
    if (row) scroll.scrollTop += row.getBoundingClientRect().top - scroll.getBoundingClientRect().top - scroll.clientHeight / 3;
  }
}

/// Runs the lab, on a device, and keeps the run in a slot. `undefined` if another run has begun, or there is nothing to show.
async function run(mine, slot, device, flags) {
  const reply = await simulator.ask({ do: "run", slot, arguments: [lab, ...flags, "--device", device] });
  if (mine !== turn) return undefined;
  if (reply.cancelled) say("Cancelled. Change a control to run again.", true);
  else if (reply.error || !reply.overview) refuse(reply.error ?? reply.messages.replace(/^error: /, ""));
  else return reply;
  return undefined;
}

/// Says what is wrong in place of the old sentence, and marks the control that is named.
function refuse(problem) {
  accept();
  say(problem, true);
  const sentence = Object.assign(document.createElement("p"), { className: "cost", textContent: problem });
  part("says").replaceChildren(sentence);
  page.classList.add("stale");
  for (const control of form.controls) {
    const { flag } = control.dataset;
    if (flag && new RegExp(`--${flag}(?![\\w-])`).test(problem)) control.setAttribute("aria-invalid", "true");
  }
}

/// Takes these marks away.
function accept() {
  page.classList.remove("stale");
  for (const control of form.controls) control.removeAttribute("aria-invalid");
}

async function start() {
  const mine = ++turn;
  // What the page begins with stands there already.
  page.classList.toggle("again", turn > 1);
  const device = form.control("device").value;
  const flags = form.flags();
  form.slid();
  form.write();
  part("command").textContent = command([lab, ...flags, "--device", device]);
  if (simulator.busy && performance.now() - began > LONG) simulator.cancel();
  began = performance.now();
  part("results").setAttribute("aria-busy", "true");
  const patience = setTimeout(() => (part("cancel").hidden = false), LONG);
  try {
    await show(mine, device, flags);
  } finally {
    clearTimeout(patience);
    if (mine === turn) {
      part("cancel").hidden = true;
      part("results").setAttribute("aria-busy", "false");
    }
  }
}

async function show(mine, device, flags) {
  const first = await run(mine, 0, device, flags);
  if (!first) return;
  accept();
  const { overview, took, messages } = first;
  const row = stepped() ?? page.dataset.row.replace("{}", slider ? form.control(slider).value : "");
  await panes[0].show(0, overview, [row], page.dataset.access);
  if (mine !== turn) return;
  speak();
  judge();
  part("chart").innerHTML = overview.memory;
  part("memory").hidden = !overview.memory;
  part("maps").innerHTML = overview.elements;
  part("elements").hidden = !overview.elements;
  part("table").innerHTML = overview.results;
  const counted = `${overview.executed.toLocaleString("en")} warp instructions in ${took.toFixed(0)} ms`;
  say(first.exit_code === 0 ? counted : messages.replace(/^error: /, ""), first.exit_code !== 0);
  await showSource();
  await compare(mine, overview, flags);
  await sweep(mine, overview, device);
  if (mine !== turn) return;
  form.write();
  form.done();
}

/// The second picture: another row of the same run, or the same lab on another model.
async function compare(mine, overview, flags) {
  sections[1].hidden = !beside.value;
  page.classList.toggle("two", Boolean(beside.value));
  if (!beside.value) return;
  const heading = sections[1].querySelector("h2");
  heading.textContent = beside.value === "row" ? "Beside it" : `On ${beside.selectedOptions[0].text}`;
  if (beside.value === "row") {
    await panes[1].show(0, overview, [page.dataset.beside], page.dataset.access);
    return;
  }
  const second = await run(mine, 1, beside.value, flags);
  if (second) await panes[1].show(1, second.overview, [panes[0].row.value], panes[0].access.value.split(",")[0]);
}

/// The sweep: of this run's rows, or, where a slider or the setting leaves few of them, of another run over the values that the lab
/// chooses.
async function sweep(mine, overview, device) {
  let { plots } = overview;
  if (mine !== turn) return;
  if (page.dataset.plots !== undefined && (slider || !plots.includes("<svg"))) {
    const line = [lab, ...form.flags(slider), "--plot", "--device", device];
    // Where only the slider has moved, the sweep is the same.
    if (swept.line !== line.join(" ")) {
      const { overview } = await simulator.ask({ do: "run", slot: 2, arguments: line });
      swept = { line: overview && line.join(" "), plots: overview?.plots ?? "" };
    }
    plots = swept.plots;
  }
  if (mine !== turn) return;
  part("plots").innerHTML = plots;
  part("sweep").hidden = !plots.includes("<svg");
}

part("setting").addEventListener("input", ({ target }) => {
  form.slid();
  if (target === steps && panes[0].overview && part("results").getAttribute("aria-busy") === "false") {
    step();
    return;
  }
  clearTimeout(waiting);
  waiting = setTimeout(start, target.type === "text" ? 400 : 0);
});
const busy = () => part("results").getAttribute("aria-busy") === "true";
for (const type of ["input", "change"]) part("setting").addEventListener(type, () => form.follow(type, busy));
for (const button of page.querySelectorAll("[data-slide]")) {
  button.addEventListener("click", () => {
    const slid = steps ?? form.control(slider);
    slid.stepUp(Number(button.dataset.slide));
    for (const type of ["input", "change"]) slid.dispatchEvent(new Event(type, { bubbles: true }));
  });
}
part("setting").addEventListener("submit", (event) => event.preventDefault());
part("cancel").addEventListener("click", () => simulator.cancel());
addEventListener("popstate", () => {
  form.read();
  form.follow("change", busy);
  start();
});
say("Loading the simulator ...", false);
link(part("source"));
share(() => sections[0].querySelector(".drawing svg"), () => lab);
start();
