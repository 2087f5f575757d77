import { NodePhase } from "@flyte-ts/domain/phase";
import {
  CatalogCacheStatus,
  type CatalogMetadata,
  CatalogMetadataSchema,
  CatalogReservation_Status as Reservation,
} from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import { TaskExecutionIdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { create } from "@bufbuild/protobuf";
import type { CallOutcome } from "../calls/call.js";
import type { CacheConfig } from "../cache/config.js";
import { isHit } from "../cache/hit.js";
import { artifactIdOf, cachePlan, reservationOwner } from "../cache/plan.js";
import type { CachedOutputs, CatalogCalls } from "../calls/catalog.js";
import { newNodeCache, type NodeCache } from "../graph/node-cache.js";
import { outputsUri } from "../graph/paths.js";
import type { RuntimeNode } from "../graph/runtime.js";
import { rebindInputs } from "../data/rebind-inputs.js";
import type { NodeDecision } from "../decide/decision.js";
import { backoffDelay } from "@flyte-ts/async/backoff";
import { call, retryCallAt, callProgress, cancelCall } from "./calls.js";
import type { RunState } from "../state/run-state.js";

// Caching of a node's outputs: lookup before it starts, reservation before it runs where calls are
// serialized, storage after success. An unavailable catalog delays a node for a bounded time and
// never fails it.

/**
 * `status.message` of a node that waits while another computes its outputs (Go Flyte's wording).
 * While it is set, no request was sent to a plugin service.
 */
const AWAITING_RESERVATION = "waiting on serialized cache";

/** Next step of a node. */
export type CacheDecision =
  | { readonly kind: "proceed" }
  /** A result is pending; the node is reconciled again. */
  | { readonly kind: "wait" }
  | { readonly kind: "hit"; readonly success: Extract<NodeDecision, { kind: "succeed" }> };

const PROCEED: CacheDecision = { kind: "proceed" };
const WAIT: CacheDecision = { kind: "wait" };

/** Looks up the outputs before the node starts. */
export function lookUpCache(state: RunState, node: RuntimeNode, inputs: LiteralMap): CacheDecision {
  const config = state.config.cache;
  const cache = cacheOf(state, node, inputs);
  if (config === undefined || cache === undefined || cache.status !== undefined) return PROCEED;
  if (cache.plan.overwrite) {
    cache.status = CatalogCacheStatus.CACHE_SKIPPED;
    return PROCEED;
  }
  const found = callCatalogGet(state, node, cache);
  if (found === undefined) return WAIT;
  cancelCall(state, node, "catalogGet");
  if (found === "unknown") {
    cache.status = CatalogCacheStatus.CACHE_LOOKUP_FAILURE;
    cache.key = datasetOf(state, node);
    return PROCEED;
  }
  cache.status = CatalogCacheStatus.CACHE_MISS;
  if (found.hit === undefined) state.effects.metric("cacheMiss");
  return found.hit === undefined ? PROCEED : useHit(state, node, { cache, hit: found.hit });
}

/**
 * Acquires the reservation before an attempt runs. `maybeRunning`: the attempt may have been
 * requested before a restart.
 */
export function acquireReservation(state: RunState, node: RuntimeNode, maybeRunning: boolean): CacheDecision {
  const { inputs } = node.data;
  const config = state.config.cache;
  const cache = inputs === undefined ? undefined : cacheOf(state, node, inputs);
  if (config === undefined || cache === undefined || !cache.plan.serialize || cache.mayCompute) return PROCEED;
  // The catalog lookup failed, so waiting for equal calls gains nothing: computes without a
  // reservation.
  if (cache.status === CatalogCacheStatus.CACHE_LOOKUP_FAILURE) return proceedToCompute(state, node, cache);
  if (node.status.message !== AWAITING_RESERVATION) {
    if (maybeRunning) {
      // The node held the reservation when the attempt was requested before the restart.
      cache.holdsReservation = true;
      cache.mayCompute = true;
      keepReservation(state, node);
      return PROCEED;
    }
    state.status.setNode(node, { ...node.status, message: AWAITING_RESERVATION });
  }
  return cache.holdsReservation ? recheckCache(state, node, cache) : requestReservation(state, node, { cache, config });
}

/**
 * Restores the cache state of a node whose attempt has ended, and extends its reservation. A
 * restart drops the state, and only a request to run an attempt derives it otherwise. Inputs that
 * are lost do not fail the node, which needs them for the cache alone.
 */
export function resumeCache(state: RunState, node: RuntimeNode): "done" | "waiting" {
  const caches = state.config.cache !== undefined && state.templateOf(node)?.metadata?.discoverable === true;
  if (!caches || node.calls.cache !== undefined) return "done";
  const bound = rebindInputs(state, node);
  if (bound.kind === "waiting") return "waiting";
  if (bound.kind === "ready") acquireReservation(state, node, true);
  return "done";
}

interface ReservationContext {
  readonly cache: NodeCache;
  readonly config: CacheConfig;
}

/** Requests the reservation; while another owner holds it, polls for that owner's outputs. */
function requestReservation(state: RunState, node: RuntimeNode, { cache, config }: ReservationContext): CacheDecision {
  const answer = callCatalogReserve(state, node, { cache, config });
  if (answer === undefined) {
    if (!hasTimedOut(state, node, "catalogReserve")) return cache.reserveAttempts === 0 ? WAIT : pollCache(state, node, cache);
    cache.reservation = Reservation.RESERVATION_FAILURE;
    return proceedToCompute(state, node, cache);
  }
  if (answer.kind === "refused") {
    cache.reservation = Reservation.RESERVATION_FAILURE;
    return proceedToCompute(state, node, cache);
  }
  if (answer.value.held === "byUs") {
    cache.reservation = Reservation.RESERVATION_ACQUIRED;
    cache.holdsReservation = true;
    keepReservation(state, node);
    return recheckCache(state, node, cache);
  }
  cache.reservation = Reservation.RESERVATION_EXISTS;
  const at = state.observation.now + backoffDelay(config.reservationPollBackoff, cache.reserveAttempts++, state.config.random);
  retryCallAt(state, node, { kind: "catalogReserve", at });
  cancelCall(state, node, "catalogGet");
  return pollCache(state, node, cache);
}

/** The holder may have finished since: uses its outputs at once. */
function pollCache(state: RunState, node: RuntimeNode, cache: NodeCache): CacheDecision {
  const found = callCatalogGet(state, node, cache);
  if (found === undefined || found === "unknown" || found.hit === undefined) return WAIT;
  return useHit(state, node, { cache, hit: found.hit });
}

/**
 * Repeats the lookup after acquiring the reservation: its previous owner may have stored outputs
 * since.
 */
function recheckCache(state: RunState, node: RuntimeNode, cache: NodeCache): CacheDecision {
  if (!cache.recheckedAfterReserve) {
    cache.recheckedAfterReserve = true;
    cancelCall(state, node, "catalogGet");
  }
  const found = callCatalogGet(state, node, cache);
  if (found === undefined) return WAIT;
  cancelCall(state, node, "catalogGet");
  if (found === "unknown" || found.hit === undefined) return proceedToCompute(state, node, cache);
  return useHit(state, node, { cache, hit: found.hit });
}

function proceedToCompute(state: RunState, node: RuntimeNode, cache: NodeCache): CacheDecision {
  cancelCall(state, node, "catalogGet");
  if (!cache.holdsReservation) cancelCall(state, node, "catalogReserve");
  cache.mayCompute = true;
  const message = node.attempt > 0 ? "retrying" : "node queued";
  if (node.status.message === AWAITING_RESERVATION) state.status.setNode(node, { ...node.status, message });
  return PROCEED;
}

/** Sends heartbeats for a reservation until the node has ended. */
export function keepReservation(state: RunState, node: RuntimeNode): void {
  const { cache } = node.calls;
  const config = state.config.cache;
  if (config === undefined || cache?.holdsReservation !== true || node.ended) return;
  const answer = callCatalogReserve(state, node, { cache, config });
  if (answer === undefined) return;
  if (answer.kind === "value" && answer.value.held === "byUs") {
    retryCallAt(state, node, {
      kind: "catalogReserve",
      at: state.observation.now + Math.min(config.heartbeatInterval, answer.value.heartbeatMs),
    });
    return;
  }
  // The reservation expired and has another owner: running attempts continue.
  cancelCall(state, node, "catalogReserve");
  cache.holdsReservation = false;
  cache.recheckedAfterReserve = false;
}

/** Resets the reservation state for the next attempt, which keeps a reservation still held. */
export function resetReservation(node: RuntimeNode): void {
  if (node.calls.cache === undefined) return;
  node.calls.cache.mayCompute = false;
  node.calls.cache.holdsReservation = false;
  node.calls.cache.recheckedAfterReserve = false;
  node.calls.cache.reserveAttempts = 0;
}

/**
 * Releases the reservation at the node's end. No response is awaited; without the release the
 * reservation expires.
 */
export function releaseReservation(state: RunState, node: RuntimeNode): void {
  const { cache } = node.calls;
  if (cache?.holdsReservation !== true) return;
  cache.holdsReservation = false;
  const request = { kind: "catalogRelease", call: cache.plan.call, owner: reservationOwner(state.model, node) } as const;
  state.effects.emit({ kind: "call", id: state.calls.nextId(), call: request }, "afterWrite");
}

/**
 * Releases the reservation of a waiting node that is aborted: a pending request may still be
 * granted.
 */
export function releasePendingReservation(state: RunState, node: RuntimeNode): void {
  const { cache } = node.calls;
  if (cache === undefined || cache.holdsReservation || node.calls.pending?.has("catalogReserve") !== true) return;
  cache.holdsReservation = true;
  releaseReservation(state, node);
}

/** True when the node's outputs must be cached before its success is published. */
export function storesOutputs(state: RunState, node: RuntimeNode): boolean {
  const cache = node.data.inputs === undefined ? undefined : cacheOf(state, node, node.data.inputs);
  return cache !== undefined && cache.status !== CatalogCacheStatus.CACHE_HIT && cache.status !== CatalogCacheStatus.CACHE_LOOKUP_FAILURE;
}

/** Stores the node's outputs for later calls. */
export function storeOutputs(
  state: RunState,
  node: RuntimeNode,
  outputs: { readonly value: LiteralMap | undefined; readonly uri: string },
): "done" | "waiting" {
  const { cache } = node.calls;
  const config = state.config.cache;
  if (node.calls.recoveredFrom !== undefined || cache === undefined || config === undefined || !storesOutputs(state, node)) return "done";
  // The catalog call was already made, before the outputs were written to the blob store.
  if (cache.status === CatalogCacheStatus.CACHE_POPULATED || cache.status === CatalogCacheStatus.CACHE_PUT_FAILURE) return "done";
  const answer = call(state, node, {
    kind: "catalogPut",
    call: cache.plan.call,
    source: create(TaskExecutionIdentifierSchema, {
      ...(state.templateOf(node)?.id === undefined ? {} : { taskId: state.templateOf(node)?.id }),
      nodeExecutionId: { nodeId: node.uniqueId, executionId: state.model.executionId },
      retryAttempt: node.attempt,
    }),
    artifactId: artifactIdOf(state.model, node),
    outputs: { value: outputs.value, uri: outputs.uri },
    overwrite: cache.plan.overwrite,
    owner: cache.holdsReservation ? reservationOwner(state.model, node) : undefined,
  });
  if (answer === undefined && !hasTimedOut(state, node, "catalogPut")) return "waiting";
  cancelCall(state, node, "catalogPut");
  if (answer?.kind === "value") {
    cache.status = CatalogCacheStatus.CACHE_POPULATED;
    cache.key = answer.value;
    if (cache.holdsReservation) cache.reservation = Reservation.RESERVATION_RELEASED;
    cache.holdsReservation = false;
  } else {
    cache.status = CatalogCacheStatus.CACHE_PUT_FAILURE;
    cache.key = datasetOf(state, node);
    state.effects.metric("cachePutFailed");
  }
  return "done";
}

/**
 * Metadata of the entry when the catalog did not store it or did not answer: the task. Control
 * planes show a node's cache status only with its key; Go Flyte names the task in the same way.
 */
function datasetOf(state: RunState, node: RuntimeNode): CatalogMetadata {
  const datasetId = state.templateOf(node)?.id;
  return create(CatalogMetadataSchema, datasetId && { datasetId });
}

function cacheOf(state: RunState, node: RuntimeNode, inputs: LiteralMap): NodeCache | undefined {
  const config = state.config.cache;
  if (config === undefined || node.calls.cache !== undefined) return node.calls.cache;
  const template = state.templateOf(node);
  const plan = template === undefined ? undefined : cachePlan(template, inputs, { model: state.model, config });
  if (plan !== undefined) node.changeCalls().setCache(newNodeCache(plan));
  return node.calls.cache;
}

/** `unknown`: the catalog has not answered within the timeout, or rejects the call. */
type LookupResult = { readonly hit: CachedOutputs | undefined } | "unknown";

function callCatalogGet(state: RunState, node: RuntimeNode, { plan }: NodeCache): LookupResult | undefined {
  const template = state.templateOf(node);
  if (template?.id === undefined) return "unknown";
  const answer = call(state, node, { kind: "catalogGet", call: plan.call, task: template.id });
  if (answer === undefined) return hasTimedOut(state, node, "catalogGet") ? "unknown" : undefined;
  if (answer.kind === "refused") return "unknown";
  const maxAge = state.config.cache?.maxAge ?? 0;
  return { hit: isHit(answer.value, template, { now: state.observation.now, maxAge }) ? answer.value : undefined };
}

function callCatalogReserve(
  state: RunState,
  node: RuntimeNode,
  { cache, config }: ReservationContext,
): CallOutcome<CatalogCalls["catalogReserve"]["value"]> | undefined {
  const owner = reservationOwner(state.model, node);
  return call(state, node, { kind: "catalogReserve", call: cache.plan.call, owner, heartbeatMs: config.heartbeatInterval });
}

function hasTimedOut(state: RunState, node: RuntimeNode, kind: keyof CatalogCalls): boolean {
  const pending = callProgress(node, kind);
  const lookupTimeoutMs = state.config.cache?.lookupTimeout ?? 0;
  return pending?.error !== undefined && state.observation.now >= pending.firstSentAt + lookupTimeoutMs;
}

function useHit(
  state: RunState,
  node: RuntimeNode,
  { cache, hit }: { readonly cache: NodeCache; readonly hit: CachedOutputs },
): CacheDecision {
  cache.status = CatalogCacheStatus.CACHE_HIT;
  cache.key = hit.key;
  state.effects.metric("cacheHit");
  const outputs = { value: hit.outputs, uri: outputsUri(node.attemptDir) };
  return { kind: "hit", success: { kind: "succeed", outputs } };
}

/** True when the node waits and no request for its current attempt was sent to a plugin service. */
export function awaitsReservation({ status }: RuntimeNode): boolean {
  return status.message === AWAITING_RESERVATION && (status.phase === NodePhase.Queued || status.phase === NodePhase.Running);
}
