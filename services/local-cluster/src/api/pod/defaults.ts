import { type Json, type JsonObject, type KubeObject, isObject, show, textAt } from "../../object/model.js";

const TOLERATIONS: readonly JsonObject[] = ["not-ready", "unreachable"].map((state) => ({
  effect: "NoExecute",
  key: `node.kubernetes.io/${state}`,
  operator: "Exists",
  tolerationSeconds: 300,
}));

/** Applies the API server's defaults to a new pod. */
export function defaultPod(pod: KubeObject): KubeObject {
  const spec = isObject(pod["spec"]) ? pod["spec"] : {};
  const account = textAt(spec, "serviceAccountName") ?? textAt(spec, "serviceAccount");
  return {
    ...pod,
    spec: {
      dnsPolicy: "ClusterFirst",
      enableServiceLinks: true,
      preemptionPolicy: "PreemptLowerPriority",
      priority: 0,
      restartPolicy: "Always",
      schedulerName: "default-scheduler",
      securityContext: {},
      terminationGracePeriodSeconds: 30,
      ...spec,
      ...(account === undefined || account === "" ? {} : { serviceAccountName: account, serviceAccount: account }),
      ...mapped(spec, "containers", defaultContainer),
      ...mapped(spec, "initContainers", defaultContainer),
      ...mapped(spec, "volumes", defaultVolume),
      tolerations: withTolerations(spec["tolerations"]),
    },
    status: { phase: "Pending", qosClass: qosClass(spec) },
  };
}

function withTolerations(given: Json | undefined): readonly Json[] {
  const list = Array.isArray(given) ? (given as readonly Json[]) : [];
  return [
    ...list,
    ...TOLERATIONS.filter(
      (t) => !list.some((own) => textAt(own, "key") === t["key"] && isObject(own) && (own["effect"] ?? t["effect"]) === t["effect"]),
    ),
  ];
}

function mapped(spec: JsonObject, field: string, change: (item: JsonObject) => JsonObject): JsonObject {
  const list = spec[field];
  return Array.isArray(list) ? { [field]: (list as readonly Json[]).map((item) => (isObject(item) ? change(item) : item)) } : {};
}

function defaultContainer(container: JsonObject): JsonObject {
  return {
    imagePullPolicy: pullPolicy(textAt(container, "image") ?? ""),
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
    ...container,
    resources: withRequests(container["resources"]),
    ...mapped(container, "ports", (port) => ({ protocol: "TCP", ...port })),
    ...mapped(container, "env", defaultEnv),
  };
}

/** Default pull policy: Always for the tag `latest` or none, otherwise IfNotPresent. */
function pullPolicy(image: string): string {
  if (image.includes("@")) return "IfNotPresent";
  const tag = image.slice(image.lastIndexOf("/") + 1).split(":")[1];
  return tag === undefined || tag === "latest" ? "Always" : "IfNotPresent";
}

/** A limit without a request implies an equal request. */
function withRequests(resources: Json | undefined): JsonObject {
  if (!isObject(resources)) return {};
  const limits = resources["limits"];
  if (!isObject(limits)) return resources;
  const requests = isObject(resources["requests"]) ? resources["requests"] : {};
  return { ...resources, requests: { ...limits, ...requests } };
}

function defaultEnv(variable: JsonObject): JsonObject {
  const from = variable["valueFrom"];
  if (!isObject(from) || !isObject(from["fieldRef"])) return variable;
  return { ...variable, valueFrom: { ...from, fieldRef: { apiVersion: "v1", ...from["fieldRef"] } } };
}

function defaultVolume(volume: JsonObject): JsonObject {
  const changed: Record<string, Json> = {};
  for (const source of ["secret", "configMap", "downwardAPI", "projected"]) {
    const value = volume[source];
    if (isObject(value)) changed[source] = { defaultMode: 420, ...value };
  }
  const sources = ["name", ...Object.keys(volume)].filter((key) => key !== "name");
  return sources.length === 0 ? { ...volume, emptyDir: {} } : { ...volume, ...changed };
}

/** Computes Guaranteed, Burstable or BestEffort from CPU and memory of all containers. */
export function qosClass(spec: JsonObject): string {
  const containers = ["containers", "initContainers"].flatMap((field) => {
    const list = spec[field];
    return Array.isArray(list) ? (list as readonly Json[]) : [];
  });
  const amounts = containers.map((container) => {
    const resources = isObject(container) ? withRequests(container["resources"]) : {};
    return (["cpu", "memory"] as const).map((name) => ({
      request: quantity(resources, "requests", name),
      limit: quantity(resources, "limits", name),
    }));
  });
  const all = amounts.flat();
  if (all.every(({ request, limit }) => request === undefined && limit === undefined)) return "BestEffort";
  return all.every(({ request, limit }) => limit !== undefined && request === limit) ? "Guaranteed" : "Burstable";
}

function quantity(resources: JsonObject, part: "requests" | "limits", name: string): string | undefined {
  const list = resources[part];
  const value = isObject(list) ? list[name] : undefined;
  return value === undefined || value === null || value === "0" || value === 0 ? undefined : show(value);
}
