import type { JetStreamManager } from "@nats-io/jetstream";
import type { Outgoing } from "./stored-publish.js";
import type { Streams, StreamSpec } from "./streams.js";

/**
 * Notes of suspected messages that processes have in hand. A note is a subject without content, and is read from the list of subjects in the
 * stream's information. A user that could read stored content could have the server send it to any subject as the answer to a request, and
 * so speak for other services.
 */
export const HELD_STREAM: StreamSpec = {
  name: "FLYTE_HELD",
  subjects: ["flyte.held.>"],
  retention: "limits",
  maxAgeMs: 24 * 3_600_000,
  maxBytes: 16 * 1024 * 1024,
  maxMessagesPerSubject: 1,
};

/** Message of a consumer, by its place in the stream. */
export interface HeldMessage {
  /** Name of the consumer. */
  readonly durable: string;
  readonly id: string;
}

interface HeldNotesParts {
  readonly manager: JetStreamManager;
  readonly streams: Streams;
  readonly publish: (message: Outgoing) => Promise<void>;
}

/** Notes which suspected messages are in hand: `flyte.held.<consumer>.<id>.held.<ms>`, then `flyte.held.<consumer>.<id>.settled.<ms>`. */
export class HeldNotes {
  #ready: Promise<void> | undefined;

  constructor(private readonly parts: HeldNotesParts) {}

  /** Makes the stream, so that services that may not make streams find it. Goes on trying while the server is away. */
  ready(): Promise<void> {
    this.#ready ??= this.parts.streams.ensure(HELD_STREAM).catch((error: unknown) => {
      this.#ready = undefined;
      throw error;
    });
    return this.#ready;
  }

  /** Notes that the message is in hand. @throws what the server refuses or does not answer. */
  hold(message: HeldMessage): Promise<void> {
    return this.#note(message, "held");
  }

  /** Notes that the message is not in hand any more. */
  settle(message: HeldMessage): Promise<void> {
    return this.#note(message, "settled");
  }

  /** Time at which the message was taken in hand, ms; undefined when it is not in hand. */
  async heldSince(message: HeldMessage): Promise<number | undefined> {
    await this.ready();
    const { state } = await this.parts.manager.streams.info(HELD_STREAM.name, { subjects_filter: `${subjectOf(message)}.>` });
    let held = -1;
    let settled = -1;
    for (const subject of Object.keys(state.subjects ?? {})) {
      const [kind, ms] = subject.split(".").slice(-2);
      if (kind === "held") held = Math.max(held, Number(ms));
      else settled = Math.max(settled, Number(ms));
    }
    return held > settled ? held : undefined;
  }

  async #note(message: HeldMessage, kind: "held" | "settled"): Promise<void> {
    await this.ready();
    await this.parts.publish({ subject: `${subjectOf(message)}.${kind}.${Date.now()}`, data: new Uint8Array() });
  }
}

function subjectOf({ durable, id }: HeldMessage): string {
  return `flyte.held.${durable}.${id}`;
}
