/**
 * First line of a migration that removes something:
 * `-- contract after NNNN: who still used it, until when`. NNNN is the newest migration that a
 * build must know to work on the resulting schema.
 */
const CONTRACT = /^-- contract after (\d{4}): \S/;

/**
 * Number of the migration that builds must know once this one is applied; undefined when any build
 * may continue.
 */
export function contractRequires(sql: string): string | undefined {
  return CONTRACT.exec(sql)?.[1];
}
