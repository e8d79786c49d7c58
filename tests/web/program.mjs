// The program, compiled for WebAssembly, in Node: `load(SITE, LAB)` gives a function from requests to replies, as `worker.js` does.
import { readFileSync } from "node:fs";
import { join } from "node:path";

const modules = new Map();

/// The program of a site, with the texts of a lab.
export function load(site, lab) {
  if (!modules.has(site)) modules.set(site, new WebAssembly.Module(readFileSync(join(site, "web.wasm"))));
  const program = new WebAssembly.Instance(modules.get(site)).exports;
  const ask = (request) => {
    const bytes = new TextEncoder().encode(JSON.stringify(request));
    // Making room may grow the memory, which replaces the buffer.
    const room = program.room(bytes.length);
    new Uint8Array(program.memory.buffer, room, bytes.length).set(bytes);
    program.call();
    const reply = new Uint8Array(program.memory.buffer, program.reply(), program.reply_bytes());
    return JSON.parse(new TextDecoder().decode(reply));
  };
  if (lab) ask({ do: "give", texts: JSON.parse(readFileSync(join(site, "labs", `${lab}.json`), "utf8")) });
  return ask;
}
