import { Code, RpcError } from "@flyte-ts/rpc";

/** Execution for which a service makes a call. */
export interface NamedExecution {
  readonly project: string;
  readonly domain: string;
  readonly name: string;
}

const KEY = "flyte-ts-execution";

/**
 * Metadata of a call that a service makes for an execution: it needs the permissions of the
 * execution's launcher, beside its own. Servers that do not know the metadata ignore it.
 */
export function onBehalfOf({ project, domain, name }: NamedExecution): Record<string, string> {
  return { [KEY]: [project, domain, name].map(encodeURIComponent).join("/") };
}

/** Reads the metadata of {@link onBehalfOf}. @throws RpcError INVALID_ARGUMENT. */
export function executionFromMetadata(metadata: { get(name: string): string | undefined }): NamedExecution | undefined {
  const text = metadata.get(KEY);
  if (text === undefined) return undefined;
  const [project, domain, name, ...more] = text.split("/").map(decoded);
  if (!project || !domain || !name || more.length > 0)
    throw new RpcError(
      Code.INVALID_ARGUMENT,
      `invalid value for metadata ${KEY}: it must be PROJECT/DOMAIN/NAME, each encoded as in a URL`,
    );
  return { project, domain, name };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}
