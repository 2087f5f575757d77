import { EVENT_STREAM, taskEventFilter } from "@flyte-ts/bus-contract";
import { decodeMessage } from "@flyte-ts/proto-codec";
import { TaskEventSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { type Bus, type BusMessage, type Subscription, checkMessageLimits } from "@flyte-ts/messaging";
import type { ForwardingSink } from "./event-sink.js";

export interface ForwardOptions {
  readonly bus: Pick<Bus, "subscribe">;
  readonly sink: ForwardingSink;
}

/**
 * Longer than the wait in the sink's queue; the recorder answers duplicates with ALREADY_EXISTS.
 */
const ACK_WAIT_MS = 120_000;

/**
 * Maximum of events that wait in the sink, which is fair between executions; the bus delivers in
 * order of arrival, so beyond this number a new execution waits for those before it.
 */
const MAX_IN_FLIGHT = 8_000;

/**
 * Forwards events of plugin services to a recorder that does not consume the bus; acknowledges them
 * when the recorder has them. Those still in the sink when it is closed are redelivered.
 */
export function forwardTaskEvents({ bus, sink }: ForwardOptions): Promise<Subscription> {
  const take = (message: BusMessage): void => {
    try {
      const { event, workflowKey, outputs, partOfArray } = decodeMessage(
        TaskEventSchema,
        checkMessageLimits(TaskEventSchema, message.data),
      );
      // Items of arrays have no task executions of their own.
      if (event !== undefined && !partOfArray) {
        void sink.forward(workflowKey, event, outputs).then((settled) => (settled ? message.ack() : message.nak()));
        return;
      }
      message.ack();
    } catch (error) {
      message.discard(String(error));
    }
  };
  return bus.subscribe(
    {
      stream: EVENT_STREAM.name,
      durable: "propeller-forward",
      subjects: [taskEventFilter],
      maxInFlight: MAX_IN_FLIGHT,
      batch: 500,
      ackWaitMs: ACK_WAIT_MS,
    },
    (messages) => {
      for (const message of messages) take(message);
    },
  );
}
