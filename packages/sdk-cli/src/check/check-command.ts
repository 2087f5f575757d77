import { makeBundle } from "../bundling/make-bundle.js";
import { loadProject, PROJECT_FLAGS } from "../project/project.js";
import { parseFlags } from "../parse-flags.js";
import { describeRequest } from "../register/register-project.js";

/** `flyte-ts check`: names all problems that registering would meet. Returns 1 for any. */
export async function checkCommand(argv: readonly string[], write: (text: string) => void): Promise<number> {
  const { values, positionals } = parseFlags(argv, PROJECT_FLAGS);
  if (positionals.length > 0) return 2;
  const project = await loadProject(process.cwd(), values);
  const bundle = await makeBundle(project, "local");
  const { host, manifest, listed, warnings, archive } = bundle;
  try {
    for (const warning of warnings) write(`${warning}\n`);
    const versions = Object.fromEntries(listed.references.map(({ key }) => [key, "check"]));
    const request = describeRequest({ project, host, manifest, version: "check", uri: "check", digest: archive.digest, versions });
    const problems = await host.call("check", request);
    for (const { entity, message } of problems) write(`${entity}: ${message}\n`);
    if (problems.length > 0) return 1;
    await host.call("describe", request);
    const externals = manifest.externals.map(({ name, version }) => `${name} ${version}`);
    write(`${listed.entities.length} entities are sound\n`);
    if (externals.length > 0) write(`packages outside of the bundle, from the ${manifest.externalsFrom}: ${externals.join(", ")}\n`);
    return 0;
  } finally {
    host.close();
  }
}
