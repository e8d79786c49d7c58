// The student's file: saved from the page, read again when it was changed elsewhere, on the disk or in
// another window, and asked about when both were changed.

/** The file of a form. `say` shows a sentence. */
export const fileOf = (form, editor, say) => {
  const { name, where, interval } = form.dataset;
  const address = form.action.slice(0, form.action.lastIndexOf("/"));
  const conflict = document.getElementById("conflict");
  // What is kept, as far as the page knows, and what was kept when both were changed.
  let [base, saved, other] = [form.elements.base.value, editor.text, undefined];
  let sending = 0;

  const know = ({ text, digest }) => {
    [base, saved, other] = [digest, text, undefined];
    form.elements.base.value = digest;
    conflict.hidden = true;
  };

  const ask = (there) => {
    other = there;
    document.getElementById("disk").textContent = there.text;
    conflict.hidden = false;
    say(`${name} was changed ${where}, too.`, true);
  };

  const file = {
    /** Whether the page has what is not saved. */
    get isChanged() {
      return editor.text !== saved;
    },

    /** Notes that a text is saved. */
    know,

    /** Sends the form for an action. There is no answer if the student has to decide first. */
    async send(action, more = {}, signal = undefined) {
      if (other) {
        ask(other);
        return undefined;
      }
      const body = new URLSearchParams(new FormData(form));
      body.set("text", editor.text);
      body.set("base", base);
      for (const [key, value] of Object.entries(more)) body.set(key, value);
      sending++;
      try {
        const headers = { accept: "application/json" };
        const response = await fetch(`${address}/${action}`, { method: "POST", body, headers, signal });
        if (response.status === 409) {
          ask(await response.json());
          return undefined;
        }
        if (!response.ok) throw new Error(await problem(response));
        return response;
      } catch (error) {
        if (error.name !== "AbortError") say(error instanceof TypeError ? GONE : error.message, true);
        return undefined;
      } finally {
        sending--;
      }
    },

    /** Stops the run that goes on. */
    stop: () => fetch(`${address}/stop`, { method: "POST" }).catch(() => say(GONE, true)),

    async save() {
      const response = await file.send("save");
      if (!response) return;
      know(await response.json());
      say("Saved.");
    },
  };

  document.getElementById("mine").addEventListener("click", (event) => {
    event.preventDefault();
    if (other) know({ text: saved, digest: other.digest });
    file.save();
  });
  const theirs = document.getElementById("theirs");
  theirs.hidden = false;
  theirs.addEventListener("click", () => {
    editor.text = other.text;
    know(other);
    say(`${name} is the one ${where}.`);
  });

  const look = async () => {
    if (document.visibilityState !== "visible" || sending) return;
    const digest = other?.digest ?? base;
    const response = await fetch(`${address}/file?digest=${digest}`).catch(() => undefined);
    if (response?.status === 410) say(`${name} is gone from the disk: Save writes it again.`, true);
    if (response?.status !== 200 || sending || digest !== (other?.digest ?? base)) return;
    const there = await response.json();
    if (there.text === editor.text) {
      know(there);
    } else if (file.isChanged) {
      ask(there);
    } else {
      editor.text = there.text;
      know(there);
      say(`${name} was changed ${where}, and is read again.`);
    }
  };
  setInterval(look, Number(interval));
  document.addEventListener("visibilitychange", look);
  addEventListener("beforeunload", (event) => {
    if (file.isChanged) event.preventDefault();
  });
  return file;
};

const GONE = "The server does not answer. Your text is still here; try again.";

/** What an answer says is wrong. */
const problem = async (response) => {
  const text = await response.text();
  const page = new DOMParser().parseFromString(text, "text/html");
  return (page.querySelector("[role=alert]") ?? page.body).textContent.trim();
};
