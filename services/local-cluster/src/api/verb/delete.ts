import { type Json, type KubeObject, at, isObject, textAt, timestamp, withMeta } from "../../object/model.js";
import type { Stored } from "../../store/stored-object.js";
import { conflict, forbidden, invalid, notFound } from "../api-error.js";
import { STORAGE } from "../type/built-in-types.js";
import { type ApiContext, objectName, type NamedTarget, storeKey } from "../context.js";
import { isEnded } from "../pod/resources.js";
import { isDone } from "./update.js";
import { waitUntilDurable } from "./write-checks.js";

export interface DeleteOptions {
  readonly gracePeriodSeconds?: number | undefined;
  readonly propagationPolicy?: string | undefined;
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly dryRun?: boolean;
}

const POLICIES = ["Foreground", "Background", "Orphan"];

/** Reads metav1.DeleteOptions from the body and the query; the body takes precedence. */
export function deleteOptions(body: unknown, query: URLSearchParams): DeleteOptions {
  const given = isObject(body) ? body : {};
  const seconds = given["gracePeriodSeconds"] ?? (query.has("gracePeriodSeconds") ? Number(query.get("gracePeriodSeconds")) : undefined);
  const orphan = given["orphanDependents"] ?? (query.has("orphanDependents") ? query.get("orphanDependents") === "true" : undefined);
  const policy = textAt(given, "propagationPolicy") ?? query.get("propagationPolicy") ?? undefined;
  if (policy !== undefined && !POLICIES.includes(policy)) {
    const causes = [
      {
        reason: "FieldValueNotSupported",
        message: `Unsupported value: ${JSON.stringify(policy)}: supported values: ${[...POLICIES, "nil"].map((one) => JSON.stringify(one)).join(", ")}`,
        field: "propagationPolicy",
      },
    ];
    throw invalid({ kind: "DeleteOptions", group: "meta.k8s.io", name: "", causes });
  }
  return {
    gracePeriodSeconds: typeof seconds === "number" && Number.isFinite(seconds) ? seconds : undefined,
    propagationPolicy: policy ?? (orphan === true ? "Orphan" : undefined),
    uid: textAt(given, "preconditions", "uid"),
    resourceVersion: textAt(given, "preconditions", "resourceVersion"),
    dryRun:
      query.getAll("dryRun").includes("All") || (Array.isArray(given["dryRun"]) && (given["dryRun"] as readonly Json[]).includes("All")),
  };
}

/** Namespaces that Kubernetes' NamespaceLifecycle admission protects. */
const PROTECTED_NAMESPACES = new Set(["default", "kube-public", "kube-system"]);

export interface DeleteResult {
  /** The object after the request; its last state if it is gone. */
  readonly stored: Stored;
  /** False while finalizers or the grace period delay the deletion. */
  readonly gone: boolean;
}

/**
 * Deletes an object: at once, or by marking it until its finalizers and, for pods, its processes
 * have ended.
 */
export async function handleDelete(context: ApiContext, target: NamedTarget, options: DeleteOptions): Promise<DeleteResult> {
  const removal = applyDelete(context, target, options);
  await waitUntilDurable(context, removal.stored);
  return removal;
}

/** Like handleDelete, but synchronously and without waiting for durability. */
export function applyDelete(context: ApiContext, target: NamedTarget, options: DeleteOptions): DeleteResult {
  const place = storeKey(target);
  const old = context.store.get(place);
  if (old === undefined) throw notFound(objectName(target));
  checkPreconditions(target, { object: old.object, options });
  if (target.type.storage === STORAGE.namespaces && PROTECTED_NAMESPACES.has(target.name))
    throw forbidden(objectName(target), "this namespace may not be deleted");
  const marked = markDeleted(context, target, { object: old.object, options });
  if (options.dryRun === true) return { stored: old, gone: isDone(marked) };
  if (isDone(marked)) return { stored: context.store.remove(place) ?? old, gone: true };
  return { stored: context.store.put(target.type.storage, marked), gone: false };
}

function checkPreconditions(target: NamedTarget, { object, options }: { object: KubeObject; options: DeleteOptions }): void {
  const { uid, resourceVersion } = object.metadata;
  if (options.uid !== undefined && options.uid !== uid) {
    throw conflict(objectName(target), `Precondition failed: UID in precondition: ${options.uid}, UID in object meta: ${uid}`);
  }
  if (options.resourceVersion !== undefined && options.resourceVersion !== resourceVersion) {
    throw conflict(
      objectName(target),
      `Precondition failed: ResourceVersion in precondition: ${options.resourceVersion}, ResourceVersion in object meta: ${resourceVersion}`,
    );
  }
}

/** Returns the object marked as deleted. */
function markDeleted(
  context: ApiContext,
  { type }: NamedTarget,
  { object, options }: { object: KubeObject; options: DeleteOptions },
): KubeObject {
  const { metadata } = object;
  const grace = type.storage === STORAGE.pods ? podGrace(object, options.gracePeriodSeconds) : 0;
  const finalizers = withPolicy(type.storage, metadata.finalizers ?? [], options.propagationPolicy);
  const before = metadata.deletionGracePeriodSeconds;
  if (metadata.deletionTimestamp !== undefined) {
    // A repeated delete can only shorten the grace period.
    const shorter = before !== undefined && grace < before;
    return withMeta(
      object,
      shorter
        ? {
            deletionGracePeriodSeconds: grace,
            deletionTimestamp: timestamp(context.now() + grace * 1000),
            finalizers: undefinedIfEmpty(finalizers),
          }
        : { finalizers: undefinedIfEmpty(finalizers) },
    );
  }
  const deleted = withMeta(object, {
    deletionTimestamp: timestamp(context.now() + grace * 1000),
    deletionGracePeriodSeconds: grace,
    finalizers: undefinedIfEmpty(finalizers),
    ...(metadata.generation === undefined ? {} : { generation: metadata.generation + 1 }),
  });
  return type.storage === STORAGE.namespaces
    ? { ...deleted, status: { ...(isObject(object["status"]) ? object["status"] : {}), phase: "Terminating" } }
    : deleted;
}

const undefinedIfEmpty = (list: readonly string[]) => (list.length === 0 ? undefined : list) as readonly string[];

/** A pod that is not bound or has ended needs no grace period. */
function podGrace(pod: KubeObject, requested: number | undefined): number {
  if ((textAt(pod, "spec", "nodeName") ?? "") === "" || isEnded(pod)) return 0;
  const own = at(pod, "spec", "terminationGracePeriodSeconds");
  return Math.max(0, Math.trunc(requested ?? (typeof own === "number" ? own : 30)));
}

export const FOREGROUND = "foregroundDeletion";
export const ORPHAN = "orphan";
export const CRD_CLEANUP = "customresourcecleanup.apiextensions.k8s.io";

function withPolicy(storage: string, finalizers: readonly string[], policy: string | undefined): readonly string[] {
  const others = finalizers.filter((name) => policy === undefined || (name !== FOREGROUND && name !== ORPHAN));
  const cleanup = storage === STORAGE.definitions && !others.includes(CRD_CLEANUP) ? [CRD_CLEANUP] : [];
  if (policy === "Foreground") return [...others, ...cleanup, FOREGROUND];
  if (policy === "Orphan") return [...others, ...cleanup, ORPHAN];
  return [...others, ...cleanup];
}
