import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { ExecutionEvent } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import type { TaskEvent, TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { CallResult, Call } from "../../src/engine/calls/call.js";
import type { Effect, Observation } from "../../src/engine/types.js";
import type { Random } from "../random.js";
import type { Stream } from "./bus.js";
import type { Faults } from "./faults.js";
import type { Host } from "../processes/process-lifetime.js";
import type { Schedule } from "./schedule.js";

/** Planted mistakes of the shell, each to be detected by an invariant. */
export type ShellBug =
  /** Writes apply to any version of the resource. */
  | "writesWithoutVersion"
  /** Effects do not wait for the status that justifies them. */
  | "effectsBeforeWrites"
  /** The run is finished without admin's confirmation. */
  | "finishesUnrecorded"
  /** Timers never fire. */
  | "noTimers"
  /** An attempt to abort is reported as aborted at once. */
  | "pretendsAborted"
  /** Abort requests are not sent. */
  | "dropsAborts"
  /** The resource names slices that are not durable yet. */
  | "rootBeforeSlices"
  /** Slices are deleted while the resource still names them. */
  | "dropsSlicesEarly";

export interface EffectsOptions {
  readonly host: Host;
  readonly schedule: Schedule;
  readonly random: Random;
  readonly faults: Faults;
  readonly requests: Stream<TaskRequest>;
  readonly events: Stream<ExecutionEvent>;
  readonly blobs: Map<string, LiteralMap>;
  readonly answer: (question: Call) => CallResult;
  readonly fabricate: (request: TaskRequest) => TaskEvent;
  readonly bug: ShellBug | undefined;
}

/** Executes the engine's effects; results return as observations, late or never. */
export class Effects {
  constructor(
    private readonly options: EffectsOptions,
    private readonly observe: (observation: Observation) => void,
  ) {}

  /** `ended`: the run has ended. */
  start(effect: Exclude<Effect, { kind: "finalize" }>, ended: boolean): void {
    switch (effect.kind) {
      case "sendTaskRequest":
        this.#send(effect.request);
        return;
      case "publish":
        this.#store(() => this.options.events.publish(effect.event));
        if (this.options.bug === "finishesUnrecorded" && ended) this.#later({ kind: "endRecorded", phase: "" });
        return;
      case "readOutputs":
        this.#blob((failed) => this.#later({ kind: "outputsRead", uri: effect.uri, result: this.#readBlob(effect.uri, failed) }));
        return;
      case "readLiteral":
        this.#blob(() => this.#later({ kind: "literalRead", uri: effect.uri, result: { kind: "missing" } }));
        return;
      case "writeOutputs":
        this.#blob((failed) => {
          if (!failed) this.options.blobs.set(effect.uri, effect.outputs);
          this.#later({ kind: "outputsWritten", uri: effect.uri, ...(failed ? { error: "no" } : {}) });
        });
        return;
      case "call":
        this.#executeCall(effect);
        return;
      case "kubeEvent":
      case "metric":
        return;
    }
  }

  #send(request: TaskRequest): void {
    const { bug, requests, fabricate } = this.options;
    if (request.desired === 2 && bug === "dropsAborts") return;
    this.#store(() => requests.publish(request));
    if (request.desired === 2 && bug === "pretendsAborted") this.#later({ kind: "taskEvent", event: fabricate(request) });
  }

  /**
   * A message in transit to the bus when the process ends may or may not arrive; one not sent when
   * the process's lease ends does not.
   */
  #store(publish: () => void): void {
    const { schedule, random, host } = this.options;
    const { life } = host;
    if (random.chance(0.1)) life?.after(random.between(0.2, 2), () => host.holdsLease() && publish());
    else
      schedule.after(random.between(0.2, 2), () => {
        if (life?.alive === true || random.chance(0.5)) publish();
      });
  }

  #blob(action: (failed: boolean) => void): void {
    const { random, faults, host } = this.options;
    host.life?.after(random.between(1, 30), () => action(random.chance(faults.blobError)));
  }

  /** A call or its result may be lost; one in flight when its sender ends may still arrive. */
  #executeCall({ id, call }: Extract<Effect, { kind: "call" }>): void {
    const { schedule, random, faults, answer, host } = this.options;
    const { life } = host;
    schedule.after(random.between(0.5, random.chance(faults.callError) ? 5_000 : 20), () => {
      const gone = life?.alive !== true;
      const lost = random.chance(gone ? 0.5 : faults.callError);
      const answered: CallResult = lost ? { kind: "error", message: "no" } : answer(call);
      if (gone) return;
      const delivered: CallResult = random.chance(faults.callError) ? { kind: "error", message: "no" } : answered;
      life?.after(0.1, () => this.observe({ kind: "callResult", id, result: delivered }));
    });
  }

  #readBlob(uri: string, failed: boolean) {
    if (failed) return { kind: "error", message: "no" } as const;
    const value = this.options.blobs.get(uri);
    return value === undefined ? ({ kind: "missing" } as const) : ({ kind: "value", value } as const);
  }

  #later(observation: Observation): void {
    this.options.host.life?.after(0.1, () => this.observe(observation));
  }
}
