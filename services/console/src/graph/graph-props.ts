import type { GraphColours } from "./canvas/graph-frame.js";
import type { GraphClient } from "./graph-client.js";

/** A node that a person selects. */
export interface SelectedNode {
  /** Id in the execution; empty for a node that has not begun. */
  readonly id: string;
  readonly name: string;
  /** Kind of the node in words. */
  readonly kind: string;
  /** Ids of the nodes around it and its own. */
  readonly path: string;
}

export interface GraphProps {
  readonly client: GraphClient;
  readonly colours: GraphColours;
  /** Id of the selected node in the execution; undefined for none. */
  readonly selected: string | undefined;
  /** Milliseconds since the creation of the execution; 0 without one. */
  readonly nowMs: number;
  readonly durationText: (durationMs: number) => string;
  onSelect(node: SelectedNode): void;
}
