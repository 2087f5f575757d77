export type { LogFields } from "./log-fields.js";
export { LogSampler, type LogSamplerOptions } from "./log-sampler.js";
export { createLogger, type Logger, type LoggerOptions } from "./logger.js";
export { installSourceMapSupport } from "./map-stacks.js";
export { Counter, Gauge, Histogram, Registry as Metrics } from "prom-client";
export { OtlpExporter, type OtlpOptions } from "./otlp-exporter.js";
export { type ExecutionId, randomSpanId, randomTraceId, type Span, spanIdOf, type SpanSink, traceIdOf } from "./span.js";
