// The program in its worker. A worker ends when it has panicked, when a run is cancelled, and before a run if it holds
// much memory, which WebAssembly never gives back; the next request starts another.
const MOST_MEMORY = 400e6;

export class Simulator {
  #worker;
  #memory = 0;
  #waiting = new Map();
  #asked = 0;
  /// Requests that wait until the program is there.
  #early = new Set();

  /// `bundle` is the address of the texts that the program needs; none if it needs no kernels of its own.
  constructor(bundle) {
    this.module = WebAssembly.compileStreaming(fetch("web.wasm"));
    this.texts = bundle ? fetch(bundle).then((texts) => texts.json()) : Promise.resolve({});
  }

  /// Gives a text to the program, now and to each later worker.
  async give(name, text) {
    const texts = await this.texts;
    texts[name] = text;
    if (this.#worker) await this.ask({ do: "give", texts: { [name]: text } });
  }

  /// Whether a request waits for its reply.
  get busy() {
    return this.#early.size + this.#waiting.size > 0;
  }

  /// The reply to a request; `{ cancelled: true }` if it was cancelled, `{ error }` if the program failed.
  async ask(request) {
    this.#early.add(request);
    const [module, texts] = await Promise.all([this.module, this.texts]);
    if (!this.#early.delete(request)) return { cancelled: true };
    if (request.do === "run" && request.slot === 0 && this.#memory > MOST_MEMORY) this.#end({ cancelled: true });
    const worker = (this.#worker ??= this.#start(module, texts));
    return new Promise((done) => {
      const id = ++this.#asked;
      this.#waiting.set(id, done);
      worker.postMessage({ id, request });
    });
  }

  /// Ends what runs, or waits.
  cancel() {
    this.#early.clear();
    this.#end({ cancelled: true });
  }

  #start(module, texts) {
    const worker = new Worker("worker.js", { type: "module" });
    worker.onmessage = ({ data: { id, reply, took, memory, broken } }) => {
      if (broken) return this.#end({ error: `the simulator failed: ${broken}` });
      this.#memory = memory;
      this.#waiting.get(id)?.({ ...reply, took });
      this.#waiting.delete(id);
    };
    worker.onerror = ({ message }) => this.#end({ error: `the simulator did not start: ${message}` });
    worker.postMessage({ module, texts });
    return worker;
  }

  #end(reply) {
    this.#worker?.terminate();
    this.#worker = undefined;
    this.#memory = 0;
    for (const done of this.#waiting.values()) done(reply);
    this.#waiting.clear();
  }
}
