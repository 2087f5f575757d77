import { headers, type MsgHdrs } from "@nats-io/transport-node";
import { Counter, type Logger, type Metrics } from "@flyte-ts/telemetry";
import type { Outgoing } from "./stored-publish.js";
import type { Streams, StreamSpec } from "./streams.js";

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
  /** Sequence in its stream, and index in its bundle. */
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
const LONGEST_REASON = 1_000;

interface DeadLetterParts {
  readonly streams: Streams;
  readonly publish: (message: Outgoing) => Promise<void>;
  readonly logger: Logger;
  readonly metrics: Metrics | undefined;
}

/** Stores copies of messages in the dead-letter stream, each on its own subject: `flyte.dead.<consumer>.<id>`. */
export class DeadLetters {
  readonly #count: Counter<"consumer" | "kind"> | undefined;
  #ready: Promise<void> | undefined;

  constructor(private readonly parts: DeadLetterParts) {
    const name = "flyte_bus_dead_letters_total";
    const registry = parts.metrics;
    this.#count =
      registry &&
      ((registry.getSingleMetric(name) as Counter<"consumer" | "kind"> | undefined) ??
        new Counter({
          name,
          help: "Messages that no consumer can take and that were put aside, by consumer and kind.",
          labelNames: ["consumer", "kind"],
          registers: [registry],
        }));
  }

  /** Creates the stream, so that services that may not create streams find it. Retries while the server is unreachable. */
  ready(): Promise<void> {
    this.#ready ??= this.parts.streams.ensure(DEAD_LETTER_STREAM).catch((error: unknown) => {
      this.#ready = undefined;
      throw error;
    });
    return this.#ready;
  }

  /** Stores a copy. @throws the server's refusal or timeout. */
  async bury(letter: DeadLetter, kind: DeadLetterKind, reason: string): Promise<void> {
    await this.#store(letter, kind, reason);
    const { durable, subject, data, deliveries } = letter;
    this.#count?.inc({ consumer: durable, kind });
    const where = `${DEAD_LETTER_STREAM.name} ${subjectOf(letter)}`;
    this.parts.logger.error(
      { durable, subject, kind, reason, bytes: data.length, deliveries, where },
      "message put aside as a dead letter",
    );
  }

  async #store(letter: DeadLetter, kind: DeadLetterKind, reason: string): Promise<void> {
    await this.ready();
    const fields = headers();
    for (const [name, values] of letter.headers ?? []) for (const value of values) fields.append(name, value);
    fields.set(SUBJECT_HEADER, letter.subject);
    fields.set(KIND_HEADER, kind);
    fields.set(REASON_HEADER, reason.replaceAll(/[\r\n]+/g, " ").slice(0, LONGEST_REASON));
    fields.set(DELIVERIES_HEADER, String(letter.deliveries));
    await this.parts.publish({ subject: subjectOf(letter), data: letter.data, headers: fields });
  }
}

function subjectOf({ durable, id }: Pick<DeadLetter, "durable" | "id">): string {
  return `flyte.dead.${durable}.${id}`;
}
