import type { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import type { ServiceImplementation } from "@flyte-ts/rpc";

export interface Build {
  readonly version: string;
  /** Source revision; "unknown" outside of a release. */
  readonly revision: string;
  readonly time: string;
}

/** Flyte release whose API this server implements; clients derive the supported calls from it. */
export const INTERFACE_VERSION = "v1.16.8";

/** Returns the Flyte release that this server implements, and in `Build` its own release. */
export function versionRpcs({ version, revision, time }: Build): ServiceImplementation<typeof AdminService> {
  const controlPlaneVersion = { Version: INTERFACE_VERSION, Build: `flyte-ts ${version} (${revision})`, BuildTime: time };
  return { getVersion: () => ({ controlPlaneVersion }) };
}
