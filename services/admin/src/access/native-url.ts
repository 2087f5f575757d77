import type { Scope } from "@flyte-ts/auth";
import type { AdminConfig } from "../config.js";
import { at, everywhere } from "./scope.js";

/**
 * Whose an object is: what was uploaded stands below project and domain, as do the inputs of executions. Everything else, where
 * the address does not tell it without doubt, is for those who may see all projects.
 */
export function ownerOfObject(url: string, { storage, dataProxy }: Pick<AdminConfig, "storage" | "dataProxy">): Scope {
  const container = `${storage.container.replace(/\/+$/, "")}/`;
  if (!url.startsWith(container)) return everywhere;
  const key = url.slice(container.length);
  // What a store may read as another key than it looks like.
  if (/[%?#\\]|^\/|\/\/|(^|\/)\.{1,2}(\/|$)/.test(key)) return everywhere;
  const metadata = `${storage.metadataPrefix}/`;
  const rawOutputs = `${storage.rawOutputPrefix.replace(/\/+$/, "")}/`;
  if (key.startsWith(`${storage.propellerPrefix}/`) || url.startsWith(rawOutputs) || key.startsWith(`${metadata}admin/`)) return everywhere;
  if (key.startsWith(metadata)) return below(key.slice(metadata.length));
  const uploads = dataProxy.upload.storagePrefix === "" ? "" : `${dataProxy.upload.storagePrefix}/`;
  return key.startsWith(uploads) ? below(key.slice(uploads.length)) : everywhere;
}

function below(path: string): Scope {
  const [project = "", domain = "", ...rest] = path.split("/");
  return rest.join("") === "" ? everywhere : at({ project, domain });
}
