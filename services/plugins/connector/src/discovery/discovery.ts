import { type Closeable, startPeriodic, type Time } from "@flyte-ts/async";
import type { PluginHeartbeat } from "@flyte-ts/task-plugin";
import type { Logger } from "@flyte-ts/telemetry";
import { CallFailure } from "../endpoint/call-failure.js";
import type { Endpoint } from "../endpoint/endpoint.js";
import { type AnnouncedType, announcedTypes } from "./announced-types.js";
import { ForeignTaskTypes } from "./foreign-task-types.js";
import { RouteLog } from "./route-log.js";
import { buildRoutes, NO_ROUTES, type Routes } from "./routes.js";

export interface DiscoveryConfig {
  readonly pollIntervalMs: number;
  /**
   * Time after the start, ms, in which heartbeats of other plugin services are collected before
   * announced types are routed.
   */
  readonly startDelayMs: number;
  readonly forgetOthersMs: number;
  /** Task type → endpoint. */
  readonly explicit: Readonly<Record<string, string>>;
  readonly excluded: readonly string[];
}

export interface DiscoveryDeps {
  /** In the order of the configuration. */
  readonly endpoints: readonly Endpoint[];
  readonly config: DiscoveryConfig;
  readonly clock: Time;
  readonly logger: Logger;
  /** Name of this plugin in heartbeats. */
  readonly pluginName: string;
  readonly onRoutes: (routes: Routes) => void;
}

/**
 * Maintains the routes of task types. It requests the list of connectors from each endpoint at an
 * interval, independently of the others, and receives the heartbeats of other plugin services. A
 * failing endpoint keeps the types that it announced last.
 */
export class Discovery {
  readonly #announced = new Map<string, readonly AnnouncedType[]>();
  /**
   * Endpoints that have answered or failed once. Announced types are routed only when all have, so
   * that a slow endpoint does not lose its types to later ones.
   */
  readonly #asked = new Set<string>();
  readonly #others: ForeignTaskTypes;
  readonly #log: RouteLog;
  #routes: Routes = NO_ROUTES;
  #startedAt = 0;
  #polls: readonly Closeable[] = [];

  constructor(private readonly deps: DiscoveryDeps) {
    this.#others = new ForeignTaskTypes(deps.pluginName, deps.config.forgetOthersMs);
    this.#log = new RouteLog(deps.logger);
  }

  get routes(): Routes {
    return this.#routes;
  }

  start(): void {
    const { endpoints, config, clock, logger } = this.deps;
    const { pollIntervalMs: intervalMs, startDelayMs } = config;
    this.#startedAt = clock.elapsed();
    this.#update();
    clock.schedule(startDelayMs, () => this.#update());
    this.#polls = endpoints.map((endpoint) =>
      startPeriodic(
        { intervalMs, batchSize: 1, run: () => this.#poll(endpoint), errorMessage: "the task types of a connector cannot be read" },
        logger,
        clock,
      ),
    );
  }

  onHeartbeat(heartbeat: PluginHeartbeat): void {
    if (this.#others.onHeartbeat(heartbeat, this.deps.clock.now())) this.#update();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#polls.map((poll) => poll.close()));
  }

  async #poll(endpoint: Endpoint): Promise<number> {
    try {
      const types = announcedTypes(await endpoint.listAgents());
      this.#announced.set(endpoint.name, types);
      this.#log.onAnswer(endpoint.name);
    } catch (error) {
      if (!(error instanceof CallFailure)) throw error;
      // A connector without ListAgents announces nothing; it serves the task types that the
      // configuration assigns.
      if (error.kind === "invalid") this.#announced.set(endpoint.name, []);
      this.#log.onFailure(endpoint.name, error.message);
    } finally {
      this.#asked.add(endpoint.name);
      this.#update();
    }
    return 0;
  }

  #update(): void {
    const { endpoints, config, clock, onRoutes } = this.deps;
    const listened = clock.elapsed() - this.#startedAt >= config.startDelayMs;
    this.#routes = buildRoutes({
      endpoints: endpoints.map((endpoint) => endpoint.config),
      announced: this.#announced,
      explicit: config.explicit,
      others: this.#others.taskTypes(clock.now()),
      excluded: config.excluded,
      discoveryDone: listened && this.#asked.size === endpoints.length,
    });
    this.#log.onRoutes(this.#routes);
    onRoutes(this.#routes);
  }
}
