// Runs one attempt of a task on Node without packages: node task-program.mjs DEED VALUE
// OUTPUT_PREFIX KEY JOURNAL SLEEP_MS. It appends a line to the journal, sleeps, and writes outputs
// or an error to the blob store, retrying while the store does not answer.
import { createHash, createHmac } from "node:crypto";
import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const [deed, value, outputPrefix, key, journal, sleepMs] = process.argv.slice(2);
const execution = process.env.FLYTE_INTERNAL_EXECUTION_ID;
const attempt = Number(process.env.FLYTE_ATTEMPT_NUMBER);
const LARGE_BYTES = 300_000;
const [RECOVERABLE, USER] = [1, 1];

appendFileSync(journal, `${JSON.stringify({ execution, key, attempt, at: Date.now() })}\n`);
await sleep(Number(sleepMs));
switch (deed) {
  case "small":
    await putOutputs(`${value}-small`);
    break;
  case "large":
    await putOutputs(`${value}-`.repeat(Math.ceil(LARGE_BYTES / (value.length + 1))));
    break;
  case "recovers":
    if (attempt === 0) await putError(`planned failure of ${execution}, to be tried again`, RECOVERABLE);
    else await putOutputs(`${value}-small`);
    break;
  case "fails":
    await putError(`planned failure of ${execution}`, 0);
    break;
  default:
    process.stderr.write(`planned crash of ${execution}\n`);
    process.exit(3);
}

async function putOutputs(text) {
  // core.LiteralMap with one literal, a string.
  const literal = bytesField(1, bytesField(1, bytesField(3, text)));
  await put(`${outputPrefix}/outputs.pb`, bytesField(1, Buffer.concat([bytesField(1, "o"), bytesField(2, literal)])));
}

async function putError(message, kind) {
  // core.ErrorDocument with a core.ContainerError: code, message, kind, origin.
  const error = Buffer.concat([bytesField(1, "Planned"), bytesField(2, message), numberField(3, kind), numberField(4, USER)]);
  await put(`${outputPrefix}/error.pb`, bytesField(1, error));
}

function bytesField(number, content) {
  const bytes = Buffer.from(content);
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...varint(bytes.length)]), bytes]);
}

function numberField(number, content) {
  return Buffer.from([number << 3, ...varint(content)]);
}

function varint(number) {
  return number < 128 ? [number] : [(number & 127) | 128, ...varint(number >>> 7)];
}

async function put(uri, body) {
  const { pathname, host: bucket } = new URL(uri);
  const url = new URL(`/${bucket}${pathname}`, process.env.FLYTE_AWS_ENDPOINT);
  for (;;) {
    const stored = await fetch(url, { method: "PUT", body, headers: signed(url, body), signal: AbortSignal.timeout(10_000) }).then(
      async (response) => {
        await response.text();
        return response.ok;
      },
      () => false,
    );
    if (stored) return;
    await sleep(300);
  }
}

/** Headers of AWS Signature Version 4. */
function signed(url, body) {
  const time = new Date().toISOString().replace(/[-:]|\.\d+/g, "");
  const scope = `${time.slice(0, 8)}/us-east-1/s3/aws4_request`;
  const hash = createHash("sha256").update(body).digest("hex");
  const names = "host;x-amz-content-sha256;x-amz-date";
  const canonical = ["PUT", url.pathname, "", `host:${url.host}`, `x-amz-content-sha256:${hash}`, `x-amz-date:${time}`, "", names, hash];
  const digest = createHash("sha256").update(canonical.join("\n")).digest("hex");
  const hmac = (secret, text) => createHmac("sha256", secret).update(text).digest();
  const signing = scope.split("/").reduce(hmac, `AWS4${process.env.FLYTE_AWS_SECRET_ACCESS_KEY}`);
  const signature = createHmac("sha256", signing).update(["AWS4-HMAC-SHA256", time, scope, digest].join("\n")).digest("hex");
  return {
    "x-amz-content-sha256": hash,
    "x-amz-date": time,
    authorization: `AWS4-HMAC-SHA256 Credential=${process.env.FLYTE_AWS_ACCESS_KEY_ID}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
  };
}
