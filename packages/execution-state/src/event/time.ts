import { create } from "@bufbuild/protobuf";
import { type Duration, DurationSchema, type Timestamp, TimestampSchema } from "@bufbuild/protobuf/wkt";

const NANOS_PER_SECOND = 1_000_000_000n;
/** Maximum of a signed 64-bit integer: a time in April 2262. */
const MAX_NANOS = 2n ** 63n - 1n;

/**
 * Converts to nanoseconds since the epoch for 64-bit columns, which the difference of two times
 * must also fit. Times before the epoch (Go's zero time is in the year 1) or beyond the range
 * become the nearest valid time.
 */
export function nanosOf(timestamp: Timestamp): bigint {
  return clampNanos(timestamp.seconds * NANOS_PER_SECOND + BigInt(timestamp.nanos));
}

/** Clamps to the times that rows can hold, nanoseconds since the epoch. */
export function clampNanos(nanos: bigint): bigint {
  return nanos < 0n ? 0n : nanos > MAX_NANOS ? MAX_NANOS : nanos;
}

/** Maximum difference between the clocks of two services. */
const MAX_CLOCK_SKEW_NANOS = 3_600n * NANOS_PER_SECOND;

/**
 * Raises `reported`, a time of another clock, to `bound`, which it cannot precede. Keeps a time
 * that precedes `bound` by more than clocks differ: the sender intends it, as when a client reports
 * work done elsewhere.
 */
export function notBefore(bound: bigint, reported: bigint): bigint {
  return reported < bound && bound - reported <= MAX_CLOCK_SKEW_NANOS ? bound : reported;
}

export function nanosOfDate(date: Date): bigint {
  return BigInt(date.getTime()) * 1_000_000n;
}

export function timestampOf(nanos: bigint): Timestamp {
  const rest = ((nanos % NANOS_PER_SECOND) + NANOS_PER_SECOND) % NANOS_PER_SECOND;
  return create(TimestampSchema, { seconds: (nanos - rest) / NANOS_PER_SECOND, nanos: Number(rest) });
}

/** Seconds and nanoseconds have one sign, as protobuf requires. */
export function durationOf(nanos: bigint): Duration {
  return create(DurationSchema, { seconds: nanos / NANOS_PER_SECOND, nanos: Number(nanos % NANOS_PER_SECOND) });
}

/** True when a time is present: senders omit it or send zero. */
export function isSet(timestamp: Timestamp | undefined): timestamp is Timestamp {
  return timestamp !== undefined && (timestamp.seconds !== 0n || timestamp.nanos !== 0);
}
