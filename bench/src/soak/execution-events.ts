import { fromBinary } from "@bufbuild/protobuf";
import { EVENT_STREAM, executionEventFilter } from "@flyte-ts/bus-contract";
import type { WorkflowExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { ExecutionEventSchema } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import { connectBus } from "@flyte-ts/messaging";
import { createLogger } from "@flyte-ts/telemetry";

export interface ExecutionListener {
  /** Called with each event of an execution, possibly more than once. */
  readonly onEvent: (event: { readonly name: string; readonly phase: Phase; readonly occurredAtMs: number }) => void;
}

/** Time without a sign of life after which the server deletes the consumer, ms. */
const INACTIVE_MS = 60_000;

/** Follows the events of executions on the bus. Resolves to a function that ends it. */
export async function followExecutions(busUrl: string, { onEvent }: ExecutionListener): Promise<() => Promise<void>> {
  const bus = await connectBus({ url: busUrl, name: "flyte-ts bench soak", logger: createLogger({ service: "bench", level: "warn" }) });
  const consumer = { durable: "bench-soak", subjects: [executionEventFilter], maxInFlight: 20_000, batch: 500 };
  await bus.subscribeExclusive({ ...consumer, stream: EVENT_STREAM.name, inactiveThresholdMs: INACTIVE_MS }, (messages) => {
    for (const message of messages) {
      const { event } = fromBinary(ExecutionEventSchema, message.data);
      if (event.case === "workflow") {
        const { executionId, phase, occurredAt } = event.value;
        const occurredAtMs = Number(occurredAt?.seconds ?? 0n) * 1_000 + (occurredAt?.nanos ?? 0) / 1e6;
        onEvent({ name: executionId?.name ?? "", phase, occurredAtMs });
      }
      message.ack();
    }
  });
  return () => bus.close();
}
