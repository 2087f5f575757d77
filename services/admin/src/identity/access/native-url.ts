import type { Scope } from "@flyte-ts/auth";
import type { IdentityConfig } from "../config.js";
import { projectScope, allProjects } from "./scope.js";

/** Settings that tell where objects are and to which project and domain they belong. */
export type ObjectsConfig = Pick<IdentityConfig, "storage" | "dataProxy" | "domains">;

/** Longer folders are of no execution: project, domain and name are labels of Kubernetes. */
const MAX_FOLDER = 255;

/**
 * Returns the scopes that own an offloaded literal. Beside the objects of {@link ownerOfObject}
 * these are outputs below propeller's folder of an execution, which its viewers may read. Its name
 * joins project, domain and name with dashes; if that can be read in several ways, each counts.
 */
export function ownersOfOffloaded(url: string, config: ObjectsConfig): Scope[] {
  const prefix = `${config.storage.propellerPrefix}/`;
  const key = keyOf(url, config);
  if (key?.startsWith(prefix) !== true || isRawOutput(url, config)) return [ownerOfObject(url, config)];
  const end = key.indexOf("/", prefix.length);
  const folder = end === -1 ? "" : key.slice(prefix.length, end);
  const owners = folder.length > MAX_FOLDER ? [] : ownersOfFolder(folder, config.domains);
  return owners.length === 0 ? [allProjects] : owners;
}

function ownersOfFolder(folder: string, domains: ObjectsConfig["domains"]): Scope[] {
  const owners: Scope[] = [];
  for (let dash = folder.indexOf("-"); dash !== -1; dash = folder.indexOf("-", dash + 1)) {
    const rest = folder.slice(dash + 1);
    for (const { id: domain } of domains) {
      if (dash > 0 && rest.startsWith(`${domain}-`) && rest.length > domain.length + 1)
        owners.push(projectScope({ project: folder.slice(0, dash), domain }));
    }
  }
  return owners;
}

/**
 * Returns the scope that owns a blob: uploads and inputs of executions are stored below project and
 * domain. For any other or ambiguous URL it returns all projects, so reading needs a role for all
 * of them.
 */
export function ownerOfObject(url: string, config: Pick<IdentityConfig, "storage" | "dataProxy">): Scope {
  const { storage, dataProxy } = config;
  const key = keyOf(url, config);
  if (key === undefined) return allProjects;
  const metadata = `${storage.metadataPrefix}/`;
  if (key.startsWith(`${storage.propellerPrefix}/`) || isRawOutput(url, config) || key.startsWith(`${metadata}admin/`)) return allProjects;
  if (key.startsWith(metadata)) return below(key.slice(metadata.length));
  const uploads = dataProxy.upload.storagePrefix === "" ? "" : `${dataProxy.upload.storagePrefix}/`;
  return key.startsWith(uploads) ? below(key.slice(uploads.length)) : allProjects;
}

/** Returns the key of an object of the container; undefined for others and ambiguous ones. */
function keyOf(url: string, { storage }: Pick<IdentityConfig, "storage">): string | undefined {
  const container = `${storage.container.replace(/\/+$/, "")}/`;
  if (!url.startsWith(container)) return undefined;
  const key = url.slice(container.length);
  // Characters with which a store may read another key than the text shows.
  return /[%?#\\]|^\/|\/\/|(^|\/)\.{1,2}(\/|$)/.test(key) ? undefined : key;
}

function isRawOutput(url: string, { storage }: Pick<IdentityConfig, "storage">): boolean {
  return url.startsWith(`${storage.rawOutputPrefix.replace(/\/+$/, "")}/`);
}

function below(path: string): Scope {
  const [project = "", domain = "", ...rest] = path.split("/");
  return rest.join("") === "" ? allProjects : projectScope({ project, domain });
}
