import type { Container, Pod, PodSpec, Volume } from "../pod-types.js";

/** Entry points of flytekit, whose start a supervisor can prepare. */
const ENTRY_POINTS: ReadonlySet<string> = new Set(["pyflyte-execute", "pyflyte-fast-execute", "pyflyte-map-execute"]);
/** Fields that mean the same before and after an attempt takes the pod. */
const SPEC_FIELDS: ReadonlySet<string> = new Set([
  "affinity",
  "automountServiceAccountToken",
  "containers",
  "dnsConfig",
  "dnsPolicy",
  "enableServiceLinks",
  "imagePullSecrets",
  "nodeSelector",
  "preemptionPolicy",
  "priorityClassName",
  "restartPolicy",
  "runtimeClassName",
  "schedulerName",
  "securityContext",
  "serviceAccountName",
  "terminationGracePeriodSeconds",
  "tolerations",
  "topologySpreadConstraints",
  "volumes",
]);
const CONTAINER_FIELDS: ReadonlySet<string> = new Set([
  "args",
  "command",
  "env",
  "envFrom",
  "image",
  "imagePullPolicy",
  "name",
  "resources",
  "securityContext",
  "terminationMessagePolicy",
  "volumeMounts",
  "workingDir",
]);
/** Volumes that idle pods can hold without keeping them from others. */
const VOLUME_KINDS: ReadonlySet<string> = new Set(["name", "configMap", "emptyDir", "projected", "secret"]);
/** Resources of which an idle pod may hold some; devices are too dear. */
const RESOURCES: ReadonlySet<string> = new Set(["cpu", "memory", "ephemeral-storage"]);

/** The entry point of a pod that can be warm; undefined for any other pod. */
export function warmEntryPoint({ spec }: Pod): string | undefined {
  const [container] = spec.containers;
  if (container === undefined || spec.containers.length > 1 || !isPlainSpec(spec) || !isPlainContainer(container)) return undefined;
  const [program = ""] = [...(container.command ?? []), ...(container.args ?? [])];
  return ENTRY_POINTS.has(program) ? program : undefined;
}

function isPlainSpec(spec: PodSpec): boolean {
  const restarts = spec.restartPolicy ?? "Never";
  return restarts === "Never" && hasOnly(spec, SPEC_FIELDS) && (spec.volumes ?? []).every(isPlainVolume);
}

/** False also for files with the metadata of the pod, which changes with its attempt. */
function isPlainVolume(volume: Volume): boolean {
  const { sources = [] } = (volume as { projected?: { sources?: object[] } }).projected ?? {};
  return hasOnly(volume, VOLUME_KINDS) && !sources.some((source) => "downwardAPI" in source);
}

function isPlainContainer(container: Container): boolean {
  const { requests, limits } = container.resources ?? {};
  return (
    hasOnly(container, CONTAINER_FIELDS) &&
    !isPulledAnew(container) &&
    [requests, limits].every((amounts) => hasOnly(amounts ?? {}, RESOURCES))
  );
}

/** True when Kubernetes looks for a newer image of the same name at each start. */
function isPulledAnew({ image = "", imagePullPolicy }: Container): boolean {
  if (imagePullPolicy !== undefined) return imagePullPolicy === "Always";
  const tag = /:([^/@]*)$/.exec(image)?.[1] ?? "latest";
  return tag === "latest" && !image.includes("@");
}

function hasOnly(object: object, fields: ReadonlySet<string>): boolean {
  return Object.entries(object).every(([name, value]) => value === undefined || fields.has(name));
}
