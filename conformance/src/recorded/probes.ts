// Compares the answers of admin's RPCs and REST routes with records of Go Flyte's. The records and their
// driver are not part of this repository: `--probes` names the folder that holds probe.py and public.jsonl.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { startAdmin } from "../stack/admin-fixture.js";
import { type AcceptedProbe, acceptedProbe, readReport } from "./probe-report.js";
import { cachedPython } from "./python.js";

const { values } = parseArgs({
  options: {
    probes: { type: "string" },
    groups: { type: "string", default: "" },
    jobs: { type: "string", default: "4" },
  },
});
if (values.probes === undefined) throw new Error("--probes FOLDER is needed: the folder of probe.py");
const probes = resolve(values.probes);
const listFile = resolve(dirname(fileURLToPath(import.meta.url)), "..", "..", "accepted-probes.json");
const list = JSON.parse(readFileSync(listFile, "utf8")) as AcceptedProbe[];
const python = cachedPython();

const interrupted = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interrupted.abort());
const admin = await startAdmin();
let printed: string;
try {
  const endpoint = `localhost:${admin.api}`;
  const flags = ["--compare", join(probes, "public.jsonl"), "--endpoint", endpoint, "--http", endpoint, "--jobs", values.jobs];
  printed = await run([join(probes, "probe.py"), ...flags, ...(values.groups === "" ? [] : ["--groups", values.groups])]);
} finally {
  await admin.stop();
}

const { total, differing } = readReport(printed);
if (total === undefined || total === 0) {
  console.log(printed);
  console.log(total === 0 ? "no case was compared: is the group misspelt?" : "probe.py did not come to its end");
  process.exit(1);
}
const open = differing.filter((each) => acceptedProbe(list, each) === undefined);
for (const { id, lines } of open) console.log(`DIFFERS ${[id, ...lines].join("\n    ")}`);
for (const each of differing) {
  const reason = acceptedProbe(list, each);
  if (reason !== undefined) console.log(`accepted ${each.id}: ${reason}`);
}
if (values.groups === "") {
  for (const entry of list) {
    if (entry.only === undefined && !differing.some((each) => acceptedProbe([entry], each) !== undefined))
      console.log(`agrees by now, take it off the list: ${entry.case}`);
  }
}
console.log(`${total} cases: ${total - differing.length} agree, ${differing.length - open.length} accepted, ${open.length} differ`);
process.exit(open.length > 0 ? 1 : 0);

function run(args: readonly string[]): Promise<string> {
  return new Promise((done, failed) => {
    const child = spawn(python, args, {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1" },
      signal: interrupted.signal,
    });
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
    });
    // Interrupted: the answer has no end, which is told below.
    child.once("error", (error) => (interrupted.signal.aborted ? done(text) : failed(error)));
    child.once("close", () => done(text));
  });
}
