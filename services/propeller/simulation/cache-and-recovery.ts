import { create } from "@bufbuild/protobuf";
import { cacheKeyOf } from "@flyte-ts/domain/catalog";
import { literalsEqual } from "@flyte-ts/domain/literal";
import { CatalogCacheStatus } from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import { NodeExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { IdentifierSchema, ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { type LiteralMap, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { ExecutionEvent } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { PriorNode } from "../src/engine/calls/recovery.js";
import type { GraphSpec, NodeSpec, WorkflowSpec } from "./fixtures/workflow.js";
import type { Random } from "./random.js";
import { type Catalog, keyOf } from "./services/catalog.js";

/**
 * Returns the same workflow with some tasks cached under few keys, so that their calls coincide.
 */
export function withCaches(spec: WorkflowSpec, random: Random): WorkflowSpec {
  const node = (from: NodeSpec): NodeSpec => {
    if (from.kind === "branch") {
      const arms = from.arms.map((arm) => ({ ...arm, run: node(arm.run) }));
      return { ...from, arms, ...(from.otherwise === undefined ? {} : { otherwise: node(from.otherwise) }) };
    }
    if (from.kind !== "task" || random.chance(0.4)) return from;
    const ignore = random.chance(0.7) ? ["a", "b"] : [];
    return { ...from, cache: { task: random.pick(["c0", "c1"]), serialize: random.chance(0.7), ignore } };
  };
  const graph = (from: GraphSpec): GraphSpec => ({
    ...from,
    nodes: Object.fromEntries(Object.entries(from.nodes).map(([id, one]) => [id, node(one)])),
  });
  const graphs = Object.fromEntries(Object.entries(spec.graphs ?? {}).map(([id, one]) => [id, graph(one)]));
  return { ...spec, main: graph(spec.main), graphs, overwriteCache: random.chance(0.1) };
}

/** Key of the serialized call that a request computes; undefined for other requests. */
export function serializedKey({ template, inputs }: TaskRequest): string | undefined {
  if (template?.metadata?.cacheSerializable !== true || inputs === undefined) return undefined;
  const call = cacheKeyOf(template, inputs);
  return call === undefined ? undefined : keyOf(call);
}

/** Describes a wrong claim of an event about the cache; undefined when there is none. */
export function falseCacheClaim({ event, outputs }: ExecutionEvent, catalog: Catalog, overwrites: boolean): string | undefined {
  if (event.case !== "node" || event.value.targetMetadata.case !== "taskNodeMetadata") return undefined;
  const { id, phase, targetMetadata } = event.value;
  const { cacheStatus, catalogKey } = targetMetadata.value;
  if (phase !== NodeExecution_Phase.SUCCEEDED || catalogKey === undefined) return undefined;
  // When outputs were neither found nor stored, the event names only the task.
  if (cacheStatus === CatalogCacheStatus.CACHE_PUT_FAILURE || cacheStatus === CatalogCacheStatus.CACHE_LOOKUP_FAILURE) return undefined;
  const key = `${catalogKey.datasetId?.name ?? ""}/${catalogKey.datasetId?.version ?? ""}/${catalogKey.artifactTag?.name ?? ""}`;
  const stored = catalog.artifacts.get(key);
  if (stored === undefined) return `${id?.nodeId ?? ""} names ${key}, where nothing was stored`;
  if (overwrites || cacheStatus !== CatalogCacheStatus.CACHE_HIT || outputs === undefined) return undefined;
  return sameLiterals(outputs, stored) ? undefined : `${id?.nodeId ?? ""} has outputs that were not stored under ${key}`;
}

/**
 * Outcomes of an earlier run of the same workflow, from its events, with some of them changed
 * since.
 */
export class PriorExecution {
  readonly #nodes = new Map<string, { inputs?: LiteralMap; outputs?: LiteralMap; succeeded: boolean }>();
  readonly #changed = new Map<string, boolean>();
  /** Nodes whose outputs are no longer available. */
  readonly #forgotten = new Map<string, boolean>();

  constructor(
    private readonly random: Random,
    private readonly bug: string | undefined,
  ) {}

  /** @param blobs blob store of the earlier run. */
  take({ event, inputs, outputs }: ExecutionEvent, blobs: ReadonlyMap<string, LiteralMap>): void {
    if (event.case !== "node") return;
    const { id: nodeId, phase, outputResult } = event.value;
    const id = nodeId?.nodeId ?? "";
    const before = this.#nodes.get(id);
    const succeeded = before?.succeeded === true || phase === NodeExecution_Phase.SUCCEEDED;
    const stored = outputResult.case === "outputUri" ? blobs.get(outputResult.value) : undefined;
    const given = { inputs: inputs ?? before?.inputs, outputs: outputs ?? stored ?? before?.outputs };
    this.#nodes.set(id, {
      succeeded,
      ...(given.inputs === undefined ? {} : { inputs: given.inputs }),
      ...(given.outputs === undefined ? {} : { outputs: given.outputs }),
    });
  }

  answer(id: string): PriorNode | undefined {
    const node = this.#nodes.get(id);
    if (node === undefined) return undefined;
    const changed = this.#changed.get(id) ?? this.random.chance(0.3);
    this.#changed.set(id, changed);
    const released = this.#forgotten.get(id) ?? this.random.chance(0.2);
    this.#forgotten.set(id, released);
    const task = create(IdentifierSchema, { resourceType: ResourceType.TASK, project: "p", domain: "d", name: "other", version: "v0" });
    return {
      succeeded: node.succeeded,
      inputs: node.inputs,
      outputs: released ? undefined : node.outputs,
      tasks: changed && this.bug !== "forgetsTasks" ? [task] : [],
      checkpointUri: "",
      deckUri: "",
      cacheStatus: CatalogCacheStatus.CACHE_DISABLED,
      catalogKey: undefined,
      childExecution: undefined,
    };
  }

  /**
   * Describes an outcome that an event reports as recovered although inputs or task differ;
   * undefined when there is none.
   */
  falseRecovery({ event, inputs, outputs }: ExecutionEvent): string | undefined {
    if (event.case !== "node" || event.value.phase !== NodeExecution_Phase.RECOVERED) return undefined;
    const id = event.value.id?.nodeId ?? "";
    const node = this.#nodes.get(id);
    if (node === undefined || !node.succeeded) return `${id} is recovered and did not succeed before`;
    if (this.#changed.get(id) === true) return `${id} is recovered and ran another task before`;
    if (inputs !== undefined && (node.inputs === undefined || !sameLiterals(inputs, node.inputs)))
      return `${id} is recovered with other inputs`;
    const given = (this.#forgotten.get(id) === true ? undefined : node.outputs) ?? create(LiteralMapSchema);
    if (outputs !== undefined && !sameLiterals(outputs, given)) return `${id} is recovered with other outputs`;
    return undefined;
  }
}

function sameLiterals(a: LiteralMap, b: LiteralMap): boolean {
  const names = Object.keys(a.literals);
  if (names.length !== Object.keys(b.literals).length) return false;
  return names.every((name) => {
    const [one, other] = [a.literals[name], b.literals[name]];
    return one !== undefined && other !== undefined && literalsEqual(one, other);
  });
}
