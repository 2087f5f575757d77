import { WorkflowPhase } from "@flyte-ts/domain/phase";
import { WorkflowExecution_Phase as Workflow } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { expect, test } from "vitest";
import { planReconcile } from "./reconcile.js";
import type { StaleExecution } from "../../executions/store/execution/claim-stale.js";

const row = (phase: Workflow, change: Partial<StaleExecution> = {}): StaleExecution => ({
  project: "p",
  domain: "d",
  name: "e",
  rowId: 1n,
  cluster: "",
  acceptedAt: new Date(0),
  missingMs: undefined,
  hasPendingLaunch: false,
  hasPendingAbort: false,
  phase,
  ...change,
});
const resource = (phase: number, deleting = false) => ({ status: { phase }, deleting, finished: false });
const kind = (execution: StaleExecution, found?: ReturnType<typeof resource>) => planReconcile(execution, found).kind;

test("an execution without a resource is launched, aborted or reported as vanished, depending on its phase", () => {
  expect(kind(row(Workflow.UNDEFINED))).toBe("launch");
  expect(kind(row(Workflow.QUEUED))).toBe("launch");
  expect(kind(row(Workflow.UNDEFINED, { hasPendingLaunch: true }))).toBe("nothing");
  expect(kind(row(Workflow.ABORTING))).toBe("aborted");
  expect(kind(row(Workflow.ABORTING, { hasPendingLaunch: true }))).toBe("nothing");
  expect(kind(row(Workflow.RUNNING))).toBe("missing");
  expect(kind(row(Workflow.RUNNING, { missingMs: 599_999 }))).toBe("missing");
  expect(kind(row(Workflow.RUNNING, { missingMs: 600_000 }))).toBe("vanished");
  expect(kind(row(Workflow.SUCCEEDED, { missingMs: 600_000 }))).toBe("nothing");
});

test("an active execution whose resource has ended takes over that end", () => {
  for (const phase of [WorkflowPhase.Success, WorkflowPhase.Failed, WorkflowPhase.Aborted]) {
    for (const open of [Workflow.UNDEFINED, Workflow.RUNNING, Workflow.ABORTING]) expect(kind(row(open), resource(phase))).toBe("end");
    expect(kind(row(Workflow.FAILED), resource(phase))).toBe("nothing");
  }
});

test("an ABORTING execution whose resource runs is aborted unless an abort is pending", () => {
  expect(kind(row(Workflow.RUNNING), resource(WorkflowPhase.Running))).toBe("nothing");
  expect(kind(row(Workflow.ABORTING), resource(WorkflowPhase.Running))).toBe("abort");
  expect(kind(row(Workflow.ABORTING, { hasPendingAbort: true }), resource(WorkflowPhase.Running))).toBe("nothing");
  expect(kind(row(Workflow.ABORTING), resource(WorkflowPhase.Running, true))).toBe("nothing");
});
