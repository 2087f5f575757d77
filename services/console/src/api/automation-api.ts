import { pathOf, type RestClient } from "@flyte-ts/client/browser";
import type { IdentifierJson } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { ListNextRunsResponseJson } from "@flyte-ts/idl/flytets/admin/v1/schedule_pb";
import type {
  CreateTriggerResponseJson,
  ListFiringsResponseJson,
  ListTriggersResponseJson,
  RotateTriggerSecretResponseJson,
  TriggerJson,
} from "@flyte-ts/idl/flytets/admin/v1/trigger_pb";
import type { Scope } from "./scope.js";

/** Calls that start executions without a person: schedules and triggers. */
export interface AutomationApi {
  /** Next runs of all schedules, earliest first. */
  listNextRuns(scope: Scope, signal: AbortSignal): Promise<ListNextRunsResponseJson>;
  /** Activates a version of a launch plan, which deactivates the others, or deactivates it. */
  setPlanState(id: IdentifierJson, isActive: boolean): Promise<void>;
  listTriggers(scope: Scope, signal: AbortSignal): Promise<ListTriggersResponseJson>;
  /** Latest firings of all triggers. */
  listFirings(scope: Scope, signal: AbortSignal): Promise<ListFiringsResponseJson>;
  createTrigger(trigger: TriggerJson): Promise<CreateTriggerResponseJson>;
  setTriggerState(scope: Scope, name: string, isActive: boolean): Promise<void>;
  deleteTrigger(scope: Scope, name: string): Promise<void>;
  rotateSecret(scope: Scope, name: string): Promise<RotateTriggerSecretResponseJson>;
}

/** Rows of each list; larger projects use the command line. */
const MAX_ROWS = 1_000;
const MAX_FIRINGS = 100;

export function automationApi(rest: RestClient): AutomationApi {
  const trigger = ({ project, domain }: Scope, name: string, ...rest: readonly string[]): string =>
    pathOf("api/v1/triggers", project, domain, name, ...rest);
  return {
    listNextRuns: ({ project, domain }, signal) =>
      rest.call(pathOf("api/v1/next_runs", project, domain), { query: { limit: MAX_ROWS }, signal }),
    setPlanState: async (id, isActive) => {
      const { project = "", domain = "", name = "", version = "" } = id;
      const path = pathOf("api/v1/launch_plans", project, domain, name, version);
      await rest.call(path, { method: "PUT", body: { id, state: isActive ? "ACTIVE" : "INACTIVE" } });
    },
    listTriggers: ({ project, domain }, signal) =>
      rest.call(pathOf("api/v1/triggers", project, domain), { query: { limit: MAX_ROWS }, signal }),
    listFirings: ({ project, domain }, signal) =>
      rest.call(pathOf("api/v1/trigger_firings", project, domain), { query: { limit: MAX_FIRINGS }, signal }),
    createTrigger: (created) => rest.call("/api/v1/triggers", { method: "POST", body: { trigger: created } }),
    setTriggerState: async (scope, name, isActive) => {
      const state = isActive ? "TRIGGER_STATE_ACTIVE" : "TRIGGER_STATE_PAUSED";
      await rest.call(trigger(scope, name, "state"), { method: "POST", body: { state } });
    },
    deleteTrigger: async (scope, name) => {
      await rest.call(trigger(scope, name), { method: "DELETE" });
    },
    rotateSecret: (scope, name) => rest.call(trigger(scope, name, "rotate_secret"), { method: "POST", body: {} }),
  };
}
