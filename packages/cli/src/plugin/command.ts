import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  createStackDirs,
  externalPluginManifests,
  externalPluginSettingsFile,
  isStackRunning,
  readExternalPlugins,
  repositoryRoot,
  stackPaths,
  type StackPaths,
  stackServices,
  writeExternalPlugins,
} from "@flyte-ts/local-stack";

/** Time for a running stack to grant access to an added plugin, ms. */
const GRANT_TIMEOUT_MS = 20_000;
const CHECK_INTERVAL_MS = 50;

/**
 * `flyte-ts plugin add|remove|list [--data DIR] …`: manages the plugin services that run beside a
 * local stack. Resolves to the exit status; 2 for invalid arguments.
 *
 * @throws StackError when an id or task type is malformed or belongs to another service; Error when
 *   the stack refuses the plugin
 */
export async function pluginCommand(argv: readonly string[], write: (text: string) => void): Promise<number> {
  const [action, ...rest] = argv;
  const index = rest.indexOf("--data");
  const data = index < 0 ? join(repositoryRoot, ".flyte-ts") : rest[index + 1];
  const [id, ...taskTypes] = index < 0 ? rest : rest.toSpliced(index, 2);
  if (data === undefined) return 2;
  const folders = stackPaths(data);
  if (action === "list" && id === undefined) return list(folders, write);
  if (action === "remove" && id !== undefined && taskTypes.length === 0) return remove(folders, { id, write });
  if (action !== "add" || id === undefined || taskTypes.length === 0) return 2;
  createStackDirs(folders);
  const plugins = { ...readExternalPlugins(folders.externalPlugins), [id]: taskTypes };
  const services = await stackServices({ services: [], pluginFolders: [] });
  externalPluginManifests(
    plugins,
    services.map(({ manifest }) => manifest),
  );
  const settings = externalPluginSettingsFile(folders, id);
  rmSync(settings, { force: true });
  writeExternalPlugins(folders.externalPlugins, plugins);
  if (isStackRunning(folders)) await waitForFile(settings);
  write(`settings of ${id}: ${settings}${existsSync(settings) ? "" : " (the next start of the stack writes them)"}\n`);
  return 0;
}

function list({ externalPlugins }: StackPaths, write: (text: string) => void): number {
  const plugins = Object.entries(readExternalPlugins(externalPlugins));
  if (plugins.length === 0) write("no plugin services were added\n");
  for (const [id, taskTypes] of plugins) write(`${id}: ${taskTypes.join(", ")}\n`);
  return 0;
}

function remove({ externalPlugins }: StackPaths, { id, write }: { readonly id: string; readonly write: (text: string) => void }): number {
  const { [id]: removed, ...others } = readExternalPlugins(externalPlugins);
  if (removed === undefined) throw new Error(`${id} was not added; flyte-ts plugin list shows the added ones`);
  writeExternalPlugins(externalPlugins, others);
  write(`${id} may no longer use the message bus\n`);
  return 0;
}

async function waitForFile(file: string): Promise<void> {
  for (let waitedMs = 0; !existsSync(file); waitedMs += CHECK_INTERVAL_MS) {
    if (waitedMs > GRANT_TIMEOUT_MS) throw new Error("the running stack did not accept the plugin; its output says why");
    await sleep(CHECK_INTERVAL_MS);
  }
}
