import type { LoadedBundle } from "../bundling/make-bundle.js";
import type { Project } from "../project/project.js";
import { describeRequest } from "../register/register-project.js";

/** Lists what registering the entities of a bundle would meet, a line for each problem. */
export async function checkBundle(project: Project, bundle: LoadedBundle): Promise<readonly string[]> {
  const { host, manifest, listed, archive } = bundle;
  const versions = Object.fromEntries(listed.references.map(({ key }) => [key, "check"]));
  const request = describeRequest({ project, host, manifest, version: "check", uri: "check", digest: archive.digest, versions });
  const problems = await host.call("check", request);
  if (problems.length === 0) await host.call("describe", request);
  return problems.map(({ entity, message }) => `${entity}: ${message}`);
}
