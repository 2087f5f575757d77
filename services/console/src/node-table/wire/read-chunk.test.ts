import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ExecutionSchema } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { NodeColumnsSchema, NodeTableChunkSchema } from "@flyte-ts/idl/flytets/admin/v1/node_table_pb";
import fc from "fast-check";
import { expect, test } from "vitest";
import { columnsOf, encodeChunk, type NodeRow, nodeRow, SentTexts } from "./chunk.fixture.js";
import { readChunk } from "./read-chunk.js";
import { readColumns } from "./read-columns.js";
import { readExecution } from "./read-execution.js";
import { MalformedMessageError } from "../../wire/read-varints.js";

const byte = fc.nat({ max: 255 });
const timeMs = fc.nat({ max: 2 ** 40 });
const text = fc.string({ unit: "grapheme", maxLength: 6 });
const row: fc.Arbitrary<NodeRow> = fc
  .record({
    key: fc.nat({ max: 2 ** 50 }),
    id: text,
    parent: fc.nat({ max: 2 ** 50 }),
    phase: byte,
    flags: byte,
    cache: byte,
    attempts: byte,
    entity: text,
    queued: timeMs,
    started: fc.option(timeMs, { nil: undefined }),
    ended: fc.option(timeMs, { nil: undefined }),
    error: text,
    spec: text,
  })
  .map((given) => ({ ...given, started: after(given.queued, given.started), ended: after(given.queued, given.ended) }));

function after(queued: number, offset: number | undefined): number | undefined {
  return offset === undefined ? undefined : queued + offset;
}

/** Reads the rows of columns back. */
function rowsOf(bytes: Uint8Array, texts: readonly string[]): NodeRow[] {
  const columns = readColumns(bytes);
  let [at, id] = [0, new Uint8Array()];
  return Array.from({ length: columns.length }, (_, index) => {
    const value = (name: Exclude<keyof typeof columns, "length">): number => columns[name][index] ?? Number.NaN;
    const end = at + value("idSuffixLength");
    id = Uint8Array.from([...id.subarray(0, value("idPrefix")), ...columns.idSuffix.subarray(at, end)]);
    at = end;
    const textOf = (index: number): string => (index === 0 ? "" : (texts[index - 1] ?? "?"));
    const time = (ms: number): number | undefined => (ms === Number.POSITIVE_INFINITY ? undefined : ms);
    return {
      key: value("key"),
      id: new TextDecoder().decode(id),
      parent: value("parent"),
      phase: value("phase"),
      flags: value("flags"),
      cache: value("cache"),
      attempts: value("attempts"),
      entity: textOf(value("entity")),
      queued: value("queued"),
      started: time(value("started")),
      ended: time(value("ended")),
      error: textOf(value("error")),
      spec: textOf(value("spec")),
    };
  });
}

test("columns read are the rows that protobuf-es wrote", () => {
  fc.assert(
    fc.property(fc.array(row, { maxLength: 30 }), (rows) => {
      const texts: string[] = [];
      const columns = create(NodeColumnsSchema, columnsOf(rows, new SentTexts(), texts));
      expect(rowsOf(toBinary(NodeColumnsSchema, columns), texts)).toEqual(rows);
    }),
  );
});

test("a chunk read has the fields that protobuf-es decodes", () => {
  const fields = fc.record({
    cursor: text,
    reset: fc.boolean(),
    complete: fc.boolean(),
    ended: fc.boolean(),
    counts: fc.record({ byPhase: fc.array(fc.nat()), cached: fc.nat(), retrying: fc.nat() }),
  });
  fc.assert(
    fc.property(fields, fc.array(row, { maxLength: 3 }), (given, rows) => {
      const bytes = encodeChunk(rows, given);
      const { $typeName: _, nodes, execution: none, ...decoded } = fromBinary(NodeTableChunkSchema, bytes);
      const { nodes: columns, ...read } = readChunk(bytes);
      expect(none).toBeUndefined();
      expect(read).toEqual({ ...decoded, counts: given.counts });
      expect(columns?.length).toBe(nodes?.length);
    }),
  );
});

test("an execution has its phase and times", () => {
  const closure = {
    phase: 6,
    createdAt: timestampFromMs(5),
    startedAt: timestampFromMs(1_700_000_000_123),
    duration: { seconds: 3n, nanos: 7_000_000 },
  };
  const bytes = toBinary(ExecutionSchema, create(ExecutionSchema, { id: { name: "n" }, closure }));
  const read = { phase: 6, hasEnded: true, createdAtMs: 5, startedAtMs: 1_700_000_000_123, updatedAtMs: 0, durationMs: 3007 };
  expect(readExecution(bytes)).toEqual(read);
  expect(readChunk(encodeChunk([], { execution: { closure } })).execution).toEqual(read);
});

test("bytes that are no chunk are refused", () => {
  const bytes = encodeChunk([nodeRow({ key: 1 }), nodeRow({ key: 2, queued: 1000 })]);
  for (let length = 1; length < bytes.length; length++) expect(() => readChunk(bytes.subarray(0, length))).toThrow(MalformedMessageError);
  expect(() => readChunk(Uint8Array.of(0x0f))).toThrow(MalformedMessageError);
  const columns = columnsOf([nodeRow({ key: 1 })], new SentTexts(), []);
  for (const change of [{ length: 2 }, { phase: new Uint8Array(2) }, { key: new Uint8Array(2) }, { idSuffix: Uint8Array.of(8, 65) }])
    expect(() => readColumns(toBinary(NodeColumnsSchema, create(NodeColumnsSchema, { ...columns, ...change })))).toThrow(
      MalformedMessageError,
    );
});
