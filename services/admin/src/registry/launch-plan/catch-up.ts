import type { Annotations } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import { invalidArgument } from "../../platform/index.js";
import { type CatchUpPolicy, policies } from "../store/schedules.js";

/** Annotation of a launch plan: its catch-up policy for missed runs of its schedule. */
export const CATCH_UP_ANNOTATION = "flyte-ts.org/schedule-catch-up";

/**
 * Returns a launch plan's catch-up policy; undefined: the configured default applies.
 *
 * @throws RpcError INVALID_ARGUMENT for an unknown policy.
 */
export function catchUpPolicy(annotations: Annotations | undefined): CatchUpPolicy | undefined {
  const value = annotations?.values[CATCH_UP_ANNOTATION];
  if (value === undefined) return undefined;
  const policy = policies.find((known) => known === value);
  if (policy === undefined) {
    throw invalidArgument(`invalid value for annotation ${CATCH_UP_ANNOTATION}: [${value}] is not one of ${policies.join(", ")}`);
  }
  return policy;
}
