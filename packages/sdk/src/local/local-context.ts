import type { Context, DeckPage, LogLine } from "../entity/context.js";
import type { LocalOptions } from "./options.js";

interface ContextParts {
  readonly task: string;
  readonly attempt: number;
  readonly signal: AbortSignal;
  readonly rawOutputPrefix: string;
  readonly options: LocalOptions;
  /** Checkpoint of all attempts of a node. */
  readonly checkpoint: CheckpointState;
  readonly decks: Map<string, string>;
}

/** State that an attempt leaves for the next one. */
export interface CheckpointState {
  state: Uint8Array | undefined;
}

/** Makes the context of a task in a local run. */
export function localContext({ task, attempt, signal, rawOutputPrefix, options, checkpoint, decks }: ContextParts): Context {
  const write = options.log ?? (() => undefined);
  const line =
    (level: "debug" | "info" | "warn" | "error"): LogLine =>
    (message, fields) =>
      write(level, message, fields);
  return {
    execution: { project: "local", domain: "local", name: "local" },
    task: { name: task, version: "local" },
    attempt,
    log: { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") },
    signal,
    rawOutputPrefix,
    checkpoint: {
      read: () => Promise.resolve(checkpoint.state),
      write: (state) => {
        checkpoint.state = typeof state === "string" ? new TextEncoder().encode(state) : state;
        return Promise.resolve();
      },
    },
    secret: (group, key) => secretOf(options, group, key),
    deck: (name) => deckPage(decks, name),
  };
}

/** Finds a secret: in the options, else in variables such as `FLYTE_SECRET_GROUP_KEY`. */
async function secretOf({ secrets = {} }: LocalOptions, group: string, key: string | undefined): Promise<string> {
  const path = key === undefined ? group : `${group}/${key}`;
  const variable = ["FLYTE_SECRET", group, ...(key === undefined ? [] : [key])]
    .join("_")
    .toUpperCase()
    .replaceAll(/[^A-Z0-9_]/g, "_");
  const value = secrets[path] ?? process.env[variable];
  if (value === undefined)
    throw new Error(`the secret ${path} is not set: give secrets: { ${JSON.stringify(path)}: … } or set ${variable}`);
  return value.trim();
}

function deckPage(decks: Map<string, string>, name: string): DeckPage {
  const append = (html: string): void => void decks.set(name, (decks.get(name) ?? "") + html);
  return { html: append, markdown: (text) => append(`<pre>${escapeHtml(text)}</pre>`) };
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
