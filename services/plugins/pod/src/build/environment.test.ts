import { expect, test } from "vitest";
import { podConfig } from "../config.js";
import { withServiceVariables } from "./environment.js";

test("variables of the service are given on under other names; what is not set is left out", () => {
  const { environment } = podConfig.parse({ environment: { env: { A: "1", B: "2" }, envFromService: { B: "OWN_B", C: "NONE" } } });
  expect(withServiceVariables(environment, { OWN_B: "3" }).env).toEqual({ A: "1", B: "3" });
});
