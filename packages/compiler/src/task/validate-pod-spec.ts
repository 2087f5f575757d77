import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { isQuantity } from "@flyte-ts/domain/quantity";

/** The first invalid part of a pod's specification: the path of the field and the rule. */
export interface PodSpecError {
  readonly field: string;
  readonly rule: string;
}

const DNS_LABEL = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;

type Validator = (value: JsonValue, path: string) => readonly PodSpecError[];

/**
 * Checks the shape of the parts that every pod needs (containers and their texts, lists, maps and
 * quantities) and that each container's name is a DNS-1123 label. Kubernetes checks the rest.
 */
export function validatePodSpec(podSpec: JsonObject | undefined): readonly PodSpecError[] {
  if (podSpec === undefined) return [{ field: "pod_spec", rule: "must be set" }];
  const errors = pod(podSpec, "pod_spec");
  if (errors.length > 0) return errors;
  const containers = (podSpec["containers"] ?? []) as readonly { readonly name?: string }[];
  return containers.flatMap(({ name = "" }, i) =>
    DNS_LABEL.test(name)
      ? []
      : { field: `pod_spec.containers[${i}].name`, rule: `must be a DNS-1123 label of at most 63 characters, not "${name}"` },
  );
}

const string: Validator = (value, path) => (typeof value === "string" ? [] : [{ field: path, rule: "must be a text" }]);

function listOf(item: Validator): Validator {
  return (value, path) =>
    Array.isArray(value) ? value.flatMap((element, i) => item(element, `${path}[${i}]`)) : [{ field: path, rule: "must be a list" }];
}

const stringMap: Validator = (value, path) =>
  isObject(value)
    ? Object.entries(value).flatMap(([key, item]) => string(item, `${path}.${key}`))
    : [{ field: path, rule: "must be a map" }];

/** Kubernetes also accepts numbers, and null for an absent value. */
const quantities: Validator = (value, path) => {
  if (!isObject(value)) return [{ field: path, rule: "must be an object" }];
  return Object.entries(value).flatMap(([name, quantity]) =>
    quantity === null || ((typeof quantity === "string" || typeof quantity === "number") && isQuantity(String(quantity)))
      ? []
      : [{ field: `${path}.${name}`, rule: `must be a Kubernetes quantity such as 500m or 2Gi, not ${JSON.stringify(quantity)}` }],
  );
};

/** Checks the fields that are present; null counts as absent. */
function objectWith(fields: Readonly<Record<string, Validator>>): Validator {
  return (value, path) => {
    if (!isObject(value)) return [{ field: path, rule: "must be an object" }];
    return Object.entries(fields).flatMap(([name, validate]) => {
      const field = value[name];
      return field === undefined || field === null ? [] : validate(field, `${path}.${name}`);
    });
  };
}

const container = objectWith({
  name: string,
  image: string,
  imagePullPolicy: string,
  workingDir: string,
  command: listOf(string),
  args: listOf(string),
  env: listOf(objectWith({ name: string, value: string })),
  resources: objectWith({ limits: quantities, requests: quantities }),
  volumeMounts: listOf(objectWith({ name: string, mountPath: string })),
});

const pod = objectWith({
  containers: listOf(container),
  initContainers: listOf(container),
  volumes: listOf(objectWith({ name: string })),
  nodeSelector: stringMap,
  tolerations: listOf(objectWith({ key: string, operator: string, value: string, effect: string })),
  serviceAccountName: string,
  restartPolicy: string,
  priorityClassName: string,
  schedulerName: string,
});

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
