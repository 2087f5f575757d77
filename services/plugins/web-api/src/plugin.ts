import type { JsonObject } from "@bufbuild/protobuf";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { attemptKey, definePlugin, type Plugin } from "@flyte-ts/task-plugin";
import type { JobController } from "./frame/job/job-controller.js";
import { type JobRecords, withRecordedState } from "./frame/job/job-record.js";
import { apiOfState } from "./frame/job/plugin-state.js";

export interface WebApiPluginOptions {
  /** API of each task type. */
  readonly routes: ReadonlyMap<string, string>;
  readonly controllers: readonly WebApiController[];
  /** Records of the attempts of all APIs. */
  readonly records: JobRecords;
}

/** A controller of any API. */
export type WebApiController = Pick<
  JobController<JsonObject>,
  "api" | "has" | "start" | "stop" | "reconcile" | "abort" | "finalize" | "listAttempts"
>;

/**
 * Runs tasks of several types, each by its API. An attempt stays with the API that created its job,
 * also when the settings give its type to another.
 *
 * @throws RangeError when `routes` is empty or names an API without a controller.
 */
export function webApiPlugin({ routes, controllers, records }: WebApiPluginOptions): Plugin {
  const byId = new Map(controllers.map((controller) => [controller.api.id, controller]));
  const byType = (taskType: string): WebApiController => {
    const controller = byId.get(routes.get(taskType) ?? "");
    if (controller === undefined) throw new RangeError(`task type ${taskType} has no API`);
    return controller;
  };
  const controllerOf = (request: TaskRequest): WebApiController => {
    const key = attemptKey(request);
    const recorded = byId.get(apiOfState(request.pluginState) ?? "");
    return controllers.find((controller) => controller.has(key)) ?? recorded ?? byType(request.template?.type ?? "");
  };
  for (const taskType of routes.keys()) byType(taskType);
  return definePlugin({
    name: "web-api",
    taskTypes: [...routes.keys()],
    pluginIdentifierFor: (taskType) => byId.get(routes.get(taskType) ?? "")?.api.pluginIdentifier ?? "web-api",
    start: (host) => {
      for (const controller of controllers) controller.start(host);
    },
    stop: async () => {
      await Promise.all(controllers.map((controller) => controller.stop()));
    },
    reconcile: (request) => controllerOf(request).reconcile(request),
    abort: (request) => controllerOf(request).abort(request),
    listAttempts: async (workflow) => {
      const requests = controllers.flatMap((controller) => controller.listAttempts(workflow));
      const known = new Set(requests.map(({ outputPrefix }) => outputPrefix));
      return [...requests, ...(await records.listRunning(workflow, known))];
    },
    finalize: async (request) => {
      const key = attemptKey(request);
      const isKnown = controllers.some((controller) => controller.has(key));
      const ended = isKnown ? request : await withRecordedState(request, records);
      await controllerOf(ended).finalize(ended);
    },
  });
}
