import { isTerminalWorkflowEvent } from "@flyte-ts/domain/phase";
import type { Queryable } from "@flyte-ts/postgres";
import { type executionIds, phaseNames } from "../../../executions/index.js";
import type { Member } from "./deletion-blocker.js";
import { readTreeRows, type TreeRow } from "../../store/execution-trees.js";

/** An execution of a tree with its name. */
export interface TreeMember extends Member, executionIds.ExecutionName {
  /** Already marked for deletion. */
  readonly marked: boolean;
}

/** Executions with all their descendants. */
export interface Tree {
  readonly root: bigint;
  readonly members: readonly TreeMember[];
}

/** Reads trees by their roots; omits deleted roots. */
export async function readTrees(db: Queryable, roots: readonly bigint[]): Promise<readonly Tree[]> {
  if (roots.length === 0) return [];
  const rows = await readTreeRows(db, roots);
  const trees = Map.groupBy(rows, ({ root }) => root);
  return roots.flatMap((root) => {
    const members = trees.get(root);
    return members === undefined ? [] : [{ root, members: members.map(memberOf) }];
  });
}

function memberOf(row: TreeRow): TreeMember {
  const { id, project, domain, name, settled, owed, marked } = row;
  return {
    id,
    project,
    domain,
    name,
    text: `${project}/${domain}/${name}`,
    ended: isTerminalWorkflowEvent(phaseNames.workflowPhaseOf(row.phase)),
    allTerminal: settled,
    hasPendingWork: owed,
    marked,
    parent: row.parent_id === null ? undefined : { id: row.parent_id, text: row.parent ?? "" },
    dependents: row.needing_ids.map((needing, index) => ({ id: needing, text: row.needing[index] ?? "" })),
  };
}
