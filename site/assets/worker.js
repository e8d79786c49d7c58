// Runs the program: a request in, its reply out, both as JSON. The first message brings the compiled program and the
// texts that it needs. `simulator.js` starts a new worker when this one has panicked.
const encoder = new TextEncoder();
const decoder = new TextDecoder();
let program;

function answer(request) {
  const bytes = encoder.encode(JSON.stringify(request));
  // Making room may grow the memory, which replaces the buffer.
  const room = program.room(bytes.length);
  new Uint8Array(program.memory.buffer, room, bytes.length).set(bytes);
  program.call();
  return JSON.parse(decoder.decode(new Uint8Array(program.memory.buffer, program.reply(), program.reply_bytes())));
}

onmessage = ({ data: { module, texts, id, request } }) => {
  try {
    if (module) {
      program = new WebAssembly.Instance(module).exports;
      answer({ do: "give", texts });
    } else {
      const begin = performance.now();
      const reply = answer(request);
      postMessage({ id, reply, took: performance.now() - begin, memory: program.memory.buffer.byteLength });
    }
  } catch (error) {
    postMessage({ id, broken: String(error) });
  }
};
