import { create } from "@bufbuild/protobuf";
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
  /** An execution is looked at so often though nobody told of a change, for that may be lost, ms. */
  readonly pollMs: number;
  /** Watchers hear of an execution at least so often, ms. */
  readonly heartbeatMs: number;
  /** How long the ends of nodes and attempts are waited for once an execution has ended, ms. */
  readonly lingerMs: number;
}

/** A feed that watchers use. */
export interface Used {
  readonly feed: Feed;
  readonly waiting: Waiting;
  /** Why it ended: its execution is gone. */
  readonly failure: Error | undefined;
  /** Changes with each sign of life. */
  readonly beats: number;
  /** Whether nothing follows any more. */
  isOver(): boolean;
  /** Resolves when what is known is no older than this call. */
  refresh(): Promise<void>;
  release(): void;
}

/** Between two looks at an execution, ms: small against what people notice. */
const LEAST_MS = 100;
/** A look reads all rows of an execution, about 1 µs each; it rests ten times as long. */
const ROW_MS = 0.01;
/** What it takes to tell one watcher, ms: thousands of them are told of several changes at once. */
const TELL_MS = 0.1;
/** Feeds of one look, and first looks at a time. */
const BATCH = 200;
const FIRST_LOOKS = 8;
/** A feed that nobody uses is kept so long: clients that lost their connection come back. */
const IDLE_MS = 5_000;
/** When the database is away. */
const AWAY_MS = 1_000;
const TICK_MS = 1_000;

/** One feed for each execution that is watched in this process, however many watch it, and the looks at the database for all of them. */
export class Feeds {
  readonly #deps: FeedsDeps;
  readonly #times: FeedTimes;
  readonly #byName = new Map<string, Promise<Live>>();
  readonly #byId = new Map<bigint, Live>();
  readonly #firstLooks = new Turns(FIRST_LOOKS);
  /** Feeds of which something may have changed since the last look. */
  readonly #dirty = new Set<Live>();
  /** Executions that changed while first looks were under way; whose they are is known only then. */
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

  /** These executions may have changed; those that nobody watches here are passed over. */
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
      return await this.#firstLooks.take(() => this.#firstLook(key, name));
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
    // A look that is under way may have begun before.
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

  /** Looks at all of them at once; where that fails at one half after the other, so that who cannot be read holds up no other. */
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
  /** Who waits for the next look, whatever it brings. */
  readonly looked: Waiting;
  /** When the last look began. */
  readAt: number;
  /** Not before. */
  dueAt: number;
  users: number;
  beats: number;
  beatAt: number;
  /** Number of the last look that it was part of. */
  look: number;
  failure: Error | undefined;
  idle: NodeJS.Timeout | undefined;
}

/** Work of which so much is done at a time. */
class Turns {
  #free: number;
  readonly #queue: (() => void)[] = [];

  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#queue.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#queue.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }
}
