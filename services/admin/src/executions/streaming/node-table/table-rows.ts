import { isTerminalNodeEvent } from "@flyte-ts/domain/phase";
import { CatalogCacheStatus } from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import type { NodePage } from "../../store/node-table/node-page.js";
import { ChangeOrder } from "./change-order.js";
import { TextTable } from "../../columns/text-table.js";

const NUMBERS = ["key", "parent", "queued", "started", "ended", "entity", "error", "spec"] as const;
const BYTES = ["phase", "flags", "cache", "attempts"] as const;
/** Columns that are stored as a page has them. */
const COPIED = ["parent", "queued", "started", "ended", ...BYTES] as const;

type NumberColumn = (typeof NUMBERS)[number];
type ByteColumn = (typeof BYTES)[number];
type Values = Float64Array | Uint8Array;
export type Column = NumberColumn | ByteColumn;

const FIRST_CAPACITY = 256;
/** Value of the cache column for nodes whose outputs came from the cache. */
const CACHE_HIT = CatalogCacheStatus.CACHE_HIT + 1;

/** Counts of nodes, as NodeCounts has them. */
export interface TableCounts {
  readonly byPhase: readonly number[];
  readonly cached: number;
  readonly retrying: number;
}

/** The nodes of an execution by column, some 100 bytes per node, in the order of their changes. */
export class TableRows {
  readonly texts = new TextTable();
  readonly order = new ChangeOrder();
  readonly #ids: string[] = [];
  readonly #rowByKey = new Map<number, number>();
  readonly #columns: Record<Column, Values>;
  /** 1 for rows that the counts include. */
  #isCounted = new Uint8Array(FIRST_CAPACITY);
  readonly #byPhase: number[] = [];
  #cached = 0;
  #retrying = 0;
  #open = 0;

  constructor() {
    const numbers = NUMBERS.map((name) => [name, new Float64Array(FIRST_CAPACITY)] as const);
    const bytes = BYTES.map((name) => [name, new Uint8Array(FIRST_CAPACITY)] as const);
    this.#columns = Object.fromEntries<Values>([...numbers, ...bytes]) as Record<Column, Values>;
  }

  get length(): number {
    return this.#ids.length;
  }

  /** Number of non-terminal nodes. */
  get open(): number {
    return this.#open;
  }

  get counts(): TableCounts {
    return { byPhase: [...this.#byPhase], cached: this.#cached, retrying: this.#retrying };
  }

  idOf(row: number): string {
    return this.#ids[row] ?? "";
  }

  /** Values by row; valid until the next {@link put}. */
  column(name: Column): Values {
    return this.#columns[name];
  }

  /** Adds or replaces the rows of a page; returns true when any has changed. */
  put(page: NodePage): boolean {
    const { length } = page;
    const rows = new Uint32Array(length);
    const changed = new Uint8Array(length);
    for (let index = 0; index < length; index++) rows[index] = this.#rowOf(page, index, changed);
    this.#count(rows, -1);
    for (const name of COPIED) copy(this.#columns[name], page[name], rows, changed);
    copy(this.#columns.entity, this.#textNumbers(page.entity), rows, changed);
    copy(this.#columns.error, this.#textNumbers(page.error), rows, changed);
    const ownSpecs = page.spec.map((spec, index) => (spec === page.id[index] ? "" : spec));
    copy(this.#columns.spec, this.#textNumbers(ownSpecs), rows, changed);
    this.#count(rows, 1);
    const before = this.order.end;
    for (let index = 0; index < length; index++) if (changed[index] === 1) this.order.touch(rows[index] ?? 0);
    return this.order.end > before;
  }

  /** Finds the row of a node, or adds it. */
  #rowOf(page: NodePage, index: number, changed: Uint8Array): number {
    const key = page.key[index] ?? 0;
    const known = this.#rowByKey.get(key);
    if (known !== undefined) return known;
    const row = this.#ids.push(page.id[index] ?? "") - 1;
    this.#rowByKey.set(key, row);
    if (row === this.#isCounted.length) this.#grow(2 * row);
    this.#columns.key[row] = key;
    changed[index] = 1;
    return row;
  }

  #grow(capacity: number): void {
    for (const name of NUMBERS) this.#columns[name] = enlarged(this.#columns[name], new Float64Array(capacity));
    for (const name of BYTES) this.#columns[name] = enlarged(this.#columns[name], new Uint8Array(capacity));
    this.#isCounted = enlarged(this.#isCounted, new Uint8Array(capacity));
  }

  #textNumbers(texts: readonly string[]): number[] {
    return texts.map((text) => this.texts.numberOf(text));
  }

  /** Adds rows to the counts, or takes them out. */
  #count(rows: Uint32Array, sign: 1 | -1): void {
    const { phase: phases, cache, attempts } = this.#columns;
    const isCounted = sign === 1 ? 1 : 0;
    for (const row of rows) {
      if (this.#isCounted[row] === isCounted) continue;
      this.#isCounted[row] = isCounted;
      const phase = phases[row] ?? 0;
      while (this.#byPhase.length <= phase) this.#byPhase.push(0);
      this.#byPhase[phase] = (this.#byPhase[phase] ?? 0) + sign;
      if (cache[row] === CACHE_HIT) this.#cached += sign;
      if (isTerminalNodeEvent(phase)) continue;
      this.#open += sign;
      if ((attempts[row] ?? 0) > 1) this.#retrying += sign;
    }
  }
}

/** Writes the values of a page to its rows, and marks those that differ. */
function copy(target: Values, source: ArrayLike<number>, rows: Uint32Array, changed: Uint8Array): void {
  for (let index = 0; index < rows.length; index++) {
    const row = rows[index] ?? 0;
    const value = source[index] ?? 0;
    if (target[row] === value) continue;
    target[row] = value;
    changed[index] = 1;
  }
}

function enlarged<Array extends Values>(from: Values, to: Array): Array {
  to.set(from);
  return to;
}
