import type { Time } from "@flyte-ts/async";
import type { PluginHeartbeat } from "@flyte-ts/task-plugin";
import type { Logger } from "@flyte-ts/telemetry";
import { CallFailure } from "../endpoint/call-failure.js";
import type { Endpoint } from "../endpoint/endpoint.js";
import { type AnnouncedType, announcedTypes } from "./announced-types.js";
import { EndpointPoll } from "./endpoint-poll.js";
import { ForeignTaskTypes } from "./foreign-task-types.js";
import { RouteLog } from "./route-log.js";
import { buildRoutes, changedTypes, NO_ROUTES, type Routes } from "./routes.js";
import { type FindUnclaimed, UnclaimedTypes } from "./unclaimed-types.js";

export interface DiscoveryConfig {
  readonly pollIntervalMs: number;
  /**
   * Time after the start, ms, in which heartbeats of other plugin services are collected before
   * announced types are routed, unless the bus shows earlier that no other service has them.
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
  readonly findUnclaimed: FindUnclaimed;
  /** Receives the routes, and the task types whose routes have changed. */
  readonly onRoutes: (routes: Routes, changed: ReadonlySet<string>) => void;
}

/** Interval of the calls while an endpoint does not answer, ms: they end at the client. */
const RETRY_MS = 1_000;
/**
 * Time after the start for which the first answers of all endpoints are awaited, ms. Later a type
 * goes to an endpoint that has answered, although an earlier one may announce it too.
 */
const FIRST_ANSWERS_MS = 3_000;

/**
 * Maintains the routes of task types. It requests the list of connectors from each endpoint,
 * independently of the others: at an interval, and at once when a connection is established. It
 * receives the heartbeats of other plugin services. A failing endpoint keeps the types that it
 * announced last.
 */
export class Discovery {
  readonly #announced = new Map<string, readonly AnnouncedType[]>();
  /**
   * Endpoints that have answered or failed once. Announced types are first routed when all have, so
   * that a slow endpoint does not lose its types to later ones.
   */
  readonly #asked = new Set<string>();
  readonly #others: ForeignTaskTypes;
  readonly #unclaimed: UnclaimedTypes;
  readonly #log: RouteLog;
  readonly #polls: readonly { readonly endpoint: Endpoint; readonly poll: EndpointPoll }[];
  /** Time since which heartbeats are heard, ms. */
  readonly #listeningSince: number;
  #startedAt = 0;
  #routes: Routes = NO_ROUTES;

  constructor(private readonly deps: DiscoveryDeps) {
    const { endpoints, clock, logger, findUnclaimed } = deps;
    this.#others = new ForeignTaskTypes(deps.pluginName, deps.config.forgetOthersMs);
    this.#log = new RouteLog(logger);
    this.#listeningSince = clock.elapsed();
    this.#unclaimed = new UnclaimedTypes({ find: findUnclaimed, clock, logger, onFound: () => this.#update() });
    this.#polls = endpoints.map((endpoint) => ({ endpoint, poll: new EndpointPoll({ clock, ask: () => this.#ask(endpoint) }) }));
  }

  get routes(): Routes {
    return this.#routes;
  }

  start(): void {
    const { config, clock } = this.deps;
    this.#startedAt = clock.elapsed();
    this.#update();
    this.#unclaimed.start();
    for (const delayMs of [FIRST_ANSWERS_MS, this.#listeningSince + config.startDelayMs - this.#startedAt])
      clock.schedule(Math.max(0, delayMs), () => this.#update());
    for (const { endpoint, poll } of this.#polls) {
      endpoint.onConnect(() => void poll.now());
      void poll.now();
    }
  }

  onHeartbeat(heartbeat: PluginHeartbeat): void {
    if (this.#others.onHeartbeat(heartbeat, this.deps.clock.now())) this.#update();
  }

  /** Asks all endpoints again. Resolves when each has answered or failed. */
  async refresh(): Promise<void> {
    await Promise.all(this.#polls.map(({ poll }) => poll.now()));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#polls.map(({ poll }) => poll.stop()));
  }

  /** Returns the delay before the next call, ms. */
  async #ask(endpoint: Endpoint): Promise<number> {
    const { logger, config } = this.deps;
    const retryMs = Math.min(RETRY_MS, config.pollIntervalMs);
    try {
      const types = announcedTypes(await endpoint.listAgents());
      this.#onAnnounced(endpoint, types);
      this.#log.onAnswer(endpoint.name);
      return config.pollIntervalMs;
    } catch (error) {
      if (!(error instanceof CallFailure)) {
        logger.warn({ endpoint: endpoint.name, error: String(error) }, "the task types of a connector cannot be read");
        return config.pollIntervalMs;
      }
      this.#log.onFailure(endpoint.name, error.message);
      if (error.kind !== "invalid") return retryMs;
      // A connector without ListAgents announces nothing; it serves the task types that the
      // configuration assigns.
      this.#onAnnounced(endpoint, []);
      return config.pollIntervalMs;
    } finally {
      this.#asked.add(endpoint.name);
      this.#update();
    }
  }

  #onAnnounced(endpoint: Endpoint, types: readonly AnnouncedType[]): void {
    endpoint.onAnnounced(types);
    this.#announced.set(endpoint.name, types);
    if (!this.#hasListened()) this.#unclaimed.ask(types.map(({ taskType }) => taskType));
  }

  #hasListened(): boolean {
    return this.deps.clock.elapsed() - this.#listeningSince >= this.deps.config.startDelayMs;
  }

  /** True when types go to the endpoints that have announced them. */
  #isOrderKnown(): boolean {
    const { endpoints, clock } = this.deps;
    return this.#asked.size === endpoints.length || clock.elapsed() - this.#startedAt >= FIRST_ANSWERS_MS;
  }

  #update(): void {
    const { endpoints, config, clock, onRoutes } = this.deps;
    const [isOrderKnown, hasListened] = [this.#isOrderKnown(), this.#hasListened()];
    const routes = buildRoutes({
      endpoints: endpoints.map((endpoint) => endpoint.config),
      announced: this.#announced,
      explicit: config.explicit,
      others: this.#others.taskTypes(clock.now()),
      excluded: config.excluded,
      mayTake: (taskType) => isOrderKnown && (hasListened || this.#unclaimed.has(taskType)),
    });
    const changed = changedTypes(this.#routes, routes);
    this.#routes = routes;
    this.#log.onRoutes(routes);
    onRoutes(routes, changed);
  }
}
