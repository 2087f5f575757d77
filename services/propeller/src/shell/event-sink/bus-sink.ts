import { encodeMessage, executionEventSubject, shardOf } from "@flyte-ts/domain";
import { ExecutionEventSchema } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import type { Bus } from "@flyte-ts/messaging";
import type { EventSink } from "./event-sink.js";

/** Events over the bus: our own admin takes them in batches, compares the resource that tells with the execution that is told of, and says by ExecutionRecorded what it has. */
export function busSink(bus: Pick<Bus, "publish">): EventSink {
  return {
    publish: (key, event, asLongAs) => {
      // Resources are named for their executions.
      const execution = key.slice(key.indexOf("/") + 1);
      return bus.publish(
        executionEventSubject(shardOf(execution)),
        encodeMessage(ExecutionEventSchema, { ...event, workflowKey: key }),
        asLongAs,
      );
    },
  };
}
