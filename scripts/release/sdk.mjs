// Published form of the TypeScript SDK: @flyte-ts/sdk, @flyte-ts/runtime and @flyte-ts/cli, with
// one version. Internal packages are part of them.
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "../prepare.mjs";
import { thirdPartyLicenses } from "./third-party-licenses.mjs";
import { copyModules, internalSpecifier } from "./copy-modules.mjs";

const packages = join(root, "packages");
/** Internal packages whose modules @flyte-ts/sdk holds, also for @flyte-ts/runtime. */
const HELD_BY_SDK = /^@flyte-ts\/(client|compiler|domain|idl)(\/|$)/;
const SDK = /^@flyte-ts\/sdk(\/|$)/;
/** File with the licences of bundled packages. */
const LICENSES = "THIRD-PARTY-LICENSES";
/** Packages of stores that an image adds when its addresses name them. */
const CLOUD_STORES = ["@azure/identity", "@azure/storage-blob", "@google-cloud/storage"];

/** Published packages, those that others depend on first: folder and how it is copied. */
export const SDK_PACKAGES = { sdk: copySdk, "sdk-runtime": copyRuntime, "sdk-cli": copyCli };

function copySdk(to, version) {
  const { dependencies, exports, devDependencies: _, scripts: __, private: ___, ...manifest } = manifestOf("sdk");
  copyModules({ packages, name: "sdk", to, modules: [...modulesOfEntries(exports), ...modulesOfRuntime()] });
  const internal = { "./internal/*": { types: "./dist/internal/*.d.ts", default: "./dist/internal/*.js" } };
  writeManifest(to, {
    ...manifest,
    version,
    exports: { ...withoutSources(exports), ...internal },
    files: ["dist", "NOTICE"],
    dependencies: withoutInternal(dependencies),
  });
}

/** Lists the modules of internal packages that @flyte-ts/runtime takes from the SDK. */
function modulesOfRuntime() {
  const folder = join(packages, "sdk-runtime", "dist");
  const files = readdirSync(folder, { recursive: true }).filter((file) => file.endsWith(".js"));
  const specifiers = files.flatMap((file) =>
    [...readFileSync(join(folder, file), "utf8").matchAll(/"(@flyte-ts\/[^"]+)"/g)].map(([, specifier]) => specifier),
  );
  return [...new Set(specifiers)].filter((specifier) => HELD_BY_SDK.test(specifier)).toSorted();
}

/** An image needs the program alone; the command bundles the modules with the SDK of a project. */
function copyRuntime(to, version) {
  const { dependencies, exports, scripts: _, private: __, ...manifest } = manifestOf("sdk-runtime");
  const { ".": ___, ...entries } = exports;
  const kept = (specifier) =>
    SDK.test(specifier) ? specifier : HELD_BY_SDK.test(specifier) ? internalSpecifier(packages, "sdk", specifier) : undefined;
  copyModules({ packages, name: "sdk-runtime", to, modules: modulesOfEntries(entries), kept });
  cpSync(join(packages, "sdk-runtime", "bin"), join(to, "bin"), { recursive: true });
  copyBundle("sdk-runtime", to);
  const stores = Object.entries(manifestOf("blobstore").dependencies).filter(([name]) => CLOUD_STORES.includes(name));
  const peers = { "@flyte-ts/sdk": version, "@bufbuild/protobuf": dependencies["@bufbuild/protobuf"], ...Object.fromEntries(stores) };
  writeManifest(to, {
    ...manifest,
    version,
    exports: withoutSources(entries),
    files: ["dist", "bin", "bundle", "NOTICE", LICENSES],
    peerDependencies: peers,
    peerDependenciesMeta: Object.fromEntries(Object.keys(peers).map((name) => [name, { optional: true }])),
  });
}

function copyCli(to, version) {
  const { dependencies, scripts: _, private: __, devDependencies: ___, ...manifest } = manifestOf("sdk-cli");
  // The command's own copy of the SDK runs local workflows, and loads these from the project.
  const { peerDependencies, peerDependenciesMeta } = manifestOf("sdk");
  for (const path of ["flyte-ts.mjs", "template"]) cpSync(join(packages, "sdk-cli", path), join(to, path), { recursive: true });
  copyBundle("sdk-cli", to);
  writeManifest(to, {
    ...manifest,
    version,
    files: ["flyte-ts.mjs", "bundle", "template", "NOTICE", LICENSES],
    dependencies: { ...withoutInternal(dependencies), "@flyte-ts/runtime": version, "@flyte-ts/sdk": version },
    peerDependencies,
    peerDependenciesMeta,
  });
}

/** Copies a bundle with its folders, without source maps. */
function copyBundle(name, to) {
  const bundle = join(packages, name, "bundle");
  writeFileSync(join(to, LICENSES), `${thirdPartyLicenses(bundle)}\n`);
  for (const file of readdirSync(bundle, { recursive: true })) {
    if (!file.endsWith(".js")) continue;
    const text = readFileSync(join(bundle, file), "utf8");
    mkdirSync(dirname(join(to, "bundle", file)), { recursive: true });
    writeFileSync(join(to, "bundle", file), text.replace(/^\/\/# sourceMappingURL=.*$/gm, ""));
  }
}

const manifestOf = (name) => JSON.parse(readFileSync(join(packages, name, "package.json"), "utf8"));

/** Lists the modules of a package's exports: paths in `dist/` without ending. */
const modulesOfEntries = (exports) => Object.values(exports).map(({ default: module }) => module.replace(/^\.\/dist\/(.*)\.js$/, "$1"));

function withoutSources(exports) {
  return Object.fromEntries(Object.entries(exports).map(([subPath, { types, default: module }]) => [subPath, { types, default: module }]));
}

function withoutInternal(dependencies) {
  return Object.fromEntries(Object.entries(dependencies).filter(([name]) => !name.startsWith("@flyte-ts/")));
}

function writeManifest(to, manifest) {
  writeFileSync(join(to, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}
