import type { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import type { ServiceImplementation } from "@flyte-ts/rpc";

export interface Build {
  readonly version: string;
  /** Revision of the source; "unknown" outside of a release. */
  readonly revision: string;
  readonly time: string;
}

/** The Flyte release whose interfaces this server has; clients choose by it what they may ask. */
export const INTERFACE_VERSION = "v1.16.8";

/** Answers which Flyte release this server is like, and in `Build` which release of its own it is. */
export function versionRpcs({ version, revision, time }: Build): ServiceImplementation<typeof AdminService> {
  const controlPlaneVersion = { Version: INTERFACE_VERSION, Build: `flyte-ts ${version} (${revision})`, BuildTime: time };
  return { getVersion: () => ({ controlPlaneVersion }) };
}
