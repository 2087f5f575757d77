import { type Json, type JsonObject, show } from "../../object/model.js";
import { ApiError } from "../api-error.js";

/**
 * Media type of Kubernetes protobuf, which kubectl sends for some kinds
 * (`kubectl create namespace`, `secret`, `configmap` …). Only these kinds are supported; responses
 * are JSON. Source of the field numbers: Kubernetes' generated.proto files.
 */
export const PROTOBUF_MEDIA_TYPE = "application/vnd.kubernetes.protobuf";

type MessageReader = { readonly [field: number]: readonly [name: string, kind: Kind] };
type Kind =
  | "string"
  | "bytes"
  | "int"
  | "bool"
  | { readonly message: MessageReader }
  | { readonly list: Kind }
  | { readonly map: Kind }
  /** A message with one field, represented by that field's value. */
  | { readonly only: Kind };

const OWNER: MessageReader = {
  1: ["kind", "string"],
  3: ["name", "string"],
  4: ["uid", "string"],
  5: ["apiVersion", "string"],
  6: ["controller", "bool"],
  7: ["blockOwnerDeletion", "bool"],
};

const METADATA: readonly [string, Kind] = [
  "metadata",
  {
    message: {
      1: ["name", "string"],
      2: ["generateName", "string"],
      3: ["namespace", "string"],
      5: ["uid", "string"],
      6: ["resourceVersion", "string"],
      11: ["labels", { map: "string" }],
      12: ["annotations", { map: "string" }],
      13: ["ownerReferences", { list: { message: OWNER } }],
      14: ["finalizers", { list: "string" }],
    },
  },
];

const NAMED: MessageReader = { 1: ["name", "string"] };

const KINDS: Readonly<Record<string, MessageReader>> = {
  Namespace: { 1: METADATA, 2: ["spec", { message: { 1: ["finalizers", { list: "string" }] } }] },
  Secret: {
    1: METADATA,
    2: ["data", { map: "bytes" }],
    3: ["type", "string"],
    4: ["stringData", { map: "string" }],
    5: ["immutable", "bool"],
  },
  ConfigMap: { 1: METADATA, 2: ["data", { map: "string" }], 3: ["binaryData", { map: "bytes" }], 4: ["immutable", "bool"] },
  ServiceAccount: { 1: METADATA, 3: ["imagePullSecrets", { list: { message: NAMED } }], 4: ["automountServiceAccountToken", "bool"] },
  ResourceQuota: {
    1: METADATA,
    2: ["spec", { message: { 1: ["hard", { map: { only: "string" } }], 2: ["scopes", { list: "string" }] } }],
  },
  DeleteOptions: {
    1: ["gracePeriodSeconds", "int"],
    2: ["preconditions", { message: { 1: ["uid", "string"], 2: ["resourceVersion", "string"] } }],
    3: ["orphanDependents", "bool"],
    4: ["propagationPolicy", "string"],
    5: ["dryRun", { list: "string" }],
  },
};

const MAGIC = Buffer.from([0x6b, 0x38, 0x73, 0x00]);

/** Maximum number of fields in a body at all depths; objects from kubectl have a few thousand. */
const MAX_FIELDS = 40_000;

/**
 * @throws ApiError UnsupportedMediaType for other kinds, BadRequest for malformed bytes and too
 *   many fields
 */
export function parseProtobuf(body: Buffer): JsonObject {
  if (!body.subarray(0, 4).equals(MAGIC)) throw malformedBody();
  const budget = { left: MAX_FIELDS };
  let apiVersion = "";
  let kind = "";
  let raw: Buffer = Buffer.alloc(0);
  for (const { field, value } of fields(body.subarray(4), budget)) {
    if (field === 1 && Buffer.isBuffer(value)) {
      const type = readMessage(value, { 1: ["apiVersion", "string"], 2: ["kind", "string"] }, budget);
      apiVersion = show(type["apiVersion"]);
      kind = show(type["kind"]);
    } else if (field === 2 && Buffer.isBuffer(value)) raw = value;
  }
  const reader = KINDS[kind];
  if (reader === undefined)
    throw new ApiError("UnsupportedMediaType", `${apiVersion} ${kind} is not supported as ${PROTOBUF_MEDIA_TYPE}: send application/json`);
  return { ...readMessage(raw, reader, budget), apiVersion, kind };
}

const malformedBody = () => new ApiError("BadRequest", "the body is not a Kubernetes protobuf message");

interface Field {
  readonly field: number;
  readonly value: Buffer | number;
}

/** Remaining number of fields that a body may have. */
interface FieldBudget {
  left: number;
}

function* fields(bytes: Buffer, budget: FieldBudget): Generator<Field> {
  let position = 0;
  const varint = () => {
    let value = 0;
    for (let shift = 1; ; shift *= 128) {
      const byte = bytes[position++];
      if (byte === undefined) throw malformedBody();
      value += (byte & 127) * shift;
      if (byte < 128) return value;
    }
  };
  while (position < bytes.length) {
    if (--budget.left < 0) throw new ApiError("BadRequest", `the body has more than ${MAX_FIELDS} fields; send JSON instead`);
    const tag = varint();
    const wire = tag & 7;
    if (wire === 0) yield { field: tag >> 3, value: varint() };
    else if (wire === 2) {
      const length = varint();
      if (position + length > bytes.length) throw malformedBody();
      yield { field: tag >> 3, value: bytes.subarray(position, position + length) };
      position += length;
    } else if (wire === 1 || wire === 5) position += wire === 1 ? 8 : 4;
    else throw malformedBody();
  }
}

function readMessage(bytes: Buffer, reader: MessageReader, budget: FieldBudget): JsonObject {
  const result: Record<string, Json> = Object.create(null) as Record<string, Json>;
  // Lists and maps grow in place: a copy per entry would take quadratic time.
  const lists = new Map<string, Json[]>();
  const maps = new Map<string, Map<string, Json>>();
  for (const { field, value } of fields(bytes, budget)) {
    const known = reader[field];
    if (known === undefined) continue;
    const [name, kind] = known;
    if (typeof kind === "object" && "list" in kind) getOrCreate(lists, name, () => []).push(readValue(value, kind.list, budget));
    else if (typeof kind === "object" && "map" in kind) {
      if (!Buffer.isBuffer(value)) throw malformedBody();
      const entry = readMessage(value, { 1: ["key", "string"], 2: ["value", kind.map] }, budget);
      getOrCreate(maps, name, () => new Map<string, Json>()).set(show(entry["key"]), entry["value"] ?? "");
    } else result[name] = readValue(value, kind, budget);
  }
  for (const [name, list] of lists) result[name] = list;
  for (const [name, map] of maps) result[name] = Object.fromEntries(map);
  // Go encodes unset strings as empty ones.
  return Object.fromEntries(Object.entries(result).filter(([, value]) => value !== ""));
}

function getOrCreate<Value>(known: Map<string, Value>, name: string, make: () => Value): Value {
  let found = known.get(name);
  if (found === undefined) known.set(name, (found = make()));
  return found;
}

function readValue(value: Buffer | number, kind: Kind, budget: FieldBudget): Json {
  if (kind === "int") return Number(value);
  if (kind === "bool") return value === 1;
  if (!Buffer.isBuffer(value)) throw malformedBody();
  if (kind === "string") return value.toString("utf8");
  if (kind === "bytes") return value.toString("base64");
  if ("message" in kind) return readMessage(value, kind.message, budget);
  if ("only" in kind) return readMessage(value, { 1: ["value", kind.only] }, budget)["value"] ?? "";
  throw malformedBody();
}
