// Compares how this stack runs workflows with records of Go Flyte. The records and their driver are not
// part of this repository: `--records` names the folder that holds record.py, cases.py and golden/.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { startStack, startStackOnKubernetes } from "../stack/stack-fixture.js";
import { acceptance, type AcceptedDifference, type Difference, differences, idle } from "./differences.js";

const { values } = parseArgs({
  options: {
    records: { type: "string" },
    only: { type: "string", default: "" },
    jobs: { type: "string", default: "3" },
    here: { type: "string" },
    /** On a real kube-apiserver in place of the local cluster. */
    kubernetes: { type: "boolean", default: false },
    /** Print what each entry of the list accepts. */
    review: { type: "boolean", default: false },
  },
});
if (values.records === undefined) throw new Error("--records FOLDER is needed: the folder of record.py");
const records = resolve(values.records);
const listFile = resolve(dirname(fileURLToPath(import.meta.url)), "..", "..", "accepted-differences.json");
const list = JSON.parse(readFileSync(listFile, "utf8")) as AcceptedDifference[];
const folder = values.here ?? mkdtempSync(join(tmpdir(), "flyte-ts-records-"));

if (values.here === undefined) {
  const stack = await (values.kubernetes ? startStackOnKubernetes() : startStack());
  try {
    const flags = [
      "--endpoint",
      `localhost:${stack.api}`,
      "--kubeconfig",
      stack.kubeconfig,
      "--s3",
      `http://127.0.0.1:${stack.blobs}`,
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

let unexplained = 0;
const wanted = values.only === "" ? [] : values.only.split(",");
const names = readdirSync(join(records, "golden"))
  .filter((file) => file.endsWith(".json"))
  .map((file) => file.replace(".json", ""));
const found = new Map<string, readonly Difference[]>();
for (const name of names.filter((each) => wanted.length === 0 || wanted.includes(each))) {
  const file = `${name}.json`;
  if (!existsSync(join(folder, file))) {
    console.log(`MISSING  ${name}`);
    unexplained++;
    continue;
  }
  // Tracebacks name the folders of the Python and of the code that ran.
  const read = (path: string): unknown =>
    JSON.parse(
      readFileSync(path, "utf8")
        .replace(/[^\s"\\]+(?=\/workflows\/[a-z_]+\.py)/g, "<CODE>")
        .replace(/[^\s"\\]+(?=\/lib\/python3\.\d+\/)/g, "<PYTHON>"),
    );
  const all = differences(read(join(records, "golden", file)), read(join(folder, file)));
  found.set(name, all);
  const open = all.filter((difference) => acceptance(list, name, difference) === undefined);
  console.log(`${open.length === 0 ? "agrees  " : "DIFFERS "} ${name} (${all.length - open.length} accepted, ${open.length} not)`);
  for (const { path, recorded, here } of open.slice(0, 40)) {
    console.log(
      `    ${path}\n        recorded ${JSON.stringify(recorded).slice(0, 400)}\n        here     ${JSON.stringify(here).slice(0, 400)}`,
    );
  }
  unexplained += open.length > 0 ? 1 : 0;
}
if (values.review) {
  for (const entry of list) {
    console.log(`entry ${entry.cases?.join() ?? "(all)"} ${entry.path}\n    ${entry.reason}`);
    for (const [name, all] of found) {
      for (const difference of all.filter((each) => acceptance(list, name, each) === entry)) {
        const { path, recorded, here } = difference;
        console.log(
          `    ${name} ${path}\n        ${JSON.stringify(recorded).slice(0, 200)}\n        ${JSON.stringify(here).slice(0, 200)}`,
        );
      }
    }
  }
}
const idleEntries = idle(list, names, found);
for (const { entry, cases } of idleEntries) console.log(`ACCEPTS NOTHING ${entry.path}${cases === undefined ? "" : ` in ${cases.join()}`}`);
if (values.here === undefined && process.env.KEEP_RECORDS === undefined) rmSync(folder, { recursive: true, force: true });
else console.log(`records: ${folder}`);
console.log(`${unexplained} cases differ without an accepted reason`);
process.exit(unexplained + idleEntries.length > 0 ? 1 : 0);
