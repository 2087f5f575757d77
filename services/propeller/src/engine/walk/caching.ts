import { NodePhase } from "@flyte-ts/domain";
import {
  CatalogCacheStatus,
  type CatalogMetadata,
  CatalogMetadataSchema,
  CatalogReservation_Status as Reservation,
} from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import { TaskExecutionIdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { create } from "@bufbuild/protobuf";
import type { Settled } from "../ask/question.js";
import type { CacheConfig } from "../cache/config.js";
import { isHit } from "../cache/hit.js";
import { artifactIdOf, cachePlan, reservationOwner } from "../cache/plan.js";
import type { CachedOutputs, CatalogQuestions } from "../cache/questions.js";
import { newNodeCache, type NodeCache } from "../cache/state.js";
import { outputsUri } from "../data/paths.js";
import type { RuntimeNode } from "../graph/runtime.js";
import type { NodeDecision } from "../handler/decision.js";
import { backoffDelay } from "@flyte-ts/async/backoff";
import { ask, askAgainAt, askProgress, forget } from "./asking.js";
import type { Walk } from "./walk.js";

// Caching of a node's outputs: lookup before it starts, reservation before it runs where calls are serialized, storage
// after success. An unavailable catalog delays a node for a bounded time and never fails it.

/**
 * `status.message` of a node that waits while another computes its outputs (Go Flyte's wording). While it is set, no
 * request was sent to a plugin service.
 */
export const WAITS_FOR_CACHE = "waiting on serialized cache";

/** Next step of a node. */
export type CacheWord =
  | { readonly kind: "goOn" }
  /** A result is pending; the node is reconciled again. */
  | { readonly kind: "wait" }
  | { readonly kind: "hit"; readonly success: Extract<NodeDecision, { kind: "succeed" }> };

const GO_ON: CacheWord = { kind: "goOn" };
const WAIT: CacheWord = { kind: "wait" };

/** Looks up the outputs before the node starts. */
export function lookUp(walk: Walk, node: RuntimeNode, inputs: LiteralMap): CacheWord {
  const config = walk.config.cache;
  const cache = cacheOf(walk, node, inputs);
  if (config === undefined || cache === undefined || cache.status !== undefined) return GO_ON;
  if (cache.plan.overwrite) {
    cache.status = CatalogCacheStatus.CACHE_SKIPPED;
    return GO_ON;
  }
  const found = askCatalogGet(walk, node, cache);
  if (found === undefined) return WAIT;
  forget(walk, node, "catalogGet");
  if (found === "unknown") {
    cache.status = CatalogCacheStatus.CACHE_LOOKUP_FAILURE;
    cache.key = datasetOf(walk, node);
    return GO_ON;
  }
  cache.status = CatalogCacheStatus.CACHE_MISS;
  if (found.hit === undefined) walk.count("cacheMiss");
  return found.hit === undefined ? GO_ON : takeHit(walk, node, { cache, hit: found.hit });
}

/** Acquires the reservation before an attempt runs. `mayRun`: the attempt may have been requested before a restart. */
export function awaitTurn(walk: Walk, node: RuntimeNode, mayRun: boolean): CacheWord {
  const { inputs } = node;
  const config = walk.config.cache;
  const cache = inputs === undefined ? undefined : cacheOf(walk, node, inputs);
  if (config === undefined || cache === undefined || !cache.plan.serialize || cache.turn) return GO_ON;
  // The catalog lookup failed, so waiting for equal calls gains nothing: computes without a reservation.
  if (cache.status === CatalogCacheStatus.CACHE_LOOKUP_FAILURE) return takeTurn(walk, node, cache);
  if (node.status.message !== WAITS_FOR_CACHE) {
    if (mayRun) {
      // It held the reservation when the attempt was requested before the restart.
      cache.holds = true;
      cache.turn = true;
      keepReservation(walk, node);
      return GO_ON;
    }
    walk.setNode(node, { ...node.status, message: WAITS_FOR_CACHE });
  }
  return cache.holds ? confirm(walk, node, cache) : reserve(walk, node, { cache, config });
}

interface Reserving {
  readonly cache: NodeCache;
  readonly config: CacheConfig;
}

/** Requests the reservation; while another owner holds it, polls for that owner's outputs. */
function reserve(walk: Walk, node: RuntimeNode, { cache, config }: Reserving): CacheWord {
  const answer = askReservation(walk, node, { cache, config });
  if (answer === undefined) {
    if (!outOfPatience(walk, node, "catalogReserve")) return cache.waits === 0 ? WAIT : lookAgain(walk, node, cache);
    cache.reservation = Reservation.RESERVATION_FAILURE;
    return takeTurn(walk, node, cache);
  }
  if (answer.kind === "refused") {
    cache.reservation = Reservation.RESERVATION_FAILURE;
    return takeTurn(walk, node, cache);
  }
  if (answer.value.held === "byUs") {
    cache.reservation = Reservation.RESERVATION_ACQUIRED;
    cache.holds = true;
    keepReservation(walk, node);
    return confirm(walk, node, cache);
  }
  cache.reservation = Reservation.RESERVATION_EXISTS;
  const at = walk.now + backoffDelay(config.waitAgain, cache.waits++, walk.config.random);
  askAgainAt(walk, node, { kind: "catalogReserve", at });
  forget(walk, node, "catalogGet");
  return lookAgain(walk, node, cache);
}

/** The holder may have finished since: uses its outputs at once. */
function lookAgain(walk: Walk, node: RuntimeNode, cache: NodeCache): CacheWord {
  const found = askCatalogGet(walk, node, cache);
  if (found === undefined || found === "unknown" || found.hit === undefined) return WAIT;
  return takeHit(walk, node, { cache, hit: found.hit });
}

/** Repeats the lookup after acquiring the reservation: its previous owner may have stored outputs since. */
function confirm(walk: Walk, node: RuntimeNode, cache: NodeCache): CacheWord {
  if (!cache.confirming) {
    cache.confirming = true;
    forget(walk, node, "catalogGet");
  }
  const found = askCatalogGet(walk, node, cache);
  if (found === undefined) return WAIT;
  forget(walk, node, "catalogGet");
  if (found === "unknown" || found.hit === undefined) return takeTurn(walk, node, cache);
  return takeHit(walk, node, { cache, hit: found.hit });
}

function takeTurn(walk: Walk, node: RuntimeNode, cache: NodeCache): CacheWord {
  forget(walk, node, "catalogGet");
  if (!cache.holds) forget(walk, node, "catalogReserve");
  cache.turn = true;
  const message = node.attempt > 0 ? "retrying" : "node queued";
  if (node.status.message === WAITS_FOR_CACHE) walk.setNode(node, { ...node.status, message });
  return GO_ON;
}

/** Sends heartbeats for a reservation until the node has ended. */
export function keepReservation(walk: Walk, node: RuntimeNode): void {
  const { cache } = node;
  const config = walk.config.cache;
  if (config === undefined || cache?.holds !== true || node.settled) return;
  const answer = askReservation(walk, node, { cache, config });
  if (answer === undefined) return;
  if (answer.kind === "value" && answer.value.held === "byUs") {
    askAgainAt(walk, node, { kind: "catalogReserve", at: walk.now + Math.min(config.heartbeat, answer.value.heartbeatMs) });
    return;
  }
  // The reservation expired and has another owner: running attempts continue.
  forget(walk, node, "catalogReserve");
  cache.holds = false;
  cache.confirming = false;
}

/** Resets the reservation state for the next attempt, which keeps a reservation still held. */
export function nextTurn(node: RuntimeNode): void {
  if (node.cache === undefined) return;
  node.cache.turn = false;
  node.cache.holds = false;
  node.cache.confirming = false;
  node.cache.waits = 0;
}

/** Releases the reservation at the node's end. No response is awaited; without the release the reservation expires. */
export function releaseReservation(walk: Walk, node: RuntimeNode): void {
  const { cache } = node;
  if (cache?.holds !== true) return;
  cache.holds = false;
  const question = { kind: "catalogRelease", call: cache.plan.call, owner: reservationOwner(walk.model, node) } as const;
  walk.emit({ kind: "ask", id: walk.nextAskId(), ask: question }, "held");
}

/** Releases the reservation of a waiting node that is aborted: a pending request may still be granted. */
export function stopsReserving(walk: Walk, node: RuntimeNode): void {
  const { cache } = node;
  if (cache === undefined || cache.holds || node.asks?.has("catalogReserve") !== true) return;
  cache.holds = true;
  releaseReservation(walk, node);
}

/** True when the node's outputs must be cached before its success is published. */
export function isCached(walk: Walk, node: RuntimeNode): boolean {
  const cache = node.inputs === undefined ? undefined : cacheOf(walk, node, node.inputs);
  return cache !== undefined && cache.status !== CatalogCacheStatus.CACHE_HIT && cache.status !== CatalogCacheStatus.CACHE_LOOKUP_FAILURE;
}

/** Stores the node's outputs for later calls. */
export function putOutputs(
  walk: Walk,
  node: RuntimeNode,
  outputs: { readonly value: LiteralMap | undefined; readonly uri: string },
): "done" | "waiting" {
  const { cache } = node;
  const config = walk.config.cache;
  if (node.recovered !== undefined || cache === undefined || config === undefined || !isCached(walk, node)) return "done";
  // Storage was tried before the outputs were written.
  if (cache.status === CatalogCacheStatus.CACHE_POPULATED || cache.status === CatalogCacheStatus.CACHE_PUT_FAILURE) return "done";
  const answer = ask(walk, node, {
    kind: "catalogPut",
    call: cache.plan.call,
    source: create(TaskExecutionIdentifierSchema, {
      ...(walk.templateOf(node)?.id === undefined ? {} : { taskId: walk.templateOf(node)?.id }),
      nodeExecutionId: { nodeId: node.uniqueId, executionId: walk.model.executionId },
      retryAttempt: node.attempt,
    }),
    artifactId: artifactIdOf(walk.model, node),
    outputs: { value: outputs.value, uri: outputs.uri },
    overwrite: cache.plan.overwrite,
    owner: cache.holds ? reservationOwner(walk.model, node) : undefined,
  });
  if (answer === undefined && !outOfPatience(walk, node, "catalogPut")) return "waiting";
  forget(walk, node, "catalogPut");
  if (answer?.kind === "value") {
    cache.status = CatalogCacheStatus.CACHE_POPULATED;
    cache.key = answer.value;
    if (cache.holds) cache.reservation = Reservation.RESERVATION_RELEASED;
    cache.holds = false;
  } else {
    cache.status = CatalogCacheStatus.CACHE_PUT_FAILURE;
    cache.key = datasetOf(walk, node);
    walk.count("cachePutFailed");
  }
  return "done";
}

/**
 * Metadata of the entry when the catalog did not store it or did not answer: the task. Control planes show a node's
 * cache status only with its key; Go Flyte names the task in the same way.
 */
function datasetOf(walk: Walk, node: RuntimeNode): CatalogMetadata {
  const datasetId = walk.templateOf(node)?.id;
  return create(CatalogMetadataSchema, datasetId && { datasetId });
}

function cacheOf(walk: Walk, node: RuntimeNode, inputs: LiteralMap): NodeCache | undefined {
  if (walk.config.cache === undefined || node.cache !== undefined) return node.cache;
  const template = walk.templateOf(node);
  const plan = template === undefined ? undefined : cachePlan(template, inputs, walk.model);
  if (plan !== undefined) node.cache = newNodeCache(plan);
  return node.cache;
}

/** `unknown`: the catalog has not answered within the timeout, or refuses. */
type Found = { readonly hit: CachedOutputs | undefined } | "unknown";

function askCatalogGet(walk: Walk, node: RuntimeNode, { plan }: NodeCache): Found | undefined {
  const template = walk.templateOf(node);
  if (template?.id === undefined) return "unknown";
  const answer = ask(walk, node, { kind: "catalogGet", call: plan.call, task: template.id });
  if (answer === undefined) return outOfPatience(walk, node, "catalogGet") ? "unknown" : undefined;
  if (answer.kind === "refused") return "unknown";
  const maxAge = walk.config.cache?.maxAge ?? 0;
  return { hit: isHit(answer.value, template, { now: walk.now, maxAge }) ? answer.value : undefined };
}

function askReservation(
  walk: Walk,
  node: RuntimeNode,
  { cache, config }: Reserving,
): Settled<CatalogQuestions["catalogReserve"]["value"]> | undefined {
  const owner = reservationOwner(walk.model, node);
  return ask(walk, node, { kind: "catalogReserve", call: cache.plan.call, owner, heartbeatMs: config.heartbeat });
}

function outOfPatience(walk: Walk, node: RuntimeNode, kind: keyof CatalogQuestions): boolean {
  const asked = askProgress(node, kind);
  const patience = walk.config.cache?.patience ?? 0;
  return asked?.error !== undefined && walk.now >= asked.firstAskedAt + patience;
}

function takeHit(walk: Walk, node: RuntimeNode, { cache, hit }: { readonly cache: NodeCache; readonly hit: CachedOutputs }): CacheWord {
  cache.status = CatalogCacheStatus.CACHE_HIT;
  cache.key = hit.key;
  walk.count("cacheHit");
  const outputs = { value: hit.outputs, uri: outputsUri(node.attemptDir) };
  return { kind: "hit", success: { kind: "succeed", outputs } };
}

/** True when the node waits and no request for its current attempt was sent to a plugin service. */
export function waitsForCache({ status }: RuntimeNode): boolean {
  return status.message === WAITS_FOR_CACHE && (status.phase === NodePhase.Queued || status.phase === NodePhase.Running);
}
