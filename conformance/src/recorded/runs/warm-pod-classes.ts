import type { DifferenceClass } from "../difference-classes.js";
import { ABSENT, type PathStep } from "../differences.js";
import { inBoth, isEmpty, ownValue, type RecordedExecution, type RecordedPod, type RunDifference, valueAt } from "./run-record.js";

/** Correct differences of attempts that run in warm pods, which have names of their own. */
export const WARM_POD_CLASSES: readonly DifferenceClass<RunDifference>[] = [
  {
    name: "attempt-in-warm-pod",
    reason: "An attempt of a Python task runs in a warm pod and has no pod of its own (docs/decisions/0082, 0083).",
    covers: inBoth(({ rest: [list, name], recorded, observed, their, our }) => {
      if (list !== "pods") return false;
      if (name === undefined) return recorded === ABSENT && isEmpty(observed) && Object.values(their.pods ?? {}).every(isPython);
      const pod = ownValue(their.pods, String(name));
      return observed === ABSENT && ownValue(our.pods, String(name)) === undefined && pod !== undefined && isPython(pod);
    }),
  },
  {
    name: "prewarmed-pod",
    reason:
      "A prewarmed pod belongs to its attempt once it is taken, with the name and the container that it was started with (docs/decisions/0082).",
    covers: inBoth(({ rest: [list, name, ...leaf], recorded, observed, their, our }) => {
      if (list !== "pods" || recorded !== ABSENT) return false;
      const twin = podOfSameAttempt(ownValue(our.pods, String(name)), their);
      return twin !== undefined && (isOfWarmPod(leaf, observed) || JSON.stringify(observed) === JSON.stringify(valueAt(twin, leaf)));
    }),
  },
  {
    name: "log-context-of-warm-pod",
    reason: "The log context names the warm pod, since the name of the attempt does not.",
    covers: ({ at, recorded, observed }) =>
      recorded === ABSENT && at.includes("log_context") && LOG_CONTEXT.get(String(at.at(-1)))?.test(String(observed)) === true,
  },
  {
    name: "attempts-counted-by-pods",
    reason: "The records count the pods that have the names of attempts.",
    covers: ({ at, recorded, observed }) =>
      at.at(-1) === "pods at once" && typeof recorded === "number" && typeof observed === "number" && observed < recorded,
  },
  {
    name: "warm-pod-in-message",
    reason: "Messages of Kubernetes name the warm pod and its container.",
    covers: ({ at, recorded, observed }) => {
      if (at.at(-1) !== "message" || typeof recorded !== "string" || typeof observed !== "string") return false;
      return recorded.replaceAll(OWN_POD, "<POD>") === observed.replaceAll(WARM_POD, "<POD>").replaceAll("[task]", "[<POD>]");
    },
  },
];

/** Leads from the index of an item to that of the first item, so that items share pods. */
const ITEM_OFFSET = "BATCH_JOB_ARRAY_INDEX_OFFSET";

/** Finds the recorded pod of the attempt that a warm pod serves, by command and variables. */
function podOfSameAttempt(warm: RecordedPod | undefined, their: RecordedExecution): RecordedPod | undefined {
  const assignment = warm?.annotations?.["flyte.org/warm-assignment"];
  if (assignment === undefined) return undefined;
  const { command, env } = JSON.parse(assignment) as {
    readonly command: readonly string[];
    readonly env: Readonly<Record<string, string>>;
  };
  return Object.values(their.pods ?? {}).find(({ containers: [container] = [] }) => {
    const sameEnv = Object.entries(env).every(([variable, value]) => variable === ITEM_OFFSET || container?.env?.[variable] === value);
    return sameEnv && JSON.stringify(container?.args) === JSON.stringify(command.map(inputsOfMap));
  });
}

/**
 * Returns the address of a map's inputs for that of an item, which has a file of its own
 * (docs/decisions/0012).
 */
const inputsOfMap = (arg: string): string => arg.replace(/\/data\/\d+\/\d+\/inputs\.pb$/, "/data/inputs.pb");

/** True for what a pod has that was started ahead of its attempt. */
function isOfWarmPod([part, key, field]: readonly PathStep[], observed: unknown): boolean {
  if (part === "labels") return String(key).startsWith("flyte.org/warm");
  if (part === "annotations") return String(key).startsWith("flyte.org/") || (key === "primary_container_name" && observed === "task");
  if (part !== "containers") return false;
  return field === "args" || field === "command" || (field === "name" && observed === "task") || (field === "env" && isEmpty(observed));
}

const OWN_POD = /<EXEC:[^>]*>-[\w-]+/g;
const WARM_POD = /warm-[\da-f]+-[\da-f]+-\w+/g;

/** Values of the fields of a log context. */
const LOG_CONTEXT = new Map([
  ["pod_name", /^warm-[\da-f]+-[\da-f]+-\w+$/],
  ["primary_pod_name", /^warm-[\da-f]+-[\da-f]+-\w+$/],
  ["namespace", /^<NS>$/],
  ["container_name", /^task$/],
  ["primary_container_name", /^task$/],
]);

const ENTRY_POINTS: readonly PathStep[] = ["pyflyte-execute", "pyflyte-fast-execute", "pyflyte-map-execute"];

function isPython({ containers = [] }: RecordedPod): boolean {
  return containers.some(({ args }) => args?.some((arg) => ENTRY_POINTS.includes(arg)) === true);
}
