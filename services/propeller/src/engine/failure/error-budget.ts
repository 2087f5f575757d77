import type { ExecutionErrorJson } from "@flyte-ts/workflow-crd";
import { boundMessage, MAX_STATUS_MESSAGE } from "./bound-message.js";

/** Error texts, in UTF-16 units, that the statuses of one workflow's nodes hold in full; what comes beyond is cut short. */
const MOST = 512 * 1024;

/**
 * Error texts in the statuses of a workflow. Each is bounded by itself; this bounds
 * their sum, where very many nodes fail with long ones. Events carry them in full.
 */
export class ErrorBudget {
  #held = 0;

  /** The error as the node's status may hold it, in the place of the one that it holds. */
  take(error: ExecutionErrorJson, before: ExecutionErrorJson | undefined): ExecutionErrorJson {
    this.give(before);
    const fits = this.#held + error.message.length <= MOST;
    const kept = fits ? error : { ...error, message: boundMessage(error.message, MAX_STATUS_MESSAGE) };
    this.hold(kept);
    return kept;
  }

  /** A status that holds this error was restored. */
  hold(error: ExecutionErrorJson | undefined): void {
    this.#held += error?.message.length ?? 0;
  }

  /** A status that held this error is gone. */
  give(error: ExecutionErrorJson | undefined): void {
    this.#held -= error?.message.length ?? 0;
  }
}
