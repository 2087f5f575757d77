/**
 * The first line of a migration that takes something away: `-- contract after NNNN: who still used it, until when`.
 * NNNN is the newest migration that a build must know for it to work on the schema that this one leaves.
 */
const CONTRACT = /^-- contract after (\d{4}): \S/;

/** The number of the migration that builds must know once this one has been applied; undefined where any build may go on. */
export function contractAfter(sql: string): string | undefined {
  return CONTRACT.exec(sql)?.[1];
}
