import { setTimeout as sleep } from "node:timers/promises";
import { isTerminalWorkflowEvent } from "@flyte-ts/domain";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import type { ServiceClient } from "@flyte-ts/rpc";
import type { Logger } from "@flyte-ts/telemetry";
import type { AsLongAs, ForwardingSink, Observe } from "./event-sink.js";
import { eventName, nodeNamedBy, publishedEvent, publishedTaskEvent, type PublishedEvent } from "./published-event.js";
import { SendTurns } from "./send-turns.js";
import { type EventVerdict, judgeAnswer } from "./verdict.js";

export interface GrpcSinkOptions {
  readonly admin: Pick<ServiceClient<typeof AdminService>, "createWorkflowEvent" | "createNodeEvent" | "createTaskEvent">;
  readonly observe: Observe;
  readonly logger: Logger;
  /** Maximum of concurrent calls, over all executions. */
  readonly concurrency: number;
  /** Queue length beyond which events superseded by a later one of their node are dropped. */
  readonly maxWaiting: number;
  /** Backoff before an event is resent, ms, by the number of failures from 0. */
  readonly delay: (failures: number) => number;
  /** Monotonic clock, ms. */
  readonly now: () => number;
  readonly onSent?: (verdict: EventVerdict) => void;
}

interface Entry {
  readonly name: string;
  readonly published: PublishedEvent;
  /** True while this process holds the workflow. */
  readonly wanted: () => boolean;
  readonly done: () => void;
  /** Resolved by `done`. */
  readonly ended: Promise<void>;
  /** Superseded by a later event. */
  leftOut: boolean;
}

/** Queue of one execution's events; the first is in flight. */
interface Lane {
  readonly entries: Entry[];
  /** Time (ms) since which every response was NOT_FOUND; undefined after any other response. */
  notFoundSince: number | undefined;
  /** Number of NOT_FOUND responses since then. */
  notFoundTries: number;
}

/** Events of one execution sent before another waiting execution gets the slot. */
const BURST = 8;

const always = (): boolean => true;

/**
 * Time for which NOT_FOUND is retried, ms. Go FlyteAdmin creates the resource of an execution before its row; after a
 * restart, and with several propellers, a task's event may precede its node's.
 */
const NOT_FOUND_PATIENCE_MS = 60_000;
/** Maximum backoff during that time, ms. */
const NOT_FOUND_PAUSE_MS = 2_000;

function endsExecution(published: PublishedEvent): boolean {
  return published.kind === "workflow" && isTerminalWorkflowEvent(published.event.phase);
}

/**
 * Sends events by the public API to any Flyte admin: in order and one at a time per execution, except for a node's
 * event that others require; executions in parallel. An event is retried until admin accepts it or refuses it for good.
 * The response to the terminal event is the only confirmation of the record.
 */
export class GrpcSink implements ForwardingSink {
  readonly #lanes = new Map<string, Lane>();
  readonly #ready = new SendTurns();
  #running = 0;
  #waiting = 0;
  #closed = false;

  constructor(private readonly options: GrpcSinkOptions) {}

  /** Number of events neither accepted nor refused. */
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

  async recorded(key: string): Promise<void> {
    for (;;) {
      const last = this.#lanes.get(key)?.entries.at(-1);
      await last?.ended;
      // The superseding event comes later in the queue.
      if (last?.leftOut !== true) return;
    }
  }

  close(): void {
    this.#closed = true;
    for (const { entries } of this.#lanes.values()) for (const entry of entries) entry.done();
    this.#lanes.clear();
  }

  #add(key: string, published: PublishedEvent, asLongAs?: AsLongAs): Promise<void> {
    if (this.#closed) return Promise.resolve();
    const name = eventName(published);
    const lane = this.#lanes.get(key);
    // The first event of the queue is in flight.
    if (lane?.entries.some((entry, index) => index > 0 && entry.name === name) === true) return Promise.resolve();
    this.#waiting++;
    const { promise, resolve } = Promise.withResolvers<void>();
    const entry = { name, published, wanted: asLongAs?.shouldSend ?? always, done: resolve, ended: promise, leftOut: false };
    if (lane === undefined) {
      this.#lanes.set(key, { entries: [entry], notFoundSince: undefined, notFoundTries: 0 });
      this.#ready.add(key);
      this.#start();
    } else {
      if (this.#waiting > this.options.maxWaiting) this.#leaveOut(lane.entries, published);
      lane.entries.push(entry);
    }
    return promise;
  }

  /** Drops older events of the same node when the queue is too long: the newer one supersedes them. */
  #leaveOut(entries: Entry[], { kind, event }: PublishedEvent): void {
    if (kind !== "node") return;
    const at = entries.findIndex(
      ({ published }, index) => index > 0 && published.kind === "node" && published.event.id?.nodeId === event.id?.nodeId,
    );
    if (at < 0) return;
    const [left] = entries.splice(at, 1);
    if (left === undefined) return;
    this.#waiting--;
    left.leftOut = true;
    left.done();
  }

  #start(): void {
    while (this.#running < this.options.concurrency) {
      const key = this.#ready.take();
      if (key === undefined) return;
      this.#running++;
      void this.#drain(key).finally(() => {
        this.#running--;
        this.#start();
      });
    }
  }

  /**
   * Sends the execution's queue until it is empty, or a burst of it while others wait for a slot. A queue that waits
   * out NOT_FOUND holds no slot.
   */
  async #drain(key: string): Promise<void> {
    const lane = this.#lanes.get(key);
    if (lane === undefined) return;
    let sent = 0;
    for (let [entry] = lane.entries; entry !== undefined && !this.#closed; [entry] = lane.entries) {
      if (sent >= BURST && !this.#ready.isEmpty) {
        this.#ready.add(key);
        return;
      }
      if ((await this.#deliver(key, lane, entry)) === "early") {
        if (this.#moveUnknownAhead(key, lane, entry)) continue;
        this.#park(key, lane);
        return;
      }
      sent++;
      this.#ready.sent(key);
      lane.entries.shift();
      this.#waiting--;
      entry.done();
      if (endsExecution(entry.published)) this.#ready.ended(key);
    }
    this.#lanes.delete(key);
  }

  /**
   * The recorder may lack a node whose own event is later in the queue, as after a restart: moves that event to the
   * front. Without one, the engine is asked to publish it.
   *
   * @returns true when another event is first in the queue now
   */
  #moveUnknownAhead(key: string, { entries }: Lane, { published }: Entry): boolean {
    const nodeId = nodeNamedBy(published);
    if (nodeId === undefined) return false;
    const at = entries.findIndex(({ published: { kind, event } }) => kind === "node" && event.id?.nodeId === nodeId);
    if (at < 0) this.options.observe(key, { kind: "unknownNode", nodeId });
    else entries.unshift(...entries.splice(at, 1));
    return at > 0;
  }

  #park(key: string, lane: Lane): void {
    const pause = Math.min(this.options.delay(lane.notFoundTries++), NOT_FOUND_PAUSE_MS);
    const goOn = (): void => {
      if (this.#closed) return;
      this.#ready.add(key);
      this.#start();
    };
    setTimeout(goOn, pause).unref();
  }

  /** @returns `early`: the recorder may still learn of the event's node or execution. */
  async #deliver(key: string, lane: Lane, { published, name, wanted }: Entry): Promise<"early" | "done"> {
    const { delay, logger, onSent } = this.options;
    for (let failures = 0; !this.#closed && wanted(); failures++) {
      const { verdict, problem } = await this.#try(published);
      const message = problem instanceof Error ? problem.message : "";
      if (verdict === "again") {
        onSent?.(verdict);
        if (failures % 10 === 0) logger.warn({ workflow: key, event: name, error: String(problem) }, "event cannot be delivered now");
        // Keeps its slot: while the recorder is unavailable, no other queue could use it.
        await sleep(delay(failures), undefined, { ref: false });
        continue;
      }
      if (verdict === "notFound" && this.#isEarly(lane)) {
        onSent?.("again");
        return "early";
      }
      onSent?.(verdict);
      if (verdict !== "notFound") lane.notFoundSince = undefined;
      if (verdict === "dropped" || verdict === "notFound")
        logger.warn({ workflow: key, event: name, error: String(problem) }, "event dropped: the control plane refuses it");
      this.#conclude(key, published, { verdict, message });
      break;
    }
    return "done";
  }

  /** Counted per queue, not per event: a missing execution costs the time once. */
  #isEarly(lane: Lane): boolean {
    const now = this.options.now();
    if (lane.notFoundSince === undefined) {
      lane.notFoundSince = now;
      lane.notFoundTries = 0;
    }
    return now < lane.notFoundSince + NOT_FOUND_PATIENCE_MS;
  }

  async #try(published: PublishedEvent): Promise<{ readonly verdict: EventVerdict; readonly problem?: unknown }> {
    try {
      await this.#send(published);
      return { verdict: "recorded" };
    } catch (problem) {
      return { verdict: judgeAnswer(problem), problem };
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

  /** Reports the meaning of a response for the workflow. */
  #conclude(key: string, { kind, event }: PublishedEvent, { verdict, message }: { verdict: EventVerdict; message: string }): void {
    const { observe } = this.options;
    if (verdict === "incompatibleCluster") observe(key, { kind: "rejected", cause: verdict, message });
    if (kind !== "workflow") return;
    const { phase } = event;
    if (verdict === "notFound") observe(key, { kind: "rejected", cause: verdict, message });
    else if (verdict === "ended") observe(key, { kind: "rejected", cause: "terminal", message });
    else if (isTerminalWorkflowEvent(phase) && verdict !== "again") {
      // A terminal event that can never be recorded must not retain the resource forever.
      observe(key, { kind: "recorded", phase: WorkflowExecution_Phase[phase] });
    }
  }
}
