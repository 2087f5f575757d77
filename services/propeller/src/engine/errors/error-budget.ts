import type { ExecutionErrorJson } from "@flyte-ts/workflow-crd/status";
import { boundMessage, MAX_STATUS_MESSAGE } from "./bound-message.js";

/**
 * Total error text, UTF-16 units, that the node statuses of one workflow hold in full; further text
 * is truncated.
 */
const MAX_TOTAL_BYTES = 512 * 1024;

/**
 * Limits the total of error texts in a workflow's status, for workflows in which very many nodes
 * fail with long texts. Each text has its own limit as well. Events carry the texts in full.
 */
export class ErrorBudget {
  #held = 0;

  /** Returns the error in the form that the node's status may hold, in place of `before`. */
  replace(error: ExecutionErrorJson, before: ExecutionErrorJson | undefined): ExecutionErrorJson {
    this.remove(before);
    const fits = this.#held + error.message.length <= MAX_TOTAL_BYTES;
    const kept = fits ? error : { ...error, message: boundMessage(error.message, MAX_STATUS_MESSAGE) };
    this.add(kept);
    return kept;
  }

  /** Counts an error of a restored status. */
  add(error: ExecutionErrorJson | undefined): void {
    this.#held += error?.message.length ?? 0;
  }

  /** Subtracts an error of a removed status. */
  remove(error: ExecutionErrorJson | undefined): void {
    this.#held -= error?.message.length ?? 0;
  }
}
