import type { ExecutionsDeps } from "../executions/index.js";
import type { EventsConfig } from "./config.js";

export interface EventsDeps extends ExecutionsDeps {
  readonly config: EventsConfig;
}
