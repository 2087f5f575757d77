import type { DescribeRequest, EncodedDescription, ListedEntity } from "@flyte-ts/runtime/describe";
import type { Staging } from "./staged-files.js";

/** Reference whose version the server has to say. */
export interface OpenReference {
  readonly key: string;
  readonly kind: "task" | "workflow" | "launchplan";
  readonly project?: string;
  readonly domain?: string;
  readonly name: string;
  /** True when the registration does without it. */
  readonly optional: boolean;
}

/** Entity by its export. */
export interface ExportAddress {
  readonly module: string;
  readonly export: string;
}

export interface LocalRunRequest extends ExportAddress {
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly signals: Readonly<Record<string, unknown>>;
  readonly secrets: Readonly<Record<string, string>>;
  /** Folder of outputs that cached tasks of earlier runs have left. */
  readonly cacheFolder: string;
  /** Cache versions that follow from the code of tasks, by their names. */
  readonly cacheVersions: Readonly<Record<string, string>>;
}

export interface CheckProblem {
  readonly entity: string;
  readonly message: string;
}

/** Requests to the process that has loaded a bundle, and their answers. */
export interface HostCalls {
  list: {
    request: Record<string, never>;
    answer: { readonly entities: readonly ListedEntity[]; readonly references: readonly OpenReference[] };
  };
  describe: { request: DescribeRequest; answer: EncodedDescription };
  check: { request: DescribeRequest; answer: readonly CheckProblem[] };
  /**
   * Encodes inputs as base64 of a LiteralMap, and stages their files. Paths of files are relative
   * to `cwd`.
   */
  encode: {
    request: ExportAddress & Staging & { readonly inputs: Readonly<Record<string, unknown>>; readonly cwd: string };
    answer: string;
  };
  /** Formats outputs, a line for each. */
  decode: { request: ExportAddress & { readonly outputs: string }; answer: readonly string[] };
  /** Runs an entity in that process, which prints nodes and outputs. Answers its exit status. */
  local: { request: LocalRunRequest; answer: number };
}

export type HostCall = keyof HostCalls;

/** First message: the entry of the bundle to load, and the working directory of its modules. */
export interface HostStart {
  readonly load: string;
  readonly cwd: string;
}

export interface HostRequest {
  readonly id: number;
  readonly call: HostCall;
  readonly request: unknown;
}

/** `error`: message for the user. */
export interface HostAnswer {
  readonly id: number;
  readonly answer?: unknown;
  readonly error?: string;
}
