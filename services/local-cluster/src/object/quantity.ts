// Imports one module of the domain package, since the others load protobuf schemas.
import { divideUp, parseQuantity as parse } from "@flyte-ts/domain/quantity";

/** A resource quantity is invalid. */
export class QuantityError extends Error {
  override readonly name = "QuantityError";
}

/**
 * Parses a Kubernetes quantity to thousandths, rounded up: "500m" → 500n, "2" → 2000n, "1Ki" →
 * 1024000n.
 *
 * @throws QuantityError
 */
export function parseQuantity(value: unknown): bigint {
  const text = typeof value === "number" ? String(value) : value;
  const quantity = typeof text === "string" ? parse(text) : undefined;
  if (quantity === undefined) {
    throw new QuantityError("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
  }
  return divideUp(quantity.nanos, 1_000_000n);
}

const SIZES: Readonly<Record<string, bigint>> = {
  k: 1_000n,
  M: 1_000_000n,
  G: 1_000_000_000n,
  T: 1_000_000_000_000n,
  P: 1_000_000_000_000_000n,
  E: 1_000_000_000_000_000_000n,
  Ki: 1n << 10n,
  Mi: 1n << 20n,
  Gi: 1n << 30n,
  Ti: 1n << 40n,
  Pi: 1n << 50n,
  Ei: 1n << 60n,
};

/** Formats thousandths as a quantity; `binary` prefers Ki, Mi, Gi. */
export function formatQuantity(thousandths: bigint, binary = false): string {
  if (thousandths % 1000n !== 0n) return `${thousandths}m`;
  const whole = thousandths / 1000n;
  if (whole === 0n) return "0";
  const units = binary ? ["Ei", "Pi", "Ti", "Gi", "Mi", "Ki"] : ["E", "P", "T", "G", "M", "k"];
  for (const unit of units) {
    const size = SIZES[unit] as bigint;
    if (whole % size === 0n) return `${whole / size}${unit}`;
  }
  return String(whole);
}
