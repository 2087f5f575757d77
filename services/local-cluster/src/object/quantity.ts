/** A resource quantity that does not parse. */
export class QuantityError extends Error {
  override readonly name = "QuantityError";
}

const PATTERN = /^([+-]?(?:\d+\.?\d*|\.\d+))(Ki|Mi|Gi|Ti|Pi|Ei|n|u|m|k|M|G|T|P|E|[eE][+-]?\d+)?$/;
const THOUSANDTHS: Readonly<Record<string, bigint>> = {
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

/**
 * A Kubernetes quantity in thousandths, rounded up: "500m" → 500n, "2" → 2000n,
 * "1Ki" → 1024000n.
 *
 * @throws QuantityError
 */
export function parseQuantity(value: unknown): bigint {
  const text = typeof value === "number" ? String(value) : value;
  const parts = typeof text === "string" ? PATTERN.exec(text) : null;
  if (parts === null) {
    throw new QuantityError("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
  }
  const [, number = "0", suffix = ""] = parts;
  const negative = number.startsWith("-");
  const [whole = "0", fraction = ""] = number.replace(/^[+-]/, "").split(".");
  // Nine decimals are kept, down to "n"; then rounded up to thousandths.
  const nano = BigInt(`${whole || "0"}${fraction.padEnd(9, "0").slice(0, 9)}`) * scale(suffix).up;
  const per = 1_000_000n * scale(suffix).down;
  const thousandths = (nano + per - 1n) / per;
  return negative ? -thousandths : thousandths;
}

function scale(suffix: string): { up: bigint; down: bigint } {
  const up = THOUSANDTHS[suffix];
  if (up !== undefined) return { up, down: 1n };
  if (suffix === "m") return { up: 1n, down: 1_000n };
  if (suffix === "u") return { up: 1n, down: 1_000_000n };
  if (suffix === "n") return { up: 1n, down: 1_000_000_000n };
  if (/^[eE]/.test(suffix)) {
    const power = Number(suffix.slice(1));
    return power >= 0 ? { up: 10n ** BigInt(power), down: 1n } : { up: 1n, down: 10n ** BigInt(-power) };
  }
  return { up: 1n, down: 1n };
}

/** Thousandths as a quantity; `binary` prefers Ki, Mi, Gi. */
export function formatQuantity(thousandths: bigint, binary = false): string {
  if (thousandths % 1000n !== 0n) return `${thousandths}m`;
  const whole = thousandths / 1000n;
  if (whole === 0n) return "0";
  const units = binary ? ["Ei", "Pi", "Ti", "Gi", "Mi", "Ki"] : ["E", "P", "T", "G", "M", "k"];
  for (const unit of units) {
    const size = THOUSANDTHS[unit] as bigint;
    if (whole % size === 0n) return `${whole / size}${unit}`;
  }
  return String(whole);
}
