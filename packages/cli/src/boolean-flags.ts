/** Allows boolean flags without a value, `--exit`, or negated, `--no-example`. */
export function booleanFlags(argv: readonly string[], names: readonly string[]): string[] {
  return argv.flatMap((word, index) => {
    const [, no, name = ""] = /^--(no-)?([a-zA-Z]+)$/.exec(word) ?? [];
    if (!names.includes(name)) return [word];
    if (no !== undefined) return [`--${name}=false`];
    return /^(true|false)$/.test(argv[index + 1] ?? "") ? [word] : [`${word}=true`];
  });
}
