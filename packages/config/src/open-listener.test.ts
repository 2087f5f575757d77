import { expect, test } from "vitest";
import { z } from "zod";
import { loopbackUnlessAuthenticated, openToNetwork } from "./open-listener.js";

const schema = z
  .object({ server: z.object({ host: z.string(), openToNetwork }), auth: z.object({ mode: z.enum(["open", "required"]) }) })
  .refine(...loopbackUnlessAuthenticated);

test.each([
  ["127.0.0.1", "open", undefined, true],
  ["0.0.0.0", "open", undefined, false],
  ["0.0.0.0", "open", true, true],
  ["0.0.0.0", "required", undefined, true],
] as const)("a listener on %s with authentication %s and openToNetwork %s is accepted: %s", (host, mode, isOpen, accepted) => {
  const { error } = schema.safeParse({ server: { host, openToNetwork: isOpen }, auth: { mode } });
  const refused = [{ path: ["server", "host"], message: expect.stringContaining("auth.mode") as string }];
  expect(error?.issues ?? []).toMatchObject(accepted ? [] : refused);
});
