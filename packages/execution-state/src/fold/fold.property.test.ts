import { isTerminalNodeEvent, isTerminalTaskEvent, isTerminalWorkflowEvent } from "@flyte-ts/domain/phase";
import {
  NodeExecution_Phase as Node,
  TaskExecution_Phase as Task,
  WorkflowExecution_Phase as Workflow,
} from "@flyte-ts/idl/flyteidl/core/execution_pb";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { NodeUpdate, TaskUpdate, WorkflowUpdate } from "../event/updates.js";
import { foldNode, type NodeState } from "./node-state.js";
import { taskEventSeq } from "../event/event-seq.js";
import { isPartOfHistory, foldTask, type TaskState } from "./task-state.js";
import { initialWorkflowState, foldWorkflow } from "./workflow-state.js";

const START = 1_700_000_000_000_000_000n;
const bytes = (...values: number[]) => Uint8Array.from(values);

/** Possible arrivals of the events: each at least once, some repeated, in any order. */
const arrivals = <T>(sent: readonly T[]): fc.Arbitrary<T[]> =>
  fc
    .array(fc.nat({ max: Math.max(sent.length - 1, 0) }), { maxLength: 2 * sent.length })
    .chain((repeats) => fc.shuffledSubarray([...sent, ...repeats.map((i) => sent[i] as T)], { minLength: sent.length + repeats.length }));

/** Steps with at most one end, at the last; times increase. */
function legal<Phase extends number>(phases: readonly Phase[], isTerminal: (phase: Phase) => boolean): fc.Arbitrary<Phase[]> {
  const open = phases.filter((phase) => !isTerminal(phase));
  const ends = phases.filter(isTerminal);
  return fc
    .tuple(fc.array(fc.constantFrom(...open), { maxLength: 6 }), fc.option(fc.constantFrom(...ends)))
    .map(([steps, end]) => (end === null ? steps : [...steps, end]))
    .filter((steps) => steps.length > 0);
}

const numbers = <T extends number>(phases: Record<string, string | T>): T[] =>
  Object.values(phases).filter((value): value is T => typeof value === "number");

const runs = { numRuns: 500 };

test("folding an execution gives the same state for any order and repetition of its events", () => {
  const scenario = legal(
    numbers(Workflow).filter((phase) => phase !== Workflow.ABORTING && phase !== Workflow.UNDEFINED),
    isTerminalWorkflowEvent,
  ).chain((phases) => {
    const events = phases.map((phase, index) => {
      const fact: WorkflowUpdate = {
        phase,
        occurredAt: START + BigInt(index),
        ...(phase === Workflow.SUCCEEDED && { outputUri: "s3://bucket/outputs.pb", outputs: bytes(index) }),
        ...((phase === Workflow.FAILING || phase === Workflow.FAILED) && {
          error: { bytes: bytes(index), kind: "USER", code: `C${index}` },
        }),
      };
      return { fact, order: BigInt(index + 1) };
    });
    return fc.record({ events: fc.constant(events), arrived: arrivals(events) });
  });
  fc.assert(
    fc.property(scenario, ({ events, arrived }) => {
      const record = (list: typeof events) =>
        list.reduce((state, { fact, order }) => foldWorkflow(state, fact, order), initialWorkflowState(START));
      expect(record(arrived)).toEqual(record(events));
    }),
    runs,
  );
});

test("folding a node gives the same state for any order and repetition of its events", () => {
  const scenario = legal(numbers(Node), isTerminalNodeEvent).chain((phases) => {
    const events = phases.map((phase, index) => {
      const fact: NodeUpdate = {
        phase,
        occurredAt: START + BigInt(index),
        reportedAt: START + BigInt(index) + 5n,
        inputUri: "s3://bucket/inputs.pb",
        deckUri: phase === Node.RUNNING ? `deck-${index}` : "",
        dynamicJobSpecUri: "",
        dynamicWorkflowUri: "",
        retryGroup: "0",
        specNodeId: "n0",
        eventVersion: 1,
        isParent: index % 2 === 1,
        isDynamic: phase === Node.DYNAMIC_RUNNING,
        isArray: false,
        ...(index % 3 === 0 && { target: { bytes: bytes(index), isExecution: false, cacheStatus: `S${index}` } }),
        ...(phase === Node.SUCCEEDED && { outputUri: "s3://bucket/outputs.pb", outputs: bytes(index) }),
        ...(phase === Node.FAILED && { error: { bytes: bytes(index), kind: "USER", code: "C" } }),
      };
      return { fact, order: BigInt(index + 1) };
    });
    return fc.record({ events: fc.constant(events), arrived: arrivals(events) });
  });
  fc.assert(
    fc.property(scenario, ({ events, arrived }) => {
      const record = (list: typeof events) =>
        list.reduce<NodeState | undefined>((state, { fact, order }) => foldNode(state, fact, order), undefined);
      expect(record(arrived)).toEqual(record(events));
    }),
    runs,
  );
});

test("folding an attempt gives the same state and history for any order and repetition of its events", () => {
  const forward = [Task.WAITING_FOR_RESOURCES, Task.QUEUED, Task.INITIALIZING, Task.RUNNING, Task.RETRYABLE_FAILED];
  const scenario = fc
    .tuple(
      fc.subarray(forward),
      fc.array(fc.nat({ max: 3 }), { minLength: 5, maxLength: 5 }),
      fc.option(fc.constantFrom(Task.SUCCEEDED, Task.FAILED, Task.ABORTED)),
    )
    .map(([phases, versions, end]) => [
      ...phases.flatMap((phase, index) => Array.from({ length: (versions[index] ?? 0) + 1 }, (_, version) => ({ phase, version }))),
      ...(end === null ? [] : [{ phase: end, version: 0 }]),
    ])
    .filter((steps) => steps.length > 0)
    .chain((steps) => {
      const events = steps.map(({ phase, version }, index) => {
        const fact: TaskUpdate = {
          phase,
          phaseVersion: version,
          occurredAt: START + BigInt(index),
          reportedAt: START + BigInt(index),
          inputUri: "s3://bucket/inputs.pb",
          event: bytes(index),
          ...(isTerminalTaskEvent(phase) && { outputUri: "s3://bucket/outputs.pb" }),
        };
        return { fact, order: taskEventSeq(phase, version) };
      });
      return fc.record({ events: fc.constant(events), arrived: arrivals(events) });
    });
  fc.assert(
    fc.property(scenario, ({ events, arrived }) => {
      const record = (list: typeof events) => {
        let state: TaskState | undefined;
        const history = new Map<bigint, Uint8Array>();
        for (const { fact, order } of list) {
          if (isPartOfHistory(state, fact) && !history.has(order)) history.set(order, fact.event);
          state = foldTask(state, fact, order);
        }
        return { state, history: [...history].toSorted(([a], [b]) => (a < b ? -1 : 1)) };
      };
      expect(record(arrived)).toEqual(record(events));
    }),
    runs,
  );
});

test("a reported end replaces an inferred one, which stays where none is reported", () => {
  const phases = fc.subarray([Node.QUEUED, Node.RUNNING, Node.DYNAMIC_RUNNING], { minLength: 1 });
  const scenario = fc
    .tuple(phases, fc.option(fc.constantFrom(Node.SUCCEEDED, Node.FAILED, Node.ABORTED)))
    .map(([before, end]) =>
      [...before, ...(end === null ? [] : [end])].map((phase, index) => ({ fact: nodeFact(phase, index), order: BigInt(index + 1) })),
    )
    .chain((events) => fc.record({ events: fc.constant(events), arrived: arrivals(events), assumedAt: fc.array(fc.nat({ max: 8 })) }));
  fc.assert(
    fc.property(scenario, ({ events, arrived, assumedAt }) => {
      const fold = (state: NodeState | undefined, { fact, order }: (typeof events)[number]) => foldNode(state, fact, order);
      let state: NodeState | undefined;
      for (const [index, event] of arrived.entries()) {
        if (state !== undefined && assumedAt.includes(index)) state = assume(state);
        state = fold(state, event);
      }
      state = assume(state as NodeState);
      const reported = events.reduce(fold, undefined) as NodeState;
      // Without a reported end, the state differs only by the assumed end.
      expect(state).toEqual(isTerminalNodeEvent(reported.phase) ? reported : assume(reported));
      expect(isTerminalNodeEvent(state.phase)).toBe(true);
    }),
    runs,
  );
});

function nodeFact(phase: Node, index: number): NodeUpdate {
  return {
    phase,
    occurredAt: START + BigInt(index),
    reportedAt: START + BigInt(index) + 5n,
    inputUri: "s3://bucket/inputs.pb",
    deckUri: isTerminalNodeEvent(phase) ? "deck" : "",
    dynamicJobSpecUri: "",
    dynamicWorkflowUri: "",
    retryGroup: "0",
    specNodeId: "n0",
    eventVersion: 1,
    isParent: false,
    isDynamic: false,
    isArray: false,
    ...(phase === Node.SUCCEEDED && { outputUri: "s3://bucket/outputs.pb", outputs: bytes(index) }),
    ...(phase === Node.FAILED && { error: { bytes: bytes(index), kind: "USER", code: "C" } }),
  };
}

/** As admin does without a reported end. */
function assume(state: NodeState): NodeState {
  const { error: _, outputs: __, target: ___, ...kept } = state;
  const fact: NodeUpdate = {
    ...kept,
    phase: Node.ABORTED,
    occurredAt: START + 99n,
    reportedAt: START + 99n,
    outputUri: "",
    inferredReason: "assumed",
  };
  return foldNode(state, fact, state.phaseSeq);
}
