import { PermissionViolationError } from "@nats-io/transport-node";
import type { Logger } from "@flyte-ts/telemetry";
import { NoStream, type Outgoing } from "./stored-publish.js";
import type { Streams, StreamSpec } from "./streams.js";

/** Small messages by which each service checks that the server stores messages. */
const PROBE_STREAM: StreamSpec = {
  name: "FLYTE_PROBES",
  subjects: ["flyte.probe.>"],
  retention: "limits",
  maxAgeMs: 60_000,
  maxMessagesPerSubject: 1,
};

const EVERY_MS = 5_000;

interface ProbeParts {
  readonly streams: Streams;
  readonly publish: (message: Outgoing) => Promise<void>;
  readonly logger: Logger;
  /** Name of the service. */
  readonly name: string;
}

/**
 * Stores a small message at intervals. A service that mostly consumes would otherwise not notice that the server stores
 * nothing any more. The publisher records failures; this only triggers a publish.
 */
export class StoreProbe {
  readonly subject: string;
  #timer: NodeJS.Timeout | undefined;
  #running = false;
  #made = false;
  #refused = false;

  constructor(private readonly parts: ProbeParts) {
    this.subject = `flyte.probe.${parts.name}`;
  }

  /** Starts once. */
  start(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setInterval(() => void this.#probe(), EVERY_MS);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** A user without the permission for this subject runs without the probe. */
  refused(error: unknown): void {
    if (!(error instanceof PermissionViolationError) || this.#refused) return;
    if (error.subject !== this.subject && !error.subject.endsWith(`.${PROBE_STREAM.name}`)) return;
    this.#refused = true;
    this.stop();
    this.parts.logger.warn(
      { subject: error.subject },
      "whether the message bus stores messages is seen only when this service publishes some",
    );
  }

  async #probe(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    try {
      if (!this.#made) await this.parts.streams.ensure(PROBE_STREAM);
      this.#made = true;
      if (!this.#refused) await this.parts.publish({ subject: this.subject, data: new Uint8Array() });
    } catch (error) {
      if (error instanceof NoStream) this.#made = false;
    } finally {
      this.#running = false;
    }
  }
}
