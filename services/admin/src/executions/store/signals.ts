import type { SignalIdentifier, WorkflowExecutionIdentifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { byteaArray, isUnavailable, type Queryable, textArray } from "@flyte-ts/postgres";
import { BatchQueue, systemTime, type Time } from "@flyte-ts/async";
import { baseColumns, type ListEntity, type ListPlan, selectPage } from "../../platform/index.js";

export interface SignalRow {
  execution_project: string;
  execution_domain: string;
  execution_name: string;
  signal_id: string;
  type: Uint8Array;
  value: Uint8Array | null;
}

const columns = "execution_project, execution_domain, execution_name, signal_id, type, value";

export type SignalId = SignalIdentifier & { readonly executionId: WorkflowExecutionIdentifier };

/** Limits of the calls of one execution that share a statement. */
const BATCHES = {
  maxItems: 100,
  maxWeight: 1024 * 1024,
  // Such as a signal id that is too long for the index.
  isItemError: (error: unknown) => !isUnavailable(error),
};

/**
 * Pace of values for the signals of one execution, ms for each. A gate takes half of it as
 * processor time of all processes, so that an execution whose thousands of signals are set at once
 * occupies half a processor.
 */
const MS_PER_VALUE = 4;

const ofExecution = "execution_project = $1 AND execution_domain = $2 AND execution_name = $3";

interface TypedSignal {
  readonly id: SignalId;
  /** Encoded core.LiteralType. */
  readonly type: Uint8Array;
}

interface SignalValue {
  readonly id: SignalId;
  /** Encoded core.Literal. */
  readonly value: Uint8Array;
}

/**
 * Reads and writes signals. Concurrent calls for one execution share statements: thousands of them
 * occupy at most three connections.
 */
export class SignalStore {
  readonly #created: BatchQueue<TypedSignal, SignalRow | undefined>;
  readonly #found: BatchQueue<SignalId, SignalRow | undefined>;
  readonly #set: BatchQueue<SignalValue, void>;

  constructor(db: Queryable, time: Pick<Time, "schedule"> = systemTime) {
    this.#created = new BatchQueue({
      ...BATCHES,
      process: (batch) => getOrInsertSignals(db, batch),
      weightOf: ({ id, type }) => id.signalId.length + type.length,
    });
    this.#found = new BatchQueue({
      ...BATCHES,
      process: (batch) => findSignals(db, batch),
      weightOf: ({ signalId }) => signalId.length,
      msPerItem: () => MS_PER_VALUE,
      time,
    });
    this.#set = new BatchQueue({
      ...BATCHES,
      process: (batch) => setSignalValues(db, batch),
      weightOf: ({ id, value }) => id.signalId.length + value.length,
    });
  }

  /** Returns the signal; inserts it when it does not exist. */
  getOrInsert(id: SignalId, type: Uint8Array): Promise<SignalRow | undefined> {
    return this.#created.run({ id, type }, executionOf(id));
  }

  /** Returns a signal to set, at the pace of values. */
  findToSet(id: SignalId): Promise<SignalRow | undefined> {
    return this.#found.run(id, executionOf(id));
  }

  /** Sets the value. The last of several values that are set at the same time remains. */
  setValue(id: SignalId, value: Uint8Array): Promise<void> {
    return this.#set.run({ id, value }, executionOf(id));
  }
}

const executionOf = ({ executionId: { project, domain, name } }: SignalId): string => `${project}/${domain}/${name}`;

const keyOf = ([first]: readonly SignalId[]): string[] =>
  first === undefined ? [] : [first.executionId.project, first.executionId.domain, first.executionId.name];

/** Text of a signal id as the database stores it: it has no halves of surrogate pairs. */
const storedId = ({ signalId }: SignalId): string => signalId.toWellFormed();

/**
 * Returns one item for each signal, the last one given, in the order in which all writers lock the
 * rows of an execution, to prevent deadlocks.
 */
function sortedById<T extends { readonly id: SignalId }>(items: readonly T[]): readonly T[] {
  const byId = new Map(items.map((item) => [storedId(item.id), item]));
  return [...byId].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, item]) => item);
}

function rowsOf(ids: readonly SignalId[], rows: readonly SignalRow[]): readonly (SignalRow | undefined)[] {
  const byId = new Map(rows.map((row) => [row.signal_id, row]));
  return ids.map((id) => byId.get(storedId(id)));
}

async function getOrInsertSignals(db: Queryable, batch: readonly TypedSignal[]): Promise<readonly (SignalRow | undefined)[]> {
  const ids = batch.map(({ id }) => id);
  // The first call of several creates the signal.
  const sorted = sortedById(batch.toReversed());
  // The update changes nothing; it makes the statement return the existing rows.
  const { rows } = await db.query<SignalRow>({
    name: "get-or-create-signals",
    text: `INSERT INTO signals (execution_project, execution_domain, execution_name, signal_id, type)
      SELECT $1, $2, $3, given.* FROM unnest($4::text[], $5::bytea[]) AS given
      ON CONFLICT (execution_project, execution_domain, execution_name, signal_id) DO UPDATE SET type = signals.type
      RETURNING ${columns}`,
    values: [...keyOf(ids), textArray(sorted.map(({ id }) => id.signalId)), byteaArray(sorted.map(({ type }) => type))],
  });
  return rowsOf(ids, rows);
}

async function findSignals(db: Queryable, ids: readonly SignalId[]): Promise<readonly (SignalRow | undefined)[]> {
  const { rows } = await db.query<SignalRow>({
    name: "find-signals",
    text: `SELECT ${columns} FROM signals WHERE ${ofExecution} AND signal_id = ANY ($4::text[])`,
    values: [...keyOf(ids), textArray(ids.map(({ signalId }) => signalId))],
  });
  return rowsOf(ids, rows);
}

async function setSignalValues(db: Queryable, batch: readonly SignalValue[]): Promise<readonly void[]> {
  const sorted = sortedById(batch);
  await db.query({
    name: "set-signals",
    text: `UPDATE signals SET value = given.value, updated_at = clock_timestamp()
      FROM unnest($4::text[], $5::bytea[]) AS given (signal_id, value)
      WHERE ${ofExecution} AND signals.signal_id = given.signal_id`,
    values: [
      ...keyOf(batch.map(({ id }) => id)),
      textArray(sorted.map(({ id }) => id.signalId)),
      byteaArray(sorted.map(({ value }) => value)),
    ],
  });
  return batch.map(() => undefined);
}

export async function listSignals(db: Queryable, plan: ListPlan): Promise<readonly SignalRow[]> {
  return (await db.query<SignalRow>(selectPage(plan, columns))).rows;
}

/** Filters and sort keys of ListSignals. */
export const signalEntity: ListEntity = {
  prefix: "signal",
  table: "signals",
  key: "id",
  columns: {
    ...baseColumns,
    execution_project: { type: "text" },
    execution_domain: { type: "text" },
    execution_name: { type: "text" },
    signal_id: { type: "text" },
    type: { type: "bytes" },
    value: { type: "bytes" },
  },
  related: {},
};
