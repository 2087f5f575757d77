import { headers, type MsgHdrs } from "@nats-io/transport-node";
import { Lazy } from "@flyte-ts/async";
import { Counter, type Logger, type Metrics } from "@flyte-ts/telemetry";
import type { OutgoingMessage } from "../publish/acked-publisher.js";
import type { Streams, StreamSpec } from "../server/streams.js";

/** Messages that no consumer can take, kept for operators. */
export const DEAD_LETTER_STREAM: StreamSpec = {
  name: "FLYTE_DEAD_LETTERS",
  subjects: ["flyte.dead.>"],
  retention: "limits",
  maxAgeMs: 14 * 24 * 3_600_000,
  maxBytes: 64 * 1024 * 1024,
};

/**
 * Reason for a dead letter.
 * - `refused`: its consumer cannot read it or will never record it.
 * - `limits`: it exceeds the limits of decompression or decoding.
 * - `crashed`: processes that held it ended, one after the other.
 */
export type DeadLetterKind = "refused" | "limits" | "crashed";

export interface DeadLetter {
  /** Name of the consumer that could not take it. */
  readonly durable: string;
  /** Sequence in its stream, and index in its batch. */
  readonly id: string;
  readonly subject: string;
  readonly data: Uint8Array;
  readonly headers?: MsgHdrs | undefined;
  readonly deliveries: number;
}

const SUBJECT_HEADER = "Flyte-Dead-Subject";
const KIND_HEADER = "Flyte-Dead-Kind";
const REASON_HEADER = "Flyte-Dead-Reason";
const DELIVERIES_HEADER = "Flyte-Dead-Deliveries";
const MAX_REASON_LENGTH = 1_000;

interface DeadLettersDeps {
  readonly streams: Streams;
  readonly publish: (message: OutgoingMessage) => Promise<void>;
  readonly logger: Logger;
  readonly metrics: Metrics | undefined;
}

/**
 * Stores copies of messages in the dead-letter stream, each on its own subject:
 * `flyte.dead.<consumer>.<id>`.
 */
export class DeadLetters {
  readonly #count: Counter<"consumer" | "kind"> | undefined;
  readonly #stream = new Lazy(() => this.deps.streams.ensure(DEAD_LETTER_STREAM));

  constructor(private readonly deps: DeadLettersDeps) {
    const name = "flyte_bus_dead_letters_total";
    const registry = deps.metrics;
    this.#count =
      registry &&
      ((registry.getSingleMetric(name) as Counter<"consumer" | "kind"> | undefined) ??
        new Counter({
          name,
          help: "Messages that no consumer could process and that became dead letters, by consumer and kind.",
          labelNames: ["consumer", "kind"],
          registers: [registry],
        }));
  }

  /**
   * Creates the stream, so that services that may not create streams find it. Retries while the
   * server is unreachable.
   */
  ensureStream(): Promise<void> {
    return this.#stream.get();
  }

  /**
   * Stores a copy. @throws JetStreamApiError when the server rejects it, PublishNotAcknowledged
   * after the timeout.
   */
  async store(letter: DeadLetter, kind: DeadLetterKind, reason: string): Promise<void> {
    await this.#publishCopy(letter, kind, reason);
    const { durable, subject, data, deliveries } = letter;
    this.#count?.inc({ consumer: durable, kind });
    const location = `${DEAD_LETTER_STREAM.name} ${subjectOf(letter)}`;
    this.deps.logger.error(
      { durable, subject, kind, reason, bytes: data.length, deliveries, where: location },
      "stored a message as a dead letter",
    );
  }

  async #publishCopy(letter: DeadLetter, kind: DeadLetterKind, reason: string): Promise<void> {
    await this.ensureStream();
    const copyHeaders = headers();
    for (const [name, values] of letter.headers ?? []) for (const value of values) copyHeaders.append(name, value);
    copyHeaders.set(SUBJECT_HEADER, letter.subject);
    copyHeaders.set(KIND_HEADER, kind);
    copyHeaders.set(REASON_HEADER, reason.replaceAll(/[\r\n]+/g, " ").slice(0, MAX_REASON_LENGTH));
    copyHeaders.set(DELIVERIES_HEADER, String(letter.deliveries));
    await this.deps.publish({ subject: subjectOf(letter), data: letter.data, headers: copyHeaders });
  }
}

function subjectOf({ durable, id }: Pick<DeadLetter, "durable" | "id">): string {
  return `flyte.dead.${durable}.${id}`;
}
