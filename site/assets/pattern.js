// The page of an index: as one types, the program says what it costs. The address holds the setting.
import { command } from "./command.js";
import { Form } from "./form.js";
import { share } from "./share.js";
import { Simulator } from "./simulator.js";

const part = (name) => document.getElementById(name);
const setting = part("setting");
const simulator = new Simulator();
const form = new Form(setting, []);
const { index } = setting.elements;
const slide = part("slide");
/// Where the last number of the index stands, if the index is right.
let number;
let turn = 0;

/// The command line of the setting.
function line() {
  const { memory, type, access, block, warp, device } = setting.elements;
  const words = ["pattern", index.value, "--memory", memory.value, "--type", type.value, "--block", block.value.trim(), "--device", device.value];
  if (warp.value.trim() !== "0") words.push("--warp", warp.value.trim());
  if (access.value === "store") words.push("--store");
  return words;
}

const cells = (tag, texts) => texts.map((text) => Object.assign(document.createElement(tag), { textContent: text }));

/// Marks the example that stands there.
function mark() {
  const { memory, type } = setting.elements;
  for (const button of document.querySelectorAll(".examples button")) {
    const { dataset } = button;
    const is = dataset.index === index.value && dataset.memory === memory.value && dataset.type === type.value;
    button.setAttribute("aria-pressed", is);
  }
}

function show({ says, svg, costs, columns, lanes }) {
  part("says").innerHTML = says;
  part("drawing").innerHTML = svg;
  part("costs").replaceChildren(...costs.map(([name, count]) => {
    const cost = document.createElement("div");
    cost.append(...cells("dt", [name]), ...cells("dd", [count]));
    return cost;
  }));
  part("columns").replaceChildren(...cells("th", columns));
  part("lanes").replaceChildren(...lanes.map((row) => {
    const line = document.createElement("tr");
    line.append(...cells("td", row));
    return line;
  }));
}

/// Asks for what stands there.
async function start() {
  const mine = ++turn;
  part("results").setAttribute("aria-busy", "true");
  const words = line();
  const reply = await simulator.ask({ do: "pattern", arguments: words.slice(1) });
  if (mine !== turn) return;
  part("results").setAttribute("aria-busy", "false");
  const { error } = reply;
  // Nothing of an earlier index stays beside one that is wrong.
  document.querySelector(".pattern").classList.toggle("stale", Boolean(error));
  const wrong = error?.replace(/^INDEX: /, "");
  const inIndex = error?.startsWith("INDEX:") ?? false;
  index.setAttribute("aria-invalid", inIndex);
  for (const name of ["block", "warp"]) {
    const control = setting.elements[name];
    control.setAttribute("aria-invalid", Boolean(error) && !inIndex && error.includes(`--${name}`));
  }
  mark();
  part("command").textContent = command(words);
  if (error) {
    part("says").replaceChildren(Object.assign(document.createElement("p"), { className: "cost", textContent: wrong }));
    return;
  }
  show(reply);
  number = reply.number;
  part("turn").hidden = !number;
  if (number) {
    const value = Number([...index.value].slice(number[0], number[0] + number[1]).join(""));
    slide.max = Math.max(64, value);
    slide.value = value;
    part("value").textContent = value;
  }
  form.write();
  form.done();
}

/// Puts another number in the place of the last one.
function put(value) {
  if (!number || value < 0) return;
  const characters = [...index.value];
  characters.splice(number[0], number[1], String(value));
  number = [number[0], String(value).length];
  index.value = characters.join("");
  start();
}

const busy = () => part("results").getAttribute("aria-busy") === "true";
for (const type of ["input", "change"]) setting.addEventListener(type, () => form.follow(type, busy));
setting.addEventListener("input", ({ target }) => target !== slide && start());
setting.addEventListener("submit", (event) => event.preventDefault());
slide.addEventListener("input", () => put(Number(slide.value)));
for (const button of document.querySelectorAll("[data-slide]")) {
  button.addEventListener("click", () => {
    form.follow("change", busy);
    put(Number(slide.value) + Number(button.dataset.slide));
  });
}
for (const button of document.querySelectorAll(".examples button")) {
  button.addEventListener("click", () => {
    form.follow("change", busy);
    index.value = button.dataset.index;
    setting.elements.memory.value = button.dataset.memory;
    setting.elements.type.value = button.dataset.type;
    start();
  });
}
share(() => part("drawing").querySelector("svg"), () => "pattern");
addEventListener("popstate", () => {
  form.read();
  form.follow("change", busy);
  start();
});
start();
