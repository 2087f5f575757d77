import { buildScene, type BuiltScene } from "../scene/build-scene.js";
import { knownGraph } from "../scene/graph-set.js";
import { type LiveNode, LiveNodes } from "../scene/live-nodes.js";
import { containedGraph, pathIn, placeGraph } from "../scene/place-graph.js";
import { buffersOfStates, SceneFlag } from "../scene/scene.js";
import { sceneStates } from "../scene/scene-states.js";
import type { GraphMessage } from "../wire/node-graph.js";
import { openAll } from "./open-all.js";
import type { GraphPageMessage, GraphWorkerMessage } from "./protocol.js";

/** Code of gRPC for errors that are not of the server. */
const UNKNOWN = 2;
/** Changes of phases are shown at this interval, at least. */
const INTERVAL_MS = 200;
/** A step that took a time does not recur before this multiple of it. */
const REST = 8;
/** Flags of nodes that change sizes are looked at up to this number of nodes. */
const MAX_RESIZED = 10_000;

export interface GraphSessionOptions {
  readonly read: (path: string, origin: string) => Promise<GraphMessage>;
  readonly post: (message: GraphWorkerMessage, moved: ArrayBuffer[]) => void;
  readonly now: () => number;
  /** Runs a function after a delay. */
  readonly schedule: (run: () => void, delayMs: number) => void;
}

/** A graph that a worker reads and places for a page, and joins with the nodes of an execution. */
export class GraphSession {
  readonly #options: GraphSessionOptions;
  readonly #live = new LiveNodes();
  readonly #open = new Map<string, boolean>();
  readonly #made = new Map<string, GraphMessage>();
  #root: GraphMessage | undefined;
  #source = { path: "", origin: "" };
  #built: BuiltScene | undefined;
  #version = 0;
  #isScheduled = false;
  #nextAt = Number.NEGATIVE_INFINITY;
  /** Number of nodes that have opened their size by what they do: dynamic ones. */
  #dynamics = 0;

  constructor(options: GraphSessionOptions) {
    this.#options = options;
  }

  receive(message: GraphPageMessage): void {
    if (message.kind === "open") void this.#read(message);
    else if (message.kind === "nodes") this.#changed(message);
    else if (message.kind === "expand") void this.#expand(message);
    else if (message.kind === "reveal") void this.#reveal(message.id);
    else this.#expandAll(message.isOpen);
  }

  async #read({ path, origin }: GraphPageMessage & { kind: "open" }): Promise<void> {
    this.#source = { path, origin };
    this.#root = await this.#graphAt("", path);
    this.#build(-1);
  }

  /** Reads a graph; `node` is the id of a dynamic node, empty for the whole. */
  async #graphAt(node: string, path: string): Promise<GraphMessage | undefined> {
    try {
      return await this.#options.read(path, this.#source.origin);
    } catch (error) {
      const code = error instanceof Error && "code" in error && typeof error.code === "number" ? error.code : UNKNOWN;
      this.#options.post({ kind: "failed", node, code, message: error instanceof Error ? error.message : String(error) }, []);
      return undefined;
    }
  }

  #changed({ nodes }: GraphPageMessage & { kind: "nodes" }): void {
    this.#live.apply(nodes);
    if (this.#isScheduled || this.#built === undefined) return;
    this.#isScheduled = true;
    this.#options.schedule(() => this.#update(), Math.max(this.#nextAt - this.#options.now(), 0));
  }

  #update(): void {
    this.#isScheduled = false;
    const built = this.#built;
    if (built === undefined) return;
    const start = this.#options.now();
    if (built.scene.length <= MAX_RESIZED && this.#live.dynamics !== this.#dynamics) this.#build(-1);
    else {
      const states = sceneStates(built, this.#state());
      this.#options.post({ kind: "states", states }, buffersOfStates(states));
    }
    const end = this.#options.now();
    this.#nextAt = end + Math.max(INTERVAL_MS, (end - start) * REST);
  }

  #state() {
    return { live: this.#live, open: this.#open, made: this.#made };
  }

  /** Places everything anew; `focus` is the path of the node that has been opened or closed. */
  #build(focus: number, path = ""): void {
    const known = this.#root && knownGraph(this.#root, 0);
    if (known === undefined) return;
    const state = this.#state();
    this.#dynamics = this.#live.dynamics;
    const built = buildScene(placeGraph(known, { key: 0, path: "" }, state), ++this.#version, state);
    this.#built = built;
    const states = sceneStates(built, state);
    const { scene } = built;
    const at = path === "" ? focus : this.#nodeAt(built, path);
    // The columns stay here: the page has copies.
    this.#options.post({ kind: "scene", scene, states, focus: at }, buffersOfStates(states));
  }

  async #expand({ version, node, isOpen }: GraphPageMessage & { kind: "expand" }): Promise<void> {
    const built = this.#built;
    if (built === undefined || version !== built.scene.version || ((built.scene.flags[node] as number) & SceneFlag.opens) === 0) return;
    const { path, live, isKnown } = this.#placeOf(built, node);
    if (isOpen && !isKnown && live !== undefined && !(await this.#readMade(live.id))) return;
    this.#open.set(path, isOpen);
    this.#build(-1, path);
  }

  #placeOf(
    { graphs }: BuiltScene,
    node: number,
  ): { readonly path: string; readonly live: LiveNode | undefined; readonly isKnown: boolean } {
    const found = graphs.findLast(({ first }) => first <= node);
    if (found === undefined) throw new Error(`the scene has no node ${node}`);
    const { known, key, path } = found.placed;
    const row = node - found.first;
    const id = known.graph.ids[row] as string;
    const live = this.#live.childrenOf(key).get(id);
    return { path: pathIn(path, id), live, isKnown: containedGraph(known, row, live, this.#state()) !== undefined };
  }

  #nodeAt({ graphs }: BuiltScene, path: string): number {
    const cut = path.lastIndexOf("/");
    const graph = graphs.find(({ placed }) => placed.path === path.slice(0, Math.max(cut, 0)));
    const row = graph?.placed.known.graph.ids.indexOf(path.slice(cut + 1)) ?? -1;
    return graph === undefined || row === -1 ? -1 : graph.first + row;
  }

  async #reveal(id: string): Promise<void> {
    if (this.#root === undefined) return;
    const nodes = this.#live.pathOf(id);
    let known = knownGraph(this.#root, 0);
    let path = "";
    for (const live of nodes.slice(0, -1)) {
      const row = known?.graph.ids.indexOf(live.spec) ?? -1;
      if (known === undefined || row === -1) return;
      if (containedGraph(known, row, live, this.#state()) === undefined && !(await this.#readMade(live.id))) return;
      path = pathIn(path, live.spec);
      this.#open.set(path, true);
      known = containedGraph(known, row, live, this.#state());
    }
    const last = nodes.at(-1);
    if (last !== undefined) this.#build(-1, pathIn(path, last.spec));
  }

  /** Reads what a dynamic node has made; false if that fails. */
  async #readMade(id: string): Promise<boolean> {
    const made = await this.#graphAt(id, `${this.#source.path}?node_id=${encodeURIComponent(id)}`);
    if (made !== undefined) this.#made.set(id, made);
    return made !== undefined;
  }

  #expandAll(isOpen: boolean): void {
    const known = this.#root && knownGraph(this.#root, 0);
    if (known === undefined) return;
    for (const path of this.#open.keys()) this.#open.set(path, isOpen);
    openAll(known, this.#state(), (path) => this.#open.set(path, isOpen));
    this.#build(-1);
  }
}
