import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fromBinary, create, toBinary } from "@bufbuild/protobuf";
import { LaunchPlanSchema, LaunchPlanSpecSchema } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { makeBundle } from "../bundling/make-bundle.js";
import { loadProject, PROJECT_FLAGS } from "../project/project.js";
import { parseFlags } from "../parse-flags.js";
import { UsageError } from "../usage-error.js";
import { describeRequest, versionOf } from "./register-project.js";

const FLAGS = { ...PROJECT_FLAGS, out: { type: "string" }, version: { type: "string" }, bundleUri: { type: "string" } } as const;

/** Suffix of the files of each kind, by which flytectl knows their messages. */
const SUFFIXES = { task: "1", workflow: "2", launchPlan: "3" } as const;

/** `flyte-ts package`: writes the bundle and the messages that `flytectl register files` takes. */
export async function packageCommand(argv: readonly string[], write: (text: string) => void): Promise<number> {
  const { values, positionals } = parseFlags(argv, FLAGS);
  if (values.out === undefined || positionals.length > 0) return 2;
  const folder = resolve(values.out);
  mkdirSync(folder, { recursive: true });
  if (readdirSync(folder).length > 0) throw new UsageError(`--out: ${folder} is not empty`);
  const project = await loadProject(process.cwd(), values);
  const bundle = await makeBundle(project);
  const { host, manifest, archive } = bundle;
  try {
    const file = `flyte-ts-${archive.digest}.tar.gz`;
    const uri = values.bundleUri ?? join(folder, file);
    const version = values.version ?? versionOf(project, archive.digest, {});
    const described = await host.call(
      "describe",
      describeRequest({ project, host, manifest, version, uri, digest: archive.digest, versions: {} }),
    );
    writeFileSync(join(folder, file), archive.bytes);
    const count = { value: 0 };
    const save = (kind: keyof typeof SUFFIXES, bytes: Uint8Array) =>
      writeFileSync(join(folder, `${String(count.value++).padStart(4, "0")}_${SUFFIXES[kind]}.pb`), bytes);
    for (const task of described.tasks) save("task", Buffer.from(task, "base64"));
    for (const workflow of described.workflows) save("workflow", Buffer.from(workflow, "base64"));
    for (const { name, spec } of described.launchPlans) {
      const id = { resourceType: ResourceType.LAUNCH_PLAN, project: project.project, domain: project.domain, name, version };
      save(
        "launchPlan",
        toBinary(LaunchPlanSchema, create(LaunchPlanSchema, { id, spec: fromBinary(LaunchPlanSpecSchema, Buffer.from(spec, "base64")) })),
      );
    }
    write(`${count.value} messages and ${file} are in ${folder}; upload the bundle to ${uri}\n`);
    return 0;
  } finally {
    host.close();
  }
}
