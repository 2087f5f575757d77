const suffixes: Readonly<Record<string, readonly [numerator: bigint, denominator: bigint]>> = {
  n: [1n, 10n ** 9n],
  u: [1n, 10n ** 6n],
  m: [1n, 10n ** 3n],
  "": [1n, 1n],
  k: [10n ** 3n, 1n],
  M: [10n ** 6n, 1n],
  G: [10n ** 9n, 1n],
  T: [10n ** 12n, 1n],
  P: [10n ** 15n, 1n],
  E: [10n ** 18n, 1n],
  Ki: [1n << 10n, 1n],
  Mi: [1n << 20n, 1n],
  Gi: [1n << 30n, 1n],
  Ti: [1n << 40n, 1n],
  Pi: [1n << 50n, 1n],
  Ei: [1n << 60n, 1n],
};

/** Most decimal exponent that is read; Kubernetes' own numbers end far below. */
const MAX_EXPONENT = 100;

/** A Kubernetes quantity (`500m`, `1.5Gi`, `2e3`) as a fraction. */
export interface Quantity {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** Reads a quantity; undefined when the text is none. */
export function parseQuantity(text: string): Quantity | undefined {
  const match = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3})|([numkMGTPE]|[KMGTPE]i)?)$/.exec(text);
  if (match === null || text.length > 64) return undefined;
  const [, sign = "", whole = "", fraction = "", exponent, suffix = ""] = match;
  if (whole === "" && fraction === "") return undefined;
  const power = Number(exponent ?? 0);
  if (Math.abs(power) > MAX_EXPONENT) return undefined;
  const [up, down] = suffixes[suffix] ?? [1n, 1n];
  const digits = BigInt(`${whole}${fraction}`) * (sign === "-" ? -1n : 1n);
  return {
    numerator: digits * up * (power > 0 ? 10n ** BigInt(power) : 1n),
    denominator: 10n ** BigInt(fraction.length) * down * (power < 0 ? 10n ** BigInt(-power) : 1n),
  };
}

/** The quantity in whole units, rounded away from zero: how Kubernetes compares resources. */
export function wholeUnits({ numerator, denominator }: Quantity): bigint {
  const quotient = numerator / denominator;
  if (numerator % denominator === 0n) return quotient;
  return quotient + (numerator > 0n ? 1n : -1n);
}

export function isWhole({ numerator, denominator }: Quantity): boolean {
  // Below a thousandth nothing counts: Kubernetes looks at thousandths.
  const milli = wholeUnits({ numerator: numerator * 1000n, denominator });
  return milli % 1000n === 0n;
}
