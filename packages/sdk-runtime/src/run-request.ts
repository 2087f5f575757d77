import type { BlobAccess } from "./blob/blob-access.js";

/**
 * Number of the contract between the bootstrap and bundles. It grows when a bundle could no longer
 * run with an older bootstrap, or the reverse.
 */
export const RUN_FORMAT = 1;

/** Task to run, and what its bundle gets from the bootstrap. */
export interface RunRequest {
  readonly format: typeof RUN_FORMAT;
  /** Module and export of the task, as the bundle's manifest names them. */
  readonly task: { readonly module: string; readonly name: string };
  /** Addresses of the container contract. */
  readonly addresses: RunAddresses;
  /** Present: run for one element of the lists, whose index the environment names. */
  readonly map: { readonly bound: readonly string[] } | undefined;
  /** Source of the code, for tasks that make others of the same code. */
  readonly code: CodeSource;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly blobs: BlobAccess;
}

/** Source of the code of a task. */
export type CodeSource =
  | { readonly kind: "bundle"; readonly uri: string; readonly digest: string }
  /** A module in the image. */
  | { readonly kind: "entry"; readonly path: string };

export interface RunAddresses {
  /** The inputs, a LiteralMap. */
  readonly inputs: string;
  /** Prefix of outputs, errors and the deck. */
  readonly outputPrefix: string;
  /** Prefix of files that the task makes. */
  readonly rawOutputPrefix: string;
  /** Undefined: the server keeps no checkpoints. */
  readonly checkpoint: string | undefined;
  /** Checkpoint of the previous attempt, if there was one. */
  readonly previousCheckpoint: string | undefined;
}

/** Exports of a bundle's `entry.mjs` that the bootstrap uses. */
export interface BundleEntry {
  readonly format: number;
  /** Runs a task, and writes its outputs or its error. Returns the exit status. */
  readonly run: (request: RunRequest) => Promise<number>;
  /** Compiles the code that every task uses, for a process that waits for its task. */
  readonly prepare?: () => Promise<void>;
}
