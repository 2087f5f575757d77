import { BoundedSet } from "@flyte-ts/async";
import { isTerminalWorkflowEvent } from "@flyte-ts/domain/phase";
import { FLYTE_WORKFLOW_RESOURCE } from "@flyte-ts/workflow-crd";
import type { EventsDeps } from "../deps.js";
import {
  type DeletingCluster,
  deleteFoundResource,
  type ExecutionResource,
  findCluster,
  hasIdOf,
  isOwnResource,
} from "../../clusters/index.js";
import { namespaceOf } from "../../platform/index.js";
import { executionStates, publishTerminalAck, type executionIds } from "../../executions/index.js";
import type { DecodedEvent } from "../decoded-event.js";

export interface OrphanDeps extends Pick<EventsDeps, "db" | "bus" | "clock" | "config" | "logger"> {
  readonly clusters: readonly DeletingCluster[];
}

/** Maximum of cached orphans; evicted ones are detected again. */
const CAPACITY = 10_000;

/**
 * Deletes orphans: executions that a data plane reports and the database lacks. A row is committed
 * before its resource is created, so they occur only when the database is older than the data
 * plane (it was restored from a backup, or a standby without the last commits took over), or when
 * the row was deleted while the data plane was away. Users can neither see nor abort them, so admin
 * deletes their resources, which stops them, and acknowledges their ends, which releases the
 * resources.
 */
export class OrphanTracker {
  readonly #known = new BoundedSet<string>(CAPACITY);

  constructor(private readonly deps: OrphanDeps) {}

  /** True for a detected orphan. */
  isOrphan(execution: executionIds.ExecutionName): boolean {
    return this.#known.has(keyOf(execution));
  }

  /** True when no orphan is known. */
  get isEmpty(): boolean {
    return this.#known.size === 0;
  }

  /** Removes an execution that has a row: its name was used again after the orphan's end. */
  forget(execution: executionIds.ExecutionName): void {
    this.#known.delete(keyOf(execution));
  }

  /**
   * Handles an event of an execution that has had no row for minutes. Never rejects: the next event
   * retries.
   */
  async handleEvent(item: DecodedEvent): Promise<void> {
    const { config, logger, clusters } = this.deps;
    const { execution } = item;
    if (config.orphans.action === "keep") return;
    const end = item.kind === "workflow" && isTerminalWorkflowEvent(item.fact.phase) ? item.fact.phase : undefined;
    if (end === undefined && this.isOrphan(execution)) return;
    if (end === undefined) this.#known.add(keyOf(execution));
    const cluster = findCluster(clusters, item.cluster ?? "");
    const namespace = namespaceOf(config.namespaceTemplate, execution.project, execution.domain);
    const about = { execution: `${execution.project}/${execution.domain}/${execution.name}`, cluster: cluster?.name ?? item.cluster ?? "" };
    try {
      const found = await cluster?.kube.get<ExecutionResource>(FLYTE_WORKFLOW_RESOURCE, { namespace, name: execution.name });
      if (found !== undefined && !hasIdOf(found, execution)) return;
      if (await this.#hasRow(found, execution)) return this.forget(execution);
      if (end !== undefined) return publishTerminalAck(this.deps, execution, end);
      if (cluster === undefined || found === undefined) return;
      logger.warn(about, "orphaned execution: it runs in a data plane but is not in the database; stopping it");
      await deleteFoundResource(cluster.kube, found);
    } catch (error) {
      this.forget(execution);
      logger.warn({ ...about, error: String(error) }, "an orphaned execution cannot be stopped or confirmed; the next event retries");
    }
  }

  /**
   * True when the name has a row, because it was used again, unless the resource is of an earlier
   * execution. A row is committed before its resource is created: it is read after the resource.
   */
  async #hasRow(resource: ExecutionResource | undefined, execution: executionIds.ExecutionName): Promise<boolean> {
    const row = await executionStates.findExecutionState(this.deps.db, execution);
    if (row === undefined || resource === undefined) return row !== undefined;
    return isOwnResource(resource, { ...execution, acceptedAt: new Date(Number(row.state.acceptedAt / 1_000_000n)) });
  }
}

function keyOf({ project, domain, name }: executionIds.ExecutionName): string {
  return `${project}\n${domain}\n${name}`;
}
