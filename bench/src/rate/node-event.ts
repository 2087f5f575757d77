import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { executionEventSubject } from "@flyte-ts/bus-contract";
import { shardOf } from "@flyte-ts/domain/name";
import type { NodeExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { ExecutionEventSchema } from "@flyte-ts/idl/flytets/event/v1/event_pb";

/** Message of propeller on the bus. */
export interface BusMessage {
  readonly subject: string;
  readonly data: Uint8Array;
}

export interface NodeEventOptions {
  readonly project: string;
  readonly domain: string;
  /** Name of the execution. */
  readonly name: string;
  readonly nodeId: string;
  /** From 1; events of a node have ascending numbers. */
  readonly sequence: number;
  readonly phase: NodeExecution_Phase;
  readonly occurredAtMs: number;
}

/** Builds the event of a node as propeller publishes it. */
export function nodeEvent({ project, domain, name, nodeId, sequence, phase, occurredAtMs }: NodeEventOptions): BusMessage {
  const value = {
    id: { nodeId, executionId: { project, domain, name } },
    phase,
    occurredAt: timestampFromMs(occurredAtMs),
    specNodeId: nodeId,
  };
  const event = create(ExecutionEventSchema, { sequence: BigInt(sequence), event: { case: "node", value } });
  return { subject: executionEventSubject(shardOf(name)), data: toBinary(ExecutionEventSchema, event) };
}
