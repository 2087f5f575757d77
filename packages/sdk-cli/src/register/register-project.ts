import { createHash } from "node:crypto";
import type { FlyteClient } from "@flyte-ts/client";
import { pathToFileURL } from "node:url";
import type { DescribeRequest } from "@flyte-ts/runtime/describe";
import type { LoadedBundle } from "../bundling/make-bundle.js";
import type { Project } from "../project/project.js";
import { createEntities, type CreatedEntity } from "./create-entities.js";
import { resolveReferences } from "./references.js";
import { isRegistered } from "./find-registration.js";
import { uploadBundle } from "./upload.js";

/** Length of the version that a registration derives, characters. */
const VERSION_LENGTH = 22;

export interface Registered {
  readonly version: string;
  /** Bytes sent to the blob store. */
  readonly sentBytes: number;
  /** Undefined: the server had everything. */
  readonly created: readonly CreatedEntity[] | undefined;
}

export interface RegisterOptions {
  /** Default: a hash of code, image and references. */
  readonly version?: string | undefined;
  readonly activate: boolean;
}

/** Registers a bundle and its entities, unless the server has them with a derived version. */
export async function registerProject(
  client: FlyteClient,
  { project, bundle }: { readonly project: Project; readonly bundle: LoadedBundle },
  options: RegisterOptions,
): Promise<Registered> {
  const { host, listed, manifest, archive } = bundle;
  const versions = await resolveReferences(client, project, listed.references);
  const version = options.version ?? versionOf(project, archive.digest, versions);
  // The content of a version that the user chose is unknown: admin refuses entities that differ.
  const mayBeDone = options.version === undefined && !options.activate;
  if (mayBeDone && (await isRegistered(client, project, { entities: listed.entities, version })))
    return { version, sentBytes: 0, created: undefined };
  const uri = await uploadBundle(client, project, archive);
  const description = await host.call(
    "describe",
    describeRequest({ project, host, manifest, version, uri, digest: archive.digest, versions }),
  );
  const created = await createEntities(client, { project, version, description, activate: options.activate });
  return { version, sentBytes: archive.bytes.length, created };
}

export interface DescribedBundle extends Pick<LoadedBundle, "host" | "manifest"> {
  readonly project: Project;
  readonly version: string;
  readonly uri: string;
  readonly digest: string;
  readonly versions: Readonly<Record<string, string>>;
}

export function describeRequest({ project, host, manifest, version, uri, digest, versions }: DescribedBundle): DescribeRequest {
  return {
    project: project.project,
    domain: project.domain,
    version,
    image: project.image,
    code: { kind: "bundle", uri, digest },
    manifest,
    sourceRoot: pathToFileURL(`${host.folder}/`).pathname,
    versions,
  };
}

/** Derives a version from all that decides what a registration contains. */
export function versionOf({ image, project, domain }: Project, digest: string, versions: Readonly<Record<string, string>>): string {
  const references = Object.entries(versions).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const text = JSON.stringify([digest, image, project, domain, references]);
  return createHash("sha256").update(text).digest("base64url").replaceAll(/[-_]/g, "0").slice(0, VERSION_LENGTH);
}
