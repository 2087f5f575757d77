import type { Queryable } from "@flyte-ts/postgres";
import { deletionBlocker } from "./tree/deletion-blocker.js";
import { treesReferencedByCache } from "./tree/cache-references.js";
import { readTrees, type Tree, type TreeMember } from "./tree/tree.js";
import { deletionQueue } from "../../executions/index.js";

/** A tree that may be deleted. */
export interface PlannedDeletion {
  readonly root: TreeMember;
  readonly launched: readonly TreeMember[];
  readonly keepsRawOutputs: boolean;
}

export interface Kept {
  readonly root: TreeMember;
  readonly reason: string;
}

export interface Plan {
  readonly deletions: readonly PlannedDeletion[];
  readonly kept: readonly Kept[];
}

/**
 * Determines which of the executions may be deleted, each with its descendants, and the reasons for
 * the others.
 */
export async function planDeletions(db: Queryable, roots: readonly bigint[]): Promise<Plan> {
  const trees = await readTrees(db, roots);
  const deletable: Tree[] = [];
  const kept: Kept[] = [];
  for (const tree of trees) {
    const root = rootOf(tree);
    const reason = deletionBlocker(tree.root, tree.members);
    if (reason === undefined) deletable.push(tree);
    else kept.push({ root, reason });
  }
  const members = new Map(deletable.flatMap(({ root, members: own }) => own.map(({ id }) => [id, root] as const)));
  const cached = await treesReferencedByCache(db, members);
  return {
    deletions: deletable.map((tree) => ({
      root: rootOf(tree),
      launched: tree.members.filter(({ id }) => id !== tree.root),
      keepsRawOutputs: cached.has(tree.root),
    })),
    // Excludes executions that are deleted as part of another requested execution's tree.
    kept: kept.filter(({ root }) => !members.has(root.id)),
  };
}

function rootOf({ root, members }: Tree): TreeMember {
  const found = members.find(({ id }) => id === root);
  if (found === undefined) throw new Error(`execution ${root} is not in its own tree`);
  return found;
}

/** Marks trees for deletion: their executions get no new children and recoveries. */
export async function markDeletions(db: Queryable, deletions: readonly PlannedDeletion[], mark: deletionQueue.Mark): Promise<void> {
  const members = deletions.flatMap(({ root, launched }) => [root, ...launched].map(({ id }) => ({ id, root: root.id })));
  if (members.length === 0) return;
  await deletionQueue.insertDeletions(db, members, mark);
}
