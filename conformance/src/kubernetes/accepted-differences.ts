import type { Difference } from "../recorded/differences.js";

/**
 * A path at which the local cluster may answer differently from kube-apiserver, with the reason.
 */
export interface AcceptedDifference {
  /** Case names; absent: all cases. */
  readonly cases?: readonly string[];
  /** Regular expression that matches the whole path. */
  readonly path: string;
  readonly reason: string;
}

/** Returns the first entry of the list that accepts the difference, or undefined. */
export function findAcceptedDifference(
  list: readonly AcceptedDifference[],
  name: string,
  { path }: Difference,
): AcceptedDifference | undefined {
  return list.find((entry) => (entry.cases === undefined || entry.cases.includes(name)) && new RegExp(`^(?:${entry.path})$`).test(path));
}
