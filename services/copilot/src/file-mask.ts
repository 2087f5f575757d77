/**
 * Reads the umask for the files that copilot shares with the task.
 *
 * @returns the octal number in FLYTE_COPILOT_UMASK; by default 0, since task and copilot may run as
 *   different users
 */
export function fileMask({ FLYTE_COPILOT_UMASK: given = "" }: Readonly<Record<string, string | undefined>>): number {
  return /^[0-7]{1,4}$/.test(given) ? Number.parseInt(given, 8) : 0;
}
