import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { reference, t } from "@flyte-ts/sdk";
import { type Change, connect, ExecutionFailed, type FlyteConnection } from "@flyte-ts/sdk/client";
import { afterAll, beforeAll, expect, expectTypeOf, test } from "vitest";
import { root } from "../repository.js";
import { type RunningStack, startStack } from "../stack/stack-fixture.js";
import { runCommand, versionIn } from "./project.js";

// Programs start and follow executions of the examples by `@flyte-ts/sdk/client`.
const EXAMPLES = join(root, "examples", "typescript");
const Hyper = t.object({ C: t.float, maxIterations: t.default(t.int, 2500) }, { title: "Hyper" });
const training = reference(
  { kind: "workflow", name: "train.trainingWorkflow" },
  { inputs: { hyper: t.default(Hyper, { C: 0.1 }) }, outputs: { accuracy: t.float, model: t.file("json") } },
);
const greet = reference({ kind: "task", name: "hello.greet" }, { inputs: { name: t.string }, outputs: t.string });
const getData = reference({ kind: "task", name: "train.getData" }, { inputs: {}, outputs: t.dataset({ alcohol: t.float, target: t.int }) });
const read = reference(
  { kind: "task", name: "types.files.read" },
  { inputs: { table: t.file("csv"), parts: t.directory() }, outputs: { lines: t.int, texts: t.list(t.string) } },
);
const failures = reference(
  { kind: "workflow", name: "tasks.failures.failures" },
  { inputs: { x: t.int }, outputs: { attempt: t.int, x: t.int } },
);
const gates = reference({ kind: "workflow", name: "graphs.gates.gates" }, { inputs: { x: t.float }, outputs: t.float });

let stack: RunningStack;
let flyte: FlyteConnection;
const folder = mkdtempSync(join(tmpdir(), "flyte-ts-client-"));

beforeAll(async () => {
  stack = await startStack();
  const endpoint = `localhost:${stack.api}`;
  versionIn(runCommand({ folder: EXAMPLES, endpoint }, ["register"]));
  flyte = connect({ endpoint });
}, 400_000);
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await stack?.stop();
}, 60_000);

test("a workflow is started by name with the types of its entity", async () => {
  const execution = await flyte.run<typeof training>("train.trainingWorkflow", { hyper: { C: 0.4 } }, { labels: { by: "web" } });
  const changes: Change[] = [];
  for await (const change of execution.watch()) changes.push(change);
  expect(changes).toContainEqual({ kind: "node", node: "fit", parent: "", phase: "SUCCEEDED", reason: "" });
  expect(changes.at(-1)).toEqual({ kind: "execution", phase: "SUCCEEDED", reason: "" });
  const outputs = await execution.wait({ timeoutMs: 60_000 });
  expectTypeOf(outputs.accuracy).toEqualTypeOf<number>();
  expect(outputs.accuracy).toBeGreaterThan(0.5);
  expect(JSON.parse(await outputs.model.text())).toHaveLength(2);
  expect(await execution.url()).toBe(
    `http://localhost:${stack.api}/console/projects/flytesnacks/domains/development/executions/${execution.name}`,
  );
}, 300_000);

test("the program of the documentation follows a workflow", async () => {
  const [, code = ""] = /```ts\n(.*?)```/s.exec(readFileSync(join(root, "docs/typescript/client.md"), "utf8")) ?? [];
  const file = join(mkdtempSync(join(EXAMPLES, "src", ".program-")), "program.ts");
  writeFileSync(file, code);
  try {
    const env = { ...process.env, FLYTE_PLATFORM_URL: `localhost:${stack.api}` };
    const { stdout } = await promisify(execFile)(process.execPath, ["--experimental-strip-types", file], { env });
    expect(stdout).toMatch(/fit SUCCEEDED[^]*accuracy 0\.\d+ \[/);
  } finally {
    rmSync(dirname(file), { recursive: true, force: true });
  }
}, 300_000);

test("outputs of an execution that exists are read with their types", async () => {
  const { name } = await flyte.run(greet, { name: "Ann" });
  const execution = flyte.execution<typeof greet>(name);
  expect(await execution.wait()).toBe("Hello, Ann!");
  expect(await execution.phase()).toBe("SUCCEEDED");
  const listed = [];
  for await (const one of flyte.executions({ phases: ["SUCCEEDED"], limit: 100 })) listed.push(one);
  expect(listed).toContainEqual(expect.objectContaining({ name, entity: "hello.greet", phase: "SUCCEEDED", error: "" }));
}, 300_000);

test("files of inputs are sent, data sets of outputs are read", async () => {
  mkdirSync(join(folder, "below"));
  writeFileSync(join(folder, "a.txt"), "alpha");
  writeFileSync(join(folder, "below", "b.txt"), "beta");
  const sent = await flyte.run(read, { table: { content: "a,b\n1,2\n" }, parts: { path: folder } });
  expect(await sent.wait()).toEqual({ lines: 2, texts: ["alpha", "beta"] });
  const table = await (await flyte.run(getData)).wait();
  const rows = [];
  for await (const row of table.rows()) rows.push(row);
  expect(rows.length).toBe(100);
  expectTypeOf(rows).toEqualTypeOf<{ readonly alcohol: number; readonly target: number }[]>();
}, 300_000);

test("a failure has kind, code, message and node", async () => {
  const execution = await flyte.run(failures, { x: -1 });
  const failure: unknown = await execution.wait().catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ExecutionFailed);
  expect(failure).toMatchObject({ execution: execution.name, phase: "FAILED", kind: "USER", code: "USER:RangeError", node: "n1" });
  expect(String(failure)).toContain("-1 is negative");
  const again = await execution.relaunch();
  await expect(again.wait()).rejects.toThrow("-1 is negative");
  expect((await execution.recover()).name).not.toBe(execution.name);
}, 300_000);

test("gates are answered, and executions aborted", async () => {
  const execution = await flyte.run(gates, { x: 3 });
  await expect.poll(() => execution.signal("factor", 2).then(() => true, String), { timeout: 60_000 }).toBe(true);
  await expect.poll(() => execution.signal("release").then(() => true, String), { timeout: 60_000 }).toBe(true);
  expect(await execution.wait()).toBe(12);
  const other = await flyte.run(gates, { x: 3 });
  await other.abort("not wanted");
  await expect(other.wait()).rejects.toMatchObject({ name: "ExecutionFailed", phase: "ABORTED", code: "", message: /not wanted/ });
}, 300_000);

test("logs are read while a task runs", async () => {
  const execution = await flyte.run(training, {}, { overwriteCache: true });
  const texts: string[] = [];
  await execution.wait();
  for await (const { text } of execution.logs("n0")) texts.push(text);
  expect(texts.join("\n")).toContain("making samples");
}, 300_000);

test("a name is started once", async () => {
  const first = await flyte.run(greet, { name: "Ann" }, { name: "onlyonce" });
  const second = await flyte.run(greet, { name: "Bob" }, { name: "onlyonce" });
  expect([first.name, second.name, await second.wait()]).toEqual(["onlyonce", "onlyonce", "Hello, Ann!"]);
}, 300_000);

test("mistakes are reported before anything is started", async () => {
  await expect(flyte.untyped.run("hello.greet", { name: 5 })).rejects.toThrow("input name must be a string");
  await expect(flyte.untyped.run("hello.greet", {})).rejects.toThrow("input name is missing");
  await expect(flyte.untyped.run("hello.nothing")).rejects.toThrow("has no workflow, launch plan or task hello.nothing");
  await expect(connect({ endpoint: "localhost:1" }).untyped.run("hello.greet")).rejects.toThrow("http://localhost:1 cannot be reached");
  // @ts-expect-error: by name alone, the types are not known
  const untyped = flyte.run("hello.greet", { name: "Ann" });
  expect(await (await untyped).wait()).toBe("Hello, Ann!");
  // @ts-expect-error: an input of another type
  await expect(flyte.run(greet, { name: 5 })).rejects.toThrow("input name must be a string");
}, 300_000);
