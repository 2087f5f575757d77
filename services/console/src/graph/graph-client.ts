import type { NodeRows } from "../node-table/session/node-rows.js";
import { buffersOfRows } from "../node-table/session/node-rows.js";
import { createStore, type Store } from "../session/store.js";
import type { GraphPageMessage, GraphWorkerMessage } from "./session/protocol.js";
import type { Scene, SceneStates } from "./scene/scene.js";

/** Parts of a Worker that the client needs. */
export interface GraphWorker {
  onmessage: ((event: { readonly data: GraphWorkerMessage }) => void) | null;
  postMessage(message: GraphPageMessage, moved: ArrayBuffer[]): void;
  terminate(): void;
}

/** Scene of a graph, and the states of its nodes. */
export interface ShownScene {
  readonly scene: Scene;
  readonly states: SceneStates;
  /** Index of the node that has just been opened, closed or revealed, −1 for none. */
  readonly focus: number;
}

export interface GraphFailure {
  /** Id of the dynamic node whose graph cannot be read; empty for the whole graph. */
  readonly node: string;
  readonly code: number;
  readonly message: string;
}

/** Page's side of the worker that places a graph. */
export interface GraphClient {
  readonly shown: Store<ShownScene | undefined>;
  readonly failure: Store<GraphFailure | undefined>;
  /** Reads the graph at a path. */
  open(path: string, origin: string): void;
  /** Reads the graph that was opened last again, after a failure. */
  retry(): void;
  /** Colours the graph by nodes of an execution. */
  setNodes(nodes: NodeRows): void;
  expand(node: number, isOpen: boolean): void;
  expandAll(isOpen: boolean): void;
  /** Opens the nodes around a node of the execution, by its id. */
  reveal(id: string): void;
  /** Ends the worker. */
  close(): void;
}

/** Connects a page to a worker. */
export function connectGraph(worker: GraphWorker): GraphClient {
  const shown = createStore<ShownScene | undefined>(undefined);
  const failure = createStore<GraphFailure | undefined>(undefined);
  let opened: Parameters<GraphClient["open"]> | undefined;
  worker.onmessage = ({ data }) => {
    const current = shown.get();
    if (data.kind === "failed") failure.set({ node: data.node, code: data.code, message: data.message });
    else if (data.kind === "scene") shown.set({ scene: data.scene, states: data.states, focus: data.focus });
    else if (current !== undefined && current.scene.version === data.states.version) shown.set({ ...current, states: data.states });
  };
  const open: GraphClient["open"] = (path, origin) => {
    opened = [path, origin];
    failure.set(undefined);
    worker.postMessage({ kind: "open", path, origin }, []);
  };
  return {
    shown,
    failure,
    open,
    retry: () => {
      if (opened !== undefined) open(...opened);
    },
    setNodes: (nodes) => worker.postMessage({ kind: "nodes", nodes }, buffersOfRows(nodes)),
    expand: (node, isOpen) => {
      failure.set(undefined);
      worker.postMessage({ kind: "expand", version: shown.get()?.scene.version ?? 0, node, isOpen }, []);
    },
    expandAll: (isOpen) => worker.postMessage({ kind: "expandAll", isOpen }, []),
    reveal: (id) => worker.postMessage({ kind: "reveal", id }, []),
    close: () => worker.terminate(),
  };
}
