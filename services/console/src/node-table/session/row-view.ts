import { idOfGroup, idOfNode, type NodeGroup } from "../order/group.js";
import { childCount } from "../order/tree.js";
import { NODE_STATES, type NodeStateName } from "../table/node-state.js";
import type { PlaceRange, RowView } from "./protocol.js";
import type { TableView } from "./table-view.js";

/** Returns the rows at the places of a range that exist. */
export function rowViews(view: TableView, { from, to }: PlaceRange): RowView[] {
  const rows: RowView[] = [];
  for (let place = Math.max(from, 0); place < Math.min(to, view.order.length); place++) rows.push(rowAt(view, place));
  return rows;
}

function rowAt(view: TableView, place: number): RowView {
  const { order, pyramid } = view;
  const [cells] = pyramid;
  const time = (value: number | undefined): number | undefined => (value === Number.POSITIVE_INFINITY ? undefined : value);
  const group = order.groupAt(place);
  return {
    ...(group === undefined ? nodeFields(view, order.entries[place] as number) : groupFields(group)),
    isGroup: group !== undefined,
    place,
    depth: order.depth[place] as number,
    position: order.position[place] as number,
    siblings: order.siblings[place] as number,
    above: order.above[place] as number,
    isExpanded: view.isExpandedAt(place),
    queuedMs: cells?.queued[place] ?? 0,
    startedMs: time(cells?.started[place]),
    endedMs: time(cells?.ended[place]),
  };
}

type OwnFields = Pick<
  RowView,
  "id" | "nodeId" | "specId" | "task" | "state" | "phase" | "flags" | "attempts" | "errorCode" | "count" | "isCritical"
>;

function nodeFields(view: TableView, row: number): OwnFields {
  const { table, tree } = view;
  return {
    id: idOfNode(table.key[row] as number),
    nodeId: table.idOf(row),
    specId: table.textOf(table.spec[row] as number),
    task: table.textOf(table.entity[row] as number),
    state: stateName(table.state[row] as number),
    phase: table.phase[row] as number,
    flags: table.flags[row] as number,
    attempts: table.attempts[row] as number,
    errorCode: table.textOf(table.error[row] as number),
    count: childCount(tree, row),
    isCritical: view.isCritical(row),
  };
}

function groupFields(group: NodeGroup): OwnFields {
  const texts = { nodeId: "", specId: "", task: "", errorCode: "" };
  const numbers = { phase: 0, flags: 0, attempts: 0, count: group.members.length };
  return { id: idOfGroup(group), state: stateName(group.state), isCritical: false, ...texts, ...numbers };
}

function stateName(state: number): NodeStateName {
  return NODE_STATES[state] as NodeStateName;
}
