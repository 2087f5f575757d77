import type { ExecutionsDeps } from "../executions/index.js";
import type { AutomationConfig } from "./config.js";

export interface AutomationDeps extends ExecutionsDeps {
  readonly config: AutomationConfig;
}
