import type { JsonObject } from "@bufbuild/protobuf";
import type { PodSpec } from "@flyte-ts/pod-task";
import type { RolePod } from "./role-pod-builder.js";

/** A PodTemplateSpec for an operator's resource. */
export function podTemplate({ spec, labels, annotations }: RolePod): JsonObject {
  return { metadata: { labels: { ...labels }, annotations: { ...annotations } }, spec: toJson(spec) };
}

/** A pod spec, or a part of it, as JSON. */
export function toJson(spec: PodSpec | object): JsonObject {
  return structuredClone(spec) as unknown as JsonObject;
}
