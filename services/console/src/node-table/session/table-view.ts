import { buildPyramid, patchPyramid, type Pyramid } from "../measure/pyramid.js";
import { findCriticalPath } from "../measure/critical-path.js";
import { isOpen, keepAncestors, matchRows, type NodeFilter } from "../order/filter.js";
import { idOfGroup, idOfNode, MAX_UNGROUPED, type RowId } from "../order/group.js";
import { listByStart, listSlowest, listTree, type OrderKind, shownChildren, type TreeView } from "../order/list-rows.js";
import { RowOrder } from "../order/row-order.js";
import { buildTree, childCount, type NodeTree } from "../order/tree.js";
import type { TableChange } from "../table/apply-chunk.js";
import { NodeTable } from "../table/node-table.js";

/**
 * A table in the order that a page shows. Changes of rows are visible at once; the order itself is
 * as old as the last `rebuild`.
 */
export class TableView {
  #table = new NodeTable();
  #tree: NodeTree = buildTree(this.#table);
  #order = new RowOrder(0, 0);
  #pyramid: Pyramid = [];
  #kept: Uint8Array | undefined;
  #matches = 0;
  #critical = new Set<number>();
  #kind: OrderKind = "tree";
  #filter: NodeFilter = {};
  #isTraced = false;
  #isStale = false;
  readonly #expansion = new Map<RowId, boolean>();
  /** Counts the orders. */
  version = 0;

  get table(): NodeTable {
    return this.#table;
  }

  get order(): RowOrder {
    return this.#order;
  }

  get pyramid(): Pyramid {
    return this.#pyramid;
  }

  get tree(): NodeTree {
    return this.#tree;
  }

  /** Number of nodes that the filter lets through. */
  get matches(): number {
    return this.#matches;
  }

  /** The order lacks rows, or has rows at places that are no longer theirs. */
  get isStale(): boolean {
    return this.#isStale;
  }

  get kind(): OrderKind {
    return this.#kind;
  }

  /** Shows another table; orders, filters and opened rows stay. */
  replace(table: NodeTable): void {
    this.#table = table;
    // The rows of the order are those of the table before.
    [this.#order, this.#pyramid, this.#tree] = [new RowOrder(0, 0), [], buildTree(new NodeTable())];
    [this.#isStale, this.#kept] = [true, undefined];
  }

  setOrder(kind: OrderKind): void {
    this.#isStale ||= kind !== this.#kind;
    this.#kind = kind;
  }

  setFilter(filter: NodeFilter): void {
    this.#isStale ||= !isOpen(filter) || !isOpen(this.#filter);
    this.#filter = filter;
  }

  expand(id: RowId, isExpanded: boolean): void {
    this.#expansion.set(id, isExpanded);
    this.#isStale = true;
  }

  trace(isTraced: boolean): void {
    this.#isStale ||= isTraced !== this.#isTraced;
    this.#isTraced = isTraced;
  }

  /** Reports whether a row of the tree is on the critical path, if that is traced. */
  isCritical(row: number): boolean {
    return this.#critical.has(row);
  }

  /** Brings the pyramid up to date with a change of the table. */
  applied({ firstNewRow, replaced, movesRows }: TableChange): void {
    this.#isStale ||= movesRows || firstNewRow < this.#table.length;
    for (const row of replaced) {
      const place = this.#order.placeOf[row] ?? -1;
      if (place >= 0) patchPyramid(this.#pyramid, place, { table: this.#table, order: this.#order });
    }
  }

  /** Orders the rows anew; what has not ended lasts until `nowMs`. */
  rebuild(nowMs: number): void {
    const table = this.#table;
    this.#tree = buildTree(table);
    const matches = isOpen(this.#filter) ? undefined : matchRows(table, this.#filter);
    this.#matches = matches === undefined ? table.length : matches.reduce((sum, each) => sum + each, 0);
    this.#kept = matches && keepAncestors(matches, this.#tree);
    if (this.#kind === "tree") this.#order = listTree(this.#treeView());
    else this.#order = this.#kind === "start" ? listByStart(table, matches) : listSlowest(table, nowMs, matches);
    this.#pyramid = buildPyramid(table, this.#order);
    this.#critical = new Set(this.#isTraced ? findCriticalPath(table, this.#tree, nowMs) : []);
    this.#isStale = false;
    this.version++;
  }

  /** Opens the nodes and the group around a row, for the next `rebuild`. */
  openAround(row: number): void {
    for (let child = row; child !== -1; child = this.#tree.parent[child] as number) {
      const parent = this.#tree.parent[child] as number;
      const parentKey = parent === -1 ? 0 : (this.#table.key[parent] as number);
      if (parent !== -1) this.expand(idOfNode(parentKey), true);
      if (this.childrenOf(parent).length > MAX_UNGROUPED)
        this.expand(idOfGroup({ parentKey, state: this.#table.state[child] as number }), true);
    }
  }

  /** Returns the children of a row that are shown, at −1 those of the top level. */
  childrenOf(row: number): Int32Array {
    return shownChildren(this.#treeView(), row);
  }

  /** Returns whether a row of the order is open; undefined if it has nothing to open. */
  isExpandedAt(place: number): boolean | undefined {
    if (this.#kind !== "tree") return undefined;
    const group = this.#order.groupAt(place);
    const hasChildren = group !== undefined || childCount(this.#tree, this.#order.entries[place] as number) > 0;
    // The rows of an open one follow it.
    return hasChildren ? place + 1 < this.#order.length && this.#order.above[place + 1] === place : undefined;
  }

  #treeView(): TreeView {
    return { table: this.#table, tree: this.#tree, expansion: this.#expansion, ...(this.#kept && { kept: this.#kept }) };
  }
}
