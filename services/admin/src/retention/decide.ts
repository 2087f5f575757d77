/** An execution of a tree, as far as its deletion is concerned. */
export interface Member {
  readonly id: bigint;
  /** project/domain/name, for reasons. */
  readonly text: string;
  readonly ended: boolean;
  /** It was made sure that none of its nodes and attempts is open. */
  readonly settled: boolean;
  /** Something waits to be told to a data plane or to those whom its end concerns. */
  readonly owed: boolean;
  /** The execution that launched it, as long as that exists. */
  readonly launchedBy: { readonly id: bigint; readonly text: string } | undefined;
  /** Executions that took over what its nodes had done, and active ones that were given its outputs. */
  readonly neededBy: readonly { readonly id: bigint; readonly text: string }[];
}

/**
 * Why a tree of executions, the root with all that were launched below it, must stay; undefined when it may go.
 *
 * - Nothing that is active goes, nor what an active one launched or was launched by: the tree goes as one, and below a
 *   parent that exists no child goes by itself.
 * - What a recovery took over stands in the folders of the original: that stays as long as the recovery does.
 * - What a trigger started with the outputs of an execution may read them until it has ended.
 */
export function refusal(root: bigint, members: readonly Member[]): string | undefined {
  const own = new Set(members.map(({ id }) => id));
  for (const member of members) {
    const { text } = member;
    if (!member.ended) return `${text} has not ended`;
    if (member.owed || !member.settled) return `${text} has ended only just now`;
    if (member.id === root && member.launchedBy !== undefined && !own.has(member.launchedBy.id)) {
      return `${text} was launched by ${member.launchedBy.text}, and goes with it`;
    }
    const needing = member.neededBy.find(({ id }) => !own.has(id));
    if (needing !== undefined) return `${needing.text} needs what ${text} did`;
  }
  return undefined;
}
