import { PermissionViolationError } from "@nats-io/transport-node";
import type { Logger } from "@flyte-ts/telemetry";
import { NoStreamError, type OutgoingMessage } from "../publish/acked-publisher.js";
import type { Streams, StreamSpec } from "./streams.js";

/** Small messages by which each service checks that the server stores messages. */
const PROBE_STREAM: StreamSpec = {
  name: "FLYTE_PROBES",
  subjects: ["flyte.probe.>"],
  retention: "limits",
  maxAgeMs: 60_000,
  maxMessagesPerSubject: 1,
};

const PROBE_INTERVAL_MS = 2_000;
/** Delay before the next probe after one that failed, ms. */
const FAILURE_DELAY_MS = 200;

interface StreamProbeDeps {
  readonly streams: Streams;
  readonly publish: (message: OutgoingMessage) => Promise<void>;
  readonly logger: Logger;
  /** Name of the service. */
  readonly name: string;
}

/**
 * Stores a small message at intervals. A service that mostly consumes would otherwise not notice
 * that the server stores nothing any more. The publisher records failures; this only triggers a
 * publish.
 */
export class StreamProbe {
  readonly subject: string;
  #timer: NodeJS.Timeout | undefined;
  #running = false;
  #creating = false;
  #notPermitted = false;

  constructor(private readonly deps: StreamProbeDeps) {
    this.subject = `flyte.probe.${deps.name}`;
  }

  /** Starts once. */
  start(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setInterval(() => void this.#probe(), PROBE_INTERVAL_MS);
    this.#timer.unref();
    void this.#createStream();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** A user without the permission for this subject runs without the probe. */
  onPermissionError(error: unknown): void {
    if (!(error instanceof PermissionViolationError) || this.#notPermitted) return;
    if (error.subject !== this.subject && !error.subject.endsWith(`.${PROBE_STREAM.name}`)) return;
    this.#notPermitted = true;
    this.stop();
    this.deps.logger.warn(
      { subject: error.subject },
      "the user of this service lacks the permission to probe the message bus; storage failures show only when it publishes",
    );
  }

  async #probe(): Promise<void> {
    if (this.#running || this.#notPermitted) return;
    this.#running = true;
    try {
      await this.deps.publish({ subject: this.subject, data: new Uint8Array() });
      this.#running = false;
    } catch (error) {
      this.#running = false;
      if (error instanceof NoStreamError) void this.#createStream();
      // Shows soon whether the failure lasts.
      else if (this.#timer !== undefined) setTimeout(() => void this.#probe(), FAILURE_DELAY_MS).unref();
    }
  }

  /** Does not delay the probes: a server that stores nothing does not answer this either. */
  async #createStream(): Promise<void> {
    if (this.#creating) return;
    this.#creating = true;
    await this.deps.streams.ensure(PROBE_STREAM).catch(() => undefined);
    this.#creating = false;
  }
}
