import { NodePhase } from "@flyte-ts/domain/phase";
import type { RuntimeNode } from "../graph/runtime.js";
import { decideStart } from "../decide/node-start.js";
import { changePhase } from "../status/update-phase.js";
import { sendCleanupRequest } from "../requests/requests.js";
import { applyDecision } from "./start-node.js";
import { resolveInputs } from "../data/outputs.js";
import { requestRunWhenReserved } from "./request-run.js";
import { inputLocation } from "../data/input-location.js";
import { abortNode } from "../abort/abort.js";
import type { RunState } from "../state/run-state.js";

/**
 * Starts the work of an attempt for which this process has started none: a retry, or an attempt
 * that was running when the workflow was loaded.
 */
export function resumeNodeWork(state: RunState, node: RuntimeNode): void {
  const { phase } = node.status;
  let { inputs } = node.data;
  if (node.currentAttempt.request !== undefined || (phase !== NodePhase.Queued && phase !== NodePhase.Running)) return;
  if (inputs === undefined) {
    const bound = resolveInputs(state, node);
    if (bound.kind === "waiting") return;
    state.blobReads.unsubscribe(node);
    if (bound.kind === "error") {
      // An attempt from before a restart may run; it is aborted first.
      const error = state.errors.replace(bound.error, node.status.error);
      state.status.setNode(
        node,
        changePhase(node.status, { phase: NodePhase.Failing, message: bound.error.message, error, now: state.observation.now }),
      );
      abortNode(state, node, bound.error.message);
      return;
    }
    inputs = bound.inputs;
    node.changeData().setInputs(inputs);
    // Inputs too large for messages were written before the node was queued.
    const place = inputLocation(state, node, bound.inputs);
    node.changeData().setInputLocation({ inBlobStore: place !== "message", inArrayFile: place === "arrayFile" });
  }
  if (node.model.target.kind === "task") {
    // The last attempt's cleanup may have been lost with the process that wrote its end.
    if (node.readiness.maybeAheadOfStatus && node.attempt > 0) sendCleanupRequest(state, node, { attempt: node.attempt - 1, remove: true });
    requestRunWhenReserved(state, node, { timing: "afterWrite", maybeRunning: node.readiness.maybeAheadOfStatus });
  } else applyDecision(state, node, decideStart(node, inputs));
}
