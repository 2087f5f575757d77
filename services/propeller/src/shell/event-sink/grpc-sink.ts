import { setTimeout as sleep } from "node:timers/promises";
import { isTerminalWorkflowEvent } from "@flyte-ts/domain/phase";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import type { ServiceClient } from "@flyte-ts/rpc";
import type { Logger } from "@flyte-ts/telemetry";
import { ConcurrencyLimit } from "./concurrency-limit.js";
import type { Fence, ForwardingSink, Observe } from "./event-sink.js";
import { eventDedupKey, mayOvertake, requiredNodeId, publishedEvent, publishedTaskEvent, type PublishedEvent } from "./published-event.js";
import { SendScheduler } from "./send-scheduler.js";
import { type SendOutcome, classifyResponse, isUnavailable } from "./send-outcome.js";

export interface GrpcSinkOptions {
  readonly admin: Pick<ServiceClient<typeof AdminService>, "createWorkflowEvent" | "createNodeEvent" | "createTaskEvent">;
  readonly observe: Observe;
  readonly logger: Logger;
  /** Maximum of concurrent calls, over all executions; fewer while admin is saturated. */
  readonly concurrency: number;
  /** Queue length beyond which events superseded by a later one of their node are dropped. */
  readonly maxQueueLength: number;
  /** Backoff before an event is resent, ms, by the number of failures from 0. */
  readonly backoffMs: (failures: number) => number;
  /** Monotonic clock, ms. */
  readonly now: () => number;
  readonly onSent?: (outcome: SendOutcome) => void;
}

interface QueuedEvent {
  readonly name: string;
  readonly published: PublishedEvent;
  /** True while this process holds the workflow. */
  readonly mayDeliver: () => boolean;
  readonly done: () => void;
  /** Resolved by `done`. */
  readonly delivered: Promise<void>;
  /** Superseded by a later event. */
  superseded: boolean;
  /** Number of responses that decided nothing. */
  failures: number;
}

/** Meaning of a delivery for the queue: its first event is settled, or is sent again later. */
type Delivery = "settled" | "early" | "failed";

/** Queue of one execution's events; only the first may be in flight. */
interface ExecutionQueue {
  readonly entries: QueuedEvent[];
  /** Time (ms) since which every response was NOT_FOUND; undefined after any other response. */
  notFoundSince: number | undefined;
  /** Number of NOT_FOUND responses since `notFoundSince`. */
  notFoundAttempts: number;
}

const alwaysAllowed = (): boolean => true;

/**
 * Time for which NOT_FOUND is retried, ms. Go FlyteAdmin creates the resource of an execution
 * before its row; after a restart, and with several propellers, a task's event may precede its
 * node's.
 */
const NOT_FOUND_TIMEOUT_MS = 60_000;
/** Maximum backoff while NOT_FOUND is retried, ms. */
const MAX_NOT_FOUND_BACKOFF_MS = 2_000;

/**
 * Sends events by the public API to any Flyte admin: in order and one at a time per execution,
 * except for a node's event that others require, and for ends, which overtake starts of other
 * nodes; executions in parallel. An event is retried until
 * admin accepts it or refuses it for good. The response to the terminal event is the only
 * confirmation of the record.
 */
export class GrpcSink implements ForwardingSink {
  readonly #queues = new Map<string, ExecutionQueue>();
  readonly #turns = new SendScheduler();
  #running = 0;
  #queueLength = 0;
  #closed = false;
  readonly #limit: ConcurrencyLimit;

  constructor(private readonly options: GrpcSinkOptions) {
    this.#limit = new ConcurrencyLimit({ max: options.concurrency, now: () => performance.now() });
  }

  /** Number of events neither accepted nor refused. */
  get queueLength(): number {
    return this.#queueLength;
  }

  publish(...[key, event, fence]: Parameters<ForwardingSink["publish"]>): Promise<void> {
    const published = publishedEvent(event);
    return published === undefined ? Promise.resolve() : this.#enqueue(key, published, fence);
  }

  async forward(...[key, event, outputs]: Parameters<ForwardingSink["forward"]>): Promise<boolean> {
    await this.#enqueue(key, publishedTaskEvent(event, outputs));
    return !this.#closed;
  }

  async whenRecorded(key: string): Promise<void> {
    for (;;) {
      const last = this.#queues.get(key)?.entries.at(-1);
      await last?.delivered;
      // The superseding event comes later in the queue.
      if (last?.superseded !== true) return;
    }
  }

  close(): void {
    this.#closed = true;
    for (const { entries } of this.#queues.values()) for (const entry of entries) entry.done();
    this.#queues.clear();
  }

  #enqueue(key: string, published: PublishedEvent, fence?: Fence): Promise<void> {
    if (this.#closed) return Promise.resolve();
    const name = eventDedupKey(published);
    const queue = this.#queues.get(key);
    // The first event of the queue may be in flight.
    const same = queue?.entries.find((entry, index) => index > 0 && entry.name === name);
    if (same !== undefined) return same.delivered;
    this.#queueLength++;
    const { promise, resolve } = Promise.withResolvers<void>();
    const entry = {
      name,
      published,
      mayDeliver: fence?.shouldSend ?? alwaysAllowed,
      done: resolve,
      delivered: promise,
      superseded: false,
      failures: 0,
    };
    if (queue === undefined) {
      this.#queues.set(key, { entries: [entry], notFoundSince: undefined, notFoundAttempts: 0 });
      this.#turns.add(key);
      this.#start();
    } else {
      if (this.#queueLength > this.options.maxQueueLength) this.#dropSuperseded(queue.entries, published);
      this.#insert(queue.entries, entry);
    }
    return promise;
  }

  /** Inserts an entry after all that it may not overtake; the first one may be in flight. */
  #insert(entries: QueuedEvent[], entry: QueuedEvent): void {
    const before = entries.findLastIndex(({ published }, index) => index === 0 || !mayOvertake(entry.published, published));
    entries.splice(before + 1, 0, entry);
  }

  /**
   * Drops older events of the same node when the queue is too long: the newer one supersedes them.
   */
  #dropSuperseded(entries: QueuedEvent[], { kind, event }: PublishedEvent): void {
    if (kind !== "node") return;
    const at = entries.findIndex(
      ({ published }, index) => index > 0 && published.kind === "node" && published.event.id?.nodeId === event.id?.nodeId,
    );
    if (at < 0) return;
    const [left] = entries.splice(at, 1);
    if (left === undefined) return;
    this.#queueLength--;
    left.superseded = true;
    left.done();
  }

  #start(): void {
    while (this.#running < this.#limit.current) {
      const key = this.#turns.next();
      if (key === undefined) return;
      this.#running++;
      void this.#sendNext(key).finally(() => {
        this.#running--;
        this.#start();
      });
    }
  }

  /**
   * Sends the first event of the execution's queue; the execution then waits for its next turn. A
   * queue that waits to send again holds no slot: else a few events that the recorder never takes
   * would stop those of all executions.
   */
  async #sendNext(key: string): Promise<void> {
    const queue = this.#queues.get(key);
    const entry = queue?.entries[0];
    if (queue === undefined || entry === undefined) return;
    const delivery = await this.#deliver(key, queue, entry);
    if (this.#closed) return;
    if (delivery === "early" && this.#moveMissingNodeFirst(key, queue, entry)) this.#turns.add(key);
    else if (delivery === "early") this.#requeueAfter(key, Math.min(this.#backoffMs(queue.notFoundAttempts++), MAX_NOT_FOUND_BACKOFF_MS));
    else if (delivery === "failed") this.#requeueAfter(key, this.#backoffMs(entry.failures++));
    else this.#settleFirst(key, queue, entry);
  }

  #backoffMs(failures: number): number {
    return this.options.backoffMs(failures);
  }

  #settleFirst(key: string, queue: ExecutionQueue, entry: QueuedEvent): void {
    this.#turns.onSent(key);
    queue.entries.shift();
    this.#queueLength--;
    entry.done();
    if (queue.entries.length > 0) this.#turns.add(key);
    else this.#queues.delete(key);
  }

  /**
   * Moves the event of a node that the recorder lacks to the front, if the queue contains it later,
   * as after a restart. Otherwise requests the event from the engine.
   *
   * @returns true when another event is first in the queue now
   */
  #moveMissingNodeFirst(key: string, { entries }: ExecutionQueue, { published }: QueuedEvent): boolean {
    const nodeId = requiredNodeId(published);
    if (nodeId === undefined) return false;
    const at = entries.findIndex(({ published: { kind, event } }) => kind === "node" && event.id?.nodeId === nodeId);
    if (at < 0) this.options.observe(key, { kind: "unknownNode", nodeId });
    else entries.unshift(...entries.splice(at, 1));
    return at > 0;
  }

  #requeueAfter(key: string, delayMs: number): void {
    const goOn = (): void => {
      if (this.#closed) return;
      this.#turns.add(key);
      this.#start();
    };
    setTimeout(goOn, delayMs).unref();
  }

  /**
   * @returns `early`: the recorder may receive the event's node or execution later; `failed`: it
   *   answered without a decision about the event
   */
  async #deliver(key: string, queue: ExecutionQueue, entry: QueuedEvent): Promise<Delivery> {
    const { logger, onSent } = this.options;
    const { published, name } = entry;
    while (!this.#closed && entry.mayDeliver()) {
      const { outcome, problem } = await this.#trySend(published);
      const message = problem instanceof Error ? problem.message : "";
      if (outcome === "again") {
        onSent?.(outcome);
        if (entry.failures % 10 === 0)
          logger.warn({ workflow: key, event: name, error: String(problem) }, "event could not be delivered; retrying");
        if (!isUnavailable(problem)) return "failed";
        // Keeps its slot: while the recorder is unavailable, no other queue could use it.
        await sleep(this.#backoffMs(entry.failures++), undefined, { ref: false });
        continue;
      }
      if (outcome === "notFound" && this.#isEarly(queue)) {
        onSent?.("again");
        return "early";
      }
      onSent?.(outcome);
      if (outcome !== "notFound") queue.notFoundSince = undefined;
      if (outcome === "dropped" || outcome === "notFound")
        logger.warn({ workflow: key, event: name, error: String(problem) }, "event dropped: the control plane rejects it");
      this.#reportOutcome(key, published, { outcome, message });
      break;
    }
    return "settled";
  }

  /** Counted per queue, not per event: a missing execution costs the time once. */
  #isEarly(queue: ExecutionQueue): boolean {
    const now = this.options.now();
    if (queue.notFoundSince === undefined) {
      queue.notFoundSince = now;
      queue.notFoundAttempts = 0;
    }
    return now < queue.notFoundSince + NOT_FOUND_TIMEOUT_MS;
  }

  async #trySend(published: PublishedEvent): Promise<{ readonly outcome: SendOutcome; readonly problem?: unknown }> {
    try {
      await this.#limit.measure(() => this.#send(published));
      return { outcome: "recorded" };
    } catch (problem) {
      return { outcome: classifyResponse(problem), problem };
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
  #reportOutcome(key: string, { kind, event }: PublishedEvent, { outcome, message }: { outcome: SendOutcome; message: string }): void {
    const { observe } = this.options;
    if (outcome === "incompatibleCluster") observe(key, { kind: "rejected", cause: outcome, message });
    if (kind !== "workflow") return;
    const { phase } = event;
    if (outcome === "notFound") observe(key, { kind: "rejected", cause: outcome, message });
    else if (outcome === "ended") observe(key, { kind: "rejected", cause: "terminal", message });
    else if (isTerminalWorkflowEvent(phase) && outcome !== "again") {
      // A terminal event that can never be recorded must not retain the resource forever.
      observe(key, { kind: "endRecorded", phase: WorkflowExecution_Phase[phase] });
    }
  }
}
