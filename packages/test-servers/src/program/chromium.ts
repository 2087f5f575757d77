import { delimiter, join } from "node:path";
import { isExecutable } from "@flyte-ts/host";

/** Arguments with which root runs it, and that make it draw without a graphics card. */
export const CHROMIUM_ARGS: string[] = ["--no-sandbox", "--disable-gpu"];

/**
 * Program of Chromium on this machine, or the one that `FLYTE_TS_CHROMIUM` names; undefined where
 * there is none.
 */
export function findChromium(): string | undefined {
  const named = process.env.FLYTE_TS_CHROMIUM;
  const found = (process.env.PATH ?? "")
    .split(delimiter)
    .flatMap((folder) => ["chromium", "google-chrome"].map((name) => join(folder, name)));
  return [...(named === undefined ? [] : [named]), ...found].find(isExecutable);
}
