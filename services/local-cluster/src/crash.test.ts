import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { makeEntryPoints } from "./kubelet/warm/entry-points.fixture.js";
import { type KubeObject, textAt } from "./object/model.js";
import { buildService, type ServiceProcess, startService } from "./service-process.fixture.js";

let folder: string;
let service: ServiceProcess;

beforeAll(buildService);
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "crash-"));
  service = await startService(folder);
});
afterEach(async () => {
  await service.kill("SIGKILL");
  service = await startService(folder, ["--podsOnStop", "kill"]);
  await service.kill("SIGTERM");
  rmSync(folder, { recursive: true, force: true });
});

async function call(method: string, path: string, body?: unknown): Promise<{ status: number; body: KubeObject & { items: KubeObject[] } }> {
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const response = await fetch(`http://127.0.0.1:${service.port}${path}`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": type } }),
  });
  return { status: response.status, body: (await response.json()) as never };
}

const CM = "/api/v1/namespaces/default/configmaps";
const PODS = "/api/v1/namespaces/default/pods";

test("acknowledged writes survive SIGKILL", async () => {
  const acknowledged = new Map<string, { revision: number; value: string | undefined }>();
  const deleted = new Set<string>();
  let running = true;
  const client = async (id: number) => {
    for (let i = 0; running; i++) {
      const name = `c${id}-${i}`;
      const created = await call("POST", CM, { metadata: { name }, data: { large: "x".repeat(i % 10 === 0 ? 20_000 : 10) } });
      acknowledged.set(name, { revision: Number(created.body.metadata.resourceVersion), value: undefined });
      const patched = await call("PATCH", `${CM}/${name}`, { data: { value: `v${i}` } });
      acknowledged.set(name, { revision: Number(patched.body.metadata.resourceVersion), value: `v${i}` });
      if (i % 3 !== 0) continue;
      acknowledged.delete(name);
      if ((await call("DELETE", `${CM}/${name}`)).status === 200) deleted.add(name);
    }
  };
  const clients = Array.from({ length: 8 }, (_, id) => client(id).catch(() => undefined));
  while (acknowledged.size < 100) await delay(5);
  await service.kill("SIGKILL");
  running = false;
  await Promise.all(clients);

  service = await startService(folder);
  const { body } = await call("GET", CM);
  const found = new Map(body.items.map((item) => [item.metadata.name, item]));
  for (const [name, { revision, value }] of acknowledged) {
    const item = found.get(name);
    // The write in progress at the crash may have succeeded, so the state may be newer than the
    // last acknowledged one.
    expect(Number(item?.metadata.resourceVersion)).toBeGreaterThanOrEqual(revision);
    expect([name, textAt(item, "data", "value")]).toEqual([name, value ?? textAt(item, "data", "value")]);
  }
  for (const name of deleted) expect(found.has(name)).toBe(false);
  const next = await call("POST", CM, { metadata: { name: "after" } });
  expect(Number(next.body.metadata.resourceVersion)).toBeGreaterThan(
    Math.max(...[...acknowledged.values()].map(({ revision }) => revision)),
  );
});

test("a truncated record at the end of the log is dropped, and writes continue after it", async () => {
  await call("POST", CM, { metadata: { name: "whole" } });
  await service.kill("SIGKILL");
  appendFileSync(join(folder, "store", "log-0000000000000000.jsonl"), '{"r":99999,"k":"/configmaps","o":{"apiVersion":"v1","kind":"Conf');
  service = await startService(folder, ["--logLevel", "info"]);
  await call("POST", CM, { metadata: { name: "later" } });
  await service.kill("SIGKILL");
  service = await startService(folder);
  const { body } = await call("GET", CM);
  expect(body.items.map((item) => item.metadata.name)).toEqual(["later", "whole"]);
});

const SHELL = (notes: string, name: string, i: number) => [
  "sh",
  "-c",
  `echo ${name} start >> ${notes}; sleep 0.${i}; echo ${name} end >> ${notes}; exit ${i % 3}`,
];
const PYTHON = `import sys, time
_, notes, name, number = sys.argv
def note(what):
    with open(notes, "a") as file:
        file.write(f"{name} {what}\\n")
note("start")
time.sleep(float(f"0.{number}"))
note("end")
sys.exit(int(number) % 3)
`;

test.each([
  ["new processes", 15],
  ["forks of a Python during its preload", 100],
  ["forks", 600],
] as const)("pods run exactly once although the service is killed: %s", async (what, pause) => {
  const notes = join(folder, "notes");
  const names = Array.from({ length: 12 }, (_, i) => `p${i}`);
  const entry = what === "new processes" ? undefined : join(makeEntryPoints(folder, { "pyflyte-execute": PYTHON }).bin, "pyflyte-execute");
  const command = (name: string, i: number) => (entry === undefined ? SHELL(notes, name, i) : [entry, notes, name, `${i}`]);
  const pod = (name: string, i: number) => ({
    metadata: { name },
    spec: { restartPolicy: "Never", containers: [{ name: "main", image: "i", command: command(name, i) }] },
  });
  const creating = names.map((name, i) =>
    call("POST", PODS, pod(name, i)).then(
      () => name,
      () => undefined,
    ),
  );
  // Some pods run, some are starting, and some may not exist yet.
  await Promise.any(creating);
  await delay(pause);
  await service.kill("SIGKILL");
  const created = (await Promise.all(creating)).filter((name) => name !== undefined);
  await delay(300);
  service = await startService(folder);
  for (const name of created) {
    let phase: string | undefined;
    for (let i = 0; i < 1_200 && phase !== "Succeeded" && phase !== "Failed"; i++) {
      phase = textAt((await call("GET", `${PODS}/${name}`)).body, "status", "phase");
      await delay(25);
    }
    const index = names.indexOf(name);
    const { status } = (await call("GET", `${PODS}/${name}`)).body;
    expect([name, phase], JSON.stringify(status)).toEqual([name, index % 3 === 0 ? "Succeeded" : "Failed"]);
  }
  const lines = readFileSync(notes, "utf8").trimEnd().split("\n").sort();
  for (const name of created) expect(lines.filter((line) => line.startsWith(`${name} `))).toEqual([`${name} end`, `${name} start`]);
});

test("a pod that was being deleted when the service was killed still ends", async () => {
  await call("POST", PODS, {
    metadata: { name: "d" },
    spec: {
      restartPolicy: "Never",
      containers: [{ name: "main", image: "i", command: ["sh", "-c", 'trap "" TERM; while :; do sleep 0.1; done'] }],
    },
  });
  while (textAt((await call("GET", `${PODS}/d`)).body, "status", "phase") !== "Running") await delay(20);
  await call("DELETE", `${PODS}/d?gracePeriodSeconds=1`);
  await service.kill("SIGKILL");
  service = await startService(folder);
  for (let i = 0; i < 1_200 && (await call("GET", `${PODS}/d`)).status !== 404; i++) await delay(25);
  expect((await call("GET", `${PODS}/d`)).status).toBe(404);
});

test("with podsOnStop: keep a stopped service leaves its pods running for the next", async () => {
  const end = join(folder, "end-of-k");
  const command = ["sh", "-c", `while [ ! -e ${end} ]; do sleep 0.05; done; exit 4`];
  await call("POST", PODS, {
    metadata: { name: "k" },
    spec: { restartPolicy: "Never", containers: [{ name: "main", image: "i", command }] },
  });
  while (textAt((await call("GET", `${PODS}/k`)).body, "status", "phase") !== "Running") await delay(20);
  await service.kill("SIGTERM");
  service = await startService(folder);
  expect(textAt((await call("GET", `${PODS}/k`)).body, "status", "phase")).toBe("Running");
  writeFileSync(end, "");
  let pod = (await call("GET", `${PODS}/k`)).body;
  for (let i = 0; i < 1_200 && textAt(pod, "status", "phase") === "Running"; i++) {
    await delay(25);
    pod = (await call("GET", `${PODS}/k`)).body;
  }
  expect(pod["status"]).toMatchObject({
    phase: "Failed",
    containerStatuses: [{ restartCount: 0, state: { terminated: { exitCode: 4 } } }],
  });
});

test("a second service on the same folder refuses to start", async () => {
  await expect(startService(folder)).rejects.toThrow("ended before it was ready");
});
