import { divideUp, type Quantity } from "@flyte-ts/domain";

/** The quantity in whole units, rounded away from zero: how Kubernetes compares resources. */
export function wholeUnits({ nanos }: Quantity): bigint {
  return divideUp(nanos, 1_000_000_000n);
}

export function isWhole({ nanos }: Quantity): boolean {
  // Below a thousandth nothing counts: Kubernetes looks at thousandths.
  return divideUp(nanos, 1_000_000n) % 1000n === 0n;
}
