import { expect, test } from "vitest";
import { checkImage } from "./policy.js";
import { parseImage } from "./reference.js";

test.each([
  ["busybox", "docker.io/library/busybox:latest"],
  ["local/flytekit:1.16.31", "docker.io/local/flytekit:1.16.31"],
  ["cr.flyte.org/flyteorg/flytekit:py3.11-1.16.31", "cr.flyte.org/flyteorg/flytekit:py3.11-1.16.31"],
  ["localhost:5000/a", "localhost:5000/a:latest"],
  ["localhost/a:1", "localhost/a:1"],
  [`a@sha256:${"0".repeat(64)}`, `docker.io/library/a@sha256:${"0".repeat(64)}`],
])("the local image name of %s is %s", (image, name) => {
  expect(parseImage(image)).toEqual({ name });
});

test.each([
  ["Not::AnImage", "invalid reference format: repository name (library/Not) must be lowercase"],
  ["a::b", "invalid reference format"],
  ["a b", "invalid reference format"],
  ["a:", "invalid reference format"],
  ["-a", "invalid reference format"],
  ["{{ .image }}", "invalid reference format"],
  ["a".repeat(64), "cannot specify 64-byte hexadecimal strings"],
])("%s is not an image name", (image, why) => {
  const parsed = parseImage(image);
  expect("error" in parsed && parsed.error).toContain(`couldn't parse image name "${image}": `);
  expect("error" in parsed && parsed.error).toContain(why);
});

test("images that match a pattern of full names are unreachable", () => {
  const unreachable = ["*.invalid/*", "*no-such*", "docker.io/library/ubuntu:*"];
  expect(checkImage("registry.invalid/a:1", unreachable).kind).toBe("unreachable");
  expect(checkImage("a/no-such-image", unreachable).kind).toBe("unreachable");
  expect(checkImage("ubuntu:22.04", unreachable).kind).toBe("unreachable");
  expect(checkImage("ghcr.io/a/ubuntu:22.04", unreachable).kind).toBe("present");
});
