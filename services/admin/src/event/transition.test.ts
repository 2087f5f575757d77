import {
  NodeExecution_Phase as Node,
  TaskExecution_Phase as Task,
  WorkflowExecution_Phase as Workflow,
} from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { describe, expect, test } from "vitest";
import { judgeNode, judgeTask, judgeWorkflow, type Verdict } from "./transition.js";

const values = <T extends number>(phases: Record<string, string | T>): T[] =>
  Object.values(phases).filter((value): value is T => typeof value === "number");

describe("workflow phases", () => {
  const open = [Workflow.UNDEFINED, Workflow.QUEUED, Workflow.RUNNING, Workflow.SUCCEEDING, Workflow.FAILING];
  const ended = [Workflow.SUCCEEDED, Workflow.FAILED, Workflow.ABORTED, Workflow.TIMED_OUT];

  test.each(ended)("%i is left no more, and its repeat is told apart", (phase) => {
    for (const next of values(Workflow)) {
      // QUEUED never counts as a repetition, but no phase here is QUEUED.
      expect(judgeWorkflow(phase, next)).toBe<Verdict>(next === phase ? "repeated" : "ended");
    }
  });

  test.each(open)("%i goes to every end", (phase) => {
    for (const next of ended) expect(judgeWorkflow(phase, next)).toBe<Verdict>("apply");
  });

  test("going back is refused from RUNNING to QUEUED alone", () => {
    expect(judgeWorkflow(Workflow.RUNNING, Workflow.QUEUED)).toBe<Verdict>("backward");
    expect(judgeWorkflow(Workflow.SUCCEEDING, Workflow.RUNNING)).toBe<Verdict>("apply");
    expect(judgeWorkflow(Workflow.FAILING, Workflow.RUNNING)).toBe<Verdict>("apply");
    expect(judgeWorkflow(Workflow.SUCCEEDING, Workflow.QUEUED)).toBe<Verdict>("apply");
  });

  test("QUEUED may be told again, nothing else", () => {
    expect(judgeWorkflow(Workflow.QUEUED, Workflow.QUEUED)).toBe<Verdict>("apply");
    expect(judgeWorkflow(Workflow.RUNNING, Workflow.RUNNING)).toBe<Verdict>("repeated");
    expect(judgeWorkflow(Workflow.UNDEFINED, Workflow.UNDEFINED)).toBe<Verdict>("repeated");
  });

  test("from ABORTING only to an end", () => {
    for (const next of values(Workflow)) {
      const expected: Verdict = next === Workflow.ABORTING ? "repeated" : ended.includes(next) ? "apply" : "backward";
      expect(judgeWorkflow(Workflow.ABORTING, next)).toBe(expected);
    }
  });
});

describe("node phases", () => {
  const ended = [Node.SUCCEEDED, Node.FAILED, Node.TIMED_OUT, Node.ABORTED, Node.SKIPPED, Node.RECOVERED];

  test("every pair", () => {
    for (const from of values(Node)) {
      for (const to of values(Node)) {
        const expected: Verdict = from === to ? "repeated" : ended.includes(from) ? "ended" : "apply";
        expect(judgeNode(from, to), `${Node[from]} to ${Node[to]}`).toBe(expected);
      }
    }
  });
});

describe("task phases", () => {
  const at = (phase: Task, phaseVersion = 0) => ({ phase, phaseVersion });

  test("within a phase only a higher version is news", () => {
    expect(judgeTask(at(Task.RUNNING, 3), at(Task.RUNNING, 3))).toBe<Verdict>("repeated");
    expect(judgeTask(at(Task.RUNNING, 3), at(Task.RUNNING, 2))).toBe<Verdict>("repeated");
    expect(judgeTask(at(Task.RUNNING, 3), at(Task.RUNNING, 4))).toBe<Verdict>("apply");
    expect(judgeTask(at(Task.RUNNING, 3), at(Task.QUEUED, 0))).toBe<Verdict>("apply");
  });

  test.each([Task.SUCCEEDED, Task.FAILED, Task.ABORTED])("%i is left no more", (phase) => {
    for (const next of values(Task).filter((other) => other !== phase)) expect(judgeTask(at(phase), at(next, 9))).toBe<Verdict>("ended");
    expect(judgeTask(at(phase), at(phase))).toBe<Verdict>("repeated");
    // A higher version of the terminal phase does not change a terminal attempt.
    expect(judgeTask(at(phase), at(phase, 1))).toBe<Verdict>("ended");
  });

  test("a failure that is retried within the attempt is no end", () => {
    expect(judgeTask(at(Task.RETRYABLE_FAILED), at(Task.RUNNING))).toBe<Verdict>("apply");
  });
});
