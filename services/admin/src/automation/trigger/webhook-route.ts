import type { IncomingMessage, ServerResponse } from "node:http";
import { triggeredExecutionName } from "@flyte-ts/domain/name";
import { isUnavailable } from "@flyte-ts/postgres";
import { Code, type HttpContext, type HttpRoute, RequestTooLarge, toRpcError } from "@flyte-ts/rpc";
import { WebhookScheme } from "@flyte-ts/idl/flytets/admin/v1/trigger_pb";
import type { AutomationDeps } from "../deps.js";
import { jsonBody } from "./json-body.js";
import type { DeriveSecret } from "./secret.js";
import { type Delivery, deliveryOf, type HeaderOf, idempotencyKeyOf, isPing, isSigned } from "./signed-webhook.js";
import { findTrigger, type StoredTrigger, type TriggerName, WEBHOOK_PREFIX } from "../store/triggers.js";
import { insertWebhookFiring } from "../store/firings.js";

export type WebhookDeps = Pick<AutomationDeps, "db" | "config" | "clock" | "logger"> & { readonly deriveSecret: DeriveSecret };

interface WebhookResponse {
  readonly status: number;
  readonly body: unknown;
  readonly retryAfterSeconds?: number;
}

const errorResponse = (status: number, message: string): WebhookResponse => ({ status, body: { error: message } });
/** Retry delay for senders when the memory limit for requests is reached, seconds. */
const BUSY_RETRY_SECONDS = 5;
/** Does not reveal which triggers exist. */
const UNAUTHORIZED = errorResponse(401, "no such trigger, or not signed with its secret");

/** Receives webhooks: the route is public, and only signed requests are accepted. */
export function webhookRoute(deps: WebhookDeps): HttpRoute {
  return {
    path: WEBHOOK_PREFIX,
    public: true,
    handle: async (request, response, context) => {
      send(request, response, await respondTo(deps, request, context));
    },
  };
}

function send(request: IncomingMessage, response: ServerResponse, { status, body, retryAfterSeconds }: WebhookResponse): void {
  // The rest of an unread body would be parsed as the next request.
  if (!request.complete) response.setHeader("Connection", "close");
  if (retryAfterSeconds !== undefined) response.setHeader("Retry-After", String(retryAfterSeconds));
  response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
}

async function respondTo(deps: WebhookDeps, request: IncomingMessage, { path, readBody }: HttpContext): Promise<WebhookResponse> {
  if (request.method !== "POST") return errorResponse(405, "send webhooks with POST");
  try {
    const name = triggerNameIn(path);
    const header: HeaderOf = (each) => request.headersDistinct[each]?.[0];
    // Rejects unsigned requests without reading their body.
    if (name === undefined || !hasSignatureHeaders(header)) return UNAUTHORIZED;
    const body = await readBody(deps.config.triggers.webhooks.maxBodyBytes);
    return await receive(deps, { name, header, body });
  } catch (error) {
    const { code, message } = toRpcError(error);
    if (error instanceof RequestTooLarge) return errorResponse(413, message);
    if (code === Code.RESOURCE_EXHAUSTED) return { ...errorResponse(503, message), retryAfterSeconds: BUSY_RETRY_SECONDS };
    if (code === Code.CANCELLED) return errorResponse(400, message);
    deps.logger.warn({ path, error: String(error) }, "webhook cannot be processed now");
    return errorResponse(isUnavailable(error) ? 503 : 500, "try again later");
  }
}

function triggerNameIn(path: string): TriggerName | undefined {
  try {
    const [project, domain, name, ...more] = path.slice(WEBHOOK_PREFIX.length).split("/").map(decodeURIComponent);
    if (!project || !domain || !name || more.length > 0 || path.includes("%00")) return undefined;
    return { project, domain, name };
  } catch {
    return undefined;
  }
}

function hasSignatureHeaders(header: HeaderOf): boolean {
  return [WebhookScheme.STANDARD, WebhookScheme.GITHUB].some((scheme) => deliveryOf(scheme, header) !== undefined);
}

interface Received {
  readonly name: TriggerName;
  readonly header: HeaderOf;
  readonly body: Uint8Array;
}

async function receive(deps: WebhookDeps, { name, header, body }: Received): Promise<WebhookResponse> {
  const { toleranceSeconds } = deps.config.triggers.webhooks;
  const found = await findTrigger(deps.db, name);
  const source = found?.trigger.source;
  if (found === undefined || source?.case !== "webhook") return UNAUTHORIZED;
  const delivery = deliveryOf(source.value.scheme, header);
  if (delivery === undefined || !isSigned(delivery, body, await secretsOf(deps, found))) return UNAUTHORIZED;
  const now = deps.clock().getTime() / 1000;
  if (delivery.timestamp !== undefined && Math.abs(now - delivery.timestamp) > toleranceSeconds) {
    return errorResponse(401, `the webhook's time is more than ${toleranceSeconds} s from the server's time`);
  }
  if (isPing(source.value.scheme, header)) return { status: 200, body: { pong: true } };
  if (!found.active) return errorResponse(409, "the trigger is paused");
  if (jsonBody(body) === undefined) return errorResponse(400, "the body is not JSON");
  return fireTrigger(deps, found, { delivery, body });
}

/** Returns the currently valid secrets. */
async function secretsOf({ deriveSecret, clock }: WebhookDeps, trigger: StoredTrigger): Promise<string[]> {
  const { secretGeneration, previousSecretUntil } = trigger;
  const secrets = [await deriveSecret(trigger, secretGeneration)];
  if (previousSecretUntil !== undefined && clock() < previousSecretUntil) secrets.push(await deriveSecret(trigger, secretGeneration - 1));
  return secrets;
}

async function fireTrigger(
  deps: WebhookDeps,
  trigger: StoredTrigger,
  { delivery, body }: { readonly delivery: Delivery; readonly body: Uint8Array },
): Promise<WebhookResponse> {
  const idempotencyKey = idempotencyKeyOf(delivery, body);
  const launchPlan = trigger.trigger.launchPlan;
  const started = {
    project: launchPlan?.project ?? "",
    domain: launchPlan?.domain ?? "",
    name: triggeredExecutionName(String(trigger.rowId), idempotencyKey),
  };
  const outcome = await insertWebhookFiring(deps.db, {
    triggerId: trigger.rowId,
    idempotencyKey,
    deliveryId: delivery.id,
    body,
    at: deps.clock(),
    started,
    maxPerMinute: deps.config.triggers.webhooks.maxPerMinute,
  });
  switch (outcome) {
    case "created":
      return { status: 202, body: { started } };
    case "duplicate":
      return { status: 200, body: { started, repeated: true } };
    case "rate-limited":
      return { ...errorResponse(429, "too many webhooks for this trigger within a minute"), retryAfterSeconds: 60 };
    default:
      return outcome satisfies never;
  }
}
