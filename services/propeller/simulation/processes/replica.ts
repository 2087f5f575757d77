import { ShardAllocator, type LeaseAction } from "@flyte-ts/kubernetes";
import type { Random } from "../random.js";
import type { Faults } from "../world/faults.js";
import { type LeaseChange, type Leases, shardLease, type StoredLease } from "./leases.js";
import { type Host, ProcessLifetime, type ExecutionWorker } from "./process-lifetime.js";
import type { Schedule } from "../world/schedule.js";

/** Planted mistakes in the assignment of shards. */
export type ShardBug =
  /** A process acts after the expiry of its lease. */
  | "ignoresItsLease"
  /** A process does not load the workflows of a gained shard. */
  | "takesUpNothing";

export interface ReplicaOptions {
  readonly name: string;
  readonly schedule: Schedule;
  readonly random: Random;
  readonly faults: Faults;
  readonly leases: Leases;
  readonly shards: number;
  /** Offset of the process's clock, ms. */
  readonly clockSkewMs: number;
  readonly bug: string | undefined;
}

const LEASE_MS = 10_000;
/** Maximum wait for writes in flight before a shard is released, ms. */
const RELEASE_TIMEOUT_MS = 5_000;

/**
 * One of several propeller processes. It shares the shards with the others by the real rules; it
 * crashes, pauses and shuts down.
 */
export class Replica {
  life: ProcessLifetime | undefined;
  crashes = 0;
  /** Number of shards gained. */
  gains = 0;
  #member = "";
  #memberships = 0;
  #own: number | undefined;
  #book: ShardAllocator;
  readonly #view = new Map<string, StoredLease>();
  readonly #workers = new Map<number, Set<ExecutionWorker>>();
  readonly #open = new Set<number>();
  readonly #releasing = new Set<number>();
  #leaving = false;

  constructor(private readonly options: ReplicaOptions) {
    this.#book = this.#newBook();
    options.leases.watch((change) => this.#deliver(change));
    this.#start();
  }

  get member(): string {
    return this.#member;
  }

  /** Host of the workers for executions of this shard. */
  hostOf(shard: number): Host {
    const life = () => this.life;
    return {
      get life() {
        return life();
      },
      clockSkewMs: this.options.clockSkewMs,
      crashPoint: () => this.#crashPoint(),
      holdsLease: () => this.#holds(shard),
      // The consumer ends with the process, so messages meanwhile are lost.
      deliver: (action) => {
        this.life?.after(0, action);
        return true;
      },
    };
  }

  /** Adds the worker of a new execution. */
  add(shard: number, worker: ExecutionWorker): void {
    const workers = this.#workers.get(shard) ?? new Set();
    this.#workers.set(shard, workers);
    workers.add(worker);
    this.life?.after(this.options.random.between(1, 20), () => {
      if (this.#open.has(shard)) worker.begin();
    });
  }

  #start(): void {
    this.life = new ProcessLifetime(this.options.schedule);
    this.#leaving = false;
    this.#view.clear();
    for (const [name, stored] of this.options.leases.all) this.#view.set(name, stored);
    this.#newMembership();
    this.#renewing();
    this.#sharing();
  }

  #newMembership(): void {
    this.#member = `${this.options.name}${++this.#memberships}`;
    this.#own = undefined;
    this.#book = this.#newBook();
  }

  #newBook(): ShardAllocator {
    const book = new ShardAllocator({ member: this.#member, shards: this.options.shards, leaseMs: LEASE_MS });
    for (const [name, stored] of this.#view) this.#onLease(book, { name, stored });
    return book;
  }

  #onLease(book: ShardAllocator, { name, stored }: LeaseChange): void {
    const shard = /^shard-(\d+)$/.exec(name)?.[1];
    if (shard !== undefined) {
      if (stored === undefined) book.onShardLeaseGone(Number(shard));
      else book.onShardLease(Number(shard), { member: stored.holder, version: String(stored.version) });
    } else if (stored === undefined) book.onMemberGone(name);
    else book.onMember(name, String(stored.version), this.options.schedule.now);
  }

  /** The watch is ordered and sometimes late. */
  #deliver(change: LeaseChange): void {
    const { random, faults, schedule } = this.options;
    const at = Math.max(this.#deliveredUntil, schedule.now + random.between(1, random.chance(faults.slowLeases) ? 4_000 : 20));
    this.#deliveredUntil = at;
    this.life?.after(at - schedule.now, () => {
      if (change.stored === undefined) this.#view.delete(change.name);
      else this.#view.set(change.name, change.stored);
      this.#onLease(this.#book, change);
      this.#share();
    });
  }
  #deliveredUntil = 0;

  #holds(shard: number): boolean {
    if (this.options.bug === "ignoresItsLease") return this.#open.has(shard);
    const { now } = this.options.schedule;
    if (this.#open.size > 0 && !this.#book.isMember(now)) this.#loseAll();
    return this.#open.has(shard) && this.#book.holds(shard, now);
  }

  #renewing(): void {
    const { random, schedule } = this.options;
    this.#renew();
    const period = this.#book.isMember(schedule.now) ? LEASE_MS / 3 : LEASE_MS / 10;
    this.life?.after(period * random.between(0.9, 1.1), () => {
      if (!this.#leaving) this.#renewing();
    });
  }

  #renew(): void {
    const { leases, schedule } = this.options;
    const [member, sentAt] = [this.#member, schedule.now];
    this.#send(
      () => leases.write(member, this.#own, member),
      (version) => {
        if (member !== this.#member || this.#leaving) return;
        const stored = leases.all.get(member);
        if (version !== undefined) {
          this.#own = version;
          this.#book.onRenewed(String(version), sentAt);
          this.#share();
        } else if (stored === undefined) {
          if (this.options.bug !== "ignoresItsLease") this.#loseAll();
          this.#newMembership();
          this.#renew();
        } else this.#own = stored.version;
      },
    );
  }

  /** Requests and responses are delayed, and some responses are lost. */
  #send(write: () => number | undefined, answered: (version: number | undefined) => void): void {
    const { random, faults, schedule } = this.options;
    const { life } = this;
    const slow = (): number => random.between(0.5, random.chance(faults.slowLeases) ? 3_000 : 10);
    schedule.after(slow(), () => {
      const version = write();
      if (!random.chance(faults.slowLeases)) life?.after(slow(), () => answered(version));
    });
  }

  #sharing(): void {
    const { random, faults } = this.options;
    if (random.chance(faults.gracefulExit)) this.#shutDown();
    if (this.#leaving || this.#crashOrPausePoint()) return;
    this.#share();
    this.life?.after(1_000, () => this.#sharing());
  }

  #share(): void {
    if (this.#leaving) return;
    const { now } = this.options.schedule;
    for (const shard of this.#open) if (!this.#book.holds(shard, now) && this.options.bug !== "ignoresItsLease") this.#lose(shard);
    for (const shard of this.#book.held(now)) if (!this.#open.has(shard) && !this.#releasing.has(shard)) this.#gain(shard);
    for (const step of this.#book.nextActions(now)) this.#do(step);
  }

  #gain(shard: number): void {
    this.#open.add(shard);
    this.gains++;
    if (this.options.bug === "takesUpNothing" && this.gains > 2) return;
    this.life?.after(this.options.random.between(1, 100), () => {
      if (this.#open.has(shard)) for (const worker of this.#workers.get(shard) ?? []) worker.begin();
    });
  }

  #lose(shard: number): void {
    this.#open.delete(shard);
    for (const worker of this.#workers.get(shard) ?? []) worker.drop();
  }

  #loseAll(): void {
    for (const shard of this.#open) this.#lose(shard);
  }

  #do(step: LeaseAction): void {
    const { leases } = this.options;
    const ignore = (): void => undefined;
    const member = this.#member;
    switch (step.kind) {
      case "join":
        return;
      case "expireMember":
        this.#send(() => leases.write(step.member, Number(step.version), undefined), ignore);
        return;
      case "acquire": {
        const version = step.version === undefined ? undefined : Number(step.version);
        this.#send(() => leases.write(shardLease(step.shard), version, member), ignore);
        return;
      }
      case "release":
        this.#release(step.shard, step.version);
    }
  }

  #release(shard: number, version: string): void {
    if (this.#releasing.has(shard)) return;
    this.#releasing.add(shard);
    this.#lose(shard);
    this.#whenWritten([shard], () => {
      this.#releasing.delete(shard);
      this.#book.onShardLease(shard, { member: "", version });
      this.#send(
        () => this.options.leases.write(shardLease(shard), Number(version), ""),
        () => undefined,
      );
    });
  }

  /** Calls `done` when writes in flight of these shards have ended. */
  #whenWritten(shards: readonly number[], done: () => void): void {
    const { schedule } = this.options;
    const latest = schedule.now + RELEASE_TIMEOUT_MS;
    const look = (): void => {
      const writing = shards.some((shard) => [...(this.#workers.get(shard) ?? [])].some((worker) => worker.writing));
      if (writing && schedule.now < latest) this.life?.after(20, look);
      else done();
    };
    look();
  }

  /** Releases all shards and ends, as on a request to stop. */
  #shutDown(): void {
    this.#leaving = true;
    const shards = [...this.#open];
    this.#loseAll();
    this.#whenWritten(shards, () => {
      this.#book.onMembershipLost();
      const member = this.#member;
      this.#send(
        () => this.options.leases.write(member, this.options.leases.all.get(member)?.version, undefined),
        () => undefined,
      );
      this.#end();
    });
  }

  #crashPoint(): boolean {
    return this.life === undefined || this.#crashOrPausePoint();
  }

  /** Ends or pauses the process at random. Returns true when it ended. */
  #crashOrPausePoint(): boolean {
    const { random, faults } = this.options;
    if (random.chance(faults.processPause)) this.life?.sleep(random.between(100, random.pick([5_000, 40_000])));
    if (!random.chance(faults.propellerCrash / 3)) return false;
    this.#loseAll();
    this.#end();
    return true;
  }

  #end(): void {
    const { random, schedule } = this.options;
    if (this.life !== undefined) this.life.alive = false;
    this.life = undefined;
    this.#releasing.clear();
    this.crashes++;
    schedule.after(random.between(10, 15_000), () => this.#start());
  }
}
