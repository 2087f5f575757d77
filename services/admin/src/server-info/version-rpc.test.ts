import { expect, test } from "vitest";
import { versionRpcs } from "./version-rpc.js";

test("GetVersion returns the Flyte release of the API, and the server's own version beside it", async () => {
  const { getVersion } = versionRpcs({ version: "2.3.4", revision: "abc", time: "2026-01-01T00:00:00Z" });
  const answer = await getVersion?.({} as never, {} as never);
  const controlPlaneVersion = { Version: "v1.16.8", Build: "flyte-ts 2.3.4 (abc)", BuildTime: "2026-01-01T00:00:00Z" };
  expect(answer).toEqual({ controlPlaneVersion });
});
