import { create } from "@bufbuild/protobuf";
import { type Duration, DurationSchema, type Timestamp, TimestampSchema } from "@bufbuild/protobuf/wkt";

const SECOND = 1_000_000_000n;
/** In April 2262. */
const LAST = 2n ** 63n - 1n;

/**
 * Nanoseconds since the epoch, for the columns of rows: they hold 64 bits, and so must the time between two of them. What is
 * earlier than the epoch (Go's zero time is in the year 1) or later than they can say is told as the nearest time that they can.
 */
export function nanosOf(timestamp: Timestamp): bigint {
  return storable(timestamp.seconds * SECOND + BigInt(timestamp.nanos));
}

/** The nearest of the times that rows hold, nanoseconds since the epoch. */
export function storable(nanos: bigint): bigint {
  return nanos < 0n ? 0n : nanos > LAST ? LAST : nanos;
}

/** Bound of the difference between the clocks of two services. */
const CLOCKS_DIFFER_BY = 3_600n * SECOND;

/**
 * Moves a time that another clock told up to a time that it cannot precede. A time that precedes it by more than clocks differ stays: it
 * was meant so, as where someone reports what ran elsewhere.
 */
export function notBefore(bound: bigint, told: bigint): bigint {
  return told < bound && bound - told <= CLOCKS_DIFFER_BY ? bound : told;
}

export function nanosOfDate(date: Date): bigint {
  return BigInt(date.getTime()) * 1_000_000n;
}

export function timestampOf(nanos: bigint): Timestamp {
  const rest = ((nanos % SECOND) + SECOND) % SECOND;
  return create(TimestampSchema, { seconds: (nanos - rest) / SECOND, nanos: Number(rest) });
}

/** Seconds and nanoseconds have one sign, as protobuf wants it. */
export function durationOf(nanos: bigint): Duration {
  return create(DurationSchema, { seconds: nanos / SECOND, nanos: Number(nanos % SECOND) });
}

/** Whether a time was given at all: senders leave it out or send zero. */
export function isSet(timestamp: Timestamp | undefined): timestamp is Timestamp {
  return timestamp !== undefined && (timestamp.seconds !== 0n || timestamp.nanos !== 0);
}

/** Whether it is a time at all: of the years 1 to 9999, as protobuf says. */
export function isTime(timestamp: Timestamp): boolean {
  return timestamp.seconds >= -62_135_596_800n && timestamp.seconds <= 253_402_300_799n && timestamp.nanos >= 0 && timestamp.nanos < 1e9;
}
