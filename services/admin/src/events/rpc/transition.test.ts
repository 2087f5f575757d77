import {
  NodeExecution_Phase as Node,
  TaskExecution_Phase as Task,
  WorkflowExecution_Phase as Workflow,
} from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { describe, expect, test } from "vitest";
import { nodeTransition, taskTransition, workflowTransition, type Transition } from "./transition.js";

const values = <T extends number>(phases: Record<string, string | T>): T[] =>
  Object.values(phases).filter((value): value is T => typeof value === "number");

describe("workflow phases", () => {
  const open = [Workflow.UNDEFINED, Workflow.QUEUED, Workflow.RUNNING, Workflow.SUCCEEDING, Workflow.FAILING];
  const ended = [Workflow.SUCCEEDED, Workflow.FAILED, Workflow.ABORTED, Workflow.TIMED_OUT];

  test.each(ended)("a terminal phase (%i) accepts no other phase, and its repetition is recognized", (phase) => {
    for (const next of values(Workflow)) {
      // QUEUED never counts as a repetition, but no phase here is QUEUED.
      expect(workflowTransition(phase, next)).toBe<Transition>(next === phase ? "repeated" : "ended");
    }
  });

  test.each(open)("%i may change to every terminal phase", (phase) => {
    for (const next of ended) expect(workflowTransition(phase, next)).toBe<Transition>("apply");
  });

  test("only RUNNING to QUEUED is refused as going back", () => {
    expect(workflowTransition(Workflow.RUNNING, Workflow.QUEUED)).toBe<Transition>("backward");
    expect(workflowTransition(Workflow.SUCCEEDING, Workflow.RUNNING)).toBe<Transition>("apply");
    expect(workflowTransition(Workflow.FAILING, Workflow.RUNNING)).toBe<Transition>("apply");
    expect(workflowTransition(Workflow.SUCCEEDING, Workflow.QUEUED)).toBe<Transition>("apply");
  });

  test("QUEUED may be reported again, no other phase", () => {
    expect(workflowTransition(Workflow.QUEUED, Workflow.QUEUED)).toBe<Transition>("apply");
    expect(workflowTransition(Workflow.RUNNING, Workflow.RUNNING)).toBe<Transition>("repeated");
    expect(workflowTransition(Workflow.UNDEFINED, Workflow.UNDEFINED)).toBe<Transition>("repeated");
  });

  test("ABORTING changes only to a terminal phase", () => {
    for (const next of values(Workflow)) {
      const expected: Transition = next === Workflow.ABORTING ? "repeated" : ended.includes(next) ? "apply" : "backward";
      expect(workflowTransition(Workflow.ABORTING, next)).toBe(expected);
    }
  });
});

describe("node phases", () => {
  const ended = [Node.SUCCEEDED, Node.FAILED, Node.TIMED_OUT, Node.ABORTED, Node.SKIPPED, Node.RECOVERED];

  test("a repeated phase and a change of a terminal phase are refused, and all other pairs accepted", () => {
    for (const from of values(Node)) {
      for (const to of values(Node)) {
        const expected: Transition = from === to ? "repeated" : ended.includes(from) ? "ended" : "apply";
        expect(nodeTransition(from, to), `${Node[from]} to ${Node[to]}`).toBe(expected);
      }
    }
  });
});

describe("task phases", () => {
  const at = (phase: Task, phaseVersion = 0) => ({ phase, phaseVersion });

  test("the same phase is accepted only with a higher version", () => {
    expect(taskTransition(at(Task.RUNNING, 3), at(Task.RUNNING, 3))).toBe<Transition>("repeated");
    expect(taskTransition(at(Task.RUNNING, 3), at(Task.RUNNING, 2))).toBe<Transition>("repeated");
    expect(taskTransition(at(Task.RUNNING, 3), at(Task.RUNNING, 4))).toBe<Transition>("apply");
    expect(taskTransition(at(Task.RUNNING, 3), at(Task.QUEUED, 0))).toBe<Transition>("apply");
  });

  test.each([Task.SUCCEEDED, Task.FAILED, Task.ABORTED])("a terminal phase (%i) accepts no other phase", (phase) => {
    for (const next of values(Task).filter((other) => other !== phase))
      expect(taskTransition(at(phase), at(next, 9))).toBe<Transition>("ended");
    expect(taskTransition(at(phase), at(phase))).toBe<Transition>("repeated");
    // A higher version of the terminal phase does not change a terminal attempt.
    expect(taskTransition(at(phase), at(phase, 1))).toBe<Transition>("ended");
  });

  test("a failure that is retried within the attempt is not terminal", () => {
    expect(taskTransition(at(Task.RETRYABLE_FAILED), at(Task.RUNNING))).toBe<Transition>("apply");
  });
});
