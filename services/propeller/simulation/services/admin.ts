import { nodeUniqueId } from "@flyte-ts/domain/name";
import {
  isTerminalNode,
  isTerminalNodeEvent,
  isTerminalTaskEvent,
  isTerminalWorkflowEvent,
  nodeEventPhase,
  NodePhase,
} from "@flyte-ts/domain/phase";
import { NodeExecution_Phase, TaskExecution_Phase, WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { ExecutionEvent } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import type { TaskEvent } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { NodeStatus, WorkflowStatus } from "@flyte-ts/workflow-crd/status";
import type { Resource } from "../world/resource-store.js";
import type { Schedule } from "../world/schedule.js";

export interface NodeRow {
  phase: NodeExecution_Phase;
  parent: string;
}

export interface AdminOptions {
  readonly schedule: Schedule;
  readonly resource: () => Resource | undefined;
  /** True: admin repairs rows before it confirms the end. False: events alone must suffice. */
  readonly repairs: boolean;
  /** Called to confirm that the end is in the database. */
  readonly recorded: (phase: string) => void;
  /** Branch of which a node is an arm; part of the arm's lineage. */
  readonly branchOf: (id: string) => string | undefined;
}

/**
 * Admin's rows of one execution, the rules by which events change them, and the repair after lost
 * events.
 */
export class Admin {
  phase = WorkflowExecution_Phase.QUEUED;
  readonly nodes = new Map<string, NodeRow>();
  /** By node and attempt. */
  readonly attempts = new Map<string, { phase: TaskExecution_Phase; node: string }>();
  /** All terminal phases published for the execution. */
  readonly ends = new Set<WorkflowExecution_Phase>();
  repairs = 0;

  constructor(private readonly options: AdminOptions) {}

  take({ event }: ExecutionEvent): void {
    if (event.case === "workflow") this.#workflow(event.value.phase);
    else if (event.case === "node") {
      const { id, phase, parentNodeMetadata } = event.value;
      this.#node(id?.nodeId ?? "", phase, parentNodeMetadata?.nodeId ?? "");
    } else if (event.case === "task") this.takeTask({ event: event.value, partOfArray: false });
  }

  takeTask({ event, partOfArray }: Pick<TaskEvent, "event" | "partOfArray">): void {
    // The map's own task execution reports on its items.
    if (event === undefined || partOfArray) return;
    const node = event.parentNodeExecutionId?.nodeId ?? "";
    const key = `${node}/${event.retryAttempt}`;
    const row = this.attempts.get(key);
    if (row !== undefined && isTerminalTaskEvent(row.phase)) return;
    this.attempts.set(key, { phase: event.phase, node });
  }

  get terminal(): boolean {
    return isTerminalWorkflowEvent(this.phase);
  }

  #workflow(phase: WorkflowExecution_Phase): void {
    if (isTerminalWorkflowEvent(phase)) {
      this.ends.add(phase);
      if (!this.terminal) this.phase = phase;
      this.#sayRecorded();
    } else if (!this.terminal) this.phase = phase;
  }

  #node(id: string, phase: NodeExecution_Phase, parent: string): void {
    const row = this.nodes.get(id);
    if (row !== undefined && isTerminalNodeEvent(row.phase)) return;
    this.nodes.set(id, { phase, parent: parent === "" ? (row?.parent ?? "") : parent });
  }

  /**
   * The resource stays until the confirmation: rows that missed events are repaired from it first.
   */
  #sayRecorded(): void {
    const { schedule, repairs } = this.options;
    if (!repairs) {
      this.options.recorded(WorkflowExecution_Phase[this.phase]);
      return;
    }
    schedule.after(3_000, () => {
      this.repair();
      this.options.recorded(WorkflowExecution_Phase[this.phase]);
    });
  }

  /** Updates rows that missed events from the resource. */
  repair(): void {
    const status = this.options.resource()?.status;
    if (status?.nodeStatus !== undefined) this.#repairNodes(status.nodeStatus, undefined);
    if (!this.terminal) return;
    for (const [id, row] of this.nodes) if (!isTerminalNodeEvent(row.phase)) this.#fix(id, this.#endBelow(row.parent));
    for (const row of this.attempts.values()) {
      if (isTerminalTaskEvent(row.phase)) continue;
      row.phase = TaskExecution_Phase.ABORTED;
      this.repairs++;
    }
  }

  /** Terminal phase of a node without a terminal event, derived from that of its parent. */
  #endBelow(parent: string): NodeExecution_Phase {
    return this.nodes.get(parent)?.phase === NodeExecution_Phase.SUCCEEDED ? NodeExecution_Phase.SUCCEEDED : NodeExecution_Phase.ABORTED;
  }

  #repairNodes(statuses: Readonly<Record<string, NodeStatus>>, parent: Parent | undefined): void {
    for (const [id, status] of Object.entries(statuses)) {
      const lineage = this.#lineage(statuses, parent, id);
      const unique = nodeUniqueId({ parent: lineage, nodeId: id });
      if (isTerminalNode(status.phase)) {
        const row = this.nodes.get(unique);
        const silent = status.phase === NodePhase.Skipped && this.options.branchOf(id) !== undefined;
        if (!silent && (row === undefined || !isTerminalNodeEvent(row.phase))) this.#fix(unique, nodeEventPhase(status.phase));
      }
      // Items of a map have no rows; those of other arrays end like all published nodes.
      if (status.subNodeStatus !== undefined && status.arrayNodeStatus === undefined) {
        this.#repairNodes(status.subNodeStatus, { uniqueId: unique, attempt: status.attempts ?? 0 });
      }
    }
  }

  #lineage(statuses: Readonly<Record<string, NodeStatus>>, parent: Parent | undefined, id: string): Parent | undefined {
    const branch = this.options.branchOf(id);
    if (branch === undefined) return parent;
    const above = this.#lineage(statuses, parent, branch);
    return { uniqueId: nodeUniqueId({ parent: above, nodeId: branch }), attempt: statuses[branch]?.attempts ?? 0 };
  }

  #fix(id: string, phase: NodeExecution_Phase): void {
    this.nodes.set(id, { phase, parent: this.nodes.get(id)?.parent ?? "" });
    this.repairs++;
  }

  /** Rows that never ended, and rows that differ from the resource. */
  complaints(status: WorkflowStatus): string[] {
    const violations: string[] = [];
    if (!this.terminal) violations.push(`the execution's row is ${WorkflowExecution_Phase[this.phase]}`);
    for (const [id, row] of this.nodes)
      if (!isTerminalNodeEvent(row.phase)) violations.push(`node ${id} is ${NodeExecution_Phase[row.phase]}`);
    for (const [key, row] of this.attempts) if (!isTerminalTaskEvent(row.phase)) violations.push(`attempt ${key} has not ended`);
    this.#compare(status.nodeStatus ?? {}, violations);
    return violations;
  }

  #compare(statuses: Readonly<Record<string, NodeStatus>>, violations: string[]): void {
    for (const [id, status] of Object.entries(statuses)) {
      const unique = nodeUniqueId({ parent: this.#lineage(statuses, undefined, id), nodeId: id });
      const row = this.nodes.get(unique);
      const silent = status.phase === 7 && this.options.branchOf(id) !== undefined;
      if (!isTerminalNode(status.phase) || silent) continue;
      const wanted = nodeEventPhase(status.phase);
      if (row === undefined) violations.push(`node ${unique} has no row, the resource says ${NodeExecution_Phase[wanted]}`);
      else if (row.phase !== wanted)
        violations.push(`node ${unique} is ${NodeExecution_Phase[row.phase]}, the resource says ${NodeExecution_Phase[wanted]}`);
    }
  }
}

interface Parent {
  readonly uniqueId: string;
  readonly attempt: number;
}
