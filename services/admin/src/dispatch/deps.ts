import type { EventsDeps } from "../events/index.js";
import type { DispatchConfig } from "./config.js";

export interface DispatchDeps extends EventsDeps {
  readonly config: DispatchConfig;
}
