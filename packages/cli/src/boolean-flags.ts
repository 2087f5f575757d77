/** Allows boolean flags without a value, `--exit`, or negated, `--no-example`. */
export function normalizeBooleanFlags(argv: readonly string[], names: readonly string[]): string[] {
  return argv.flatMap((arg, index) => {
    const [, no, name = ""] = /^--(no-)?([a-zA-Z]+)$/.exec(arg) ?? [];
    if (!names.includes(name)) return [arg];
    if (no !== undefined) return [`--${name}=false`];
    return /^(true|false)$/.test(argv[index + 1] ?? "") ? [arg] : [`${arg}=true`];
  });
}
