// Parses the arguments of `npm test`.

/**
 * Separates the arguments of `npm test` from those of vitest.
 *
 * @param {readonly string[]} args
 * @returns {{ changed?: { ref?: string }, updateDurations: boolean, vitestArgs: string[] }}
 */
export function parseTestArgs(args) {
  const vitestArgs = [...args];
  const updateDurations = remove(vitestArgs, "--update-durations") !== undefined;
  const at = remove(vitestArgs, "--changed");
  if (at === undefined) return { updateDurations, vitestArgs };
  const ref = vitestArgs[at];
  if (ref === undefined || ref.startsWith("-")) return { changed: {}, updateDurations, vitestArgs };
  vitestArgs.splice(at, 1);
  return { changed: { ref }, updateDurations, vitestArgs };
}

/** Removes a flag and returns its former position, or undefined when it is absent. */
function remove(args, flag) {
  const at = args.indexOf(flag);
  if (at < 0) return undefined;
  args.splice(at, 1);
  return at;
}
