import type { JetStreamManager } from "@nats-io/jetstream";
import { Lazy } from "@flyte-ts/async";
import type { OutgoingMessage } from "../publish/acked-publisher.js";
import type { Streams, StreamSpec } from "../server/streams.js";

/**
 * Markers of suspected messages that processes handle. A marker is a subject without content, read
 * from the list of subjects in the stream's information: a user that could read stored content
 * could have the server send it to any subject as the answer to a request, and so speak for other
 * services.
 */
export const PROCESSING_MARKER_STREAM: StreamSpec = {
  name: "FLYTE_HELD",
  subjects: ["flyte.held.>"],
  retention: "limits",
  maxAgeMs: 24 * 3_600_000,
  maxBytes: 16 * 1024 * 1024,
  maxMessagesPerSubject: 1,
};

/** A message, by its consumer and its sequence in the stream. */
export interface MarkedMessage {
  /** Name of the consumer. */
  readonly durable: string;
  readonly id: string;
}

interface ProcessingMarkersDeps {
  readonly manager: JetStreamManager;
  readonly streams: Streams;
  readonly publish: (message: OutgoingMessage) => Promise<void>;
}

/**
 * Records which suspected messages a process handles: `flyte.held.<consumer>.<id>.held.<ms>`, then
 * `flyte.held.<consumer>.<id>.settled.<ms>`.
 */
export class ProcessingMarkers {
  readonly #stream = new Lazy(() => this.deps.streams.ensure(PROCESSING_MARKER_STREAM));

  constructor(private readonly deps: ProcessingMarkersDeps) {}

  /**
   * Creates the stream, so that services that may not create streams find it. Retries while the
   * server is unreachable.
   */
  ensureStream(): Promise<void> {
    return this.#stream.get();
  }

  /**
   * Records that a process handles the message. @throws JetStreamApiError when the server rejects
   * it, PublishNotAcknowledged after the timeout.
   */
  mark(message: MarkedMessage): Promise<void> {
    return this.#publishMarker(message, "held");
  }

  /** Records that no process handles the message any more. */
  clear(message: MarkedMessage): Promise<void> {
    return this.#publishMarker(message, "settled");
  }

  /**
   * Time since which a process handles the message, ms since the epoch; undefined when none does.
   */
  async markedSince(message: MarkedMessage): Promise<number | undefined> {
    await this.ensureStream();
    const { state } = await this.deps.manager.streams.info(PROCESSING_MARKER_STREAM.name, { subjects_filter: `${subjectOf(message)}.>` });
    let markedAt = -1;
    let clearedAt = -1;
    for (const subject of Object.keys(state.subjects ?? {})) {
      const [kind, ms] = subject.split(".").slice(-2);
      if (kind === "held") markedAt = Math.max(markedAt, Number(ms));
      else clearedAt = Math.max(clearedAt, Number(ms));
    }
    return markedAt > clearedAt ? markedAt : undefined;
  }

  async #publishMarker(message: MarkedMessage, kind: "held" | "settled"): Promise<void> {
    await this.ensureStream();
    await this.deps.publish({ subject: `${subjectOf(message)}.${kind}.${Date.now()}`, data: new Uint8Array() });
  }
}

function subjectOf({ durable, id }: MarkedMessage): string {
  return `flyte.held.${durable}.${id}`;
}
