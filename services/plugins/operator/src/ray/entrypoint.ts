/** Words that a shell takes literally. */
const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/;

/** Joins arguments to a command line for a POSIX shell. */
export function shellCommand(args: readonly string[]): string {
  return args.map((arg) => (PLAIN.test(arg) ? arg : `'${arg.replaceAll("'", `'\\''`)}'`)).join(" ");
}
