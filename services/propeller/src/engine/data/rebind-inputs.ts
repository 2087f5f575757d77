import type { RuntimeNode } from "../graph/runtime.js";
import type { RunState } from "../state/run-state.js";
import { inputLocation } from "./input-location.js";
import type { NodeInputs } from "./node-inputs.js";
import { resolveInputs } from "./outputs.js";

/** Inputs of a queued node, bound again where a restart has dropped them. */
export function rebindInputs(state: RunState, node: RuntimeNode): NodeInputs {
  const known = node.data.inputs;
  if (known !== undefined) return { kind: "ready", inputs: known };
  const bound = resolveInputs(state, node);
  if (bound.kind === "waiting") return bound;
  state.blobReads.unsubscribe(node);
  if (bound.kind === "error") return bound;
  node.changeData().setInputs(bound.inputs);
  // Inputs too large for messages were written before the node was queued.
  const place = inputLocation(state, node, bound.inputs);
  node.changeData().setInputLocation({ inBlobStore: place !== "message", inArrayFile: place === "arrayFile" });
  return bound;
}
