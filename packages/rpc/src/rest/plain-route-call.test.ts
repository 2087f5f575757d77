import { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { createLogger } from "@flyte-ts/telemetry";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Code, type CallGuard, createRpcServer, type HttpContext, implement, RpcError } from "../index.js";
import { httpStatusOf } from "./http-status.js";

// A plain route calls methods of its server with the rights of its own caller.

const refused: string[] = [];
const guard: CallGuard = {
  admit: async ({ metadata, transport }) => {
    if (metadata.get("authorization") === undefined) throw new RpcError(Code.UNAUTHENTICATED, "token required");
    expect(transport).toBe("rest");
    return {};
  },
  interceptor: async ({ context, request }, next) => {
    const subject = context.metadata.get("authorization") ?? "";
    const { name = "" } = (request as { id?: { name?: string } }).id ?? {};
    if (name !== subject) {
      refused.push(`${subject} ${context.method.name} ${name}`);
      throw new RpcError(Code.PERMISSION_DENIED, `${subject} may not read ${name}`);
    }
    return next(context);
  },
};

async function readTask({ call, query }: HttpContext): Promise<string> {
  const task = await call(AdminService.method.getTask, { id: { name: query.get("task") ?? "" } });
  return task.shortDescription;
}

const server = createRpcServer({
  logger: createLogger({ service: "test", level: "silent" }),
  guard,
  services: [implement(AdminService, { getTask: ({ id }) => ({ id, shortDescription: `the task ${id?.name}` }) })],
  httpRoutes: [
    {
      path: "/page",
      public: true,
      handle: (_, response, context) =>
        readTask(context).then(
          (text) => void response.end(text),
          (error: RpcError) => void response.writeHead(httpStatusOf(error.code)).end(error.message),
        ),
    },
    {
      path: "/none",
      public: true,
      handle: (_, response, { call }) =>
        call(AdminService.method.getTaskExecution, {})
          .then(
            () => response.end("answered"),
            (error: RpcError) => response.end(String(error.code)),
          )
          .then(() => undefined),
    },
  ],
});
let origin: string;
beforeAll(async () => {
  origin = `http://127.0.0.1:${(await server.listen({ host: "127.0.0.1", port: 0 })).port}`;
});
afterAll(() => server.drain({ deadlineMs: 100 }));

async function open(path: string, authorization?: string): Promise<[number, string]> {
  const answer = await fetch(`${origin}${path}`, { headers: { ...(authorization !== undefined && { authorization }) } });
  return [answer.status, await answer.text()];
}

test("the call has the rights of the route's caller", async () => {
  expect(await open("/page?task=own", "own")).toEqual([200, "the task own"]);
  expect(await open("/page?task=other", "own")).toEqual([403, "own may not read other"]);
  expect(await open("/page?task=own")).toEqual([401, "token required"]);
  expect(refused).toEqual(["own GetTask other"]);
});

test("a method that the server does not implement answers UNIMPLEMENTED", async () => {
  const [, text] = await open("/none", "");
  expect(Number(text)).toBe(Code.UNIMPLEMENTED);
});
