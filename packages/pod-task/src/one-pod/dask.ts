import { DaskJobSchema } from "@flyte-ts/idl/flyteidl/plugins/dask_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { escapeReferences } from "@flyte-ts/domain/template";
import type { Container } from "../pod-types.js";
import { customMessage } from "./custom-message.js";
import { DASK_LAUNCHER } from "./dask-launcher.js";
import { cpuCount } from "./primary-container.js";

/** Most workers: each is a process. */
const MAX_WORKERS = 8;
/** Timeout of the start of scheduler and workers, seconds: on a busy machine imports are slow. */
const START_TIMEOUT_SECONDS = 180;

/**
 * Runs the task's command under a launcher that starts a Dask scheduler and workers beside it.
 *
 * @throws InvalidPodSpecError
 */
export function daskContainer(container: Container, { template }: TaskRequest): Container {
  const requested = customMessage(DaskJobSchema, template?.custom).workers?.numberOfWorkers ?? 1;
  const workers = Math.min(Math.max(requested, 1), MAX_WORKERS);
  const threads = Math.max(1, Math.floor(cpuCount(container) / workers));
  const launcher = ["python3", "-c", escapeReferences(DASK_LAUNCHER), ...[workers, threads, START_TIMEOUT_SECONDS].map(String)];
  return { ...container, command: launcher, args: [...(container.command ?? []), ...(container.args ?? [])] };
}
