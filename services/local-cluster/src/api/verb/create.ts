import { isObject, type KubeObject, textAt, timestamp, withMeta } from "../../object/model.js";
import { Stored } from "../../store/stored-object.js";
import { alreadyExists, ApiError, badRequest, invalid, notFound } from "../api-error.js";
import { STORAGE } from "../type/built-in-types.js";
import type { ApiContext, Target } from "../context.js";
import { invalidValue, required } from "../names.js";
import { runAdmission, defaultOnCreate } from "./strategy.js";
import { checkObject, checkSize, readObject, waitUntilDurable } from "./write-checks.js";

export interface WriteOptions {
  /** Validate and respond without storing. */
  readonly dryRun: boolean;
  /** Size of the request body. */
  readonly bytes: number;
}

/** Creates an object; resolves when it is durable. */
export async function create(context: ApiContext, target: Target, request: { body: unknown } & WriteOptions): Promise<Stored> {
  const { type, namespace } = target;
  const read = readObject(request.body, target);
  // Only a body of a built-in kind may omit `kind` and `apiVersion`.
  const typed = isObject(request.body) && request.body["kind"] !== undefined && request.body["apiVersion"] !== undefined;
  if (!type.builtIn && !typed)
    throw badRequest(`the object provided is unrecognized (must be of type ${type.kind}): Object 'Kind' is missing`);
  if (read.metadata.resourceVersion !== undefined && read.metadata.resourceVersion !== "") {
    throw badRequest("resourceVersion should not be set on objects to be created");
  }
  if (type.namespaced) checkNamespace(context, { type, namespace: namespace ?? "", name: read.metadata.name ?? "" });
  const object = newObject(context, target, read);
  const place = { resource: type.storage, namespace: namespace ?? "", name: object.metadata.name };
  if (context.store.get(place) !== undefined) throw alreadyExists({ group: type.group, plural: type.plural, name: place.name });
  checkObject(type, object);
  runAdmission(context, type, object);
  checkSize(context, object, request.bytes + 1024);
  if (request.dryRun) return new Stored(object, { revision: context.store.revision });
  const stored = context.store.put(type.storage, object);
  return waitUntilDurable(context, stored);
}

function newObject(context: ApiContext, { type, namespace }: Target, read: KubeObject): KubeObject {
  const { generateName } = read.metadata;
  let name = read.metadata.name as string | undefined;
  if (name === undefined || name === "") {
    if (generateName === undefined || generateName === "") {
      throw invalid({
        kind: type.kind,
        group: type.group,
        name: "",
        causes: [required("metadata.name", "name or generateName is required")],
      });
    }
    const taken = (suffix: string) => context.store.get({ resource: type.storage, namespace: namespace ?? "", name: suffix }) !== undefined;
    do name = `${generateName.slice(0, 58)}${context.randomSuffix(5)}`;
    while (taken(name));
  }
  if (typeof name !== "string")
    throw invalid({
      kind: type.kind,
      group: type.group,
      name: String(name),
      causes: [invalidValue("metadata.name", name, "must be a string")],
    });
  const identified = withMeta(read, {
    name,
    uid: context.newUid(),
    creationTimestamp: timestamp(context.now()),
    generation: type.storage === STORAGE.pods || !type.builtIn || type.storage === STORAGE.definitions ? 1 : undefined,
    deletionTimestamp: undefined,
    deletionGracePeriodSeconds: undefined,
  } as Partial<KubeObject["metadata"]>);
  return defaultOnCreate(context, type, identified);
}

function checkNamespace(context: ApiContext, { type, namespace, name }: { type: Target["type"]; namespace: string; name: string }): void {
  const found = context.store.get({ resource: STORAGE.namespaces, namespace: "", name: namespace });
  if (found === undefined) throw notFound({ group: "", plural: "namespaces", name: namespace });
  if (found.object.metadata.deletionTimestamp === undefined && textAt(found.object, "status", "phase") !== "Terminating") return;
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const plural = type.group === "" ? type.plural : `${type.plural}.${type.group}`;
  throw new ApiError("Forbidden", `${plural} "${name}" is forbidden: ${why}`, {
    name,
    kind: type.plural,
    causes: [{ reason: "NamespaceTerminating", message: `namespace ${namespace} is being terminated`, field: "metadata.namespace" }],
  });
}
