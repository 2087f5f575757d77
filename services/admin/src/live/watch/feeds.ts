import { create } from "@bufbuild/protobuf";
import { Semaphore } from "@flyte-ts/async";
import { type WorkflowExecutionIdentifier, WorkflowExecutionIdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { type Database, isUnavailable } from "@flyte-ts/postgres";
import type { Logger } from "@flyte-ts/telemetry";
import { executionNotFound } from "../../execution/identifier.js";
import type { ExecutionName } from "../../execution/state.js";
import { Feed } from "./feed.js";
import { readChanges, readWhole } from "./read.js";
import { Waiting } from "./waiting.js";

export interface FeedsDeps {
  readonly db: Database;
  readonly logger: Logger;
  readonly clock: () => Date;
}

export interface FeedTimes {
  /** Poll interval of an execution, ms, since notifications of changes may be lost. */
  readonly pollMs: number;
  /** Maximum interval between messages to a watcher, ms. */
  readonly heartbeatMs: number;
  /** Time, ms, for which ends of nodes and attempts are awaited after the end of their execution. */
  readonly lingerMs: number;
}

/** A feed in use by a watcher. */
export interface Used {
  readonly feed: Feed;
  readonly waiting: Waiting;
  /** Reason of its end: the execution was deleted. */
  readonly failure: Error | undefined;
  /** Changes with each heartbeat. */
  readonly beats: number;
  /** True when no change follows. */
  isOver(): boolean;
  /** Resolves when the state is no older than this call. */
  refresh(): Promise<void>;
  release(): void;
}

/** Minimum interval between polls of an execution, ms: too short for users to notice. */
const LEAST_MS = 100;
/** Additional interval per row, ms: a poll reads all rows of an execution, about 1 µs each; it pauses ten times as long. */
const ROW_MS = 0.01;
/** Additional interval per watcher, ms: with thousands of watchers one message combines several changes. */
const TELL_MS = 0.1;
/** Maximum of feeds per poll, and of concurrent first polls. */
const BATCH = 200;
const FIRST_LOOKS = 8;
/** Time for which an unused feed is kept, ms: clients reconnect after lost connections. */
const IDLE_MS = 5_000;
/** Retry interval, ms, while the database is unavailable. */
const AWAY_MS = 1_000;
const TICK_MS = 1_000;

/** Holds one feed per watched execution and polls the database for all of them in batches. */
export class Feeds {
  readonly #deps: FeedsDeps;
  readonly #times: FeedTimes;
  readonly #byName = new Map<string, Promise<Live>>();
  readonly #byId = new Map<bigint, Live>();
  readonly #firstLooks = new Semaphore(FIRST_LOOKS);
  /** Feeds with possible changes since the last poll. */
  readonly #dirty = new Set<Live>();
  /** Executions that changed during first polls; their feeds are known only afterwards. */
  readonly #missed = new Set<bigint>();
  #opening = 0;
  #looking = false;
  #lookNumber = 0;
  #timer: { readonly at: number; readonly timeout: NodeJS.Timeout } | undefined;
  #ticker: NodeJS.Timeout | undefined;

  constructor(deps: FeedsDeps, times: FeedTimes) {
    this.#deps = deps;
    this.#times = times;
  }

  get size(): number {
    return this.#byName.size;
  }

  /** @throws RpcError NOT_FOUND. */
  async use(name: ExecutionName): Promise<Used> {
    const key = JSON.stringify([name.project, name.domain, name.name]);
    let opening = this.#byName.get(key);
    if (opening === undefined) {
      opening = this.#open(key, name);
      this.#byName.set(key, opening);
      opening.catch(() => this.#byName.delete(key));
    }
    const live = await opening;
    live.users++;
    clearTimeout(live.idle);
    let released = false;
    return {
      feed: live.feed,
      waiting: live.waiting,
      get failure() {
        return live.failure;
      },
      get beats() {
        return live.beats;
      },
      isOver: () => live.feed.isOver(this.#now(), this.#times.lingerMs),
      refresh: () => this.#refresh(live),
      release: () => {
        if (released) return;
        released = true;
        if (--live.users === 0) live.idle = setTimeout(() => this.#drop(live), IDLE_MS).unref();
      },
    };
  }

  /** Marks these executions as possibly changed; ignores those without a watcher here. */
  changed(executionIds: Iterable<bigint>): void {
    for (const id of executionIds) {
      const live = this.#byId.get(id);
      if (live !== undefined) this.#dirty.add(live);
      else if (this.#opening > 0) this.#missed.add(id);
    }
    this.#soon();
  }

  close(): void {
    clearTimeout(this.#timer?.timeout);
    clearInterval(this.#ticker);
    for (const live of this.#byId.values()) clearTimeout(live.idle);
  }

  async #open(key: string, name: ExecutionName): Promise<Live> {
    this.#opening++;
    try {
      return await this.#firstLooks.run(() => this.#firstLook(key, name));
    } finally {
      if (--this.#opening === 0) this.#missed.clear();
    }
  }

  async #firstLook(key: string, name: ExecutionName): Promise<Live> {
    const begun = this.#now();
    const { executionId, snapshot, changes } = await readWhole(this.#deps.db, name);
    const { project, domain } = name;
    const live: Live = {
      key,
      id: create(WorkflowExecutionIdentifierSchema, { project, domain, name: name.name }),
      feed: new Feed(executionId, snapshot, changes),
      waiting: new Waiting(),
      looked: new Waiting(),
      readAt: begun,
      dueAt: 0,
      users: 0,
      beats: 0,
      beatAt: begun,
      look: 0,
      failure: undefined,
      idle: undefined,
    };
    this.#byId.set(executionId, live);
    this.#ticker ??= setInterval(() => this.#tick(), TICK_MS).unref();
    if (this.#missed.has(executionId)) this.changed([executionId]);
    return live;
  }

  #drop(live: Live): void {
    if (live.users > 0) return;
    this.#forget(live);
    if (this.#byId.size > 0) return;
    clearInterval(this.#ticker);
    this.#ticker = undefined;
  }

  #forget(live: Live): void {
    this.#byName.delete(live.key);
    this.#byId.delete(live.feed.executionId);
    this.#dirty.delete(live);
  }

  async #refresh(live: Live): Promise<void> {
    const from = this.#lookNumber;
    live.dueAt = 0;
    // A poll in progress may have started earlier.
    while (live.look <= from && live.failure === undefined) {
      this.#dirty.add(live);
      this.#soon();
      await new Promise<void>((resolve) => live.looked.add(resolve));
    }
  }

  #tick(): void {
    const now = this.#now();
    const { pollMs, heartbeatMs, lingerMs } = this.#times;
    for (const live of this.#byId.values()) {
      if (now - live.readAt >= pollMs && !live.feed.isOver(now, lingerMs)) this.#dirty.add(live);
      const over = live.feed.overAt(lingerMs);
      const isJustOver = over !== undefined && now >= over && now - over < 2 * TICK_MS;
      if (now - live.beatAt >= heartbeatMs || isJustOver) {
        live.beatAt = now;
        live.beats++;
        live.waiting.wake();
      }
    }
    this.#soon();
  }

  #soon(): void {
    if (this.#looking || this.#dirty.size === 0) return;
    let at = Number.POSITIVE_INFINITY;
    for (const live of this.#dirty) if (live.dueAt < at) at = live.dueAt;
    if (this.#timer !== undefined && this.#timer.at <= at) return;
    clearTimeout(this.#timer?.timeout);
    const timeout = setTimeout(() => void this.#look(), Math.max(0, at - this.#now())).unref();
    this.#timer = { at, timeout };
  }

  async #look(): Promise<void> {
    this.#timer = undefined;
    const now = this.#now();
    const due: Live[] = [];
    for (const live of this.#dirty) {
      if (live.dueAt > now) continue;
      due.push(live);
      if (due.length === BATCH) break;
    }
    this.#looking = true;
    this.#lookNumber++;
    for (const live of due) this.#dirty.delete(live);
    try {
      await this.#lookApart(due, now);
    } finally {
      this.#looking = false;
      this.#soon();
    }
  }

  /** Polls all in one batch; after a failure bisects it, so that an unreadable execution does not block the others. */
  async #lookApart(due: readonly Live[], begun: number): Promise<void> {
    try {
      await this.#lookAt(due, begun);
    } catch (error) {
      if (due.length > 1 && !isUnavailable(error)) {
        const middle = Math.ceil(due.length / 2);
        await this.#lookApart(due.slice(0, middle), begun);
        await this.#lookApart(due.slice(middle), begun);
        return;
      }
      this.#deps.logger.warn({ executions: due.length, error: String(error) }, "watched executions cannot be read now");
      for (const live of due) {
        live.dueAt = this.#now() + AWAY_MS;
        this.#dirty.add(live);
      }
    }
  }

  async #lookAt(due: readonly Live[], begun: number): Promise<void> {
    if (due.length === 0) return;
    const since = due.map(({ id, feed, readAt }) => ({ executionId: feed.executionId, id, snapshot: feed.at, readAt }));
    const { snapshot, changes } = await readChanges(this.#deps.db, since);
    const now = this.#now();
    for (const live of due) {
      const found = changes.get(live.feed.executionId);
      live.readAt = begun;
      live.look = this.#lookNumber;
      live.dueAt = now + LEAST_MS + ROW_MS * live.feed.size + TELL_MS * live.users;
      if (found === undefined || found === "gone") {
        live.failure = executionNotFound(live.id);
        this.#forget(live);
        live.waiting.wake();
      } else if (live.feed.apply(found, snapshot)) {
        live.beatAt = now;
        live.waiting.wake();
      }
      live.looked.wake();
    }
  }

  #now(): number {
    return this.#deps.clock().getTime();
  }
}

interface Live {
  readonly key: string;
  readonly id: WorkflowExecutionIdentifier;
  readonly feed: Feed;
  readonly waiting: Waiting;
  /** Callers that wait for the next poll, whatever its result. */
  readonly looked: Waiting;
  /** Start of the last poll. */
  readAt: number;
  /** Earliest start of the next poll. */
  dueAt: number;
  users: number;
  beats: number;
  beatAt: number;
  /** Number of the last poll that included it. */
  look: number;
  failure: Error | undefined;
  idle: NodeJS.Timeout | undefined;
}
