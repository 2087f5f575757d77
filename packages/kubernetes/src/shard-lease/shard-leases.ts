import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "@flyte-ts/telemetry";
import type { KubeClient } from "../client/client.js";
import { isAlreadyExists, isConflict, isNotFound } from "../client/errors.js";
import { createInformer, type Informer } from "../informer.js";
import {
  GROUP_LABEL,
  type Lease,
  type LeaseNames,
  LEASES,
  memberLease,
  memberLeaseName,
  parseLeaseName,
  shardLease,
  STABLE_IDENTITY_LABEL,
} from "./lease-object.js";
import { LapseLog } from "./lapse-log.js";
import { ShardAllocator, type LeaseAction } from "./shard-allocator.js";

export interface ShardLeasesOptions {
  /** Needs its own connections and a request timeout well below the lease time. */
  readonly client: Pick<KubeClient, "list" | "watch" | "create" | "replace" | "mergePatch" | "delete">;
  readonly namespace: string;
  /**
   * Processes of one group share the shards; Leases are named `<group>-shard-<k>` and
   * `<group>-member-<member>`.
   */
  readonly group: string;
  readonly shards: number;
  /** Name of this process, unique among replicas and restarts; letters, digits and `-`. */
  readonly identity: string;
  /**
   * A stable identity that at most one process has at a time, such as the name of a StatefulSet's
   * pod. A process that starts with it may assume that its predecessor has exited, and does not
   * wait for the lease time.
   */
  readonly stableIdentity?: string | undefined;
  readonly leaseMs: number;
  readonly logger: Logger;
  /** Milliseconds of a clock that also runs while the process is suspended. */
  readonly clock: () => number;
  readonly random: () => number;
  /**
   * The process holds the shard from now on. `regained` is true when it held the shard until a
   * recent lapse of its membership.
   */
  readonly onGained: (shard: number, regained: boolean) => void;
  /**
   * Stop work on the shard, at once when it is lost. Resolves when no work on it is in progress.
   */
  readonly onLost: (shard: number) => Promise<void>;
}

/** Maximum delay before a write without response is retried, ms, whatever the lease time. */
const RETRY_MS = 1_000;

/** Distributes shards evenly among the processes of a group; see ShardAllocator for the rules. */
export class ShardLeases {
  readonly #abort = new AbortController();
  readonly #held = new Set<number>();
  readonly #releasing = new Set<number>();
  /** Shards that this process held when its membership lapsed, until it is stable again. */
  readonly #lapsed = new Set<number>();
  readonly #lapseLog: LapseLog;
  #allocator: ShardAllocator;
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
    this.#lapseLog = new LapseLog(options.logger, options.clock);
    this.#allocator = this.#newAllocator();
  }

  /**
   * True while this process may act for the shard. When the membership has expired, `onLost` is
   * called before this returns.
   */
  holds(shard: number): boolean {
    this.#checkMembership();
    return this.#held.has(shard) && this.#allocator.holds(shard, this.options.clock());
  }

  get held(): ReadonlySet<number> {
    return this.#held;
  }

  start(): void {
    const { client, namespace, group, leaseMs, logger } = this.options;
    this.#informer = createInformer<Lease>({
      client,
      ref: LEASES,
      namespace,
      labelSelector: `${GROUP_LABEL}=${group}`,
      // The watch also delivers this process's own renewals, so silence for the lease time means a
      // broken stream.
      idleTimeoutMs: leaseMs,
      logger,
      onEvent: ({ type, object }) => this.#onLeaseEvent(type === "deleted", object),
    });
    this.#running = Promise.all([this.#renewLoop(), this.#allocateLoop(), this.#expirePredecessors()]);
  }

  /**
   * Releases all shards, so that other processes need not wait; resolves when they are released.
   */
  async stop(): Promise<void> {
    this.#abort.abort();
    this.#wake();
    await this.#running;
    await this.#informer?.stop();
    await Promise.all([...this.#held].map((shard) => this.#revoke(shard)));
    this.#allocator.onMembershipLost();
    const { client, namespace, group, logger } = this.options;
    try {
      await client.delete(LEASES, { namespace, name: memberLeaseName(group, this.#member) });
    } catch (error) {
      logger.warn({ error: String(error) }, "cannot delete the membership lease; it will expire");
    }
  }

  /** Resolves when the Leases are known, or when this process stops before the API has answered. */
  async #firstList(): Promise<void> {
    const { signal } = this.#abort;
    if (!signal.aborted) await Promise.race([this.#informer?.synced, once(signal, "abort")]);
  }

  get #retryMs(): number {
    return Math.min(RETRY_MS, this.options.leaseMs / 10);
  }

  #newAllocator(): ShardAllocator {
    const { shards, leaseMs, clock } = this.options;
    const allocator = new ShardAllocator({ member: this.#member, shards, leaseMs });
    for (const object of this.#informer?.list() ?? []) recordLease(allocator, { group: this.options.group, object, now: clock() });
    return allocator;
  }

  #onLeaseEvent(deleted: boolean, object: Lease): void {
    const { group, clock } = this.options;
    if (deleted) removeLease(this.#allocator, group, object);
    else recordLease(this.#allocator, { group, object, now: clock() });
    this.#wake();
  }

  /** Renews the membership, three times per lease time. */
  async #renewLoop(): Promise<void> {
    const { leaseMs, random, logger, clock } = this.options;
    const { signal } = this.#abort;
    await this.#firstList();
    while (!signal.aborted) {
      const startedAt = clock();
      try {
        await this.#renew();
      } catch (error) {
        logger.warn({ error: String(error) }, "cannot renew the membership lease");
      }
      const period = (this.#allocator.isMember(clock()) ? leaseMs / 3 : this.#retryMs) * (0.9 + random() / 5);
      // Measured from the start of the last renewal: a slow server must not cost the membership.
      await sleep(Math.max(period - (clock() - startedAt), period / 10), undefined, { signal }).catch(() => undefined);
    }
  }

  async #renew(): Promise<void> {
    const { client, leaseMs, stableIdentity, clock } = this.options;
    const lease = memberLease(this.options, { member: this.#member, stableIdentity, leaseMs, time: new Date() });
    const sentAt = clock();
    try {
      const written = await (this.#joined ? this.#extend(lease) : client.create<Lease>(LEASES, lease));
      this.#joined = true;
      this.#allocator.onRenewed(written.metadata.resourceVersion ?? "", sentAt);
      this.#wake();
    } catch (error) {
      if (isNotFound(error) && this.#joined) {
        this.#onLapse("another process ended the membership");
        this.#member = `${this.options.identity}-${++this.#incarnation}`;
        this.#joined = false;
        this.#allocator = this.#newAllocator();
        return this.#renew();
      }
      // An earlier attempt succeeded but its answer was lost: the next one extends.
      if (isAlreadyExists(error)) this.#joined = true;
      throw error;
    }
  }

  /**
   * Patches, which fails when the Lease is gone: a PUT would recreate a Lease that another process
   * has ended.
   */
  #extend({ metadata: { namespace, name }, spec }: Lease): Promise<Lease> {
    return this.options.client.mergePatch<Lease>(LEASES, { namespace, name, body: { spec } });
  }

  /**
   * Deletes the memberships of earlier processes with the same stable identity, which count as
   * alive until then.
   */
  async #expirePredecessors(): Promise<void> {
    const { client, namespace, stableIdentity, logger } = this.options;
    const { signal } = this.#abort;
    await this.#firstList();
    // This process joins only after this method, so none of the memberships is its own.
    const memberships = this.#informer
      ?.list()
      .filter(({ metadata }) => stableIdentity !== undefined && metadata.labels?.[STABLE_IDENTITY_LABEL] === stableIdentity);
    for (const { metadata } of memberships ?? []) {
      while (!signal.aborted) {
        try {
          await client.delete(LEASES, { namespace, name: metadata.name });
          break;
        } catch (error) {
          logger.warn({ error: String(error) }, "cannot delete the membership lease of the previous process");
          await sleep(this.#retryMs, undefined, { signal }).catch(() => undefined);
        }
      }
    }
  }

  /** Evaluates the Leases on changes and periodically. */
  async #allocateLoop(): Promise<void> {
    const { leaseMs, logger } = this.options;
    const { signal } = this.#abort;
    await this.#firstList();
    while (!signal.aborted) {
      this.#changed = false;
      this.#notifyChanges();
      const errors = await Promise.all(this.#allocator.nextActions(this.options.clock()).map((action) => this.#tryAction(action)));
      const failed = errors.filter((error) => error !== undefined);
      for (const error of failed) logger.warn({ error }, "cannot write a shard lease");
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
  #notifyChanges(): void {
    const now = this.options.clock();
    this.#checkMembership();
    for (const shard of this.#held) if (!this.#allocator.holds(shard, now)) void this.#revoke(shard);
    for (const shard of this.#allocator.held(now)) {
      if (this.#held.has(shard) || this.#releasing.has(shard) || this.#abort.signal.aborted) continue;
      this.#held.add(shard);
      this.options.onGained(shard, this.#lapsed.has(shard));
    }
    if (this.#allocator.isMember(now) && this.#lapseLog.onMember(this.#held.size)) this.#lapsed.clear();
  }

  #checkMembership(): void {
    if (this.#held.size > 0 && !this.#allocator.isMember(this.options.clock())) this.#onLapse("the lease expired before it was renewed");
  }

  #onLapse(reason: string): void {
    // A lapse that was noticed before has left no shards.
    if (this.#held.size === 0) return;
    this.#lapseLog.onLapse(reason, this.#held.size);
    for (const shard of this.#held) {
      this.#lapsed.add(shard);
      void this.#revoke(shard);
    }
  }

  #revoke(shard: number): Promise<void> {
    this.#held.delete(shard);
    return this.options.onLost(shard);
  }

  /** @returns the reason of a failure; undefined also when another process was faster. */
  async #tryAction(action: LeaseAction): Promise<string | undefined> {
    try {
      await this.#applyAction(action);
      return undefined;
    } catch (error) {
      return isConflict(error) || isAlreadyExists(error) || isNotFound(error) ? undefined : String(error);
    }
  }

  async #applyAction(action: LeaseAction): Promise<void> {
    const { client, logger } = this.options;
    const names: LeaseNames = this.options;
    switch (action.kind) {
      case "join":
        // The renewal loop performs the join.
        return;
      case "expireMember":
        logger.warn({ member: action.member }, "member lease expired, releasing its shards");
        await client.delete(LEASES, {
          namespace: names.namespace,
          name: memberLeaseName(names.group, action.member),
          resourceVersion: action.version,
        });
        return;
      case "acquire": {
        const lease = shardLease(names, { shard: action.shard, member: this.#member, time: new Date() });
        if (action.version === undefined) await client.create(LEASES, lease);
        else await client.replace(LEASES, { ...lease, metadata: { ...lease.metadata, resourceVersion: action.version } });
        return;
      }
      case "release":
        // Not awaited: each shard is released as soon as its own runs are written.
        if (!this.#releasing.has(action.shard)) void this.#release(action);
        return;
    }
  }

  async #release({ shard, version: resourceVersion }: LeaseAction & { kind: "release" }): Promise<void> {
    const { client, logger } = this.options;
    this.#releasing.add(shard);
    try {
      await this.#revoke(shard);
      const lease = shardLease(this.options, { shard, member: "", time: new Date() });
      const { metadata } = await client.replace<Lease>(LEASES, { ...lease, metadata: { ...lease.metadata, resourceVersion } });
      this.#allocator.onReleased(shard, metadata.resourceVersion ?? "");
    } catch (error) {
      if (!isConflict(error)) logger.warn({ shard, error: String(error) }, "cannot release the shard");
    } finally {
      this.#releasing.delete(shard);
    }
  }
}

function recordLease(allocator: ShardAllocator, { group, object, now }: { group: string; object: Lease; now: number }): void {
  const parsed = parseLeaseName(group, object);
  const version = object.metadata.resourceVersion ?? "";
  if (parsed?.kind === "member") allocator.onMember(parsed.member, version, now);
  if (parsed?.kind === "shard") allocator.onShardLease(parsed.shard, { member: object.spec?.holderIdentity ?? "", version });
}

function removeLease(allocator: ShardAllocator, group: string, object: Lease): void {
  const parsed = parseLeaseName(group, object);
  if (parsed?.kind === "member") allocator.onMemberGone(parsed.member);
  if (parsed?.kind === "shard") allocator.onShardLeaseGone(parsed.shard);
}
