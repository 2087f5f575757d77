import { parseArgs, type ParseArgsOptionsConfig } from "node:util";
import { type Channel, openChannel } from "@flyte-ts/client";
import { callMetadata } from "../sign-in/call-metadata.js";
import { UsageError } from "../usage-error.js";

const connection = {
  endpoint: { type: "string", default: process.env.FLYTE_PLATFORM_URL ?? "localhost:30080" },
} as const satisfies ParseArgsOptionsConfig;

/**
 * Parses the arguments of a command. Returns undefined when the number of positional arguments
 * differs from `words`.
 *
 * @throws UsageError naming an unknown flag, or one without its value
 */
export function parsePositionals<Options extends ParseArgsOptionsConfig>(
  argv: readonly string[],
  { words: count, options }: { readonly words: number; readonly options: Options },
) {
  try {
    const parsed = parseArgs({ args: [...argv], allowPositionals: true, options: { ...connection, ...options } });
    return parsed.positionals.length === count ? { words: parsed.positionals, values: parsed.values } : undefined;
  } catch (cause) {
    // Node appends advice about words that begin with a dash.
    const [problem = ""] = (cause as Error).message.split(/\.(?:\s|$)/);
    throw new UsageError(`${problem}; --help lists the flags`, { cause });
  }
}

/** Time without an answer after which a command says that it waits, ms. */
const WAITING_NOTE_MS = 3_000;

/**
 * Prints on standard error that the command waits, unless the returned function is called within
 * WAITING_NOTE_MS.
 */
export function noteWaiting(subject: string): () => void {
  const timer = setTimeout(() => process.stderr.write(`waiting for ${subject} …\n`), WAITING_NOTE_MS);
  return () => clearTimeout(timer);
}

/**
 * Opens a channel to admin, with the token of the person or program that is signed in.
 *
 * @throws UsageError when the endpoint is no address
 */
export function openAdminChannel(endpoint: string): Channel {
  try {
    return openChannel({ endpoint: endpoint.replace(/^dns:\/\/\//, ""), metadata: callMetadata(endpoint) });
  } catch (cause) {
    throw new UsageError(`--endpoint: ${(cause as Error).message}`, { cause });
  }
}
