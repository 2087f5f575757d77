/** An execution of a tree, with the data for its deletion. */
export interface Member {
  readonly id: bigint;
  /** project/domain/name, for messages. */
  readonly text: string;
  readonly ended: boolean;
  /** True after a check that all its nodes and attempts are terminal. */
  readonly allTerminal: boolean;
  /** True for a pending outbox entry or completion. */
  readonly hasPendingWork: boolean;
  /** Parent execution, while it exists. */
  readonly parent: { readonly id: bigint; readonly text: string } | undefined;
  /**
   * Recoveries of this execution, and active executions that received its outputs from a trigger.
   */
  readonly dependents: readonly { readonly id: bigint; readonly text: string }[];
}

/**
 * Returns what blocks the deletion of an execution tree, the root with all its descendants;
 * undefined when it may be deleted.
 *
 * - Active executions, their ancestors and their descendants stay: a tree is deleted as a whole,
 *   and a child not
 * without its existing parent.
 * - A recovery reuses blobs in the folders of the original, which stays as long as the recovery.
 * - An execution that a trigger started with outputs of another may read them until it is terminal.
 */
export function deletionBlocker(root: bigint, members: readonly Member[]): string | undefined {
  const own = new Set(members.map(({ id }) => id));
  for (const member of members) {
    const { text } = member;
    if (!member.ended) return `${text} has not ended`;
    if (member.hasPendingWork || !member.allTerminal) return `${text} has ended, but its end is still being processed`;
    if (member.id === root && member.parent !== undefined && !own.has(member.parent.id)) {
      return `${text} was launched by ${member.parent.text}, and is deleted with it`;
    }
    const needing = member.dependents.find(({ id }) => !own.has(id));
    if (needing !== undefined) return `${needing.text} needs the results of ${text}`;
  }
  return undefined;
}
