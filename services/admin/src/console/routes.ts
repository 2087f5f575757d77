import { existsSync } from "node:fs";
import type { HttpRoute } from "@flyte-ts/rpc";
import type { ConsoleConfig } from "./config.js";
import { type DeckDeps, deckRoute } from "./deck-route.js";
import { readConsoleFolder } from "./read-folder.js";
import { securityHeaders } from "./security-headers.js";
import { sendFile, sendText } from "./send-file.js";

const ROOT = "/console";
/** Folder of files whose names contain a hash of their content. */
const ASSETS = "assets/";
const UNCHANGING = "public, max-age=31536000, immutable";
/** The name stays and the content changes with an upgrade: browsers ask each time. */
const REVALIDATED = "no-cache";

/**
 * Serves the web console to everyone: its files contain no data, and it signs its user in. A path
 * without a file below `/console` is a page of the console, which `index.html` shows. Decks of
 * nodes are served to viewers of their executions. Returns no route without a folder, or when the
 * folder does not exist, as in an image without the console.
 *
 * @throws Error when the folder exists and cannot be read.
 */
export async function consoleRoutes(config: ConsoleConfig, deps: DeckDeps): Promise<HttpRoute[]> {
  const { logger } = deps;
  if (config.folder === "") {
    logger.info("no web console: console.folder is not set");
    return [];
  }
  if (!existsSync(config.folder)) {
    logger.warn({ folder: config.folder }, "no web console: console.folder does not exist");
    return [];
  }
  const files = await readConsoleFolder(config.folder);
  logger.info({ folder: config.folder, files: files.size }, "serving the web console at /console");
  const headers = securityHeaders(config);
  const handle: HttpRoute["handle"] = async (request, response, { path }) => {
    if (request.method !== "GET" && request.method !== "HEAD") return sendText(response, 405, headers);
    const name = path.slice(ROOT.length + 1);
    const isAsset = name.startsWith(ASSETS);
    // A missing asset belongs to another version of the console; a page in its place would be a
    // script that does not parse.
    const file = files.get(name) ?? (isAsset ? undefined : files.get("index.html"));
    if (file === undefined) return sendText(response, 404, headers);
    await sendFile(file, request, response, { ...headers, "Cache-Control": isAsset ? UNCHANGING : REVALIDATED });
  };
  return [deckRoute(config, deps), ...[ROOT, `${ROOT}/`].map((path) => ({ path, public: true, handle }))];
}
