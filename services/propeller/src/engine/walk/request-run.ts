import type { RuntimeNode } from "../graph/runtime.js";
import { sendRun } from "./attempt.js";
import { awaitTurn } from "./caching.js";
import { succeedWithOutputs } from "./progress.js";
import type { Release, Walk } from "./walk.js";

/** Has an attempt run when it is its turn; until then the node is looked at again. */
export function requestRun(walk: Walk, node: RuntimeNode, release: Release): void {
  const turn = awaitTurn(walk, node);
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
