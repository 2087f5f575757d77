// Which room may import which. Imports go downward only; a service never imports another.
import { readFileSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { parseSync } from "oxc-parser";
import { root } from "./prepare.mjs";

const infrastructure = ["config", "telemetry"];
const anyPackage = ["idl", "domain", "compiler", "workflow-crd", "task-plugin", "kubernetes", "postgres", "messaging", "blobstore", "rpc", "client", ...infrastructure];

/** Room → the workspace packages that it may import. */
const TABLE = {
  "packages/idl": [],
  "packages/domain": ["idl"],
  "packages/workflow-crd": ["idl", "domain"],
  "packages/task-plugin": ["idl", "domain", "messaging", "telemetry"],
  "packages/compiler": ["idl", "domain", "workflow-crd"],
  "packages/config": [],
  "packages/telemetry": ["config"],
  "packages/kubernetes": infrastructure,
  "packages/postgres": infrastructure,
  "packages/messaging": infrastructure,
  "packages/blobstore": infrastructure,
  "packages/rpc": [...infrastructure, "idl"],
  "packages/client": ["idl", "rpc", "compiler"],
  "packages/local-servers": ["telemetry"],
  "packages/cli": ["idl", "client", "config", "local-servers"],
  "packages/testing": anyPackage.concat("local-servers"),
  "services/admin": anyPackage,
  "services/propeller": anyPackage,
  "services/local-cluster": anyPackage,
  "services/local-blobstore": anyPackage,
  "services/plugins/pod": anyPackage,
  "services/plugins/echo": anyPackage,
  bench: ["idl", "client", "domain"],
  conformance: anyPackage.concat("testing", "local-servers"),
};

/** What only tests may import besides. */
const FOR_TESTS = ["testing", "local-servers"];

/** Third-party package → the one room that speaks to it. */
const OWNED = {
  pg: "packages/postgres",
  "@nats-io/jetstream": "packages/messaging",
  "@nats-io/transport-node": "packages/messaging",
  "@grpc/grpc-js": "packages/rpc",
  "@aws-sdk/client-s3": "packages/blobstore",
  "@aws-sdk/s3-request-presigner": "packages/blobstore",
  "@kubernetes/client-node": "packages/kubernetes",
  undici: "packages/kubernetes",
};

const problems = [];
for (const [room, allowed] of Object.entries(TABLE)) {
  const manifest = JSON.parse(readFileSync(join(root, room, "package.json"), "utf8"));
  for (const file of sources(join(root, room, "src"))) check({ file, room, allowed, manifest });
}
for (const problem of problems) console.error(problem);
process.exit(problems.length > 0 ? 1 : 0);

function* sources(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && entry.name !== "gen") yield* sources(path);
    else if (entry.name.endsWith(".ts")) yield path;
  }
}

function check({ file, room, allowed, manifest }) {
  const { module } = parseSync(file, readFileSync(file, "utf8"));
  const specifiers = [
    ...module.staticImports.map((statement) => statement.moduleRequest.value),
    ...module.staticExports.flatMap((statement) => statement.entries.map((entry) => entry.moduleRequest?.value)),
  ];
  // Test-only code: tests, and folders that stand beside the product for tests alone.
  const isTest = /\.test\.ts$|\/simulation\/|\/harness\//.test(file);
  for (const specifier of new Set(specifiers)) {
    if (specifier === undefined || specifier.startsWith("node:")) continue;
    const where = `${relative(root, file)} imports ${specifier}:`;
    if (specifier.startsWith(".")) {
      if (relative(join(root, room, "src"), join(file, "..", specifier)).startsWith("..")) problems.push(`${where} outside its own room`);
      continue;
    }
    const name = specifier.split("/").slice(0, specifier.startsWith("@") ? 2 : 1).join("/");
    const ours = /^@flyte-ts\/(.+)$/.exec(name)?.[1];
    if (ours !== undefined && ours !== manifest.name.slice("@flyte-ts/".length) && !allowed.includes(ours) && !(isTest && FOR_TESTS.includes(ours))) {
      problems.push(`${where} ${room} may import ${allowed.join(", ") || "nothing"}`);
    }
    if (OWNED[name] !== undefined && OWNED[name] !== room && !isTest) problems.push(`${where} only ${OWNED[name]} may`);
    const known = { ...manifest.dependencies, ...manifest.devDependencies };
    if (known[name] === undefined && name !== manifest.name && !["vitest", "fast-check", "pino"].includes(name)) problems.push(`${where} not among the dependencies of ${room}`);
  }
}
