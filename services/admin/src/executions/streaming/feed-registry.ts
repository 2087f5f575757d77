import { create } from "@bufbuild/protobuf";
import { Semaphore } from "@flyte-ts/async";
import { type WorkflowExecutionIdentifier, WorkflowExecutionIdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { isUnavailable } from "@flyte-ts/postgres";
import type { Logger } from "@flyte-ts/telemetry";
import { type ExecutionName, watchedExecutionNotFound } from "../model/identifier.js";
import type { ChangesOfAll, KnownState } from "../store/watch/known-state.js";
import type { Snapshot } from "../store/watch/snapshot.js";
import { Waiters } from "./waiters.js";

/** The state of one execution for all its watchers in this process. */
export interface Feed<Changes> {
  readonly executionId: bigint;
  /** Snapshot of the latest poll. */
  readonly at: Snapshot;
  /** Number of stored rows. */
  readonly size: number;
  /** Applies the changes of a poll; returns true when watchers need a message. */
  apply(changes: Changes, at: Snapshot): boolean;
  /** Number of non-terminal rows. */
  readonly open: number;
  /** End of the execution, milliseconds since the epoch; undefined before. */
  readonly endedAt: number | undefined;
}

/** A feed whose first read has begun. */
export interface OpenedFeed<State> {
  readonly feed: State;
  readonly loaded: Promise<void>;
  /** Its snapshot is an earlier one, so that changes are read before the feed is complete. */
  readonly isOld?: boolean;
}

/** Reads feeds and their changes from the database. */
export interface FeedSource<State extends Feed<Changes>, Changes> {
  /**
   * Reads an execution. The feed may be incomplete until `loaded` resolves; `onRows` tells that it
   * has more rows.
   *
   * @throws RpcError NOT_FOUND.
   */
  open(name: ExecutionName, onRows: () => void): Promise<OpenedFeed<State>>;
  /** Called after each read that leaves an execution and all its rows ended. */
  onEnded?(feed: State): void;
  /** Reads the changes of executions since their snapshots. */
  readChanges(known: readonly KnownState[]): Promise<ChangesOfAll<Changes>>;
}

export interface FeedsDeps {
  readonly logger: Logger;
  readonly clock: () => Date;
}

export interface FeedLimits {
  /** Time for which an unused feed is kept, ms: clients reconnect and return. */
  readonly idleMs: number;
  /** Maximum of concurrent first reads, each of which holds a connection to the database. */
  readonly maxFirstReads: number;
  /** Maximum of rows of all unused feeds; the one that is unused for longest is dropped first. */
  readonly maxIdleRows: number;
  /** Poll interval of an execution, ms, since notifications of changes may be lost. */
  readonly pollMs: number;
  /** Maximum interval between messages to a watcher, ms. */
  readonly heartbeatMs: number;
  /**
   * Time, ms, for which terminal events of nodes and attempts are awaited after the end of their
   * execution.
   */
  readonly lingerMs: number;
}

/** A feed in use by a watcher. */
export interface FeedHandle<State> {
  readonly feed: State;
  readonly waiters: Waiters;
  /** Set when the feed has ended: its execution was deleted or could not be read. */
  readonly failure: Error | undefined;
  /** Counter that changes with each heartbeat. */
  readonly heartbeats: number;
  /** The state is of an earlier time than its first read, until the first poll. */
  readonly isOld: boolean;
  /** True when no change follows. */
  isComplete(): boolean;
  /** Resolves when the state is no older than this call. */
  refresh(): Promise<void>;
  release(): void;
}

/** Minimum interval between polls of an execution, ms: too short for users to notice. */
const MIN_POLL_MS = 100;
/**
 * Additional interval per row, ms. A poll reads all rows of an execution, about 1 µs each, and the
 * pause after it is ten times as long.
 */
const POLL_COST_PER_ROW_MS = 0.01;
/**
 * Additional interval per watcher, ms: with thousands of watchers one message combines several
 * changes.
 */
const PUSH_COST_MS = 0.1;
/** Maximum of feeds per poll. */
const BATCH = 200;
/** Retry interval, ms, while the database is unavailable. */
const RETRY_MS = 1_000;
const TICK_MS = 1_000;
/**
 * Delay, ms, after which a feed that began with an old state is polled: the poll reads all rows of
 * the execution.
 */
const CHECK_DELAY_MS = 1_000;

/** Holds one feed per watched execution and polls the database for all of them in batches. */
export class FeedRegistry<State extends Feed<Changes>, Changes> {
  readonly #deps: FeedsDeps;
  readonly #source: FeedSource<State, Changes>;
  readonly #limits: FeedLimits;
  readonly #byName = new Map<string, Promise<FeedEntry<State>>>();
  readonly #byId = new Map<bigint, FeedEntry<State>>();
  readonly #firstReads: Semaphore;
  /** Feeds with possible changes since the last poll. */
  readonly #dirty = new Set<FeedEntry<State>>();
  /** Feeds without watchers, the one that is unused for longest first. */
  readonly #idle = new Set<FeedEntry<State>>();
  /** Executions that changed during first polls; their feeds are known only afterwards. */
  readonly #missed = new Set<bigint>();
  #opening = 0;
  #polling = false;
  #pollNumber = 0;
  #timer: { readonly at: number; readonly timeout: NodeJS.Timeout } | undefined;
  #ticker: NodeJS.Timeout | undefined;

  constructor(deps: FeedsDeps, source: FeedSource<State, Changes>, limits: FeedLimits) {
    this.#deps = deps;
    this.#source = source;
    this.#limits = limits;
    this.#firstReads = new Semaphore(limits.maxFirstReads);
  }

  get size(): number {
    return this.#byName.size;
  }

  /** @throws RpcError NOT_FOUND. */
  async acquire(name: ExecutionName): Promise<FeedHandle<State>> {
    const key = JSON.stringify([name.project, name.domain, name.name]);
    let opening = this.#byName.get(key);
    if (opening === undefined) {
      opening = this.#open(key, name);
      this.#byName.set(key, opening);
      opening.catch(() => this.#byName.delete(key));
    }
    const entry = await opening;
    entry.users++;
    clearTimeout(entry.idleTimer);
    this.#idle.delete(entry);
    let released = false;
    return {
      feed: entry.feed,
      waiters: entry.waiters,
      get failure() {
        return entry.failure;
      },
      get heartbeats() {
        return entry.heartbeats;
      },
      get isOld() {
        return entry.isOld;
      },
      isComplete: () => !entry.isLoading && !entry.isOld && this.#isComplete(entry.feed, this.#now()),
      refresh: () => this.#refresh(entry),
      release: () => {
        if (released) return;
        released = true;
        if (--entry.users === 0) this.#setIdle(entry);
      },
    };
  }

  /** Marks these executions as possibly changed; ignores those without a watcher here. */
  changed(executionIds: Iterable<bigint>): void {
    for (const id of executionIds) {
      const entry = this.#byId.get(id);
      if (entry !== undefined) this.#dirty.add(entry);
      else if (this.#opening > 0) this.#missed.add(id);
    }
    this.#schedulePoll();
  }

  /** Marks all executions as possibly changed. */
  changedAny(): void {
    this.changed([...this.#byId.keys()]);
  }

  close(): void {
    clearTimeout(this.#timer?.timeout);
    clearInterval(this.#ticker);
    for (const entry of this.#byId.values()) clearTimeout(entry.idleTimer);
  }

  #open(key: string, name: ExecutionName): Promise<FeedEntry<State>> {
    this.#opening++;
    const opened = Promise.withResolvers<FeedEntry<State>>();
    void this.#firstReads.run(async () => {
      try {
        await this.#firstRead(key, name, opened.resolve);
      } catch (error) {
        opened.reject(error);
      }
    });
    return opened.promise.finally(() => {
      if (--this.#opening === 0) this.#missed.clear();
    });
  }

  /** Calls `onOpen` with the feed, and resolves when it has all rows. */
  async #firstRead(key: string, name: ExecutionName, onOpen: (entry: FeedEntry<State>) => void): Promise<void> {
    const begun = this.#now();
    const waiters = new Waiters();
    const { feed, loaded, isOld = false } = await this.#source.open(name, () => waiters.wake());
    const { project, domain } = name;
    const entry: FeedEntry<State> = {
      key,
      id: create(WorkflowExecutionIdentifierSchema, { project, domain, name: name.name }),
      feed,
      waiters,
      polled: new Waiters(),
      isLoading: true,
      isOld,
      readAt: begun,
      // The first poll of an old state does not compete with a page that loads.
      dueAt: isOld ? begun + CHECK_DELAY_MS : 0,
      users: 0,
      heartbeats: 0,
      heartbeatAt: begun,
      pollNumber: 0,
      failure: undefined,
      idleTimer: undefined,
    };
    const { executionId } = feed;
    this.#byId.set(executionId, entry);
    this.#ticker ??= setInterval(() => this.#tick(), TICK_MS).unref();
    if (this.#missed.has(executionId)) this.#dirty.add(entry);
    onOpen(entry);
    try {
      await loaded;
      entry.isLoading = false;
      if (isOld) this.#dirty.add(entry);
      else this.#noteEnd(feed);
      this.#schedulePoll();
    } catch (error) {
      this.#fail(entry, error instanceof Error ? error : new Error(String(error)));
    }
    waiters.wake();
  }

  #noteEnd(feed: State): void {
    if (feed.endedAt !== undefined && feed.open === 0) this.#source.onEnded?.(feed);
  }

  /** Ends the streams of a feed with an error; the next watcher opens it anew. */
  #fail(entry: FeedEntry<State>, failure: Error): void {
    entry.failure = failure;
    this.#remove(entry);
    entry.waiters.wake();
  }

  #setIdle(entry: FeedEntry<State>): void {
    const { idleMs, maxIdleRows } = this.#limits;
    entry.idleTimer = setTimeout(() => this.#drop(entry), idleMs).unref();
    this.#idle.add(entry);
    let rows = 0;
    for (const { feed } of this.#idle) rows += feed.size;
    for (const oldest of this.#idle) {
      if (rows <= maxIdleRows) return;
      rows -= oldest.feed.size;
      clearTimeout(oldest.idleTimer);
      this.#drop(oldest);
    }
  }

  #drop(entry: FeedEntry<State>): void {
    if (entry.users > 0) return;
    this.#remove(entry);
    if (this.#byId.size > 0) return;
    clearInterval(this.#ticker);
    this.#ticker = undefined;
  }

  #remove(entry: FeedEntry<State>): void {
    this.#idle.delete(entry);
    if (this.#byId.get(entry.feed.executionId) !== entry) return;
    this.#byName.delete(entry.key);
    this.#byId.delete(entry.feed.executionId);
    this.#dirty.delete(entry);
  }

  async #refresh(entry: FeedEntry<State>): Promise<void> {
    const from = this.#pollNumber;
    entry.dueAt = 0;
    // A poll in progress may have started earlier.
    while (entry.pollNumber <= from && entry.failure === undefined) {
      this.#dirty.add(entry);
      this.#schedulePoll();
      await new Promise<void>((resolve) => entry.polled.add(resolve));
    }
  }

  #tick(): void {
    const now = this.#now();
    const { pollMs, heartbeatMs } = this.#limits;
    for (const entry of this.#byId.values()) {
      if (now - entry.readAt >= pollMs && !this.#isComplete(entry.feed, now)) this.#dirty.add(entry);
      const over = this.#completesAt(entry.feed);
      const hasJustCompleted = over !== undefined && now >= over && now - over < 2 * TICK_MS;
      if (now - entry.heartbeatAt >= heartbeatMs || hasJustCompleted) {
        entry.heartbeatAt = now;
        entry.heartbeats++;
        entry.waiters.wake();
      }
    }
    this.#schedulePoll();
  }

  /**
   * True when the execution and all its rows are terminal: no change follows. Rows that are still
   * open `lingerMs` after the execution's end are not awaited.
   */
  #isComplete(feed: State, now: number): boolean {
    const over = this.#completesAt(feed);
    return over !== undefined && (feed.open === 0 || now >= over);
  }

  /** Time after which open rows of a terminal execution are no longer awaited. */
  #completesAt({ endedAt }: State): number | undefined {
    return endedAt === undefined ? undefined : endedAt + this.#limits.lingerMs;
  }

  #schedulePoll(): void {
    if (this.#polling || this.#dirty.size === 0) return;
    let at = Number.POSITIVE_INFINITY;
    for (const entry of this.#dirty) if (!entry.isLoading && entry.dueAt < at) at = entry.dueAt;
    if (at === Number.POSITIVE_INFINITY) return;
    if (this.#timer !== undefined && this.#timer.at <= at) return;
    clearTimeout(this.#timer?.timeout);
    const timeout = setTimeout(() => void this.#poll(), Math.max(0, at - this.#now())).unref();
    this.#timer = { at, timeout };
  }

  async #poll(): Promise<void> {
    this.#timer = undefined;
    const now = this.#now();
    const due: FeedEntry<State>[] = [];
    for (const entry of this.#dirty) {
      if (entry.isLoading || entry.dueAt > now) continue;
      due.push(entry);
      if (due.length === BATCH) break;
    }
    this.#polling = true;
    this.#pollNumber++;
    for (const entry of due) this.#dirty.delete(entry);
    try {
      await this.#pollWithBisect(due, now);
    } finally {
      this.#polling = false;
      this.#schedulePoll();
    }
  }

  /**
   * Polls all in one batch; after a failure bisects it, so that an unreadable execution does not
   * block the others.
   */
  async #pollWithBisect(due: readonly FeedEntry<State>[], begun: number): Promise<void> {
    try {
      await this.#pollBatch(due, begun);
    } catch (error) {
      if (due.length > 1 && !isUnavailable(error)) {
        const middle = Math.ceil(due.length / 2);
        await this.#pollWithBisect(due.slice(0, middle), begun);
        await this.#pollWithBisect(due.slice(middle), begun);
        return;
      }
      this.#deps.logger.warn({ executions: due.length, error: String(error) }, "watched executions could not be read; retrying");
      for (const entry of due) {
        entry.dueAt = this.#now() + RETRY_MS;
        this.#dirty.add(entry);
      }
    }
  }

  async #pollBatch(due: readonly FeedEntry<State>[], begun: number): Promise<void> {
    if (due.length === 0) return;
    const since = due.map(({ id, feed, readAt }) => ({ executionId: feed.executionId, id, snapshot: feed.at, readAt }));
    const { snapshot, changes } = await this.#source.readChanges(since);
    const now = this.#now();
    for (const entry of due) {
      const found = changes.get(entry.feed.executionId);
      entry.readAt = begun;
      entry.pollNumber = this.#pollNumber;
      entry.dueAt = now + MIN_POLL_MS + POLL_COST_PER_ROW_MS * entry.feed.size + PUSH_COST_MS * entry.users;
      if (found === undefined || found === "gone") {
        this.#fail(entry, watchedExecutionNotFound(entry.id));
      } else {
        const hasChanged = entry.feed.apply(found, snapshot);
        if (hasChanged) entry.heartbeatAt = now;
        if (hasChanged || entry.isOld) entry.waiters.wake();
        entry.isOld = false;
        if (hasChanged) this.#noteEnd(entry.feed);
      }
      entry.polled.wake();
    }
  }

  #now(): number {
    return this.#deps.clock().getTime();
  }
}

interface FeedEntry<State> {
  readonly key: string;
  readonly id: WorkflowExecutionIdentifier;
  readonly feed: State;
  readonly waiters: Waiters;
  /** The first read has not ended; polls wait for it. */
  isLoading: boolean;
  /** The state is of an earlier time than its first read. */
  isOld: boolean;
  /** Callers that wait for the next poll, whatever its result. */
  readonly polled: Waiters;
  /** Start of the last poll. */
  readAt: number;
  /** Earliest start of the next poll. */
  dueAt: number;
  users: number;
  heartbeats: number;
  heartbeatAt: number;
  /** Number of the last poll that included this feed. */
  pollNumber: number;
  failure: Error | undefined;
  idleTimer: NodeJS.Timeout | undefined;
}
