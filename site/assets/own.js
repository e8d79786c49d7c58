// The page of one's own PTX: a file or a pasted text, a kernel, its launch and its arguments, as `host run` takes them. The text
// goes to the program in this browser, and nowhere else.
import { command } from "./command.js";
import { Form } from "./form.js";
import { link } from "./lines.js";
import { Pane } from "./pane.js";
import { Simulator } from "./simulator.js";

const part = (name) => document.getElementById(name);
const setting = part("setting");
const simulator = new Simulator();
const section = document.querySelector(".pane");
const pane = new Pane(section, simulator, (_, row) => row && showSource());
const form = new Form(setting, []);
const { ptx, kernel, file, values } = setting.elements;
const sources = new Map();
let name = "kernel.ptx";
let turn = 0;

function say(text, wrong) {
  part("status").textContent = text;
  part("status").classList.toggle("cost", wrong);
}

/// The words of the arguments. Quotes are not needed: no argument has a space in it.
const words = () => values.value.trim().split(/\s+/).filter((word) => word !== "");

async function showSource() {
  const { source } = await simulator.ask({ do: "source", slot: 0, row: Math.max(pane.index, 0) });
  part("source").innerHTML = source ?? "";
  part("lines").hidden = !source;
}

/// What one has typed is there again after a reload, in this tab alone.
const KEPT = "own";
const fields = () => [...setting.elements].filter((control) => control.name && control.type !== "file");
const keep = () => sessionStorage.setItem(KEPT, JSON.stringify([name, ...fields().map((control) => control.value)]));
function restore() {
  const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "null");
  if (kept?.length !== fields().length + 1) return;
  name = kept[0];
  // The kernels are offered before one of them is chosen.
  ptx.value = kept[1 + fields().indexOf(ptx)];
  offer();
  fields().forEach((control, index) => (control.value = kept[index + 1]));
}

/// Offers the kernels that the text names.
function offer() {
  const names = [...ptx.value.matchAll(/\.entry\s+([\w$]+)/g)].map(([, name]) => name);
  kernel.replaceChildren(...names.map((name) => new Option(name)));
}

/// Gives the program the sources that the text names, as far as the reader has given files of these names.
async function giveSources() {
  for (const [, path] of ptx.value.matchAll(/^\s*\.file\s+\d+\s+"([^"]+)"/gm)) {
    const source = sources.get(path.split(/[\\/]/).pop());
    if (source !== undefined) await simulator.give(path, source);
  }
}

async function run() {
  const mine = ++turn;
  const flags = form.flags("device");
  const line = ["run", name, kernel.value, ...words(), ...flags];
  const device = setting.elements.device.value;
  part("command").textContent = command([...line, "--device", device]);
  part("results").setAttribute("aria-busy", "true");
  part("cancel").hidden = false;
  say("Running ...", false);
  await simulator.give(name, ptx.value);
  await giveSources();
  const reply = await simulator.ask({ do: "run", slot: 0, arguments: [...line, "--device", device] });
  if (mine !== turn) return;
  part("cancel").hidden = true;
  const { overview, messages = "", took = 0, cancelled, error } = reply;
  if (cancelled) say("Cancelled.", true);
  else if (overview?.stopped) say("A fault stopped the kernel.", true);
  else if (error || reply.exit_code !== 0) say(error ?? messages.replace(/^error: /, ""), true);
  else say(`${overview.executed.toLocaleString("en")} warp instructions in ${took.toFixed(0)} ms`, false);
  part("shown").hidden = !overview;
  // What an earlier text showed says nothing of this one.
  if (!overview) {
    const problem = Object.assign(document.createElement("p"), { className: "cost", textContent: part("status").textContent });
    part("says").replaceChildren(problem);
  } else {
    await pane.show(0, overview, [], "");
    part("says").innerHTML = overview.says || pane.sentence;
    part("table").innerHTML = overview.results;
    await showSource();
  }
  part("results").setAttribute("aria-busy", "false");
}

/// Takes a PTX file, and sources, which are shown beside it.
async function take(files) {
  for (const given of files) {
    const text = await given.text();
    if (given.name.endsWith(".ptx")) [name, ptx.value] = [given.name, text];
    else sources.set(given.name, text);
  }
  offer();
  keep();
}

setting.addEventListener("submit", (event) => {
  event.preventDefault();
  // On a small screen the form hides what the run shows.
  if (matchMedia("(max-width: 820px)").matches) part("results").scrollIntoView();
  run();
});
ptx.addEventListener("input", offer);
setting.addEventListener("input", keep);
file.addEventListener("change", () => take(file.files));
part("cancel").addEventListener("click", () => simulator.cancel());
addEventListener("dragover", (event) => event.preventDefault());
addEventListener("drop", (event) => {
  event.preventDefault();
  const { files } = event.dataTransfer;
  if (files.length > 0) {
    file.files = files;
    take(files);
  }
});
link(part("source"));
offer();
restore();
run();
