import type { JobDetail } from "@aws-sdk/client-batch";
import type { TaskLog } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { ExternalResourceInfo } from "@flyte-ts/idl/flyteidl/event/event_pb";
import { consoleHost } from "../../aws/client-config.js";
import { externalResource, link } from "../../frame/details.js";
import type { JobDetails } from "../../frame/observation.js";
import type { BatchJob } from "../batch-job.js";

/** Where the AWS console shows jobs. */
export interface ConsolePlace {
  readonly region: string;
}

/** Log group of all jobs. */
const LOG_GROUP = "/aws/batch/job";

/** Links and external resources of a job: one per child of an array, else one. */
export function jobDetails(job: BatchJob, detail: JobDetail, children: readonly JobDetail[], place: ConsolePlace): JobDetails {
  const isParent = job.size > 1;
  const parts = isParent ? children : [detail];
  const consoleLink = link(
    "AWS Batch Job",
    `${consoleUrl(place)}/batch/home?region=${place.region}#jobs/${isParent ? "array-job" : "detail"}/${job.jobId}`,
  );
  const resources = parts.map((part) => partResource(part, place));
  return { logs: [consoleLink, ...(isParent ? [] : resources.flatMap(({ logs }) => logs))], externalResources: resources };
}

function partResource(part: JobDetail, place: ConsolePlace): ExternalResourceInfo {
  const { jobId: id = "", status: state, attempts = [], arrayProperties } = part;
  const index = arrayProperties?.index ?? 0;
  const retryAttempt = Math.max(0, attempts.length - 1);
  return externalResource({ id, state, index, retryAttempt, logs: attemptLogs(part, index, place) });
}

/** One link per attempt that has a log stream. */
function attemptLogs({ attempts = [], container, status = "SUBMITTED" }: JobDetail, index: number, place: ConsolePlace): TaskLog[] {
  const ended = attempts.map(({ container: attempt }) => attempt?.logStreamName);
  const streams = ended.length > 0 ? ended : [container?.logStreamName];
  return streams.flatMap((stream, attempt) => (stream ? [logLink(stream, `AWS Batch #${index}-${attempt} (${status})`, place)] : []));
}

function logLink(stream: string, name: string, place: ConsolePlace): TaskLog {
  const { region } = place;
  return link(name, `${consoleUrl(place)}/cloudwatch/home?region=${region}#logEventViewer:group=${LOG_GROUP};stream=${stream}`);
}

function consoleUrl({ region }: ConsolePlace): string {
  return `https://${consoleHost(region)}`;
}
