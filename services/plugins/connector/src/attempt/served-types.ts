import type { PluginHost } from "@flyte-ts/task-plugin";
import type { Logger } from "@flyte-ts/telemetry";
import { NO_ROUTES, type Routes } from "../discovery/routes.js";

/**
 * Announces task types: those with a route, and those of attempts in progress, so that aborts still
 * arrive when no connector announces the type any more.
 */
export class ServedTypes {
  readonly #inProgress = new Map<string, number>();
  #routes: Routes = NO_ROUTES;
  #host: Pick<PluginHost, "setTaskTypes"> | undefined;
  #announced = "";

  constructor(private readonly logger: Logger) {}

  start(host: Pick<PluginHost, "setTaskTypes">, routes: Routes): void {
    this.#host = host;
    this.onRoutes(routes);
  }

  onRoutes(routes: Routes): void {
    this.#routes = routes;
    this.#announce();
  }

  onBegin(taskType: string): void {
    this.#inProgress.set(taskType, (this.#inProgress.get(taskType) ?? 0) + 1);
  }

  onEnd(taskType: string): void {
    const rest = (this.#inProgress.get(taskType) ?? 0) - 1;
    if (rest > 0) {
      this.#inProgress.set(taskType, rest);
      return;
    }
    this.#inProgress.delete(taskType);
    if (!this.#routes.types.has(taskType)) this.#announce();
  }

  #announce(): void {
    const { types, leftToOthers } = this.#routes;
    const kept = [...this.#inProgress.keys()].filter((taskType) => !leftToOthers.includes(taskType));
    const taskTypes = [...new Set([...types.keys(), ...kept])].sort();
    const text = JSON.stringify(taskTypes);
    if (text === this.#announced || this.#host === undefined) return;
    this.#announced = text;
    this.#host.setTaskTypes(taskTypes).catch((error: unknown) => {
      // Forgets the announcement, so that the next change of routes repeats it.
      this.#announced = "";
      this.logger.error({ taskTypes, error: String(error) }, "cannot subscribe to the requests of task types");
    });
  }
}
