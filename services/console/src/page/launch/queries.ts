import { queryOptions } from "@tanstack/react-query";
import type { ExecutionKey } from "../../api/scope.js";
import type { App } from "../../app/app.js";
import { keptFrom, settingsFrom } from "./settings.js";

/** Inputs and settings of an execution, with which a form begins. */
export function sourceQuery({ api }: Pick<App, "api">, key: ExecutionKey) {
  return queryOptions({
    queryKey: ["launch source", key],
    queryFn: async ({ signal }) => {
      const [execution, data] = await Promise.all([api.executions.get(key, signal), api.executions.getData(key, signal)]);
      const { spec } = execution;
      return { launched: spec?.launchPlan, inputs: data.fullInputs?.literals ?? {}, settings: settingsFrom(spec), kept: keptFrom(spec) };
    },
    staleTime: Infinity,
  });
}
