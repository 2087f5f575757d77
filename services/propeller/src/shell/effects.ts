import { toBinary } from "@bufbuild/protobuf";
import { executionEventSubject, shardOf, taskRequestSubject } from "@flyte-ts/domain";
import { ExecutionEventSchema } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import { TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { type Bus, BusClosed, PublishGivenUp } from "@flyte-ts/messaging";
import type { Logger } from "@flyte-ts/telemetry";
import type { Effect, Observation } from "../engine/types.js";
import { type Answerers, answerWith } from "./ask/answerers.js";
import type { PropellerMetrics } from "./metrics.js";
import type { OutputsStore } from "./outputs-store.js";

export interface EffectsOptions {
  readonly bus: Pick<Bus, "publish">;
  readonly outputs: OutputsStore;
  readonly answerers: Answerers;
  readonly metrics: PropellerMetrics;
  readonly logger: Logger;
  /** Whether this process may act for a workflow at this moment; it may have slept beyond its time. */
  readonly holds: (key: string) => boolean;
  /** Takes what an effect led to, for the run of that key. */
  readonly observe: (key: string, observation: Observation) => void;
}

/** Carries out what the engine decided. Nothing is awaited by a round: results come back as observations. */
export class Effects {
  readonly #running = new Set<Promise<void>>();

  constructor(private readonly options: EffectsOptions) {}

  /** Starts the effects in their order. `finish` is the caller's. */
  perform(key: string, effects: readonly Effect[]): void {
    for (const effect of effects) {
      // The run is lost with its shard; who takes it over finds out again what is to be done.
      if (!this.options.holds(key)) return;
      const work = this.#start(key, effect);
      if (work === undefined) continue;
      const settled = work
        .catch((error: unknown) => {
          this.options.metrics.effectErrors.inc({ effect: effect.kind });
          if (!(error instanceof BusClosed || error instanceof PublishGivenUp))
            this.options.logger.error({ key, effect: effect.kind, error: String(error) }, "effect failed");
        })
        .finally(() => this.#running.delete(settled));
      this.#running.add(settled);
    }
  }

  /** Resolves when all that was started has ended. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  #start(key: string, effect: Effect): Promise<void> | undefined {
    const { bus, outputs, answerers, observe, metrics } = this.options;
    const asLongAs = { while: () => this.options.holds(key) };
    switch (effect.kind) {
      case "sendTask": {
        const subject = taskRequestSubject(effect.request.template?.type ?? "", effect.request.shard);
        return bus.publish(subject, toBinary(TaskRequestSchema, effect.request), asLongAs);
      }
      case "publish":
        return bus.publish(executionEventSubject(shardOf(executionName(key))), toBinary(ExecutionEventSchema, effect.event), asLongAs);
      case "readOutputs":
        return outputs.readOutputs(effect.uri).then((result) => observe(key, { kind: "outputsRead", uri: effect.uri, result }));
      case "readLiteral":
        return outputs.readLiteral(effect.uri).then((result) => observe(key, { kind: "literalRead", uri: effect.uri, result }));
      case "writeOutputs":
        return outputs
          .writeOutputs(effect.uri, effect.outputs)
          .then((error) => observe(key, { kind: "outputsWritten", uri: effect.uri, ...(error === undefined ? {} : { error }) }));
      case "ask":
        return answerWith(answerers, effect.ask).then((answer) => observe(key, { kind: "answered", id: effect.id, answer }));
      case "count":
        metrics.transitions.inc({ what: effect.metric, detail: Object.values(effect.labels ?? {}).join(" ") });
        return undefined;
      case "finish":
        return undefined;
    }
  }
}

/** The name part of `namespace/name`: resources are named for their executions. */
function executionName(key: string): string {
  return key.slice(key.indexOf("/") + 1);
}
