import { create, type DescMessage, isMessage, type JsonValue, type JsonWriteOptions, type MessageShape, toJson } from "@bufbuild/protobuf";
import { type Duration, DurationSchema, type Timestamp, TimestampSchema } from "@bufbuild/protobuf/wkt";

const SECOND = 1_000_000_000n;
/** The years 1 to 9999. */
const TIMES = { first: -62_135_596_800n * SECOND, last: 253_402_300_800n * SECOND - 1n };
/** Ten thousand years, protobuf's limit. */
const MAX_DURATION_NS = 315_576_000_000n * SECOND;

/**
 * Converts any message to JSON. Numbers in free-form data (google.protobuf.Struct) without a JSON
 * form are written as for doubles: `"NaN"`, `"Infinity"`. Malformed times and durations are written
 * as the nearest valid ones.
 */
export function toLenientJson<Desc extends DescMessage>(
  schema: Desc,
  message: MessageShape<Desc>,
  options?: Partial<JsonWriteOptions>,
): JsonValue {
  try {
    return toJson(schema, message, options);
  } catch {
    return toJson(schema, sanitize(message, false) as MessageShape<Desc>, options);
  }
}

function sanitize(value: unknown, freeForm: boolean): unknown {
  if (typeof value === "number") return freeForm && !Number.isFinite(value) ? String(value) : value;
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return value;
  if (Array.isArray(value)) return value.map((each: unknown) => sanitize(each, freeForm));
  // Free-form data contains no bigint, whatever its keys are.
  if ("seconds" in value && typeof value.seconds === "bigint") {
    if (isMessage(value, TimestampSchema)) return clampTime(value);
    if (isMessage(value, DurationSchema)) return clampDuration(value);
  }
  const inside = !("$typeName" in value);
  const entries = Object.entries(value).map(([key, each]) => [key, sanitize(each, inside)] as const);
  return Object.assign(Object.create(Object.getPrototypeOf(value) as object | null) as object, Object.fromEntries(entries));
}

function clampTime({ seconds, nanos }: Timestamp): Timestamp {
  const time = clamp(TIMES.first, seconds * SECOND + BigInt(nanos), TIMES.last);
  const rest = ((time % SECOND) + SECOND) % SECOND;
  return create(TimestampSchema, { seconds: (time - rest) / SECOND, nanos: Number(rest) });
}

function clampDuration({ seconds, nanos }: Duration): Duration {
  const length = clamp(-MAX_DURATION_NS, seconds * SECOND + BigInt(nanos), MAX_DURATION_NS);
  return create(DurationSchema, { seconds: length / SECOND, nanos: Number(length % SECOND) });
}

function clamp(least: bigint, value: bigint, most: bigint): bigint {
  return value < least ? least : value > most ? most : value;
}
