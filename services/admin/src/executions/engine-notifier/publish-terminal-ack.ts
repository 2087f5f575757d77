import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { executionRecordedSubject } from "@flyte-ts/bus-contract";
import { shardOf } from "@flyte-ts/domain/name";
import type { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { ExecutionRecordedSchema } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import type { Bus } from "@flyte-ts/messaging";
import type { ExecutionName } from "../model/identifier.js";
import { namespaceOf } from "../../platform/index.js";
import { workflowPhaseName } from "../model/phase-name.js";

export interface TerminalAckDeps {
  readonly bus: Bus;
  readonly clock: () => Date;
  readonly config: { readonly namespaceTemplate: string };
}

/**
 * Acknowledges to propeller that an execution's end is stored, so that its resource can be deleted.
 * The message may be lost: propeller repeats the terminal event until it is acknowledged.
 */
export function publishTerminalAck({ bus, clock, config }: TerminalAckDeps, id: ExecutionName, phase: WorkflowExecution_Phase): void {
  const message = create(ExecutionRecordedSchema, {
    workflowKey: `${namespaceOf(config.namespaceTemplate, id.project, id.domain)}/${id.name}`,
    phase: workflowPhaseName(phase),
    recordedAt: timestampFromDate(clock()),
  });
  bus.publishEphemeral(executionRecordedSubject(shardOf(id.name)), toBinary(ExecutionRecordedSchema, message));
}
