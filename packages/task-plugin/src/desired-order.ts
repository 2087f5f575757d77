import { DesiredState } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";

/**
 * An attempt's desired state only ever moves RUN → ABORT → FINALIZE. So of two requests
 * the one further on is the newer, however they arrive: a RUN that comes after an ABORT
 * was overtaken and never starts anything.
 */
export function desiredOrder(desired: DesiredState): number {
  switch (desired) {
    case DesiredState.RUN:
      return 1;
    case DesiredState.ABORT:
      return 2;
    case DesiredState.FINALIZE:
      return 3;
    // Names no attempt.
    case DesiredState.ABORT_ALL:
    case DesiredState.UNSPECIFIED:
      return 0;
  }
}
