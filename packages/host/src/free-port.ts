import { randomInt } from "node:crypto";
import { mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Lowest port of a range below the ephemeral and NodePort ranges, to avoid collisions. */
const FIRST_PORT = 15_000;
const LAST_PORT = 29_999;
/** Time for which a returned port is not returned again, ms: its server listens by then. */
const RESERVATION_MS = 120_000;

/**
 * Finds a TCP port of the loopback address without a listener that no other process of this user
 * was just given.
 */
export async function freePort(): Promise<number> {
  const folder = join(tmpdir(), `flyte-ts-ports-${process.getuid?.() ?? 0}`);
  mkdirSync(folder, { recursive: true });
  for (let tries = 0; tries < 1_000; tries++) {
    const port = randomInt(FIRST_PORT, LAST_PORT + 1);
    if (reserve(join(folder, String(port))) && !(await isPortInUse(port))) return port;
  }
  throw new Error(`no port between ${FIRST_PORT} and ${LAST_PORT} is free`);
}

function reserve(file: string): boolean {
  try {
    if (Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()) > RESERVATION_MS) rmSync(file, { force: true });
    writeFileSync(file, "", { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** True when a process listens on the port of the loopback address. */
export function isPortInUse(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(true));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(false)));
  });
}
