import type { Identifier, ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { EntityAddress } from "../entity/definition.js";

/** Where the code of a registration is found at run time. */
export type CodeLocation =
  | { readonly bundle: { readonly uri: string; readonly digest: string } }
  /** A module within the image. */
  | { readonly entry: string };

/** The place of a task within the bundle, as its container receives it. */
export interface TaskLocation {
  readonly module: string;
  readonly exportName: string;
}

/** The settings of a registration that all of its templates share. */
export interface Registration {
  readonly project: string;
  readonly domain: string;
  readonly version: string;
  /** Image of tasks without one of their own. */
  readonly image: string;
  readonly code: CodeLocation;
  /** Version of the SDK, for the runtime metadata. */
  readonly sdkVersion: string;
  /** Variables of every container, before those of the task. */
  readonly env?: Readonly<Record<string, string>>;
  /** Further variables of dynamic and eager tasks. */
  readonly callerEnv?: Readonly<Record<string, string>>;
  /** Returns the cache version of a task with `cache: true`. */
  readonly cacheVersion?: (taskName: string) => string | undefined;
  /** Returns the version of a reference without one; it was looked up before. */
  readonly resolve?: (address: EntityAddress) => string | undefined;
  /** Returns the location of a source file for the template's config; default: as recorded. */
  readonly sourcePath?: (file: string) => string;
}

/** A registration for graphs that run or are compiled in this process. */
export const LOCAL_REGISTRATION: Registration = {
  project: "local",
  domain: "local",
  version: "local",
  image: "local",
  code: { entry: "local" },
  sdkVersion: "0",
  cacheVersion: () => "local",
  resolve: () => "local",
};

/** Builds the identifier of an entity of this registration. */
export function identify(registration: Registration, resourceType: ResourceType, name: string): Identifier {
  const { project, domain, version } = registration;
  return { $typeName: "flyteidl.core.Identifier", resourceType, project, domain, name, version, org: "" };
}
