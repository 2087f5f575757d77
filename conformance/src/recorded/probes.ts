// Compares the responses of admin's RPCs and REST routes with records of Go Flyte. The records and
// their driver are not part of this repository: `--probes` names the folder that holds probe.py and
// public.jsonl.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { startAdmin } from "../stack/admin-fixture.js";
import { Classification, formatUsage } from "./difference-classes.js";
import { PROBE_CLASSES, type ProbeCase, type ProbeDifference } from "./responses/probe-classes.js";
import { readReport } from "./responses/probe-report.js";
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
const cases = new Map(
  readFileSync(join(probes, "public.jsonl"), "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line): [string, ProbeCase] => {
      const recorded = JSON.parse(line) as ProbeCase;
      return [recorded.id, recorded];
    }),
);
const python = cachedPython();

const interrupted = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interrupted.abort());
// The recorded admin served pages of any origin; this admin serves the configured ones.
const allowedOrigins = [...new Set([...cases.values()].flatMap(({ headers }) => headers?.Origin ?? []))];
const admin = await startAdmin((api) => ({ server: { host: "127.0.0.1", grpcPort: api, httpPort: api, allowedOrigins } }));
let printed: string;
try {
  const endpoint = `localhost:${admin.api}`;
  const flags = [
    "--compare",
    join(probes, "public.jsonl"),
    "--endpoint",
    endpoint,
    "--http",
    endpoint,
    "--jobs",
    values.jobs,
    "--max-diffs",
    "1000",
  ];
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
const classification = new Classification<ProbeDifference>(PROBE_CLASSES);
let unexplained = 0;
for (const { id, lines } of differing) {
  const recorded = cases.get(id) ?? { id };
  const [call = "", ...differing] = lines;
  const found = differing.map((line): ProbeDifference => ({ recorded, line, lines: differing }));
  const open = classification.add(id, found);
  if (open.length > 0 || found.length === 0) {
    unexplained++;
    console.log(`DIFFERS ${[`${id} ${call}`, ...open.map(({ line }) => line)].join("\n    ")}`);
  } else console.log(`accepted ${id}: ${[...new Set(found.map((each) => classification.classOf(each)?.name))].join(", ")}`);
}
for (const line of formatUsage(classification.usages())) console.log(line);
console.log(`${total} cases: ${total - differing.length} agree, ${differing.length - unexplained} accepted, ${unexplained} differ`);
process.exit(unexplained > 0 ? 1 : 0);

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
    // Resolve with the incomplete report of an interrupted driver.
    child.once("error", (error) => (interrupted.signal.aborted ? done(text) : failed(error)));
    child.once("close", () => done(text));
  });
}
