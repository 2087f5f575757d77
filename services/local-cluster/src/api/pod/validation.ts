import { type Json, type KubeObject, at, isObject, listAt, show, textAt } from "../../object/model.js";
import { equalJson } from "../../object/merge-patch.js";
import { parseQuantity, QuantityError } from "../../object/quantity.js";
import type { Cause } from "../api-error.js";
import { checkLabel, invalidValue, required } from "../names.js";

const POLICIES = ["Always", "OnFailure", "Never"];

/** Checks the relevant rules of a pod's spec; reports violations as Kubernetes does. */
export function checkPod(pod: KubeObject): Cause[] {
  const spec = pod["spec"];
  const containers = listAt(spec, "containers");
  if (containers.length === 0) return [required("spec.containers")];
  const policy = textAt(spec, "restartPolicy") ?? "";
  const volumes = new Set(listAt(spec, "volumes").map((v) => textAt(v, "name")));
  const seen = new Set<string>();
  const context = { volumes, seen };
  return [
    ...listAt(spec, "volumes").flatMap((volume, i) => checkLabel(`spec.volumes[${i}].name`, textAt(volume, "name") ?? "")),
    ...containers.flatMap((c, i) => checkContainer(c, `spec.containers[${i}]`, context)),
    ...listAt(spec, "initContainers").flatMap((c, i) => checkContainer(c, `spec.initContainers[${i}]`, context)),
    ...(POLICIES.includes(policy)
      ? []
      : [
          {
            reason: "FieldValueNotSupported",
            message: `Unsupported value: ${JSON.stringify(policy)}: supported values: "Always", "Never", "OnFailure"`,
            field: "spec.restartPolicy",
          },
        ]),
    ...checkNumber(spec, "activeDeadlineSeconds", 1),
    ...checkNumber(spec, "terminationGracePeriodSeconds", 0),
  ];
}

function checkNumber(spec: Json | undefined, field: string, min: number): Cause[] {
  const value = at(spec, field);
  if (value === undefined || value === null || (typeof value === "number" && Number.isInteger(value) && value >= min)) return [];
  return [
    invalidValue(`spec.${field}`, value, min === 0 ? "must be greater than or equal to 0" : "must be between 1 and 2147483647, inclusive"),
  ];
}

interface Names {
  readonly volumes: ReadonlySet<string | undefined>;
  readonly seen: Set<string>;
}

function checkContainer(container: Json, field: string, { volumes, seen }: Names): Cause[] {
  const name = textAt(container, "name") ?? "";
  const causes: Cause[] = name === "" ? [required(`${field}.name`)] : checkLabel(`${field}.name`, name);
  if (name !== "" && seen.has(name))
    causes.push({ reason: "FieldValueDuplicate", message: `Duplicate value: ${JSON.stringify(name)}`, field: `${field}.name` });
  seen.add(name);
  const image = textAt(container, "image") ?? "";
  if (image === "") causes.push(required(`${field}.image`));
  else if (image.trim() !== image) causes.push(invalidValue(`${field}.image`, image, "must not have leading or trailing whitespace"));
  for (const [i, variable] of listAt(container, "env").entries()) {
    if ((textAt(variable, "name") ?? "") === "") causes.push(required(`${field}.env[${i}].name`));
    const value = at(variable, "value");
    if (value !== undefined && typeof value !== "string") causes.push(invalidValue(`${field}.env[${i}].value`, value, "must be a string"));
  }
  for (const list of ["command", "args"]) {
    for (const [i, word] of listAt(container, list).entries()) {
      if (typeof word !== "string") causes.push(invalidValue(`${field}.${list}[${i}]`, word, "must be a string"));
    }
  }
  for (const [i, mount] of listAt(container, "volumeMounts").entries()) {
    const volume = textAt(mount, "name");
    if (!volumes.has(volume))
      causes.push({
        reason: "FieldValueNotFound",
        message: `Not found: ${JSON.stringify(volume ?? "")}`,
        field: `${field}.volumeMounts[${i}].name`,
      });
    if ((textAt(mount, "mountPath") ?? "") === "") causes.push(required(`${field}.volumeMounts[${i}].mountPath`));
  }
  return [...causes, ...checkResources(container, field)];
}

function checkResources(container: Json, field: string): Cause[] {
  const causes: Cause[] = [];
  const amounts = new Map<string, bigint>();
  for (const part of ["limits", "requests"]) {
    const list = at(container, "resources", part);
    if (!isObject(list)) continue;
    for (const [name, value] of Object.entries(list)) {
      const place = `${field}.resources.${part}[${name}]`;
      try {
        const amount = parseQuantity(value);
        if (amount < 0n) causes.push(invalidValue(place, value, "must be greater than or equal to 0"));
        const limit = amounts.get(name);
        if (part === "limits") amounts.set(name, amount);
        else if (limit !== undefined && amount > limit)
          causes.push(
            invalidValue(
              `${field}.resources.requests`,
              value,
              `must be less than or equal to ${name} limit of ${show(at(container, "resources", "limits", name))}`,
            ),
          );
      } catch (error) {
        if (!(error instanceof QuantityError)) throw error;
        causes.push(invalidValue(place, value, error.message));
      }
    }
  }
  return causes;
}

/** Rejects changes of immutable parts of a pod's spec. */
export function checkPodUpdate(next: KubeObject, old: KubeObject): Cause[] {
  const fixed = (pod: KubeObject): Json => {
    const spec = isObject(pod["spec"]) ? pod["spec"] : {};
    const containers = (field: string): readonly Json[] => listAt(spec, field).map((c) => (isObject(c) ? { ...c, image: "" } : c));
    return {
      ...spec,
      activeDeadlineSeconds: null,
      tolerations: null,
      terminationGracePeriodSeconds: null,
      nodeName: null,
      schedulingGates: null,
      containers: containers("containers"),
      initContainers: containers("initContainers"),
    };
  };
  if (equalJson(fixed(next), fixed(old))) return [];
  return [
    {
      reason: "FieldValueForbidden",
      message:
        "Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
      field: "spec",
    },
  ];
}
