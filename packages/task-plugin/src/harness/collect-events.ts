import { fromBinary } from "@bufbuild/protobuf";
import { EVENT_STREAM, taskEventFilter } from "@flyte-ts/bus-contract";
import { type TaskEvent, TaskEventSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { Bus } from "@flyte-ts/messaging";

/**
 * Collects every task event of a real bus, in order of arrival; the list grows while the bus is
 * open.
 */
export async function collectTaskEvents(bus: Bus): Promise<readonly TaskEvent[]> {
  const events: TaskEvent[] = [];
  await bus.ensureStream(EVENT_STREAM);
  await bus.subscribe(
    { stream: EVENT_STREAM.name, durable: "test", subjects: [taskEventFilter], maxInFlight: 1_000, batch: 1_000 },
    (messages) => {
      for (const message of messages) {
        events.push(fromBinary(TaskEventSchema, message.data));
        message.ack();
      }
    },
  );
  return events;
}
