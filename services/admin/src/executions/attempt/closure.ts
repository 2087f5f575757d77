import { create, type JsonObject, type JsonValue } from "@bufbuild/protobuf";
import { isTerminalTaskEvent } from "@flyte-ts/domain/phase";
import {
  type Reason,
  ReasonSchema,
  type TaskExecutionClosure,
  TaskExecutionClosureSchema,
} from "@flyte-ts/idl/flyteidl/admin/task_execution_pb";
import { CatalogCacheStatus } from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import { TaskExecution_Phase, type TaskLog } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import {
  type ExternalResourceInfo,
  type TaskExecutionEvent,
  type TaskExecutionMetadata,
  TaskExecutionMetadata_InstanceClass,
} from "@flyte-ts/idl/flyteidl/event/event_pb";

/**
 * Reduces the events of an attempt, in order, to its closure: merges logs, reasons,
 * custom info and external resources; for other fields the latest event wins. Phase, times and
 * result come from the row.
 */
export function assembleClosure(events: readonly TaskExecutionEvent[]): TaskExecutionClosure {
  const closure = create(TaskExecutionClosureSchema);
  const metadata = new MergedMetadata();
  for (const [index, event] of events.entries()) {
    const changes = index > 0 && event.phase !== closure.phase;
    addReasons(closure, event);
    const logs = mergeLogs(closure.logs, event.logs);
    // The logs of the first event are not filtered.
    closure.logs = index === 0 ? logs : visibleLogs(logs, event.phase);
    closure.customInfo = mergeJson(closure.customInfo, event.customInfo);
    if (event.metadata !== undefined) metadata.add(event.metadata);
    if (changes) metadata.showLogsOf(event.phase);
    if (closure.taskType === "") closure.taskType = event.taskType;
    closure.eventVersion = Math.max(closure.eventVersion, event.eventVersion);
    if (event.logContext !== undefined) closure.logContext = event.logContext;
    closure.phase = event.phase;
    addResult(closure, event);
  }
  const merged = metadata.result();
  if (merged !== undefined) closure.metadata = merged;
  return closure;
}

function addResult(closure: TaskExecutionClosure, { phase, outputResult }: TaskExecutionEvent): void {
  if (!isTerminalTaskEvent(phase)) return;
  if (outputResult.case === "outputUri" && outputResult.value !== "") closure.outputResult = outputResult;
  else if (outputResult.case === "error") closure.outputResult = outputResult;
}

function addReasons(closure: TaskExecutionClosure, { reasons, reason, occurredAt }: TaskExecutionEvent): void {
  const added: Reason[] = reasons.map((one) =>
    create(ReasonSchema, { message: one.reason, ...(one.occurredAt && { occurredAt: one.occurredAt }) }),
  );
  // `reason` is the older form of `reasons`; a repeated reason is listed once.
  if (reasons.length === 0 && reason !== "" && reason !== closure.reason) {
    added.push(create(ReasonSchema, { message: reason, ...(occurredAt && { occurredAt }) }));
  }
  closure.reasons.push(...added);
  closure.reason = added.at(-1)?.message ?? closure.reason;
}

/** Returns the latest logs, and earlier ones with other URIs and names. */
function mergeLogs(existing: readonly TaskLog[], latest: readonly TaskLog[]): TaskLog[] {
  if (latest.length === 0) return [...existing];
  const uris = new Set(latest.map(({ uri }) => uri));
  const names = new Set(latest.map(({ name }) => name).filter((name) => name !== ""));
  return [...latest, ...existing.filter(({ uri, name }) => !uris.has(uri) && !names.has(name))];
}

function visibleLogs(logs: readonly TaskLog[], phase: TaskExecution_Phase): TaskLog[] {
  const pending = phase === TaskExecution_Phase.QUEUED || phase === TaskExecution_Phase.INITIALIZING;
  return logs.filter((log) => !(isTerminalTaskEvent(phase) && log.HideOnceFinished) && !(pending && !log.ShowWhilePending));
}

/**
 * Merges the objects of two events as a JSON merge patch (RFC 7396); the first event's is kept
 * unchanged.
 */
function mergeJson(existing: JsonObject | undefined, patch: JsonObject | undefined): JsonObject | undefined {
  if (existing === undefined) return patch;
  if (patch === undefined) return existing;
  return patched(existing, patch);
}

function patched(existing: JsonObject, patch: JsonObject): JsonObject {
  const merged: JsonObject = { ...existing };
  for (const [key, value] of Object.entries(patch)) {
    const before = Object.hasOwn(existing, key) ? existing[key] : undefined;
    if (value === null) delete merged[key];
    else merged[key] = isObject(value) && isObject(before) ? patched(before, value) : withoutNulls(value);
  }
  return merged;
}

/** Removes null members from all objects of a new value, including those in arrays. */
function withoutNulls(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutNulls);
  return isObject(value) ? patched({}, value) : value;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Merged metadata of several events. Arrays report thousands of items in hundreds of events, so
 * adding an event costs only its own items, and the list is sorted once.
 */
class MergedMetadata {
  #merged: TaskExecutionMetadata | undefined;
  /** By index and attempt, which identify an external resource. */
  #resources: Map<number, ExternalResourceInfo> | undefined;

  add(given: TaskExecutionMetadata): void {
    const merged = this.#merged;
    if (merged === undefined) {
      this.#merged = { ...given, externalResources: given.externalResources.map((resource) => ({ ...resource })) };
      return;
    }
    merged.generatedName = given.generatedName || merged.generatedName;
    merged.pluginIdentifier = given.pluginIdentifier || merged.pluginIdentifier;
    merged.resourcePoolInfo = given.resourcePoolInfo;
    if (given.instanceClass !== TaskExecutionMetadata_InstanceClass.DEFAULT) merged.instanceClass = given.instanceClass;
    if (given.externalResources.length === 0) return;
    this.#resources ??= new Map(merged.externalResources.map((resource) => [position(resource), resource]));
    for (const resource of given.externalResources) {
      const before = this.#resources.get(position(resource));
      if (before === undefined) this.#resources.set(position(resource), { ...resource });
      else updateResource(before, resource);
    }
  }

  /** Hides logs that are not visible in this phase. */
  showLogsOf(phase: TaskExecution_Phase): void {
    for (const resource of this.#resources?.values() ?? this.#merged?.externalResources ?? []) {
      resource.logs = visibleLogs(resource.logs, phase);
    }
  }

  result(): TaskExecutionMetadata | undefined {
    const merged = this.#merged;
    if (merged === undefined) return undefined;
    if (this.#resources !== undefined) merged.externalResources = [...this.#resources.values()];
    merged.externalResources.sort(byPosition);
    return merged;
  }
}

function updateResource(resource: ExternalResourceInfo, latest: ExternalResourceInfo): void {
  resource.externalId = latest.externalId || resource.externalId;
  resource.phase = latest.phase;
  if (latest.cacheStatus !== CatalogCacheStatus.CACHE_DISABLED) resource.cacheStatus = latest.cacheStatus;
  resource.logs = mergeLogs(resource.logs, latest.logs);
  if (latest.customInfo !== undefined) resource.customInfo = latest.customInfo;
  if (latest.logContext !== undefined) resource.logContext = latest.logContext;
  if (latest.targetMetadata.case !== undefined) resource.targetMetadata = latest.targetMetadata;
}

const position = ({ index, retryAttempt }: ExternalResourceInfo): number => index * 2 ** 20 + retryAttempt;
const byPosition = (a: ExternalResourceInfo, b: ExternalResourceInfo): number => a.index - b.index || a.retryAttempt - b.retryAttempt;
