import { create } from "@bufbuild/protobuf";
import { type TaskLog, TaskLog_MessageFormat, TaskLogSchema } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { Pod } from "../pod-types.js";
import { parseTime } from "../status/pod-times.js";

export interface LogLink {
  /** May contain the same variables as the addresses. */
  readonly name: string;
  /** Addresses with `{{ .podName }}`, `{{ .namespace }}` and others. */
  readonly uris: readonly string[];
  readonly showWhilePending: boolean;
  readonly hideOnceFinished: boolean;
  /** Only for tasks that name it in their config's `link_type`. */
  readonly linkType?: string | undefined;
}

export interface LogSource {
  readonly pod: Pod;
  readonly request: TaskRequest;
  readonly now: Date;
  /** Follows the name of each link; tells the pods of an attempt apart, such as ` (Driver)`. */
  readonly suffix?: string | undefined;
}

/** Links to the logs of a pod's first container, as configured. */
export function logLinks(links: readonly LogLink[], { pod, request, now, suffix = " (User)" }: LogSource): TaskLog[] {
  if (links.length === 0) return [];
  const config = request.template?.config ?? {};
  const types = config.link_type?.split(",") ?? [];
  const variables = templateVariables({ pod, request, now, suffix });
  return links
    .filter(({ linkType }) => linkType === undefined || types.includes(linkType))
    .flatMap(({ name, uris, showWhilePending, hideOnceFinished }) =>
      uris.map((uri) =>
        create(TaskLogSchema, {
          uri: render(uri, variables, config),
          name: `${render(name, variables, config)}${suffix}`,
          messageFormat: TaskLog_MessageFormat.JSON,
          ShowWhilePending: showWhilePending,
          HideOnceFinished: hideOnceFinished,
        }),
      ),
    );
}

/** Names match in any case; unknown and empty variables are left unchanged. */
function render(uri: string, variables: ReadonlyMap<string, string>, config: Readonly<Record<string, string>>): string {
  return uri.replace(
    /\{\{\s*[.$](?:taskConfig[.$]([a-zA-Z_]+)|(\w+))\s*\}\}/gi,
    (whole, key: string | undefined, name: string | undefined) => {
      const value = key === undefined ? variables.get((name ?? "").toLowerCase()) : config[key];
      return value || whole;
    },
  );
}

function templateVariables({ pod, request, now, suffix }: LogSource): ReadonlyMap<string, string> {
  const { metadata, spec, status } = pod;
  const { id, generatedName } = request;
  const execution = id?.nodeExecutionId?.executionId;
  const started = parseTime(metadata.creationTimestamp) ?? now;
  const finished = parseTime(status?.containerStatuses?.[0]?.state?.terminated?.finishedAt) ?? now;
  const seconds = (time: Date) => String(Math.floor(time.getTime() / 1_000));
  const rfc3339 = (time: Date) => time.toISOString().replace(/\.\d+Z$/, "Z");
  const values: Record<string, string | undefined> = {
    podName: metadata.name,
    podUID: metadata.uid,
    namespace: metadata.namespace,
    containerName: spec.containers[0]?.name,
    containerID: status?.containerStatuses?.[0]?.containerID?.replace(/^.*:\/\//, ""),
    hostname: spec.hostname,
    nodeName: spec.nodeName,
    logName: suffix,
    podRFC3339StartTime: rfc3339(started),
    podRFC3339FinishTime: rfc3339(finished),
    podUnixStartTime: seconds(started),
    podUnixFinishTime: seconds(finished),
    taskID: id?.taskId?.name,
    taskVersion: id?.taskId?.version,
    taskProject: id?.taskId?.project,
    taskDomain: id?.taskId?.domain,
    taskRetryAttempt: String(id?.retryAttempt ?? 0),
    nodeID: id?.nodeExecutionId?.nodeId,
    executionName: execution?.name,
    executionProject: execution?.project,
    executionDomain: execution?.domain,
    generatedName,
  };
  return new Map(Object.entries(values).map(([name, value]) => [name.toLowerCase(), value ?? ""]));
}
