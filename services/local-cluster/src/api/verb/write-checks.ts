import { type KubeObject, isObject, show } from "../../object/model.js";
import type { Stored } from "../../store/stored-object.js";
import { ApiError, badRequest, invalid } from "../api-error.js";
import type { ApiContext, Target } from "../context.js";
import { checkMetadata } from "../names.js";
import { groupVersion, type ResourceType } from "../type/resource-type.js";
import { checkKind } from "./strategy.js";

/** Parses a body as an object of the target's kind, in stored form. */
export function readObject(body: unknown, { type, namespace }: Pick<Target, "type" | "namespace">): KubeObject {
  if (!isObject(body)) throw badRequest("the body of the request must be an object");
  const expected = groupVersion(type);
  if (body["apiVersion"] !== undefined && body["apiVersion"] !== expected) {
    throw badRequest(`the API version in the data (${show(body["apiVersion"])}) does not match the expected API version (${expected})`);
  }
  if (body["kind"] !== undefined && body["kind"] !== type.kind) {
    throw badRequest(`${show(body["kind"])} in version ${JSON.stringify(expected)} cannot be handled as a ${type.kind}`);
  }
  const given = body["metadata"];
  if (given !== undefined && given !== null && !isObject(given)) throw badRequest("metadata must be an object");
  const { managedFields: _, selfLink: __, ...metadata } = (given ?? {}) as KubeObject["metadata"];
  if (type.namespaced && metadata.namespace !== undefined && metadata.namespace !== "" && metadata.namespace !== namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  const { namespace: ___, ...rest } = withoutEmptyMaps(metadata);
  const placed = type.namespaced ? { ...rest, namespace } : rest;
  const object = { ...body, apiVersion: expected, kind: type.kind, metadata: placed } as KubeObject;
  return type.view?.toStorage(object) ?? object;
}

/** Removes maps without entries. */
function withoutEmptyMaps(metadata: KubeObject["metadata"]): KubeObject["metadata"] {
  const empty = (["labels", "annotations"] as const).filter(
    (field) => isObject(metadata[field]) && Object.keys(metadata[field]).length === 0,
  );
  if (empty.length === 0) return metadata;
  return Object.fromEntries(
    Object.entries(metadata).filter(([field]) => !(empty as readonly string[]).includes(field)),
  ) as KubeObject["metadata"];
}

/** @throws ApiError Invalid with all violated rules */
export function checkObject(type: ResourceType, object: KubeObject, old?: KubeObject): void {
  const causes = [...checkMetadata(object), ...checkKind(type, object, old)];
  if (causes.length > 0) throw invalid({ kind: type.kind, group: type.group, name: object.metadata.name, causes });
}

/**
 * Rejects an object larger than the limit, in words that Kubernetes clients recognize. `estimate`
 * is an upper bound, so that most writes need no encoding for this check.
 */
export function checkSize(context: ApiContext, object: KubeObject, estimate: number): void {
  if (estimate <= context.maxObjectBytes) return;
  if (Buffer.byteLength(JSON.stringify(object)) > context.maxObjectBytes) {
    throw new ApiError(
      "RequestEntityTooLarge",
      `Request entity too large: etcdserver: request is too large (limit is ${context.maxObjectBytes} bytes)`,
    );
  }
}

/** Resolves with the object when it is durable. */
export async function waitUntilDurable(context: ApiContext, stored: Stored): Promise<Stored> {
  await context.store.durable(stored.revision);
  return stored;
}
