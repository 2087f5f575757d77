import { seededRandom } from "@flyte-ts/testing";
import { expect, test } from "vitest";
import { ShardAllocator, type LeaseAction } from "./shard-allocator.js";

// Simulates hand-over under faults: late watches, late and lost answers, processes that stop and
// resume, crashes. SHARD_SEEDS is the number of runs.
const SEEDS = Number(process.env.SHARD_SEEDS ?? 200);
const LEASE = 10_000;
const SHARDS = 8;
const FAIR_FROM = 120_000;
const END = 240_000;

/** Planted bugs, which the invariants must detect. */
type Bug = "ignoresItsLease" | "takesWithoutEnding";

interface Stored {
  version: number;
  holder: string;
}

interface Change {
  readonly name: string;
  readonly stored: Stored | undefined;
}

/** Leases with the API server's rule of versions, and an ordered but late watch. */
class World {
  now = 0;
  readonly leases = new Map<string, Stored>();
  readonly processes: Process[] = [];
  readonly violations: string[] = [];
  #version = 0;
  readonly #later: { at: number; run: () => void }[] = [];

  constructor(readonly random: () => number) {}

  get fair(): boolean {
    return this.now >= FAIR_FROM;
  }

  chance(probability: number): boolean {
    return !this.fair && this.random() < probability;
  }

  after(delay: number, run: () => void): void {
    this.#later.push({ at: this.now + delay, run });
  }

  /**
   * A write that applies to this version only; `holder` undefined deletes. Returns the new version,
   * or undefined when it was refused.
   */
  write(name: string, expected: number | undefined, holder: string | undefined): number | undefined {
    const stored = this.leases.get(name);
    if (stored?.version !== expected) return undefined;
    const next = holder === undefined ? undefined : { version: ++this.#version, holder };
    if (next === undefined) this.leases.delete(name);
    else this.leases.set(name, next);
    for (const process of this.processes) process.hear({ name, stored: next });
    return next?.version ?? 0;
  }

  run(): void {
    for (; this.now < END; this.now += 20) {
      // In any order, as messages in flight arrive.
      for (const due of this.#later.filter(({ at }) => at <= this.now)) {
        this.#later.splice(this.#later.indexOf(due), 1);
        due.run();
      }
      for (const process of this.processes) process.tick();
      for (let shard = 0; shard < SHARDS; shard++) {
        const holders = this.processes.filter((process) => process.acts(shard));
        if (holders.length > 1)
          this.violations.push(`${this.now}: shard ${shard} is held by ${holders.map(({ name }) => name).join(" and ")}`);
      }
    }
    const parts = this.processes.filter(({ up }) => up).map((process) => process.held.length);
    if (parts.reduce((sum, part) => sum + part, 0) !== SHARDS || Math.max(...parts) - Math.min(...parts) > 1)
      this.violations.push(`in the end the parts are ${parts.join(", ")}`);
  }
}

class Process {
  up = true;
  #incarnation = 0;
  #stoppedUntil = 0;
  #renewAt = 0;
  #own: number | undefined;
  readonly #view = new Map<string, Stored>();
  readonly #heard: { at: number; change: Change }[] = [];
  #book: ShardAllocator;

  constructor(
    private readonly world: World,
    readonly name: string,
    private readonly bug: Bug | undefined,
  ) {
    for (const [lease, stored] of world.leases) this.#view.set(lease, stored);
    this.#book = this.#fresh();
  }

  get #member(): string {
    return `${this.name}${this.#incarnation}`;
  }

  get held(): number[] {
    return this.#book.held(this.world.now);
  }

  #fresh(): ShardAllocator {
    const book = new ShardAllocator({ member: this.#member, shards: SHARDS, leaseMs: LEASE });
    for (const [lease, stored] of this.#view) this.#note(book, { name: lease, stored });
    return book;
  }

  /** True when the process would act for the shard now. */
  acts(shard: number): boolean {
    if (!this.up || this.world.now < this.#stoppedUntil) return false;
    if (this.bug === "ignoresItsLease") return this.#view.get(`shard-${shard}`)?.holder === this.#member;
    return this.#book.holds(shard, this.world.now);
  }

  hear(change: Change): void {
    const last = this.#heard.at(-1)?.at ?? 0;
    const lag = this.world.fair ? 10 : this.world.random() * (this.world.chance(0.02) ? 8_000 : 200);
    this.#heard.push({ at: Math.max(last, this.world.now + lag), change });
  }

  tick(): void {
    const { world } = this;
    if (!this.up || world.now < this.#stoppedUntil) return;
    if (world.chance(0.0005)) this.#stoppedUntil = world.now + world.random() * 40_000;
    if (world.chance(0.0002)) return this.#crash();
    while ((this.#heard[0]?.at ?? Number.POSITIVE_INFINITY) <= world.now) {
      const change = this.#heard.shift()?.change as Change;
      if (change.stored === undefined) this.#view.delete(change.name);
      else this.#view.set(change.name, change.stored);
      this.#note(this.#book, change);
    }
    if (world.now >= this.#renewAt) this.#renew();
    if (world.random() < 0.05) for (const step of this.#book.nextActions(world.now)) this.#do(step);
  }

  #note(book: ShardAllocator, { name, stored }: Change): void {
    const shard = /^shard-(\d+)$/.exec(name)?.[1];
    if (shard !== undefined) {
      if (stored === undefined) book.onShardLeaseGone(Number(shard));
      else book.onShardLease(Number(shard), { member: stored.holder, version: String(stored.version) });
    } else if (stored === undefined) book.onMemberGone(name);
    else book.onMember(name, String(stored.version), this.world.now);
  }

  /** Delays requests and answers, and loses some answers. */
  #send(write: () => number | undefined, answered: (version: number | undefined) => void): void {
    const { world } = this;
    const slow = () => (world.fair ? 5 : world.random() * (world.chance(0.05) ? 6_000 : 100));
    const incarnation = this.#incarnation;
    world.after(slow(), () => {
      const version = write();
      if (world.chance(0.05)) return;
      const answer = (): void => {
        if (!this.up || incarnation !== this.#incarnation) return;
        // A stopped process reads the answer when it resumes.
        if (world.now < this.#stoppedUntil) world.after(this.#stoppedUntil - world.now, answer);
        else answered(version);
      };
      world.after(slow(), answer);
    });
  }

  #renew(): void {
    const { world } = this;
    this.#renewAt = world.now + LEASE / 3;
    const sentAt = world.now;
    const [member, own] = [this.#member, this.#own];
    this.#send(
      () => world.write(member, own, member),
      (version) => {
        const stored = world.leases.get(member);
        if (version !== undefined) {
          this.#own = version;
          this.#book.onRenewed(String(version), sentAt);
        } else if (stored === undefined) {
          this.#incarnation++;
          this.#own = undefined;
          this.#book = this.#fresh();
          this.#renewAt = world.now;
        } else {
          this.#own = stored.version;
          this.#renewAt = world.now + LEASE / 10;
        }
      },
    );
  }

  #do(step: LeaseAction): void {
    const { world } = this;
    const ignore = () => undefined;
    const member = this.#member;
    switch (step.kind) {
      case "join":
        return;
      case "expireMember":
        if (this.bug === "takesWithoutEnding") {
          for (const [name, { holder, version }] of this.#view)
            if (name.startsWith("shard-") && holder === step.member) this.#send(() => world.write(name, version, member), ignore);
        } else this.#send(() => world.write(step.member, Number(step.version), undefined), ignore);
        return;
      case "acquire": {
        const version = step.version === undefined ? undefined : Number(step.version);
        this.#send(() => world.write(`shard-${step.shard}`, version, member), ignore);
        return;
      }
      case "release":
        this.#book.onShardLease(step.shard, { member: "", version: step.version });
        this.#send(() => world.write(`shard-${step.shard}`, Number(step.version), ""), ignore);
    }
  }

  #crash(): void {
    this.up = false;
    this.world.after(this.world.random() * 20_000, () => {
      const index = this.world.processes.indexOf(this);
      this.world.processes[index] = new Process(this.world, `${this.name}x`, this.bug);
    });
  }
}

function violationsOf(seed: number, bug?: Bug): readonly string[] {
  const world = new World(seededRandom(seed));
  const processes = 1 + Math.floor(world.random() * 4);
  for (let i = 0; i < processes; i++) world.processes.push(new Process(world, "abcd".charAt(i), bug));
  world.run();
  return world.violations;
}

test(`no shard ever has two holders, and in the end each has one, in worlds 1 to ${SEEDS}`, { timeout: 300_000 }, () => {
  const broken: string[] = [];
  for (let seed = 1; seed <= SEEDS && broken.length < 5; seed++) {
    const [first] = violationsOf(seed);
    if (first !== undefined) broken.push(`world ${seed}: ${first}`);
  }
  expect(broken).toEqual([]);
});

test.each<Bug>(["ignoresItsLease", "takesWithoutEnding"])("the simulation detects an allocator that %s", { timeout: 120_000 }, (bug) => {
  let found: string | undefined;
  for (let seed = 1; seed <= 200 && found === undefined; seed++) found = violationsOf(seed, bug).find((text) => text.includes("held by"));
  expect(found).toBeDefined();
});
