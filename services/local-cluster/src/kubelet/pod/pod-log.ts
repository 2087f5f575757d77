import type { ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { type KubeObject, at, listAt, textAt } from "../../object/model.js";
import { badRequest } from "../../api/api-error.js";
import { logSize, readLog, readTimes, tailOffset } from "../container/container-log.js";
import { podDir } from "./pod-dir.js";
import type { PodSource } from "./pod-source.js";
import { findRuns, readExit, type RunDir } from "../container/run-dir.js";

/** Polling interval of followed logs, ms. */
const FOLLOW_INTERVAL_MS = 100;
const CHUNK_BYTES = 256 << 10;

export interface PodLogOptions {
  readonly podsFolder: string;
  /** Source of pods; a log is followed until its container ends. */
  readonly pods: Pick<PodSource, "get" | "now">;
}

/** Serves `GET …/pods/{name}/log`. @throws ApiError BadRequest with Kubernetes' messages */
export async function servePodLog(
  options: PodLogOptions,
  { pod, query, response }: { pod: KubeObject; query: URLSearchParams; response: ServerResponse },
): Promise<void> {
  const container = chooseContainer(pod, query.get("container") ?? "");
  const run = chooseRun(options, { pod: pod, container, previous: query.get("previous") === "true" });
  const follow = query.get("follow") === "true";
  const tail = query.get("tailLines");
  const limit = query.has("limitBytes") ? Number(query.get("limitBytes")) : Number.POSITIVE_INFINITY;
  const since = sinceTime(query, options.pods.now());
  let offset = Math.max(tail === null ? 0 : tailOffset(run, Number(tail)), since === undefined ? 0 : offsetAt(run, since));
  response.writeHead(200, { "content-type": "text/plain", "cache-control": "no-cache, private" });
  response.flushHeaders();
  const stamp = query.get("timestamps") === "true" ? new LineTimestamps(run, options.pods.now) : undefined;
  let sent = 0;
  // With timestamps, output is sent when its time is recorded, so that every request shows the same
  // time for a line.
  const shownSize = () => (stamp !== undefined && readExit(run) === undefined ? (readTimes(run).at(-1)?.end ?? 0) : logSize(run));
  const drain = async () => {
    // The log was rotated.
    if (logSize(run) < offset) offset = 0;
    for (let size = shownSize(); offset < size && sent < limit && !response.destroyed; size = shownSize()) {
      const bytes = readLog(run, offset, Math.min(CHUNK_BYTES, size - offset));
      const shown = stamp === undefined ? bytes : Buffer.from(stamp.apply(bytes, offset));
      offset += bytes.length;
      const part = shown.subarray(0, limit - sent);
      sent += part.length;
      if (!response.write(part)) await new Promise<void>((resolve) => response.once("drain", resolve).once("close", resolve));
    }
  };
  await drain();
  while (follow && sent < limit && !response.destroyed && isRunning(options, pod, { container, attempt: run.attempt })) {
    await delay(FOLLOW_INTERVAL_MS);
    await drain();
  }
  if (follow) await drain();
  response.end();
}

/** True while this run of a container continues, according to the pod's current status. */
function isRunning({ pods }: PodLogOptions, pod: KubeObject, { container, attempt }: { container: string; attempt: number }): boolean {
  const { namespace = "", name, uid } = pod.metadata;
  const now = pods.get(namespace, name);
  if (now?.metadata.uid !== uid) return false;
  const statuses = [...listAt(now, "status", "containerStatuses"), ...listAt(now, "status", "initContainerStatuses")];
  const status = statuses.find((s) => textAt(s, "name") === container);
  return (
    at(status, "state", "terminated") === undefined &&
    at(status, "state", "waiting") === undefined &&
    Number(at(status, "restartCount") ?? 0) <= attempt
  );
}

function chooseContainer(pod: KubeObject, requested: string): string {
  const names = (field: string) => listAt(pod, "spec", field).map((container) => textAt(container, "name") ?? "");
  const main = names("containers");
  const init = names("initContainers");
  const { name } = pod.metadata;
  if (requested === "") {
    if (main.length === 1) return main[0] ?? "";
    const inits = init.length === 0 ? "" : ` or one of the init containers: [${init.join(" ")}]`;
    throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${main.join(" ")}]${inits}`);
  }
  if (![...main, ...init].includes(requested)) throw badRequest(`container ${requested} is not valid for pod ${name}`);
  return requested;
}

function chooseRun(
  options: PodLogOptions,
  { pod, container, previous }: { pod: KubeObject; container: string; previous: boolean },
): RunDir {
  const { name, uid = "" } = pod.metadata;
  const runs = findRuns(podDir(options.podsFolder, uid).runs(container));
  const run = runs.at(previous ? -2 : -1);
  if (run !== undefined) return run;
  if (previous) throw badRequest(`previous terminated container ${JSON.stringify(container)} in pod ${JSON.stringify(name)} not found`);
  const status = [...listAt(pod, "status", "containerStatuses"), ...listAt(pod, "status", "initContainerStatuses")].find(
    (s) => textAt(s, "name") === container,
  );
  const reason = textAt(status, "state", "waiting", "reason");
  if (reason !== undefined && reason !== "ContainerCreating" && reason !== "PodInitializing") {
    throw badRequest(
      `container ${JSON.stringify(container)} in pod ${JSON.stringify(name)} is waiting to start: ${textAt(status, "state", "waiting", "message") ?? reason}`,
    );
  }
  if (at(pod, "spec", "nodeName") === undefined) throw badRequest(`pod ${name} does not have a host assigned`);
  throw badRequest(
    `container ${JSON.stringify(container)} in pod ${JSON.stringify(name)} is waiting to start: ${reason ?? "ContainerCreating"}`,
  );
}

function sinceTime(query: URLSearchParams, now: number): number | undefined {
  const seconds = query.get("sinceSeconds");
  const time = query.get("sinceTime");
  if (seconds !== null) return now - Number(seconds) * 1000;
  return time === null ? undefined : Date.parse(time);
}

/** Returns the offset of the first line that began at or after `time`. */
function offsetAt(run: RunDir, time: number): number {
  const grown = readTimes(run).findLast(({ at: seen }) => seen < time)?.end ?? 0;
  const size = logSize(run);
  for (let from = grown - 1; grown > 0 && from < size; from += CHUNK_BYTES) {
    const end = readLog(run, from, Math.min(CHUNK_BYTES, size - from)).indexOf(10);
    if (end !== -1) return from + end + 1;
  }
  return grown === 0 ? 0 : size;
}

/** Prefixes lines with times; a line may arrive in several chunks. */
class LineTimestamps {
  readonly #run: RunDir;
  readonly #now: () => number;
  #atLineStart = true;

  constructor(run: RunDir, now: () => number) {
    this.#run = run;
    this.#now = now;
  }

  apply(bytes: Buffer, offset: number): string {
    const times = readTimes(this.#run);
    const end = readExit(this.#run)?.at;
    let place = offset;
    let text = "";
    let next = 0;
    for (const line of bytes.toString("utf8").split(/(?<=\n)/)) {
      while (next < times.length && (times[next] as { end: number }).end <= place) next++;
      if (this.#atLineStart)
        text += `${new Date(Math.min(times[next]?.at ?? end ?? this.#now(), end ?? Number.POSITIVE_INFINITY)).toISOString().replace("Z", "000000Z")} `;
      text += line;
      this.#atLineStart = line.endsWith("\n");
      place += Buffer.byteLength(line);
    }
    return text;
  }
}
