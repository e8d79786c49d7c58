// The page of one's own PTX: a file or a pasted text, a kernel, its launch and its arguments, as `host run` takes them. The text
// goes to the program in this browser, and nowhere else.
import { Form } from "./form.js";
import { link } from "./lines.js";
import { Pane } from "./pane.js";
import { Simulator } from "./simulator.js";

const part = (name) => document.getElementById(name);
const setting = part("setting");
const simulator = new Simulator();
const section = document.querySelector(".pane");
const pane = new Pane(section, simulator, showSource);
const form = new Form(setting, []);
const { ptx, kernel, file, values } = setting.elements;

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

/// Offers the kernels that the text names.
function offer() {
  const names = [...ptx.value.matchAll(/\.entry\s+([\w$]+)/g)].map(([, name]) => name);
  kernel.replaceChildren(...names.map((name) => new Option(name)));
}

async function run() {
  const flags = form.flags("device");
  const name = file.files[0]?.name ?? "kernel.ptx";
  const line = ["run", name, kernel.value, ...words(), ...flags];
  const device = setting.elements.device.value;
  part("command").textContent = ["cargo run -p host --", ...line, "--device", device].join(" ");
  part("results").setAttribute("aria-busy", "true");
  part("cancel").hidden = false;
  say("Running ...", false);
  await simulator.give(name, ptx.value);
  const reply = await simulator.ask({ do: "run", slot: 0, arguments: [...line, "--device", device] });
  part("cancel").hidden = true;
  const { overview, messages = "", took = 0, cancelled, error } = reply;
  if (cancelled) say("Cancelled.", true);
  else if (error || reply.exit_code !== 0) say(error ?? messages.replace(/^error: /, ""), true);
  else say(`${overview.executed.toLocaleString("en")} warp instructions in ${took.toFixed(0)} ms`, false);
  part("shown").hidden = !overview;
  if (overview) {
    await pane.show(0, overview, [], "");
    part("says").innerHTML = overview.says || pane.sentence;
    part("table").innerHTML = overview.results;
    await showSource();
  }
  part("results").setAttribute("aria-busy", "false");
}

async function take(given) {
  ptx.value = await given.text();
  offer();
}

setting.addEventListener("submit", (event) => {
  event.preventDefault();
  run();
});
ptx.addEventListener("input", offer);
file.addEventListener("change", () => file.files[0] && take(file.files[0]));
part("cancel").addEventListener("click", () => simulator.cancel());
addEventListener("dragover", (event) => event.preventDefault());
addEventListener("drop", (event) => {
  event.preventDefault();
  const { files } = event.dataTransfer;
  if (files.length > 0) {
    file.files = files;
    take(files[0]);
  }
});
link(part("source"));
offer();
