import { deletionQueue } from "../../../executions/index.js";
import { treesReferencedByCache } from "../tree/cache-references.js";
import { deletionBlocker } from "../tree/deletion-blocker.js";
import { readTrees, type Tree } from "../tree/tree.js";
import { type ClaimedDeletion, type DeletionDeps, nameOf } from "./claimed-deletion.js";

interface CheckedTree {
  readonly one: ClaimedDeletion;
  readonly tree: Tree;
  readonly reason: string | undefined;
}

/**
 * Detects children and recoveries that were accepted concurrently with the marks. Confirms the
 * deletion of trees without them, and withdraws the other marks. Returns the confirmed deletions of
 * the roots, undefined for the others.
 */
export async function confirmTrees(
  { db, logger, metrics, clock }: Pick<DeletionDeps, "db" | "logger" | "metrics" | "clock">,
  claimed: readonly ClaimedDeletion[],
): Promise<readonly (ClaimedDeletion | undefined)[]> {
  const trees = await readTrees(
    db,
    claimed.map(({ root }) => root),
  );
  const byRoot = new Map(trees.map((tree) => [tree.root, tree]));
  const checked = claimed.flatMap((one): readonly CheckedTree[] => {
    const tree = byRoot.get(one.root);
    return tree === undefined ? [] : [{ one, tree, reason: deletionBlocker(tree.root, tree.members) }];
  });
  const blocked = checked.filter(({ reason }) => reason !== undefined);
  if (blocked.length > 0) {
    await deletionQueue.cancelDeletions(
      db,
      blocked.map(({ tree }) => tree.root),
    );
  }
  for (const { one, reason } of blocked) {
    logger.warn({ execution: nameOf(one), reason }, "deletion cancelled");
    metrics.cancelled.inc();
  }
  const free = checked.filter(({ reason }) => reason === undefined);
  // Trees without a blocker share no member: the parent of a root is gone.
  const members = new Map(free.flatMap(({ tree }) => tree.members.map(({ id }) => [id, tree.root] as const)));
  const cached = await treesReferencedByCache(db, members);
  const confirmed = free.map(({ one, tree }) => {
    const deletion = { ...one, confirmed: true, keepsRawOutputs: cached.has(tree.root) };
    return { deletion, tree: { ...deletion, members: tree.members.map(({ id }) => id) } };
  });
  if (confirmed.length > 0) {
    await deletionQueue.confirmDeletions(
      db,
      confirmed.map(({ tree }) => tree),
      clock(),
    );
  }
  const confirmedByRoot = new Map(confirmed.map(({ deletion }) => [deletion.root, deletion]));
  return claimed.map(({ root }) => confirmedByRoot.get(root));
}
