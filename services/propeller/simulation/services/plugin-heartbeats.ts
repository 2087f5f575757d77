import { defaultEngineConfig, type EngineConfig } from "../../src/engine/config.js";
import { DYNAMIC, type GraphSpec, type NodeSpec, type WorkflowSpec } from "../fixtures/workflow.js";
import { Random } from "../random.js";
import type { Faults } from "../world/faults.js";
import type { Schedule } from "../world/schedule.js";

export interface PluginHeartbeatsOptions {
  readonly seed: number;
  readonly schedule: Schedule;
  readonly faults: Faults;
  /** End of the unfair phase of the schedule, ms. */
  readonly fairFrom: number;
}

/** Type of some tasks, whose service starts late or never. */
const RARE_TYPE = "rare";

const HEARTBEAT_MS = 10_000;

/** Availability of plugin services, and delivery of their heartbeats. */
export class PluginHeartbeats {
  readonly #random: Random;
  /** Time at which the service of the rare type starts, ms after the beginning. */
  readonly #rareFrom: number;
  readonly #outages: ((ms: number) => void)[] = [];
  readonly #startConsumers: ((types: ReadonlySet<string>) => void)[] = [];
  readonly #consumers: ((types: readonly string[]) => void)[] = [];
  #backAt = 0;
  #types: readonly string[] = [];

  constructor(private readonly options: PluginHeartbeatsOptions) {
    this.#random = new Random(options.seed * 32_452_843 + 17);
    this.#rareFrom = this.#random.chance(0.5) ? Number.POSITIVE_INFINITY : this.#random.between(0, options.fairFrom);
    this.#send();
  }

  /** Timeouts of this world for unanswered requests. */
  get config(): Partial<EngineConfig> {
    const random = this.#random;
    const { pluginResponseTimeout } = defaultEngineConfig(() => 0);
    return {
      pluginResponseTimeout: random.pick([3_000, pluginResponseTimeout]),
      pluginUnavailableTimeout: random.pick([50_000, 200_000]),
      unstartedAbortTimeout: random.pick([20_000, 600_000]),
      abortTimeout: random.pick([0, 40_000, 300_000]),
    };
  }

  /** Returns the same workflow with some tasks of the rare type. */
  workflow(spec: WorkflowSpec): WorkflowSpec {
    this.#types = ["sim", ...Object.keys(spec.dynamics ?? {}).map((name) => `${DYNAMIC}${name}`)];
    const node = (from: NodeSpec): NodeSpec => {
      if (from.kind !== "task" || from.type !== undefined || !this.#random.chance(0.15)) return from;
      // Without a timeout of the whole node, only abandoning the attempt ends the wait.
      const { activeMs: _, ...rest } = from;
      return { ...rest, type: RARE_TYPE };
    };
    const graph = (from: GraphSpec): GraphSpec => ({
      ...from,
      nodes: Object.fromEntries(Object.entries(from.nodes).map(([id, one]) => [id, node(one)])),
    });
    const graphs = Object.fromEntries(Object.entries(spec.graphs ?? {}).map(([id, one]) => [id, graph(one)]));
    return { ...spec, main: graph(spec.main), graphs };
  }

  /** Returns when requests for the type reach a service: now, later or never. */
  availability(type: string): "now" | "later" | "never" {
    if (type !== RARE_TYPE || this.options.schedule.elapsed >= this.#rareFrom) return "now";
    return this.#rareFrom === Number.POSITIVE_INFINITY ? "never" : "later";
  }

  /** Subscribes to outages of the services; the listener receives the duration, ms. */
  onOutage(leave: (ms: number) => void): void {
    this.#outages.push(leave);
  }

  listen(receive: (types: readonly string[]) => void): void {
    this.#consumers.push(receive);
  }

  listenForStarts(receive: (types: ReadonlySet<string>) => void): void {
    this.#startConsumers.push(receive);
  }

  /** A process of the services has started; its heartbeat reaches only some propellers. */
  started(): void {
    const types = new Set([...this.#types, ...(this.availability(RARE_TYPE) === "now" ? [RARE_TYPE] : [])]);
    for (const receive of this.#startConsumers) if (!this.#random.chance(0.2)) receive(types);
  }

  #send(): void {
    const { schedule, faults, fairFrom } = this.options;
    const random = this.#random;
    if (schedule.elapsed < fairFrom && schedule.now >= this.#backAt && random.chance(0.05)) {
      const ms = random.between(20_000, fairFrom);
      this.#backAt = schedule.now + ms;
      for (const leave of this.#outages) leave(ms);
    }
    const here = schedule.now >= this.#backAt;
    const types = [...(here ? this.#types : []), ...(this.availability(RARE_TYPE) === "now" ? [RARE_TYPE] : [])];
    for (const receive of this.#consumers) receive(random.chance(faults.busLoss) ? [] : types);
    schedule.after(HEARTBEAT_MS, () => this.#send());
  }
}
