import type { ReactNode } from "react";
import type { NodeTableClient } from "../node-table/node-table-client.js";
import type { OrderKind } from "../node-table/order/list-rows.js";
import type { RowView } from "../node-table/session/protocol.js";
import type { NodeStateName } from "../node-table/table/node-state.js";
import type { TimelineColours } from "./canvas/draw-context.js";
import type { RowTitle } from "./tree/row-text.js";

export interface TimelineProps {
  /** Noun of a row. */
  readonly noun: "node" | "item";
  /** Table that the page has opened; the page filters it, too. */
  readonly client: NodeTableClient;
  /** Names a row whose name the table does not have. */
  readonly titleOf?: ((row: RowView) => RowTitle | undefined) | undefined;
  readonly colours: TimelineColours;
  /** Shape and colour of a state, without its word. */
  readonly mark: (state: NodeStateName) => ReactNode;
  /**
   * Formats a time, milliseconds of the epoch, in the person's zone. `stepMs`: distance of the
   * times beside it, so that below a second fractions are shown.
   */
  readonly formatTime: (epochMs: number, stepMs?: number) => string;
  readonly formatDuration: (durationMs: number) => string;
  /**
   * Converts a time, milliseconds of the epoch, to that of the clock in the person's zone as if it
   * were in UTC. Ticks are at whole hours and days of that clock.
   */
  readonly clockTime: (epochMs: number) => number;
  /** Time of the server less that of the browser; default 0. */
  readonly clockSkewMs?: number;
  readonly order: OrderKind;
  onOrder(order: OrderKind): void;
  /** Id of the selected node; undefined for none. */
  readonly selected: string | undefined;
  onSelect(nodeId: string): void;
}
