import { TaskPhase, taskPhaseOfEvent } from "@flyte-ts/domain/phase";
import { TaskExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { TaskEvent } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { ExecutionErrorJson, TaskNodeStatus } from "@flyte-ts/workflow-crd/status";
import { errorToJson } from "../errors/error-json.js";
import type { Definitions, RuntimeNode } from "../graph/runtime.js";
import type { NodeOutputs } from "../data/node-inputs.js";
import type { NodeDecision } from "./decision.js";

/** A task node starts with a request for its first attempt. */
export function decideTaskStart(task: string, definitions: Definitions): NodeDecision {
  if (definitions.tasks.has(task)) return { kind: "request" };
  return { kind: "fail", error: { code: "BadSpecificationError", kind: "SYSTEM", message: `failed to find task [${task}]` } };
}

/** True for a task without outputs: no blob will be at its outputs' location. */
export function declaresNoOutputs({ model, scope }: RuntimeNode): boolean {
  if (model.target.kind !== "task") return false;
  const promised = scope.definitions.tasks.get(model.target.task)?.interface;
  return promised !== undefined && Object.keys(promised.outputs?.variables ?? {}).length === 0;
}

/** Meaning of an event of the running attempt. */
export type AttemptDecision =
  /** The event is older than the known state, or equal to it. */
  | { readonly kind: "ignore" }
  | { readonly kind: "progress"; readonly task: TaskNodeStatus }
  | { readonly kind: "succeed"; readonly outputs: NodeOutputs; readonly deckUri: string; readonly cleanup: boolean }
  | {
      readonly kind: "fail";
      readonly error: ExecutionErrorJson;
      readonly recoverable: boolean;
      readonly cleanup: boolean;
      readonly deckUri: string;
    }
  /** The attempt produced further nodes. */
  | { readonly kind: "expand"; readonly deckUri: string; readonly cleanup: boolean }
  | { readonly kind: "aborted" };

/**
 * The attempt was aborted, but not by propeller: another client requested it from the plugin
 * service.
 */
export const ABORTED_OUTSIDE: ExecutionErrorJson = {
  code: "AttemptAborted",
  kind: "SYSTEM",
  message: "the attempt was aborted without the workflow asking for it",
};

/** Interprets an event of the attempt that `known` describes. `now` is in RFC 3339. */
export function decideTaskEvent(reported: TaskEvent, known: TaskNodeStatus | undefined, now: string): AttemptDecision {
  const event = reported.event;
  if (event === undefined) return { kind: "ignore" };
  switch (event.phase) {
    case TaskExecution_Phase.SUCCEEDED: {
      const { deckUri, cleanup } = reported;
      if (reported.futuresUri !== "") return { kind: "expand", deckUri, cleanup };
      const uri = event.outputResult.case === "outputUri" ? event.outputResult.value : "";
      const value = reported.outputs ?? (event.outputResult.case === "outputData" ? event.outputResult.value : undefined);
      return { kind: "succeed", outputs: { value, uri }, deckUri, cleanup };
    }
    case TaskExecution_Phase.FAILED:
    case TaskExecution_Phase.RETRYABLE_FAILED: {
      const error = errorToJson(event.outputResult.case === "error" ? event.outputResult.value : undefined);
      const recoverable = reported.failure?.recoverable ?? event.phase === TaskExecution_Phase.RETRYABLE_FAILED;
      return {
        kind: "fail",
        error,
        recoverable,
        cleanup: reported.cleanup || (reported.failure?.cleanup ?? false),
        deckUri: reported.deckUri,
      };
    }
    case TaskExecution_Phase.ABORTED:
      return { kind: "aborted" };
    case TaskExecution_Phase.UNDEFINED:
    case TaskExecution_Phase.QUEUED:
    case TaskExecution_Phase.RUNNING:
    case TaskExecution_Phase.INITIALIZING:
    case TaskExecution_Phase.WAITING_FOR_RESOURCES:
      return progress(reported, known, now);
    default:
      // A phase that only newer versions define; a known phase follows it.
      return { kind: "ignore" };
  }
}

function progress(reported: TaskEvent, known: TaskNodeStatus | undefined, now: string): AttemptDecision {
  const phase = taskPhaseOfEvent(reported.event?.phase ?? TaskExecution_Phase.UNDEFINED, false);
  const version = reported.event?.phaseVersion ?? 0;
  const knownPhase = known?.phase ?? TaskPhase.Undefined;
  if (phase < knownPhase || phase === TaskPhase.Undefined) return { kind: "ignore" };
  if (phase === knownPhase && version <= (known?.phaseVersion ?? 0)) return { kind: "ignore" };
  const state = Buffer.from(reported.pluginState).toString("base64");
  return {
    kind: "progress",
    task: {
      ...known,
      phase,
      ...(version === 0 ? { phaseVersion: undefined } : { phaseVersion: version }),
      ...(state === "" ? {} : { pState: state }),
      ...(phase === knownPhase ? {} : { updAt: now }),
    },
  };
}
