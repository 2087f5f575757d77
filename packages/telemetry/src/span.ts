import { createHash, randomBytes } from "node:crypto";

/** One thing that took time, as OpenTelemetry has it. */
export interface Span {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  readonly parentSpanId?: string | undefined;
  readonly name: string;
  /** ms since the epoch. */
  readonly start: number;
  readonly end: number;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  /** Why it failed; absent when it did not. */
  readonly failure?: string | undefined;
  /** `server`: it answers a call. Default `internal`. */
  readonly kind?: "internal" | "server";
}

/** Where spans go. */
export interface SpanSink {
  record(span: Span): void;
  /** Sends what is left. */
  close(): Promise<void>;
}

export interface ExecutionId {
  readonly project: string;
  readonly domain: string;
  readonly name: string;
}

/**
 * The one trace of an execution. It follows from the execution's name, as do the ids
 * of its spans, so that services tell of one trace without handing anything around.
 */
export function traceIdOf({ project, domain, name }: ExecutionId): string {
  return hash(`${project}/${domain}/${name}`, 32);
}

/** Span of a part of an execution: of the workflow itself, `node/{id}`, `attempt/{node}/{number}`. */
export function spanIdOf(traceId: string, part: string): string {
  return hash(`${traceId} ${part}`, 16);
}

export function randomSpanId(): string {
  return randomBytes(8).toString("hex");
}

export function randomTraceId(): string {
  return randomBytes(16).toString("hex");
}

function hash(text: string, digits: number): string {
  const hex = createHash("sha256").update(text).digest("hex").slice(0, digits);
  // All zeros mean none.
  return /[^0]/.test(hex) ? hex : `1${hex.slice(1)}`;
}
