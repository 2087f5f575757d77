// HEALTHCHECK of the images: exits with 0 when the service is ready. It runs every few seconds, so
// it loads as little as possible.
import { get } from "node:http";

const url = process.env.HEALTH_URL ?? "http://127.0.0.1:10254/readyz";
const asked = get(url, { timeout: 8_000 }, (answer) => {
  answer.on("data", (text) => process.stdout.write(text));
  answer.on("end", () => process.exit(answer.statusCode === 200 ? 0 : 1));
});
asked.on("timeout", () => asked.destroy(new Error("no answer")));
asked.on("error", (error) => {
  process.stdout.write(`${url}: ${error.message}\n`);
  process.exit(1);
});
