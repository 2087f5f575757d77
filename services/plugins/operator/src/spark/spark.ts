import { create } from "@bufbuild/protobuf";
import { type TaskLog, TaskLog_MessageFormat, TaskLogSchema } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { Pod } from "@flyte-ts/pod-task";
import type { Job, JobDetails, JobState, Operator } from "../operator.js";
import { buildSparkApplication } from "./build.js";
import type { SparkSettings } from "./settings.js";
import { sparkStatus, sparkStatusOf } from "./status.js";

const GROUP = "sparkoperator.k8s.io";
const VERSION = "v1beta2";
const ROLE = "spark-role";

/** SparkApplications of the Spark operator. */
export function sparkOperator(settings: SparkSettings): Operator {
  return {
    taskType: "spark",
    apiVersion: `${GROUP}/${VERSION}`,
    kind: "SparkApplication",
    ref: { group: GROUP, version: VERSION, plural: "sparkapplications", namespaced: true },
    maxNameLength: 63,
    workersWriteErrors: false,
    build: (request, pods) => ({ spec: buildSparkApplication(request, pods, settings) }),
    status: sparkStatus,
    leftover: () => undefined,
    details: (job, state) => details(job, state, settings),
    roleOf,
    decides: ({ metadata: { labels } }) => labels?.[ROLE] === "driver",
  };
}

/** Links to the page of the running driver, and to the history server after its end. */
function details(job: Job, state: JobState, { historyServerUrl }: SparkSettings): JobDetails {
  const { sparkApplicationId = "", driverInfo } = sparkStatusOf(job);
  if (state.kind === "progress") {
    const address = driverInfo?.webUIIngressAddress ?? "";
    if (state.phase !== "RUNNING" || address === "") return {};
    const sparkDriverUI = /^[a-z]+:\/\//.test(address) ? address : `https://${address}`;
    return { links: [link("Spark Driver UI", sparkDriverUI)], customInfo: { sparkDriverUI } };
  }
  if (historyServerUrl === "" || sparkApplicationId === "") return {};
  const sparkHistoryUI = `${historyServerUrl.replace(/\/+$/, "")}/history/${sparkApplicationId}`;
  return { links: [link("Spark History UI", sparkHistoryUI)], customInfo: { sparkHistoryUI } };
}

function link(name: string, uri: string): TaskLog {
  return create(TaskLogSchema, { name, uri, messageFormat: TaskLog_MessageFormat.JSON });
}

function roleOf({ metadata: { labels = {} } }: Pod): string {
  if (labels[ROLE] === "driver") return "Spark Driver";
  return `Spark Executor ${labels["spark-exec-id"] ?? ""}`.trim();
}
