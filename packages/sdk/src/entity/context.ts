import { AsyncLocalStorage } from "node:async_hooks";

/** A line of the log. `fields` are appended as JSON. */
export type LogLine = (message: string, fields?: object) => void;

/** A page of the deck. */
export interface DeckPage {
  html(text: string): void;
  markdown(text: string): void;
}

/** The surroundings of a running task. */
export interface Context {
  readonly execution: { readonly project: string; readonly domain: string; readonly name: string };
  readonly task: { readonly name: string; readonly version: string };
  /** Number of this attempt, from 0. */
  readonly attempt: number;
  readonly log: Readonly<Record<"debug" | "info" | "warn" | "error", LogLine>>;
  /** Aborted by SIGTERM: at the deadline, an abort or an eviction. */
  readonly signal: AbortSignal;
  /** Folder in the blob store for the files of this attempt. */
  readonly rawOutputPrefix: string;
  readonly checkpoint: {
    read(): Promise<Uint8Array | undefined>;
    write(state: Uint8Array | string): Promise<void>;
  };
  secret(group: string, key?: string): Promise<string>;
  deck(name: string): DeckPage;
}

const contexts = new AsyncLocalStorage<Context>();

/**
 * Returns the context of the running task, for code without a parameter for it.
 *
 * @throws Error outside of a task
 */
export function currentContext(): Context {
  const context = contexts.getStore();
  if (context === undefined) throw new Error("currentContext() was called outside of a running task");
  return context;
}

/** Runs a function with this context. */
export function withContext<R>(context: Context, run: () => R): R {
  return contexts.run(context, run);
}
