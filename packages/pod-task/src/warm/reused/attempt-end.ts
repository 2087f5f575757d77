import { z } from "zod";
import type { Pod } from "../../pod-types.js";
import { WARM_IDLE_EXIT_CODE, WARM_IDLE_MESSAGE } from "../supervisor.js";
import { WARM_TAKEN_ANNOTATION } from "../names.js";

/** End of an attempt in a pod that can serve another one, as its supervisor marks it. */
export interface AttemptEnd {
  readonly take: string;
  readonly code: number;
  /** The kernel killed a process of the attempt for want of memory. */
  readonly oom: boolean;
  /** The supervisor ended the attempt as requested. */
  readonly aborted: boolean;
  /** The attempt got the signal with which a kubelet stops the pod. */
  readonly stopped: boolean;
  readonly startedAt: Date;
  readonly finishedAt: Date;
  readonly message: string;
  /** Reason for which the pod serves no further attempt; undefined when it does. */
  readonly retires: string | undefined;
  /** Modules of the image that the attempt imported, as its own process tells. */
  readonly imports: readonly string[];
  /** Modules that the supervisor cannot load ahead. */
  readonly refused: readonly string[];
}

/** Maximum number of modules that one kind of pods loads ahead. */
export const MAX_PRELOADS = 32;
/** Name of a module of the image. Processes of users send such names. */
export const moduleName = z
  .string()
  .max(100)
  .regex(/^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/);
const moduleNames = z.array(moduleName).max(MAX_PRELOADS).catch([]);

/**
 * The end of the year 9999, after which no timestamp of protobuf lies, s. Attempts can write the
 * termination message of a supervisor that is killed.
 */
const MAX_SECONDS = 253_402_300_799;
const seconds = z
  .number()
  .min(0)
  .max(MAX_SECONDS)
  .transform((value) => new Date(value * 1_000));
/** Text of earlier supervisors for a stopped pod; theirs also covers later signals. */
const STOPPED = "the pod is stopped";
const endMark = z
  .object({
    end: z.string(),
    code: z.int(),
    oom: z.boolean(),
    aborted: z.boolean(),
    stopped: z.boolean().optional(),
    startedAt: seconds,
    finishedAt: seconds,
    message: z.string(),
    retires: z.string().nullable(),
    imports: moduleNames.default([]),
    refused: moduleNames.default([]),
  })
  .transform(
    ({ end, retires, stopped = retires === STOPPED, ...rest }): AttemptEnd => ({
      ...rest,
      take: end,
      stopped,
      retires: retires ?? undefined,
    }),
  );

/** Parses a mark of a supervisor, of whatever take; undefined for other texts. */
export function parseAttemptEnd(json: string): AttemptEnd | undefined {
  try {
    return endMark.safeParse(JSON.parse(json)).data;
  } catch {
    return undefined;
  }
}

/**
 * True when the pod's status alone tells the reason of the end: a program that gets the signal with
 * which a kubelet stops a pod may exit with any code.
 */
export function isEndOfPod({ stopped, code }: AttemptEnd): boolean {
  return stopped && code !== 0;
}

/** Names the take of a reused pod by its attempt; undefined for all other pods. */
export function takeOf({ metadata }: Pick<Pod, "metadata">): string | undefined {
  const [uid, , take] = metadata.annotations?.[WARM_TAKEN_ANNOTATION]?.split(" ") ?? [];
  return uid !== undefined && uid === metadata.uid ? take : undefined;
}

/** Shows a reused pod as if its container had ended with the attempt. */
export function withAttemptEnd(pod: Pod, { code, oom, startedAt, finishedAt, message }: AttemptEnd): Pod {
  return withTermination(pod, {
    exitCode: code,
    reason: terminationReason(code, oom),
    message,
    startedAt: startedAt.toISOString(),
    finishedAt: finishedAt.toISOString(),
  });
}

function terminationReason(code: number, oom: boolean): string {
  if (oom) return "OOMKilled";
  return code === 0 ? "Completed" : "Error";
}

/**
 * Shows the end of an attempt whose pod has ended with it, or after it: the termination message
 * tells which attempt ended. Other pods stay as they are. To be applied once to a pod of the API.
 */
export function withEndFromStatus(pod: Pod): Pod {
  const take = takeOf(pod);
  const terminated = pod.status?.containerStatuses?.[0]?.state?.terminated;
  if (take === undefined || terminated === undefined) return pod;
  const end = parseAttemptEnd(terminated.message ?? "");
  const isTold = end !== undefined && end.code === terminated.exitCode;
  if (isTold && end.take === take && !end.aborted)
    return withAttemptEnd(pod, { ...end, oom: end.oom || terminated.reason === "OOMKilled" });
  // The supervisor ended by itself: before it read the assignment, or after an abort.
  if (isTold || terminated.exitCode === 0)
    return withTermination(pod, { ...terminated, exitCode: WARM_IDLE_EXIT_CODE, message: WARM_IDLE_MESSAGE });
  return pod;
}

type Terminated = NonNullable<NonNullable<NonNullable<NonNullable<Pod["status"]>["containerStatuses"]>[number]["state"]>["terminated"]>;

function withTermination(pod: Pod, terminated: Terminated): Pod {
  const containerStatuses = pod.spec.containers.map(({ name }) => ({
    ...pod.status?.containerStatuses?.find((status) => status.name === name),
    name,
    ready: false,
    state: { terminated },
  }));
  return { ...pod, status: { ...pod.status, phase: terminated.exitCode === 0 ? "Succeeded" : "Failed", containerStatuses } };
}
