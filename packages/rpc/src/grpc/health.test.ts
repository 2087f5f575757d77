import type { HealthCheckResponse } from "@flyte-ts/idl/grpc/health/v1/health_pb";
import { expect, test } from "vitest";
import { createHealth, type HealthService } from "./health.js";
import type { CallContext } from "../service.js";

function watch({ served }: HealthService): { readonly statuses: AsyncIterator<HealthCheckResponse>; end(): void } {
  const call = new AbortController();
  const answers = served.implementation?.get("watch")?.({ service: "" }, { signal: call.signal } as CallContext);
  return { statuses: (answers as AsyncIterable<HealthCheckResponse>)[Symbol.asyncIterator](), end: () => call.abort() };
}

test("a watch that ended leaves no watcher behind", async () => {
  const health = createHealth([]);
  const { statuses, end } = watch(health);
  expect(await statuses.next()).toMatchObject({ value: { status: 1 } });
  const next = statuses.next();
  expect(health.watchers).toBe(1);
  end();
  expect(await next).toEqual({ done: true, value: undefined });
  expect(health.watchers).toBe(0);
});

test("a watcher gets a change that happens while it receives the previous status", async () => {
  const health = createHealth([]);
  const { statuses } = watch(health);
  expect(await statuses.next()).toMatchObject({ value: { status: 1 } });
  health.stopServing();
  expect(await statuses.next()).toMatchObject({ value: { status: 2 } });
  expect((await statuses.next()).done).toBe(true);
});
