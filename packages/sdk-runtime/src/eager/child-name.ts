import { createHash } from "node:crypto";

/** Length of a name, characters: the maximum of this platform's and Go Flyte's executions. */
const NAME_LENGTH = 20;
const ALPHABET = "bcdfghjklmnpqrstvwxz2456789";

/** Call of an entity by an eager task. */
export interface ChildCall {
  /** Node of the eager task, the same for all its attempts. */
  readonly parent: string;
  readonly entity: string;
  readonly version: string;
  /** Hash of the inputs. */
  readonly inputs: string;
  /** Number of this call among those with the same entity and inputs, from 0. */
  readonly ordinal: number;
}

/**
 * Names the execution of a call. A retried attempt that makes the same call finds the execution
 * again, in whatever order it makes its calls.
 */
export function childName({ parent, entity, version, inputs, ordinal }: ChildCall): string {
  const digest = createHash("sha256")
    .update(JSON.stringify([parent, entity, version, inputs, ordinal]))
    .digest();
  const letters = [...digest].slice(0, NAME_LENGTH - 1).map((byte) => ALPHABET[byte % ALPHABET.length]);
  return `e${letters.join("")}`;
}
