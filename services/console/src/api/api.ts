import type { RestClient } from "@flyte-ts/client/browser";
import { type AccessApi, accessApi } from "./access-api.js";
import { type AutomationApi, automationApi } from "./automation-api.js";
import { type DataApi, dataApi } from "./data-api.js";
import { type ExecutionApi, executionApi } from "./execution-api.js";
import { type OverviewApi, overviewApi } from "./overview-api.js";
import { type PlatformApi, platformApi } from "./platform-api.js";
import { type RegistryApi, registryApi } from "./registry-api.js";
import { type SignalApi, signalApi } from "./signal-api.js";

/** Calls of admin that the pages make. */
export interface Api {
  readonly access: AccessApi;
  readonly automation: AutomationApi;
  readonly executions: ExecutionApi;
  readonly data: DataApi;
  readonly overview: OverviewApi;
  readonly platform: PlatformApi;
  readonly registry: RegistryApi;
  readonly signals: SignalApi;
}

export function createApi(rest: RestClient): Api {
  return {
    access: accessApi(rest),
    automation: automationApi(rest),
    data: dataApi(rest),
    executions: executionApi(rest),
    overview: overviewApi(rest),
    platform: platformApi(rest),
    registry: registryApi(rest),
    signals: signalApi(rest),
  };
}
