import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { tmpdir } from "node:os";

const TIMEOUT_MS = 120_000;
/** Flags that stop Chromium from contacting its vendor's servers and let root run it. */
const QUIET_FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/**
 * Opens a page in a new profile without verifying its certificate. Resolves to the document that
 * the browser shows.
 */
export async function openInChromium(program: string, url: string): Promise<string> {
  const profile = mkdtempSync(join(tmpdir(), "flyte-ts-chromium-"));
  const words = [...QUIET_FLAGS, `--user-data-dir=${profile}`, "--ignore-certificate-errors", "--dump-dom", url];
  try {
    return await new Promise((resolve, reject) => {
      execFile(program, words, { timeout: TIMEOUT_MS, maxBuffer: 16 << 20 }, (error, stdout) =>
        error === null ? resolve(stdout) : reject(error),
      );
    });
  } finally {
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}
