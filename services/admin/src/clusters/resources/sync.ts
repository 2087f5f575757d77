import { isDeepStrictEqual } from "node:util";
import { type KubeApplier, type KubeClient, KubeError, type KubeObject, type ResourceRef } from "@flyte-ts/kubernetes";
import { apiFailureReason } from "../health/health.js";
import { ensureNamespace } from "./ensure-namespace.js";
import { inOrder, type Manifest, redact, render, type Template, within } from "./render.js";
import type { ResourceOutcome } from "../store/resource-syncs.js";
import type { Scope, TemplateValue } from "./values.js";

/** Verbs of the Kubernetes API that a sync needs. */
export type SyncKube = Pick<KubeClient, "get" | "create" | "delete"> & KubeApplier;

export const FIELD_MANAGER = "flyte-ts-cluster-resources";

export interface SyncWork {
  readonly kube: SyncKube;
  readonly scope: Scope;
  readonly templates: readonly Template[];
  readonly values: ReadonlyMap<string, TemplateValue>;
}

/** The Kubernetes API failed, independently of the templates. */
export class ClusterUnavailableError extends Error {
  override readonly name = "ClusterUnavailableError";
}

/**
 * Applies the templates for one project and domain: creates missing objects, repairs changed ones,
 * and keeps fields of other managers. An invalid template does not prevent the others from being
 * applied.
 *
 * @throws ClusterUnavailableError
 */
export async function syncResources({ kube, scope, templates, values }: SyncWork): Promise<readonly ResourceOutcome[]> {
  const rendered = templates.map((template) => render(template, values));
  const outcomes: ResourceOutcome[] = rendered
    .flatMap(({ problems }) => problems)
    .map(({ rule, ...where }) => ({ ...where, name: redact(where.name, values), outcome: "failed", error: rule }));
  const manifests = inOrder(rendered.flatMap((each) => each.manifests));
  if (!manifests.some(({ kind, name }) => kind === "Namespace" && name === scope.namespace))
    await ensureNamespace(kube, scope.namespace).catch(toClusterUnavailable);
  for (const manifest of manifests) outcomes.push(await applyOne({ kube, scope, values }, manifest));
  return outcomes;
}

async function applyOne({ kube, scope, values }: Omit<SyncWork, "templates">, manifest: Manifest): Promise<ResourceOutcome> {
  const { template, apiVersion, kind } = manifest;
  const about = { template, kind, name: redact(manifest.name, values) };
  const failed = (error: string): ResourceOutcome => ({ ...about, outcome: "failed", error: redact(error, values).slice(0, 1_000) });
  try {
    const ref = await kube.findResource(apiVersion, kind);
    if (ref === undefined) return failed(`the data plane has no ${kind} of ${apiVersion}`);
    const body = within(scope, manifest, ref.namespaced);
    if ("rule" in body) return failed(body.rule as string);
    return {
      ...about,
      outcome: await apply(kube, ref, { body, name: manifest.name, namespace: ref.namespaced ? scope.namespace : undefined }),
      error: "",
    };
  } catch (error) {
    // An API server responds with 500 to values of the applied object that it cannot decode.
    if (apiFailureReason(error) !== undefined && !(error instanceof KubeError && error.status === 500)) return toClusterUnavailable(error);
    return failed(error instanceof KubeError ? error.message : String(error));
  }
}

interface Applied {
  readonly namespace: string | undefined;
  readonly name: string;
  readonly body: object;
}

async function apply(kube: SyncKube, ref: ResourceRef, object: Applied): Promise<ResourceOutcome["outcome"]> {
  const before = await kube.get<KubeObject>(ref, object);
  const after = await kube.apply<KubeObject>(ref, { ...object, fieldManager: FIELD_MANAGER });
  if (before === undefined) return "created";
  return isDeepStrictEqual(contentOf(before), contentOf(after)) ? "unchanged" : "repaired";
}

/** Returns the object without fields that the API server maintains. */
function contentOf({ metadata, ...content }: KubeObject): object {
  const { resourceVersion: _, managedFields: __, generation: ___, ...rest } = metadata;
  return { ...content, status: undefined, metadata: rest };
}

function toClusterUnavailable(cause: unknown): never {
  throw new ClusterUnavailableError(apiFailureReason(cause) ?? (cause instanceof Error ? cause.message : String(cause)), { cause });
}
