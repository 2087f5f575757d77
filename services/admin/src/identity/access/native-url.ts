import type { Scope } from "@flyte-ts/auth";
import type { IdentityConfig } from "../config.js";
import { projectScope, allProjects } from "./scope.js";

/**
 * Returns the scope that owns a blob: uploads and inputs of executions are stored below project and
 * domain. For any other or ambiguous URL it returns all projects, so reading needs a role for all
 * of them.
 */
export function ownerOfObject(url: string, { storage, dataProxy }: Pick<IdentityConfig, "storage" | "dataProxy">): Scope {
  const container = `${storage.container.replace(/\/+$/, "")}/`;
  if (!url.startsWith(container)) return allProjects;
  const key = url.slice(container.length);
  // Characters with which a store may read another key than the text shows.
  if (/[%?#\\]|^\/|\/\/|(^|\/)\.{1,2}(\/|$)/.test(key)) return allProjects;
  const metadata = `${storage.metadataPrefix}/`;
  const rawOutputs = `${storage.rawOutputPrefix.replace(/\/+$/, "")}/`;
  if (key.startsWith(`${storage.propellerPrefix}/`) || url.startsWith(rawOutputs) || key.startsWith(`${metadata}admin/`))
    return allProjects;
  if (key.startsWith(metadata)) return below(key.slice(metadata.length));
  const uploads = dataProxy.upload.storagePrefix === "" ? "" : `${dataProxy.upload.storagePrefix}/`;
  return key.startsWith(uploads) ? below(key.slice(uploads.length)) : allProjects;
}

function below(path: string): Scope {
  const [project = "", domain = "", ...rest] = path.split("/");
  return rest.join("") === "" ? allProjects : projectScope({ project, domain });
}
