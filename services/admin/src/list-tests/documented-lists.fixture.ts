import type { Database } from "@flyte-ts/postgres";
import { planExecutions } from "../executions/execution/list.js";
import { executionEntity } from "../executions/store/execution/list-entity.js";
import { executionColumns } from "../executions/store/execution/find.js";
import { launchPlanEntity } from "../registry/store/launch-plans.js";
import { namedEntityEntity } from "../registry/store/named-entities.js";
import { nodeExecutionEntity } from "../executions/store/node/list-entity.js";
import { listedNodeColumns } from "../executions/store/node/find.js";
import { taskExecutionEntity } from "../executions/store/attempt/list-entity.js";
import { taskColumns } from "../executions/store/attempt/find.js";
import { taskEntity } from "../registry/store/tasks.js";
import { workflowEntity } from "../registry/store/workflows.js";
import type { Combination, Listed } from "./combinations.fixture.js";
import type { ListEntity } from "../platform/list-query/entity.js";
import { BUSY, LARGE } from "./filled-lists.fixture.js";
import { planList } from "../platform/list-query/plan.js";

/** Every list of admin, for the objects with the most rows in a filled database. */
export async function documentedLists(db: Database): Promise<readonly Listed[]> {
  const { rows } = await db.query<{ execution_id: bigint; node_id: string }>({
    text: `SELECT execution_id, min(node_id) AS node_id FROM node_executions WHERE parent_task_key IS NOT NULL AND id % 3 = 0 GROUP BY 1 LIMIT 1`,
  });
  const { execution_id: executionId, node_id: nodeId } = rows[0] ?? { execution_id: 0n, node_id: "" };
  const sync =
    (entity: ListEntity): Listed["plan"] =>
    async (request) =>
      planList(entity, request);
  const versions = (name: string, entity: ListEntity, select: string): Listed => ({
    name,
    entity,
    select,
    request: { equal: { ...BUSY } },
    plan: sync(entity),
  });
  const known = { execution_project: BUSY.project, execution_domain: BUSY.domain, execution_name: "a" };
  const nodes = (name: string, sql: string, value?: string): Listed => ({
    name,
    entity: nodeExecutionEntity,
    select: listedNodeColumns,
    request: {
      where: [
        { sql: "node_executions.execution_id = $$", value: executionId },
        { sql, value },
      ],
      constants: known,
    },
    plan: sync(nodeExecutionEntity),
  });
  return [
    {
      name: "ListExecutions",
      entity: executionEntity,
      select: executionColumns,
      request: { equal: { execution_project: BUSY.project, execution_domain: BUSY.domain } },
      plan: (request) => planExecutions(db, request),
      slow: (combination) => againstTheGrain(combination) || failuresByPhase(combination) || byNumber(combination),
    },
    nodes("ListNodeExecutions", "node_executions.parent_node_id IS NULL AND node_executions.parent_task_key IS NULL"),
    nodes("ListNodeExecutions of a node", "node_executions.parent_node_id = $$", LARGE.parentNodeId),
    nodes("ListNodeExecutionsForTask", "node_executions.parent_task_key = $$", LARGE.taskKey),
    {
      name: "ListTaskExecutions",
      entity: taskExecutionEntity,
      select: taskColumns,
      request: {
        where: [
          { sql: "task_executions.execution_id = $$", value: executionId },
          { sql: "task_executions.node_id = $$", value: nodeId },
        ],
        constants: { ...known, project: BUSY.project, domain: BUSY.domain, name: "a", node_id: nodeId },
      },
      plan: sync(taskExecutionEntity),
    },
    versions("ListTasks", taskEntity, "tasks.closure"),
    versions("ListWorkflows", workflowEntity, "workflows.typed_interface"),
    versions("ListLaunchPlans", launchPlanEntity, "launch_plans.spec"),
    { ...versions("ListNamedEntities", namedEntityEntity, "named_entities.name"), request: { equal: { ...BUSY, resource_type: 2 } } },
  ];
}

/**
 * Every row with an error has failed: in the order of phases these are adjacent, possibly at the
 * end.
 */
function failuresByPhase({ filters, sort }: Combination): boolean {
  return sort?.[0] === "phase" && /^\w+\(error_/.test(filters);
}

/** A filter by internal id, in another order than that of the ids. */
function byNumber({ filters, sort = ["id", 1] }: Combination): boolean {
  return /^\w+\(id,/.test(filters) && !["id", "created_at"].includes(sort[0]);
}

const TIMES = ["created_at", "started_at", "updated_at", "execution_created_at", "execution_updated_at"];

/**
 * Newest first before a time, or oldest first after it, by two different timestamps: the rows in
 * between are read. Excludes lists newest first by created_at before another timestamp
 * (store/execution/created-at-bounds.ts), which the console requests.
 */
function againstTheGrain({ filters, sort = ["id", 1] }: Combination): boolean {
  const [, fn, bounded] = /^(gte|lt)\((\w+),/.exec(filters) ?? [];
  const direction = sort[1];
  const ordered = ["id", "deleted_at", "state", "execution_project", "execution_domain"].includes(sort[0]) ? "created_at" : sort[0];
  if (bounded === undefined || bounded === ordered || !TIMES.includes(bounded) || !TIMES.includes(ordered)) return false;
  if (ordered === "created_at") return fn === "gte" && direction === 1;
  return fn === (direction === 0 ? "lt" : "gte");
}
