import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { TypedInterfaceSchema } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import { TaskMetadataSchema, TaskTemplateSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { OwnerSchema, type TaskRequest, TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { KubeObject } from "@flyte-ts/kubernetes";
import { eventFields } from "@flyte-ts/task-plugin";
import { dataConfig } from "../copilot/data-config.js";
import { takenAt } from "../warm/taken-pod.js";
import { isObjectName } from "./object-name.js";

/**
 * Annotation that identifies the attempt of a pod or another object: the request without fields
 * that only the object's creation needs, as base64 of its protobuf form. With it a new process of
 * the service can report the object's end before it gets a request.
 */
export const ATTEMPT_ANNOTATION = "flyte.org/attempt";

/** The part of a request needed for events and for reading outputs. */
export function reduceRequest(request: TaskRequest): TaskRequest {
  const { template } = request;
  const outputs = Object.keys(template?.interface?.outputs?.variables ?? {});
  const deck = template?.metadata?.generatesDeck;
  const reduced = eventFields(request);
  reduced.template = create(TaskTemplateSchema, {
    type: template?.type ?? "",
    // Variables without types: only their presence counts.
    interface: create(TypedInterfaceSchema, {
      outputs: { variables: Object.fromEntries(outputs.slice(0, 1).map((name) => [name, {}])) },
    }),
    metadata: deck === undefined ? undefined : create(TaskMetadataSchema, { generatesDeck: deck }),
    config: template?.config.link_type === undefined ? {} : template.config,
    ...(dataConfig(request)?.enabled ? { target: { case: "container", value: { dataConfig: { enabled: true } } } } : {}),
  });
  // Reports of a pod have their own plugin state.
  reduced.pluginState = new Uint8Array();
  return reduced;
}

/**
 * Identifies the attempt of an object without the annotation, created by another propeller: enough
 * to stop it.
 */
export function minimalAttempt({ metadata }: KubeObject, workflowKey: string): TaskRequest {
  return create(TaskRequestSchema, { generatedName: metadata.name, namespace: metadata.namespace ?? "", workflowKey });
}

export function encodeAttemptAnnotation(request: TaskRequest): string {
  // The object names its owner in a field of its own.
  return Buffer.from(toBinary(TaskRequestSchema, { ...reduceRequest(request), owner: undefined })).toString("base64");
}

/** Returns the object with the annotation that identifies its attempt. */
export function annotateAttempt<T extends KubeObject>(object: T, request: TaskRequest): T {
  const annotations = { ...object.metadata.annotations, [ATTEMPT_ANNOTATION]: encodeAttemptAnnotation(request) };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/** Reads the attempt of an object, with the object's owner; undefined for foreign objects. */
export function decodeAttemptAnnotation({ metadata }: KubeObject): TaskRequest | undefined {
  const text = metadata.annotations?.[ATTEMPT_ANNOTATION];
  if (text === undefined) return undefined;
  try {
    const request = fromBinary(TaskRequestSchema, Buffer.from(text, "base64"));
    // The annotation may have been copied from another object; a warm pod has a name of its own.
    const isOwn = isObjectName(metadata.name, request.generatedName) || takenAt({ metadata }) !== undefined;
    if (!isOwn || request.namespace !== metadata.namespace) return undefined;
    const [owner] = metadata.ownerReferences ?? [];
    if (owner !== undefined) request.owner = create(OwnerSchema, owner);
    return request;
  } catch {
    return undefined;
  }
}
