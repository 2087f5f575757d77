/** Characters of a message that a pattern considers: tracebacks of one cause begin alike. */
const CONSIDERED = 4_096;

/**
 * Returns a message without the parts that differ from node to node: addresses, quoted names, and
 * words with a digit.
 */
export function errorPattern(message: string): string {
  return message
    .slice(0, CONSIDERED)
    .replace(/"[^"\n]*"|'[^'\n]*'/g, "NAME")
    .replace(/\b[a-z][a-z0-9+.-]{0,20}:\/\/\S+/gi, "URL")
    .replace(/\b\w*\d[\w-]*/g, "N")
    .trim();
}
