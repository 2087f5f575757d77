// Kubernetes quantities: decimal (n u m k M G T P E), binary (Ki Mi Gi Ti Pi Ei) and exponent (e3) notation.

const DECIMAL: readonly (readonly [string, number])[] = [
  ["n", -9],
  ["u", -6],
  ["m", -3],
  ["", 0],
  ["k", 3],
  ["M", 6],
  ["G", 9],
  ["T", 12],
  ["P", 15],
  ["E", 18],
];
const BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"] as const;
const FORM = /^([+-]?)(\d+(?:\.\d*)?|\.\d+)(?:([KMGTPE]i)|([numkMGTPE])|[eE]([+-]?\d+))?$/;
const NANO = 1_000_000_000n;

interface Parsed {
  /** Billionths, rounded up as Kubernetes does. */
  readonly nanos: bigint;
  readonly binary: boolean;
}

/** A text that is no quantity. */
export class QuantityError extends Error {
  override readonly name = "QuantityError";
}

function parse(text: string): Parsed {
  const match = FORM.exec(text.trim());
  const exponent = Number(match?.[5] ?? 0);
  if (match === null || Math.abs(exponent) > 30)
    throw new QuantityError(`${JSON.stringify(text)} is not a quantity, such as 500m, 2 or 1Gi`);
  const [, sign, digits = "", binarySuffix, decimalSuffix] = match;
  const [whole = "", fraction = ""] = digits.split(".");
  const power = decimalSuffix === undefined ? exponent : (DECIMAL.find(([suffix]) => suffix === decimalSuffix)?.[1] ?? 0);
  const factor = binarySuffix === undefined ? 1n : 1024n ** BigInt(BINARY.indexOf(binarySuffix as (typeof BINARY)[number]));
  const scaled = BigInt(`${whole}${fraction}` || "0") * factor;
  const tens = power + 9 - fraction.length;
  const nanos = tens >= 0 ? scaled * 10n ** BigInt(tens) : ceilDivide(scaled, 10n ** BigInt(-tens));
  return { nanos: sign === "-" ? -nanos : nanos, binary: binarySuffix !== undefined };
}

function ceilDivide(a: bigint, b: bigint): bigint {
  return (a + b - 1n) / b;
}

/** Negative, zero or positive, as for sort. @throws QuantityError */
export function compareQuantities(a: string, b: string): number {
  const difference = parse(a).nanos - parse(b).nanos;
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** Absent and zero both mean: not asked for. @throws QuantityError */
export function isZeroQuantity(text: string | undefined): boolean {
  return text === undefined || text === "" || parse(text).nanos === 0n;
}

/** The form in which Kubernetes writes it back: `1000m` is `1`, `1024Mi` is `1Gi`, `0.5` is `500m`. @throws QuantityError */
export function canonicalQuantity(text: string): string {
  const { nanos, binary } = parse(text);
  if (nanos === 0n) return "0";
  if (binary && nanos % NANO === 0n) return inBinary(nanos / NANO);
  return inDecimal(nanos);
}

function inBinary(value: bigint): string {
  let rest = value;
  let step = 0;
  while (step < BINARY.length - 1 && rest % 1024n === 0n) {
    rest /= 1024n;
    step++;
  }
  return `${rest}${BINARY[step]}`;
}

function inDecimal(nanos: bigint): string {
  let rest = nanos;
  let step = 0;
  while (step < DECIMAL.length - 1 && rest % 1000n === 0n) {
    rest /= 1000n;
    step++;
  }
  return `${rest}${DECIMAL[step]?.[0] ?? ""}`;
}
