import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { fromBinary } from "@bufbuild/protobuf";
import { TaskSpecSchema } from "@flyte-ts/idl/flyteidl/admin/task_pb";
import { dynamic, eager, reference, t, task } from "@flyte-ts/sdk";
import { collectEntities } from "@flyte-ts/sdk/runtime";
import { expect, onTestFinished, test } from "vitest";
import { describeBundle, unresolvedReferences } from "../describe/describe.js";
import { type BundleManifest, MANIFEST_FILE } from "../manifest.js";
import type { RunRequest } from "../run-request.js";
import { referenceKey, registrationOf } from "./registration.js";

const address = { kind: "task", name: "far" } as const;
const far = reference(address, { inputs: {}, outputs: t.int });
const manifest: BundleManifest = { format: 1, sdkVersion: "1", tasks: [], externals: [], externalsFrom: "image" };
const collect = (exports: object) => collectEntities([{ module: "m", prefix: "m", exports: { ...exports } }]);
const plain = task({}, () => undefined);
const build = dynamic({ outputs: t.int }, () => far());
const start = eager({ outputs: t.int }, () => far.run());

/** Returns the variables of each task's container. */
function variablesOf(versions: Readonly<Record<string, string>>): Readonly<Record<string, NodeJS.Dict<string>>> {
  const code = { kind: "bundle" as const, uri: "s3://b/b.tar.gz", digest: "ab" };
  const request = { project: "p", domain: "d", version: "v", image: "i", code, manifest, sourceRoot: "/", versions };
  const specs = describeBundle(collect({ plain, build, start }), request).tasks.map((spec) =>
    fromBinary(TaskSpecSchema, Buffer.from(spec, "base64")),
  );
  return Object.fromEntries(
    specs.map(({ template }) => {
      const env = template?.target.case === "container" ? template.target.value.env : [];
      return [template?.id?.name ?? "", Object.fromEntries(env.map(({ key, value }) => [key, value]))];
    }),
  );
}

test("references without a version are looked up for the functions of dynamic and eager tasks", () => {
  const reported = { ...address, optional: true };
  expect(unresolvedReferences(collect({ build }))).toEqual([reported]);
  expect(unresolvedReferences(collect({ start }))).toEqual([reported]);
  expect(unresolvedReferences(collect({ plain }))).toEqual([]);
});

test("dynamic and eager tasks know the versions of references that the registration has found", () => {
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-registration-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, MANIFEST_FILE), JSON.stringify(manifest));
  const variables = variablesOf({ [referenceKey(address)]: "v9" });
  expect(Object.keys(variables["m.plain"] ?? {})).toEqual(["FLYTE_INTERNAL_IMAGE"]);
  const registrations = ["m.build", "m.start"].map((name) => {
    const request = { environment: variables[name], code: { kind: "bundle", uri: "u", digest: "ab" } } as unknown as RunRequest;
    return registrationOf(request, `${pathToFileURL(folder).href}/`);
  });
  expect(registrations.map(({ resolve }) => resolve?.(address))).toEqual(["v9", "v9"]);
  expect(registrations.map(({ callerEnv }) => callerEnv)).toEqual(
    ["m.build", "m.start"].map((name) => ({ FLYTE_TS_REFERENCES: variables[name]?.["FLYTE_TS_REFERENCES"] })),
  );
});

test("more references than a container's variable takes are refused", () => {
  const versions = Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`${"x".repeat(60)}${i}`, "v9"]));
  expect(() => variablesOf(versions)).toThrow("2000 references without a version are more than a dynamic or eager task takes");
});
