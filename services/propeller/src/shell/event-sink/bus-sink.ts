import { executionEventSubject } from "@flyte-ts/bus-contract";
import { shardOf } from "@flyte-ts/domain/name";
import { encodeMessage } from "@flyte-ts/proto-codec";
import { ExecutionEventSchema } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import type { Bus } from "@flyte-ts/messaging";
import type { EventSink } from "./event-sink.js";

/**
 * Sends events over the bus. Admin ingests them in batches, checks that the resource belongs to the
 * execution, and confirms with ExecutionRecorded.
 */
export function busSink(bus: Pick<Bus, "publish">): EventSink {
  return {
    publish: (key, event, fence) => {
      // A resource has the name of its execution.
      const execution = key.slice(key.indexOf("/") + 1);
      return bus.publish(
        executionEventSubject(shardOf(execution)),
        encodeMessage(ExecutionEventSchema, { ...event, workflowKey: key }),
        fence,
      );
    },
  };
}
