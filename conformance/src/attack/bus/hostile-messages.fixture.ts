import { create, toBinary } from "@bufbuild/protobuf";
import { gzipSync } from "node:zlib";
import { ExecutionEventSchema } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import { TaskEventSchema, TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";

/** Payload and headers of a message. */
export interface HostilePayload {
  readonly data: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Largest message that the server accepts, in bytes, including subject and headers. */
const MAX_PAYLOAD_BYTES = 1_000_000;
const GZIP = { "Flyte-Encoding": "gzip" };

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    bytes.push(rest > 127 ? (rest % 128) | 128 : rest);
    if (rest <= 127) return Buffer.from(bytes);
  }
}

/** A length-delimited field. */
function field(number: number, content: Uint8Array): Buffer {
  return Buffer.concat([varint(number * 8 + 2), varint(content.length), content]);
}

/**
 * Field 4 or 5 (outputs) of an event: a map with one collection of `count` empty literals of two
 * bytes.
 */
function manyLiterals(outputs: number, count: number): Buffer {
  const items = Buffer.alloc(2 * count, Buffer.from([0x0a, 0]));
  return field(outputs, field(1, Buffer.concat([field(1, Buffer.from("a")), field(2, field(2, items))])));
}

/** Nested literals in the outputs of an event. */
function nested(outputs: number, levels: number): Buffer {
  // Build from the inside out: each level is a collection (2) with one item (1); keep only the
  // bytes before the content.
  const heads: Buffer[] = [];
  let length = 0;
  for (let level = 0; level < 2 * levels; level++) {
    const head = Buffer.concat([varint(level % 2 === 0 ? 10 : 18), varint(length)]);
    heads.push(head);
    length += head.length;
  }
  return field(outputs, field(1, Buffer.concat([field(1, Buffer.from("a")), field(2, Buffer.concat(heads.reverse()))])));
}

/** Number of the field that holds a literal map, by message type. */
const OUTPUTS = { "task-event": 5, "execution-event": 4, request: 20 } as const;

export type MessageKind = keyof typeof OUTPUTS;

/** Compresses at the fastest level; the expanded size matters here. */
const fastGzip = (data: Uint8Array): Buffer => gzipSync(data, { level: 1 });

/** A gzip member whose trailer declares a size that is too small. */
function gzipWithWrongSize(): Uint8Array {
  const data = Buffer.from(fastGzip(Buffer.alloc(80_000_000)));
  data.writeUInt32LE(100, data.length - 4);
  return data;
}

const RANDOM = Buffer.from(Array.from({ length: 1_000 }, (_, index) => (index * 7_919 + 13) % 256));

const UNREADABLE: Readonly<Record<string, (outputs: number) => HostilePayload>> = {
  "no bytes": () => ({ data: Buffer.alloc(0) }),
  "a zero byte": () => ({ data: Buffer.alloc(1) }),
  JSON: () => ({ data: Buffer.from('{"error":{"code":503}}') }),
  "bytes at random": () => ({ data: RANDOM }),
  "a million zero bytes": () => ({ data: Buffer.alloc(MAX_PAYLOAD_BYTES) }),
  "a field with a declared length of four gigabytes": () => ({ data: Buffer.concat([varint(10), varint(2 ** 32 - 1)]) }),
  "a truncated field": () => ({ data: field(1, Buffer.alloc(1_000)).subarray(0, 500) }),
  "a varint without an end": () => ({ data: Buffer.alloc(100_000, 0xff) }),
  "groups that are opened 400,000 times": () => ({ data: Buffer.alloc(400_000, 0x0b) }),
  "text that is not UTF-8": () => ({ data: Buffer.concat([2, 4, 9].map((number) => field(number, Buffer.from([0xc3, 0x28])))) }),
  "literals 5,000 levels deep": (outputs) => ({ data: nested(outputs, 5_000) }),
  "literals 40,000 levels deep": (outputs) => ({ data: nested(outputs, 40_000) }),
  "450,000 empty literals": (outputs) => ({ data: manyLiterals(outputs, 450_000) }),
  "gzip of 80 MB": () => ({ data: fastGzip(Buffer.alloc(80_000_000)), headers: GZIP }),
  "gzip of 40 million empty literals": (outputs) => ({ data: fastGzip(manyLiterals(outputs, 40_000_000)), headers: GZIP }),
  "gzip of 7 million empty literals": (outputs) => ({ data: fastGzip(manyLiterals(outputs, 7_000_000)), headers: GZIP }),
  "gzip with a smaller declared size": () => ({ data: gzipWithWrongSize(), headers: GZIP }),
  "truncated gzip": () => ({ data: fastGzip(RANDOM).subarray(0, 100), headers: GZIP }),
  "text that claims to be gzip": () => ({ data: Buffer.from("text"), headers: GZIP }),
  "a bundle of 250,000 empty messages": () => ({ data: Buffer.alloc(MAX_PAYLOAD_BYTES), headers: { "Flyte-Bundle": "250000" } }),
  "a bundle of 64 invalid messages": () => ({
    data: Buffer.alloc(5 * 64, Buffer.from([0, 0, 0, 1, 0xff])),
    headers: { "Flyte-Bundle": "64" },
  }),
  "a bundle with wrong lengths": () => ({ data: Buffer.from([0xff, 0xff, 0xff, 0xff, 1]), headers: { "Flyte-Bundle": "1" } }),
  "an empty bundle": () => ({ data: Buffer.alloc(0), headers: { "Flyte-Bundle": "-1" } }),
};

/** Names of payloads that no consumer can decode. */
export const UNREADABLE_NAMES: readonly string[] = Object.keys(UNREADABLE);

/** Caches payloads, because some take a second to build. */
const payloadCache = new Map<string, HostilePayload>();

/** Builds the payload with a name of {@link UNREADABLE_NAMES} for consumers of a message type. */
export function unreadablePayload(kind: MessageKind, name: string): HostilePayload {
  const make = UNREADABLE[name];
  // Most payloads are the same for all message types.
  const key = make?.length === 0 ? name : `${kind} ${name}`;
  const known = payloadCache.get(key) ?? make?.(OUTPUTS[kind]);
  if (known === undefined) throw new Error(`no payload is named ${name}`);
  payloadCache.set(key, known);
  return known;
}

/** Decodable messages with contents that no service sends. */
export function forgedPayloads(kind: MessageKind): Readonly<Record<string, HostilePayload>> {
  const executionId = { project: "flytesnacks", domain: "development", name: "nowhere" };
  const names = {
    "an execution that does not exist": executionId,
    "an execution of another project": { ...executionId, project: "flyteexamples" },
    "an execution named __proto__": { project: "__proto__", domain: "constructor", name: "__proto__" },
    "a name of 100,000 characters": { ...executionId, name: "x".repeat(100_000) },
    "a name with NUL": { ...executionId, name: "a\0b" },
    "a name with SQL": { ...executionId, name: "'; DROP TABLE executions; --" },
    "no name": {},
  };
  const variants = Object.entries(names).flatMap(([what, id]) =>
    Object.entries(INVALID_VALUES).map(([how, odd]) => [`${what}, ${how}`, { data: forgedPayload(kind, id, odd) }] as const),
  );
  return Object.fromEntries(variants);
}

interface InvalidValues {
  readonly phase: number;
  readonly occurredAt?: { readonly seconds: bigint; readonly nanos: number };
  readonly attempt: number;
}

const INVALID_VALUES: Readonly<Record<string, InvalidValues>> = {
  "phase 3 in the year 1970": { phase: 3, occurredAt: { seconds: 0n, nanos: 0 }, attempt: 0 },
  "a phase that does not exist": { phase: 9_999, occurredAt: { seconds: 1n, nanos: 1 }, attempt: 2 ** 32 - 1 },
  "a time out of range": { phase: 2, occurredAt: { seconds: 2n ** 62n, nanos: -5 }, attempt: 7 },
  "no time": { phase: -1, attempt: 0 },
};

function forgedPayload(
  kind: MessageKind,
  executionId: { project?: string; domain?: string; name?: string },
  odd: InvalidValues,
): Uint8Array {
  const { project = "", domain = "", name = "" } = executionId;
  const workflowKey = `${project}-${domain}/${name}`;
  const { phase, attempt, ...time } = odd;
  const nodeExecutionId = { nodeId: "n0", executionId };
  const taskId = { project, domain, name: "task", version: "1" };
  const task = { taskId, parentNodeExecutionId: nodeExecutionId, retryAttempt: attempt, phase, ...time };
  switch (kind) {
    case "task-event":
      return toBinary(TaskEventSchema, create(TaskEventSchema, { workflowKey, nodePath: "n0", event: task }));
    case "execution-event":
      return toBinary(
        ExecutionEventSchema,
        create(ExecutionEventSchema, {
          workflowKey,
          sequence: 2n ** 64n - 1n,
          event: { case: "node", value: { id: nodeExecutionId, phase, ...time } },
        }),
      );
    case "request":
      return toBinary(
        TaskRequestSchema,
        create(TaskRequestSchema, {
          id: { taskId, nodeExecutionId, retryAttempt: attempt },
          desired: phase,
          generatedName: name,
          workflowKey,
          namespace: `${project}-${domain}`,
          nodePath: "n0",
          shard: 2 ** 32 - 1,
        }),
      );
    default:
      return kind satisfies never;
  }
}

/** Payloads for subjects that no stream stores. */
export function unstoredPayloads(): Readonly<Record<string, HostilePayload>> {
  const text = (value: unknown) => ({ data: Buffer.from(JSON.stringify(value)) });
  const hello = (more: object) => text({ name: "forged", taskTypes: ["forged"], instance: "x", servedMs: 0, ...more });
  return {
    ...Object.fromEntries(UNREADABLE_NAMES.map((name) => [name, unreadablePayload("task-event", name)])),
    "a key of 200,000 characters": { data: field(1, Buffer.alloc(200_000, "k")) },
    "a key of an unknown execution": { data: field(1, Buffer.from("nowhere/nothing")) },
    "an invalid key": { data: Buffer.concat([field(1, Buffer.from("__proto__")), field(2, Buffer.from("constructor"))]) },
    "JSON null": text(null),
    "JSON 10,000 levels deep": { data: Buffer.from("[".repeat(10_000) + "]".repeat(10_000)) },
    "an announcement without types": hello({ taskTypes: null }),
    "an announcement of 10,000 types": hello({ taskTypes: Array.from({ length: 10_000 }, (_, index) => `t${index}`) }),
    "an announcement of invalid task types": hello({ taskTypes: [null, {}, [], 5, "__proto__", "", "a.b", "x".repeat(100_000)] }),
    "an announcement with an invalid time": hello({ servedMs: -1e308, instance: { toString: 1 } }),
    "an announcement with __proto__": {
      data: Buffer.from('{"__proto__":{"taskTypes":["polluted"]},"name":"x","taskTypes":["constructor"]}'),
    },
  };
}
