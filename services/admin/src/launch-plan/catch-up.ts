import type { Annotations } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import { invalidArgument } from "../invalid.js";

/** Annotation of a launch plan: which of its schedule's missed runs are made up for. */
export const CATCH_UP_ANNOTATION = "flyte-ts.org/schedule-catch-up";

const policies = ["all", "last", "none"] as const;
export type CatchUpPolicy = (typeof policies)[number];

/**
 * What a launch plan says about missed runs; undefined when it leaves that to the configuration.
 *
 * @throws RpcError INVALID_ARGUMENT for anything but the three policies.
 */
export function catchUpPolicy(annotations: Annotations | undefined): CatchUpPolicy | undefined {
  const value = annotations?.values[CATCH_UP_ANNOTATION];
  if (value === undefined) return undefined;
  const policy = policies.find((known) => known === value);
  if (policy === undefined) {
    throw invalidArgument(`invalid value for annotation ${CATCH_UP_ANNOTATION}: [${value}] is none of ${policies.join(", ")}`);
  }
  return policy;
}
