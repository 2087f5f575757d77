import { divideUp, type Quantity } from "@flyte-ts/domain/quantity";

/** Rounds a quantity to whole units, away from zero, as Kubernetes does to compare resources. */
export function wholeUnits({ nanos }: Quantity): bigint {
  return divideUp(nanos, 1_000_000_000n);
}

export function isWhole({ nanos }: Quantity): boolean {
  // Kubernetes rounds up to thousandths first.
  return divideUp(nanos, 1_000_000n) % 1000n === 0n;
}
