import { type KubeObject, type JsonObject, at, isObject, listAt, show, textAt } from "../../object/model.js";
import { parseQuantity, QuantityError } from "../../object/quantity.js";
import type { Cause } from "../api-error.js";
import { STORAGE } from "../type/built-in-types.js";
import type { ApiContext } from "../context.js";
import { established } from "../type/crd-types.js";
import { applyLimitRanges, checkLimitRanges } from "../pod/limit-range.js";
import { invalidValue, required } from "../names.js";
import { defaultPod, qosClass } from "../pod/defaults.js";
import { checkPod, checkPodUpdate } from "../pod/validation.js";
import { checkQuota, quotaStatus } from "../pod/quota.js";
import type { ResourceType } from "../type/resource-type.js";

/** Applies defaults to a new object, by kind. */
export function defaultOnCreate(context: ApiContext, type: ResourceType, object: KubeObject): KubeObject {
  switch (type.storage) {
    case STORAGE.pods: {
      const pod = applyLimitRanges(context.store, defaultPod(object));
      return { ...pod, status: { phase: "Pending", qosClass: qosClass(isObject(pod["spec"]) ? pod["spec"] : {}) } };
    }
    case STORAGE.namespaces:
      return {
        ...object,
        metadata: { ...object.metadata, labels: { ...object.metadata.labels, "kubernetes.io/metadata.name": object.metadata.name } },
        spec: { finalizers: ["kubernetes"] },
        status: { phase: "Active" },
      };
    case STORAGE.secrets:
      return withStringData({ type: "Opaque", ...object });
    case STORAGE.definitions:
      return established({ ...object, status: {} }, context.now());
    case STORAGE.quotas:
      return { ...object, status: quotaStatus(context.store, object) };
    default:
      return type.statusSubresource && !type.builtIn ? withoutStatus(object) : object;
  }
}

/** Applies defaults to an updated object, by kind. */
export function defaultOnUpdate(context: ApiContext, type: ResourceType, object: KubeObject): KubeObject {
  switch (type.storage) {
    case STORAGE.secrets:
      return withStringData(object);
    case STORAGE.definitions:
      return established(object, context.now());
    case STORAGE.quotas:
      return { ...object, status: quotaStatus(context.store, object) };
    default:
      return object;
  }
}

/** Checks rules of the kind besides metadata; `old` is given for updates. */
export function checkKind(type: ResourceType, object: KubeObject, old?: KubeObject): Cause[] {
  switch (type.storage) {
    case STORAGE.pods:
      return old === undefined ? checkPod(object) : [...checkPod(object), ...checkPodUpdate(object, old)];
    case STORAGE.definitions:
      return checkDefinition(object);
    case STORAGE.secrets:
      return old !== undefined && old["type"] !== object["type"]
        ? [invalidValue("type", object["type"], "field is immutable")]
        : checkImmutable(object, old);
    case STORAGE.configMaps:
      return checkImmutable(object, old);
    case STORAGE.quotas:
      return checkQuotaAmounts(object);
    default:
      return [];
  }
}

function checkImmutable(object: KubeObject, old: KubeObject | undefined): Cause[] {
  if (old?.["immutable"] !== true) return [];
  const changed =
    object["immutable"] !== true || (["data", "binaryData"] as const).some((f) => JSON.stringify(object[f]) !== JSON.stringify(old[f]));
  return changed
    ? [{ reason: "FieldValueForbidden", message: "Forbidden: field is immutable when `immutable` is set", field: "data" }]
    : [];
}

function checkQuotaAmounts(quota: KubeObject): Cause[] {
  const hard = at(quota, "spec", "hard");
  if (!isObject(hard)) return [];
  return Object.entries(hard).flatMap(([name, value]) => {
    try {
      parseQuantity(value);
      return [];
    } catch (error) {
      if (!(error instanceof QuantityError)) throw error;
      return [invalidValue(`spec.hard[${name}]`, value, error.message)];
    }
  });
}

function checkDefinition(object: KubeObject): Cause[] {
  const causes: Cause[] = [];
  for (const field of ["group", "scope"]) if ((textAt(object, "spec", field) ?? "") === "") causes.push(required(`spec.${field}`));
  for (const field of ["plural", "kind"])
    if ((textAt(object, "spec", "names", field) ?? "") === "") causes.push(required(`spec.names.${field}`));
  if (causes.length > 0) return causes;
  const expected = `${textAt(object, "spec", "names", "plural")}.${textAt(object, "spec", "group")}`;
  if (object.metadata.name !== expected)
    causes.push(invalidValue("metadata.name", object.metadata.name, 'must be spec.names.plural+"."+spec.group'));
  const stored = listAt(object, "spec", "versions").filter((v) => at(v, "storage") === true);
  if (stored.length !== 1)
    causes.push(invalidValue("spec.versions", stored.length, "must have exactly one version marked as storage version"));
  return causes;
}

/** Enforces limit ranges and quotas. */
export function runAdmission(context: ApiContext, type: ResourceType, object: KubeObject): void {
  if (type.storage === STORAGE.pods) checkLimitRanges(context.store, object);
  if (type.namespaced) checkQuota(context.store, object, type);
}

function withStringData(secret: KubeObject): KubeObject {
  const { stringData, ...rest } = secret;
  if (!isObject(stringData)) return rest as KubeObject;
  const encoded = Object.entries(stringData).map(([key, value]) => [key, Buffer.from(show(value)).toString("base64")]);
  return {
    ...(rest as KubeObject),
    data: { ...(isObject(secret["data"]) ? secret["data"] : {}), ...(Object.fromEntries(encoded) as JsonObject) },
  };
}

function withoutStatus(object: KubeObject): KubeObject {
  const { status: _, ...rest } = object;
  return rest as KubeObject;
}
