import marks from "../../../control/phase-mark.module.css";
import { PHASE_SHAPES } from "../../../control/phase-shapes.js";
import { formatDuration } from "../../../format/duration.js";
import type { PhaseKind } from "../../../format/phase.js";
import type { RowView } from "../../../node-table/session/protocol.js";
import { stateToken } from "../../../node-table/table/state-colours.js";
import { ROW_PX } from "../../../timeline/canvas/row-viewport.js";
import tree from "../../../timeline/tree/node-tree.module.css";
import { rowFigure, rowKind, rowName } from "../../../timeline/tree/row-text.js";
import { element, named, svg } from "./element.js";

/** Makes a row of the tree, with the styles of `tree-row.tsx`. */
export function rowElement(row: RowView, nowMs: number): HTMLElement {
  const kind = rowKind(row);
  const title = named("span", tree["title"], `${rowName(row)} `);
  if (kind !== "") title.append(named("small", undefined, kind));
  if (row.attempts > 1) title.append(named("small", tree["attempt"], ` attempt ${row.attempts}`));
  const name = element(tree["name"], twistElement(row), named("span", tree["mark"], markElement(stateToken(row.state))), title);
  name.style.paddingInlineStart = `calc(${row.depth} * var(--indent))`;
  const made = element(tree["row"], name, element(tree["figure"], rowFigure(row, nowMs, formatDuration)));
  made.style.transform = `translateY(${row.place * ROW_PX}px)`;
  return made;
}

function twistElement({ isExpanded }: RowView): HTMLElement {
  const twist = named("span", tree["twist"]);
  if (isExpanded === undefined) return twist;
  twist.dataset["open"] = String(isExpanded);
  twist.append(svg("svg", { viewBox: "0 0 16 16" }, svg("path", { d: "m6 4 4 4-4 4" })));
  return twist;
}

function markElement(kind: PhaseKind): HTMLElement {
  const shape = PHASE_SHAPES[kind].map(({ tag, attributes, part }) => svg(tag, { ...attributes, class: marks[part] }));
  const mark = named("span", marks["phase"], svg("svg", { viewBox: "0 0 14 14", class: marks["mark"] }, ...shape));
  mark.dataset["phase"] = kind;
  return mark;
}
