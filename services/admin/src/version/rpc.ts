import type { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import type { ServiceImplementation } from "@flyte-ts/rpc";

export interface Build {
  readonly version: string;
  /** Revision of the source; "unknown" outside of a release. */
  readonly revision: string;
  readonly time: string;
}

/** What this server is. */
export function versionRpcs({ version, revision, time }: Build): ServiceImplementation<typeof AdminService> {
  return { getVersion: () => ({ controlPlaneVersion: { Version: version, Build: revision, BuildTime: time } }) };
}
