import { createHash, randomBytes } from "node:crypto";

/** A timed operation, as in OpenTelemetry. */
export interface Span {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  readonly parentSpanId?: string | undefined;
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly start: number;
  readonly end: number;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  /** Reason of the failure, if it failed. */
  readonly failure?: string | undefined;
  /** `server`: it answers a call. Default `internal`. */
  readonly kind?: "internal" | "server";
}

/** Receives spans. */
export interface SpanSink {
  record(span: Span): void;
  /** Sends the queued spans. */
  close(): Promise<void>;
}

export interface ExecutionId {
  readonly project: string;
  readonly domain: string;
  readonly name: string;
}

/**
 * Trace id of an execution. It derives from the execution's name, as the span ids do, so that
 * services share a trace without passing a context.
 */
export function traceIdOf({ project, domain, name }: ExecutionId): string {
  return hexDigest(`${project}/${domain}/${name}`, 32);
}

/**
 * Span id of a part of an execution: of the workflow itself, `node/{id}`,
 * `attempt/{node}/{number}`.
 */
export function spanIdOf(traceId: string, part: string): string {
  return hexDigest(`${traceId} ${part}`, 16);
}

export function randomSpanId(): string {
  return randomBytes(8).toString("hex");
}

export function randomTraceId(): string {
  return randomBytes(16).toString("hex");
}

function hexDigest(text: string, digits: number): string {
  const hex = createHash("sha256").update(text).digest("hex").slice(0, digits);
  // OpenTelemetry reserves all zeros for an invalid id.
  return /[^0]/.test(hex) ? hex : `1${hex.slice(1)}`;
}
