// Shows below a picture the numbers of the lane, word, bar or mark under the pointer. The arrow keys move from lane to lane.

const title = (element) => element.querySelector(":scope > title").textContent;

/// The line below a picture.
function line(svg) {
  const next = svg.nextElementSibling;
  if (next?.matches("output.numbers")) return next;
  const output = document.createElement("output");
  output.className = "numbers";
  svg.after(output);
  return output;
}

/// Lights lanes, and says a text.
function say(svg, lanes, text) {
  for (const part of svg.querySelectorAll("[data-lane]")) part.classList.toggle("lit", lanes.includes(part.dataset.lane));
  line(svg).textContent = text;
}

function lane(svg, number) {
  const words = [...svg.querySelectorAll("[data-lanes]")].filter((word) => word.dataset.lanes.split(" ").includes(number));
  const places = words.map((word) => title(word).replace(/^.*?: /, ""));
  say(svg, [number], `lane ${number}: ${places.join("; ") || "asks for nothing"}`);
}

function show({ target }) {
  const svg = target.closest?.("svg.picture");
  if (!svg) return;
  const one = target.closest("g[data-lane]");
  const part = target.closest("g:has(> title)");
  if (one) lane(svg, one.dataset.lane);
  else if (part) say(svg, (part.dataset.lanes ?? "").split(" "), title(part));
}

addEventListener("click", show);
addEventListener("pointerover", show);
addEventListener("keydown", (event) => {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  const svg = document.activeElement?.matches(".drawing") && document.activeElement.querySelector("svg.access");
  if (!step || !svg) return;
  const lit = svg.querySelector("g[data-lane].lit");
  const next = lit ? (Number(lit.dataset.lane) + step + 32) % 32 : 0;
  lane(svg, String(next));
  event.preventDefault();
});
