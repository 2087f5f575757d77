import { toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ManualTime, settlePromises } from "@flyte-ts/async/manual-time";
import { taskRequestSubject } from "@flyte-ts/bus-contract";
import { TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { DesiredState, type TaskEvent, type TaskRequest, TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { createLogger } from "@flyte-ts/telemetry";
import { type RunningPlugin, runPlugin } from "../service/run-plugin.js";
import type { PluginEnvironment } from "./conformance.js";
import { MemoryBus } from "./memory-bus.js";

/** Faults of the place in which jobs run. */
export const JOB_FAULTS = [
  /** The next creation is refused for now. */
  "createRefused",
  /** The next creation takes place, and its answer is lost. */
  "createUnknown",
  /** The next creation takes place within a few seconds, after the caller has given up. */
  "createLate",
  /** The next creation arrives twice, and the caller gets the answer of the second. */
  "createDoubled",
  /** The next deletion is accepted and lost. */
  "deleteLost",
  /** Every call fails until `heal`. */
  "unavailable",
] as const;

export type JobFault = (typeof JOB_FAULTS)[number];

/** A place in which jobs run, whose calls can fail. */
export interface SimulatedEnvironment extends PluginEnvironment {
  startCount(request: TaskRequest): number;
  isRunning(request: TaskRequest): boolean;
  inject(fault: JobFault): void;
  /** Ends all faults. */
  heal(): void;
  /** Time between the start of the first process and the first request, ms; default 0. */
  readonly quietMs?: number;
}

const TERMINAL: ReadonlySet<Phase> = new Set([Phase.SUCCEEDED, Phase.FAILED, Phase.ABORTED]);
/** Rounds of requests after the faults in which an attempt has to end. */
const MAX_ROUNDS = 60;
const ROUND_MS = 30_000;

/**
 * Runs one attempt in a world of faults that follow from the seed: calls and events are lost, the
 * process is killed, requests repeat. Afterwards the faults end.
 *
 * @returns violations: a second job, an attempt without an end, a job that outlives its attempt, a
 *   message that stays on the bus
 */
export async function simulateAttempt(makeEnvironment: () => SimulatedEnvironment, seed: number): Promise<readonly string[]> {
  const world = new SimulatedWorld(makeEnvironment(), randomOf(seed));
  await world.startFirstProcess();
  for (let steps = 10 + world.below(25); steps > 0 && !world.hasEnded; steps--) await world.step();
  await world.converge();
  const problems = world.problems();
  await world.stopProcess();
  return problems;
}

/**
 * Runs one attempt for each seed until one has violations.
 *
 * @returns violations of that seed, with its number
 */
export async function simulateSeeds(
  makeEnvironment: () => SimulatedEnvironment,
  { from = 0, seeds }: { readonly from?: number; readonly seeds: number },
): Promise<readonly string[]> {
  for (let seed = from; seed < from + seeds; seed++) {
    const problems = await simulateAttempt(makeEnvironment, seed);
    if (problems.length > 0) return problems.map((problem) => `seed ${seed}: ${problem}`);
  }
  return [];
}

class SimulatedWorld {
  readonly #bus = new MemoryBus();
  readonly #clock = new ManualTime();
  readonly #request: TaskRequest;
  #process: RunningPlugin | undefined;
  #desired = DesiredState.RUN;
  /** Number of published events that propeller has received. */
  #received = 0;
  /** The newest event in progress: propeller stores no state of an end. */
  #known: TaskEvent | undefined;
  #end: Phase | undefined;

  constructor(
    private readonly environment: SimulatedEnvironment,
    private readonly random: () => number,
  ) {
    this.#request = environment.request();
  }

  get hasEnded(): boolean {
    return this.#end !== undefined;
  }

  below(limit: number): number {
    return Math.floor(this.random() * limit);
  }

  async startFirstProcess(): Promise<void> {
    await this.startProcess();
    if (this.environment.quietMs !== undefined) await this.#advance(this.environment.quietMs);
  }

  async startProcess(): Promise<void> {
    const logger = createLogger({ service: "simulation", level: "silent" });
    const plugin = this.environment.plugin(this.#clock);
    this.#process = await runPlugin({ plugin, bus: this.#bus, logger, clock: this.#clock, random: this.random });
    await this.#settle();
  }

  /** Ends the process. Calls in progress may wait for the clock. */
  async stopProcess(): Promise<void> {
    let stopped = false;
    void this.#process?.stop().finally(() => (stopped = true));
    await settlePromises();
    while (!stopped) await this.#advance(1_000);
  }

  async step(): Promise<void> {
    const choice = this.below(100);
    if (choice < 35) await this.#send();
    else if (choice < 55) await this.#advance(this.below(ROUND_MS));
    else if (choice < 72) this.environment.inject(JOB_FAULTS[this.below(JOB_FAULTS.length)] ?? "createUnknown");
    else if (choice < 82) this.environment.heal();
    else if (choice < 90) await this.#crash();
    else if (choice < 92) this.#bus.dropNext++;
    else if (choice < 96) await this.#complete();
    else await this.#abort();
    if (this.random() < 0.7) this.#receive();
  }

  /** Repeats requests without faults until the attempt has ended, then removes it. */
  async converge(): Promise<void> {
    this.environment.heal();
    this.#bus.dropNext = 0;
    for (let round = 0; round < MAX_ROUNDS && !this.hasEnded; round++) {
      await this.#send();
      if (round > 2) await this.#complete();
      await this.#advance(ROUND_MS);
      await this.#bus.redeliver();
      await this.#settle();
      this.#receive();
    }
    this.#desired = DesiredState.FINALIZE;
    // Once another attempt follows, only its state is stored.
    if (this.random() < 0.5) this.#known = undefined;
    await this.#send();
    await this.#advance(2 * ROUND_MS);
    await this.#bus.redeliver();
    await this.#advance(2 * ROUND_MS);
  }

  problems(): readonly string[] {
    const { environment } = this;
    const starts = environment.startCount(this.#request);
    return [
      ...(starts > 1 ? [`${starts} jobs were started`] : []),
      ...(this.hasEnded ? [] : ["the attempt did not end"]),
      ...(environment.isRunning(this.#request) ? [`a job runs after the attempt ended with ${Phase[this.#end ?? 0]}`] : []),
      ...(this.#bus.unacknowledged === 0 ? [] : [`${this.#bus.unacknowledged} messages stay on the bus`]),
    ];
  }

  /** Sends the request as propeller does, which knows the events that it has received. */
  async #send(): Promise<void> {
    const { event, pluginState = new Uint8Array() } = this.#known ?? {};
    const request: TaskRequest = {
      ...this.#request,
      desired: this.#desired,
      deleteResources: this.#desired !== DesiredState.RUN,
      requestedAt: timestampFromMs(this.#clock.now()),
      knownPhase: event?.phase ?? Phase.UNDEFINED,
      knownPhaseVersion: event?.phaseVersion ?? 0,
      pluginState,
    };
    await this.#bus.send(taskRequestSubject(request.template?.type ?? "", request.shard), toBinary(TaskRequestSchema, request));
    await this.#settle();
  }

  async #abort(): Promise<void> {
    this.#desired = DesiredState.ABORT;
    await this.#send();
  }

  async #crash(): Promise<void> {
    await this.stopProcess();
    await this.startProcess();
    await this.#bus.redeliver();
    await this.#settle();
  }

  async #complete(): Promise<void> {
    if (!this.environment.isRunning(this.#request)) return;
    await this.environment.complete(this.#request, this.#clock);
    await this.#settle();
  }

  async #advance(ms: number): Promise<void> {
    await this.#clock.advance(ms);
    await this.#settle();
  }

  /** Propeller keeps the first end of an attempt. */
  #receive(): void {
    for (const event of this.#bus.events.slice(this.#received)) {
      const phase = event.event?.phase ?? Phase.UNDEFINED;
      if (TERMINAL.has(phase)) this.#end ??= phase;
      else if (this.#end === undefined) this.#known = event;
    }
    this.#received = this.#bus.published.length;
  }

  async #settle(): Promise<void> {
    await settlePromises();
    await this.environment.settle?.();
    await settlePromises();
  }
}

/** Random numbers in [0, 1) that follow from the seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = Math.imul(seed + 1, 0x9e37_79b1) >>> 0;
  return () => {
    state = (state + 0x6d2b_79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
