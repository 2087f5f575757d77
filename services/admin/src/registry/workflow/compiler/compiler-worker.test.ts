import { create } from "@bufbuild/protobuf";
import { CompiledTaskSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import { IdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { afterEach, expect, test } from "vitest";
import type { CompileOutcome, ResolvedRefs, EntityRefs } from "./compile-to-bytes.js";
import { CompilerWorker, MalformedTemplatesError } from "./compiler-worker.js";
import { encodeRefs, type EncodedTemplates } from "./encoded-source.js";

let compiler: CompilerWorker | undefined;
afterEach(() => compiler?.close());

/**
 * Starts a compiler whose thread obeys words in the template's bytes instead of compiling. The
 * thread returns its number and its number of runs.
 */
function started(idleMs = 60_000): CompilerWorker {
  const program = `
    import { parentPort, threadId } from "node:worker_threads";
    let ran = 0;
    parentPort.on("message", ({ open, compile }) => {
      if (compile !== undefined) return parentPort.postMessage({ outcome: { ok: false, errors: compile.tasks.length + " tasks" } });
      const words = Buffer.from(open.template).toString("latin1");
      if (words.includes("exit")) process.exit(3);
      if (words.includes("throw")) throw new Error("out of the blue");
      if (words.includes("fault")) parentPort.postMessage({ fault: "at line 1" });
      else if (words.includes("malformed")) parentPort.postMessage({ malformed: "truncated" });
      else if (words.includes("refers")) parentPort.postMessage({ referred: open.subWorkflows[0] });
      else parentPort.postMessage({ outcome: { ok: false, errors: threadId + " " + ++ran } });
    });`;
  compiler = new CompilerWorker({ module: new URL(`data:text/javascript,${encodeURIComponent(program)}`), idleMs, largeBytes: 1_000 });
  return compiler;
}

const templates = (name: string): EncodedTemplates => ({ id: new Uint8Array(), template: Buffer.from(name), subWorkflows: [] });
const nothing = () => Promise.reject(new Error("nothing is referred to"));
const compileIn = (thread: CompilerWorker, name: string) => thread.compile(templates(name), nothing);

/** Number of the thread, and its number of runs. */
function resultOf(outcome: CompileOutcome): { readonly thread: string; readonly ran: number } {
  const [thread = "", ran = ""] = outcome.ok ? [] : outcome.errors.split(" ");
  return { thread, ran: Number(ran) };
}

test("concurrent workflows are compiled one after another in one thread", async () => {
  const thread = started();
  const outcomes = (await Promise.all(["a", "b", "c"].map((name) => compileIn(thread, name)))).map(resultOf);
  expect(outcomes.map(({ ran }) => ran)).toEqual([1, 2, 3]);
  expect(new Set(outcomes.map((outcome) => outcome.thread)).size).toBe(1);
});

test.each([
  ["exit", "the compiler's thread ended with 3"],
  ["throw", "the compiler's thread died"],
])("a thread that dies (%s) fails only its current workflow, and another thread serves the others", async (how, message) => {
  const thread = started();
  const before = resultOf(await compileIn(thread, "a"));
  const lost = compileIn(thread, how);
  const after = compileIn(thread, "b");
  await expect(lost).rejects.toThrow(message);
  const next = resultOf(await after);
  expect(next.ran).toBe(1);
  expect(next.thread).not.toBe(before.thread);
});

test("an error of the compiler fails only its workflow", async () => {
  const thread = started();
  await expect(compileIn(thread, "fault")).rejects.toThrow("at line 1");
  expect(resultOf(await compileIn(thread, "a")).ran).toBe(1);
});

test("references are fetched during the compilation, and a failed fetch fails only its workflow", async () => {
  const thread = started();
  const task = create(IdentifierSchema, { name: "t" });
  const referring: EncodedTemplates = {
    ...templates("refers"),
    subWorkflows: [encodeRefs({ tasks: [task], launchPlans: [] }) as unknown as Uint8Array],
  };
  const requested: EntityRefs[] = [];
  const load = async (referred: EntityRefs): Promise<ResolvedRefs> => {
    requested.push(referred);
    return { tasks: [create(CompiledTaskSchema)], launchPlans: [] };
  };
  const refused = thread.compile(referring, () => Promise.reject(new Error("no such task"))).catch(String);
  expect(await Promise.all([refused, thread.compile(referring, load)])).toEqual(["Error: no such task", { ok: false, errors: "1 tasks" }]);
  expect(requested).toEqual([{ tasks: [task], launchPlans: [] }]);
});

test("undecodable templates are reported", async () => {
  await expect(compileIn(started(), "malformed")).rejects.toThrow(MalformedTemplatesError);
});

test("the thread ends after a large workflow unless others wait", async () => {
  const thread = started();
  const large = "x".repeat(1_000);
  const [first, second] = await Promise.all([compileIn(thread, large), compileIn(thread, "a")]);
  expect(resultOf(second)).toEqual({ ...resultOf(first), ran: 2 });
  expect(resultOf(await compileIn(thread, "a")).thread).not.toBe(resultOf(first).thread);
  expect(resultOf(await compileIn(thread, "a")).ran).toBe(2);
});

test("an idle thread ends, and a later workflow starts another", async () => {
  const thread = started(1);
  const first = resultOf(await compileIn(thread, "a"));
  const another = async () => resultOf(await compileIn(thread, "b")).thread !== first.thread;
  await expect.poll(another, { interval: 50, timeout: 10_000 }).toBe(true);
});

test("closing rejects running and waiting compilations", async () => {
  const thread = started();
  const given = Promise.allSettled([compileIn(thread, "a"), compileIn(thread, "b")]);
  await thread.close();
  expect((await given).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  await expect(compileIn(thread, "c")).rejects.toThrow("closed");
});
