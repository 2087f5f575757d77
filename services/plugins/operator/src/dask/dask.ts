import type { Pod } from "@flyte-ts/pod-task";
import type { Operator } from "../operator.js";
import { buildDaskJob } from "./build.js";
import type { DaskSettings } from "./settings.js";
import { COMPONENT_LABEL, daskStatus, isRunner } from "./status.js";

const GROUP = "kubernetes.dask.org";
const VERSION = "v1";

/** DaskJobs of the Dask Kubernetes operator. */
export function daskOperator(settings: DaskSettings): Operator {
  return {
    taskType: "dask",
    apiVersion: `${GROUP}/${VERSION}`,
    kind: "DaskJob",
    ref: { group: GROUP, version: VERSION, plural: "daskjobs", namespaced: true },
    // Limit of the operator, which leaves room for the suffixes of its Services' names.
    maxNameLength: 53,
    workersWriteErrors: false,
    build: (request, pods) => buildDaskJob(request, pods, settings),
    status: daskStatus,
    leftover: () => undefined,
    details: () => ({}),
    roleOf,
    decides: isRunner,
  };
}

const ROLES: Readonly<Record<string, string>> = { "job-runner": "Dask Runner", scheduler: "Dask Scheduler", worker: "Dask Worker" };

function roleOf({ metadata: { labels } }: Pod): string {
  return ROLES[labels?.[COMPONENT_LABEL] ?? ""] ?? "Dask";
}
