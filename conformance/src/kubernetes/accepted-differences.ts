import type { Difference } from "../recorded/differences.js";

/** A place where our answer may differ from kube-apiserver's, and why it is right that it does. */
export interface AcceptedDifference {
  /** Case names; absent: every case. */
  readonly cases?: readonly string[];
  /** Regular expression over the whole path. */
  readonly path: string;
  readonly reason: string;
}

/** The first entry of the list that accepts the difference, or undefined. */
export function acceptance(list: readonly AcceptedDifference[], name: string, { path }: Difference): AcceptedDifference | undefined {
  return list.find((entry) => (entry.cases === undefined || entry.cases.includes(name)) && new RegExp(`^(?:${entry.path})$`).test(path));
}
