import { DesiredState } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";

/**
 * Orders the desired states of an attempt, which only move RUN → ABORT → FINALIZE. The request
 * further on is the newer one, in whatever order they arrive: a RUN after an ABORT is outdated and
 * never starts anything.
 */
export function desiredRank(desired: DesiredState): number {
  switch (desired) {
    case DesiredState.RUN:
      return 1;
    case DesiredState.ABORT:
      return 2;
    case DesiredState.FINALIZE:
      return 3;
    // Refers to no single attempt.
    case DesiredState.ABORT_ALL:
    case DesiredState.UNSPECIFIED:
      return 0;
  }
}
