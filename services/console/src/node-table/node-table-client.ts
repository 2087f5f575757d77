import type { LiveState } from "@flyte-ts/client/browser";
import type { NodeFilter } from "./order/filter.js";
import type { RowId } from "./order/group.js";
import type { OrderKind } from "./order/list-rows.js";
import type { NodeRows } from "./session/node-rows.js";
import type { OverviewCounts, PageMessage, ShownParts, ShownTable, TableSummary, WorkerMessage } from "./session/protocol.js";
import { keepRows } from "./row-identity.js";
import { createStore, type Store } from "../session/store.js";
import type { ExecutionState } from "./wire/read-execution.js";

/** Parts of a Worker that the client needs. */
export interface NodeTableWorker {
  onmessage: ((event: { readonly data: readonly WorkerMessage[] }) => void) | null;
  postMessage(message: PageMessage): void;
  terminate(): void;
}

/** The stream has failed for good; `code` is a code of gRPC. */
export interface StreamFailure {
  readonly code: number;
  readonly message: string;
}

/** Page's side of the worker that holds the node table of an execution. */
export interface NodeTableClient {
  readonly summary: Store<TableSummary | undefined>;
  readonly shown: Store<ShownTable | undefined>;
  readonly overview: Store<OverviewCounts | undefined>;
  readonly execution: Store<ExecutionState | undefined>;
  readonly live: Store<LiveState | undefined>;
  readonly failure: Store<StreamFailure | undefined>;
  /** Reads a table; continues where it was if it is the path read before. */
  open(table: {
    readonly path: string;
    readonly origin?: string;
    readonly clockSkewMs?: number;
    readonly isFollowed?: boolean;
    /** Waits with further rows for `drawn`, at most some time. */
    readonly awaitsDraw?: boolean;
  }): void;
  /** Reads the table that was opened last again, after a failure. */
  retry(): void;
  /** Tells that the first rows are drawn. */
  drawn(): void;
  /** Ends the stream, as for a tab that is hidden; `open` continues it. */
  pause(): void;
  show(parts: ShownParts): void;
  setOrder(order: OrderKind): void;
  setFilter(filter: NodeFilter): void;
  expand(id: RowId, isExpanded: boolean): void;
  trace(isTraced: boolean): void;
  /** Passes on the rows of all nodes, then those that change; there is one listener at a time. */
  follow(listener: (nodes: NodeRows) => void): void;
  /** Opens the nodes around a node; resolves to its place, −1 if it is not shown. */
  reveal(nodeId: string): Promise<number>;
  /** Ends the worker. */
  close(): void;
}

/** Connects a page to a worker. */
export function connectNodeTable(worker: NodeTableWorker): NodeTableClient {
  const summary = createStore<TableSummary | undefined>(undefined);
  const shown = createStore<ShownTable | undefined>(undefined);
  const overview = createStore<OverviewCounts | undefined>(undefined);
  const execution = createStore<ExecutionState | undefined>(undefined);
  const live = createStore<LiveState | undefined>(undefined);
  const failure = createStore<StreamFailure | undefined>(undefined);
  let followed: ((nodes: NodeRows) => void) | undefined;
  let opened: Parameters<NodeTableClient["open"]>[0] | undefined;
  const waiting = new Map<string, ((place: number) => void)[]>();
  const send = (message: PageMessage): void => worker.postMessage(message);
  // At most one request is under way: a gesture makes more than a worker can answer.
  let [isAsked, wanted]: [boolean, ShownParts | undefined] = [false, undefined];
  const show = (parts: ShownParts): void => {
    const isFree = !isAsked;
    [isAsked, wanted] = [true, isFree ? undefined : parts];
    if (isFree) send({ kind: "show", parts });
  };
  const receiveShown = (next: ShownTable): void => {
    const parts = wanted;
    [isAsked, wanted] = [false, undefined];
    if (parts !== undefined) show(parts);
    shown.set({ ...next, rows: keepRows(shown.get()?.rows ?? [], next.rows) });
  };
  const receive = (message: WorkerMessage): void => {
    if (message.kind === "summary") summary.set(message.summary);
    else if (message.kind === "shown") receiveShown(message.shown);
    else if (message.kind === "overview") overview.set(message.overview);
    else if (message.kind === "execution") execution.set(message.execution);
    else if (message.kind === "live") live.set(message.state);
    else if (message.kind === "nodes") followed?.(message.nodes);
    else if (message.kind === "failed") failure.set({ code: message.code, message: message.message });
    else {
      for (const resolve of waiting.get(message.nodeId) ?? []) resolve(message.place);
      waiting.delete(message.nodeId);
    }
  };
  worker.onmessage = ({ data }) => data.forEach(receive);
  const open: NodeTableClient["open"] = (table) => {
    const { clockSkewMs = 0, ...others } = table;
    opened = table;
    failure.set(undefined);
    send({ kind: "open", clockSkewMs, ...others });
  };
  return {
    summary,
    shown,
    overview,
    execution,
    live,
    failure,
    open,
    retry: () => {
      if (opened !== undefined) open(opened);
    },
    drawn: () => send({ kind: "drawn" }),
    pause: () => send({ kind: "pause" }),
    show,
    setOrder: (order) => send({ kind: "order", order }),
    setFilter: (filter) => send({ kind: "filter", filter }),
    expand: (id, isExpanded) => send({ kind: "expand", id, isExpanded }),
    trace: (isTraced) => send({ kind: "trace", isTraced }),
    follow: (listener) => {
      followed = listener;
      send({ kind: "follow" });
    },
    reveal: (nodeId) =>
      new Promise((resolve) => {
        waiting.set(nodeId, [...(waiting.get(nodeId) ?? []), resolve]);
        send({ kind: "reveal", nodeId });
      }),
    close: () => worker.terminate(),
  };
}
