import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { executionWakeSubject } from "@flyte-ts/bus-contract";
import { shardOf } from "@flyte-ts/domain/name";
import { WakeSchema } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import type { ExecutionsDeps } from "../deps.js";
import { namespaceOf } from "../../platform/index.js";
import type { ExecutionName } from "../model/identifier.js";

export type WakeUpDeps = Pick<ExecutionsDeps, "bus" | "config">;

/**
 * Publishes a wake-up: the condition of a waiting node of this execution has occurred. Call it
 * after the commit. The message may be lost: propeller also polls.
 */
export function publishWakeUp(
  { bus, config }: WakeUpDeps,
  waiting: ExecutionName,
  subject: MessageInitShape<typeof WakeSchema>["subject"],
): void {
  const workflowKey = `${namespaceOf(config.namespaceTemplate, waiting.project, waiting.domain)}/${waiting.name}`;
  const message = create(WakeSchema, { workflowKey, ...(subject && { subject }) });
  bus.publishEphemeral(executionWakeSubject(shardOf(waiting.name)), toBinary(WakeSchema, message));
}
