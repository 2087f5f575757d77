import { NodePhase } from "@flyte-ts/domain";
import type { RuntimeNode } from "../graph/runtime.js";
import { decideBegin } from "../handler/begin.js";
import { sendRun } from "./attempt.js";
import { apply } from "./begin.js";
import { inputsOf, sizeOf } from "./outputs.js";
import { fail } from "./settle.js";
import type { Walk } from "./walk.js";

/**
 * Goes on with an attempt that the status knows and nothing was done for yet: the
 * attempt after a failure, or one that ran when this process loaded the workflow.
 */
export function resume(walk: Walk, node: RuntimeNode): void {
  const { phase } = node.status;
  if (node.request !== undefined || (phase !== NodePhase.Queued && phase !== NodePhase.Running)) return;
  if (node.inputs === undefined) {
    const bound = inputsOf(walk, node);
    if (bound.kind === "waiting") return;
    walk.blobs.release(node);
    if (bound.kind === "error") {
      fail(walk, node, bound.error);
      return;
    }
    node.inputs = bound.inputs;
    // What is too large for a message was written before the node was queued.
    node.inputsWritten = sizeOf(bound.inputs) > walk.config.inlineLimit;
  }
  if (node.model.target.kind === "task") sendRun(walk, node, "held");
  else apply(walk, node, decideBegin(node, node.inputs, walk.model));
}
