// The first page's picture: its slider runs the lab, and draws the access. The simulator is loaded when a reader moves it.
import { Simulator } from "./simulator.js";

const part = (name) => document.getElementById(name);
const { lab, line, row, access } = part("start").dataset;
const slider = part("slider");
let simulator;
let turn = 0;

async function draw() {
  const mine = ++turn;
  const { value } = slider;
  slider.closest(".field").querySelector("output").value = value;
  if (!simulator) part("status").textContent = "Loading the simulator ...";
  simulator ??= new Simulator(`labs/${lab}.json`);
  const { overview, messages, error } = await simulator.ask({ do: "run", slot: 0, arguments: line.replaceAll("{}", value).split(" ") });
  if (mine !== turn) return;
  const index = overview?.rows.findIndex(({ name }) => name === row.replace("{}", value)) ?? -1;
  const at = overview?.rows[index]?.begin_with[access];
  if (at === undefined) {
    part("status").textContent = error ?? messages;
    return;
  }
  const request = overview.rows[index].accesses[at].first;
  const { picture } = await simulator.ask({ do: "picture", slot: 0, row: index, access: at, request });
  if (mine !== turn) return;
  part("status").textContent = "";
  part("drawing").innerHTML = picture.svg;
}

slider.addEventListener("input", draw);
part("setting").addEventListener("submit", (event) => event.preventDefault());
for (const button of document.querySelectorAll("[data-slide]")) {
  button.addEventListener("click", () => {
    slider.stepUp(Number(button.dataset.slide));
    draw();
  });
}
