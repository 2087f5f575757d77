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
  /** Calls at once, over all executions. */
  readonly concurrency: number;
  /** Events that may wait; from there on an event that a later one of its node replaces is left out. */
  readonly maxWaiting: number;
  /** Pause before an event is sent again, ms, by the number of failures from 0. */
  readonly delay: (failures: number) => number;
  /** ms of a clock that never goes back. */
  readonly now: () => number;
  readonly onSent?: (verdict: EventVerdict) => void;
}

interface Entry {
  readonly name: string;
  readonly published: PublishedEvent;
  /** Whether the workflow is still this process's. */
  readonly wanted: () => boolean;
  readonly done: () => void;
  /** Resolves with `done`. */
  readonly ended: Promise<void>;
  /** A later event stands for it. */
  leftOut: boolean;
}

/** Events of one execution, the first of them on its way. */
interface Lane {
  readonly entries: Entry[];
  /** Since when (ms) every answer was NOT_FOUND; undefined after any other one. */
  notFoundSince: number | undefined;
  /** How often it was NOT_FOUND since then. */
  notFoundTries: number;
}

/** Events of one execution that are sent before another that waits for a place has it. */
const BURST = 8;

const always = (): boolean => true;

/**
 * How long, ms, NOT_FOUND is not taken as final. Go FlyteAdmin creates the resource of an execution before the execution's row; after
 * a restart, and with several propellers, the event of a task may come before its node's.
 */
const NOT_FOUND_PATIENCE_MS = 60_000;
/** Longest pause, ms, between two tries in that time. */
const NOT_FOUND_PAUSE_MS = 2_000;

function endsExecution(published: PublishedEvent): boolean {
  return published.kind === "workflow" && isTerminalWorkflowEvent(published.event.phase);
}

/**
 * Sends events by the published API, to any Flyte admin: those of one execution in their
 * order, one at a time, but for a node's that others wait for; executions beside each other. An event waits until the admin
 * takes it or refuses it for good. There is no other word of the record: the answer to
 * the terminal event is it.
 */
export class GrpcSink implements ForwardingSink {
  readonly #lanes = new Map<string, Lane>();
  readonly #ready = new SendTurns();
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

  async recorded(key: string): Promise<void> {
    for (;;) {
      const last = this.#lanes.get(key)?.entries.at(-1);
      await last?.ended;
      // The event that stands for one that was left out comes after it.
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
    // The first of the lane is on its way.
    if (lane?.entries.some((entry, index) => index > 0 && entry.name === name) === true) return Promise.resolve();
    this.#waiting++;
    const { promise, resolve } = Promise.withResolvers<void>();
    const entry = { name, published, wanted: asLongAs?.while ?? always, done: resolve, ended: promise, leftOut: false };
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

  /** Drops, when the recorder is far behind, what a node was before it came to be what it is now. */
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
   * Sends events of the lane until it is empty, or a burst of them where others wait for a place. A lane that waits for what the recorder
   * does not know yet holds no place.
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
   * What the event names and the recorder does not know may be a node whose own event comes later, as after a restart: that one goes first.
   * Where there is none, it is asked for.
   *
   * @returns whether another event is the first of the lane now
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

  /** @returns `early`: the recorder may come to know what the event is about. */
  async #deliver(key: string, lane: Lane, { published, name, wanted }: Entry): Promise<"early" | "done"> {
    const { delay, logger, onSent } = this.options;
    for (let failures = 0; !this.#closed && wanted(); failures++) {
      const { verdict, problem } = await this.#try(published);
      const message = problem instanceof Error ? problem.message : "";
      if (verdict === "again") {
        onSent?.(verdict);
        if (failures % 10 === 0) logger.warn({ workflow: key, event: name, error: String(problem) }, "event cannot be delivered now");
        // The lane keeps its place: with the recorder away there is nothing to make room for.
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

  /** Counted for the lane, not for the event: an execution that does not exist costs the time once. */
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
