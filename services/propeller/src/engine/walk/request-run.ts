import type { RuntimeNode } from "../graph/runtime.js";
import { sendRun } from "./attempt.js";
import { awaitTurn } from "./caching.js";
import { succeedWithOutputs } from "./progress.js";
import type { Release, Walk } from "./walk.js";

export interface RunRequest {
  readonly release: Release;
  /** The status is from before a restart: the attempt may already run. */
  readonly mayRun: boolean;
}

/** Requests an attempt once it may compute; until then the node is reconciled again. */
export function requestRun(walk: Walk, node: RuntimeNode, { release, mayRun }: RunRequest): void {
  const turn = awaitTurn(walk, node, mayRun);
  switch (turn.kind) {
    case "wait":
      return;
    case "hit":
      succeedWithOutputs(walk, node, turn.success);
      return;
    case "goOn":
      sendRun(walk, node, release);
      return;
  }
}
