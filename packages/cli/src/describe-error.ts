import { getSystemErrorName } from "node:util";

/** Errors of this project with a message for users. */
const USER_ERRORS = /^(Config|Stack|ServerStart|Cache|PythonEnvironment|Rpc|Backup|Usage)Error$/;

/** Remedies by error code of the operating system. */
const HINTS: Readonly<Record<string, string>> = {
  EACCES: "give this user access to it, or name another",
  EPERM: "give this user access to it, or name another",
  EROFS: "choose one on a writable file system",
  ENOENT: "name one that exists",
  ENOTDIR: "a part of that path is a file",
  EEXIST: "a part of that path is a file",
  ENOSPC: "free some space on that disk",
  EDQUOT: "free some space on that disk",
  EADDRINUSE: "stop what listens there, or name another port",
  ECONNREFUSED: "start what is to listen there, or name another address",
  ENOTFOUND: "name a host that exists",
};

interface SystemError {
  readonly code: string;
  readonly message: string;
}

/**
 * Formats an error for the user of a command: one line when the user can correct it, the stack when
 * the program is at fault.
 */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (USER_ERRORS.test(error.name)) {
    const reason = connectionFailure(error.message);
    return reason === undefined ? error.message : withHint(reason, /\bE[A-Z]+\b/.exec(reason)?.[0]);
  }
  const system = systemErrorOf(error);
  if (system === undefined) return error.stack ?? String(error);
  return withHint(system.message, system.code);
}

function withHint(message: string, code = ""): string {
  const hint = HINTS[code];
  return hint === undefined ? message : `${message}: ${hint}`;
}

/**
 * Extracts the reason of a failed connection from a message of the gRPC library; undefined for
 * other messages.
 */
export function connectionFailure(message: string): string | undefined {
  return /No connection established\. Last error: (?:Error: )?(.*?)\.?(?: Resolution note:.*)?$/s.exec(message)?.[1];
}

/**
 * Finds the error of the operating system; Node combines several when a name has several addresses.
 */
function systemErrorOf(error: Error): SystemError | undefined {
  const inner: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const { code, errno, message } = inner as NodeJS.ErrnoException;
  if (code === undefined || errno === undefined || getSystemErrorNameOf(errno) === undefined) return undefined;
  return { code, message };
}

/** Undefined for a number that is not an error of the operating system. */
function getSystemErrorNameOf(errno: number): string | undefined {
  try {
    return getSystemErrorName(errno);
  } catch {
    return undefined;
  }
}
