/** A step by which a process changes the Leases; `version` makes the write conditional. */
export type ShardStep =
  | { readonly kind: "join" }
  /** Ends the membership of a process that has not renewed it for its lease time: from then on its shards are free. */
  | { readonly kind: "expire"; readonly member: string; readonly version: string }
  | { readonly kind: "take"; readonly shard: number; readonly version: string | undefined }
  /** To be done once nothing of the shard is under way any more. */
  | { readonly kind: "giveUp"; readonly shard: number; readonly version: string };

export interface ShardBookOptions {
  /** Of this membership; never used twice. */
  readonly member: string;
  /** Number of shards. */
  readonly shards: number;
  /** Who does not renew its membership for so long loses it, ms. */
  readonly leaseMs: number;
}

interface Member {
  readonly version: string;
  /** When this process first saw this version, ms of its own clock. */
  readonly seenAt: number;
}

interface Holder {
  readonly member: string;
  readonly version: string;
}

/** Part of the lease time after which a process that could not renew stops by itself, before others may end it. */
const OWN_PATIENCE = 0.7;

/**
 * Part of the lease time that the others get, at least, to be heard again after this process was cut off. Those
 * that live renew within it; ending them would be safe and only needless. More would hold up the taking over from
 * one that died just then.
 */
const GRACE = 0.4;

/**
 * What one process knows of the Leases that share out the shards, and what follows
 * from it. Pure: the simulation runs the same rules as the shell. All times are those
 * of this process's own clock, never compared with another's.
 *
 * Each process holds a membership Lease, which alone is renewed; the Lease of a shard
 * names the membership that holds it and is written only when the shard changes hands.
 * A shard whose member is gone is free. Whoever takes over from a process that fell
 * silent first ends its membership, on the condition that it is unchanged: either
 * that write wins or the renewal, so that no two processes hold a shard.
 */
export class ShardBook {
  readonly #members = new Map<string, Member>();
  readonly #holders = new Map<number, Holder>();
  /** Until when this process may rely on its membership. */
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

  /** This process's write that gives the shard up took place. What the watch has shown already is no older, and stays. */
  gaveUp(shard: number, version: string): void {
    if (this.#holders.get(shard)?.member === this.options.member) this.#holders.set(shard, { member: "", version });
  }

  shardGone(shard: number): void {
    this.#holders.delete(shard);
  }

  /** The membership was made or renewed by a request that was sent at `sentAt`. */
  renewed(version: string, sentAt: number): void {
    // While it was cut off itself, the silence of others says little about them.
    if (this.#deadline <= sentAt) this.#excuse(sentAt);
    this.#deadline = sentAt + this.options.leaseMs * OWN_PATIENCE;
    this.memberSeen(this.options.member, version, sentAt);
  }

  /** The membership is over. */
  ended(): void {
    this.#deadline = Number.NEGATIVE_INFINITY;
  }

  /** Whether this process may still rely on its membership. */
  valid(now: number): boolean {
    return now < this.#deadline;
  }

  /** Whether this process may do anything for the shard now. */
  holds(shard: number, now: number): boolean {
    return this.valid(now) && this.#holders.get(shard)?.member === this.options.member;
  }

  held(now: number): number[] {
    if (!this.valid(now)) return [];
    return this.#shards().filter((shard) => this.#holders.get(shard)?.member === this.options.member);
  }

  /**
   * Processes that take part, as far as this one knows. Those that hold more come first and get what cannot be
   * divided: who comes anew takes nothing from a leader, nor one shard more than its part from anybody.
   */
  #live(now: number): string[] {
    const held = new Map<string, number>();
    for (const { member } of this.#holders.values()) held.set(member, (held.get(member) ?? 0) + 1);
    const count = (member: string) => held.get(member) ?? 0;
    return [...this.#members.keys()]
      .filter((member) => !this.#expired(member, now))
      .sort((a, b) => count(b) - count(a) || (a < b ? -1 : 1));
  }

  /** What to do now so that, in the end, every shard is held and no process has more than its part. */
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
    // Each begins elsewhere, so that two that take at once seldom want the same.
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
