import { NodePhase } from "@flyte-ts/domain";
import type { RuntimeNode } from "../graph/runtime.js";
import { decideBegin } from "../handler/begin.js";
import { changePhase } from "../status/update-phase.js";
import { sendFinalize } from "./attempt.js";
import { apply } from "./begin.js";
import { inputsOf } from "./outputs.js";
import { requestRun } from "./request-run.js";
import { inputPlace } from "./input-place.js";
import { stopNode } from "./stop.js";
import type { Walk } from "./walk.js";

/**
 * Continues an attempt from the status that this process has not acted on: the attempt after a failure, or one that ran
 * when the workflow was loaded.
 */
export function resume(walk: Walk, node: RuntimeNode): void {
  const { phase } = node.status;
  if (node.request !== undefined || (phase !== NodePhase.Queued && phase !== NodePhase.Running)) return;
  if (node.inputs === undefined) {
    const bound = inputsOf(walk, node);
    if (bound.kind === "waiting") return;
    walk.blobs.release(node);
    if (bound.kind === "error") {
      // An attempt from before a restart may run; it is aborted first.
      const error = walk.errors.take(bound.error, node.status.error);
      walk.setNode(node, changePhase(node.status, { phase: NodePhase.Failing, message: bound.error.message, error, now: walk.now }));
      stopNode(walk, node, bound.error.message);
      return;
    }
    node.inputs = bound.inputs;
    // Inputs too large for messages were written before the node was queued.
    const place = inputPlace(walk, node, bound.inputs);
    node.inputsWritten = place !== "message";
    node.sharesInputs = place === "arrayFile";
  }
  if (node.model.target.kind === "task") {
    // The last attempt's cleanup may have been lost with the process that wrote its end.
    if (node.unconfirmed && node.attempt > 0) sendFinalize(walk, node, { attempt: node.attempt - 1, remove: true });
    requestRun(walk, node, { release: "held", mayRun: node.unconfirmed });
  } else apply(walk, node, decideBegin(node, node.inputs));
}
