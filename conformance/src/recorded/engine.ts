// Compares how this stack runs workflows with records of Go Flyte. The records and their driver are
// not part of this repository: `--records` names the folder that holds record.py, cases.py and
// golden/.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { blobStoreKeyOf, type RunningStack, startStack, startStackOnKubernetes } from "../stack/stack-fixture.js";
import { flytekitImage, startStackOnNode } from "../one-node/node-fixture.js";
import { Classification, formatUsage } from "./difference-classes.js";
import { differences } from "./differences.js";
import { ENGINE_CLASSES } from "./runs/run-classes.js";
import type { RunDifference, RunRecord } from "./runs/run-record.js";
import { WARM_POD_CLASSES } from "./runs/warm-pod-classes.js";
import { startGoAdmin } from "./peers/go-admin.js";
import { GO_ADMIN_CLASSES } from "./peers/go-admin-classes.js";
import { GO_PROPELLER_CLASSES } from "./peers/go-propeller-classes.js";
import { startGoPropeller } from "./peers/go-propeller.js";
import { signalTimes } from "./peers/signal-times.js";
import { findAcceptedPlants } from "./runs/planted-values.js";
import { root } from "../repository.js";

const { values } = parseArgs({
  options: {
    records: { type: "string" },
    only: { type: "string", default: "" },
    jobs: { type: "string", default: "3" },
    here: { type: "string" },
    /**
     * Make this machine a node and run pods there: `cold`, or with warm pods `prewarmed` or
     * `reused`. Needs root.
     */
    node: { type: "string" },
    /** Use a real kube-apiserver instead of the local cluster. */
    kubernetes: { type: "boolean", default: false },
    /**
     * Folder of Go Flyte's `flyteadmin` and `datacatalog`, which replace admin and data catalog.
     */
    "go-admin": { type: "string" },
    /** FlyteAdmin stores workflow closures in the blob store. */
    "offload-closures": { type: "boolean", default: false },
    /** Go Flyte's `flytepropeller`, which replaces propeller and needs a real kube-apiserver. */
    "go-propeller": { type: "string" },
    /** After the cases run this many chains of echo nodes concurrently, for instance `200x120`. */
    chains: { type: "string" },
    /** After the cases set this many signals one after the other and print how long each takes. */
    gates: { type: "string", default: "0" },
    /** Skip the cases. */
    "no-cases": { type: "boolean", default: false },
    /** Print the differences that each class covers. */
    review: { type: "boolean", default: false },
    /** Plant wrong values at every path of every case and print those that a class covers. */
    plant: { type: "boolean", default: false },
  },
});
if (values.records === undefined) throw new Error("--records FOLDER is needed: the folder of record.py");
const records = resolve(values.records);
const folder = values.here ?? mkdtempSync(join(tmpdir(), "flyte-ts-records-"));

/**
 * Time after its start for which a plugin service keeps the pods of retried attempts, ms
 * (docs/decisions/0071). The recorded system had run for longer.
 */
const RETRIED_PODS_STAY_MS = 40_000;

/** Ways to run pods on this machine as a node. */
const NODE_MODES = ["cold", "prewarmed", "reused"];

/** Number of failed chains, and of signals that took longer than 5 s. */
let failures = 0;
if (values.here === undefined) {
  const stack = await startRecorded();
  try {
    const peer = await startPeer(stack);
    try {
      if (!values["no-cases"]) {
        await sleep(RETRIED_PODS_STAY_MS);
        recordCases(stack);
      }
      failures = runChains(stack) + (await setSignals(stack));
    } finally {
      await peer?.stop();
      if (process.env.KEEP_RECORDS !== undefined) for (const name of ["logs", "go"]) keep(join(stack.folder, name), join(folder, "logs"));
    }
  } finally {
    await stack.stop();
  }
}

/** Starts the stack that runs the cases. */
function startRecorded(): Promise<RunningStack> {
  if (values.node === undefined) return values.kubernetes ? startStackOnKubernetes() : startStack();
  if (!NODE_MODES.includes(values.node)) throw new Error(`--node is one of ${NODE_MODES.join(", ")}, not ${values.node}`);
  if (values.node === "cold") return startStackOnNode();
  const rules = JSON.stringify([{ mode: values.node }]);
  return startStackOnNode({
    environment: { FLYTE_TS_PLUGIN_POD_WARMPODS__ENABLED: "true", FLYTE_TS_PLUGIN_POD_WARMPODS__RULES: rules },
  });
}

function startPeer(stack: RunningStack) {
  const offloadsClosures = values["offload-closures"];
  if (values["go-admin"] !== undefined) return startGoAdmin(stack, { programs: resolve(values["go-admin"]), offloadsClosures });
  return values["go-propeller"] === undefined ? undefined : startGoPropeller(stack, resolve(values["go-propeller"]));
}

function recordCases(stack: RunningStack): void {
  const key = blobStoreKeyOf(stack);
  const host = values.node === undefined ? "localhost" : stack.host;
  const flags = [
    ["--endpoint", `${host}:${stack.api}`],
    ["--kubeconfig", stack.kubeconfig],
    ["--s3", `http://${host}:${stack.blobs}`],
    ["--s3-key", key.accessKeyId],
    ["--s3-secret", key.secretAccessKey],
    values.node === undefined ? [] : ["--image", flytekitImage],
    ["--jobs", values.jobs],
    ["--out", folder],
    values.only === "" ? [] : ["--only", values.only],
  ].flat();
  const python = join(stack.pythonBin, "python");
  const env = { ...process.env, PATH: `${stack.pythonBin}:${process.env.PATH}`, PYTHONDONTWRITEBYTECODE: "1" };
  spawnSync(python, [join(records, "record.py"), ...flags], { stdio: "inherit", env });
}

/** Returns 1 when a chain has failed, else 0. */
function runChains(stack: RunningStack): number {
  if (values.chains === undefined) return 0;
  const bench = join(root, "bench", "dist", "main.js");
  const flags = ["--endpoint", `127.0.0.1:${stack.api}`, "--patience", "3600", "chain", values.chains];
  return spawnSync(process.execPath, [bench, ...flags], { stdio: "inherit" }).status === 0 ? 0 : 1;
}

/** Returns how many signals took longer than 5 s. */
async function setSignals(stack: RunningStack): Promise<number> {
  if (values.gates === "0") return 0;
  const times = await signalTimes(`127.0.0.1:${stack.api}`, Number(values.gates));
  console.log(`signals, ms from the answer to the node's end: ${times.join(" ")}`);
  return times.filter((ms) => ms > 5_000).length;
}

function keep(from: string, to: string): void {
  if (existsSync(from)) cpSync(from, to, { recursive: true });
}

// Tracebacks contain the folders of the Python environment and of the code.
const read = (path: string): RunRecord =>
  JSON.parse(
    readFileSync(path, "utf8")
      .replace(/[^\s"\\]+(?=\/workflows\/[a-z_]+\.py)/g, "<CODE>")
      .replace(/[^\s"\\]+(?=\/lib\/python3\.\d+\/)/g, "<PYTHON>"),
  );

const classes = [
  ...ENGINE_CLASSES,
  ...(values.node === undefined || values.node === "cold" ? [] : WARM_POD_CLASSES),
  ...(values["go-admin"] === undefined ? [] : GO_ADMIN_CLASSES),
  ...(values["go-propeller"] === undefined ? [] : GO_PROPELLER_CLASSES),
];
const classification = new Classification<RunDifference>(classes);
const covered = new Map<string, string[]>();
let unexplained = 0;
const wanted = values.only === "" ? [] : values.only.split(",");
const names = (values["no-cases"] ? [] : readdirSync(join(records, "golden")))
  .filter((file) => file.endsWith(".json"))
  .map((file) => file.replace(".json", ""))
  .filter((name) => wanted.length === 0 || wanted.includes(name));
for (const name of names) {
  const file = `${name}.json`;
  if (!existsSync(join(folder, file))) {
    console.log(`MISSING  ${name}`);
    unexplained++;
    continue;
  }
  const [theirs, ours] = [read(join(records, "golden", file)), read(join(folder, file))];
  const all = differences(theirs, ours).map((difference): RunDifference => ({ ...difference, theirs, ours }));
  const open = classification.add(name, all);
  console.log(`${open.length === 0 ? "agrees  " : "DIFFERS "} ${name} (${all.length - open.length} accepted, ${open.length} not)`);
  for (const difference of open.slice(0, 40)) console.log(`    ${shown(difference, 400)}`);
  for (const difference of values.review ? all : []) {
    const entry = classification.classOf(difference);
    if (entry !== undefined) covered.set(entry.name, [...(covered.get(entry.name) ?? []), `${name} ${shown(difference, 200)}`]);
  }
  const broad = values.plant ? findAcceptedPlants(theirs, ours, classes) : [];
  for (const { path, class: covering, planted } of broad) console.log(`    ${covering} covers ${JSON.stringify(planted)} at ${path}`);
  unexplained += open.length + broad.length > 0 ? 1 : 0;
}
if (values.review) {
  for (const { name, reason } of classes) console.log([`${name}: ${reason}`, ...(covered.get(name) ?? [])].join("\n    "));
}
for (const line of formatUsage(classification.usages())) console.log(line);
if (values.here === undefined && process.env.KEEP_RECORDS === undefined) rmSync(folder, { recursive: true, force: true });
else console.log(`records: ${folder}`);
console.log(`${names.length} cases, ${unexplained} differ without an accepted reason`);
process.exit(unexplained + failures > 0 || (names.length === 0 && !values["no-cases"]) ? 1 : 0);

function shown({ path, recorded, observed }: RunDifference, length: number): string {
  const text = (value: unknown) => JSON.stringify(value).slice(0, length);
  return `${path}\n        recorded ${text(recorded)}\n        here     ${text(observed)}`;
}
