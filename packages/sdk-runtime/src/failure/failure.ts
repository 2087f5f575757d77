import { InvalidInput, InvalidOutput } from "@flyte-ts/sdk/runtime";
import { isTransient } from "../blob/with-retries.js";
import { type ErrorClass, SYSTEM_FAILURE } from "./error-class.js";
import type { SourceMapper } from "./source-mapper.js";

/** Error as the server records it. */
export interface Classified extends ErrorClass {
  readonly message: string;
}

/** The runtime could not run the task's function to its end. */
export class RunFailure extends Error {
  override readonly name = "RunFailure";

  constructor(
    message: string,
    readonly errorClass: ErrorClass = SYSTEM_FAILURE,
  ) {
    super(message);
  }
}

/** Returns the class of errors that the author has to mend. */
export const userError = (code: string): ErrorClass => ({ code: `USER:${code}`, recoverable: false, origin: "user" });

/** Maximum length of a message, characters; its begin and its end are kept. */
const MAX_MESSAGE_LENGTH = 32_768;
/** Depth of causes that are read; a cause may lead back to its error. */
const MAX_CAUSES = 10;

/** Returns code, kind, origin and message of what a task threw. */
export function classify(
  thrown: unknown,
  { sources, terminated }: { readonly sources: SourceMapper; readonly terminated: boolean },
): Classified {
  const message = shortened(describeThrown(thrown, sources));
  if (terminated) return { ...SYSTEM_FAILURE, message: `the pod is being terminated (SIGTERM)\n${message}` };
  const chain = [...causesOf(thrown)];
  if (chain.some((error) => nameOf(error) === "RecoverableError"))
    return { code: "USER:RecoverableError", message, recoverable: true, origin: "user" };
  // Names, because blobs are accessed by the bootstrap's copy of this package.
  if (nameOf(thrown) === "SystemError" || chain.some((error) => nameOf(error) === "BlobFailure" || isTransient(error)))
    return { ...SYSTEM_FAILURE, message };
  return { ...(thrown instanceof RunFailure ? thrown.errorClass : userError(codeName(thrown))), message };
}

/** True for the error with which a task says that it wrote its outputs elsewhere. */
export const ignoresOutputs = (thrown: unknown): boolean => nameOf(thrown) === "IgnoreOutputs";

/** Yields an error and its causes. */
function* causesOf(thrown: unknown): Iterable<unknown> {
  let current = thrown;
  for (let depth = 0; depth < MAX_CAUSES && current !== undefined && current !== null; depth++) {
    yield current;
    current = current instanceof Error ? current.cause : undefined;
  }
}

/** Describes an error with its mapped stack, its causes and the members of an AggregateError. */
function describeThrown(thrown: unknown, sources: SourceMapper): string {
  const texts: string[] = [];
  for (const error of causesOf(thrown)) {
    const text = error instanceof Error ? describeError(error, sources) : `${typeof error} was thrown: ${String(error)}`;
    texts.push(texts.length === 0 ? text : `Caused by: ${text}`);
  }
  return texts.length === 0 ? `${String(thrown)} was thrown` : texts.join("\n");
}

function describeError(error: Error, sources: SourceMapper): string {
  const text = error instanceof RunFailure ? error.message : sources.map(error.stack ?? `${error.name}: ${error.message}`);
  if (!(error instanceof AggregateError)) return text;
  const members = error.errors.slice(0, MAX_CAUSES).map((member: unknown, index) => {
    const lines = member instanceof Error ? sources.map(member.stack ?? String(member)) : String(member);
    return `[${index}] ${lines}`.replaceAll("\n", "\n  ");
  });
  return [text, ...members].join("\n");
}

function shortened(text: string): string {
  if (text.length <= MAX_MESSAGE_LENGTH) return text;
  const half = MAX_MESSAGE_LENGTH / 2;
  return `${text.slice(0, half)}\n… ${text.length - MAX_MESSAGE_LENGTH} characters left out …\n${text.slice(-half)}`;
}

const nameOf = (error: unknown): string | undefined => (error instanceof Error ? error.name : undefined);

/** Returns the name of an error's class in the characters of a code. */
function codeName(thrown: unknown): string {
  if (thrown instanceof InvalidInput) return "InvalidInput";
  if (thrown instanceof InvalidOutput) return "InvalidOutput";
  if (!(thrown instanceof Error)) return "NotAnError";
  const name = thrown.name.replaceAll(/[^\w.]/g, "");
  return name === "" ? "Error" : name;
}
