import { WorkflowPhase } from "@flyte-ts/domain";
import type { ExecutionEvent } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { TaskEvent, TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { ParsedWorkflow } from "@flyte-ts/workflow-crd";
import type { Answer, Question } from "../../engine/ask/question.js";
import type { EngineConfig } from "../../engine/config.js";
import { abortOfForgotten } from "../../engine/request/zombie.js";
import { createRun } from "../../engine/run.js";
import type { Effect, Observation, RunInput } from "../../engine/types.js";
import { RunIo, type StatusWrite } from "../../shell-core/run-io.js";
import { SliceGone } from "../build/slices.js";
import type { Random } from "../random.js";
import type { Wake } from "./admin-service.js";
import type { Stream } from "./bus.js";
import type { Faults } from "./faults.js";
import type { Resource, ResourceStore } from "./resource-store.js";
import type { Schedule } from "./schedule.js";
import type { SliceStore } from "./slice-store.js";

/** Deliberate mistakes of the shell, each to be found by an invariant. */
export type ShellBug =
  /** Writes apply whatever the resource has become. */
  | "writesWithoutVersion"
  /** Effects do not wait for the status that they rest on. */
  | "effectsBeforeWrites"
  /** The run is finished without admin's word. */
  | "finishesUnrecorded"
  /** Timers never fire. */
  | "noTimers"
  /** An attempt that is to be stopped is said to have stopped at once. */
  | "pretendsAborted"
  /** Requests to stop are not sent. */
  | "dropsAborts"
  /** The resource names slices that are not durable yet. */
  | "rootBeforeSlices"
  /** Slices are removed before the resource has ceased to name them. */
  | "dropsSlicesEarly";

export interface PropellerOptions {
  readonly schedule: Schedule;
  readonly random: Random;
  readonly faults: Faults;
  readonly store: ResourceStore;
  readonly parse: (resource: Resource) => ParsedWorkflow;
  readonly config: EngineConfig;
  readonly requests: Stream<TaskRequest>;
  readonly events: Stream<ExecutionEvent>;
  readonly blobs: Map<string, LiteralMap>;
  readonly slices: SliceStore;
  readonly answer: (question: Question) => Answer;
  readonly onEffect: (effect: Effect) => void;
  readonly bug: ShellBug | undefined;
  readonly testing: NonNullable<RunInput["testing"]>;
  readonly fabricate: (request: TaskRequest) => TaskEvent;
}

interface Active {
  readonly io: RunIo;
  readonly key: string;
  /** Of the resource, as far as this process knows. */
  version: number;
}

/** Propeller's process: the real engine and the real rules of writing, over simulated I/O; it may end at any step. */
export class Propeller {
  #active: Active | undefined;
  #early: Observation[] = [];
  #up = false;
  #epoch = 0;
  #done = false;
  /** How often the process ended. */
  crashes = 0;
  reloads = 0;

  constructor(private readonly options: PropellerOptions) {
    this.#start();
  }

  /** A task event from the stream; false when the process is not there. */
  takeTaskEvent(event: TaskEvent): boolean {
    if (!this.#up) return false;
    if (this.#done || this.options.store.current === undefined) this.#answerForgotten(event);
    else this.#observe({ kind: "taskEvent", event });
    return this.#up;
  }

  /** Not a stream: nobody keeps it for a process that is not there. */
  takeRecorded(phase: string): void {
    if (this.#up) this.#observe({ kind: "recorded", phase });
  }

  /** Nor this. */
  takeWake(subject: Wake): void {
    if (this.#up) this.#observe({ kind: "awaited", ...subject });
  }

  /** The watch tells of the resource. A run that was loaded from an old version is loaded again. */
  takeWatch(version: number): void {
    if (!this.#up || this.#done) return;
    if (this.#active !== undefined && this.#active.io.idle && version > this.#active.version) {
      this.#reload();
      return;
    }
    if (this.options.store.current?.deletionRequested === true) this.#observe({ kind: "abort" });
  }

  resync(): void {
    if (this.#up && this.#active !== undefined) this.#observe({ kind: "resync" });
  }

  #start(): void {
    this.#up = true;
    this.#load();
  }

  /** The process may end here. Returns whether it did. */
  #mayCrash(): boolean {
    const { random, faults, schedule } = this.options;
    if (!random.chance(faults.propellerCrash)) return false;
    this.#up = false;
    this.#active = undefined;
    this.#early = [];
    this.#epoch++;
    this.crashes++;
    schedule.after(random.between(10, 15_000), () => this.#start());
    return true;
  }

  #load(): void {
    const { random, schedule } = this.options;
    const epoch = this.#epoch;
    schedule.after(random.between(1, 20), () => {
      if (epoch !== this.#epoch || this.#active !== undefined || this.#done) return;
      const resource = this.#read();
      if (resource === undefined || resource.labels["termination-status"] !== undefined) return;
      const { config, testing } = this.options;
      const workflow = this.#parse(resource);
      if (workflow === undefined) return;
      const run = createRun({ workflow, config, now: schedule.now, testing });
      this.#active = { io: new RunIo(run, String(resource.resourceVersion)), key: run.key, version: resource.resourceVersion };
      const early = this.#early;
      this.#early = [];
      for (const observation of [{ kind: "load" } as const, ...early]) this.#observe(observation);
    });
  }

  /** A slice that is not there is the end of the execution, unless the resource that named it is old: that shows when the end is written. */
  #parse(resource: Resource): ParsedWorkflow | undefined {
    try {
      return this.options.parse(resource);
    } catch (error) {
      if (!(error instanceof SliceGone)) throw error;
      const end = {
        metadata: { labels: { "termination-status": "terminated" }, finalizers: null },
        status: { phase: WorkflowPhase.Failed },
      };
      if (this.options.store.patch(end, resource.resourceVersion).kind === "conflict") this.#reload();
      else this.#forget();
      return undefined;
    }
  }

  #read(): Resource | undefined {
    const { store, random, faults } = this.options;
    const stale = random.chance(faults.staleRead) && store.current !== undefined;
    return stale ? store.history[Math.max(0, store.history.length - 1 - random.int(3))] : store.current;
  }

  /** Drops the run and reads the resource again. */
  #reload(): void {
    this.#active = undefined;
    this.reloads++;
    this.options.schedule.after(this.options.random.between(10, 200), () => {
      if (this.#up && this.#active === undefined) this.#load();
    });
  }

  #observe(observation: Observation): void {
    if (!this.#up || this.#done || this.#mayCrash()) return;
    const active = this.#active;
    if (active === undefined) {
      this.#early.push(observation);
      return;
    }
    const { run } = active.io;
    const effects = run.observe(observation, this.options.schedule.now);
    const admitted = this.options.bug === "effectsBeforeWrites" ? effects : active.io.admit(effects);
    this.#perform(active, admitted);
    if (this.#active !== active) return;
    this.#write(active);
    this.#alarm(active);
  }

  #alarm(active: Active): void {
    const at = active.io.run.wakeAt;
    if (at === undefined || this.options.bug === "noTimers") return;
    const epoch = this.#epoch;
    this.options.schedule.after(at - this.options.schedule.now, () => {
      const due = active.io.run.wakeAt;
      if (epoch === this.#epoch && this.#active === active && due !== undefined && due <= this.options.schedule.now)
        this.#observe({ kind: "timer" });
    });
  }

  #write(active: Active): void {
    const write = active.io.nextWrite();
    if (write === undefined || this.#mayCrash()) return;
    const { blobs = [], unused = [] } = write.patch;
    const { slices, bug } = this.options;
    if (bug === "dropsSlicesEarly") slices.drop(unused);
    const writer = { wanted: () => this.#active === active, process: this.#process() };
    if (bug === "rootBeforeSlices" || blobs.length === 0) {
      slices.write(blobs, { ...writer, done: () => undefined });
      this.#patch(active, write);
    } else slices.write(blobs, { ...writer, done: () => this.#mayCrash() || this.#patch(active, write) });
  }

  /** Whether this process lives. */
  #process(): () => boolean {
    const epoch = this.#epoch;
    return () => epoch === this.#epoch;
  }

  #patch(active: Active, write: StatusWrite): void {
    const { schedule, random, faults } = this.options;
    const epoch = this.#epoch;
    const unknown = random.chance(faults.writeUnknown);
    const lost = unknown && random.chance(0.5);
    schedule.after(random.between(1, unknown ? 2_000 : 15), () => {
      // A write under way arrives even when its sender is gone.
      const result = lost ? undefined : this.#put(write);
      if (epoch !== this.#epoch || this.#active !== active || this.#mayCrash()) return;
      if (unknown || result === undefined || result.kind === "conflict") this.#reload();
      else if (result.kind === "gone") this.#forget();
      else {
        this.options.slices.cleanUp(write.patch, this.#process());
        this.#written(active, result.resource.resourceVersion);
      }
    });
  }

  #put(write: StatusWrite) {
    const { store, bug } = this.options;
    return store.patch(write.patch, bug === "writesWithoutVersion" ? undefined : Number(write.resourceVersion));
  }

  #written(active: Active, version: number): void {
    const { revision, released } = active.io.written(String(version));
    active.version = version;
    this.#perform(active, this.options.bug === "effectsBeforeWrites" ? [] : released);
    if (this.#active === active) this.#observe({ kind: "persisted", revision });
  }

  #forget(): void {
    this.#active = undefined;
    this.#done = true;
  }

  #perform(active: Active, effects: readonly Effect[]): void {
    for (const effect of effects) {
      if (this.#active !== active || this.#mayCrash()) return;
      this.options.onEffect(effect);
      this.#do(effect);
    }
  }

  #do(effect: Effect): void {
    switch (effect.kind) {
      case "sendTask":
        this.#send(effect.request);
        return;
      case "publish":
        this.#store(() => this.options.events.publish(effect.event));
        if (this.options.bug === "finishesUnrecorded" && this.#active?.io.run.terminal === true)
          this.#later({ kind: "recorded", phase: "" });
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
      case "ask":
        this.#ask(effect);
        return;
      case "finish":
        this.#forget();
        return;
      case "note":
      case "count":
        return;
    }
  }

  #send(request: TaskRequest): void {
    const { bug, requests, fabricate } = this.options;
    if (request.desired === 2 && bug === "dropsAborts") return;
    this.#store(() => requests.publish(request));
    if (request.desired === 2 && bug === "pretendsAborted") this.#later({ kind: "taskEvent", event: fabricate(request) });
  }

  /** What is on its way to the bus when the process ends may or may not get there. */
  #store(publish: () => void): void {
    const { schedule, random } = this.options;
    const epoch = this.#epoch;
    schedule.after(random.between(0.2, 2), () => {
      if (epoch === this.#epoch || random.chance(0.5)) publish();
    });
  }

  #blob(action: (failed: boolean) => void): void {
    const { schedule, random, faults } = this.options;
    const epoch = this.#epoch;
    schedule.after(random.between(1, 30), () => {
      if (epoch === this.#epoch) action(random.chance(faults.blobError));
    });
  }

  /** A call may get lost on its way there or back; one that is under way when its sender ends may get there still. */
  #ask({ id, ask }: Extract<Effect, { kind: "ask" }>): void {
    const { schedule, random, faults, answer } = this.options;
    const epoch = this.#epoch;
    schedule.after(random.between(0.5, random.chance(faults.askError) ? 5_000 : 20), () => {
      const gone = epoch !== this.#epoch;
      const lost = random.chance(gone ? 0.5 : faults.askError);
      const answered: Answer = lost ? { kind: "error", message: "no" } : answer(ask);
      if (gone) return;
      this.#later({ kind: "answered", id, answer: random.chance(faults.askError) ? { kind: "error", message: "no" } : answered });
    });
  }

  #readBlob(uri: string, failed: boolean) {
    if (failed) return { kind: "error", message: "no" } as const;
    const value = this.options.blobs.get(uri);
    return value === undefined ? ({ kind: "missing" } as const) : ({ kind: "value", value } as const);
  }

  #later(observation: Observation): void {
    const epoch = this.#epoch;
    this.options.schedule.after(0.1, () => {
      if (epoch === this.#epoch) this.#observe(observation);
    });
  }

  #answerForgotten(event: TaskEvent): void {
    const request = abortOfForgotten(event, this.options.schedule.now);
    if (request !== undefined) this.options.requests.publish(request);
  }
}
