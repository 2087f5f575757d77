import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { Registration } from "../describe/registration.js";
import type { AnyEntity } from "../entity/entity.js";
import type { LogLine } from "../entity/context.js";

/** Stands for an entity in a local run. */
export interface MockEntry {
  readonly entity: AnyEntity;
  readonly answer: (inputs: unknown) => unknown;
}

/** A gate that waits for an answer. */
export interface GateQuestion {
  readonly name: string;
  readonly kind: "signal" | "approve";
}

/** Keeps outputs of cached tasks between runs. */
export interface CacheStore {
  get(key: string): Promise<LiteralMap | undefined>;
  set(key: string, outputs: LiteralMap): Promise<void>;
}

export interface LocalOptions {
  readonly mocks?: readonly MockEntry[];
  /** Answers of gates, by name. */
  readonly signals?: Readonly<Record<string, unknown>>;
  /** Answers gates that `signals` does not. */
  readonly answerGate?: (question: GateQuestion) => Promise<unknown>;
  /** Values of secrets, by `group/key` or `group`. */
  readonly secrets?: Readonly<Record<string, string>>;
  readonly cache?: CacheStore;
  /** Folder for files; default: a temporary one. */
  readonly folder?: string;
  readonly log?: (level: "debug" | "info" | "warn" | "error", ...line: Parameters<LogLine>) => void;
  /** Waits of `sleep` and between attempts are skipped unless this is true. */
  readonly waits?: boolean;
  readonly registration?: Partial<Registration>;
  readonly onNode?: (node: NodeRecord) => void;
  readonly signal?: AbortSignal;
}

/** Last phase of a node of a local run. */
export type NodePhase = "SUCCEEDED" | "FAILED" | "SKIPPED";

/** A node of a local run. */
export interface NodeRecord {
  readonly id: string;
  readonly entity: string;
  readonly kind: "task" | "workflow" | "launchplan" | "branch" | "gate" | "array";
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly outputs: Readonly<Record<string, unknown>>;
  /** Attempts; of a map those of all items. */
  readonly attempts: number;
  /** Items of a map. */
  readonly items?: number;
  readonly phase: NodePhase;
  readonly cached: boolean;
  readonly milliseconds: number;
}
