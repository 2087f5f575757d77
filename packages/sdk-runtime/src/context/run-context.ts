import type { Context } from "@flyte-ts/sdk/runtime";
import type { RunRequest } from "../run-request.js";
import { Decks } from "./decks.js";
import { joinUri } from "../blob/join-uri.js";
import { createLog } from "./log.js";
import { readSecret } from "./secrets.js";

/** Context of a run, and what the runtime itself needs of it. */
export interface RunContext {
  readonly context: Context;
  readonly decks: Decks;
}

/** Maximum size of a checkpoint, bytes. */
const MAX_CHECKPOINT_BYTES = 1 << 30;
/** Name of the state below the addresses of checkpoints. */
const CHECKPOINT_NAME = "checkpoint";

export function createContext({ environment, addresses, blobs }: RunRequest, signal: AbortSignal): RunContext {
  const decks = new Decks((bytes) => blobs.write(joinUri(addresses.outputPrefix, "deck.html"), bytes));
  const context: Context = {
    execution: {
      project: environment["FLYTE_INTERNAL_EXECUTION_PROJECT"] ?? "",
      domain: environment["FLYTE_INTERNAL_EXECUTION_DOMAIN"] ?? "",
      name: environment["FLYTE_INTERNAL_EXECUTION_ID"] ?? "",
    },
    task: { name: environment["FLYTE_INTERNAL_TASK_NAME"] ?? "", version: environment["FLYTE_INTERNAL_TASK_VERSION"] ?? "" },
    attempt: Number(environment["FLYTE_ATTEMPT_NUMBER"] ?? 0),
    log: createLog(environment["FLYTE_TS_LOG"] === "json" ? "json" : "text"),
    signal,
    rawOutputPrefix: addresses.rawOutputPrefix,
    checkpoint: {
      read: async () => {
        if (addresses.previousCheckpoint === undefined) return undefined;
        return blobs.read(joinUri(addresses.previousCheckpoint, CHECKPOINT_NAME), { maxBytes: MAX_CHECKPOINT_BYTES });
      },
      write: async (state) => {
        // Without an address the server keeps no checkpoints: the next attempt begins anew.
        if (addresses.checkpoint === undefined) return;
        await blobs.write(joinUri(addresses.checkpoint, CHECKPOINT_NAME), typeof state === "string" ? Buffer.from(state) : state);
      },
    },
    secret: (group, key) => readSecret(environment, group, key),
    deck: (name) => decks.page(name),
  };
  return { context, decks };
}
