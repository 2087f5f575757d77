import type { DescField, DescMessage, DescMethod, Message } from "@bufbuild/protobuf";
import { create, ScalarType } from "@bufbuild/protobuf";
import { type LiteralOffloadedMetadata, LiteralOffloadedMetadataSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { reflect } from "@bufbuild/protobuf/reflect";
import { codeName, createClient, RpcError } from "@flyte-ts/rpc";
import { type RequestScope, anyRequest, type TokenIssuer, tokenIssuer } from "@flyte-ts/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { adminConfigSchema } from "../../config.js";
import { type AdminDatabase, adminDatabase } from "../../database.fixture.js";
import { type ServedAdmin, serveAdmin } from "../../served-admin.fixture.js";

// A caller with every role in one project sends requests about that project that name another
// project somewhere inside: at each place in each message of the API where a project and a domain
// can be, over gRPC.
const OWN: RequestScope = { project: "flytesnacks", domain: "development" };
const OTHER: RequestScope = { project: "other", domain: "development" };

let database: AdminDatabase;
let idp: TokenIssuer;
let admin: ServedAdmin;
beforeAll(async () => {
  [database, idp] = await Promise.all([adminDatabase(), tokenIssuer()]);
  const roles = (["admin", "engine"] as const).map((role) => ({ subject: "ann", role, ...OWN }));
  const auth = { mode: "required", publicUrl: "https://flyte.test", providers: [{ issuer: idp.issuer }], roles };
  admin = await serveAdmin({ db: database.db, config: adminConfigSchema.parse({ auth, projects: [OWN.project, OTHER.project] }) });
});
afterAll(async () => {
  await admin.stop();
  await Promise.all([database.stop(), idp.stop()]);
});

type Path = readonly DescField[];

const namesScope = ({ field }: DescMessage) => field.project?.scalar === ScalarType.STRING && field.domain?.scalar === ScalarType.STRING;

const isOffloaded = ({ typeName }: DescMessage) => typeName === LiteralOffloadedMetadataSchema.typeName;

/** Yields each path from a message to a nested one of a kind; enters a type once per path. */
function* pathsTo(
  isWanted: (schema: DescMessage) => boolean,
  schema: DescMessage,
  above: readonly DescMessage[] = [],
  path: Path = [],
): Generator<Path> {
  if (path.length > 0 && isWanted(schema)) yield path;
  for (const field of schema.fields) {
    if (field.message === undefined || field.message === schema || above.includes(field.message)) continue;
    yield* pathsTo(isWanted, field.message, [...above, schema], [...path, field]);
  }
}

/**
 * Sets the other project, or an object of it, at the end of the path, and creates missing messages
 * on the way.
 */
function name(schema: DescMessage, message: Message, [field, ...rest]: Path): void {
  const target = reflect(schema, message);
  if (field === undefined || field.message === undefined) {
    if (isOffloaded(schema)) (message as LiteralOffloadedMetadata).uri = "s3://my-s3-bucket/other/development/h/o0.pb";
    for (const each of isOffloaded(schema) ? [] : schema.fields) {
      if (each.localName === "project") target.set(each, OTHER.project);
      else if (each.localName === "domain") target.set(each, OTHER.domain);
      else if (each.fieldKind === "scalar" && each.scalar === ScalarType.STRING && each.oneof === undefined && each.localName !== "org") {
        target.set(each, "n0");
      }
    }
    return;
  }
  const there = field.fieldKind === "message" && target.isSet(field) ? (target.get(field) as { message: Message }).message : undefined;
  const inner = there ?? create(field.message);
  name(field.message, inner, rest);
  const value = reflect(field.message, inner);
  switch (field.fieldKind) {
    case "list":
      target.get(field).add(value);
      break;
    case "map":
      target.get(field).set("k", value);
      break;
    case "message":
      target.set(field, value);
  }
}

async function call(method: DescMethod, request: Message): Promise<string> {
  const client = createClient({ channel: admin.channel, service: method.parent }) as unknown as Record<
    string,
    (request: unknown, options: object) => Promise<unknown>
  >;
  const metadata = { authorization: `Bearer ${idp.token({ sub: "ann" })}` };
  try {
    await client[method.localName]?.(request, { metadata });
    return "OK";
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return `${codeName(error.code)} ${error.message}`;
  }
}

/** Permitted paths, with the reason why they reveal and change nothing of the other project. */
const HARMLESS: readonly (readonly [RegExp, string])[] = [
  [/^(Get|List)\w+ \S*\.?task_id$/, "it is the execution that is asked for; the task is a part of the attempt's name"],
  [/^CreateTaskEvent event\.task_id$/, "a workflow may run another project's tasks"],
  [/^CreateNodeEvent event\.(target_entity|parent_task_metadata\.id\.task_id)$/, "the same"],
  [/^CreateNodeEvent event\.task_node_metadata\.dynamic_workflow\./, "what is made at run time, too; it is stored as reported"],
  [/^CreateNodeEvent event\.task_node_metadata\.catalog_key\./, "whose outputs were taken over is shown as reported, and not looked up"],
];

/** The same for objects of the other project. */
const HARMLESS_OBJECTS: readonly (readonly [RegExp, string])[] = [
  [/^Create(Workflow|Node|Task)Event event\./, "an engine reports what tasks have put out, which may be cached outputs of other projects"],
];

test.each([
  ["references", namesScope, HARMLESS, 100],
  ["offloaded values", isOffloaded, HARMLESS_OBJECTS, 10],
])("no call reaches another project through %s in its request", async (_, isWanted, permitted, atLeast) => {
  const through: string[] = [];
  const harmless = new Set<RegExp>();
  let tried = 0;
  for (const method of admin.server.services.flatMap(({ methods }) => methods)) {
    if (method.methodKind !== "unary") continue;
    for (const path of pathsTo(isWanted, method.input)) {
      const what = `${method.name} ${path.map((field) => field.name).join(".")}`;
      const request = anyRequest(method.input, OWN);
      name(method.input, request, path);
      tried++;
      const answer = await call(method, request);
      if (answer.startsWith("PERMISSION_DENIED")) continue;
      const known = permitted.find(([pattern]) => pattern.test(what));
      if (known === undefined) through.push(`${what}: ${answer}`);
      else harmless.add(known[0]);
    }
  }
  expect(through).toEqual([]);
  expect([...harmless]).toEqual(expect.arrayContaining(permitted.map(([pattern]) => pattern)));
  expect(tried).toBeGreaterThan(atLeast);
});
