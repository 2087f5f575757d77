/** A write to the Leases; `version` makes it conditional. */
export type ShardStep =
  | { readonly kind: "join" }
  /** Ends the membership of a process that has not renewed it within the lease time, which frees its shards. */
  | { readonly kind: "expire"; readonly member: string; readonly version: string }
  | { readonly kind: "take"; readonly shard: number; readonly version: string | undefined }
  /** To be written once no work on the shard is in progress. */
  | { readonly kind: "giveUp"; readonly shard: number; readonly version: string };

export interface ShardBookOptions {
  /** Name of this process's membership; never reused. */
  readonly member: string;
  /** Number of shards. */
  readonly shards: number;
  /** Time after which a membership that is not renewed ends, ms. */
  readonly leaseMs: number;
}

interface Member {
  readonly version: string;
  /** Time at which this process first saw this version, ms of its own clock. */
  readonly seenAt: number;
}

interface Holder {
  readonly member: string;
  readonly version: string;
}

/** Part of the lease time after which a process that could not renew stops by itself, before others may end it. */
const OWN_PATIENCE = 0.7;

/**
 * Minimum part of the lease time for which others are spared after this process was cut off. Live ones renew within it;
 * ending them would be safe but needless. A longer grace would delay taking over from one that died just then.
 */
const GRACE = 0.4;

/**
 * Tracks the Leases that distribute the shards, and derives the next steps of one process. Pure: the simulation runs
 * the same rules as the shell. All times are those of this process's own clock, never compared with another's.
 * Each process renews a membership Lease; the Lease of a shard names the membership that holds it and is written only
 * when the shard changes hands. A shard whose member is gone is free. To take over from a silent process, another first
 * ends its membership, on the condition that it is unchanged: either that write wins or the renewal, so that no two
 * processes hold a shard.
 */
export class ShardBook {
  readonly #members = new Map<string, Member>();
  readonly #holders = new Map<number, Holder>();
  /** Time until which this process may rely on its membership. */
  #deadline = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: ShardBookOptions) {}

  memberSeen(member: string, version: string, now: number): void {
    if (this.#members.get(member)?.version !== version) this.#members.set(member, { version, seenAt: now });
  }

  memberGone(member: string): void {
    this.#members.delete(member);
    if (member === this.options.member) this.ended();
  }

  shardSeen(shard: number, holder: Holder): void {
    this.#holders.set(shard, holder);
  }

  /** Records that this process's release of the shard was written. A newer version from the watch stays. */
  gaveUp(shard: number, version: string): void {
    if (this.#holders.get(shard)?.member === this.options.member) this.#holders.set(shard, { member: "", version });
  }

  shardGone(shard: number): void {
    this.#holders.delete(shard);
  }

  /** Records that a request sent at `sentAt` created or renewed the membership. */
  renewed(version: string, sentAt: number): void {
    // While this process was cut off, it could not see the renewals of others.
    if (this.#deadline <= sentAt) this.#excuse(sentAt);
    this.#deadline = sentAt + this.options.leaseMs * OWN_PATIENCE;
    this.memberSeen(this.options.member, version, sentAt);
  }

  /** Records that the membership has ended. */
  ended(): void {
    this.#deadline = Number.NEGATIVE_INFINITY;
  }

  /** True while this process may rely on its membership. */
  valid(now: number): boolean {
    return now < this.#deadline;
  }

  /** True while this process may act for the shard. */
  holds(shard: number, now: number): boolean {
    return this.valid(now) && this.#holders.get(shard)?.member === this.options.member;
  }

  held(now: number): number[] {
    if (!this.valid(now)) return [];
    return this.#shards().filter((shard) => this.#holders.get(shard)?.member === this.options.member);
  }

  /**
   * Known live members. Those that hold more come first and get the remainder of the division: a new member takes
   * nothing from a leader, and never more than its share.
   */
  #live(now: number): string[] {
    const held = new Map<string, number>();
    for (const { member } of this.#holders.values()) held.set(member, (held.get(member) ?? 0) + 1);
    const count = (member: string) => held.get(member) ?? 0;
    return [...this.#members.keys()]
      .filter((member) => !this.#expired(member, now))
      .sort((a, b) => count(b) - count(a) || (a < b ? -1 : 1));
  }

  /** Steps towards a state in which every shard is held and no process has more than its share. */
  steps(now: number): ShardStep[] {
    const { member: me } = this.options;
    if (!this.valid(now) || !this.#members.has(me)) return this.#members.has(me) ? [] : [{ kind: "join" }];
    const steps: ShardStep[] = [];
    for (const [member, { version }] of this.#members) if (this.#expired(member, now)) steps.push({ kind: "expire", member, version });
    const live = this.#live(now);
    const rank = live.indexOf(me);
    const part = Math.floor(this.options.shards / live.length) + (rank < this.options.shards % live.length ? 1 : 0);
    const mine = this.held(now);
    for (const shard of mine.slice(part)) steps.push({ kind: "giveUp", shard, version: this.#holders.get(shard)?.version ?? "" });
    // Members start at different shards, so that two of them seldom want the same.
    const start = Math.floor((rank * this.options.shards) / live.length);
    const shards = this.#shards();
    const free = [...shards.slice(start), ...shards.slice(0, start)].filter((shard) => this.#free(shard));
    for (const shard of free.slice(0, Math.max(0, part - mine.length))) {
      steps.push({ kind: "take", shard, version: this.#holders.get(shard)?.version });
    }
    return steps;
  }

  #shards(): number[] {
    return Array.from({ length: this.options.shards }, (_, shard) => shard);
  }

  #free(shard: number): boolean {
    const holder = this.#holders.get(shard);
    return holder === undefined || !this.#members.has(holder.member);
  }

  #excuse(now: number): void {
    const earliest = now - this.options.leaseMs * (1 - GRACE);
    for (const [member, { version, seenAt }] of this.#members) this.#members.set(member, { version, seenAt: Math.max(seenAt, earliest) });
  }

  #expired(member: string, now: number): boolean {
    const { leaseMs, member: me } = this.options;
    const seenAt = this.#members.get(member)?.seenAt ?? now;
    return member !== me && now - seenAt > leaseMs;
  }
}
