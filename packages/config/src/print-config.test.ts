import { expect, test } from "vitest";
import { parse } from "yaml";
import { redactedConfigYaml } from "./print-config.js";

test.each([
  ["postgresql://admin:hidden@db:5432/flyte", "postgresql://admin:[secret]@db:5432/flyte"],
  [
    "postgresql://db/flyte?user=admin&password=hidden&sslmode=require",
    "postgresql://db/flyte?user=admin&password=[secret]&sslmode=require",
  ],
  ["nats://a:hidden@h1:4222,nats://a:hidden@h2:4222", "nats://a:[secret]@h1:4222,nats://a:[secret]@h2:4222"],
  ["nats://h1:4222,nats://a:hidden@h2:4222", "nats://h1:4222,nats://a:[secret]@h2:4222"],
  ["nats://a:hidden@h1:4222,a:hidden@h2:4222", "nats://a:[secret]@h1:4222,a:[secret]@h2:4222"],
  ["https://h1:4222,https://h2:4222", "https://h1:4222,https://h2:4222"],
  ["alerts@example.com, team:ops", "alerts@example.com, team:ops"],
])("passwords of the addresses in %s are not printed", (url, printed) => {
  expect(parse(redactedConfigYaml({ url }))).toEqual({ url: printed });
});
