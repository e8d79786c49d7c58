// Compares the program in WebAssembly with the native one, as `cargo xtask site --check` calls it: node check.mjs SITE HOST. For each
// lab, the same command line must give the same text, messages and exit code; and each row of its page must have a picture and a
// source. Prints a line for each lab, and what differs below it.
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { load } from "./program.mjs";

const [site, host] = process.argv.slice(2);
const labs = readdirSync(join(site, "labs")).map((name) => name.replace(".json", ""));

/// Flags for less work, of labs that fill a whole GPU.
const LESS = {
  order: ["--m", "128", "--n", "128", "--k", "64", "--entries", "16384"],
  spill: ["--cols", "2048", "--lists", "2048"],
  stencil: ["--rows", "64", "--volume", "8,32,64"],
  transfer: ["--size", "65536", "--bytes", "1K,64K"],
};

/// The command lines of a lab that are compared.
const lines = (lab) => [
  [lab, ...(LESS[lab] ?? []), "--device", "sim"],
  [lab, ...(LESS[lab] ?? []), "--device", "sim:g80"],
  // The memory there is differs, and JSON says it.
  [lab, ...(LESS[lab] ?? []), "--device", "sim:hopper", "--format", "json", "--memory-limit", "256M"],
  [lab, "--size", "x"],
];

function differences(lab) {
  const ask = load(site, lab);
  const wrong = [];
  for (const words of lines(lab)) {
    const native = spawnSync(host, words, { encoding: "utf8", env: {}, maxBuffer: 1 << 28 });
    const { output, messages, exit_code } = ask({ do: "text", arguments: words });
    const said = words.join(" ");
    if (output !== native.stdout) wrong.push(`host ${said}: the text differs: ${first(output, native.stdout)}`);
    if (messages !== native.stderr) wrong.push(`host ${said}: the messages differ: ${first(messages, native.stderr)}`);
    if (exit_code !== native.status) wrong.push(`host ${said}: exit code ${exit_code}, not ${native.status}`);
  }
  return wrong;
}

/// The first line in which two texts differ.
function first(one, other) {
  const [ours, theirs] = [one.split("\n"), other.split("\n")];
  const index = ours.findIndex((line, index) => line !== theirs[index]);
  return `"${ours.at(index)}", natively "${theirs.at(index)}"`;
}

function shown(lab) {
  const ask = load(site, lab);
  const { overview, messages } = ask({ do: "run", slot: 0, arguments: [lab, ...(LESS[lab] ?? [])] });
  if (!overview) return [`there is no page: ${messages}`];
  const wrong = [];
  for (const [row, { name, accesses }] of overview.rows.entries()) {
    if (accesses.length === 0) continue;
    const { source } = ask({ do: "source", slot: 0, row });
    if (!source.includes("<table") || source.includes("was not found")) wrong.push(`${name} has no source`);
    for (const [access, { requests }] of accesses.entries()) {
      const { picture } = ask({ do: "picture", slot: 0, row, access, request: requests - 1 });
      if (!picture?.svg.startsWith("<svg")) wrong.push(`${name} has no picture of its access ${access}`);
    }
  }
  if (overview.rows.every(({ accesses }) => accesses.length === 0)) wrong.push("no row has an access");
  return wrong;
}

let failed = labs.length === 0;
for (const lab of labs) {
  const wrong = [...differences(lab), ...shown(lab)];
  console.log(`${lab}: ${wrong.length === 0 ? "the same text; its page has all parts" : "wrong"}`);
  for (const line of wrong) console.log(`  ${line}`);
  failed ||= wrong.length > 0;
}
process.exitCode = failed ? 1 : 0;
