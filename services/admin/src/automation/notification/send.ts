import {
  allowPublicAndSubnets,
  type Mail,
  post,
  type PostOptions,
  readSecret,
  secretBytes,
  type SecretSource,
  sendMail,
  PermanentSendError,
  RetryableSendError,
  signatureHeaders,
  type SmtpOptions,
} from "@flyte-ts/outbound";
import type { NotificationsConfig, WebhookConfig } from "./config-schema.js";
import type { ClaimedDelivery } from "../store/deliveries.js";
import { findWebhook, type MailContent, webhookName } from "./plan.js";

export interface SendDeps {
  readonly config: NotificationsConfig;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: () => Date;
}

/** Message with its receiver, of an execution of a project and domain. */
export type SentDelivery = Pick<ClaimedDelivery, "messageId" | "channel" | "target" | "content" | "project" | "domain">;

/** Sends one message. @throws RetryableSendError, PermanentSendError. */
export type Send = (delivery: SentDelivery) => Promise<void>;

export function createSend({ config, env, clock }: SendDeps): Send {
  const posts: PostOptions = {
    allow: allowPublicAndSubnets(config.allowNetworks),
    allowHttp: config.allowHttp,
    redirects: config.maxRedirects,
    timeoutMs: config.timeoutSeconds * 1000,
  };
  /** Retryable, since the operator may add a missing secret. */
  const secretOf = async (source: SecretSource, what: string): Promise<string> => {
    try {
      return await readSecret(source, env);
    } catch (cause) {
      throw new RetryableSendError(`${what} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, undefined, {
        cause,
      });
    }
  };
  const addressOf = async ({ name, url, urlFrom }: WebhookConfig): Promise<string> =>
    urlFrom === undefined ? (url ?? "") : secretOf(urlFrom, `the address of webhook ${name}`);
  const json = { "content-type": "application/json" };

  const toWebhook = async (delivery: SentDelivery, name: string): Promise<void> => {
    const { messageId: id, content: body } = delivery;
    const webhook = findWebhook(config, name, delivery);
    if (webhook === undefined)
      throw new PermanentSendError(`no webhook named ${JSON.stringify(name)} is configured for this project and domain`);
    const url = await addressOf(webhook);
    if (webhook.secret === undefined) return post({ url, headers: json, body }, posts);
    const secret = secretBytes(await secretOf(webhook.secret, `the secret of webhook ${name}`));
    const timestamp = Math.floor(clock().getTime() / 1000);
    await post({ url, headers: { ...json, ...signatureHeaders({ id, timestamp, body }, [secret]) }, body }, posts);
  };

  return async (delivery) => {
    const { target, content, channel, messageId } = delivery;
    switch (channel) {
      case "email":
        return sendMail(mailOf({ target, content, messageId }, config), await smtpOf(config, secretOf));
      case "slack":
      case "webhook": {
        const name = webhookName(target);
        if (name !== undefined) return toWebhook(delivery, name);
        if (!config.slack.allowUrls)
          throw new PermanentSendError(
            "addresses of webhooks in notifications are not allowed here; name a configured one as webhook:NAME",
          );
        return post({ url: target, headers: json, body: content }, posts);
      }
      default:
        return channel satisfies never;
    }
  };
}

function mailOf(
  { target, content, messageId }: Pick<ClaimedDelivery, "target" | "content" | "messageId">,
  { emailer }: NotificationsConfig,
): Mail {
  const { subject, html } = JSON.parse(content) as MailContent;
  const host = emailer.sender.slice(emailer.sender.lastIndexOf("@") + 1);
  return { messageId: `${messageId}@${host}`, from: emailer.sender, to: target, subject, html };
}

async function smtpOf(
  { emailer, timeoutSeconds }: NotificationsConfig,
  secretOf: (source: SecretSource, what: string) => Promise<string>,
): Promise<SmtpOptions> {
  const { smtp } = emailer;
  if (smtp === undefined) throw new PermanentSendError("no mail server is configured (notifications.emailer.smtp)");
  const { password, ...rest } = smtp;
  return {
    ...rest,
    timeoutMs: timeoutSeconds * 1000,
    ...(password && { password: () => secretOf(password, "the password for the mail server") }),
  };
}
