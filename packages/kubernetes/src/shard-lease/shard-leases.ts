import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "@flyte-ts/telemetry";
import type { KubeClient } from "../client.js";
import { isAlreadyExists, isConflict, isNotFound } from "../errors.js";
import { createInformer, type Informer } from "../informer.js";
import {
  GROUP_LABEL,
  type Lease,
  type LeaseNames,
  LEASES,
  memberLease,
  memberLeaseName,
  readLease,
  shardLease,
  SLOT_LABEL,
} from "./lease-object.js";
import { ShardBook, type ShardStep } from "./shard-book.js";

export interface ShardLeasesOptions {
  /** Needs its own connections and a request timeout well below the lease time. */
  readonly client: Pick<KubeClient, "list" | "watch" | "create" | "replace" | "mergePatch" | "delete">;
  readonly namespace: string;
  /** Processes of one group share the shards; Leases are named `<group>-shard-<k>` and `<group>-member-<member>`. */
  readonly group: string;
  readonly shards: number;
  /** Name of this process, unique among replicas and restarts; letters, digits and `-`. */
  readonly identity: string;
  /**
   * A stable identity that at most one process has at a time, such as the name of a StatefulSet's pod: a process that
   * starts with it knows that its predecessor is dead, and does not wait for the lease time.
   */
  readonly slot?: string | undefined;
  readonly leaseMs: number;
  readonly logger: Logger;
  /** Milliseconds of a clock that also runs while the process is suspended. */
  readonly clock: () => number;
  readonly random: () => number;
  /** The process holds the shard from now on. */
  readonly onGained: (shard: number) => void;
  /** Stop work on the shard, at once when it is lost. Resolves when no work on it is in progress. */
  readonly onLost: (shard: number) => Promise<void>;
}

/** Longest delay before an unanswered write is retried, ms, whatever the lease time. */
const RETRY_MS = 1_000;

/** Distributes shards evenly among the processes of a group; see ShardBook for the rules. */
export class ShardLeases {
  readonly #abort = new AbortController();
  readonly #open = new Set<number>();
  readonly #givingUp = new Set<number>();
  #book: ShardBook;
  #member: string;
  #incarnation = 1;
  /** True once the membership Lease exists. */
  #joined = false;
  #informer: Informer<Lease> | undefined;
  #running: Promise<unknown> = Promise.resolve();
  /** True when something has arrived since the Leases were last evaluated. */
  #changed = false;
  #wake: () => void = () => {
    this.#changed = true;
  };

  constructor(private readonly options: ShardLeasesOptions) {
    this.#member = options.identity;
    this.#book = this.#newBook();
  }

  /** True while this process may act for the shard. When the membership has expired, `onLost` is called before this returns. */
  holds(shard: number): boolean {
    if (this.#open.size > 0 && !this.#book.valid(this.options.clock())) this.#loseAll();
    return this.#open.has(shard) && this.#book.holds(shard, this.options.clock());
  }

  get held(): ReadonlySet<number> {
    return this.#open;
  }

  start(): void {
    const { client, namespace, group, leaseMs, logger } = this.options;
    this.#informer = createInformer<Lease>({
      client,
      ref: LEASES,
      namespace,
      labelSelector: `${GROUP_LABEL}=${group}`,
      // Also delivers this process's own renewals.
      silenceMs: leaseMs,
      logger,
      onEvent: ({ type, object }) => this.#seen(type === "deleted", object),
    });
    this.#running = Promise.all([this.#renewing(), this.#sharing(), this.#endPredecessors()]);
  }

  /** Releases all shards, so that other processes need not wait; resolves when they are released. */
  async stop(): Promise<void> {
    this.#abort.abort();
    this.#wake();
    await this.#running;
    await this.#informer?.stop();
    await Promise.all([...this.#open].map((shard) => this.#lose(shard)));
    this.#book.ended();
    const { client, namespace, group, logger } = this.options;
    try {
      await client.delete(LEASES, { namespace, name: memberLeaseName(group, this.#member) });
    } catch (error) {
      logger.warn({ error: String(error) }, "membership could not be ended, it will expire");
    }
  }

  get #retryMs(): number {
    return Math.min(RETRY_MS, this.options.leaseMs / 10);
  }

  #newBook(): ShardBook {
    const { shards, leaseMs, clock } = this.options;
    const book = new ShardBook({ member: this.#member, shards, leaseMs });
    for (const object of this.#informer?.list() ?? []) note(book, { group: this.options.group, object, now: clock() });
    return book;
  }

  #seen(gone: boolean, object: Lease): void {
    const { group, clock } = this.options;
    if (gone) forget(this.#book, group, object);
    else note(this.#book, { group, object, now: clock() });
    this.#wake();
  }

  /** Renews the membership, three times per lease time. */
  async #renewing(): Promise<void> {
    const { leaseMs, random, logger, clock } = this.options;
    const { signal } = this.#abort;
    await this.#informer?.synced;
    while (!signal.aborted) {
      const begun = clock();
      try {
        await this.#renew();
      } catch (error) {
        logger.warn({ error: String(error) }, "membership could not be renewed");
      }
      const period = (this.#book.valid(clock()) ? leaseMs / 3 : this.#retryMs) * (0.9 + random() / 5);
      // Measured from the start of the last renewal: a slow server must not cost the membership.
      await sleep(Math.max(period - (clock() - begun), period / 10), undefined, { signal }).catch(() => undefined);
    }
  }

  async #renew(): Promise<void> {
    const { client, leaseMs, slot, clock, logger } = this.options;
    const mine = memberLease(this.options, { member: this.#member, slot, leaseMs, time: new Date() });
    const sentAt = clock();
    try {
      const written = await (this.#joined ? this.#extend(mine) : client.create<Lease>(LEASES, mine));
      this.#joined = true;
      this.#book.renewed(written.metadata.resourceVersion ?? "", sentAt);
      this.#wake();
    } catch (error) {
      if (isNotFound(error) && this.#joined) {
        logger.warn("another process has ended this one's membership");
        this.#loseAll();
        this.#member = `${this.options.identity}-${++this.#incarnation}`;
        this.#joined = false;
        this.#book = this.#newBook();
        return this.#renew();
      }
      // An earlier attempt succeeded but its answer was lost: the next one extends.
      if (isAlreadyExists(error)) this.#joined = true;
      throw error;
    }
  }

  /** Patches, which fails when the Lease is gone: a PUT would recreate a Lease that another process has ended. */
  #extend({ metadata: { namespace, name }, spec }: Lease): Promise<Lease> {
    return this.options.client.mergePatch<Lease>(LEASES, { namespace, name, body: { spec } });
  }

  /** Until then the predecessors count as alive. */
  async #endPredecessors(): Promise<void> {
    const { client, namespace, slot, logger } = this.options;
    const { signal } = this.#abort;
    await this.#informer?.synced;
    // This process joins only afterwards.
    const memberships = this.#informer?.list().filter(({ metadata }) => slot !== undefined && metadata.labels?.[SLOT_LABEL] === slot);
    for (const { metadata } of memberships ?? []) {
      while (!signal.aborted) {
        try {
          await client.delete(LEASES, { namespace, name: metadata.name });
          break;
        } catch (error) {
          logger.warn({ error: String(error) }, "membership of the process before could not be ended");
          await sleep(this.#retryMs, undefined, { signal }).catch(() => undefined);
        }
      }
    }
  }

  /** Evaluates the Leases on changes and periodically. */
  async #sharing(): Promise<void> {
    const { leaseMs, logger } = this.options;
    const { signal } = this.#abort;
    await this.#informer?.synced;
    while (!signal.aborted) {
      this.#changed = false;
      this.#compare();
      const taken = await Promise.all(this.#book.steps(this.options.clock()).map((step) => this.#take(step)));
      const failed = taken.filter((error) => error !== undefined);
      for (const error of failed) logger.warn({ error }, "lease could not be written");
      if (signal.aborted) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, failed.length > 0 ? this.#retryMs : leaseMs / 10);
        this.#wake = () => {
          this.#changed = true;
          clearTimeout(timer);
          // Groups changes that arrive together.
          setTimeout(resolve, 5);
        };
        // Handles changes that arrived meanwhile.
        if (this.#changed) this.#wake();
      });
    }
  }

  /** Reports shards that were gained or lost. */
  #compare(): void {
    const now = this.options.clock();
    for (const shard of this.#open) if (!this.#book.holds(shard, now)) void this.#lose(shard);
    for (const shard of this.#book.held(now)) {
      if (this.#open.has(shard) || this.#givingUp.has(shard) || this.#abort.signal.aborted) continue;
      this.#open.add(shard);
      this.options.onGained(shard);
    }
  }

  #loseAll(): void {
    for (const shard of this.#open) void this.#lose(shard);
  }

  #lose(shard: number): Promise<void> {
    this.#open.delete(shard);
    return this.options.onLost(shard);
  }

  /** @returns the reason of a failure; undefined also when another process was faster. */
  async #take(step: ShardStep): Promise<string | undefined> {
    try {
      await this.#do(step);
      return undefined;
    } catch (error) {
      return isConflict(error) || isAlreadyExists(error) || isNotFound(error) ? undefined : String(error);
    }
  }

  async #do(step: ShardStep): Promise<void> {
    const { client, logger } = this.options;
    const names: LeaseNames = this.options;
    switch (step.kind) {
      case "join":
        // The renewal loop does it.
        return;
      case "expire":
        logger.warn({ member: step.member }, "a process has fallen silent, its shards are free");
        await client.delete(LEASES, {
          namespace: names.namespace,
          name: memberLeaseName(names.group, step.member),
          resourceVersion: step.version,
        });
        return;
      case "take": {
        const lease = shardLease(names, { shard: step.shard, member: this.#member, time: new Date() });
        if (step.version === undefined) await client.create(LEASES, lease);
        else await client.replace(LEASES, { ...lease, metadata: { ...lease.metadata, resourceVersion: step.version } });
        return;
      }
      case "giveUp":
        // Not awaited: each shard is released as soon as its own runs are written.
        if (!this.#givingUp.has(step.shard)) void this.#giveUp(step);
        return;
    }
  }

  async #giveUp({ shard, version: resourceVersion }: ShardStep & { kind: "giveUp" }): Promise<void> {
    const { client, logger } = this.options;
    this.#givingUp.add(shard);
    try {
      await this.#lose(shard);
      const lease = shardLease(this.options, { shard, member: "", time: new Date() });
      const { metadata } = await client.replace<Lease>(LEASES, { ...lease, metadata: { ...lease.metadata, resourceVersion } });
      this.#book.gaveUp(shard, metadata.resourceVersion ?? "");
    } catch (error) {
      if (!isConflict(error)) logger.warn({ shard, error: String(error) }, "shard could not be given up");
    } finally {
      this.#givingUp.delete(shard);
    }
  }
}

function note(book: ShardBook, { group, object, now }: { group: string; object: Lease; now: number }): void {
  const read = readLease(group, object);
  const at = object.metadata.resourceVersion ?? "";
  if (read?.kind === "member") book.memberSeen(read.member, at, now);
  if (read?.kind === "shard") book.shardSeen(read.shard, { member: object.spec?.holderIdentity ?? "", version: at });
}

function forget(book: ShardBook, group: string, object: Lease): void {
  const read = readLease(group, object);
  if (read?.kind === "member") book.memberGone(read.member);
  if (read?.kind === "shard") book.shardGone(read.shard);
}
