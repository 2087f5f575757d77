import type { RestClient } from "@flyte-ts/client/browser";
import { type AccessApi, accessApi } from "./access-api.js";
import { type ExecutionApi, executionApi } from "./execution-api.js";
import { type RegistryApi, registryApi } from "./registry-api.js";

/** Calls of admin that the pages make. */
export interface Api {
  readonly access: AccessApi;
  readonly executions: ExecutionApi;
  readonly registry: RegistryApi;
}

export function createApi(rest: RestClient): Api {
  return { access: accessApi(rest), executions: executionApi(rest), registry: registryApi(rest) };
}
