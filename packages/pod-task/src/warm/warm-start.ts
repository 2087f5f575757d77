import { createHash } from "node:crypto";
import { attemptLogTag } from "@flyte-ts/domain/name";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { ObjectMeta } from "@flyte-ts/kubernetes";
import { PRIMARY_CONTAINER_KEY } from "../build/declared-pod.js";
import type { Container, EnvVar, Pod } from "../pod-types.js";
import { ATTEMPT_LABELS, ATTEMPT_VARIABLES } from "./attempt-part.js";
import { expandWithoutVariables } from "./expand.js";
import { WARM_ASSIGNMENT_ANNOTATION, WARM_KEY_LABEL, WARM_MODE_LABEL, WARM_PRELOAD_ANNOTATION } from "./names.js";
import { REUSED_SUPERVISOR } from "./reused/supervisor.js";
import { warmEntryPoint } from "./suitable.js";
import { WARM_SUPERVISOR } from "./supervisor.js";

/** The attempt's part of a warm pod, which the supervisor reads. */
export interface WarmAssignment {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Marks the lines of the attempt in the log of a reused pod. */
  readonly tag?: string;
}

/** A pod divided into the part that exists before its attempt, and the attempt's part. */
export interface WarmStart {
  /**
   * Hash of the pod without the attempt's part: attempts of equal keys can take each other's pods.
   */
  readonly key: string;
  /** Namespace, labels and annotations of an idle pod. */
  readonly metadata: Pick<ObjectMeta, "labels" | "annotations"> & { readonly namespace: string };
  readonly spec: Pod["spec"];
  readonly assignment: WarmAssignment;
  /** Labels and owner that a pod gets with its attempt. */
  readonly taken: Pick<ObjectMeta, "labels" | "ownerReferences">;
}

export interface WarmStartOptions {
  /** Interpreter that starts the supervisor; the supervisor changes to that of the entry point. */
  readonly python: string;
  /** Time after which an idle pod ends itself, seconds. */
  readonly maxIdleSeconds: number;
  /** Limits of a pod that serves several attempts. Absent: it serves one. */
  readonly reuse?: ReuseLimits | undefined;
}

/** Limits after which a pod serves no further attempt. */
export interface ReuseLimits {
  readonly maxAttempts: number;
  /** Growth of the memory of the pod without an attempt, bytes. */
  readonly maxGrowthBytes: number;
}

/** Name of a container that has the name of its attempt in other pods. */
const CONTAINER = "task";
const VOLUME = "flyte-warm-pod";
const FOLDER = "/var/run/flyte-ts/warm-pod";
const FILE = "assignment";
/** The supervisor looks for it beside the assignment. */
const PRELOAD_FILE = "preload";
/** Maximum size of an assignment, bytes; Kubernetes allows 256 KiB for all annotations. */
const MAX_ASSIGNMENT_BYTES = 64 * 1024;

/**
 * Divides the pod of an attempt. Undefined for a pod that must start cold: it does not start an
 * entry point of flytekit, or its parts depend on each other.
 */
export function warmStart(pod: Pod, request: TaskRequest, options: WarmStartOptions): WarmStart | undefined {
  const entry = warmEntryPoint(pod);
  const [container] = pod.spec.containers;
  if (entry === undefined || container === undefined) return undefined;
  const env = divideVariables(container.env ?? []);
  const words = [...(container.command ?? []), ...(container.args ?? [])].map(expandWithoutVariables);
  if (env === undefined || words.includes(undefined)) return undefined;
  const tag = options.reuse === undefined ? {} : { tag: attemptLogTag(request) };
  const assignment: WarmAssignment = { command: words as string[], env: env.attempt, ...tag };
  if (Buffer.byteLength(JSON.stringify(assignment)) > MAX_ASSIGNMENT_BYTES) return undefined;
  const name = container.name === request.generatedName ? CONTAINER : container.name;
  const spec = {
    ...pod.spec,
    containers: [supervised({ ...container, name, env: env.common }, { entry, names: Object.keys(env.attempt), options })],
    volumes: [...(pod.spec.volumes ?? []), assignmentVolume(options.reuse !== undefined)],
  };
  const labels = divideLabels(pod.metadata.labels ?? {});
  const primary = { [PRIMARY_CONTAINER_KEY]: name };
  const annotations = { ...pod.metadata.annotations, ...primary };
  const { project, domain } = request.id?.nodeExecutionId?.executionId ?? {};
  const { executionIdentity = "", iamRole = "", k8sServiceAccount = "" } = request.securityContext?.runAs ?? {};
  const place = [request.namespace, project, domain, executionIdentity, iamRole, k8sServiceAccount];
  const mode: Record<string, string> = options.reuse === undefined ? {} : { [WARM_MODE_LABEL]: "reused" };
  const key = hashOf([place, labels.common, annotations, spec]);
  return {
    key,
    metadata: { namespace: request.namespace, labels: { ...labels.common, ...mode, [WARM_KEY_LABEL]: key }, annotations },
    spec,
    assignment,
    taken: {
      labels: labels.attempt,
      ...(pod.metadata.ownerReferences === undefined ? {} : { ownerReferences: pod.metadata.ownerReferences }),
    },
  };
}

/** Undefined when a variable of the attempt is set twice, or one refers to another. */
function divideVariables(
  variables: readonly EnvVar[],
): { readonly common: EnvVar[]; readonly attempt: Record<string, string> } | undefined {
  const common: EnvVar[] = [];
  const attempt: Record<string, string> = {};
  for (const variable of variables) {
    if (!ATTEMPT_VARIABLES.has(variable.name)) {
      if (refersToAttempt(variable)) return undefined;
      common.push(variable);
      continue;
    }
    const value = variable.valueFrom === undefined ? expandWithoutVariables(variable.value ?? "") : undefined;
    if (value === undefined || variable.name in attempt) return undefined;
    attempt[variable.name] = value;
  }
  return { common, attempt };
}

/** True for a value that depends on the attempt, or on the pod's metadata. */
function refersToAttempt({ value = "", valueFrom }: EnvVar): boolean {
  if (valueFrom !== undefined) return "fieldRef" in valueFrom;
  return [...value.matchAll(/\$\(([^)]*)\)/g)].some(([, name = ""]) => ATTEMPT_VARIABLES.has(name));
}

function divideLabels(labels: Readonly<Record<string, string>>) {
  const entries = Object.entries(labels);
  return {
    common: Object.fromEntries(entries.filter(([name]) => !ATTEMPT_LABELS.has(name))),
    attempt: Object.fromEntries(entries.filter(([name]) => ATTEMPT_LABELS.has(name))),
  };
}

function assignmentVolume(isReused: boolean) {
  const item = (path: string, annotation: string) => ({ path, fieldRef: { fieldPath: `metadata.annotations['${annotation}']` } });
  const items = [item(FILE, WARM_ASSIGNMENT_ANNOTATION), ...(isReused ? [item(PRELOAD_FILE, WARM_PRELOAD_ANNOTATION)] : [])];
  return { name: VOLUME, downwardAPI: { items } };
}

function supervised(
  container: Container,
  { entry, names, options }: { readonly entry: string; readonly names: readonly string[]; readonly options: WarmStartOptions },
): Container {
  const { args: _, ...rest } = container;
  const { reuse } = options;
  const settings = [entry, names.toSorted().join(","), `${FOLDER}/${FILE}`, String(options.maxIdleSeconds)];
  if (reuse !== undefined) settings.push(String(reuse.maxAttempts), String(reuse.maxGrowthBytes), sharedFolders(container).join(":"));
  return {
    ...rest,
    // Kubelets would replace `$$` and `$(`, which the program does not contain.
    command: [options.python, "-c", reuse === undefined ? WARM_SUPERVISOR : REUSED_SUPERVISOR, ...settings],
    volumeMounts: [...(container.volumeMounts ?? []), { name: VOLUME, mountPath: FOLDER, readOnly: true }],
  };
}

/** Folders in which an attempt could leave files for the next: every user may write to them. */
function sharedFolders({ volumeMounts = [] }: Container): readonly string[] {
  return [
    "/tmp",
    "/var/tmp",
    "/dev/shm",
    "/dev/mqueue",
    ...volumeMounts.filter(({ readOnly }) => readOnly !== true).map(({ mountPath }) => mountPath),
  ];
}

function hashOf(value: unknown): string {
  return createHash("sha256")
    .update(JSON.stringify(sorted(value)))
    .digest("hex")
    .slice(0, 20);
}

/** Orders the fields of objects by name, so that equal values have equal texts. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, field]) => field !== undefined)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, field]) => [name, sorted(field)]),
  );
}
