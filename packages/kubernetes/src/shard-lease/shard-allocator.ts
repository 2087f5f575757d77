/** A write to the Leases; `version` makes it conditional. */
export type LeaseAction =
  | { readonly kind: "join" }
  /**
   * Ends the membership of a process that has not renewed it within the lease time, which frees its
   * shards.
   */
  | { readonly kind: "expireMember"; readonly member: string; readonly version: string }
  | { readonly kind: "acquire"; readonly shard: number; readonly version: string | undefined }
  /** To be written once no work on the shard is in progress. */
  | { readonly kind: "release"; readonly shard: number; readonly version: string };

export interface ShardAllocatorOptions {
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

/**
 * Fraction of the lease time after which a process that could not renew stops by itself, before
 * others may end it.
 */
const SELF_EXPIRY_FRACTION = 0.7;

/**
 * Minimum fraction of the lease time for which this process does not end other memberships after it
 * lost its connection. Live members renew within that time; ending them would be safe but needless.
 * A longer grace would delay the takeover from a member that exited in that time.
 */
const RECONNECT_GRACE_FRACTION = 0.4;

/**
 * Tracks the Leases that distribute the shards, and derives the next steps of one process. Pure:
 * the simulation runs the same rules as the shell. All times are those of this process's own clock,
 * never compared with another's. Each process renews a membership Lease; the Lease of a shard names
 * the membership that holds it and is written only when the shard changes hands. A shard whose
 * member is gone is free. To take over from a silent process, another first ends its membership, on
 * the condition that it is unchanged: either that write wins or the renewal, so that no two
 * processes hold a shard.
 */
export class ShardAllocator {
  readonly #members = new Map<string, Member>();
  readonly #holders = new Map<number, Holder>();
  /** Time until which this process may rely on its membership. */
  #deadline = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: ShardAllocatorOptions) {}

  onMember(member: string, version: string, now: number): void {
    if (this.#members.get(member)?.version !== version) this.#members.set(member, { version, seenAt: now });
  }

  onMemberGone(member: string): void {
    this.#members.delete(member);
    if (member === this.options.member) this.onMembershipLost();
  }

  onShardLease(shard: number, holder: Holder): void {
    this.#holders.set(shard, holder);
  }

  /**
   * Records that this process's release of the shard was written. A newer version from the watch
   * stays.
   */
  onReleased(shard: number, version: string): void {
    if (this.#holders.get(shard)?.member === this.options.member) this.#holders.set(shard, { member: "", version });
  }

  onShardLeaseGone(shard: number): void {
    this.#holders.delete(shard);
  }

  /** Records that a request sent at `sentAt` created or renewed the membership. */
  onRenewed(version: string, sentAt: number): void {
    // While this process was cut off, it could not see the renewals of others.
    if (this.#deadline <= sentAt) this.#extendGrace(sentAt);
    this.#deadline = sentAt + this.options.leaseMs * SELF_EXPIRY_FRACTION;
    this.onMember(this.options.member, version, sentAt);
  }

  /** Records that the membership has ended. */
  onMembershipLost(): void {
    this.#deadline = Number.NEGATIVE_INFINITY;
  }

  /** True while this process may rely on its membership. */
  isMember(now: number): boolean {
    return now < this.#deadline;
  }

  /** True while this process may act for the shard. */
  holds(shard: number, now: number): boolean {
    return this.isMember(now) && this.#holders.get(shard)?.member === this.options.member;
  }

  held(now: number): number[] {
    if (!this.isMember(now)) return [];
    return this.#allShards().filter((shard) => this.#holders.get(shard)?.member === this.options.member);
  }

  /**
   * Known live members. Those that hold more come first and get the remainder of the division: a
   * new member takes nothing from a leader, and never more than its share.
   */
  #liveMembers(now: number): string[] {
    const held = new Map<string, number>();
    for (const { member } of this.#holders.values()) held.set(member, (held.get(member) ?? 0) + 1);
    const count = (member: string) => held.get(member) ?? 0;
    return [...this.#members.keys()]
      .filter((member) => !this.#isExpired(member, now))
      .sort((a, b) => count(b) - count(a) || (a < b ? -1 : 1));
  }

  /** Steps towards a state in which every shard is held and no process has more than its share. */
  nextActions(now: number): LeaseAction[] {
    const { member: me } = this.options;
    if (!this.isMember(now) || !this.#members.has(me)) return this.#members.has(me) ? [] : [{ kind: "join" }];
    const actions: LeaseAction[] = [];
    for (const [member, { version }] of this.#members)
      if (this.#isExpired(member, now)) actions.push({ kind: "expireMember", member, version });
    const live = this.#liveMembers(now);
    const rank = live.indexOf(me);
    const fairShare = Math.floor(this.options.shards / live.length) + (rank < this.options.shards % live.length ? 1 : 0);
    const heldShards = this.held(now);
    for (const shard of heldShards.slice(fairShare))
      actions.push({ kind: "release", shard, version: this.#holders.get(shard)?.version ?? "" });
    // Members start at different shards, so that two of them seldom want the same.
    const start = Math.floor((rank * this.options.shards) / live.length);
    const shards = this.#allShards();
    const free = [...shards.slice(start), ...shards.slice(0, start)].filter((shard) => this.#isFree(shard));
    for (const shard of free.slice(0, Math.max(0, fairShare - heldShards.length))) {
      actions.push({ kind: "acquire", shard, version: this.#holders.get(shard)?.version });
    }
    return actions;
  }

  #allShards(): number[] {
    return Array.from({ length: this.options.shards }, (_, shard) => shard);
  }

  #isFree(shard: number): boolean {
    const holder = this.#holders.get(shard);
    return holder === undefined || !this.#members.has(holder.member);
  }

  #extendGrace(now: number): void {
    const earliest = now - this.options.leaseMs * (1 - RECONNECT_GRACE_FRACTION);
    for (const [member, { version, seenAt }] of this.#members) this.#members.set(member, { version, seenAt: Math.max(seenAt, earliest) });
  }

  #isExpired(member: string, now: number): boolean {
    const { leaseMs, member: me } = this.options;
    const seenAt = this.#members.get(member)?.seenAt ?? now;
    return member !== me && now - seenAt > leaseMs;
  }
}
