import type { Logger } from "@flyte-ts/telemetry";
import type { Routes } from "./routes.js";

/** Logs changes of routes and outages, each once. */
export class RouteLog {
  #known = new Set<string>();
  #types = "";
  readonly #failing = new Set<string>();

  constructor(private readonly logger: Logger) {}

  onAnswer(endpoint: string): void {
    if (this.#failing.delete(endpoint)) this.logger.info({ endpoint }, "the connector endpoint answers again");
  }

  onFailure(endpoint: string, error: string): void {
    if (this.#failing.has(endpoint)) return;
    this.#failing.add(endpoint);
    this.logger.warn(
      { endpoint, error },
      "the connector endpoint does not list its connectors; it keeps the task types that it announced last",
    );
  }

  onRoutes({ types, conflicts, leftToOthers, contested }: Routes): void {
    const taskTypes = [...types.keys()].sort();
    if (this.#types !== taskTypes.join("\n")) {
      this.#types = taskTypes.join("\n");
      this.logger.info({ taskTypes }, "task types of connectors changed");
    }
    const said = new Set<string>();
    const warnOnce = (fields: object, text: string) => {
      const key = JSON.stringify([text, fields]);
      said.add(key);
      if (!this.#known.has(key)) this.logger.warn(fields, text);
    };
    for (const conflict of conflicts) {
      warnOnce(conflict, "two connector endpoints announce one task type; the first of the configuration serves it");
    }
    for (const taskType of contested) {
      warnOnce(
        { taskType },
        "connectorForTaskTypes names a task type that another plugin service serves too: requests are divided between both until it is removed there",
      );
    }
    for (const taskType of leftToOthers) {
      warnOnce({ taskType }, "a connector announces a task type of another plugin service, which keeps it");
    }
    this.#known = said;
  }
}
