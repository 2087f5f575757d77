import { createHash } from "node:crypto";
import type { Notification } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import type { CompletedExecution } from "../model/completed-execution.js";
import { phaseNames } from "../../executions/index.js";
import type { NotificationsConfig, WebhookConfig } from "./config-schema.js";
import { escapeHtml, escapeSlack, render } from "./render.js";
import { webhookEvent } from "./webhook-event.js";
import type { Channel, Delivery } from "../store/deliveries.js";

export type PlanConfig = Pick<NotificationsConfig, "emailer" | "slack" | "webhooks">;

const WEBHOOK = "webhook:";

/** Returns the name in `webhook:NAME`; undefined for other recipients. */
export function webhookName(target: string): string | undefined {
  return target.startsWith(WEBHOOK) ? target.slice(WEBHOOK.length) : undefined;
}

/** Finds a webhook that may receive executions of this project and domain. */
export function findWebhook(
  { webhooks }: Pick<PlanConfig, "webhooks">,
  name: string,
  { project, domain }: { readonly project: string; readonly domain: string },
): WebhookConfig | undefined {
  return webhooks.find((each) => each.name === name && covers(each, { project, domain }));
}

function covers({ projects, domains }: WebhookConfig, { project, domain }: { readonly project: string; readonly domain: string }): boolean {
  return (projects.length === 0 || projects.includes(project)) && (domains.length === 0 || domains.includes(domain));
}

/**
 * Plans the messages about a completed execution. Each receiver gets one message per channel; if
 * several notifications name it, the first determines the content.
 */
export function planDeliveries(execution: CompletedExecution, config: PlanConfig): Delivery[] {
  const planned = new Map<string, Delivery>();
  const add = (channel: Channel, target: string, content: () => string): void => {
    const key = `${channel} ${target}`;
    if (!planned.has(key)) planned.set(key, { messageId: messageIdOf(execution, key), channel, target, content: content() });
  };
  const addWebhook = (target: string, kind: WebhookConfig["kind"]): void =>
    kind === "slack" ? add("slack", target, () => slackBody(execution, config)) : add("webhook", target, () => webhookEvent(execution));
  for (const { type, phases } of execution.notifications) {
    if (type.case === undefined || !phases.includes(execution.phase)) continue;
    for (const recipient of type.value.recipientsEmail) {
      const name = webhookName(recipient);
      if (name !== undefined) addWebhook(recipient, findWebhook(config, name, execution)?.kind ?? "signed");
      else if (type.case === "slack" && isUrl(recipient)) add("slack", recipient, () => slackBody(execution, config));
      // As in Flyte, Slack and PagerDuty are reached by mail.
      else add("email", recipient, () => mailContent(execution, type, config));
    }
  }
  const phase = phaseNames.workflowPhaseName(execution.phase);
  for (const webhook of config.webhooks) {
    if ((webhook.phases as readonly string[]).includes(phase) && covers(webhook, execution))
      addWebhook(WEBHOOK + webhook.name, webhook.kind);
  }
  return [...planned.values()];
}

/**
 * True when a recipient of a Slack notification is the URL of an incoming webhook; its permission
 * is checked later.
 */
const isUrl = (recipient: string): boolean => /^https?:\/\//i.test(recipient);

function messageIdOf({ project, domain, name, acceptedNs }: CompletedExecution, receiver: string): string {
  const hash = createHash("sha256").update(JSON.stringify([project, domain, name, String(acceptedNs), receiver]));
  return `msg_${hash.digest("hex").slice(0, 32)}`;
}

export interface MailContent {
  readonly subject: string;
  readonly html: string;
}

function mailContent(execution: CompletedExecution, type: Notification["type"], { emailer }: PlanConfig): string {
  const own = type.case === "email" ? type.value.template : "";
  const content: MailContent = {
    subject: render(emailer.subject, execution),
    html: render(own === "" ? emailer.body : own, execution, escapeHtml),
  };
  return JSON.stringify(content);
}

function slackBody(execution: CompletedExecution, { slack }: PlanConfig): string {
  return JSON.stringify({ text: render(slack.text, execution, escapeSlack) });
}
