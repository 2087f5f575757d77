import { resolvesWithin, retry, type RetryOptions, systemTime } from "@flyte-ts/async";
import type { Span, SpanSink } from "./span.js";

export interface OtlpOptions {
  /**
   * Base address of an OTLP/HTTP receiver, such as `http://collector:4318`; spans go to
   * `/v1/traces` below it.
   */
  readonly endpoint: string;
  /** `service.name` of the spans. */
  readonly service: string;
  /** For instance an `authorization`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Maximum delay before a span is sent, ms. Default 2,000. */
  readonly intervalMs?: number;
  /** Maximum number of queued spans; further ones are dropped. Default 10,000. */
  readonly maxQueueSize?: number;
  readonly onDropped?: (spans: number) => void;
  /** Maximum duration of `close`, ms: a shutdown has more to do. Default 3,000. */
  readonly closeMs?: number;
}

const BATCH_SIZE = 512;
const TIMEOUT_MS = 10_000;
const RETRIES: RetryOptions = { initialMs: 100, maxMs: 1_000, jitter: 0.5, maxRetries: 2 };
/** OTLP constants: SPAN_KIND_INTERNAL, SPAN_KIND_SERVER. */
const SPAN_KINDS = { internal: 1, server: 2 } as const;
const STATUS_OK = 1;
const STATUS_ERROR = 2;

/**
 * Sends spans as OTLP/HTTP JSON, in batches in the background. An unreachable or slow receiver
 * costs spans, never anything else.
 */
export class OtlpExporter implements SpanSink {
  #queue: Span[] = [];
  #sending: Promise<void> = Promise.resolve();
  readonly #timer: NodeJS.Timeout;
  /** Aborted when the time to close has passed. */
  readonly #closing = new AbortController();

  constructor(private readonly options: OtlpOptions) {
    this.#timer = setInterval(() => this.#flush(), options.intervalMs ?? 2_000);
    this.#timer.unref();
  }

  record(span: Span): void {
    if (this.#queue.length >= (this.options.maxQueueSize ?? 10_000)) {
      this.options.onDropped?.(1);
      return;
    }
    this.#queue.push(span);
    if (this.#queue.length % BATCH_SIZE === 0) this.#flush();
  }

  /** Sends what is queued, as far as the receiver takes it in time. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#flush();
    if (await resolvesWithin(this.#sending, this.options.closeMs ?? 3_000, systemTime)) return;
    const rest = this.#queue.splice(0).length;
    if (rest > 0) this.options.onDropped?.(rest);
    this.#closing.abort();
    await this.#sending;
  }

  #flush(): void {
    this.#sending = this.#sending.then(async () => {
      for (let batch = this.#queue.splice(0, BATCH_SIZE); batch.length > 0; batch = this.#queue.splice(0, BATCH_SIZE)) {
        if (!(await this.#send(batch))) this.options.onDropped?.(batch.length);
      }
    });
  }

  async #send(spans: readonly Span[]): Promise<boolean> {
    const { endpoint, service, headers } = this.options;
    const body = JSON.stringify(otlpJson(service, spans));
    const url = `${endpoint.replace(/\/+$/, "")}/v1/traces`;
    const post = async (): Promise<boolean> => {
      const response = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body,
        signal: AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), this.#closing.signal]),
      });
      await response.body?.cancel();
      if (response.status >= 500 || response.status === 429) throw new Error(`status ${response.status}`);
      return response.ok;
    };
    // Drops the spans when the receiver stays unreachable or busy.
    return retry(post, { ...RETRIES, signal: this.#closing.signal }).catch(() => false);
  }
}

/** An ExportTraceServiceRequest in OTLP's JSON form: ids in hexadecimal, 64-bit numbers as text. */
function otlpJson(service: string, spans: readonly Span[]): object {
  return {
    resourceSpans: [
      {
        resource: { attributes: [attribute("service.name", service)] },
        scopeSpans: [{ scope: { name: "flyte-ts" }, spans: spans.map(spanJson) }],
      },
    ],
  };
}

function spanJson({ traceId, spanId, parentSpanId, name, start, end, attributes, failure, kind = "internal" }: Span): object {
  return {
    traceId,
    spanId,
    ...(parentSpanId === undefined ? {} : { parentSpanId }),
    name,
    kind: SPAN_KINDS[kind],
    startTimeUnixNano: nanoseconds(start),
    endTimeUnixNano: nanoseconds(Math.max(start, end)),
    attributes: Object.entries(attributes).map(([key, value]) => attribute(key, value)),
    status: failure === undefined ? { code: STATUS_OK } : { code: STATUS_ERROR, message: failure },
  };
}

function nanoseconds(ms: number): string {
  return String(BigInt(Math.round(ms * 1_000)) * 1_000n);
}

function attribute(key: string, value: string | number | boolean): object {
  if (typeof value === "string") return { key, value: { stringValue: value } };
  if (typeof value === "boolean") return { key, value: { boolValue: value } };
  return { key, value: Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value } };
}
