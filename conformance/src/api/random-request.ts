import { type DescField, type DescMessage, type DescMethod, type DescService, getOption, ScalarType } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { http } from "@flyte-ts/idl/google/api/annotations_pb";
import type { HttpRule } from "@flyte-ts/idl/google/api/http_pb";

/** Returns a number in [0, 1). */
export type Random = () => number;

export interface RandomRequest {
  readonly transport: "grpc" | "rest";
  /** HTTP method of a REST request. */
  readonly method: string;
  readonly path: string;
  readonly body: Uint8Array;
}

/**
 * Registered values by field name (project, domain, name …), so that some requests pass the first
 * check.
 */
export type KnownNames = Readonly<Record<string, string>>;

export interface RandomRequestOptions {
  readonly services: readonly DescService[];
  readonly known: KnownNames;
  /** Valid requests by method path, which random fields are merged into. */
  readonly samples: Readonly<Record<string, () => Uint8Array>>;
  readonly random: Random;
}

/**
 * Generates a request for any method: noise, random fields, a valid request with random fields, or
 * one of these with a damaged byte.
 */
export function randomRequest({ services, known, samples, random }: RandomRequestOptions): RandomRequest {
  const method = pickOne(random, pickOne(random, services).methods);
  const rule = getOption(method, http);
  const message = new RandomMessage(known, random);
  if (rule.pattern.case !== undefined && random() < 0.3) return restRequest({ method, rule, message, random });
  const path = `/${method.parent.typeName}/${method.name}`;
  const body = random() < 0.15 ? noise(random) : message.bytes(method.input);
  // Protobuf decoders use the last occurrence of a repeated scalar field and merge repeated message
  // fields.
  const whole = random() < 0.8 ? Buffer.concat([samples[path]?.() ?? new Uint8Array(), body]) : body;
  if (random() < 0.15 && whole.length > 0) whole[Math.floor(random() * whole.length)] = Math.floor(random() * 256);
  return { transport: "grpc", method: "POST", path, body: whole };
}

interface RestParts {
  readonly method: DescMethod;
  readonly rule: HttpRule;
  readonly message: RandomMessage;
  readonly random: Random;
}

function restRequest({ method, rule, message, random }: RestParts): RandomRequest {
  const binding = pickOne(random, [rule, ...rule.additionalBindings]);
  const { case: verb, value } = binding.pattern;
  if (verb === undefined || verb === "custom") throw new Error(`${method.name} has no verb`);
  const path = value.replace(/\{([^}=]+)[^}]*\}/g, (_, variable: string) =>
    encodeURIComponent(message.text(variable.split(".").at(-1) ?? "")),
  );
  const names = ["limit", "token", "filters", "sort_by.key", "sort_by.direction", "id.project", "resource_type", "nosuch"];
  const query = names
    .filter(() => random() < 0.3)
    .map((name) => `${name}=${encodeURIComponent(message.text(name))}`)
    .join("&");
  const text = random() < 0.5 ? JSON.stringify(message.json(method.input)) : Buffer.from(noise(random)).toString("latin1");
  const body = binding.body === "" ? new Uint8Array() : Buffer.from(text);
  return { transport: "rest", method: verb.toUpperCase(), path: query === "" ? path : `${path}?${query}`, body };
}

function noise(random: Random): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length: Math.floor(random() * 64) }, () => Math.floor(random() * 256));
}

function pickOne<Item>(random: Random, items: readonly Item[]): Item {
  return items[Math.floor(random() * items.length)] as Item;
}

const TEXTS = [
  "",
  "nosuch",
  "x".repeat(300),
  "\u0000",
  "a\u0000b",
  "é☃\u{1f600}",
  "'; DROP TABLE tasks; --",
  "eq(name,a)",
  "value_in(phase,1;2)+gte(created_at,x)",
  "name",
  "created_at",
  "s3://my-s3-bucket/nosuch",
  "s3://",
  "../..",
  "-1",
  "99999999999999999999",
  "{{ .x }}",
  "1h",
  "* * * * *",
];
const FUNCTIONS = ["eq", "ne", "gt", "gte", "lt", "lte", "contains", "value_in", "value_not_in", "not_like", "constructor", "EQ", ""];
const FIELDS = [
  ..."name version project domain identifier state phase created_at updated_at started_at duration id description type".split(" "),
  ..."execution_name execution_project execution_domain execution_created_at mode cluster user labels node_id retry_attempt".split(" "),
  ..."schedule_type signal_id error_kind error_code abort_cause execution.phase execution_tag.key admin_tag.name workflow.name".split(" "),
  ..."task.name launch_plan.name node_execution.node_id task_execution.phase entities.name named_entity_metadata.state nosuch a.b.c".split(
    " ",
  ),
  "__proto__",
  "",
];
const VALUES = [
  "0",
  "1",
  "SUCCEEDED",
  "FAILED",
  "development",
  "2026-01-01T00:00:00Z",
  "9999-99-99",
  "1.5",
  "%",
  "_",
  "\\",
  "1e400",
  "3s",
  "-1h",
];
const INTEGER_TYPES = [0, 1, 2, 3, 7, 100, -1, 2 ** 31 - 1, -(2 ** 31)];
const LONG_TYPES = [0n, 1n, 5n, -1n, 1_700_000_000n, 253_402_300_799n, 253_402_300_800n, 2n ** 53n, 2n ** 63n - 1n, -(2n ** 63n)];
const FLOAT_TYPES = [0, 1.5, -1, Number.NaN, Number.POSITIVE_INFINITY, 1e308];
/** Nesting depth beyond which messages contain leaves only. */
const MAX_DEPTH = 7;

/**
 * Generates messages of random fields, as bytes and as JSON; most name fields hold a registered
 * name.
 */
class RandomMessage {
  /** Resource type for the whole message, so that nested identifiers can match. */
  readonly #resourceType: number;
  /** Probability that a field is set. */
  readonly #density: number;

  constructor(
    private readonly known: KnownNames,
    private readonly random: Random,
  ) {
    this.#resourceType = 1 + Math.floor(random() * 4);
    this.#density = pickOne(random, [0.05, 0.2, 0.8]);
  }

  text(field: string): string {
    const value = this.known[field];
    if (value !== undefined && this.random() < 0.85) return value;
    if (field === "limit" && this.random() < 0.7) return "10";
    if (field === "filters" && this.random() < 0.8) return this.filters();
    if (field === "sort_by.key" && this.random() < 0.7) return pickOne(this.random, FIELDS);
    return pickOne(this.random, TEXTS);
  }

  /** Filter terms, most of them with an error. */
  private filters(): string {
    const values = () => Array.from({ length: 1 + Math.floor(this.random() * 2) }, () => pickOne(this.random, [...TEXTS, ...VALUES]));
    const term = () => `${pickOne(this.random, FUNCTIONS)}(${pickOne(this.random, FIELDS)},${values().join(";")})`;
    return Array.from({ length: 1 + Math.floor(this.random() * 3) }, term).join(pickOne(this.random, ["+", "+", "+", "&", ""]));
  }

  bytes(schema: DescMessage, depth = 0): Uint8Array<ArrayBuffer> {
    const writer = new BinaryWriter();
    for (const field of this.chosen(schema, depth)) {
      for (let left = this.count(field); left > 0; left--) this.writeField(writer, field, depth);
    }
    return new Uint8Array(writer.finish());
  }

  json(schema: DescMessage, depth = 0): unknown {
    return Object.fromEntries(
      this.chosen(schema, depth).map((field) => {
        if (field.fieldKind === "list") {
          return [field.jsonName, Array.from({ length: this.count(field) }, () => this.jsonValue(field, depth))];
        }
        if (field.fieldKind === "map") return [field.jsonName, { [this.text("key")]: this.jsonValue(field, depth) }];
        return [field.jsonName, this.jsonValue(field, depth)];
      }),
    );
  }

  private chosen(schema: DescMessage, depth: number): DescField[] {
    const members = schema.oneofs.map((oneof) => pickOne(this.random, oneof.fields));
    return schema.fields.filter((field) => {
      if (field.message !== undefined && depth >= MAX_DEPTH) return false;
      if (field.oneof !== undefined && !members.includes(field)) return this.random() < 0.02;
      return this.random() < (depth < 3 ? this.#density : Math.min(this.#density, 0.5));
    });
  }

  private count(field: DescField): number {
    return field.fieldKind === "list" || field.fieldKind === "map" ? 1 + Math.floor(this.random() * 2) : 1;
  }

  private writeField(writer: BinaryWriter, field: DescField, depth: number): void {
    if (field.fieldKind === "map") {
      const entry = new BinaryWriter();
      this.writeScalar(entry, { number: 1, name: "key", type: field.mapKey });
      if (field.message !== undefined) entry.tag(2, WireType.LengthDelimited).bytes(this.bytes(field.message, depth + 1));
      else this.writeScalar(entry, { number: 2, name: "value", type: field.scalar ?? ScalarType.INT32 });
      writer.tag(field.number, WireType.LengthDelimited).bytes(entry.finish());
    } else if (field.message !== undefined) {
      writer.tag(field.number, WireType.LengthDelimited).bytes(this.bytes(field.message, depth + 1));
    } else this.writeScalar(writer, { number: field.number, name: field.name, type: field.scalar ?? ScalarType.INT32 });
  }

  private writeScalar(writer: BinaryWriter, { number, name, type }: { number: number; name: string; type: ScalarType }): void {
    switch (type) {
      case ScalarType.STRING:
        writer.tag(number, WireType.LengthDelimited).string(this.text(name));
        break;
      case ScalarType.BYTES:
        writer.tag(number, WireType.LengthDelimited).bytes(noise(this.random));
        break;
      case ScalarType.DOUBLE:
        writer.tag(number, WireType.Bit64).double(pickOne(this.random, FLOAT_TYPES));
        break;
      case ScalarType.FLOAT:
        writer.tag(number, WireType.Bit32).float(pickOne(this.random, [0, 1.5, -1]));
        break;
      case ScalarType.INT64:
      case ScalarType.UINT64:
        writer.tag(number, WireType.Varint).int64(pickOne(this.random, LONG_TYPES));
        break;
      default:
        writer.tag(number, WireType.Varint).int32(this.whole(name));
    }
  }

  private whole(field: string): number {
    if (this.random() < 0.85 && field === "resource_type") return this.#resourceType;
    return field === "limit" && this.random() < 0.7 ? 10 : pickOne(this.random, INTEGER_TYPES);
  }

  private jsonValue(field: DescField, depth: number): unknown {
    if (field.message !== undefined) return this.random() < 0.05 ? this.text("") : this.json(field.message, depth + 1);
    return pickOne(this.random, [this.text(field.name), this.text(field.name), this.whole(field.name), true, null]);
  }
}
