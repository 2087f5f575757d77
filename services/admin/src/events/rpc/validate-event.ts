import { create, toBinary } from "@bufbuild/protobuf";
import { EventErrorIncompatibleClusterSchema, EventFailureReasonSchema } from "@flyte-ts/idl/flyteidl/admin/event_pb";
import { type LiteralMap, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { Code, RpcError } from "@flyte-ts/rpc";
import { InvalidEventError } from "@flyte-ts/execution-state";
import { invalidArgument } from "../../platform/index.js";

/** Propeller's default producer id; it matches any cluster. */
const DEFAULT_PRODUCER = "propeller";

/** True when the producer of an event is a cluster. */
export function isClusterProducer(producer: string): boolean {
  return producer !== "" && producer !== DEFAULT_PRODUCER;
}

/**
 * @throws RpcError FAILED_PRECONDITION when the event comes from another cluster than the
 *   execution's.
 */
export function assertProducerCluster(producer: string, cluster: string): void {
  if (!isClusterProducer(producer) || producer === cluster) return;
  const message = create(EventFailureReasonSchema, {
    reason: { case: "incompatibleCluster", value: create(EventErrorIncompatibleClusterSchema, { cluster: producer }) },
  });
  throw new RpcError(
    Code.FAILED_PRECONDITION,
    `Cluster/producer from event [${producer}] does not match existing workflow execution clusterInDB: [${cluster}]`,
    { details: [{ schema: EventFailureReasonSchema, message }] },
  );
}

/**
 * @throws RpcError RESOURCE_EXHAUSTED when inline values of an event exceed the limit; 0 means no
 *   limit.
 */
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

/** Runs an event parser and converts its error to INVALID_ARGUMENT. */
export function asInvalidArgument<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof InvalidEventError) throw invalidArgument(error.message);
    throw error;
  }
}
