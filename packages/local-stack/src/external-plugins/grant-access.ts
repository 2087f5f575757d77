import { mkdirSync, readdirSync, rmSync, type Stats, unwatchFile, watchFile } from "node:fs";
import { join } from "node:path";
import { replaceFile } from "@flyte-ts/host";
import { busServices, type ServiceManifest } from "@flyte-ts/service-manifest";
import { stringify } from "yaml";
import { type ExternalPlugins, externalPluginManifests, readExternalPlugins } from "./external-plugins.js";
import type { StackPaths } from "../state/paths.js";
import { stackCredentials } from "../state/credentials.js";
import type { StackBlobStore } from "../service/blob-store.js";
import { busUrlFor, writeBusConfig } from "../service/bus-config.js";

export interface ExternalPluginAccessOptions {
  readonly folders: StackPaths;
  /** Services of the stack. */
  readonly services: readonly ServiceManifest[];
  readonly blobs: StackBlobStore;
  readonly logLevel: string;
  readonly natsPort: number;
}

/** Interval of the checks for added and removed plugins, ms. */
const CHECK_INTERVAL_MS = 200;

/**
 * Gives each external plugin a user of the message bus and a file with its settings, and writes the
 * configuration of the bus for these users and those of the stack's services.
 *
 * @throws StackError when a plugin claims what belongs to a service
 */
export function grantExternalPlugins({ folders, services, blobs, logLevel, natsPort }: ExternalPluginAccessOptions): void {
  const plugins = readExternalPlugins(folders.externalPlugins);
  const manifests = [...services, ...externalPluginManifests(plugins, services)];
  const users = busServices(manifests).map(({ id }) => id);
  const passwords = stackCredentials(folders.credentials, users).bus;
  writeBusConfig(folders.busConfig, passwords, manifests);
  mkdirSync(folders.pluginSettings, { recursive: true, mode: 0o700 });
  const { bucket: _, managed: __, ...s3 } = blobs;
  for (const id of Object.keys(plugins)) {
    const url = busUrlFor(id, { url: `nats://127.0.0.1:${natsPort}`, passwords });
    const settings = { logLevel, nats: { url }, storage: { s3 }, ops: { host: "127.0.0.1", port: 0 } };
    replaceFile(externalPluginSettingsFile(folders, id), stringify(settings));
  }
  removeOtherSettings(folders, plugins);
}

/** File with the settings of an external plugin. */
export function externalPluginSettingsFile({ pluginSettings }: StackPaths, id: string): string {
  return join(pluginSettings, `${id}.yaml`);
}

/**
 * Grants access again whenever external plugins are added or removed, until it is closed.
 *
 * @param onGranted called afterwards: the server of the bus has to read its configuration
 * @param onRefused called with the reason when a plugin claims what belongs to a service
 */
export function watchExternalPlugins(
  options: ExternalPluginAccessOptions,
  { onGranted, onRefused }: { readonly onGranted: () => void; readonly onRefused: (why: string) => void },
): { close(): void } {
  const onChange = (current: Stats, previous: Stats) => {
    if (current.mtimeMs === previous.mtimeMs) return;
    try {
      grantExternalPlugins(options);
      onGranted();
    } catch (error) {
      onRefused((error as Error).message);
    }
  };
  // The file is replaced, and may not exist yet: a watch of the folder would see other files too.
  watchFile(options.folders.externalPlugins, { interval: CHECK_INTERVAL_MS, persistent: false }, onChange);
  return { close: () => unwatchFile(options.folders.externalPlugins, onChange) };
}

function removeOtherSettings(folders: StackPaths, plugins: ExternalPlugins): void {
  const wanted = new Set(Object.keys(plugins).map((id) => `${id}.yaml`));
  for (const name of readdirSync(folders.pluginSettings)) if (!wanted.has(name)) rmSync(join(folders.pluginSettings, name));
}
