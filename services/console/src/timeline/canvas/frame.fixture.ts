import { UNFOLDED } from "../../node-table/measure/time-folds.js";
import { sliceBars } from "../../node-table/session/bar-slice.js";
import { TableView } from "../../node-table/session/table-view.js";
import { NODE_STATES, NodeState } from "../../node-table/table/node-state.js";
import { NodeTable } from "../../node-table/table/node-table.js";
import type { DrawContext, TimelineColours } from "./draw-context.js";
import type { Frame } from "./frame.js";
import { levelOf, placesAround, type RowViewport } from "./row-viewport.js";

/** One call of a context's method, with the colour and the opacity at that time. */
export interface DrawCall {
  readonly name: string;
  readonly args: readonly unknown[];
  readonly fill: unknown;
  readonly alpha: unknown;
}

/** Makes a context that records the calls of its methods. */
export function recordingContext(): { readonly context: DrawContext; readonly calls: DrawCall[] } {
  const calls: DrawCall[] = [];
  const fields: Record<string, unknown> = {};
  const context = new Proxy(fields, {
    get: (_, name) =>
      name in fields
        ? fields[String(name)]
        : (...args: unknown[]) => calls.push({ name: String(name), args, fill: fields["fillStyle"], alpha: fields["globalAlpha"] }),
    set: (_, name, value) => {
      fields[String(name)] = value;
      return true;
    },
  }) as unknown as DrawContext;
  return { context, calls };
}

const others = { line: "line", ink: "ink", selected: "selected", hover: "hover", accent: "accent", font: "10px x" };
export const colours: TimelineColours = {
  states: Object.fromEntries(NODE_STATES.map((state) => [state, state])) as TimelineColours["states"],
  ...others,
};

/** Makes a table of many nodes: each is queued 100 ms after the one before, and runs for 5 s. */
export function manyNodes(length: number): TableView {
  const table = new NodeTable();
  const id = { before: -1, shared: 0, suffix: Uint8Array.of(110), from: 0, to: 1 };
  for (let at = 0; at < length; at++) {
    const row = table.addRow(at + 1, id);
    table.queued[row] = at * 100;
    table.started[row] = at * 100 + 1000;
    table.ended[row] = at * 100 + 6000;
    table.state[row] = at % 1000 === 999 ? NodeState.failed : NodeState.succeeded;
    table.entity[row] = table.spec[row] = table.error[row] = -1;
  }
  const view = new TableView();
  view.replace(table);
  view.setOrder("start");
  view.rebuild(length * 100);
  return view;
}

/** Frame of a table at a viewport, of all its time. */
export function frameOf(view: TableView, viewport: RowViewport, given: Partial<Frame> = {}): Frame {
  const nowMs = view.table.length * 100 + 6000;
  return {
    widthPx: 1000,
    heightPx: viewport.heightPx,
    ratio: 2,
    bars: sliceBars(view, { ...placesAround(viewport), level: levelOf(viewport) }),
    groups: [],
    buckets: { fromMs: 0, toMs: nowMs, count: 0 },
    activePlaces: new Set(),
    viewport,
    window: { fromMs: 0, toMs: nowMs },
    folds: UNFOLDED,
    ticks: [],
    nowMs,
    isLive: false,
    colours,
    labels: new Map(),
    criticalPlaces: new Set(),
    selectedPlace: -1,
    ...given,
  };
}
