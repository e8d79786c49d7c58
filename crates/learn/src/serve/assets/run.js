// A run: what happens, step by step, and the verdict.

/** Runs the form's file. `show` gets the places of the verdict. */
export const runOf = (form, file, say, show) => {
  const [results, steps, stop, state] = ["results", "steps", "stop", "state"].map((id) => document.getElementById(id));
  let running;

  const step = (name, detail) => {
    for (const item of steps.children) {
      const { step } = item.dataset;
      if (step === name) {
        if (item.className !== "now") item.dataset.count = 0;
        item.className = "now";
        item.dataset.count++;
        item.querySelector("span").textContent = detail ? `(${item.dataset.count}: ${detail})` : "";
      } else if (item.className === "now") {
        item.className = "done";
      }
    }
  };

  const begin = () => {
    for (const item of steps.children) {
      item.className = "";
      item.querySelector("span").textContent = "";
    }
    steps.hidden = stop.hidden = false;
    results.setAttribute("aria-busy", "true");
    say("Running ...");
  };

  const end = () => {
    stop.hidden = steps.hidden = true;
    results.removeAttribute("aria-busy");
  };

  const paragraph = (...content) => {
    const element = document.createElement("p");
    element.append(...content);
    results.firstElementChild?.append(element);
  };

  const button = (text, click) => {
    const element = document.createElement("button");
    element.type = "button";
    element.textContent = text;
    element.addEventListener("click", click);
    return element;
  };

  const handlers = {
    saved: file.know,
    waiting({ position, out_of_time: isOutOfTime }) {
      step("waiting");
      const used = "Your computing time for this hour is used up: this run waits for the next hour.";
      if (isOutOfTime) say(used);
      else say(position > 1 ? `In the queue: ${position - 1} before you.` : "In the queue: you are next.");
    },
    taken: () => say("Running ..."),
    note: ({ text }) => say(text),
    compiling: () => step("compiling"),
    running: ({ sizes }) => step("running", sizes),
    orders: () => step("orders"),
    goals: () => step("goals"),
    verdict({ html, places, solved, seed, submitted }) {
      // The server has escaped what is not its own.
      results.innerHTML = html;
      show(places);
      results.dataset.seed = seed;
      const lines = new Set(places.map(({ line }) => line)).size;
      const at = lines === 0 ? "" : lines === 1 ? " One line to look at." : ` ${lines} lines to look at.`;
      // At home nothing is submitted.
      const counts = { true: "Solved, and submitted.", false: "Solved. Submit it: only what is submitted counts." };
      say(solved ? (counts[submitted] ?? "Solved.") : `Not solved yet.${at}`);
    },
    error({ text }) {
      say(text, true);
    },
    stopped: () => say("Stopped."),
    end({ known, state: word, next, hints }) {
      state.className = `state ${word}`;
      state.textContent = word;
      document.getElementById("hints").innerHTML = hints;
      if (next) {
        const link = document.createElement("a");
        link.href = next.address;
        link.className = "go";
        link.textContent = `Next: ${next.title}`;
        paragraph(link);
      }
      const again = () => run({ again: true, seed: "" });
      const note = known ? "This text has been judged before. " : "";
      if (known) paragraph(note, button("Run again, with other data", again));
    },
  };

  /** Shows a run. `start` gives its events, if it was begun. */
  const follow = async (start) => {
    running?.abort();
    const controller = (running = new AbortController());
    begin();
    try {
      const events = await start(controller.signal);
      if (events) {
        for await (const event of events) {
          if (running !== controller) return;
          handlers[event.event]?.(event);
        }
      }
    } catch (error) {
      if (running === controller) say(`The run broke off: ${error.message}`, true);
    } finally {
      if (running === controller) end();
    }
  };

  /** Sends the form. The answer has the run's lines, or the address of its events. */
  const run = (more = {}, action = "run") =>
    follow(async (signal) => {
      const response = await file.send(action, more, signal);
      if (response?.headers.get("content-type") !== "application/json") return response && lines(response);
      const { saved, events } = await response.json();
      file.know(saved);
      return sent(events, signal);
    });

  stop.addEventListener("click", file.stop);
  const { events } = form.dataset;
  if (events) follow((signal) => sent(events, signal));
  return run;
};

/** The values of events that a server sends, to the last one. */
async function* sent(address, signal) {
  const source = new EventSource(address);
  const waiting = [];
  let [wake, ended] = [() => {}, false];
  const end = () => {
    ended = true;
    source.close();
    wake();
  };
  source.addEventListener("message", ({ data }) => {
    const event = JSON.parse(data);
    waiting.push(event);
    if (event.event === "end") end();
    wake();
  });
  // While the connection is only broken, the browser tries again.
  source.addEventListener("error", () => {
    if (source.readyState !== EventSource.CLOSED) return;
    waiting.push({ event: "error", text: "The server does not tell how the run goes on. Load the page again." });
    end();
  });
  signal.addEventListener("abort", end);
  while (true) {
    while (waiting.length) yield waiting.shift();
    if (ended) return;
    await new Promise((done) => (wake = done));
  }
}

/** The values of an answer's lines, as they come. */
async function* lines(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    const all = (rest + (value ?? "")).split("\n");
    rest = all.pop();
    for (const line of all) if (line) yield JSON.parse(line);
    if (done) return;
  }
}
