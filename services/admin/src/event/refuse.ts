import { create, toBinary } from "@bufbuild/protobuf";
import {
  EventErrorAlreadyInTerminalStateSchema,
  EventErrorIncompatibleClusterSchema,
  EventFailureReasonSchema,
} from "@flyte-ts/idl/flyteidl/admin/event_pb";
import { type LiteralMap, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { Code, RpcError } from "@flyte-ts/rpc";
import { BadEvent } from "@flyte-ts/execution-state";
import { invalidArgument } from "../invalid.js";

/** An event, or a request, for something that has ended. */
export function alreadyEnded(message: string, currentPhase: string): RpcError {
  const reason = create(EventFailureReasonSchema, {
    reason: { case: "alreadyInTerminalState", value: create(EventErrorAlreadyInTerminalStateSchema, { currentPhase }) },
  });
  return new RpcError(Code.FAILED_PRECONDITION, message, { details: [{ schema: EventFailureReasonSchema, message: reason }] });
}

/** The id that propeller sends unless it is configured otherwise; it stands for whatever cluster the execution is in. */
const DEFAULT_PRODUCER = "propeller";

/** Whether an event names a cluster as the one that it comes from. */
export function namesCluster(producer: string): boolean {
  return producer !== "" && producer !== DEFAULT_PRODUCER;
}

/** @throws RpcError FAILED_PRECONDITION when the event comes from another cluster than the execution was sent to. */
export function checkProducer(producer: string, cluster: string): void {
  if (!namesCluster(producer) || producer === cluster) return;
  const message = create(EventFailureReasonSchema, {
    reason: { case: "incompatibleCluster", value: create(EventErrorIncompatibleClusterSchema, { cluster: producer }) },
  });
  throw new RpcError(
    Code.FAILED_PRECONDITION,
    `Cluster/producer from event [${producer}] does not match existing workflow execution clusterInDB: [${cluster}]`,
    { details: [{ schema: EventFailureReasonSchema, message }] },
  );
}

/** @throws RpcError RESOURCE_EXHAUSTED when values inside an event are larger than admin keeps; 0 means no limit. */
export function checkOutputSize(outputs: LiteralMap | undefined, maxBytes: number): void {
  if (outputs === undefined || maxBytes === 0) return;
  const size = toBinary(LiteralMapSchema, outputs).length;
  if (size > maxBytes) {
    throw new RpcError(
      Code.RESOURCE_EXHAUSTED,
      `Output data size ${size} exceeds the limit of ${maxBytes} bytes (remoteData.maxSizeInBytes)`,
    );
  }
}

/** Runs a reader of events, whose complaint becomes one about the request. */
export function reading<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof BadEvent) throw invalidArgument(error.message);
    throw error;
  }
}
