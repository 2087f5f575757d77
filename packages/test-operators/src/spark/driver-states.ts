import type { Pod } from "@flyte-ts/pod-task";

/**
 * Lists the states of an application that follow from the driver's phase, in order. A failure has
 * an error.
 */
export function statesOf({ status }: Pod): readonly (readonly [string, string?])[] {
  const terminated = status?.containerStatuses?.[0]?.state?.terminated;
  switch (status?.phase) {
    case "Running":
      return [["RUNNING"]];
    case "Succeeded":
      return [["SUCCEEDING"], ["COMPLETED"]];
    case "Failed": {
      const error = `driver container failed with ExitCode: ${terminated?.exitCode}, Reason: ${terminated?.reason}`;
      return [["FAILING"], ["FAILED", error]];
    }
    default:
      return [];
  }
}
