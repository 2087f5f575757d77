import type { JetStreamManager } from "@nats-io/jetstream";
import type { Outgoing } from "./stored-publish.js";
import type { Streams, StreamSpec } from "./streams.js";

/**
 * Notes of suspected messages that processes hold. A note is a subject without content, read from the list of subjects
 * in the stream's information: a user that could read stored content could have the server send it to any subject as
 * the answer to a request, and so speak for other services.
 */
export const HELD_STREAM: StreamSpec = {
  name: "FLYTE_HELD",
  subjects: ["flyte.held.>"],
  retention: "limits",
  maxAgeMs: 24 * 3_600_000,
  maxBytes: 16 * 1024 * 1024,
  maxMessagesPerSubject: 1,
};

/** A message, by its consumer and its sequence in the stream. */
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

/**
 * Records which suspected messages a process holds: `flyte.held.<consumer>.<id>.held.<ms>`, then
 * `flyte.held.<consumer>.<id>.settled.<ms>`.
 */
export class HeldNotes {
  #ready: Promise<void> | undefined;

  constructor(private readonly parts: HeldNotesParts) {}

  /** Creates the stream, so that services that may not create streams find it. Retries while the server is unreachable. */
  ready(): Promise<void> {
    this.#ready ??= this.parts.streams.ensure(HELD_STREAM).catch((error: unknown) => {
      this.#ready = undefined;
      throw error;
    });
    return this.#ready;
  }

  /** Records that a process holds the message. @throws the server's refusal or timeout. */
  hold(message: HeldMessage): Promise<void> {
    return this.#note(message, "held");
  }

  /** Records that no process holds the message any more. */
  settle(message: HeldMessage): Promise<void> {
    return this.#note(message, "settled");
  }

  /** Time since which a process holds the message, ms since the epoch; undefined when none does. */
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
