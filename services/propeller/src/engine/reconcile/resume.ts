import { NodePhase } from "@flyte-ts/domain/phase";
import type { RuntimeNode } from "../graph/runtime.js";
import { decideStart } from "../decide/node-start.js";
import { changePhase } from "../status/update-phase.js";
import { sendCleanupRequest } from "../requests/requests.js";
import { applyDecision } from "./start-node.js";
import { rebindInputs } from "../data/rebind-inputs.js";
import { requestRunWhenReserved } from "./request-run.js";
import { abortNode } from "../abort/abort.js";
import type { RunState } from "../state/run-state.js";

/**
 * Starts the work of an attempt for which this process has started none: a retry, or an attempt
 * that was running when the workflow was loaded.
 */
export function resumeNodeWork(state: RunState, node: RuntimeNode): void {
  const { phase } = node.status;
  if (node.currentAttempt.request !== undefined || (phase !== NodePhase.Queued && phase !== NodePhase.Running)) return;
  const bound = rebindInputs(state, node);
  if (bound.kind === "waiting") return;
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
  if (node.model.target.kind === "task") {
    // The last attempt's cleanup may have been lost with the process that wrote its end.
    if (node.readiness.maybeAheadOfStatus && node.attempt > 0) sendCleanupRequest(state, node, { attempt: node.attempt - 1, remove: true });
    requestRunWhenReserved(state, node, { timing: "afterWrite", maybeRunning: node.readiness.maybeAheadOfStatus });
  } else applyDecision(state, node, decideStart(node, bound.inputs));
}
