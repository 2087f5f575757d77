import { isTerminalNodeEvent } from "@flyte-ts/domain/phase";
import { CatalogCacheStatus } from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import type { NodePage } from "../../store/node-table/node-page.js";
import { ChangeOrder } from "./change-order.js";
import { TextTable } from "./text-table.js";

const NUMBERS = ["key", "parent", "queued", "started", "ended", "entity", "error", "spec"] as const;
const BYTES = ["phase", "flags", "cache", "attempts"] as const;

type NumberColumn = (typeof NUMBERS)[number];
type ByteColumn = (typeof BYTES)[number];
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
  #capacity = FIRST_CAPACITY;
  readonly #numbers = columnsOf(NUMBERS, () => new Float64Array(FIRST_CAPACITY));
  readonly #bytes = columnsOf(BYTES, () => new Uint8Array(FIRST_CAPACITY));
  readonly #byPhase: number[] = [];
  #cached = 0;
  #retrying = 0;
  #open = 0;

  get length(): number {
    return this.#ids.length;
  }

  /** Number of non-terminal nodes. */
  get open(): number {
    return this.#open;
  }

  get counts(): TableCounts {
    return { byPhase: Array.from(this.#byPhase, (count = 0) => count), cached: this.#cached, retrying: this.#retrying };
  }

  idOf(row: number): string {
    return this.#ids[row] ?? "";
  }

  value(column: Column, row: number): number {
    return (isByteColumn(column) ? this.#bytes[column][row] : this.#numbers[column][row]) ?? 0;
  }

  /** Adds or replaces the rows of a page; returns true when any has changed. */
  put(page: NodePage): boolean {
    const before = this.order.end;
    for (let index = 0; index < page.length; index++) this.#putRow(page, index);
    return this.order.end > before;
  }

  #putRow(page: NodePage, index: number): void {
    const key = page.key[index] ?? 0;
    const id = page.id[index] ?? "";
    const spec = page.spec[index] ?? "";
    const known = this.#rowByKey.get(key);
    const row = known ?? this.#add(key, id);
    if (known !== undefined) this.#tally(row, -1);
    const texts = {
      entity: this.texts.indexOf(page.entity[index] ?? ""),
      error: this.texts.indexOf(page.error[index] ?? ""),
      spec: spec === id ? 0 : this.texts.indexOf(spec),
    };
    let changed = known === undefined;
    const set = (values: Float64Array | Uint8Array, value: number): void => {
      if (values[row] === value) return;
      values[row] = value;
      changed = true;
    };
    for (const column of BYTES) set(this.#bytes[column], page[column][index] ?? 0);
    for (const column of ["key", "parent", "queued", "started", "ended"] as const) set(this.#numbers[column], page[column][index] ?? 0);
    for (const column of ["entity", "error", "spec"] as const) set(this.#numbers[column], texts[column]);
    this.#tally(row, 1);
    if (changed) this.order.touch(row);
  }

  #add(key: number, id: string): number {
    const row = this.#ids.push(id) - 1;
    this.#rowByKey.set(key, row);
    if (row === this.#capacity) this.#grow();
    return row;
  }

  #grow(): void {
    this.#capacity *= 2;
    for (const column of NUMBERS) this.#numbers[column] = enlarged(this.#numbers[column], new Float64Array(this.#capacity));
    for (const column of BYTES) this.#bytes[column] = enlarged(this.#bytes[column], new Uint8Array(this.#capacity));
  }

  /** Adds a row to the counts, or takes it out of them. */
  #tally(row: number, sign: 1 | -1): void {
    const phase = this.value("phase", row);
    const isOpen = !isTerminalNodeEvent(phase);
    this.#byPhase[phase] = (this.#byPhase[phase] ?? 0) + sign;
    if (isOpen) this.#open += sign;
    if (this.value("cache", row) === CACHE_HIT) this.#cached += sign;
    if (isOpen && this.value("attempts", row) > 1) this.#retrying += sign;
  }
}

function columnsOf<Name extends string, Values>(names: readonly Name[], make: () => Values): Record<Name, Values> {
  return Object.fromEntries(names.map((name) => [name, make()])) as Record<Name, Values>;
}

function enlarged<Values extends Float64Array | Uint8Array>(from: Values, to: Values): Values {
  to.set(from);
  return to;
}

function isByteColumn(column: Column): column is ByteColumn {
  return (BYTES as readonly string[]).includes(column);
}
