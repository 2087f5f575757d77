import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { datetimeLiteral } from "@flyte-ts/domain/literal";
import { scheduledExecutionName } from "@flyte-ts/domain/name";
import {
  type ExecutionCreateRequest,
  ExecutionCreateRequestSchema,
  ExecutionMetadata_ExecutionMode,
} from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { Schedule } from "./schedule.js";

/**
 * Request to start the run of a schedule for a time (ms since the epoch): equal for equal runs,
 * including its name.
 */
export function runRequest(
  { launchPlan, kickoffInput }: Pick<Schedule, "launchPlan" | "kickoffInput">,
  at: number,
): ExecutionCreateRequest {
  const { project, domain } = launchPlan;
  return create(ExecutionCreateRequestSchema, {
    project,
    domain,
    name: scheduledExecutionName(launchPlan, at),
    spec: {
      launchPlan: { resourceType: ResourceType.LAUNCH_PLAN, ...launchPlan },
      metadata: { mode: ExecutionMetadata_ExecutionMode.SCHEDULED, scheduledAt: timestampFromMs(at) },
    },
    inputs: { literals: kickoffInput === "" ? {} : { [kickoffInput]: datetimeLiteral(new Date(at)) } },
  });
}
