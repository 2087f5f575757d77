import type { Duration, Timestamp } from "@bufbuild/protobuf/wkt";
import { type CommonState, durationOf, timestampOf, elapsed } from "@flyte-ts/execution-state";
import type { ColumnSpec } from "./multi-row-write.js";

/** Converts nanoseconds since the epoch to a time of whole milliseconds. */
export const dateOfNanos = (nanos: bigint): Date => new Date(Number(nanos / 1_000_000n));

/** Columns of a row's {@link CommonState}, without large ones. */
export interface ProgressRow {
  phase_order: bigint;
  first_ns: bigint;
  first_order: bigint;
  started_ns: bigint | null;
  started_order: bigint;
  updated_ns: bigint;
  ended_ns: bigint | null;
  input_uri: string;
  output_uri: string;
  has_outputs: boolean;
  settled: string | null;
}

/** Columns to select for a {@link ProgressRow}. */
export function selectProgress(table: string): string {
  return [
    "phase_order",
    "first_ns",
    "first_order",
    "started_ns",
    "started_order",
    "updated_ns",
    "ended_ns",
    "input_uri",
    "output_uri",
    "settled",
  ]
    .map((name) => `${table}.${name}`)
    .concat(`${table}.outputs IS NOT NULL AS has_outputs`)
    .join(", ");
}

export function storedProgress(row: ProgressRow): CommonState {
  return {
    phaseSeq: row.phase_order,
    firstAt: row.first_ns,
    firstSeq: row.first_order,
    startedAt: row.started_ns ?? undefined,
    startedSeq: row.started_order,
    updatedAt: row.updated_ns,
    endedAt: row.ended_ns ?? undefined,
    inputUri: row.input_uri,
    inputs: undefined,
    outputUri: row.output_uri,
    outputs: undefined,
    hasOutputs: row.has_outputs,
    inferredReason: row.settled ?? undefined,
  };
}

export const progressColumns: readonly ColumnSpec<{ readonly state: CommonState }>[] = [
  { name: "phase_order", type: "bigint", value: ({ state }) => state.phaseSeq, update: "set" },
  { name: "first_ns", type: "bigint", value: ({ state }) => state.firstAt, update: "set" },
  { name: "first_order", type: "bigint", value: ({ state }) => state.firstSeq, update: "set" },
  { name: "started_ns", type: "bigint", value: ({ state }) => state.startedAt ?? null, update: "set" },
  { name: "started_order", type: "bigint", value: ({ state }) => state.startedSeq, update: "set" },
  { name: "updated_ns", type: "bigint", value: ({ state }) => state.updatedAt, update: "set" },
  { name: "ended_ns", type: "bigint", value: ({ state }) => state.endedAt ?? null, update: "set" },
  { name: "duration", type: "bigint", value: ({ state }) => elapsed(state), update: "set" },
  { name: "input_uri", type: "text", value: ({ state }) => state.inputUri, update: "set" },
  { name: "output_uri", type: "text", value: ({ state }) => state.outputUri, update: "set" },
  { name: "settled", type: "text", value: ({ state }) => state.inferredReason ?? null, update: "set" },
  { name: "inputs", type: "bytea", value: ({ state }) => state.inputs ?? null, update: "first" },
  { name: "outputs", type: "bytea", value: ({ state }) => state.outputs ?? null, update: "keep" },
];

/** Sets the times of a closure; the duration only after the end. */
export function setTimes(
  closure: { createdAt?: Timestamp; updatedAt?: Timestamp; startedAt?: Timestamp; duration?: Duration },
  row: Pick<ProgressRow, "first_ns" | "started_ns" | "updated_ns" | "ended_ns"> & { duration: bigint },
): void {
  closure.createdAt = timestampOf(row.first_ns);
  closure.updatedAt = timestampOf(row.updated_ns);
  if (row.started_ns === null) return;
  closure.startedAt = timestampOf(row.started_ns);
  if (row.ended_ns !== null) closure.duration = durationOf(row.duration);
}
