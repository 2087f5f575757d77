import { create } from "@bufbuild/protobuf";
import { TaskLog_MessageFormat, TaskLogSchema } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { Pod } from "@flyte-ts/pod-task";
import type { Job, JobDetails, JobState, Leftover, Operator } from "../operator.js";
import { buildRayJob } from "./build.js";
import type { RaySettings } from "./settings.js";
import { rayStatus, rayStatusOf } from "./status.js";

const GROUP = "ray.io";
const VERSION = "v1";
const CLUSTERS = { group: GROUP, version: VERSION, plural: "rayclusters", namespaced: true };
const NODE_TYPE = "ray.io/node-type";
const NODE_GROUP = "ray.io/group";

/** RayJobs of KubeRay. */
export function rayOperator(settings: RaySettings): Operator {
  return {
    taskType: "ray",
    apiVersion: `${GROUP}/${VERSION}`,
    kind: "RayJob",
    ref: { group: GROUP, version: VERSION, plural: "rayjobs", namespaced: true },
    // KubeRay refuses longer names.
    maxNameLength: 47,
    workersWriteErrors: false,
    build: (request, pods) => ({ spec: buildRayJob(request, pods, settings) }),
    status: rayStatus,
    leftover: (job) => leftover(job, settings),
    details: (job, state) => details(job, state, settings),
    roleOf,
    decides: ({ metadata: { labels } }) => labels?.[NODE_TYPE] !== "worker",
  };
}

function details(job: Job, state: JobState, { dashboardURLTemplate }: RaySettings): JobDetails {
  const { rayClusterName = "", jobId = "", dashboardURL = "" } = rayStatusOf(job);
  const customInfo = { rayClusterName, rayJobID: jobId, dashboardURL };
  const runs = state.kind === "progress" && state.phase === "RUNNING";
  if (dashboardURLTemplate === "" || !runs) return { customInfo };
  const variables: Readonly<Record<string, string>> = {
    rayclustername: rayClusterName,
    rayjobid: jobId,
    namespace: job.metadata.namespace ?? "",
  };
  const uri = dashboardURLTemplate.replace(/\{\{\s*[.$](\w+)\s*\}\}/g, (whole, name: string) => variables[name.toLowerCase()] || whole);
  return { customInfo, links: [create(TaskLogSchema, { uri, name: "Ray Dashboard", messageFormat: TaskLog_MessageFormat.JSON })] };
}

/** The cluster, unless settings keep it: KubeRay deletes it after its time to live only. */
function leftover(job: Job, { shutdownAfterJobFinishes }: RaySettings): Leftover | undefined {
  const { rayClusterName: name = "" } = rayStatusOf(job);
  if (!shutdownAfterJobFinishes || name === "") return undefined;
  return {
    resource: { ref: CLUSTERS, name },
    outlivesSuccess: true,
    owns: ({ metadata: { labels } }) => labels?.[NODE_TYPE] !== undefined,
  };
}

function roleOf({ metadata: { labels = {} } }: Pod): string {
  switch (labels[NODE_TYPE]) {
    case "head":
      return "Ray Head";
    case "worker":
      return `Ray Worker ${labels[NODE_GROUP] ?? ""}`.trim();
    default:
      return "Ray Submitter";
  }
}
