import { setTimeout as sleep } from "node:timers/promises";
import { isTerminalWorkflowEvent } from "@flyte-ts/domain";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import type { ServiceClient } from "@flyte-ts/rpc";
import type { Logger } from "@flyte-ts/telemetry";
import type { AsLongAs, ForwardingSink, Observe } from "./event-sink.js";
import { eventName, publishedEvent, publishedTaskEvent, type PublishedEvent } from "./published-event.js";
import { type EventVerdict, judgeAnswer } from "./verdict.js";

export interface GrpcSinkOptions {
  readonly admin: Pick<ServiceClient<typeof AdminService>, "createWorkflowEvent" | "createNodeEvent" | "createTaskEvent">;
  readonly observe: Observe;
  readonly logger: Logger;
  /** Calls at once, over all executions. */
  readonly concurrency: number;
  /** Events that may wait; from there on an event that a later one of its node replaces is left out. */
  readonly maxWaiting: number;
  /** Pause before an event is sent again, ms, by the number of failures from 0. */
  readonly delay: (failures: number) => number;
  readonly onSent?: (verdict: EventVerdict) => void;
}

interface Entry {
  readonly name: string;
  readonly published: PublishedEvent;
  /** Whether the workflow is still this process's. */
  readonly wanted: () => boolean;
  readonly done: () => void;
}

const always = (): boolean => true;

/** How often an event is sent whose node the recorder does not know yet: the node's own event is on its way. */
const NOT_FOUND_TRIES = 8;

/**
 * Events by the published API, to any Flyte admin: those of one execution in their
 * order, one at a time; executions beside each other. An event waits until the admin
 * takes it or refuses it for good. There is no other word of the record: the answer to
 * the terminal event is it.
 */
export class GrpcSink implements ForwardingSink {
  readonly #lanes = new Map<string, Entry[]>();
  readonly #ready: string[] = [];
  #running = 0;
  #waiting = 0;
  #closed = false;

  constructor(private readonly options: GrpcSinkOptions) {}

  /** Events that have not been taken or refused. */
  get waiting(): number {
    return this.#waiting;
  }

  publish(...[key, event, asLongAs]: Parameters<ForwardingSink["publish"]>): Promise<void> {
    const published = publishedEvent(event);
    return published === undefined ? Promise.resolve() : this.#add(key, published, asLongAs);
  }

  forward(...[key, event, outputs]: Parameters<ForwardingSink["forward"]>): Promise<void> {
    return this.#add(key, publishedTaskEvent(event, outputs));
  }

  close(): void {
    this.#closed = true;
    for (const lane of this.#lanes.values()) for (const entry of lane) entry.done();
    this.#lanes.clear();
  }

  #add(key: string, published: PublishedEvent, asLongAs?: AsLongAs): Promise<void> {
    if (this.#closed) return Promise.resolve();
    const name = eventName(published);
    const lane = this.#lanes.get(key);
    // The first of the lane is on its way.
    if (lane?.some((entry, index) => index > 0 && entry.name === name) === true) return Promise.resolve();
    return new Promise((done) => {
      this.#waiting++;
      const entry = { name, published, wanted: asLongAs?.while ?? always, done };
      if (lane === undefined) {
        this.#lanes.set(key, [entry]);
        this.#ready.push(key);
        this.#start();
        return;
      }
      if (this.#waiting > this.options.maxWaiting) this.#leaveOut(lane, published);
      lane.push(entry);
    });
  }

  /** The recorder is far behind: what a node was before it came to be what it is now need not be told. */
  #leaveOut(lane: Entry[], { kind, event }: PublishedEvent): void {
    if (kind !== "node") return;
    const at = lane.findIndex(
      ({ published }, index) => index > 0 && published.kind === "node" && published.event.id?.nodeId === event.id?.nodeId,
    );
    if (at < 0) return;
    const [left] = lane.splice(at, 1);
    this.#waiting--;
    left?.done();
  }

  #start(): void {
    while (this.#running < this.options.concurrency) {
      const key = this.#ready.shift();
      if (key === undefined) return;
      this.#running++;
      void this.#drain(key).finally(() => {
        this.#running--;
        this.#start();
      });
    }
  }

  /** Sends what the lane holds, then a while nothing for this key holds a place. */
  async #drain(key: string): Promise<void> {
    const lane = this.#lanes.get(key);
    for (let entry = lane?.[0]; entry !== undefined && !this.#closed; entry = lane?.[0]) {
      await this.#deliver(key, entry);
      lane?.shift();
      this.#waiting--;
      entry.done();
    }
    this.#lanes.delete(key);
  }

  async #deliver(key: string, { published, name, wanted }: Entry): Promise<void> {
    const { delay, logger, onSent } = this.options;
    for (let failures = 0; !this.#closed && wanted(); failures++) {
      let problem: unknown;
      let verdict: EventVerdict = "recorded";
      try {
        await this.#send(published);
      } catch (error) {
        problem = error;
        verdict = judgeAnswer(error);
      }
      const early = verdict === "notFound" && published.kind !== "workflow";
      if (verdict !== "again" && !(early && failures < NOT_FOUND_TRIES)) {
        onSent?.(verdict);
        if (verdict === "dropped" || early)
          logger.warn({ workflow: key, event: name, error: String(problem) }, "event dropped: the control plane refuses it");
        this.#conclude(key, published, { verdict, message: problem instanceof Error ? problem.message : "" });
        return;
      }
      onSent?.("again");
      if (failures % 10 === 0 && !early)
        logger.warn({ workflow: key, event: name, error: String(problem) }, "event cannot be delivered now");
      // The lane keeps its place: with the recorder away there is nothing to make room for.
      await sleep(delay(failures), undefined, { ref: false });
    }
  }

  #send(published: PublishedEvent): Promise<unknown> {
    const { admin } = this.options;
    switch (published.kind) {
      case "workflow":
        return admin.createWorkflowEvent({ event: published.event });
      case "node":
        return admin.createNodeEvent({ event: published.event });
      case "task":
        return admin.createTaskEvent({ event: published.event });
    }
  }

  /** What the answer means for the workflow. */
  #conclude(key: string, { kind, event }: PublishedEvent, { verdict, message }: { verdict: EventVerdict; message: string }): void {
    const { observe } = this.options;
    if (verdict === "incompatibleCluster") observe(key, { kind: "rejected", cause: verdict, message });
    if (kind !== "workflow") return;
    const { phase } = event;
    if (verdict === "notFound") observe(key, { kind: "rejected", cause: verdict, message });
    else if (verdict === "ended") observe(key, { kind: "rejected", cause: "terminal", message });
    else if (isTerminalWorkflowEvent(phase) && verdict !== "again") {
      // A terminal event that can never be recorded must not hold the resource for ever.
      observe(key, { kind: "recorded", phase: WorkflowExecution_Phase[phase] });
    }
  }
}
