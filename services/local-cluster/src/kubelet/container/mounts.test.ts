import { expect, test } from "vitest";
import { translateArgument } from "./mounts.js";

const mounts = ["/var/in", "/var/in/deep", "/out"].map((path) => ({ volume: "v", path, subPath: "" }));

test.each([
  ["/var/in", "/root/c/var/in"],
  ["/var/in/x", "/root/c/var/in/x"],
  ["cat /var/in/a /var/in/deep/b > /out/c", "cat /root/c/var/in/a /root/c/var/in/deep/b > /root/c/out/c"],
  ["open('/out/x', 'w'); f=\"/out\"", "open('/root/c/out/x', 'w'); f=\"/root/c/out\""],
  ["--dir=/out;ls $(dirname /out)", "--dir=/root/c/out;ls $(dirname /root/c/out)"],
  ["/outer /out2 /out.d out/x s3://bucket/out/x file:///out", "/outer /out2 /out.d out/x s3://bucket/out/x file:///out"],
  ["nothing of it", "nothing of it"],
])("%s", (word, expected) => {
  expect(translateArgument(word, { mounts, root: "/root/c" })).toBe(expected);
});
