import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { isQuantity } from "@flyte-ts/domain";

/** The first invalid part of a pod's specification: the path of the field and the rule. */
export interface PodSpecFault {
  readonly field: string;
  readonly rule: string;
}

const LABEL = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;

type Check = (value: JsonValue, path: string) => readonly PodSpecFault[];

/**
 * Checks the shape of the parts that every pod needs (containers and their texts, lists, maps and quantities) and that
 * each container's name is a DNS-1123 label. Kubernetes checks the rest.
 */
export function podSpecFaults(podSpec: JsonObject | undefined): readonly PodSpecFault[] {
  if (podSpec === undefined) return [{ field: "pod_spec", rule: "must be set" }];
  const faults = pod(podSpec, "pod_spec");
  if (faults.length > 0) return faults;
  const containers = (podSpec["containers"] ?? []) as readonly { readonly name?: string }[];
  return containers.flatMap(({ name = "" }, i) =>
    LABEL.test(name)
      ? []
      : { field: `pod_spec.containers[${i}].name`, rule: `must be a DNS-1123 label of at most 63 characters, not "${name}"` },
  );
}

const text: Check = (value, path) => (typeof value === "string" ? [] : [{ field: path, rule: "must be a text" }]);

function listOf(item: Check): Check {
  return (value, path) =>
    Array.isArray(value) ? value.flatMap((element, i) => item(element, `${path}[${i}]`)) : [{ field: path, rule: "must be a list" }];
}

const mapOfTexts: Check = (value, path) =>
  isObject(value) ? Object.entries(value).flatMap(([key, item]) => text(item, `${path}.${key}`)) : [{ field: path, rule: "must be a map" }];

/** Kubernetes accepts numbers too, and null for nothing. */
const amounts: Check = (value, path) => {
  if (!isObject(value)) return [{ field: path, rule: "must be an object" }];
  return Object.entries(value).flatMap(([name, amount]) =>
    amount === null || ((typeof amount === "string" || typeof amount === "number") && isQuantity(String(amount)))
      ? []
      : [{ field: `${path}.${name}`, rule: `must be a Kubernetes quantity such as 500m or 2Gi, not ${JSON.stringify(amount)}` }],
  );
};

/** Checks the fields that are present; null counts as absent. */
function objectWith(fields: Readonly<Record<string, Check>>): Check {
  return (value, path) => {
    if (!isObject(value)) return [{ field: path, rule: "must be an object" }];
    return Object.entries(fields).flatMap(([name, check]) => {
      const field = value[name];
      return field === undefined || field === null ? [] : check(field, `${path}.${name}`);
    });
  };
}

const container = objectWith({
  name: text,
  image: text,
  imagePullPolicy: text,
  workingDir: text,
  command: listOf(text),
  args: listOf(text),
  env: listOf(objectWith({ name: text, value: text })),
  resources: objectWith({ limits: amounts, requests: amounts }),
  volumeMounts: listOf(objectWith({ name: text, mountPath: text })),
});

const pod = objectWith({
  containers: listOf(container),
  initContainers: listOf(container),
  volumes: listOf(objectWith({ name: text })),
  nodeSelector: mapOfTexts,
  tolerations: listOf(objectWith({ key: text, operator: text, value: text, effect: text })),
  serviceAccountName: text,
  restartPolicy: text,
  priorityClassName: text,
  schedulerName: text,
});

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
