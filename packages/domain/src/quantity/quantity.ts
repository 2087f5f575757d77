// Kubernetes quantities (apimachinery/pkg/api/resource): digits with an optional fraction and a
// suffix.
const QUANTITY = /^([+-]?)(\d*)(?:\.(\d*))?(?:(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)|[eE]([+-]?\d+))?$/;

const DECIMAL: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, "": 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const DECIMAL_SUFFIX: Readonly<Record<number, string>> = {
  [-9]: "n",
  [-6]: "u",
  [-3]: "m",
  0: "",
  3: "k",
  6: "M",
  9: "G",
  12: "T",
  15: "P",
  18: "E",
};
const BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const NANO = 1_000_000_000n;

/** Maximum length of a text that is parsed: Kubernetes' own numbers are far shorter. */
const MAX_LENGTH = 64;
const MAX_EXPONENT = 64;

/** A Kubernetes quantity (`500m`, `1.5Gi`, `2e3`). */
export interface Quantity {
  /** Billionths, rounded away from zero. */
  readonly nanos: bigint;
  /** Notation, which Kubernetes preserves. */
  readonly form: "decimal" | "binary" | "exponent";
}

/** The text is not a quantity. */
export class QuantityError extends RangeError {
  override readonly name = "QuantityError";
}

/**
 * True when Kubernetes parses this as a quantity: a decimal number with a binary or decimal suffix,
 * or with an exponent.
 */
export function isQuantity(text: string): boolean {
  const match = QUANTITY.exec(text);
  return match !== null && `${match[2] ?? ""}${match[3] ?? ""}` !== "";
}

/** Parses a quantity; undefined for an invalid text or a number beyond the supported range. */
export function parseQuantity(text: string): Quantity | undefined {
  const match = text.length > MAX_LENGTH ? null : QUANTITY.exec(text);
  const [, sign = "", whole = "", fraction = "", suffix = "", exponentText] = match ?? [];
  if (whole + fraction === "") return undefined;
  const digits = BigInt(whole + fraction) * (sign === "-" ? -1n : 1n);
  const binary = BINARY.indexOf(suffix);
  if (binary > 0) return { nanos: divideUp(digits * NANO * 1024n ** BigInt(binary), 10n ** BigInt(fraction.length)), form: "binary" };
  const exponent = exponentText === undefined ? (DECIMAL[suffix] ?? 0) : Number(exponentText);
  if (Math.abs(exponent) > MAX_EXPONENT) return undefined;
  const scale = exponent + 9 - fraction.length;
  const nanos = scale >= 0 ? digits * 10n ** BigInt(scale) : divideUp(digits, 10n ** BigInt(-scale));
  return { nanos, form: exponentText === undefined ? "decimal" : "exponent" };
}

/**
 * Formats a quantity as Kubernetes does: no fraction, the largest suffix that needs none, rounded
 * up to nano units.
 * @throws QuantityError
 */
export function canonicalQuantity(text: string): string {
  const { nanos, form } = parse(text);
  if (nanos === 0n) return "0";
  // A binary suffix would have to round values below 1024 and fractions, so Kubernetes switches to
  // decimal.
  if (form === "binary" && nanos % NANO === 0n && (nanos >= 1024n * NANO || nanos <= -1024n * NANO)) return binaryText(nanos);
  return decimalText(nanos, form === "exponent");
}

/** True for a quantity of zero. @throws QuantityError */
export function isZeroQuantity(text: string): boolean {
  return parse(text).nanos === 0n;
}

function parse(text: string): Quantity {
  const quantity = parseQuantity(text);
  if (quantity === undefined) throw new QuantityError(`${JSON.stringify(text)} is not a quantity, such as 500m, 2 or 1Gi`);
  return quantity;
}

/** Quotient rounded away from zero, as in Kubernetes. */
export function divideUp(value: bigint, by: bigint): bigint {
  const quotient = value / by;
  if (quotient * by === value) return quotient;
  return value < 0n ? quotient - 1n : quotient + 1n;
}

function decimalText(nanos: bigint, asExponent: boolean): string {
  let mantissa = nanos;
  let exponent = -9;
  while (exponent < 18 && mantissa % 1000n === 0n) {
    mantissa /= 1000n;
    exponent += 3;
  }
  if (!asExponent) return `${mantissa}${DECIMAL_SUFFIX[exponent]}`;
  return exponent === 0 ? String(mantissa) : `${mantissa}e${exponent}`;
}

function binaryText(nanos: bigint): string {
  let mantissa = nanos / NANO;
  let power = 0;
  while (power < BINARY.length - 1 && mantissa % 1024n === 0n) {
    mantissa /= 1024n;
    power++;
  }
  return `${mantissa}${BINARY[power]}`;
}

/**
 * Negative, zero or positive as `a` is less than, equal to or more than `b`. @throws QuantityError
 */
export function compareQuantities(a: string, b: string): number {
  const difference = parse(a).nanos - parse(b).nanos;
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}
