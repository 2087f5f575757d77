import { type DescMethod, toBinary } from "@bufbuild/protobuf";
import { type RequestScope, anyRequest, restCalls } from "@flyte-ts/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { scope } from "../../api/valid-requests.js";
import { type Attacker, openAttacker } from "../attacker.fixture.js";
import { METHODS, OPEN_METHODS, SCOPED_ROLES, startVictim, UNSCOPED_READS, type Victim } from "../victim.fixture.js";

// Calls every method with scopes in which the caller has no role, by gRPC and by each REST route.
let victim: Victim;
let attacker: Attacker;
beforeAll(async () => {
  victim = await startVictim();
  attacker = openAttacker(victim.admin.api);
});
afterAll(async () => {
  attacker?.close();
  await victim?.stop();
});

const SCOPED = METHODS.filter(({ name }) => !OPEN_METHODS.includes(name) && !UNSCOPED_READS.includes(name));
/** Reads of a whole project, which a role in any of its domains permits. */
const PROJECT_READS: readonly string[] = ["GetProject", "GetProjectAttributes"];
/** Methods that only read. A viewer may call no other method, even in its own scope. */
const READS = /^(Get(?!OrCreate)|List|Watch|Follow|Preview|Search|CreateDownload)/;

const PLACES: readonly (readonly [string, RequestScope])[] = [
  ["another project", { project: "other", domain: scope.domain }],
  ["another domain", { project: scope.project, domain: "production" }],
  ["every project by a wildcard", { project: "*", domain: "*" }],
  ["a project by a pattern", { project: "%", domain: "%" }],
  ["no project", { project: "", domain: "" }],
];

async function responseCodes(method: DescMethod, about: RequestScope, subject: string): Promise<string[]> {
  const headers = { authorization: `Bearer ${victim.tokenOf(subject)}` };
  const request = anyRequest(method.input, about);
  const path = `/${method.parent.typeName}/${method.name}`;
  const grpc = attacker.grpc({ path, body: toBinary(method.input, request), headers });
  const rest = restCalls(method, request).map(async (call) => {
    const { status, text } = await attacker.http({ ...call, headers: { "content-type": "application/json", ...headers } });
    return `${call.method} ${status} ${status === 200 ? text.slice(0, 200) : ""}`.trim();
  });
  return Promise.all([grpc, ...rest]);
}

/**
 * Codes of a refusal by role, or of a name that no project can have; a REST path with an empty name
 * has no route.
 */
const REFUSED = /^(PERMISSION_DENIED|INVALID_ARGUMENT|NOT_FOUND|[A-Z]+ (403|400|404|405))$/;
const REFUSED_FOR_THE_ROLE = /^(PERMISSION_DENIED|[A-Z]+ 403)$/;

describe.each(SCOPED_ROLES)("a %s of one domain", (role) => {
  describe.each(PLACES)("in %s", (_scope, about) => {
    const named = about.project === "other" || about.domain === "production";
    const methods = SCOPED.filter(({ name }) => !(about.domain === "production" && PROJECT_READS.includes(name)));
    test.each(methods.map((method) => [method.name, method] as const))("%s", async (_, method) => {
      for (const answer of await responseCodes(method, about, role)) expect(answer).toMatch(named ? REFUSED_FOR_THE_ROLE : REFUSED);
    });
  });
});

describe("a viewer changes nothing", () => {
  test.each(SCOPED.filter(({ name }) => !READS.test(name)).map((method) => [method.name, method] as const))("%s", async (_, method) => {
    for (const answer of await responseCodes(method, scope, "viewer")) expect(answer).toMatch(REFUSED_FOR_THE_ROLE);
  });
});

describe("a subject without any role", () => {
  test.each(SCOPED.map((method) => [method.name, method] as const))("%s", async (_, method) => {
    for (const answer of await responseCodes(method, scope, "stranger")) expect(answer).toMatch(REFUSED_FOR_THE_ROLE);
  });
});
