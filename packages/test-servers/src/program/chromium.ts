import { delimiter, join } from "node:path";
import { isExecutable } from "@flyte-ts/host";

/** Arguments with which root runs it, and that make it draw without a graphics card. */
export const CHROMIUM_ARGS: string[] = ["--no-sandbox", "--disable-gpu"];

/**
 * Program of Chromium on this machine, or the one that `FLYTE_TS_CHROMIUM` names; undefined where
 * there is none.
 */
export const findChromium = (): string | undefined => findBrowser(["chromium", "google-chrome"]);

/**
 * Program of Chromium for pages whose pictures are not compared: the shell without a desktop where
 * it is installed, a quarter less processor time.
 */
export const findHeadlessChromium = (): string | undefined => findBrowser(["chromium-headless-shell"]) ?? findChromium();

/** The program that `FLYTE_TS_CHROMIUM` names comes first. */
function findBrowser(names: readonly string[]): string | undefined {
  const named = process.env.FLYTE_TS_CHROMIUM;
  const found = (process.env.PATH ?? "").split(delimiter).flatMap((folder) => names.map((name) => join(folder, name)));
  return [...(named === undefined ? [] : [named]), ...found].find(isExecutable);
}
