import type { RegistryConfig } from "../config.js";
import { invalidArgument, namespaceOf } from "../../platform/index.js";

type Config = Pick<RegistryConfig, "storage" | "dataProxy" | "domains" | "namespaceTemplate">;

/** Words in paths of the REST interface at the position of a project. */
const ROUTE_WORDS: readonly string[] = ["org", "recover", "relaunch"];
/** Namespaces of Kubernetes itself. */
const NAMESPACES: readonly string[] = ["default", "kube-node-lease", "kube-public", "kube-system"];

/**
 * Rejects project ids with another meaning: a folder of the blob store with objects that are not
 * the project's, a word of the REST interface, or a namespace of Kubernetes. Existing projects are
 * not checked.
 *
 * @throws RpcError INVALID_ARGUMENT.
 */
export function checkNotReserved(id: string, config: Config): void {
  const reason = reservedFor(id, config);
  if (reason !== undefined) throw invalidArgument(`invalid project id [${id}]: it is reserved: ${reason}`);
}

function reservedFor(id: string, config: Config): string | undefined {
  if (folders(config).has(id)) return "it names a reserved folder of the blob store";
  if (ROUTE_WORDS.includes(id)) return "it names a route of the REST API";
  const taken = config.domains
    .map((domain) => namespaceOf(config.namespaceTemplate, id, domain.id))
    .find((each) => NAMESPACES.includes(each));
  return taken === undefined ? undefined : `its namespace would be ${taken}, which is reserved by Kubernetes`;
}

/**
 * Returns the folders that are siblings of project folders, among uploads and among admin's blobs
 * of executions.
 */
function folders({ storage, dataProxy }: Config): ReadonlySet<string> {
  const container = `${storage.container.replace(/\/+$/, "")}/`;
  const outputs = storage.rawOutputPrefix.startsWith(container) ? [storage.rawOutputPrefix.slice(container.length)] : [];
  const ours = [storage.metadataPrefix, `${storage.metadataPrefix}/admin`, storage.propellerPrefix, ...outputs];
  return new Set(
    [dataProxy.upload.storagePrefix, storage.metadataPrefix].flatMap((parent) => ours.flatMap((path) => nextBelow(parent, path))),
  );
}

/** Returns the first part of `path` below `parent`. */
function nextBelow(parent: string, path: string): string[] {
  const [above, whole] = [partsOf(parent), partsOf(path)];
  const next = whole[above.length];
  return next !== undefined && above.every((part, i) => part === whole[i]) ? [next] : [];
}

const partsOf = (path: string): string[] => path.split("/").filter((part) => part !== "");
