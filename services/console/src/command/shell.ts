const PLAIN = /^[\w@%+=:,./-]+$/;

/** Quotes an argument for a POSIX shell. */
export function quote(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Joins parts of a command, each in a line of its own. */
export function joinLines(parts: readonly string[]): string {
  return parts.join(" \\\n  ");
}

/** A document for the standard input of a command, or of a file. */
export function hereDocument(text: string): string {
  let end = "EOF";
  while (text.split("\n").includes(end)) end += "_";
  return `<<'${end}'\n${text}\n${end}`;
}
