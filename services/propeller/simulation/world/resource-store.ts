import { applyMergePatch, FINALIZER } from "@flyte-ts/workflow-crd";
import type { WorkflowStatus } from "@flyte-ts/workflow-crd/status";
import type { ResourcePatch } from "../../src/engine/types.js";

export interface Resource {
  readonly resourceVersion: number;
  /** Counts changes other than metadata. */
  readonly generation: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly finalizers: readonly string[];
  readonly deletionRequested: boolean;
  readonly status: WorkflowStatus;
}

export type WriteResult = { readonly kind: "ok"; readonly resource: Resource } | { readonly kind: "conflict" } | { readonly kind: "gone" };

type Json = Parameters<typeof applyMergePatch>[1];

/** The FlyteWorkflow resource in a Kubernetes API: versions, finalizers, deletion. */
export class ResourceStore {
  current: Resource | undefined;
  /** All versions so far. */
  readonly history: Resource[] = [];
  /** A process has created its run, and may have started its nodes. */
  takenUp = false;

  constructor(private readonly onChange: (before: Resource, after: Resource | undefined) => void) {
    this.current = {
      resourceVersion: 1,
      generation: 1,
      labels: {},
      finalizers: [FINALIZER],
      deletionRequested: false,
      status: { phase: 0 },
    };
    this.history.push(this.current);
  }

  /** A patch that applies to `version` only; without it, to any version. */
  patch(patch: ResourcePatch, version: number | undefined): WriteResult {
    const before = this.current;
    if (before === undefined) return { kind: "gone" };
    if (version !== undefined && before.resourceVersion !== version) return { kind: "conflict" };
    const sent = JSON.parse(JSON.stringify(patch)) as {
      status: Json;
      metadata?: { labels?: Record<string, string>; finalizers?: string[] | null };
    };
    const status = applyMergePatch(before.status as unknown as Json, sent.status) as unknown as WorkflowStatus;
    const finalizers = sent.metadata?.finalizers === undefined ? before.finalizers : (sent.metadata.finalizers ?? []);
    const generation = before.generation + (Object.keys(sent.status as object).length > 0 ? 1 : 0);
    return this.#put(before, { ...before, generation, status, finalizers, labels: { ...before.labels, ...sent.metadata?.labels } });
  }

  /** Simulates a change by another client. */
  touch(): void {
    if (this.current !== undefined) this.#put(this.current, { ...this.current, labels: { ...this.current.labels, touched: "true" } });
  }

  requestDeletion(): void {
    if (this.current !== undefined)
      this.#put(this.current, { ...this.current, generation: this.current.generation + 1, deletionRequested: true });
  }

  #put(before: Resource, next: Resource): WriteResult {
    const after = { ...next, resourceVersion: before.resourceVersion + 1 };
    const gone = after.deletionRequested && after.finalizers.length === 0;
    this.current = gone ? undefined : after;
    this.history.push(after);
    this.onChange(before, after);
    return { kind: "ok", resource: after };
  }
}

/** True when the execution will not continue. */
export function isOver({ current }: ResourceStore): boolean {
  return current === undefined || current.labels["termination-status"] !== undefined;
}
