import { divideUp, parseQuantity } from "@flyte-ts/domain/quantity";

const NANO = 1_000_000_000n;

/** CPUs, rounded up. An invalid quantity counts as 1: Kubernetes refuses the pod. */
export function wholeCpus(quantity: string): number {
  const parsed = parseQuantity(quantity);
  return parsed === undefined ? 1 : Number(divideUp(parsed.nanos, NANO));
}
