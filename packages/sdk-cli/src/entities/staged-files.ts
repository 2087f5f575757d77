import { join } from "node:path";
import type { FileStore } from "@flyte-ts/sdk/runtime";

/** Folder of the blob store, and the local one with the files that belong there. */
export interface Staging {
  /** Address of the folder, with a slash at its end. */
  readonly base: string;
  readonly folder: string;
}

/** Files that have their addresses in the blob store already, and are kept in a local folder. */
export function stagedFiles(local: FileStore, { base, folder }: Staging): FileStore {
  let count = 0;
  return {
    allocate: (name = "file") => `${base}${++count}/${name}`,
    write: (uri, content) => local.write(join(folder, uri.slice(base.length)), content),
    read: (uri) => local.read(uri),
    list: (uri) => local.list(uri),
    scratch: (name) => local.scratch(name),
  };
}
