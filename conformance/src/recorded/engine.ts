// Compares how this stack runs workflows with records of Go Flyte. The records and their driver are not
// part of this repository: `--records` names the folder that holds record.py, cases.py and golden/.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { blobKeyOf, startStack, startStackOnKubernetes } from "../stack/stack-fixture.js";
import { Classification, report } from "./difference-classes.js";
import { differences } from "./differences.js";
import { ENGINE_CLASSES } from "./engine-classes.js";
import type { RunDifference, RunRecord } from "./engine-record.js";
import { takenForRight } from "./planted-leaves.js";

const { values } = parseArgs({
  options: {
    records: { type: "string" },
    only: { type: "string", default: "" },
    jobs: { type: "string", default: "3" },
    here: { type: "string" },
    /** On a real kube-apiserver in place of the local cluster. */
    kubernetes: { type: "boolean", default: false },
    /** Print what each class covers. */
    review: { type: "boolean", default: false },
    /** Plant wrong values at every place of every case, and print those that a class covers. */
    plant: { type: "boolean", default: false },
  },
});
if (values.records === undefined) throw new Error("--records FOLDER is needed: the folder of record.py");
const records = resolve(values.records);
const folder = values.here ?? mkdtempSync(join(tmpdir(), "flyte-ts-records-"));

if (values.here === undefined) {
  const stack = await (values.kubernetes ? startStackOnKubernetes() : startStack());
  try {
    const key = blobKeyOf(stack);
    const flags = [
      "--endpoint",
      `localhost:${stack.api}`,
      "--kubeconfig",
      stack.kubeconfig,
      "--s3",
      `http://127.0.0.1:${stack.blobs}`,
      "--s3-key",
      key.accessKeyId,
      "--s3-secret",
      key.secretAccessKey,
      "--jobs",
      values.jobs,
      "--out",
      folder,
    ];
    const python = join(stack.pythonBin, "python");
    const env = { ...process.env, PATH: `${stack.pythonBin}:${process.env.PATH}`, PYTHONDONTWRITEBYTECODE: "1" };
    spawnSync(python, [join(records, "record.py"), ...flags, ...(values.only === "" ? [] : ["--only", values.only])], {
      stdio: "inherit",
      env,
    });
  } finally {
    await stack.stop();
  }
}

// Tracebacks name the folders of the Python and of the code that ran.
const read = (path: string): RunRecord =>
  JSON.parse(
    readFileSync(path, "utf8")
      .replace(/[^\s"\\]+(?=\/workflows\/[a-z_]+\.py)/g, "<CODE>")
      .replace(/[^\s"\\]+(?=\/lib\/python3\.\d+\/)/g, "<PYTHON>"),
  );

const classification = new Classification<RunDifference>(ENGINE_CLASSES);
const covered = new Map<string, string[]>();
let unexplained = 0;
const wanted = values.only === "" ? [] : values.only.split(",");
const names = readdirSync(join(records, "golden"))
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
  const broad = values.plant ? takenForRight(theirs, ours, ENGINE_CLASSES) : [];
  for (const { path, class: covering, planted } of broad) console.log(`    ${covering} covers ${JSON.stringify(planted)} at ${path}`);
  unexplained += open.length + broad.length > 0 ? 1 : 0;
}
if (values.review) {
  for (const { name, reason } of ENGINE_CLASSES) console.log([`${name}: ${reason}`, ...(covered.get(name) ?? [])].join("\n    "));
}
for (const line of report(classification.meetings())) console.log(line);
if (values.here === undefined && process.env.KEEP_RECORDS === undefined) rmSync(folder, { recursive: true, force: true });
else console.log(`records: ${folder}`);
console.log(`${names.length} cases, ${unexplained} differ without an accepted reason`);
process.exit(unexplained > 0 || names.length === 0 ? 1 : 0);

function shown({ path, recorded, here }: RunDifference, length: number): string {
  const text = (value: unknown) => JSON.stringify(value).slice(0, length);
  return `${path}\n        recorded ${text(recorded)}\n        here     ${text(here)}`;
}
