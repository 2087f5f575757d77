import type { JsonObject } from "@bufbuild/protobuf";
import { type Backoff, backoffDelay, type Time } from "@flyte-ts/async";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { type Aborted, RetryLater, type TerminalStatus } from "@flyte-ts/task-plugin";
import { hasEnded, type EndedObservation } from "../observation.js";
import type { FrameSettings } from "../settings.js";
import type { TrackedJob } from "./tracked-job.js";
import type { WebApi } from "../web-api.js";

/** Pauses between readings of a job that is being stopped. */
const PAUSE: Backoff = { initialMs: 250, maxMs: 5_000 };

export interface StopJobOptions<Job extends JsonObject> {
  readonly api: WebApi<Job>;
  readonly settings: Pick<FrameSettings, "stopTimeoutMs">;
  readonly clock: Time;
  /** The request of the attempt. */
  readonly request: TaskRequest;
  /** Reason of the abort. */
  readonly reason: string;
  /** The record of the attempt, if this process has one. */
  readonly tracked: TrackedJob<Job> | undefined;
}

/**
 * Stops a job and waits until it has ended. Returns the end that it reached before, else ABORTED.
 * @throws ApiError; RetryLater when the job runs beyond `stopTimeoutMs`.
 */
export async function stopJob<Job extends JsonObject>(job: Job, options: StopJobOptions<Job>): Promise<Aborted | TerminalStatus> {
  const { api, settings, clock, request, tracked } = options;
  const reason = options.reason || "aborted by Flyte";
  const aborted: Aborted = { phase: "ABORTED", reason };
  const deadlineMs = clock.elapsed() + settings.stopTimeoutMs;
  let current = job;
  let stopSent = tracked?.stopSent ?? false;
  const stop = async () => {
    await api.stop(current, reason);
    stopSent = true;
    if (tracked !== undefined) tracked.stopSent = true;
  };
  if (api.stopsBeforeRead === true && !stopSent) await stop();
  for (let readings = 0; ; readings++) {
    const [reading] = await api.read([current], { stopping: true });
    if (reading === undefined) throw new Error(`${api.id} returned no state of the job`);
    if (reading.kind === "failed") {
      if (reading.error.kind === "missing") return aborted;
      throw reading.error;
    }
    current = reading.job ?? current;
    if (tracked !== undefined) tracked.job = current;
    const { observation } = reading;
    if (hasEnded(observation)) return endedBefore(observation, stopSent) ? api.complete(request, current, observation) : aborted;
    if (!stopSent) await stop();
    if (clock.elapsed() >= deadlineMs) throw new RetryLater("waiting until the job has stopped", { retryAfterMs: PAUSE.maxMs });
    await clock.sleep(backoffDelay(PAUSE, readings));
  }
}

/** True for an end that no request to stop caused. */
function endedBefore(observation: EndedObservation, stopSent: boolean): boolean {
  return observation.state === "SUCCEEDED" || (!stopSent && observation.stopped !== true);
}
