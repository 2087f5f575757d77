import { createHash } from "node:crypto";
import type { Notification } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import type { CompletedExecution } from "../model/completed-execution.js";
import { phaseNames } from "../../executions/index.js";
import type { NotificationsConfig, WebhookConfig } from "./config-schema.js";
import { escapeHtml, escapeSlack, render, RenderedTextError } from "./render.js";
import { NOTIFICATION_LIMITS } from "../../registry/index.js";
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

/** Receives a sentence about something that was left out. */
export type Warn = (omission: string) => void;

/**
 * Plans the messages about a completed execution. Each receiver gets one message per channel; if
 * several notifications name it, the first determines the content. Executions of earlier versions
 * may exceed the limits of notifications: further recipients and too long templates are left out.
 *
 * @throws RenderedTextError when a configured template becomes too long.
 */
export function planDeliveries(execution: CompletedExecution, config: PlanConfig, warn: Warn = () => undefined): Delivery[] {
  const planned = new Map<string, Delivery>();
  const add = (channel: Channel, target: string, content: () => string): void => {
    const key = `${channel} ${target}`;
    if (!planned.has(key)) planned.set(key, { messageId: messageIdOf(execution, key), channel, target, content: content() });
  };
  const slack = once(() => slackBody(execution, config));
  const event = once(() => webhookEvent(execution));
  const addWebhook = (target: string, kind: WebhookConfig["kind"]): void =>
    kind === "slack" ? add("slack", target, slack) : add("webhook", target, event);
  for (const { type, recipients } of wantedNotifications(execution, warn)) {
    // As in Flyte, Slack and PagerDuty are reached by mail.
    const mail = once(() => mailContent(execution, { own: type.case === "email" ? type.value.template : "", config, warn }));
    for (const recipient of recipients) {
      const name = webhookName(recipient);
      if (name !== undefined) addWebhook(recipient, findWebhook(config, name, execution)?.kind ?? "signed");
      else if (type.case === "slack" && isUrl(recipient)) add("slack", recipient, slack);
      else add("email", recipient, mail);
    }
  }
  const phase = phaseNames.workflowPhaseName(execution.phase);
  for (const webhook of config.webhooks) {
    if ((webhook.phases as readonly string[]).includes(phase) && covers(webhook, execution))
      addWebhook(WEBHOOK + webhook.name, webhook.kind);
  }
  return [...planned.values()];
}

interface WantedNotification {
  readonly type: Notification["type"];
  readonly recipients: readonly string[];
}

/** Returns the notifications of the execution's phase, with the recipients within the limits. */
function wantedNotifications({ notifications, phase }: CompletedExecution, warn: Warn): readonly WantedNotification[] {
  const { recipients: most, recipientBytes } = NOTIFICATION_LIMITS;
  const wanted: WantedNotification[] = [];
  let left: number = most;
  let dropped = 0;
  for (const { type, phases } of notifications) {
    if (type.case === undefined || !phases.includes(phase)) continue;
    const { recipientsEmail } = type.value;
    const recipients = recipientsEmail.filter((each) => Buffer.byteLength(each) <= recipientBytes).slice(0, left);
    left -= recipients.length;
    dropped += recipientsEmail.length - recipients.length;
    if (recipients.length > 0) wanted.push({ type, recipients });
  }
  if (dropped > 0) warn(`${dropped} recipients: at most ${most}, of ${recipientBytes} bytes each, are notified`);
  return wanted;
}

function once(make: () => string): () => string {
  let made: string | undefined;
  return () => (made ??= make());
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

interface MailTemplate {
  /** Template of the notification; empty: the configured one. */
  readonly own: string;
  readonly config: PlanConfig;
  readonly warn: Warn;
}

function mailContent(execution: CompletedExecution, { own, config: { emailer }, warn }: MailTemplate): string {
  const html = ownBody(execution, own, warn) ?? render(emailer.body, execution, escapeHtml);
  const content: MailContent = { subject: render(emailer.subject, execution), html };
  return JSON.stringify(content);
}

/** Renders the notification's own template; undefined when it has none or is too long. */
function ownBody(execution: CompletedExecution, own: string, warn: Warn): string | undefined {
  if (own === "") return undefined;
  try {
    return render(own, execution, escapeHtml);
  } catch (error) {
    if (!(error instanceof RenderedTextError)) throw error;
    warn(`${error.message}: the configured one is used`);
    return undefined;
  }
}

function slackBody(execution: CompletedExecution, { slack }: PlanConfig): string {
  return JSON.stringify({ text: render(slack.text, execution, escapeSlack) });
}
