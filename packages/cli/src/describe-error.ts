import { getSystemErrorName } from "node:util";

/** Errors that our own code throws for a person to read. */
const FOR_PEOPLE = /^(Config|Stack|ServerStart|PythonEnvironment|Rpc|Backup|Usage)Error$/;

/** Remedies by the code of an error that the operating system answered. */
const REMEDIES: Readonly<Record<string, string>> = {
  EACCES: "give this user access to it, or name another",
  EPERM: "give this user access to it, or name another",
  EROFS: "name one on a file system that can be written to",
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

/** Text of an error for the person who ran the command: one line where that person can mend it, the stack where the program is at fault. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (FOR_PEOPLE.test(error.name)) return error.message;
  const system = systemErrorOf(error);
  if (system === undefined) return error.stack ?? String(error);
  const remedy = REMEDIES[system.code];
  return remedy === undefined ? system.message : `${system.message}: ${remedy}`;
}

/** The operating system's answer, of which Node makes several in one when a name has several addresses. */
function systemErrorOf(error: Error): SystemError | undefined {
  const inner: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const { code, errno, message } = inner as NodeJS.ErrnoException;
  if (code === undefined || errno === undefined || getSystemErrorNameOf(errno) === undefined) return undefined;
  return { code, message };
}

/** Undefined for a number that is none of the operating system's. */
function getSystemErrorNameOf(errno: number): string | undefined {
  try {
    return getSystemErrorName(errno);
  } catch {
    return undefined;
  }
}
