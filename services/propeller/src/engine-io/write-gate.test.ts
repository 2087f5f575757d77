import { WorkflowPhase } from "@flyte-ts/domain/phase";
import { expect, test } from "vitest";
import type { Effect, WorkflowRun } from "../engine/types.js";
import { WriteGate } from "./write-gate.js";

/** A run that changes when the test requests it. */
class Run {
  revision = 0;
  terminal = false;
  isFinalizing = false;
  phase: number = WorkflowPhase.Running;
  blobs: readonly object[] = [];
  #taken = 0;

  takeStatusPatch(): object | undefined {
    if (this.#taken === this.revision) return undefined;
    this.#taken = this.revision;
    return { status: {}, blobs: this.blobs };
  }
}

function fixture() {
  const run = new Run();
  const io = new WriteGate(run as unknown as WorkflowRun, { resourceVersion: "1" }, 0);
  const change = (...held: Effect["kind"][]) => {
    run.revision++;
    return io.admit(held.map((kind) => ({ kind, afterRevision: run.revision }) as unknown as Effect));
  };
  const written = (now: number) => io.onWritten({ resourceVersion: "2" }, now).released.map(({ kind }) => kind);
  return { run, io, change, written };
}

test("changes without pending effects are written together after a delay, and nextWriteAt returns its end", () => {
  const { io, change, written } = fixture();
  change();
  expect(io.nextWrite(1_000)).toBeDefined();
  change("publish");
  expect(io.nextWriteAt).toBeUndefined();
  expect(written(1_010)).toEqual([]);
  expect(io.nextWrite(1_010)).toBeUndefined();
  // Four times the duration of the last write, plus 100 ms.
  expect(io.nextWriteAt).toBe(1_150);
  change("publish");
  expect(io.nextWrite(1_149)).toBeUndefined();
  expect(io.nextWrite(1_150)?.revision).toBe(3);
  expect(written(1_151)).toEqual(["publish", "publish"]);
  expect(io.nextWriteAt).toBeUndefined();
});

test.each([
  { durationMs: 0, pauseMs: 100 },
  { durationMs: 200, pauseMs: 900 },
  { durationMs: 400, pauseMs: 1_100 },
  { durationMs: 5_000, pauseMs: 5_100 },
])("the pause after a write of $durationMs ms is $pauseMs ms", ({ durationMs, pauseMs }) => {
  const { io, change, written } = fixture();
  change();
  io.nextWrite(1_000);
  change();
  written(1_000 + durationMs);
  expect(io.nextWriteAt).toBe(1_000 + durationMs + pauseMs);
});

test("the first write of a new run is delayed unless a task request waits for it or the run ends", () => {
  const quiet = fixture();
  quiet.change("publish");
  expect(quiet.io.nextWrite(99)).toBeUndefined();
  expect(quiet.io.nextWriteAt).toBe(100);
  expect(quiet.io.nextWrite(100)).toBeDefined();
  const waiting = fixture();
  waiting.change("publish");
  waiting.change("sendTaskRequest");
  expect(waiting.io.nextWrite(1)?.revision).toBe(2);
  const short = fixture();
  short.change("publish");
  short.run.terminal = true;
  short.change("publish");
  expect(short.io.nextWrite(1)?.revision).toBe(2);
});

test("a change with a task request and the end of a run are written at once", () => {
  const { run, io, change, written } = fixture();
  change();
  io.nextWrite(100);
  written(100);
  change("sendTaskRequest");
  expect(io.nextWrite(101)).toBeDefined();
  expect(written(102)).toEqual(["sendTaskRequest"]);
  change("publish");
  expect(io.nextWrite(103)).toBeUndefined();
  run.terminal = true;
  change("publish");
  expect(io.nextWrite(103)).toBeDefined();
});

/** A run whose last write took from 1,000 ms to `end`, and a request that waits for the next. */
function waitingAfterWrite(blobs: readonly object[], end: number) {
  const { run, io, change, written } = fixture();
  run.blobs = blobs;
  change();
  io.nextWrite(1_000);
  written(end);
  change("sendTaskRequest");
  return { io, change };
}

test.each([
  { durationMs: 30, pauseMs: 60 },
  { durationMs: 500, pauseMs: 200 },
])("beside other executions requests wait $pauseMs ms after a write with slices of $durationMs ms", ({ durationMs, pauseMs }) => {
  const end = 1_000 + durationMs;
  const { io, change } = waitingAfterWrite([{}], end);
  expect(io.wantsWrite(end)).toBe(true);
  expect(io.nextWriteAt).toBe(end + pauseMs);
  expect([io.wantsWrite(end + pauseMs - 1, true), io.wantsWrite(end + pauseMs, true)]).toEqual([false, true]);
  for (let more = 1; more < 1_000; more++) change("sendTaskRequest");
  expect(io.wantsWrite(end, true)).toBe(true);
});

test("beside other executions requests do not wait after a write without slices", () => {
  const { io } = waitingAfterWrite([], 1_030);
  expect(io.wantsWrite(1_030, true)).toBe(true);
});

test("the number of deferred effects is bounded, and a clock that is set back delays no write", () => {
  const { io, change, written } = fixture();
  change();
  io.nextWrite(100_000);
  written(100_000);
  change("publish");
  expect(io.nextWrite(100_001)).toBeUndefined();
  expect(io.nextWrite(5_000)).toBeDefined();
  written(5_000);
  for (let i = 0; i < 999; i++) change("publish");
  expect(io.nextWrite(5_001)).toBeUndefined();
  change("publish");
  expect(io.nextWrite(5_001)).toBeDefined();
});

test("the final write is delayed, except when the resource is being deleted", () => {
  const ended = (phase: number) => {
    const one = fixture();
    Object.assign(one.run, { terminal: true, phase });
    one.change("publish");
    one.io.nextWrite(1_000);
    one.written(1_010);
    one.run.isFinalizing = true;
    one.change("finalize");
    return one;
  };
  const { io, written } = ended(WorkflowPhase.Success);
  expect(io.nextWrite(4_009)).toBeUndefined();
  expect(io.nextWriteAt).toBe(4_010);
  expect(io.nextWrite(4_010)).toBeDefined();
  expect(written(4_020)).toEqual(["finalize"]);
  expect(ended(WorkflowPhase.Aborted).io.nextWrite(1_010)).toBeDefined();
});

test("effects are released when their revision is durable, and not before", () => {
  const { io, change, written } = fixture();
  expect(change("sendTaskRequest")).toEqual([]);
  io.nextWrite(0);
  change("kubeEvent");
  expect(io.deferredCount).toBe(2);
  expect(written(1)).toEqual(["sendTaskRequest"]);
  io.nextWrite(1);
  expect(written(2)).toEqual(["kubeEvent"]);
  expect(io.isIdle).toBe(true);
});

test("a change of the resource by another client is detected while no write is in flight", () => {
  const run = new Run();
  const io = new WriteGate(run as unknown as WorkflowRun, { resourceVersion: "1", generation: 4 }, 0);
  io.onGeneration(4);
  expect(io.isOverwritten).toBe(false);
  run.revision++;
  expect(io.nextWrite(1_000)).toBeDefined();
  // The watch may deliver the write before its response arrives.
  io.onGeneration(5);
  expect(io.isOverwritten).toBe(false);
  io.onWritten({ resourceVersion: "2", generation: 5 }, 1_010);
  expect(io.isOverwritten).toBe(false);
  io.onGeneration(3);
  expect(io.isOverwritten).toBe(false);
  io.onGeneration(6);
  expect(io.isOverwritten).toBe(true);
});

test("a change right after a write is detected when the write is answered", () => {
  const run = new Run();
  const io = new WriteGate(run as unknown as WorkflowRun, { resourceVersion: "1", generation: 4 }, 0);
  run.revision++;
  expect(io.nextWrite(1_000)).toBeDefined();
  io.onGeneration(6);
  io.onWritten({ resourceVersion: "2", generation: 5 }, 1_010);
  expect(io.isOverwritten).toBe(true);
});

test("without generations no change is detected", () => {
  const { io } = fixture();
  io.onGeneration(0);
  expect(io.isOverwritten).toBe(false);
});
