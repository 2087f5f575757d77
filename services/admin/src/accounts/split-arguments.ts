export interface SplitArguments {
  /** Action and its arguments. */
  readonly words: readonly string[];
  /** Settings, `--key value` or `--key=value`. */
  readonly flags: readonly string[];
}

/** Flags without a value. */
const BARE = ["--help", "--print-schema", "--print-config"];

/** Separates the words of a command from the flags, which may stand anywhere among them. */
export function splitArguments(args: readonly string[]): SplitArguments {
  const [words, flags]: [string[], string[]] = [[], []];
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] as string;
    if (!arg.startsWith("--")) words.push(arg);
    else if (arg.includes("=") || BARE.includes(arg)) flags.push(arg);
    else flags.push(...args.slice(i, ++i + 1));
  }
  return { words, flags };
}
