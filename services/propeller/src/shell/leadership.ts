import { fromBinary } from "@bufbuild/protobuf";
import { EVENT_STREAM, executionRecordedFilter, TASK_STREAM, taskEventFilter, wakeFilter } from "@flyte-ts/domain";
import { ExecutionRecordedSchema, WakeSchema } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import { TaskEventSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { Bus, BusMessage, Subscription } from "@flyte-ts/messaging";
import type { Logger } from "@flyte-ts/telemetry";
import { Controller, type ControllerOptions } from "./controller.js";

export interface LeadershipOptions {
  readonly bus: Bus;
  readonly logger: Logger;
  readonly controller: ControllerOptions;
}

/** What this process does while it holds the Lease: a controller and its ears on the bus. A standby holds neither. */
export class Leadership {
  #controller: Controller | undefined;
  #subscriptions: Subscription[] = [];
  /** Begin and end follow each other, however fast the Lease changes hands. */
  #change: Promise<void> = Promise.resolve();

  constructor(private readonly options: LeadershipOptions) {}

  get controller(): Controller | undefined {
    return this.#controller;
  }

  begin(): void {
    this.#change = this.#change
      .then(() => this.#begin())
      .catch((error: unknown) => this.options.logger.fatal({ error: String(error) }, "taking over failed"));
  }

  end(): Promise<void> {
    // At once, not after what is queued: another process may be about to take over.
    const stopping = this.#controller?.stop();
    this.#change = this.#change.then(async () => {
      await stopping;
      await Promise.all(this.#subscriptions.splice(0).map((subscription) => subscription.close()));
      await this.#controller?.stop();
      this.#controller = undefined;
    });
    return this.#change;
  }

  async #begin(): Promise<void> {
    const { bus, logger } = this.options;
    logger.info("leading");
    const controller = new Controller(this.options.controller);
    this.#controller = controller;
    await bus.ensureStream(TASK_STREAM);
    await bus.ensureStream(EVENT_STREAM);
    await controller.start();
    this.#subscriptions.push(
      await bus.subscribe(
        { stream: EVENT_STREAM.name, durable: "propeller", subjects: [taskEventFilter], maxInFlight: 5_000, batch: 500 },
        (messages) => {
          for (const message of messages) this.#takeTaskEvent(controller, message);
        },
      ),
      bus.subscribeVolatile(executionRecordedFilter, (_, data) => {
        const { workflowKey, phase } = fromBinary(ExecutionRecordedSchema, data);
        controller.observe(workflowKey, { kind: "recorded", phase });
      }),
      bus.subscribeVolatile(wakeFilter, (_, data) => {
        const { workflowKey, subject } = fromBinary(WakeSchema, data);
        if (subject.case !== undefined) controller.observe(workflowKey, { kind: "awaited", [subject.case]: subject.value });
      }),
    );
  }

  /**
   * Acknowledged as soon as it stands in memory: if this process ends before the
   * status is written, the next one asks the plugin service again.
   */
  #takeTaskEvent(controller: Controller, message: BusMessage): void {
    try {
      const event = fromBinary(TaskEventSchema, message.data);
      controller.observe(event.workflowKey, { kind: "taskEvent", event });
    } catch (error) {
      this.options.logger.error({ subject: message.subject, error: String(error) }, "task event cannot be read, dropped");
    }
    message.ack();
  }
}
