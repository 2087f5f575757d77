import type { RowView } from "../../node-table/session/protocol.js";

/** Effect of a key on a tree. */
export type TreeAct =
  | { readonly kind: "move"; readonly place: number }
  | { readonly kind: "expand"; readonly row: RowView; readonly isExpanded: boolean }
  | { readonly kind: "select"; readonly row: RowView };

export interface TreeCursor {
  /** Place that the cursor is at, −1 for none. */
  readonly place: number;
  /** Row at that place; undefined if it is not loaded. */
  readonly row: RowView | undefined;
  /** Number of rows. */
  readonly rows: number;
  /** Rows in sight, for page keys. */
  readonly rowsOfPage: number;
}

/**
 * Returns what a key does, by the ARIA pattern of a treegrid and with j and k as on lists;
 * undefined for keys of others.
 */
export function actOfKey(key: string, { place, row, rows, rowsOfPage }: TreeCursor): TreeAct | undefined {
  const moveTo = (target: number): TreeAct | undefined =>
    rows === 0 ? undefined : { kind: "move", place: Math.min(Math.max(target, 0), rows - 1) };
  switch (key) {
    case "j":
    case "ArrowDown":
      return moveTo(place + 1);
    case "k":
    case "ArrowUp":
      return moveTo(place === -1 ? 0 : place - 1);
    case "PageDown":
      return moveTo(place + rowsOfPage);
    case "PageUp":
      return moveTo(place - rowsOfPage);
    case "Home":
      return moveTo(0);
    case "End":
      return moveTo(rows - 1);
    default:
      return row && actOnRow(key, row, moveTo);
  }
}

function actOnRow(key: string, row: RowView, moveTo: (place: number) => TreeAct | undefined): TreeAct | undefined {
  switch (key) {
    case "ArrowRight":
      if (row.isExpanded === false) return { kind: "expand", row, isExpanded: true };
      return row.isExpanded === true ? moveTo(row.place + 1) : undefined;
    case "ArrowLeft":
      if (row.isExpanded === true) return { kind: "expand", row, isExpanded: false };
      return row.above === -1 ? undefined : moveTo(row.above);
    case "Enter":
      return row.isGroup ? { kind: "expand", row, isExpanded: row.isExpanded !== true } : { kind: "select", row };
    case " ":
      return row.isExpanded === undefined ? { kind: "select", row } : { kind: "expand", row, isExpanded: !row.isExpanded };
    default:
      return undefined;
  }
}
