import { describe, expect, test } from "vitest";
import { Classification } from "../difference-classes.js";
import { PROBE_CLASSES, type ProbeCase } from "./probe-classes.js";

/** Returns the class that covers all lines of a case. */
function classOf(recorded: ProbeCase, ...lines: string[]): string | undefined {
  const names = lines.map((line) => new Classification(PROBE_CLASSES).classOf({ recorded, line, lines })?.name);
  return names.every((name) => name === names[0]) ? names[0] : undefined;
}

describe("a request that cannot be decoded", () => {
  const recorded = {
    id: "new/01",
    via: "grpc",
    path: "/flyteidl.service.AdminService/ListTasks",
    hex: "0a7f",
    code: "INTERNAL",
    message: "grpc: error unmarshalling request: proto: cannot parse invalid wire-format data",
  };
  const line = "code: INVALID_ARGUMENT want INTERNAL (message: 'field 1 is longer than the request')";

  test("is a client error in a case of any name", () => {
    expect(classOf(recorded, line)).toBe("request-that-cannot-be-decoded");
  });

  test("gets no other code, and a request that was decoded does not", () => {
    expect(classOf(recorded, "code: OK want INTERNAL (message: '')")).toBeUndefined();
    expect(classOf(recorded, "code: UNAVAILABLE want INTERNAL (message: 'away')")).toBeUndefined();
    expect(classOf({ ...recorded, message: "the database is unavailable" }, line)).toBeUndefined();
    const { hex: _, ...decoded } = recorded;
    expect(classOf({ ...decoded, rpc: "AdminService/ListTasks" }, line)).toBeUndefined();
  });
});

describe("an array with lists", () => {
  const workflow = (array: Record<string, unknown>, ...errors: string[]): ProbeCase => ({
    id: "new/02",
    rpc: "AdminService/CreateWorkflow",
    request: {
      spec: {
        template: {
          nodes: [
            { id: "n3", array_node: array },
            { id: "n4", task_node: {} },
          ],
        },
      },
    },
    code: "INVALID_ARGUMENT",
    message: `failed to compile workflow for [resource_type:WORKFLOW name:"w"] with err: Collected Errors: ${errors.length}\n${errors
      .map((error, index) => `\tError ${index}: ${error}\n`)
      .join("")}`,
  });
  const plans = { node: { workflow_node: { launchplan_ref: {} } }, bound_inputs: ["b"] };
  const bindings =
    'Code: MismatchingBindings, Node Id: n3, Description: Input [x] on node [n3] expects bindings of type [simple:STRING]. Received [bindings:{scalar:{primitive:{string_value:"a"}}}]';
  const bound = "Code: VariableNameNotFound, Node Id: n3, Description: Variable [b] not found on node [n3].";
  const types =
    "Code: MismatchingTypes, Node Id: end-node, Description: The output variable 'n3.o' has type [simple:FLOAT], but it's assigned to the input variable 'r' which has type type [collection_type:{simple:FLOAT}].";
  const created = "code: OK want INVALID_ARGUMENT (message: '')";

  test("is compiled in a case with any names", () => {
    expect(classOf(workflow(plans, bindings, bound, types), created)).toBe("array-with-lists");
    expect(classOf(workflow({ node: { task_node: {} }, is_original_sub_node_interface: true }, types), created)).toBe("array-with-lists");
  });

  test("does not cover other errors of the workflow", () => {
    expect(classOf(workflow(plans, bindings, types.replace("n3.o", "n4.o")), created)).toBeUndefined();
    expect(classOf(workflow(plans, bindings.replaceAll("n3", "n4")), created)).toBeUndefined();
    expect(classOf(workflow(plans, bound.replace("[b]", "[c]")), created)).toBeUndefined();
    expect(classOf(workflow(plans, types.replace("[simple:FLOAT]", "[simple:STRING]")), created)).toBeUndefined();
    expect(classOf(workflow(plans, "Code: CycleDetected, Node Id: n3, Description: n3 n4"), created)).toBeUndefined();
  });

  test("does not cover another node or another outcome", () => {
    expect(classOf(workflow({ node: { task_node: {} } }, bindings), created)).toBeUndefined();
    expect(classOf(workflow(plans, bindings), "code: INTERNAL want INVALID_ARGUMENT (message: 'x')")).toBeUndefined();
    expect(classOf({ ...workflow(plans, bindings), rpc: "AdminService/CreateTask" }, created)).toBeUndefined();
    expect(classOf(workflow(plans, bindings), created, 'response.id: unexpected "x"')).toBeUndefined();
  });

  test("is not recognized in a truncated message", () => {
    const cut = workflow(plans, bindings);
    expect(classOf({ ...cut, message: cut.message?.replace("Errors: 1", "Errors: 2") ?? "" }, created)).toBeUndefined();
  });
});

describe("a URL that was signed in another second", () => {
  const recorded = { id: "new/03", rpc: "DataProxyService/CreateDownloadLink", code: "OK" };
  const moment = 'response.pre_signed_urls.signed_url[1]: "<url>" want "${signed}"';

  test("may differ", () => {
    expect(classOf(recorded, moment, moment.replace("pre_signed_urls.", ""))).toBe("signed-in-another-second");
    expect(classOf({ id: "new/04", method: "POST", path: "/api/v1/dataproxy/artifact_link" }, moment)).toBe("signed-in-another-second");
  });

  test("is still a URL of a signing call and differs in nothing else", () => {
    expect(classOf(recorded, moment.replace('"<url>"', '""'))).toBeUndefined();
    expect(classOf(recorded, moment, "code: INTERNAL want OK (message: 'x')")).toBeUndefined();
    expect(classOf({ id: "new/05", rpc: "AdminService/GetExecutionData" }, moment)).toBeUndefined();
  });
});

describe("an execution whose start is reported twice", () => {
  const recorded = { id: "new/06", rpc: "AdminService/GetExecution" };
  const start = (ours: string, theirs: string) =>
    `response.closure.started_at: "2024-03-01T10:00:${ours}Z" want "2024-03-01T10:00:${theirs}Z"`;

  test("keeps the first start and counts its duration from there", () => {
    expect(classOf(recorded, 'response.closure.duration: "9s" want "6s"', start("01", "04"))).toBe("first-start-stands");
    const listed = [start("01", "04"), 'response.closure.duration: "9s" want "6s"'].map((line) =>
      line.replace("closure", "executions[7].closure"),
    );
    expect(classOf({ id: "new/07", rpc: "AdminService/ListExecutions" }, ...listed)).toBe("first-start-stands");
  });

  test("may not keep the later start", () => {
    expect(classOf(recorded, start("04", "01"))).toBeUndefined();
    expect(classOf(recorded, 'response.closure.duration: "10s" want "6s"', start("01", "04"))).toBeUndefined();
    expect(classOf(recorded, 'response.closure.duration: "9s" want "6s"')).toBeUndefined();
    expect(classOf(recorded, start("01", "04").replace('"2024-03-01T10:00:01Z"', '"<time>"'))).toBeUndefined();
    expect(classOf(recorded, start("01", "04").replace("started_at", "updated_at"))).toBeUndefined();
  });
});

describe("an execution that ends before it starts", () => {
  const closure = { started_at: "2024-03-01T10:00:09Z", updated_at: "2024-03-01T10:00:05Z", duration: "<dur>" };
  const line = 'response.closure.duration: "0s" want "<dur>"';

  test("has a duration of zero", () => {
    expect(classOf({ id: "new/08", response: { closure } }, line)).toBe("no-negative-durations");
    const listed = { id: "new/09", response: { executions: [{}, { closure }] } };
    expect(classOf(listed, line.replace("closure", "executions[1].closure"))).toBe("no-negative-durations");
    expect(classOf(listed, line.replace("closure", "executions[0].closure"))).toBeUndefined();
  });

  test("does not cover another execution", () => {
    const updated = { ...closure, updated_at: "2024-03-01T10:00:10Z" };
    expect(classOf({ id: "new/10", response: { closure: updated } }, line)).toBeUndefined();
    expect(classOf({ id: "new/11", response: { closure } }, line.replace("0s", "3s"))).toBeUndefined();
  });
});

describe("an allowed origin", () => {
  const recorded = { id: "new/12", method: "GET", path: "/api/v1/tasks", headers: { Origin: "https://a.example" } };
  const named = 'headers.access-control-allow-origin: "https://a.example" want "*"';
  const varies = 'headers.vary: "Origin" want null';

  test("is named in the response, and no other origin is", () => {
    expect(classOf(recorded, named, varies)).toBe("origin-is-named");
    expect(classOf(recorded, named.replace("a.example", "b.example"), varies)).toBeUndefined();
    expect(classOf(recorded, varies)).toBeUndefined();
    expect(classOf({ id: "new/13" }, named, varies)).toBeUndefined();
    expect(classOf(recorded, named, varies, "status: 403 want 200 (message: 'x')")).toBeUndefined();
  });
});
