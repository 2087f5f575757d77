import type { NodeRows } from "../../node-table/session/node-rows.js";
import type { Scene, SceneStates } from "../scene/scene.js";

/** Messages of a page to the worker. */
export type GraphPageMessage =
  /** Reads the graph at a path of admin's REST interface. */
  | { readonly kind: "open"; readonly path: string; readonly origin: string }
  /** Rows of the execution's node table that are new or have changed. */
  | { readonly kind: "nodes"; readonly nodes: NodeRows }
  /** Opens or closes a node of the scene with this version. */
  | { readonly kind: "expand"; readonly version: number; readonly node: number; readonly isOpen: boolean }
  /** Opens the nodes around a node of the execution. */
  | { readonly kind: "reveal"; readonly id: string }
  /** Opens all nodes whose graphs are known, or closes all. */
  | { readonly kind: "expandAll"; readonly isOpen: boolean };

/** Messages of the worker to its page. */
export type GraphWorkerMessage =
  /** `focus`: index of the node that has been opened, closed or revealed, −1 for none. */
  | { readonly kind: "scene"; readonly scene: Scene; readonly states: SceneStates; readonly focus: number }
  | { readonly kind: "states"; readonly states: SceneStates }
  /** A graph cannot be read; `node` is the id of the dynamic node, empty for the whole graph. */
  | { readonly kind: "failed"; readonly node: string; readonly code: number; readonly message: string };
