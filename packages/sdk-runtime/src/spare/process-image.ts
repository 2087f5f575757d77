import { closeSync, openSync, readFileSync, writeSync } from "node:fs";

/** Field numbers of /proc/self/stat, counted from the one after the name: see proc(5). */
const ARG_START = 45;
const ENV_START = 47;

/**
 * Writes the value of a variable where the kernel shows it, /proc/self/environ. The C library's own
 * environment is not changed.
 *
 * @throws when the variable has no room for the value
 */
export function overwriteVariable(name: string, value: string): void {
  const variables = Buffer.concat([Buffer.alloc(1), readFileSync("/proc/self/environ")]);
  const found = variables.indexOf(`\0${name}=`);
  if (found < 0) throw new Error(`this process was started without ${name}`);
  const start = found + `${name}=`.length;
  const room = variables.indexOf(0, start + 1) - 1 - start;
  overwrite(ENV_START, start, padded(value, room));
}

/** Writes arguments where the kernel shows them, as far as there is room. */
export function overwriteArguments(words: readonly string[]): void {
  const shown = readFileSync("/proc/self/cmdline");
  const start = shown.indexOf("\0--spare\0") + 1;
  if (start === 0) return;
  const room = shown.length - start;
  overwrite(ARG_START, start, padded(words.join("\0").slice(0, room - 1), room));
}

function padded(text: string, room: number): Buffer {
  const bytes = Buffer.from(text);
  if (bytes.length > room) throw new Error(`${text} has ${bytes.length} bytes, the process image has room for ${room}`);
  return Buffer.concat([bytes, Buffer.alloc(room - bytes.length)]);
}

function overwrite(field: number, offset: number, bytes: Buffer): void {
  const stat = readFileSync("/proc/self/stat", "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const memory = openSync("/proc/self/mem", "r+");
  try {
    writeSync(memory, bytes, 0, bytes.length, Number(fields[field]) + offset);
  } finally {
    closeSync(memory);
  }
}
