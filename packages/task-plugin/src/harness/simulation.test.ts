import { expect, test } from "vitest";
import type { ManualTime } from "@flyte-ts/async/manual-time";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { definePlugin, type Plugin, type PluginHost } from "../plugin.js";
import type { TerminalStatus } from "../status.js";
import { sampleRequest } from "./sample-request.js";
import { type JobFault, type SimulatedEnvironment, simulateSeeds } from "./simulation.js";

const SEEDS = Number(process.env["PLUGIN_SEEDS"] ?? 30);
/** A seed takes some 50 ms on a free machine. */
const TIMEOUT_MS = 60_000 + SEEDS * 1_000;

/** Mistakes of a plugin whose jobs live elsewhere. */
type Mistake = "createsUnderNewName" | "pretendsAborted" | "trustsDelete" | "neverPolls" | "abortsWhatItStarted";

type State = "running" | "succeeded";

/** A job service that other systems call too. */
class JobService implements SimulatedEnvironment {
  readonly #jobs = new Map<string, State>();
  readonly #faults: JobFault[] = [];
  #starts = 0;
  #unavailable = false;
  #clock: ManualTime | undefined;

  constructor(private readonly mistake?: Mistake) {}

  plugin(clock: ManualTime): Plugin {
    this.#clock = clock;
    return jobPlugin(this, clock, this.mistake);
  }

  request(): TaskRequest {
    return sampleRequest("job");
  }

  async complete(): Promise<void> {
    for (const name of this.#jobs.keys()) this.#jobs.set(name, "succeeded");
    await this.#clock?.advance(1_000);
  }

  startCount(): number {
    return this.#starts;
  }

  isRunning(): boolean {
    return [...this.#jobs.values()].includes("running");
  }

  inject(fault: JobFault): void {
    if (fault === "unavailable") this.#unavailable = true;
    else this.#faults.push(fault);
  }

  heal(): void {
    this.#unavailable = false;
    this.#faults.length = 0;
  }

  async get(name: string): Promise<State | undefined> {
    await this.#arrive();
    return this.#jobs.get(name);
  }

  async create(name: string): Promise<void> {
    await this.#arrive();
    const fault = this.#take("create");
    if (fault === "createRefused") throw new Error("too many requests");
    if (fault === "createLate") this.#clock?.schedule(900, () => this.#start(name));
    else this.#start(name);
    if (fault === "createDoubled") this.#start(name);
    if (fault === "createUnknown" || fault === "createLate") throw new Error("timeout");
  }

  async delete(name: string): Promise<void> {
    await this.#arrive();
    if (this.#take("delete") === undefined) this.#jobs.delete(name);
  }

  #start(name: string): void {
    if (this.#jobs.has(name)) return;
    this.#starts++;
    this.#jobs.set(name, "running");
  }

  async #arrive(): Promise<void> {
    await Promise.resolve();
    if (this.#unavailable) throw new Error("unavailable");
  }

  #take(kind: string): JobFault | undefined {
    const index = this.#faults.findIndex((fault) => fault.startsWith(kind));
    return index < 0 ? undefined : this.#faults.splice(index, 1)[0];
  }
}

/** The plugin of the tutorial in short, with a mistake. */
function jobPlugin(jobs: JobService, clock: ManualTime, mistake: Mistake | undefined): Plugin {
  const started = new Set<string>();
  let creations = 0;
  let host: PluginHost | undefined;
  const nameOf = ({ generatedName }: TaskRequest) =>
    mistake === "createsUnderNewName" ? `${generatedName}-${creations++}` : generatedName;
  const endOf = (state: State | undefined): TerminalStatus | undefined => (state === "succeeded" ? { phase: "SUCCEEDED" } : undefined);
  const poll = async (request: TaskRequest): Promise<void> => {
    const end = endOf(await jobs.get(request.generatedName).catch(() => undefined));
    if (end !== undefined) await host?.publishStatus(request, end);
    else if (started.has(request.generatedName)) clock.schedule(1_000, () => void poll(request));
  };
  const stopJob = async (name: string): Promise<void> => {
    await jobs.delete(name);
    while (mistake !== "trustsDelete" && (await jobs.get(name)) !== undefined) {
      await clock.sleep(1_000);
      await jobs.delete(name);
    }
  };
  return definePlugin({
    name: "job",
    taskTypes: ["job"],
    start: (given) => void (host = given),
    reconcile: async (request) => {
      const name = nameOf(request);
      if ((await jobs.get(name)) === undefined) await jobs.create(name);
      const end = endOf(await jobs.get(name));
      if (end !== undefined && mistake !== "neverPolls") return end;
      if (!started.has(name) && mistake !== "neverPolls") clock.schedule(1_000, () => void poll(request));
      started.add(name);
      return { phase: "RUNNING" };
    },
    abort: async (request) => {
      const name = request.generatedName;
      if (mistake === "abortsWhatItStarted" && !started.has(name)) return { phase: "ABORTED" };
      // A creation whose answer was lost may arrive within a second.
      await clock.sleep(1_000);
      const end = endOf(await jobs.get(name));
      started.delete(name);
      if (end !== undefined) return end;
      if (mistake !== "pretendsAborted") await stopJob(name);
      return { phase: "ABORTED" };
    },
  });
}

const problemsOf = (mistake: Mistake | undefined, seeds: number) => simulateSeeds(() => new JobService(mistake), { seeds });

test("a plugin that finds its jobs again keeps its promises in every world", { timeout: TIMEOUT_MS }, async () => {
  expect(await problemsOf(undefined, SEEDS)).toEqual([]);
});

test.each([
  ["createsUnderNewName", "jobs were started"],
  ["pretendsAborted", "a job runs after the attempt ended with ABORTED"],
  ["trustsDelete", "a job runs after the attempt ended with ABORTED"],
  ["abortsWhatItStarted", "a job runs after the attempt ended with ABORTED"],
  ["neverPolls", "the attempt did not end"],
] as const)("the simulation finds a plugin that %s", async (mistake, problem) => {
  expect(await problemsOf(mistake, 400)).toEqual(expect.arrayContaining([expect.stringContaining(problem)]));
});
