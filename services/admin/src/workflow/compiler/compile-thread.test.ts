import { create } from "@bufbuild/protobuf";
import { type WorkflowTemplate, WorkflowTemplateSchema } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import { afterEach, expect, test } from "vitest";
import type { CompileOutcome, CompileSource } from "./compile-to-bytes.js";
import { CompileThread } from "./compile-thread.js";

let compiler: CompileThread | undefined;
afterEach(() => compiler?.close());

/** A thread that does as the template's bytes say, in place of compiling: it answers with its own number and those that it ran. */
function started(idleMs = 60_000): CompileThread {
  const program = `
    import { parentPort, threadId } from "node:worker_threads";
    let ran = 0;
    parentPort.on("message", ({ template }) => {
      const words = Buffer.from(template).toString("latin1");
      if (words.includes("exit")) process.exit(3);
      if (words.includes("throw")) throw new Error("out of the blue");
      if (words.includes("fault")) parentPort.postMessage({ fault: "at line 1" });
      else parentPort.postMessage({ outcome: { ok: false, errors: threadId + " " + ++ran } });
    });`;
  compiler = new CompileThread({ module: new URL(`data:text/javascript,${encodeURIComponent(program)}`), idleMs });
  return compiler;
}

const template = (name: string): WorkflowTemplate => create(WorkflowTemplateSchema, { id: { name } });
const source = (name: string): CompileSource => ({ template: template(name), subWorkflows: [], tasks: [], launchPlans: [] });

/** Number of the thread, and of what it compiled. */
function told(outcome: CompileOutcome): { readonly thread: string; readonly ran: number } {
  const [thread = "", ran = ""] = outcome.ok ? [] : outcome.errors.split(" ");
  return { thread, ran: Number(ran) };
}

test("several at once are compiled one after the other by one thread", async () => {
  const thread = started();
  const outcomes = (await Promise.all(["a", "b", "c"].map((name) => thread.compile(source(name))))).map(told);
  expect(outcomes.map(({ ran }) => ran)).toEqual([1, 2, 3]);
  expect(new Set(outcomes.map((outcome) => outcome.thread)).size).toBe(1);
});

test.each([
  ["exit", "the compiler's thread ended with 3"],
  ["throw", "the compiler's thread died"],
])("a thread that goes (%s) takes one workflow with it; the others get another thread", async (how, message) => {
  const thread = started();
  const before = told(await thread.compile(source("a")));
  const lost = thread.compile(source(how));
  const after = thread.compile(source("b"));
  await expect(lost).rejects.toThrow(message);
  const next = told(await after);
  expect(next.ran).toBe(1);
  expect(next.thread).not.toBe(before.thread);
});

test("what the compiler throws is the fault of that workflow alone", async () => {
  const thread = started();
  await expect(thread.compile(source("fault"))).rejects.toThrow("at line 1");
  expect(told(await thread.compile(source("a"))).ran).toBe(1);
});

test("the thread ends when it has nothing to do, and there is another when there is", async () => {
  const thread = started(1);
  const first = told(await thread.compile(source("a")));
  const another = async () => told(await thread.compile(source("b"))).thread !== first.thread;
  await expect.poll(another, { interval: 50, timeout: 10_000 }).toBe(true);
});

test("closing gives up what runs and what waits", async () => {
  const thread = started();
  const given = Promise.allSettled([thread.compile(source("a")), thread.compile(source("b"))]);
  await thread.close();
  expect((await given).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  await expect(thread.compile(source("c"))).rejects.toThrow("closed");
});
